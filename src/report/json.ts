import type { RunResult } from "../pipeline/result.js";

/** The result for machines, with the fields of result.ts. Ends with a line break. Lists of numbers and short texts stand in one line each. */
export const renderJson = (result: RunResult | object): string => `${written(result, "")}\n`;

const INDENT = "  ";

function written(value: unknown, indent: string): string {
  const plain = value instanceof Object && "toJSON" in value ? JSON.parse(JSON.stringify(value)) : value;
  if (plain === null || typeof plain !== "object") return JSON.stringify(plain) ?? "null";
  const inner = indent + INDENT;
  if (Array.isArray(plain)) {
    if (plain.length === 0) return "[]";
    if (isShort(plain)) return inOneLine(plain);
    return `[\n${plain.map((each) => inner + written(each, inner)).join(",\n")}\n${indent}]`;
  }
  const entries = Object.entries(plain).filter(([, each]) => each !== undefined && typeof each !== "function");
  if (entries.length === 0) return "{}";
  return `{\n${entries.map(([key, each]) => `${inner}${JSON.stringify(key)}: ${written(each, inner)}`).join(",\n")}\n${indent}}`;
}

const inOneLine = (list: readonly unknown[]): string =>
  `[${list.map((each) => (Array.isArray(each) ? inOneLine(each) : (JSON.stringify(each) ?? "null"))).join(", ")}]`;

const LONGEST_LINE = 100;

/** Numbers, lists of numbers, and a few words. */
function isShort(list: readonly unknown[]): boolean {
  const isNumber = (each: unknown): boolean => typeof each === "number" || each === null;
  if (list.every((each) => isNumber(each) || (Array.isArray(each) && each.every(isNumber)))) return true;
  return (
    list.every((each) => isNumber(each) || typeof each === "string") &&
    list.reduce<number>((sum, each) => sum + String(each).length + 4, 0) <= LONGEST_LINE
  );
}
