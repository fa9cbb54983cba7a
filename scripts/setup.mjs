// Installs what the lock file names (when it changed) and builds dist/, so that
// `npm run demo` and `npm test` work from a clean clone with nothing prepared.
import { execFileSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const installed = `${root}/node_modules/.package-lock.json`;
const wanted = `${root}/package-lock.json`;

if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(wanted).mtimeMs) {
  // Install scripts stay off: onnxruntime-node's would download GPU libraries from outside the registry.
  run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
}
run(process.execPath, [`${root}/scripts/build.mjs`]);

function run(command, args) {
  try {
    execFileSync(command, args, {
      cwd: root,
      stdio: ["ignore", process.stderr, "inherit"],
      shell: process.platform === "win32",
    });
  } catch (error) {
    console.error(`setup failed: ${command} ${args.join(" ")}: ${error.message}`);
    process.exit(1);
  }
}
