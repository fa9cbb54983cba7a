/** Where the time of a run went, by kinds of operators: before, after and saved. */
import type { OperatorShare } from "../pipeline/profile/operator-times.js";
import type { RunResult } from "../pipeline/result.js";
import { cellsOf } from "./cell-width.js";
import { middle, printable } from "./escape.js";
import { count } from "./numbers.js";
import { operatorFamily } from "./operator-family.js";
import { profileRemark } from "./profile-remark.js";
import { isRoomy, type Sheet } from "./sheet.js";
import { columns, wrap } from "./table.js";

export interface FamilyTime {
  readonly family: string;
  readonly nodesBefore: number;
  readonly nodesAfter: number;
  readonly beforeMs: number;
  readonly afterMs: number;
}

const MOST = 6;
/** A change of this share of the time has a bar of its full length at least. */
const SLIGHT = 0.1;

/** The most time first, on whichever side; null where nothing was measured. */
export function familyTimes({ operatorTimes }: Pick<RunResult, "operatorTimes">): FamilyTime[] | null {
  if (!operatorTimes) return null;
  const families = new Map<string, { nodesBefore: number; nodesAfter: number; beforeMs: number; afterMs: number }>();
  const add = (shares: readonly OperatorShare[], nodes: "nodesBefore" | "nodesAfter", ms: "beforeMs" | "afterMs") => {
    for (const share of shares) {
      const family = operatorFamily(share.op);
      const sum = families.get(family) ?? { nodesBefore: 0, nodesAfter: 0, beforeMs: 0, afterMs: 0 };
      families.set(family, { ...sum, [nodes]: sum[nodes] + share.nodes, [ms]: sum[ms] + share.ms });
    }
  };
  add(operatorTimes.before, "nodesBefore", "beforeMs");
  add(operatorTimes.after, "nodesAfter", "afterMs");
  return [...families]
    .map(([family, sums]) => ({ family, ...sums }))
    .sort((a, b) => Math.max(b.beforeMs, b.afterMs) - Math.max(a.beforeMs, a.afterMs));
}

export function timeLines(result: RunResult, sheet: Sheet): string[] {
  const all = familyTimes(result);
  if (!all || all.length === 0) return [];
  const roomy = isRoomy(sheet);
  const most = roomy ? 2 * MOST : MOST;
  const shown = all.slice(0, all.length > most + 1 ? most : all.length);
  const rest = all.slice(shown.length);
  const rows = rest.length > 0 ? [...shown, total("other", rest)] : shown;
  const whole = total("all", all);
  // Where next to nothing changed, the bars say so.
  const least = SLIGHT * Math.max(whole.beforeMs, whole.afterMs);
  const largest = Math.max(least, ...rows.map(({ beforeMs, afterMs }) => Math.abs(beforeMs - afterMs)));
  const show = decimals(Math.max(whole.beforeMs, whole.afterMs));
  const table = columns(
    [
      ["where the time went, ms", ...(roomy ? ["nodes"] : []), "before", ...(roomy ? ["nodes"] : []), "after", "saved"],
      ...[...rows, whole].map(({ family, nodesBefore, nodesAfter, beforeMs, afterMs }) => [
        `  ${middle(printable(family), 28)}`,
        ...(roomy ? [nodesText(nodesBefore)] : []),
        nodesBefore === 0 ? "-" : show(beforeMs),
        ...(roomy ? [nodesText(nodesAfter)] : []),
        nodesAfter === 0 ? "-" : show(afterMs),
        show(beforeMs - afterMs),
      ]),
    ],
    ["left", ...Array.from({ length: roomy ? 5 : 3 }, () => "right" as const)],
  );
  const room = sheet.columns - 3 - Math.max(...table.map(cellsOf));
  const lines = table.map((line, i) => {
    const row = rows[i - 1];
    return row === undefined ? line : `${line}  ${bar(row, largest, room, sheet)}`.trimEnd();
  });
  const remark = profileRemark(result);
  return remark === null ? lines : [...lines, ...wrap(remark, sheet.columns - 4).map((line) => `  ${line}`)];
}

/** Full for what was saved, hollow for what was added. */
function bar({ beforeMs, afterMs }: FamilyTime, largest: number, room: number, { isAscii }: Sheet): string {
  const saved = beforeMs - afterMs;
  const length = Math.round((Math.abs(saved) / Math.max(largest, Number.MIN_VALUE)) * Math.min(room, 36));
  const [full, hollow] = isAscii ? ["#", "-"] : ["█", "░"];
  return (saved > 0 ? full! : hollow!).repeat(Math.max(0, length));
}

const nodesText = (nodes: number): string => (nodes === 0 ? "-" : count(nodes));

/** One number of decimals for all: three digits of the largest. */
function decimals(largest: number): (ms: number) => string {
  const places = Math.max(0, 2 - Math.floor(Math.log10(Math.max(largest, 1e-6))));
  return (ms) => (Math.abs(ms) < 0.5 * 10 ** -places ? 0 : ms).toFixed(places);
}

function total(family: string, all: readonly FamilyTime[]): FamilyTime {
  const sum = (of: Exclude<keyof FamilyTime, "family">): number => all.reduce((whole, each) => whole + each[of], 0);
  return {
    family,
    ...{ nodesBefore: sum("nodesBefore"), nodesAfter: sum("nodesAfter") },
    ...{ beforeMs: sum("beforeMs"), afterMs: sum("afterMs") },
  };
}
