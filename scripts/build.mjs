// Compiles src/ to dist/, and joins what the command and its child processes load into a few files in
// dist/bundle/: several hundred modules would take longer to find and read than small models to fuse.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));
execFileSync(process.execPath, [`${root}/node_modules/typescript/bin/tsc`, "-p", `${root}/tsconfig.json`], {
  stdio: ["ignore", process.stderr, "inherit"],
});

const bundle = await rolldown({
  input: { main: `${root}/dist/cli/main.js`, child: `${root}/dist/runtime/ort/child/main.js` },
  platform: "node",
  // They load native code from where npm put them.
  external: /^(onnxruntime-node|sharp)(\/|$)/,
});
const folder = `${root}/dist/bundle`;
rmSync(folder, { recursive: true, force: true });
const { output } = await bundle.write({ dir: folder, format: "esm" });

// Whoever gets the bundle gets the licences of what is in it.
const inside = output.flatMap(({ moduleIds = [] }) =>
  moduleIds.map((id) => /.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0]),
);
const licences = [...new Set(inside)].filter(Boolean).map((path) => {
  const { name, version, license } = JSON.parse(readFileSync(`${path}/package.json`, "utf8"));
  const file = readdirSync(path).find((each) => /^licen[cs]e/i.test(each));
  return `${name} ${version} (${license})\n\n${file ? readFileSync(`${path}/${file}`, "utf8").trim() : ""}`.trim();
});
writeFileSync(`${folder}/LICENCES.txt`, `${licences.sort().join(`\n\n${"-".repeat(80)}\n\n`)}\n`);
