/** Where time and memory went: of one model by operators and nodes, of two side by side. */
import { percentileNames, percentileText } from "../base/percentiles.js";
import { withoutBlocks } from "../pipeline/output/written-name.js";
import type {
  ComparedPart,
  MemoryProfile,
  ModelProfileFacts,
  ProfileFacts,
} from "../pipeline/profile/profile-facts.js";
import { boundShares, boundWord, overPeak } from "./bound.js";
import { middle, middles, printable } from "./escape.js";
import { modelNames } from "./model-names.js";
import { bytes, count, milliseconds, optional, percent, percentOf, plural, ratio, significant } from "./numbers.js";
import { isRoomy, type Sheet } from "./sheet.js";
import { fitted, titled } from "./table.js";
import { watchedTime } from "./watched-time.js";

const MOST_ALIVE = 4;

/** Sections, each a list of lines; `rows` of each table at most. */
export function profileLines(profile: ProfileFacts, rows: number, sheet: Sheet): string[][] {
  const { models, compared } = profile;
  const [first, second] = models as [ModelProfileFacts, ModelProfileFacts?];
  const shared = [stages(models, sheet), machine(profile, sheet)];
  if (second) {
    return [
      ...shared,
      operatorsSideBySide(first, second, rows, sheet),
      compared ? parts(compared, rows, sheet) : [],
      ...models.map((model) => [
        ...titled(`${TITLES[models.indexOf(model)]}`, boundText(model), sheet),
        ...memory(model.memory, sheet),
      ]),
    ];
  }
  return [
    ...shared,
    operators(first, rows, sheet),
    nodes(first, rows, sheet),
    [...boundLines(first, sheet), ...memory(first.memory, sheet)],
  ];
}

const TITLES = ["before", "after"] as const;

function stages(models: readonly ModelProfileFacts[], sheet: Sheet): string[] {
  // What no model was run often enough for is left out.
  const shown = percentileNames.filter((name) =>
    models.some(({ stages: { run } }) => (run[`${name}Ms`] ?? null) !== null),
  );
  const titles = middles(modelNames(models.map(({ model }) => model)).map(printable), isRoomy(sheet) ? 40 : 22);
  const table = models.map(({ stages: { loadMs, firstRunMs, run }, nodesMs, peakRssBytes }, i) => [
    titles[i]!,
    ...[loadMs, firstRunMs, ...shown.map((name) => run[`${name}Ms`] ?? null), nodesMs].map(milliseconds),
    bytes(peakRssBytes),
  ]);
  const heads = ["stages ms", "load", "first run", ...shown.map(percentileText), "nodes", "memory"];
  return fitted([heads, ...table], ["left", ...heads.slice(1).map(() => "right" as const)], sheet);
}

function machine({ machine: peaks, threads, provider, models }: ProfileFacts, sheet: Sheet): string[] {
  const names = modelNames(models.map(({ model }) => model));
  const where = models.flatMap(({ providers, nodes }, i) =>
    providers.length > 1 || providers[0]?.provider !== provider
      ? titled(
          "placement",
          `${names[i]!}: ${providers.map((each) => `${count(each.nodes)} of ${plural(nodes.length, "node")} on ${each.provider}`).join(", ")}`,
          sheet,
        )
      : [],
  );
  if (!peaks) return where;
  const { flopsPerSecond, intOpsPerSecond, bytesPerSecond } = peaks;
  const text =
    `${significant(flopsPerSecond / 1e9)} GFLOP/s, ${significant(intOpsPerSecond / 1e9)} Gop/s in 8 bits, ` +
    `${significant(bytesPerSecond / 1e9)} GB/s, measured here with ${plural(threads, "thread")}`;
  return [...titled("machine", text, sheet), ...where];
}

function operators({ operators: all, nodesMs }: ModelProfileFacts, most: number, sheet: Sheet): string[] {
  const rows = all
    .slice(0, most)
    .map(({ op, nodes: many, ms, flops, bytes: moved }) => [
      middle(printable(op), nameRoom(sheet)),
      count(many),
      milliseconds(ms),
      percentOf(ms, nodesMs),
      rate(flops, ms),
      rate(moved, ms),
    ]);
  const table = fitted(
    [["operators", "nodes", "ms", "time", "GFLOP/s", "GB/s"], ...rows],
    ["left", "right", "right", "right", "right", "right"],
    sheet,
  );
  return more(table, all.length - rows.length, "operator");
}

function nodes({ nodes: all, nodesMs }: ModelProfileFacts, most: number, sheet: Sheet): string[] {
  const shown = all.slice(0, most);
  const names = middles(
    shown.map(({ name, op }) => printable(withoutBlocks(name) || op)),
    nameRoom(sheet),
  );
  const rows = shown.map((node, i) => {
    const { op, ms, intensity, peakShare } = node;
    return [
      names[i]!,
      middle(printable(op), isRoomy(sheet) ? 20 : 12),
      milliseconds(ms),
      percentOf(ms, nodesMs),
      intensity === null ? "-" : significant(intensity),
      boundWord(node),
      optional(peakShare, (part) => percent(part, 2)),
    ];
  });
  const table = fitted(
    [["slowest nodes", "operator", "ms", "time", "FLOP/B", "bound", "of peak"], ...rows],
    ["left", "left", "right", "right", "right", "left", "right"],
    sheet,
  );
  return more(table, all.length - rows.length, "node");
}

function operatorsSideBySide(
  before: ModelProfileFacts,
  after: ModelProfileFacts,
  most: number,
  sheet: Sheet,
): string[] {
  const names = [...new Set([...before.operators, ...after.operators].map(({ op }) => op))];
  const total = ({ operators: all }: ModelProfileFacts, op: string) =>
    all
      .filter((each) => each.op === op)
      .reduce((sum, { nodes: many, ms }) => ({ many: sum.many + many, ms: sum.ms + ms }), { many: 0, ms: 0 });
  const all = names
    .map((op) => ({ op, old: total(before, op), now: total(after, op) }))
    .sort((a, b) => Math.abs(b.now.ms - b.old.ms) - Math.abs(a.now.ms - a.old.ms));
  const row = (title: string, old: { many: number; ms: number }, now: { many: number; ms: number }): string[] => [
    title,
    count(old.many),
    milliseconds(old.ms),
    count(now.many),
    milliseconds(now.ms),
    signed(now.ms - old.ms),
  ];
  const sumOf = (model: ModelProfileFacts) => ({ many: model.nodes.length, ms: model.nodesMs });
  const rows = all.slice(0, most).map(({ op, old, now }) => row(middle(printable(op), nameRoom(sheet)), old, now));
  const table = fitted(
    [
      ["operators, ms", "nodes", "before", "nodes", "after", "change"],
      ...rows,
      row("all", sumOf(before), sumOf(after)),
    ],
    ["left", "right", "right", "right", "right", "right"],
    sheet,
  );
  return more(table, all.length - rows.length, "operator");
}

function parts(all: readonly ComparedPart[], most: number, sheet: Sheet): string[] {
  const shown = all.slice(0, most);
  const names = middles(
    shown.map(({ value }) => printable(value) || "(the end)"),
    nameRoom(sheet) + 2,
  );
  const rows = shown.map(({ before, after, beforeMs, afterMs }, i) => [
    names[i]!,
    `${count(before.length)} -> ${count(after.length)}`,
    milliseconds(beforeMs),
    milliseconds(afterMs),
    signed(afterMs - beforeMs),
    afterMs > 0 && beforeMs > 0 ? ratio(beforeMs / afterMs) : "-",
  ]);
  const table = fitted(
    [["what makes, ms", "nodes", "before", "after", "change", "speed"], ...rows],
    ["left", "right", "right", "right", "right", "right"],
    sheet,
  );
  return more(table, all.length - rows.length, "part");
}

function boundLines(model: ModelProfileFacts, sheet: Sheet): string[] {
  const text = boundText(model);
  const over = overPeak(model);
  const watched = watchedTime(model);
  return [
    ...(text === "" ? [] : titled("bound by", text, sheet)),
    ...(over === null ? [] : titled("over peak", over, sheet)),
    ...(watched === null ? [] : titled("nodes and run", watched, sheet)),
  ];
}

function boundText(model: ModelProfileFacts): string {
  const { flops, bytes: moved } = model;
  const shares = boundShares(model);
  return shares === ""
    ? ""
    : `${shares} of the nodes' time; ${significant(flops / 1e9)} GFLOP and ${bytes(moved)} in a run`;
}

function memory({ runtime, activations }: MemoryProfile, sheet: Sheet): string[] {
  const lines: string[] = [];
  if (activations) {
    const { peakBytes, totalBytes, peakNode, alive, unknown = 0, bodies = 0 } = activations;
    const uncounted = [
      ...(unknown > 0 ? [`${plural(unknown, "tensor")} of unknown size`] : []),
      ...(bodies > 0 ? [`what is written in the bodies of ${plural(bodies, "node")} (If, Loop, Scan)`] : []),
    ];
    const without = uncounted.length === 0 ? "" : `; without ${uncounted.join(", and ")}`;
    const text = `at most ${bytes(peakBytes)} alive at once, at ${middle(printable(peakNode), 40)}, of ${bytes(totalBytes)} that nodes write${without}`;
    const shown = alive.slice(0, MOST_ALIVE);
    const names = middles(
      shown.map(({ name }) => printable(name)),
      28,
    );
    const named = shown.map(({ bytes: size }, i) => `${names[i]!} ${bytes(size)}`);
    const left = alive.length - named.length;
    lines.push(
      ...titled("activations", text, sheet),
      ...titled("alive then", `${named.join(", ")}${left > 0 ? `, and ${count(left)} more` : ""}`, sheet),
    );
  }
  if (runtime) {
    const { peakBytes, plannedBytes, arenaBytes } = runtime;
    const text = `${bytes(peakBytes)} at most in use by one run, ${bytes(plannedBytes)} by plan, arena ${bytes(arenaBytes)}`;
    lines.push(...titled("allocator", text, sheet));
  }
  return lines;
}

/** Of names in a table. */
const nameRoom = (sheet: Sheet): number => (isRoomy(sheet) ? 56 : 28);

const more = (table: string[], left: number, thing: string): string[] =>
  left > 0 ? [...table, `and ${plural(left, thing)} more: --top, or the JSON result`] : table;

const rate = (work: number, ms: number): string => (work > 0 && ms > 0 ? significant(work / ms / 1e6) : "-");
const signed = (ms: number): string => (ms > 0 ? `+${milliseconds(ms)}` : milliseconds(ms));
