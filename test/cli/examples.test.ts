/** The examples run as their first lines say, with the compiled command. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import type { RunResult } from "../../src/pipeline/result.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const modules = readdirSync(join(root, "examples")).filter((name) => name.endsWith(".mjs"));

const commandOf = (text: string): string[] => /infer-opt (bench .*--pipeline .*)/.exec(text)![1]!.trim().split(" ");

describe("pipelines among the examples", () => {
  it("are there for an image and for a text", () =>
    expect(modules).toEqual(["image-pipeline.mjs", "text-pipeline.mjs"]));

  it.each(modules)("%s", async (name) => {
    const argv = commandOf(readFileSync(join(root, "examples", name), "utf8"));
    expect(argv).toContain(`examples/${name}`);
    const bin = join(root, "bin/infer-opt.js");
    const { stdout } = await promisify(execFile)(process.execPath, [bin, ...argv, "--budget", "100ms", "--json"], {
      cwd: root,
    });
    const { request, verdict } = JSON.parse(stdout) as RunResult;
    expect(verdict.status).toBe("pass");
    expect(request!.stages.length).toBeGreaterThan(5);
    expect(request!.stages.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 6);
    expect(request!.overlap).not.toBeNull();
    expect(request!.distinct).toBe(3);
  });
});

it("docs/bench.md names no other example and no stage that there is not", () => {
  const text = readFileSync(join(root, "docs/bench.md"), "utf8");
  const named = [...text.matchAll(/examples\/([\w-]+\.mjs)/g)].map(([, name]) => name!);
  expect([...new Set(named)].sort()).toEqual(modules);
  const stages = [...text.matchAll(/^\| `(\w+)` \| ([a-z]+) \|/gm)].map(([, called, name]) => [called, name]);
  expect(stages).toEqual([
    ["receive", "receipt"],
    ["validate", "validation"],
    ["preprocess", "preprocessing"],
    ["postprocess", "postprocessing"],
    ["serialise", "serialisation"],
  ]);
});
