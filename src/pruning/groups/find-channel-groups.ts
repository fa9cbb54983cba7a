/**
 * Groups of channels of a model: sets of positions that occur in the same places, as often,
 * are the units of one group. Types and shapes must have been written on the values before.
 */
import type { Model, Node, Value } from "../../ir/index.js";
import type { ChannelGroup, ChannelMap, GroupConsumer, GroupKind, GroupMember, UnitRow } from "./channel-group.js";
import { rowOfBlock, settleBlocks } from "./settle-blocks.js";
import { traceUnits } from "./trace-units.js";
import type { Role, UnitTrace } from "./unit-trace.js";

/** One axis of a value or of a constant input, with the set at each position. */
interface Place {
  readonly row: UnitRow;
  readonly value: Value | null;
  readonly constant: {
    readonly node: Node;
    readonly input: number;
    readonly role: Role;
    readonly data: number;
    readonly dataAxis: number;
  } | null;
}

export function findChannelGroups(model: Model): ChannelMap {
  const trace = traceUnits(model);
  settleBlocks(trace);
  const places = placesOf(trace);
  const groups: ChannelGroup[] = [];
  const setsOf = new Map<ChannelGroup, Int32Array>();
  const names = new Set<string>();
  for (const sets of classesOf(places, trace)) {
    const group = groupOf(sets, places, trace, names);
    if (!group) continue;
    groups.push(group);
    setsOf.set(group, sets);
  }
  const rows = new Map<Value, UnitRow[]>();
  for (const { value, row } of places) if (value) rows.set(value, [...(rows.get(value) ?? []), row]);
  const constants = places.flatMap(({ constant, row }) => (constant ? [{ ...constant, row }] : []));
  return { model, groups, setsOf, rows, constants };
}

function placesOf(trace: UnitTrace): Place[] {
  const constants = trace.constants.flatMap(({ blocks, ...constant }) =>
    blocks.map((block): Place => ({ row: rowOfBlock(block, trace), value: null, constant })),
  );
  const values = [...trace.units].flatMap(([value, blocks]) =>
    blocks.map((block): Place => ({ row: rowOfBlock(block, trace), value, constant: null })),
  );
  return [...constants, ...values];
}

/** Divides sets until those of a class occur in the same places, as often; smallest first, in classes and among them. */
function classesOf(places: readonly Place[], trace: UnitTrace): Int32Array[] {
  const classOf = new Map<number, number>();
  // Frozen sets are no part of what can be removed.
  const firstClass = (set: number): number => (trace.sets.frozen(set) === null ? 0 : 1);
  let classes = 2;
  for (const { row } of places) {
    const counts = new Map<number, number>();
    for (const set of row.sets) counts.set(set, (counts.get(set) ?? 0) + 1);
    const divided = new Map<string, number>();
    for (const [set, count] of counts) {
      const key = `${classOf.get(set) ?? firstClass(set)} ${count}`;
      const own = divided.get(key) ?? classes++;
      divided.set(key, own);
      classOf.set(set, own);
    }
  }
  const members = new Map<number, number[]>();
  for (const [set, own] of [...classOf].sort(([a], [b]) => a - b)) {
    const list = members.get(own);
    if (list) list.push(set);
    else members.set(own, [set]);
  }
  return [...members.values()].map((sets) => Int32Array.from(sets)).sort((a, b) => a[0]! - b[0]!);
}

function groupOf(
  sets: Int32Array,
  places: readonly Place[],
  trace: UnitTrace,
  names: Set<string>,
): ChannelGroup | null {
  const unitOf = new Map([...sets].map((set, unit) => [set, unit]));
  const along = ({ row }: Place): Int32Array => row.sets.map((set) => unitOf.get(set) ?? -1);
  const own = places.filter(({ row }) => row.sets.includes(sets[0]!));
  const members = (role: Role): (GroupMember & { place: Place })[] =>
    own.flatMap((place) =>
      place.constant?.role === role
        ? [{ node: place.constant.node, input: place.constant.input, axis: place.row.axis, units: along(place), place }]
        : [],
    );
  const producers = members("producer").map(({ place: _, ...member }) => member);
  const [first] = producers;
  if (!first) return null;
  const consumers = members("consumer").map(
    ({ place, ...member }): GroupConsumer => ({
      ...member,
      data: place.constant!.data,
      dataAxis: place.constant!.dataAxis,
    }),
  );
  const unitSize = Math.min(...producers.map(({ units }) => units.filter((unit) => unit === 0).length));
  return {
    name: uniqueName(first.node.displayName, names),
    kind: kindOf(producers, sets, trace),
    width: sets.length,
    unitSize,
    producers,
    consumers,
    followers: members("follower").map(({ place: _, ...member }) => member),
    values: own.flatMap((place) =>
      place.value ? [{ value: place.value, axis: place.row.axis, units: along(place) }] : [],
    ),
    frozen: frozenReason(sets, consumers, trace),
  };
}

function frozenReason(sets: Int32Array, consumers: readonly GroupConsumer[], trace: UnitTrace): string | null {
  for (const set of sets) {
    const reason = trace.sets.frozen(set);
    if (reason !== null) return reason;
  }
  if (sets.length === 1) return "it is one unit, which all that reads it needs";
  return consumers.length === 0 ? "no weights read it" : null;
}

function kindOf(producers: readonly GroupMember[], sets: Int32Array, trace: UnitTrace): GroupKind {
  if (trace.sets.isHead(sets[0]!)) return "heads";
  if (producers.some(({ node }) => node.op.startsWith("Conv"))) return "channels";
  return producers.every(({ node }) => node.op === "Gather") ? "embedding" : "units";
}

function uniqueName(name: string, names: Set<string>): string {
  let unique = name;
  for (let i = 2; names.has(unique); i++) unique = `${name} ${i}`;
  names.add(unique);
  return unique;
}
