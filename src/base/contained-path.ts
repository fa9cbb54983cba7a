import { isAbsolute, relative, sep } from "node:path";

/** Whether an absolute path lies outside of a folder. Links are not followed: both are taken as they are written. */
export function climbsOut(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way);
}
