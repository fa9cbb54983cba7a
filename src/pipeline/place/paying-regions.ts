/**
 * Puts regions back to float that cost more as integers than they gain. A region has what its
 * kernels take in integers and in float; between an integer region and a float one the tensor is
 * converted. The split with the least sum is a minimum cut. The profile says what kernels take;
 * what a conversion takes for each element follows from those that are there. Then the whole is
 * measured again, and kept where it is faster.
 */
import { type Node, nodesWithin } from "../../ir/index.js";
import { Network } from "../../passes/layout/minimum-cut.js";
import { isLookUp } from "../../quantization/embedding.js";
import type { Candidate, Plan } from "../candidates/candidate.js";
import { firstNodes } from "../candidates/estimated-times.js";
import {
  bordersOf,
  MS_PER_CONVERTED_ELEMENT,
  type Region,
  type RegionTime,
  tensorsBetween,
} from "../candidates/regions.js";
import type { Workshop } from "../candidates/workshop.js";
import { whyNoGain } from "./float-reasons.js";

/** A candidate must be faster by this much for something to be changed: noise moves less. */
const MARGIN = 0.02;
/** What is as fast in float stays integers: it is smaller, and noise decides nothing. */
const FLOAT_MARGIN = 0.05;
/** The same where the times are those of a table, which knows kernels, and not how well they go together. */
const FLOAT_MARGIN_BY_TABLE = 0.1;
const MOST_ROUNDS = 2;

/** For each element converted. */
const [LEAST_PER_ELEMENT, MOST_PER_ELEMENT] = [0.3e-6, 2e-6];
/** Fewer elements tell nothing of what one takes. */
const ENOUGH_ELEMENTS = 20_000;

/** @returns the fastest so far and everything made on the way; the candidate given stays as it is */
export async function leaveWhatDoesNotPay(
  candidate: Candidate,
  workshop: Workshop,
): Promise<{ readonly best: Candidate; readonly made: readonly Candidate[] }> {
  const made: Candidate[] = [];
  let best = candidate;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const kept = withoutLosses(best, workshop);
    if (kept.size === best.keptFloat.size) break;
    const next = workshop.make(best.variant, kept);
    if (next.built.forms.size === 0) {
      workshop.discard(next);
      break;
    }
    // Both in one go: what the machine does meanwhile befalls both.
    await workshop.measureSpeed([best, next], 0);
    next.note = "regions that do not pay as integers in float";
    made.push(next);
    if (next.speedup! < best.speedup! * (1 + MARGIN)) break;
    best = next;
  }
  return { best, made };
}

/**
 * What stays float already, and the regions that lose.
 *
 * @param floatMargin what float may take more than integers, of its own time, and integers are kept; below 0 they have to gain so much
 */
export function withoutLosses(
  candidate: Plan,
  workshop: Workshop,
  floatMargin = workshop.options.target.times ? FLOAT_MARGIN_BY_TABLE : FLOAT_MARGIN,
): ReadonlyMap<string, string> {
  const regions = workshop.regionsOf(candidate);
  const times = workshop.regionTimes(candidate, regions);
  const kept = new Map(candidate.keptFloat);
  if (times === null) return kept;
  const isFloat = cheapestFloat(regions, times, workshop, candidate, floatMargin);
  for (const { name } of regions) {
    if (isFloat(name)) kept.set(name, whyNoGain(times.get(name)!, -floatMargin));
  }
  return kept;
}

/** Which regions the cheapest split has in float. The source's side is that of integers. */
function cheapestFloat(
  regions: readonly Region[],
  times: ReadonlyMap<string, RegionTime>,
  workshop: Workshop,
  { built }: Plan,
  floatMargin: number,
): (region: string) => boolean {
  const network = new Network();
  const vertices = new Map(regions.map(({ name }) => [name, network.vertex()]));
  const byTable = workshop.options.target.times;
  const firstOf = firstNodes(workshop.model, regions);
  const worthOf = byTable ? workshop.worthOfWeights(regions, times) : () => 0;
  // Looked up in integers, a table takes next to nothing more, and a quarter of the room.
  const tables = new Set([...nodesWithin(workshop.model.graph)].filter(isLookUp).map(({ name }) => name));
  const priceOf = byTable?.conversionMs ?? pricesBy(regions, times, workshop);
  for (const { name } of regions) {
    const { beforeMs, kernelMs, conversionMs } = times.get(name)!;
    const vertex = vertices.get(name)!;
    const isStatic = built.forms.get(name) === "static";
    // What was not found in a profile says nothing: it stays as it is.
    const mayBeFloat = beforeMs > 0 && kernelMs > 0 && !tables.has(name);
    network.connect(
      Network.SOURCE,
      vertex,
      mayBeFloat ? nanos(beforeMs * (1 + floatMargin) + worthOf(name)) : Number.POSITIVE_INFINITY,
    );
    network.connect(vertex, Network.SINK, nanos(kernelMs + (isStatic ? 0 : conversionMs)));
  }
  const borders = bordersOf(workshop.model, regions).filter(({ from, to }) => isStaticBorder(from, to, built));
  const vertexOf = (region: string | null): number => (region === null ? Network.SINK : vertices.get(region)!);
  for (const { value, from, maker, ends } of tensorsBetween(borders)) {
    const elements = workshop.elementsOf(value);
    const priceOfEnd = (region: string, floats: readonly Node[]): number =>
      nanos(priceOf(elements, firstOf.get(region)!, floats));
    const inside = ends.flatMap(({ to }) => (to === null ? [] : [to]));
    // Paid once: where it is made float and one reads integers, and where it is made integers and one reads floats.
    const price = Math.max(0, ...inside.map((region) => priceOfEnd(region, maker ? [maker] : [])));
    if (price > 0) {
      const needed = network.vertex();
      network.connect(needed, vertexOf(from), price);
      for (const region of inside) network.connect(vertexOf(region), needed, Number.POSITIVE_INFINITY);
    }
    if (from === null) continue;
    const back = priceOfEnd(
      from,
      ends.flatMap(({ readers }) => readers),
    );
    if (back === 0) continue;
    const widened = network.vertex();
    network.connect(vertexOf(from), widened, back);
    for (const { to } of ends) network.connect(widened, vertexOf(to), Number.POSITIVE_INFINITY);
  }
  const { isSource } = network.cut();
  return (name) => !isSource(vertices.get(name)!);
}

/** Dynamic integers are converted within their region. */
const isStaticBorder = (from: string | null, to: string | null, { forms }: Plan["built"]): boolean =>
  [from, to].some((region) => region !== null && forms.get(region) === "static");

const nanos = (milliseconds: number): number => Math.round(milliseconds * 1e6);

/** What converting so many elements takes here, by the borders with float that there are. */
function pricesBy(
  regions: readonly Region[],
  times: ReadonlyMap<string, RegionTime>,
  workshop: Workshop,
): (elements: number) => number {
  let elements = 0;
  for (const { value, from, ends } of tensorsBetween(bordersOf(workshop.model, regions))) {
    if (from === null || ends.some(({ to }) => to === null)) elements += workshop.elementsOf(value);
  }
  const spent = [...times.values()].reduce((sum, { conversionMs }) => sum + conversionMs, 0);
  const each =
    elements < ENOUGH_ELEMENTS
      ? MS_PER_CONVERTED_ELEMENT
      : Math.min(MOST_PER_ELEMENT, Math.max(LEAST_PER_ELEMENT, spent / elements));
  return (count) => each * count;
}
