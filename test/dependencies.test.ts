import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const read = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), "utf8");

interface LockedPackage {
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly engines?: { readonly node?: string };
}

const lock = JSON.parse(read("package-lock.json")) as { packages: Record<string, LockedPackage> };
const packages = Object.entries(lock.packages).filter(([path]) => path !== "");

/** Whether a version lies in a range of npm: comparators, caret, tilde, x and `||`; that is all that engines use. */
function admits(range: string, version: readonly number[]): boolean {
  const order = (a: readonly number[], b: readonly number[]): number => {
    const at = [0, 1, 2].find((i) => (a[i] ?? 0) !== (b[i] ?? 0));
    return at === undefined ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
  };
  const holds = (comparator: string): boolean => {
    const [, sign = "", text = ""] = /^(>=|<=|>|<|=|\^|~)?v?(.*)$/.exec(comparator)!;
    const wanted = text
      .split(".")
      .filter((part) => /^\d+$/.test(part))
      .map(Number);
    if (wanted.length === 0) return true;
    const difference = order(version, wanted);
    if (sign === ">=") return difference >= 0;
    if (sign === "<=") return difference <= 0;
    if (sign === ">") return difference > 0;
    if (sign === "<") return difference < 0;
    const fixed = sign === "^" ? 1 : sign === "~" ? Math.min(2, wanted.length) : wanted.length;
    return difference >= 0 && wanted.slice(0, fixed).every((part, i) => part === version[i]);
  };
  return range.split("||").some((part) =>
    part
      .trim()
      .replaceAll(/([<>=^~])\s+/g, "$1")
      .split(/\s+/)
      .every(holds),
  );
}

describe("package-lock.json", () => {
  it("names no host, so that any registry can serve it", () => {
    expect(packages.filter(([, { resolved }]) => resolved !== undefined && /^\w+:\/\//.test(resolved))).toEqual([]);
  });

  it("has a digest for every package", () => {
    expect(packages.filter(([, each]) => !each.integrity && !each.link).map(([path]) => path)).toEqual([]);
  });

  it("holds packages for Node 20 only", () => {
    const refused = packages.filter(([, { engines }]) => engines?.node && !admits(engines.node, [20, 19, 0]));
    expect(refused.map(([path, { engines }]) => `${path} needs ${engines!.node}`)).toEqual([]);
  });
});

it("runs no install scripts", () => {
  expect(read(".npmrc").split("\n")).toContain("ignore-scripts=true");
});

it("reads ranges as npm does", () => {
  const node20 = [20, 19, 0];
  const accepted = [
    ">=20",
    ">= 14.0.0",
    "^20.19.0 || >=22.12.0",
    "20.x",
    "*",
    ">=18 <21",
    "^18 || 20 || >=22",
    "~20.19",
  ];
  const refused = [">=22", "^22.12.0 || >=24", "<20", "18.x", ">=20.20", "^18.0.0", "~20.18.0"];
  expect(accepted.filter((range) => !admits(range, node20))).toEqual([]);
  expect(refused.filter((range) => admits(range, node20))).toEqual([]);
});
