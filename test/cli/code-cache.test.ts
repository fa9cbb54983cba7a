/** The command runs from code that V8 made at build time, and without it wherever that does not fit. */
import { spawnSync } from "node:child_process";
import { cpSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as zlib from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const digits = join(root, "fixtures", "models", "digits.onnx");
const env = { ...process.env, NODE_OPTIONS: "", NODE_DEBUG: "infer-opt" };

let installed: string;
let bundle: string;

beforeEach(() => {
  installed = temporaryFolder();
  for (const part of ["bin", join("dist", "bundle"), "package.json"]) {
    cpSync(join(root, part), join(installed, part), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(installed, "node_modules"), "junction");
  bundle = join(installed, "dist", "bundle");
});

/** What is written, and where the code came from. */
function fuse(flags: readonly string[] = []) {
  const out = join(temporaryFolder(), "o.onnx");
  const argv = [...flags, join(installed, "bin", "infer-opt.js"), "fuse", digits, "-o", out, "--quiet"];
  const ended = spawnSync(process.execPath, argv, { encoding: "utf8", env });
  expect(ended).toMatchObject({ status: 0, stdout: "" });
  return { said: wordsOf(ended.stderr), model: readFileSync(out).toString("base64") };
}

const wordsOf = (stderr: string): string => stderr.replaceAll(/^INFER-OPT \d+: /gm, "").trim();

// Before 20.15 Node has no checksum that is quick enough: there is no cache then.
describe.skipIf(!("crc32" in zlib))("code from the build", () => {
  it("is what runs, and Node says nothing about the flags that go with it", () => {
    expect(fuse().said).toBe("main: code from the cache");
  });

  it("is what the child runs", () => {
    const ended = spawnSync(process.execPath, [join(bundle, "start-child.cjs")], { encoding: "utf8", env });
    expect(wordsOf(ended.stderr)).toBe("child: code from the cache");
  });

  it("is left alone by an engine with other flags, with the same result", () => {
    const { said, model } = fuse(["--no-opt"]);
    expect(said).toBe("main: compiled");
    expect(model).toBe(fuse().model);
  });

  const damages: readonly [string, (path: string) => void][] = [
    ["a byte of it differs", (path) => changeByte(path)],
    ["it is cut off", (path) => truncateSync(path, 1000)],
    ["it is empty", (path) => truncateSync(path, 0)],
    ["it is missing", (path) => rmSync(path)],
  ];
  it.each(damages)("is not missed when %s", (_, damage) => {
    const { model } = fuse();
    for (const name of ["main.cjs.cache", "child.cjs.cache"]) damage(join(bundle, name));
    expect(fuse()).toEqual({ said: "main: compiled", model });
  });

  it("is left alone when the text beside it is another one of the same length", () => {
    const path = join(bundle, "main.cjs");
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.replace("nothing to ", "NOTHING TO "));
    expect(fuse().said).toBe("main: compiled");
  });
});

function changeByte(path: string): void {
  const bytes = readFileSync(path);
  const middle = bytes.length >> 1;
  bytes[middle] = bytes[middle]! ^ 0xff;
  writeFileSync(path, bytes);
}
