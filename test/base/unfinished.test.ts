import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it } from "vitest";
import { end, type HoldChange, hold, inodeOf, tellHolds } from "../../src/base/unfinished.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const built = new URL("../../dist/base/unfinished.js", import.meta.url);

afterEach(() => tellHolds(() => undefined));

it("tells what is held and when it is done with, once", () => {
  const told: HoldChange[] = [];
  tellHolds((change) => told.push(change));
  const release = hold({ path: "/nowhere/a" });
  release();
  release();
  const { id } = told[0]!;
  expect(told).toEqual([
    { id, what: { path: "/nowhere/a" } },
    { id, what: null },
  ]);
});

it("leaves no listener behind", () => {
  const before = process.listenerCount("exit");
  const releases = [hold({ path: "/nowhere/a" }), hold({ path: "/nowhere/b" })];
  expect(process.listenerCount("exit")).toBe(before + 1);
  for (const release of releases) release();
  expect(process.listenerCount("exit")).toBe(before);
});

it("ends files, folders and processes, also those that are gone", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "scratch"));
  for (const name of ["a", "scratch/b"]) writeFileSync(join(folder, name), "");
  for (const name of ["a", "a", "scratch", "a/below"]) end({ path: join(folder, name) });
  expect(readdirSync(folder)).toEqual([]);

  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
  const gone = new Promise((resolve) => child.once("exit", (_, signal) => resolve(signal)));
  end({ pid: child.pid! });
  expect(await gone).toBe("SIGKILL");
  expect(() => end({ pid: child.pid! })).not.toThrow();
});

it("leaves what another process has put in the place of a file", () => {
  const [ours, theirs] = ["ours", "theirs"].map((name) => join(temporaryFolder(), name));
  writeFileSync(ours!, "");
  const inode = inodeOf(ours!)!;
  writeFileSync(theirs!, "");
  renameSync(theirs!, ours!);
  end({ path: ours!, inode });
  expect(existsSync(ours!)).toBe(true);
  end({ path: ours!, inode: inodeOf(ours!)! });
  expect(existsSync(ours!)).toBe(false);
});

it.each([
  ["process.exit(3)", 3],
  ["throw new Error('odd')", 1],
])("takes away what is still held at %s, and nothing else", (ending, code) => {
  const folder = temporaryFolder();
  for (const name of ["held", "done"]) writeFileSync(join(folder, name), "");
  const script = `
    const { hold } = await import(${JSON.stringify(built.href)});
    const [first, second] = ["held", "done"].map((name) => hold({ path: ${JSON.stringify(folder)} + "/" + name }));
    second();
    ${ending};`;
  const ended = spawnSync(process.execPath, ["--input-type=module", "-e", script]);
  expect(ended.status).toBe(code);
  expect(existsSync(fileURLToPath(built))).toBe(true);
  expect(readdirSync(folder)).toEqual(["done"]);
});
