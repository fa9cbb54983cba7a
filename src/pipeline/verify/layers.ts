/**
 * Where two models part: values that have the same name in both are made outputs of
 * copies, run as written, and compared one by one. A run holds all values that it shows at
 * once, so they are looked at in groups that stay under a limit.
 *
 * The runtime's own rewriting is off, in both: it would merge the very values that are
 * looked at. What is found is what the graphs' numbers do, not what a fused kernel adds.
 */
import type { DatasetRef } from "../../dataset/index.js";
import {
  attr,
  dtypeCode,
  isFloat,
  linkModel,
  loadModel,
  type Model,
  opsetOf,
  Tensor,
  type Value,
} from "../../ir/index.js";
import { annotateTypes, isHalf, removeWithFeeders } from "../../rewrite/index.js";
import { keepOutputs, tapValues } from "../../rewrite/tap-model.js";
import type { OutputDifference } from "../../runtime/port.js";
import { weightOf } from "../../target/channel-region.js";
import type { RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { answeringAsWritten, describer, linkedFile, removeLinked } from "../model-runs.js";
import type { LayerDifference, LayerDifferences } from "../result.js";
import { refuseInterrupted } from "../run-record.js";
import { groupTaps } from "../tap-groups.js";
import { finite, sqnrOrNull, withNaNs } from "./difference.js";

export interface LayerRequest {
  readonly baseline: string;
  readonly candidate: string;
  readonly data: DatasetRef;
  /** Samples of the data, all of them. */
  readonly count: number;
  /** `maxMemoryBytes` bounds what is held of both models together. */
  readonly runtime: RuntimeConfig;
  /** 20 dB when absent: an error of a tenth of the signal. */
  readonly thresholdDb?: number;
  readonly onProgress?: (done: number, total: number) => void;
}

const THRESHOLD_DB = 20;
/** Enough to see where the models part; each costs a run per group. */
const MOST_SAMPLES = 8;
/** Of the memory, what the values of one run may take: the candidate's, the baseline's, and as much of the baseline's before. */
const RUN_SHARE = 1 / 4;
const HELD_SHARE = 1 / 2;
const WORST = 10;
/** As many as a result takes: the rest differs less. */
const MOST_ALONG = 2000;

/** Rejects with whatever running the models rejects with. */
export async function compareLayers(context: RunContext, request: LayerRequest): Promise<LayerDifferences> {
  const { runtime, data } = request;
  const [baseline, candidate] = [request.baseline, request.candidate].map((path) => loadModel(path));
  const before = valuesByLabel(baseline!);
  const after = valuesByLabel(candidate!);
  const describe = describer(runtime, context);
  for (const model of [baseline!, candidate!]) await annotateTypes(model, describe);
  // Maps keep their order: that of execution in the baseline.
  const shared = [...before.keys()].filter((label) => after.has(label));
  const perRun = { ...runtime, maxMemoryBytes: runtime.maxMemoryBytes * RUN_SHARE };
  const groups = shared.length === 0 ? [] : await groupTaps(request.baseline, shared, data, perRun, context);

  const cut = fewerChannels(before, after);
  const samples = Math.min(request.count, MOST_SAMPLES);
  const thresholdDb = request.thresholdDb ?? THRESHOLD_DB;
  const found: { readonly difference: LayerDifference; readonly sqnrDb: number }[] = [];
  let uncompared = before.size - shared.length;
  let done = 0;
  for (const { labels } of groups) {
    refuseInterrupted(context.signal);
    const paths = { baseline: linkedFile(context, "layers"), candidate: linkedFile(context, "layers") };
    context.origins?.set(paths.baseline, request.baseline).set(paths.candidate, request.candidate);
    try {
      const old = await writeGroup(request.baseline, labels, paths.baseline, new Map(), request, context);
      const now = await writeGroup(request.candidate, labels, paths.candidate, cut, request, context);
      const differences = await context.runtime.compare({
        ...paths,
        data: firstOf(data, samples),
        pairs: old.map((name, i) => [name, now[i]!] as const),
        heldBytes: runtime.maxMemoryBytes * HELD_SHARE,
        session: answeringAsWritten(runtime),
      });
      for (const [i, difference] of differences.entries()) {
        if (difference.mismatch !== null) uncompared++;
        else {
          const told = withNaNs(difference);
          found.push({ difference: layerOf(before.get(labels[i]!)!, told), sqnrDb: told.sqnrDb });
        }
      }
    } finally {
      for (const path of Object.values(paths)) removeLinked(path);
    }
    done += labels.length;
    request.onProgress?.(done, shared.length);
  }
  const least = [...found].sort((a, b) => a.sqnrDb - b.sqnrDb);
  const kept = new Set(least.slice(0, MOST_ALONG));
  return {
    thresholdDb,
    samples,
    compared: found.length,
    uncompared,
    first: found.find(({ sqnrDb }) => sqnrDb < thresholdDb)?.difference ?? null,
    worst: least
      .filter(({ difference }) => difference.sqnrDb !== null)
      .slice(0, WORST)
      .map(({ difference }) => difference),
    along: inOrder(
      found.filter((each) => kept.has(each)).map(({ difference }) => difference),
      [...before.keys()],
    ),
  };
}

/** Groups were made by size: the order is that of the baseline. */
function inOrder(found: readonly LayerDifference[], values: readonly string[]): NonNullable<LayerDifferences["along"]> {
  const at = new Map(values.map((value, i) => [value, i]));
  return [...found]
    .sort((a, b) => at.get(a.value)! - at.get(b.value)!)
    .map(({ value, node, op, sqnrDb }) => ({ value, node, op, sqnrDb }));
}

/** Writes a copy that computes these values and nothing else; its outputs' names, in the order of the labels. */
async function writeGroup(
  path: string,
  labels: readonly string[],
  to: string,
  cut: ReadonlyMap<string, number>,
  request: LayerRequest,
  context: RunContext,
): Promise<readonly string[]> {
  const model = loadModel(path);
  const whole = await widened(model, valuesByLabel(model), labels, request, context);
  const values = whole.map((value, i) => firstChannels(model, value, cut.get(labels[i]!)));
  const ports = tapValues(model, values);
  keepOutputs(model, new Set(ports.values()));
  for (const node of [...model.graph.nodes()].reverse()) removeWithFeeders(node);
  linkModel(model, to);
  return values.map(({ label }) => ports.get(label)!);
}

/** What to look at of each value: half precision is looked at behind a Cast, to compare with float32. */
async function widened(
  model: Model,
  values: ReadonlyMap<string, Value>,
  labels: readonly string[],
  { runtime }: LayerRequest,
  context: RunContext,
): Promise<readonly Value[]> {
  const { graph } = model;
  const found = labels.map((label) => values.get(label)!);
  if (![...graph.constants, ...graph.inputs, ...found].some(isHalf)) return found;
  // A value whose type stays unknown stays as it is, and may be left uncompared.
  await annotateTypes(model, describer(runtime, context));
  return found.map((value) =>
    isHalf(value)
      ? graph.addNode({
          op: "Cast",
          name: `${value.label}/to_f32`,
          inputs: [value],
          attributes: { to: attr.int(dtypeCode("f32")) },
          outputs: [{ label: `${value.label}_as_f32`, type: { dtype: "f32", shape: value.shape } }],
        }).output
      : value,
  );
}

/** How many channels the baseline has of values that have more in the candidate, filled up for a kernel's sake: what a Conv makes of its first weights again, or of zeros. */
function fewerChannels(
  before: ReadonlyMap<string, Value>,
  after: ReadonlyMap<string, Value>,
): ReadonlyMap<string, number> {
  const fewer = new Map<string, number>();
  for (const [label, { shape }] of before) {
    const value = after.get(label);
    const [own, more] = [shape?.[1], value?.shape?.[1]];
    const isImage = shape && shape.length > 2 && shape.length === value?.shape?.length;
    if (!isImage || typeof own !== "number" || typeof more !== "number" || own >= more) continue;
    if (isFilledUp(value!, own, more)) fewer.set(label, own);
  }
  return fewer;
}

const MOST_STEPS = 12;

/** Whether the Conv in front of a value, with nothing but what keeps channels between, has no weights of its own from a channel on. */
function isFilledUp(value: Value, own: number, channels: number): boolean {
  let at = value.producer;
  for (let steps = 0; at && !at.is("Conv") && steps < MOST_STEPS; steps++) {
    at = at.inputs.find((input) => input?.shape?.[1] === channels && !input.constant)?.producer ?? null;
  }
  const weight = at?.is("Conv") ? weightOf(at) : null;
  if (weight?.dims[0] !== channels) return false;
  const bytes = weight.bytes();
  const each = bytes.byteLength / channels;
  const added = bytes.subarray(each * own);
  return added.every((byte) => byte === 0) || added.every((byte, at) => byte === bytes[at % each]);
}

function firstChannels(model: Model, value: Value, channels: number | undefined): Value {
  // Of Slice with inputs.
  if (channels === undefined || opsetOf(model) < 10) return value;
  const { graph } = model;
  const { label, dtype } = value;
  const bound = (name: string, at: number): Value => graph.addConstant(`${label}/${name}`, Tensor.i64([1], [at]));
  return graph.addNode({
    op: "Slice",
    name: `${label}/first_channels`,
    inputs: [value, bound("from", 0), bound("to", channels), bound("axis", 1)],
    outputs: [{ label: `${label}_first_channels`, type: { dtype, shape: null } }],
  }).output;
}

/** Results of the main graph's nodes that may be float, by a label that no other value has; in execution order. */
function valuesByLabel({ graph }: Model): Map<string, Value> {
  const values = new Map<string, Value>();
  const taken = new Set<string>([...graph.inputs, ...graph.constants].map(({ label }) => label));
  const ports = new Map(graph.outputs.map(({ name, value }) => [name, value]));
  for (const node of graph.nodes()) {
    for (const value of node.outputs) {
      if (!value) continue;
      const { label, dtype } = value;
      const isTaken = taken.has(label) || (ports.has(label) && ports.get(label) !== value);
      taken.add(label);
      if (isTaken) values.delete(label);
      else if (dtype === null || isFloat(dtype)) values.set(label, value);
    }
  }
  return values;
}

const firstOf = (data: DatasetRef, count: number): DatasetRef => ({
  ...data,
  indices: data.indices?.slice(0, count) ?? Array.from({ length: count }, (_, i) => i),
});

function layerOf(value: Value, { maxAbs, relativeL2, sqnrDb, cosine }: OutputDifference): LayerDifference {
  const node = value.producer!;
  return {
    value: value.label,
    node: node.displayName,
    op: node.opName,
    maxAbs: finite(maxAbs),
    relativeL2: finite(relativeL2),
    sqnrDb: sqnrOrNull(sqnrDb),
    cosine,
  };
}
