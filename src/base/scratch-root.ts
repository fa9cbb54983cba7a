/** Where scratch folders are made. */
import { tmpdir } from "node:os";

/** The folder that INFER_OPT_TMP names, or the system's. */
export const scratchRoot = (env: Readonly<Record<string, string | undefined>>): string =>
  env["INFER_OPT_TMP"] || tmpdir();
