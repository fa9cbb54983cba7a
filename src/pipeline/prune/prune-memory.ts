/**
 * What a search for a narrower net has found out so far, kept in the journal beside the output: the order in which units go and
 * what groups cost and save, which take minutes to find; and of each net that was tried how accurate and how fast it is. A run that
 * goes on with it takes the same decisions, and makes a file again only where it needs it: the same bytes.
 */
import type { Removal } from "../../pruning/choose/removal-order.js";
import type { ChannelGroup, ChannelMap } from "../../pruning/groups/channel-group.js";
import type { NotRecovered, Recovery } from "../recover/recover-weights.js";
import type { VerdictReason } from "../result.js";
import type { SearchFiles } from "../resume/search-files.js";
import type { AccuracyMeasure, LatencyMeasure } from "../verdict/verdict.js";
import type { GroupMeasures } from "./plan-path.js";
import type { RefitReport } from "./refit-net.js";

export interface PrunePlan {
  readonly order: ReadonlyMap<ChannelGroup, Removal>;
  /** null where widths were given and nothing is searched. */
  readonly measures: GroupMeasures | null;
  /** Made with less than was wanted, for want of time: not to be gone on with. */
  readonly isCutShort?: boolean;
}

/** What is known of a net that was tried. */
export interface TriedNet {
  readonly bytes: number;
  readonly sha256: string;
  readonly report: RefitReport | null;
  readonly recovery: Recovery | NotRecovered | null;
  readonly accuracy: AccuracyMeasure;
  readonly nonsense: VerdictReason | null;
  /** What it took to make it and to judge it. */
  readonly spentMs: number;
}

/** As JSON has it: groups by name, which is theirs alone, and nodes by their place in the graph. */
interface PlanEntry {
  readonly order: readonly (readonly [group: string, order: readonly number[], errors: readonly number[]])[];
  readonly measures: {
    readonly errors: readonly (readonly [group: string, scale: number, none: number | null])[];
    readonly nets: readonly {
      readonly widths: readonly (readonly [group: string, width: number])[];
      readonly times: readonly (readonly [node: number, ms: number])[];
      readonly totalMs: number;
    }[];
    readonly without: readonly (readonly [group: string, ms: number])[];
  } | null;
}

type TriedEntry = Omit<TriedNet, "recovery"> & {
  readonly recovery:
    | NotRecovered
    | (Omit<Recovery, "blocked"> & { readonly blocked: readonly [string, string][] })
    | null;
};

const PLAN = "plan";

export class PruneMemory {
  /** @param files null where no file is written: then nothing is kept */
  constructor(readonly files: SearchFiles | null) {}

  plan({ groups, model }: ChannelMap): PrunePlan | null {
    const entry = this.files?.journal.recall<PlanEntry>(PLAN, "plan");
    if (!entry) return null;
    const named = new Map(groups.map((group) => [group.name, group]));
    const nodes = [...model.graph.nodes()];
    const order = new Map(
      entry.order.map(([name, units, errors]) => [
        named.get(name)!,
        { order: Int32Array.from(units), errors: Float64Array.from(errors) },
      ]),
    );
    const { measures } = entry;
    if (!measures) return { order, measures };
    const errors = measures.errors.map(([name, scale, none]) => {
      const group = named.get(name)!;
      return [group, { removal: order.get(group)!, scale, none }] as const;
    });
    const nets = measures.nets.map(({ widths, times, totalMs }) => ({
      widths: new Map(widths.map(([name, width]) => [named.get(name)!, width])),
      times: new Map(times.map(([node, ms]) => [nodes[node]!, ms])),
      totalMs,
    }));
    const without = measures.without.map(([name, ms]) => [named.get(name)!, ms] as const);
    return { order, measures: { errors: new Map(errors), nets, without: new Map(without) } };
  }

  keepPlan({ order, measures }: PrunePlan, { model }: ChannelMap): void {
    const placeOf = new Map([...model.graph.nodes()].map((node, i) => [node, i]));
    const entry: PlanEntry = {
      order: [...order].map(([{ name }, removal]) => [name, [...removal.order], [...removal.errors]]),
      measures: measures && {
        errors: [...measures.errors].map(([{ name }, { scale, none }]) => [name, scale, none]),
        nets: measures.nets.map(({ widths, times, totalMs }) => ({
          widths: [...widths].map(([{ name }, width]) => [name, width]),
          times: [...times].map(([node, ms]) => [placeOf.get(node)!, ms]),
          totalMs,
        })),
        without: [...measures.without].map(([{ name }, ms]) => [name, ms]),
      },
    };
    this.files?.journal.record(PLAN, "plan", entry);
  }

  tried(name: string): TriedNet | null {
    const entry = this.files?.journal.recall<TriedEntry>(name, "accuracy");
    if (!entry) return null;
    const { recovery } = entry;
    return {
      ...entry,
      recovery: recovery && ("reason" in recovery ? recovery : { ...recovery, blocked: new Map(recovery.blocked) }),
    };
  }

  keepTried(name: string, net: TriedNet): void {
    const { recovery } = net;
    const entry: TriedEntry = {
      ...net,
      recovery: recovery && ("reason" in recovery ? recovery : { ...recovery, blocked: [...recovery.blocked] }),
    };
    this.files?.journal.record(name, "accuracy", entry);
  }

  race(name: string): LatencyMeasure | null {
    return this.files?.journal.recall<LatencyMeasure>(name, "speed") ?? null;
  }

  keepRace(name: string, latency: LatencyMeasure): void {
    this.files?.journal.record(name, "speed", latency);
  }
}
