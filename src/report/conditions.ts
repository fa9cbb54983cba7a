/** Under what conditions models were timed, in words that the text and the Markdown share. */
import type { ConditionsFacts } from "../pipeline/result.js";
import { bytes, significant } from "./numbers.js";

/** What the system told, in one line; what it kept to itself is left out. */
export function conditionsText({
  governor,
  boost,
  smt,
  quotaCores,
  memoryBytes,
  load: [loadBefore, loadAfter],
  temperatureC: [coldest, hottest],
  affinity,
}: ConditionsFacts): string {
  const parts = [
    ...(affinity ? [affinityText(affinity)] : []),
    ...(governor === null ? [] : [`governor ${governor}`]),
    ...(boost === null ? [] : [`boost ${boost ? "on" : "off"}`]),
    ...(smt === null ? [] : [`SMT ${smt ? "on" : "off"}`]),
    ...(quotaCores === null ? [] : [`a quota of ${significant(quotaCores)} cores`]),
    `memory ${bytes(memoryBytes)}`,
    ...(loadBefore === null || loadAfter === null
      ? []
      : [`load ${significant(loadBefore)} before and ${significant(loadAfter)} after`]),
    ...(coldest === null || hottest === null
      ? []
      : [`${significant(coldest)} °C before and ${significant(hottest)} after`]),
  ];
  return parts.join(", ");
}

function affinityText({ wanted, means, seen }: NonNullable<ConditionsFacts["affinity"]>): string {
  const list = wanted.join(",");
  if (means === "threads") return `the runtime's own threads kept on processors ${list}`;
  const isSeen = seen.length === 1 && seen[0]!.join() === list;
  return `kept on processors ${list}${isSeen ? " (seen)" : ""}`;
}
