/**
 * Range methods held against each other on the whole model, and first of all whether weights are rounded in view of their
 * inputs: which ranges are best shows with what else is done against errors.
 */
import type { RangeMethod } from "../../observe/index.js";
import type { StaticChoice } from "../../quantization/recipe.js";
import type { Candidate } from "../candidates/candidate.js";
import { bestMeasure } from "../candidates/output-noise.js";
import type { CorrectionFacts } from "../correct/correction-facts.js";
import { judgeCorrection } from "../correct/corrections.js";

export type Choice = Omit<StaticChoice, "placement">;

/** Makes them in order, and measures each that `isWanted` then, which is told those before it, measured. */
export type MakeMeasured = (
  choices: readonly Choice[],
  isWanted?: (candidate: Pick<Candidate, "variant">, before: readonly Candidate[]) => boolean,
) => Promise<readonly Candidate[]>;

export interface ComparedMethods {
  /** In the order of the methods, all with weights rounded alike; only the first where no error could be measured. */
  readonly compared: readonly { readonly choice: Choice; readonly made: Candidate }[];
  /** What else was made for it. */
  readonly rest: readonly Candidate[];
  /** Of rounding in view of inputs, by the first method; null where nothing was rounded so, or no error could be measured. */
  readonly means: CorrectionFacts | null;
}

/** @param inputs what weights may be rounded in view of; null for nothing */
export async function compareMethods(
  methods: readonly RangeMethod[],
  inputs: StaticChoice["inputs"] | null,
  make: MakeMeasured,
): Promise<ComparedMethods> {
  const plain = methods.map((method) => ({ method }));
  if (!inputs) return { compared: paired(plain, await make(plain)), rest: [], means: null };
  // The others rounded, before anybody knows: that it does not help is rare.
  const rounded = methods.map((method) => ({ method, inputs }));
  const [first, ...all] = await make([plain[0]!, ...rounded], ({ variant }, [plain, rounded]) => {
    const isOther = plain !== undefined && rounded !== undefined && isInView(variant);
    return !isOther || judge(plain, rounded, inputs)?.isKept !== false;
  });
  const means = judge(first!, all[0]!, inputs);
  if (means?.isKept) return { compared: paired(rounded, all), rest: [first!], means };
  const others = means ? await make(plain.slice(1)) : [];
  return { compared: paired(plain, [first!, ...others]), rest: all, means };
}

/** As far as they were made. */
const paired = (choices: readonly Choice[], made: readonly Candidate[]): ComparedMethods["compared"] =>
  made.map((made, i) => ({ choice: choices[i]!, made }));

/** Null where nothing tells. */
function judge(
  plain: Candidate,
  rounded: Candidate,
  inputs: NonNullable<StaticChoice["inputs"]>,
): CorrectionFacts | null {
  if (![plain, rounded].every(({ sqnrDb }) => sqnrDb !== null && Number.isFinite(sqnrDb))) return null;
  const measure = bestMeasure([plain, rounded]);
  const read = inputs.size === 1 ? "the tensor" : `the ${inputs.size} tensors`;
  const detail = `weights rounded by the means of ${read} that products read`;
  return {
    ...judgeCorrection("means", detail, measure.of(plain), measure.of(rounded)),
    ...(measure.isInner && { judgedBy: "inputs of the last products" as const }),
  };
}

const isInView = (variant: Candidate["variant"]): boolean =>
  variant.kind === "integers" && variant.recipe.statics?.inputs !== undefined;
