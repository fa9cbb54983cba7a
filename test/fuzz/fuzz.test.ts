/** A bounded run of bench/fuzz.mjs; for hours of it, run that script by hand. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, describe as group, it } from "vitest";
import { signatureTexts } from "../../src/ops/signature-table.js";
import { catalog } from "../../src/passes/catalog.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import type { CampaignResult } from "./campaign.js";
import { exempt, makers } from "./operators.js";

/** Passes that have nothing to do here, with the reason. */
const cannotApply: Readonly<Record<string, string>> = {
  "fold-range-bound": "a bound that is a constant of rank 1 makes the runtime refuse the original",
  "inline-functions": "text has no functions",
  "fold-optional-squeeze": "its graphs run at one size only, and are written with that size: the If is folded first",
};

const filesUnder = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(folder, name));

group("the fuzzer", () => {
  it("knows every operator that a pass names", () => {
    const patterns = filesUnder("test/passes").map((file) => readFileSync(file, "utf8"));
    const named = filesUnder("src/passes").flatMap((file) => {
      const words = [...readFileSync(file, "utf8").matchAll(/"([A-Z][A-Za-z0-9]+)"/g)].map(([, word]) => word!);
      return words.filter((word) => word in signatureTexts);
    });
    const known = (op: string): boolean =>
      op in makers || op in exempt || patterns.some((text) => new RegExp(`\\b${op}\\b[<(]`).test(text));
    expect([...new Set(named)].filter((op) => !known(op))).toEqual([]);
  });

  it("finds nothing wrong in a few hundred graphs, in which every pass has something to do", () => {
    const json = join(temporaryFolder(), "fuzz.json");
    const args = ["bench/fuzz.mjs", "--graphs", "600", "--seed", "1", "--patterns", "--json", json];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    expect(stderr.includes("Error") ? stderr : stdout.includes("\n--- seed") ? stdout : status).toBe(0);
    const { applied, sound, graphs } = JSON.parse(readFileSync(json, "utf8")) as CampaignResult;
    expect(sound).toBeGreaterThan(graphs / 2);
    const idle = catalog.map(({ name }) => name).filter((name) => !applied[name] && !(name in cannotApply));
    expect(idle).toEqual([]);
  }, 900_000);
});
