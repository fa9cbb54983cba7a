/**
 * Where the nodes of a model ran. A provider takes the nodes that it can and leaves the
 * rest to cpu without a word, so that it was asked for proves nothing: one profiled run does.
 */
import { InferOptError, messageOf } from "../../base/errors.js";
import type { DatasetRef } from "../../dataset/index.js";
import type { PlacedStep, Placement } from "../../runtime/port.js";
import type { RuntimeConfig } from "../config.js";
import { asDelivered } from "../model-runs.js";
import type { PlacementFacts } from "../result.js";
import type { RunRecord } from "../run-record.js";

type Told = Pick<RunRecord, "context" | "stage" | "warn">;

/** A profiled run that tells where nodes of a model run. */
export interface PlacementRequest {
  readonly model: string;
  readonly data: DatasetRef;
  readonly config: RuntimeConfig;
  readonly record: Told;
  /** Where the graph that was executed is to be written, if it can be; where placement is proved it is not. */
  readonly executed?: string;
}

export interface Placed {
  readonly facts: PlacementFacts;
  readonly steps: readonly PlacedStep[];
}

const placed = (provider: string, { steps, ...facts }: Placement): Placed => ({ facts: { provider, ...facts }, steps });

/**
 * null on cpu, where there is nothing to prove. Elsewhere a warning tells what ran on
 * another provider, and a model of which nothing ran on the one asked for is refused with
 * PROVIDER_NOT_USED. With `allowFallback` both are accepted, and only stand in the result.
 */
export async function provePlacement(request: Omit<PlacementRequest, "executed">): Promise<PlacementFacts | null> {
  return request.config.provider === "cpu" ? null : (await proved(request)).facts;
}

async function proved({ model, data, config, record }: PlacementRequest): Promise<Placed> {
  const placement = await record.stage(
    "verify",
    () => record.context.runtime.placement(model, data, asDelivered(config)),
    "placement",
  );
  if (!config.allowFallback) {
    const there = placement.providers.find(({ provider }) => provider === config.provider);
    if (!there) throw notUsed(model, placement, config.provider);
    if (there.nodes < placement.nodes) record.warn(fellBack(placement, config.provider));
  }
  return placed(config.provider, placement);
}

/**
 * As `provePlacement`, and on cpu too, to tell where the time goes. That is no proof of anything, so there failing only
 * warns.
 */
export async function measurePlacement(request: PlacementRequest): Promise<Placed | null> {
  return request.config.provider === "cpu" ? profilePlacement(request) : proved(request);
}

/** Of a model that has nothing to prove, wherever it runs: failing only warns. */
export async function profilePlacement(request: PlacementRequest): Promise<Placed | null> {
  const { model, data, config, record, executed } = request;
  const { runtime } = record.context;
  try {
    const profile = () => runtime.placement(model, data, asDelivered(config), executed);
    return placed(config.provider, await record.stage("verify", profile, "profile"));
  } catch (error) {
    if (!(error instanceof InferOptError) || error.kind !== "runtime") throw error;
    record.warn(`where the time goes could not be measured: ${messageOf(error)}`);
    return null;
  }
}

const MOST_NAMED = 6;

/** "3 of 120 nodes (1 % of the time) ran on cpu instead of cuda: Shape 2, Gather 1" */
function fellBack({ nodes, durationMs, providers, operators }: Placement, wanted: string): string {
  const others = providers.filter(({ provider }) => provider !== wanted);
  const sum = (of: "nodes" | "durationMs"): number => others.reduce((total, other) => total + other[of], 0);
  const elsewhere = operators.filter(({ provider }) => provider !== wanted).sort((a, b) => b.nodes - a.nodes);
  const named = elsewhere.slice(0, MOST_NAMED).map((operator) => `${operator.op} ${operator.nodes}`);
  if (elsewhere.length > MOST_NAMED) named.push(`and ${elsewhere.length - MOST_NAMED} other operators`);
  const where = others.map(({ provider }) => provider).join(" and ");
  const share = `${percent(sum("durationMs"), durationMs)} of the time`;
  return `${sum("nodes")} of ${nodes} nodes (${share}) ran on ${where} instead of ${wanted}: ${named.join(", ")}`;
}

function percent(part: number, whole: number): string {
  const share = (100 * part) / Math.max(whole, Number.MIN_VALUE);
  return share > 0 && share < 1 ? "under 1 %" : `${Math.round(share)} %`;
}

function notUsed(model: string, { nodes, providers }: Placement, wanted: string): InferOptError {
  const where = providers.map(({ provider }) => provider).join(" and ");
  return new InferOptError(
    "PROVIDER_NOT_USED",
    "runtime",
    `no node of ${model} ran on ${wanted}: all ${nodes} ran on ${where}`,
    {
      hint: `Use --provider ${where}, or --allow-fallback to accept that; ${wanted} may lack the model's operators or types.`,
      fields: { model, provider: wanted, used: providers.map(({ provider }) => provider) },
    },
  );
}
