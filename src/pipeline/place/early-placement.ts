/** Where the profile can tell, what becomes static integers is settled before the long work: on a few samples' ranges. */
import { nodesWithin } from "../../ir/index.js";
import type { TapStatistics } from "../../observe/index.js";
import { staticRecipe } from "../../quantization/recipe.js";
import type { IntegerTarget } from "../../target/integer-kernel.js";
import { loadRanges, observeActivations, widestPlacement } from "../calibrate/calibration.js";
import { activationLabels } from "../calibrate/write-taps.js";
import { elementsOfTap, Workshop, type WorkshopOptions } from "../candidates/workshop.js";
import type { OptimizeConfig } from "../config.js";
import { quickSamples } from "../correct/equalize-model.js";
import { allOf, fewOf, type Intake } from "../intake.js";
import { digestOf, type Journal } from "../journal.js";
import type { Prepared } from "../prepare/prepare.js";
import type { RunRecord } from "../run-record.js";
import { elementsBySample } from "../tap-groups.js";
import { type Placements, placeStatics } from "./place-statics.js";

export interface EarlyPlacement {
  /** Statistics of the prepared model that `equalizeModel` may use again. */
  readonly quick: ReadonlyMap<string, TapStatistics> | null;
  /** Elements of one sample, by the label of an activation: of all that might be integers. */
  readonly sizes: ReadonlyMap<string, number> | null;
  readonly placed: Placements["placed"] | null;
  readonly tried: Placements["tried"];
  /** Where nothing is placed since nothing pays. */
  readonly hopeless?: Placements["hopeless"];
}

export const notPlaced: EarlyPlacement = { quick: null, sizes: null, placed: null, tried: [] };

/** Where the calibration data has too few samples to set some apart. */
const FEWEST = 2;

/** Whether kernels are looked at before the long work. */
export const isPlacedEarly = (
  { runtime: { provider }, quantize: { goal, mode } }: OptimizeConfig,
  { isMeasurable }: IntegerTarget,
): boolean => provider === "cpu" && isMeasurable && goal === "speed" && (mode === "auto" || mode === "static");

export interface EarlyRequest {
  readonly config: OptimizeConfig;
  readonly common: Omit<WorkshopOptions, "taps" | "prepared">;
  readonly prepared: Pick<Prepared, "model" | "path">;
  /** Names of nodes that make sense as integers alone: where one is better left in float, nothing is placed. */
  readonly integers: ReadonlySet<string>;
  readonly journal: Journal | null;
}

/** For a model that may have static integers. */
export async function placeEarly(request: EarlyRequest, intake: Intake, record: RunRecord): Promise<EarlyPlacement> {
  const { config, common, integers, journal } = request;
  const { model, path: prepared } = request.prepared;
  const { context } = record;
  const { target, runtime, excluded: keepFloat } = common;
  if (!isPlacedEarly(config, target)) return notPlaced;
  const { ranges } = config.quantize;
  const apart = quickSamples(intake);
  const data = apart ?? (intake.fit && fewOf(allOf(intake.fit), FEWEST));
  const labels = (): string[] => activationLabels(prepared, target, { ...widestPlacement, keepFloat });
  // By the target's table nothing has to run: how large activations are is all that counts.
  const sized =
    target.times && ranges === null && data
      ? await record.stage(
          "calibrate",
          () => elementsBySample(prepared, labels(), data, FEWEST, runtime, context),
          "sizes of activations",
        )
      : null;
  const observe = async (): Promise<ReadonlyMap<string, TapStatistics>> => {
    if (ranges !== null) return loadRanges(ranges, intake, { prepared, target }, record);
    if (!data) return new Map();
    return observeActivations({ prepared, target, data, runtime, keepFloat, onProgress: () => {} }, context);
  };
  const quick = sized ? new Map<string, TapStatistics>() : await record.stage("calibrate", observe, "a few samples");
  const sizes = sized ?? new Map([...quick].map(([label, tap]) => [label, elementsOfTap(tap)]));
  if (sizes.size === 0) return notPlaced;
  // A model may be placed with its products joined, and again without: times are by the names of nodes.
  const nodes = (): string => digestOf([...nodesWithin(model.graph)].map(({ name }) => name));
  const workshop = new Workshop({ ...common, prepared, taps: quick, sizes }, context, journal?.apart(nodes()));
  const draft = { kind: "integers", recipe: staticRecipe({ placement: widestPlacement, method: "minmax" }) } as const;
  const found = await record.stage("bench", () => placeStatics(draft, workshop, integers), "placements");
  return found ? { quick: quick.size > 0 && ranges === null && apart ? quick : null, sizes, ...found } : notPlaced;
}
