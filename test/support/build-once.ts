import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The child process and the command run from dist/, so tests of them need a current build. */
export default function buildOnce(): void {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  execFileSync(process.execPath, ["scripts/build.mjs"], {
    cwd: root,
    stdio: "inherit",
  });
}
