/**
 * What each node takes at each width, out of profiles of a few nets that were narrowed evenly: between measured
 * amounts of work a node's time is a straight line, and less work never takes longer.
 */
import type { Node } from "../../ir/index.js";
import type { ChannelGroup } from "../groups/channel-group.js";
import type { NodeShares } from "./node-shares.js";
import type { Widths } from "./widths.js";

/** One profiled net; the first has all widths. */
export interface ProfiledNet {
  readonly widths: Widths;
  /** Milliseconds of nodes of the original, as far as they could be told apart. */
  readonly times: ReadonlyMap<Node, number>;
  /** Of the whole net. */
  readonly totalMs: number;
}

interface Point {
  readonly share: number;
  readonly ms: number;
}

export class LatencyTable {
  readonly #points = new Map<Node, readonly Point[]>();
  /** Of the whole net, what no node could be told to take. */
  readonly restMs: number;

  /** @param besides what goes with a branch and could not be told apart, such as changes of layout */
  constructor(
    readonly shares: NodeShares,
    nets: readonly ProfiledNet[],
    readonly besides: ReadonlyMap<ChannelGroup, number> = new Map(),
  ) {
    const [whole] = nets as readonly [ProfiledNet];
    let told = 0;
    for (const [node, ms] of whole.times) {
      told += ms;
      this.#points.set(
        node,
        monotone(nets.flatMap(({ widths, times }) => pointOf(shares.of(node, widths), times.get(node)))),
      );
    }
    this.restMs = Math.max(0, whole.totalMs - told);
  }

  /** Of the whole net. */
  totalMs(widths: Widths): number {
    let total = this.restMs;
    for (const node of this.#points.keys()) total += this.#msOf(node, widths);
    for (const [group, ms] of this.besides) if (widths.get(group) === 0) total -= ms;
    return total;
  }

  /** Of the nodes that go with a group's branch, in the whole net. */
  branchMs(group: ChannelGroup): number {
    let total = 0;
    for (const node of this.shares.branches.get(group)?.dead ?? []) total += this.#msOf(node, new Map());
    return total;
  }

  /** What narrowing one group saves. */
  savedMs(group: ChannelGroup, before: Widths, after: Widths): number {
    const besides = this.besides.get(group) ?? 0;
    let saved = (after.get(group) === 0 ? besides : 0) - (before.get(group) === 0 ? besides : 0);
    for (const node of this.shares.nodesOf.get(group) ?? [])
      saved += this.#msOf(node, before) - this.#msOf(node, after);
    return saved;
  }

  #msOf(node: Node, widths: Widths): number {
    const points = this.#points.get(node);
    return points ? interpolated(points, this.shares.of(node, widths)) : 0;
  }
}

const pointOf = (share: number, ms: number | undefined): Point[] => (ms === undefined ? [] : [{ share, ms }]);

/** From little work to much; neighbours that contradict it share their mean. */
function monotone(points: readonly Point[]): readonly Point[] {
  const pools: { share: number; ms: number; count: number }[] = [];
  for (const { share, ms } of [...points].sort((a, b) => a.share - b.share)) {
    pools.push({ share, ms, count: 1 });
    for (let last = pools.at(-1)!, previous = pools.at(-2); previous; last = pools.at(-1)!, previous = pools.at(-2)) {
      if (previous.ms <= last.ms && previous.share < last.share) break;
      pools.splice(-2, 2, {
        share: (previous.share * previous.count + last.share * last.count) / (previous.count + last.count),
        ms: (previous.ms * previous.count + last.ms * last.count) / (previous.count + last.count),
        count: previous.count + last.count,
      });
    }
  }
  return pools;
}

function interpolated(points: readonly Point[], share: number): number {
  const [first, second] = points;
  if (!first || share === 0) return 0;
  if (share <= first.share) {
    // Less work than was measured, and never below none.
    const toNothing = first.ms / first.share;
    const slope = second ? Math.min((second.ms - first.ms) / (second.share - first.share), toNothing) : toNothing;
    return first.ms - (first.share - share) * slope;
  }
  const at = points.findIndex((point) => point.share >= share);
  if (at < 0) return points.at(-1)!.ms;
  const [low, high] = [points[at - 1]!, points[at]!];
  return low.ms + ((share - low.share) / (high.share - low.share)) * (high.ms - low.ms);
}
