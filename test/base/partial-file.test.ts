import { execFileSync } from "node:child_process";
import { readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { partialPath } from "../../src/base/partial-file.js";
import { sight } from "../../src/base/sight.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** A process that was, and is no more. */
const gone = Number(execFileSync(process.execPath, ["-p", "process.pid"], { encoding: "utf8" }));

it("is hidden beside its file, and another each time", () => {
  const target = join(temporaryFolder(), "m.onnx");
  const [one, two] = [partialPath(target), partialPath(target)];
  expect(one).toMatch(/\/\.m\.onnx\.\d+-.*\.partial$/);
  expect(two).not.toBe(one);
});

it.runIf(sight() !== "")("takes away what killed processes left in the folder, and nothing of others", () => {
  const folder = temporaryFolder();
  const left = [".m.onnx", ".m.onnx", ".two\nlines"].map(
    (name, i) => `${name}.${gone}-${sight()}-${i}.partial${i === 1 ? ".data" : ""}`,
  );
  const stays = [
    ...["m.onnx", "m.onnx.partial", ".m.onnx.partial"],
    ...[`.m.onnx.${process.pid}-${sight()}-7.partial`, `.m.onnx.${gone}-01234567-1.partial`],
  ];
  for (const name of [...left, ...stays]) writeFileSync(join(folder, name), "");
  partialPath(join(folder, "other.onnx"));
  expect(readdirSync(folder).sort()).toEqual([...stays].sort());
});

it.each(["m", "🚀"])("has a name that can be where the target's takes all the bytes there are: of %s", (character) => {
  const target = join(temporaryFolder(), character.repeat(255 / Buffer.byteLength(character)));
  const [partial, other] = [partialPath(target), partialPath(target)];
  writeFileSync(`${partial}.data`, "");
  expect(other).not.toBe(partial);
  expect(() => renameSync(`${partial}.data`, target)).not.toThrow();
});

it("minds no folder that is not there", () => {
  expect(() => partialPath("/no/such/folder/m.onnx")).not.toThrow();
});
