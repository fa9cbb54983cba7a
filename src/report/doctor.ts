/** What was found on this machine, each fault with its cure. */
import { printable } from "./escape.js";
import type { Palette } from "./palette.js";
import { wrap } from "./table.js";

const WIDTH = 79;

export interface MachineFinding {
  readonly check: string;
  readonly status: "ok" | "warn" | "fail";
  readonly detail: string;
  readonly cure: string | null;
}

export function renderFindings(findings: readonly MachineFinding[], paint: Palette): string {
  const colors = { ok: paint.good, warn: paint.unsure, fail: paint.bad };
  const width = Math.max(0, ...findings.map(({ check }) => check.length));
  const lines = findings.flatMap(({ check, status, detail, cure }) => {
    const [first, ...rest] = wrap(printable(detail), WIDTH - width - 9);
    const fix = cure === null ? [] : wrap(`fix: ${printable(cure)}`, WIDTH - width - 9);
    const indent = " ".repeat(width + 9);
    return [
      ` ${colors[status](status.padEnd(4))}  ${check.padEnd(width)}  ${first}`,
      ...[...rest, ...fix].map((line) => `${indent}${line}`),
    ];
  });
  return `${lines.join("\n")}\n`;
}
