import { existsSync, realpathSync } from "node:fs";

/** Whether two paths lead to one file, however they are spelled, or linked by name. */
export const isSamePlace = (a: string, b: string): boolean =>
  existsSync(a) && existsSync(b) && realpathSync(a) === realpathSync(b);
