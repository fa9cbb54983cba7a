import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { replaceFile } from "../../src/base/replace-file.js";
import { temporaryFolder } from "../support/temporary-folder.js";

it("makes a file, and takes the place of one", () => {
  const folder = temporaryFolder();
  const path = join(folder, "r.json");
  for (const text of ["a longer one", "new"]) {
    replaceFile(path, text);
    expect([readFileSync(path, "utf8"), readdirSync(folder)]).toEqual([text, ["r.json"]]);
  }
});

it("leaves nothing beside what it cannot replace", () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "r.json"));
  expect(() => replaceFile(join(folder, "r.json"), "x")).toThrow(expect.objectContaining({ syscall: "rename" }));
  expect(readdirSync(folder)).toEqual(["r.json"]);
});
