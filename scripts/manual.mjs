// Writes docs/commands.md and man/infer-opt.1 from the tables that --help reads. Run `npm run build` first.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { commands } from "../dist/cli/commands/index.js";
import { manualMarkdown, manualRoff } from "../dist/cli/manual.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}/package.json`, "utf8"));
mkdirSync(`${root}/man`, { recursive: true });
writeFileSync(`${root}/docs/commands.md`, manualMarkdown(commands));
writeFileSync(`${root}/man/infer-opt.1`, manualRoff(commands, version));
