/**
 * Whether a rewritten model in half precision computes what the original does. The two cannot be held against each other:
 * a runtime without kernels for half precision rounds wherever its own Casts do not cancel, and a rewrite moves these.
 * Both are held against the original read in float32: the result may be off by what half precision excuses, which is
 * what the original itself is off by, and what one rounding more of its inputs and weights does to it.
 */
import { type DType, isFloat, loadModel, type Model } from "../../ir/index.js";
import { inlineFunctions } from "../../passes/control/inline-functions.js";
import { readAsFloat32 } from "../../passes/precision/float32-reading.js";
import { runPasses } from "../../rewrite/index.js";
import type { OutputDifference } from "../../runtime/port.js";
import type { RunContext } from "../context.js";
import { withSaved } from "../model-runs.js";

type Compare = (baseline: string, candidate: string) => Promise<readonly OutputDifference[]>;

export interface HalfCheck {
  readonly candidate: string;
  readonly baseline: string;
  /** The file whose float32 reading both are held against. */
  readonly original: string;
  readonly dtypeOf: (output: string) => DType | null;
  /** An error that needs no excuse, relative to the largest value of an output. */
  readonly allowed: number;
}

/** So many times as far off as what excuses it. */
const FACTOR = 4;
/** Where half precision itself moves an output by more than this of its largest value, it says nothing. */
const LARGEST_EXCUSE = 0.1;
/** Share of integer results that may be others without an excuse. */
const FLIPPED_SHARE = 1e-3;

export interface HalfVerdict {
  /** What no rounding excuses, in words; null when there is nothing. */
  readonly violation: string | null;
  /** Half precision makes so much of a difference on these inputs that nothing can be told. */
  readonly isNoise: boolean;
}

/** Rejects when the float32 reading does not run. */
export async function judgeHalf(check: HalfCheck, compare: Compare, context: RunContext): Promise<HalfVerdict> {
  const [plain, moved] = [await readingOf(check.original, false), await readingOf(check.original, true)];
  return withSaved(plain, context, (reference) =>
    withSaved(moved, context, async (noisy) => {
      const excuses = [...(await compare(reference, noisy)), ...(await compare(reference, check.baseline))];
      const found = await compare(reference, check.candidate);
      const judged = found.map((each) =>
        judgeOutput(
          each,
          excuses.filter(({ output }) => output === each.output),
          check,
        ),
      );
      const violation = judged.map((each) => each.violation).find((each) => each !== null) ?? null;
      return { violation, isNoise: violation === null && judged.some(({ isNoise }) => isNoise) };
    }),
  );
}

/** Half precision in functions of the model is read, too. */
async function readingOf(path: string, isNoisy: boolean): Promise<Model> {
  const model = loadModel(path);
  await runPasses(model, [inlineFunctions]);
  readAsFloat32(model, { isNoisy });
  return model;
}

function judgeOutput(found: OutputDifference, excuses: readonly OutputDifference[], check: HalfCheck): HalfVerdict {
  const { output, mismatch, nanMismatch } = found;
  const told = (violation: string): HalfVerdict => ({ violation: `output ${output}: ${violation}`, isNoise: false });
  if (mismatch) return told(mismatch);
  const dtype = check.dtypeOf(output);
  const isReal = dtype === null || isFloat(dtype);
  const errorOf = isReal ? relativeError : flippedShare;
  const [error, excuse] = [errorOf(found), Math.max(...excuses.map(errorOf))];
  if (!(excuse <= LARGEST_EXCUSE)) return { violation: null, isNoise: true };
  if (nanMismatch > Math.max(...excuses.map((each) => each.nanMismatch)))
    return told(`${nanMismatch} elements are NaN on one side only`);
  if (error <= Math.max(isReal ? check.allowed : FLIPPED_SHARE, FACTOR * excuse))
    return { violation: null, isNoise: false };
  const of = isReal ? "its largest value" : "its elements";
  return told(
    `off by ${error.toExponential(1)} of ${of} in float32, where half precision excuses ${(FACTOR * excuse).toExponential(1)}`,
  );
}

const relativeError = ({ maxAbs, maxMagnitude }: OutputDifference): number =>
  maxAbs === 0 ? 0 : maxAbs / maxMagnitude;

const flippedShare = ({ differing, elements }: OutputDifference): number => (elements === 0 ? 0 : differing / elements);
