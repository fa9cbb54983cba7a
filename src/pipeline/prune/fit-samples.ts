/**
 * Which calibration samples weights are fitted to, and which only say whether that helps; both spread over the data. Samples
 * that judge the result are neither, whichever file they are in.
 */
import { InferOptError } from "../../base/errors.js";
import { spread } from "../../base/spread.js";
import { allOf, type Intake } from "../intake.js";
import type { RunRecord } from "../run-record.js";
import type { FitSamples } from "./refit-net.js";

/** What the sums of fits are made of. */
export const LEAST_OPSET = 13;
/** Fewer would be learned by heart. */
const LEAST = 24;
/** With fewer, other samples are served visibly worse than those that were fitted. */
const ENOUGH = 48;
/** More change little, and take longer. */
const MOST = 320;
const HELD_OUT_SHARE = 1 / 5;

/** Throws CALIBRATION_NEEDED and SAMPLES_TOO_FEW. */
export function fitSamples({ fit }: Pick<Intake, "fit">, record: RunRecord): FitSamples {
  if (!fit || fit.ref.random) {
    throw new InferOptError("CALIBRATION_NEEDED", "usage", "pruning needs samples to fit the smaller net to", {
      hint: "Pass --calibration DATA: inputs without labels do.",
    });
  }
  const shared = new Set(fit.shared);
  const indices = allOf(fit).indices!.filter((index) => !shared.has(index));
  const count = indices.length;
  if (count < LEAST) {
    const judging = shared.size > 0 ? `, without ${shared.size} that the result is judged by` : "";
    throw new InferOptError(
      "SAMPLES_TOO_FEW",
      "input",
      `pruning fits weights to samples, and ${count} are left to fit${judging}: at least ${LEAST} are needed`,
      {
        hint: "Give 64 or more as --calibration (labels are not needed), and others as --eval: without --eval a fifth is held out.",
        fields: { samples: count, needed: LEAST },
      },
    );
  }
  if (shared.size > 0) {
    record.warn(
      `the result is judged by ${shared.size} of the calibration samples: weights are fitted to the other ${count}`,
    );
  }
  if (count < ENOUGH) {
    record.warn(
      `weights were fitted to ${count} samples: what was measured on others is what counts; 64 or more would serve them better`,
    );
  }
  const taken = spread(indices, Math.min(count, MOST));
  const heldOut = Math.max(4, Math.round(taken.length * HELD_OUT_SHARE));
  const others = new Set(spread(taken, heldOut));
  const fitted = taken.filter((index) => !others.has(index));
  return {
    data: { ...fit.ref, indices: [...fitted, ...others] },
    fitted: fitted.length,
    heldOut: others.size,
  };
}
