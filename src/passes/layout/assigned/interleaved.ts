/**
 * Boxes of every second place, or every third, that are written one after the other until all places are:
 *
 *   y[..., 0::2] = a; y[..., 1::2] = b
 */
import type { Node, Value } from "../../../ir/index.js";
import type { SizeFacts } from "../../fold/size-rules.js";
import { type Box, boxOf, isWhole } from "./box.js";

export interface Interleaved {
  /** One for each offset, the last axis first to change. */
  readonly boxes: readonly Box[];
  /** Axes along which they alternate, in order, with how many there are and how many places each has. */
  readonly axes: readonly { readonly axis: number; readonly step: number; readonly count: number }[];
}

/** Null where some place is not written, or others than such boxes write. */
export function interleavedBy(last: Node, box: Box, facts: SizeFacts): Interleaved | null {
  const axes = alternating(box);
  const all = axes?.reduce((product, { step }) => product * step, 1) ?? 0;
  if (!axes || all < 2 || all > MOST_BOXES) return null;
  const boxes = new Array<Box | undefined>(all).fill(undefined);
  let [current, node]: [Box | null, Node] = [box, last];
  for (let written = 0, steps = 0; current && steps < MOST_TIMES * all; steps++) {
    const offset = axes.reduce((sum, { axis, step }) => sum * step + current!.spans[axis]!.start, 0);
    // What is written later stays.
    if (!boxes[offset]) written++;
    boxes[offset] ??= current;
    if (written === all) return { boxes: boxes as Box[], axes };
    const { producer }: Value = current.data;
    if (!producer || producer.graph !== node.graph || !isScatter(producer)) return null;
    node = producer;
    current = boxOf(node, facts);
    if (!isAlike(current && alternating(current), axes)) return null;
  }
  return null;
}

export const isScatter = ({ domain, op }: Node): boolean => domain === "" && scatters.has(op);

const scatters = new Set(["ScatterElements", "ScatterND"]);
const MOST_BOXES = 64;
/** What is written again and again is not followed to its start by each that writes it. */
const MOST_TIMES = 2;

function alternating({ spans }: Box): Interleaved["axes"] | null {
  const axes = spans.flatMap((span, axis) => (isWhole(span) ? [] : [{ ...span, axis }]));
  const found = axes.flatMap(({ axis, start, step, count, size }) =>
    typeof count === "number" && step > 1 && start < step && count * step === size ? [{ axis, step, count }] : [],
  );
  return found.length === axes.length ? found : null;
}

const isAlike = (one: Interleaved["axes"] | null, other: Interleaved["axes"]): boolean =>
  one?.length === other.length && one.every(({ axis, step }, i) => axis === other[i]!.axis && step === other[i]!.step);
