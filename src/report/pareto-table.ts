/** Files that no other one exceeds in speed, accuracy and size, and the commands that make each again. */
import type { ParetoEntry } from "../pipeline/result.js";
import { printable } from "./escape.js";
import { bytes, ratio, score } from "./numbers.js";
import { columns } from "./table.js";

export function paretoLines(entries: readonly ParetoEntry[]): string[] {
  if (entries.length === 0) return [];
  const rows = entries.map(({ name, speedup, accuracy, bytes: size, chosen, meetsLimits }, i) => [
    `${chosen ? "*" : " "} ${i + 1}  ${printable(name)}`,
    ratio(speedup),
    score(accuracy),
    bytes(size),
    meetsLimits ? "" : "misses a limit",
  ]);
  const commands = entries.flatMap(({ commands: own }, i) =>
    own.map((command, step) => `  ${step === 0 ? i + 1 : " "}  ${printable(command)}`),
  );
  return [
    ...columns(
      [["files that no other exceeds", "speed", "accuracy", "size", ""], ...rows],
      ["left", "right", "right", "right", "left"],
    ),
    "made again by",
    // Whole: lines that were broken could not be pasted.
    ...commands,
  ];
}
