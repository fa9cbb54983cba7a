// Compiles src/ to dist/, and joins what the command and its child processes load into a few files in
// dist/bundle/: several hundred modules would take longer to find and read than small models to fuse.
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));
execFileSync(process.execPath, [`${root}/node_modules/typescript/bin/tsc`, "-p", `${root}/tsconfig.json`], {
  stdio: ["ignore", process.stderr, "inherit"],
});

/** As Node wraps a CommonJS module, with one thing more: bundle/start.cjs takes the files as they are. */
const HEAD = "(function (exports, require, module, __filename, __dirname, importNative) {";

/** Code from a cache cannot `import()` by itself: bundle/start.cjs hands in something that can. */
function withNativeImports(code) {
  const changed = code.replace(/(?<!')\bawait import\(/g, "await importNative(");
  if (/(?<!'await )\bimport\(/.test(changed)) throw new Error("an import() that would fail in code from a cache");
  return changed;
}

/** Strings of one byte a character are read faster, and take half the memory. */
const inAscii = (code) =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is all of ASCII that stays as it is.
  code.replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** The scripts of onnxruntime-node join the bundle; its native half stays where npm put it. */
const nativeRuntime = {
  name: "native-runtime",
  transform: {
    filter: { id: /\/onnxruntime-node\/dist\/binding\.js$/ },
    handler(code) {
      const changed = code.replace("require(`../bin/", "require(`onnxruntime-node/bin/");
      if (changed === code) throw new Error("onnxruntime-node loads its native half in another way than it did");
      return changed;
    },
  },
};

const folder = `${root}/dist/bundle`;
rmSync(folder, { recursive: true, force: true });
const output = [];
for (const [name, file] of [
  ["main", "cli/background.js"],
  ["foreground", "cli/foreground.js"],
  ["child", "runtime/ort/child/main.js"],
  ["ahead", "runtime/ort/child-process.js"],
]) {
  const bundle = await rolldown({
    input: { [name]: `${root}/dist/${file}` },
    platform: "node",
    // The one loads native code from where npm put it, the other few runs ever want.
    external: /^(sharp|hdr-histogram-js)(\/|$)/,
    plugins: [nativeRuntime],
  });
  // One script each, for bundle/start.cjs.
  const written = await bundle.write({
    ...{ dir: folder, format: "cjs", codeSplitting: false, entryFileNames: "[name].cjs" },
    comments: false,
  });
  output.push(...written.output);
  const path = `${folder}/${name}.cjs`;
  // Small enough to be loaded as any other file.
  if (name === "ahead") continue;
  writeFileSync(path, `${HEAD}${inAscii(withNativeImports(readFileSync(path, "utf8")))}\n})`);
}
for (const file of ["start.cjs", "start-child.cjs", "start-work.cjs"])
  copyFileSync(`${root}/scripts/bundle/${file}`, `${folder}/${file}`);

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

// What most runs need is compiled here once and for all. Only speed is lost where that does not work.
const scratch = mkdtempSync(join(tmpdir(), "infer-opt-build-"));
const argv = ["fuse", `${root}/fixtures/models/digits.onnx`, "-o", `${scratch}/digits.onnx`, "--quiet"];
const { status, stderr } = spawnSync(process.execPath, [`${root}/bin/infer-opt.js`, ...argv], {
  env: { ...process.env, INFER_OPT_RECORD_CODE: "1" },
  encoding: "utf8",
});
rmSync(scratch, { recursive: true, force: true });
if (status !== 0) console.error(`built without compiled code, the command does not run here:\n${stderr}`);
