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

/** Makes them in the order asked for, and measures each while the next is made, where it is wanted then. */
export type MakeMeasured = (
  wanted: (made: readonly Candidate[]) => Iterable<Choice>,
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
  const choices: Choice[] = [];
  const wish = (method: RangeMethod, isInView: boolean): Choice => {
    const choice = { method, ...(inputs && isInView && { inputs }) };
    choices.push(choice);
    return choice;
  };
  let rounding: CorrectionFacts | null = null;
  /** Null as long as it is not known, and where nothing tells. */
  const judge = (made: readonly Candidate[]): CorrectionFacts | null => {
    const [plain, rounded] = made;
    if (rounding || !inputs || !isTold(plain) || !isTold(rounded)) return rounding;
    const measure = bestMeasure([plain!, rounded!]);
    const detail = `weights rounded by the means of ${inputs.size} inputs`;
    rounding = {
      ...judgeCorrection("means", detail, measure.of(plain!), measure.of(rounded!)),
      ...(measure.isInner && { judgedBy: "inputs of the last products" as const }),
    };
    return rounding;
  };
  function* wanted(made: readonly Candidate[]): Generator<Choice> {
    const [first, ...others] = methods;
    yield wish(first!, false);
    if (inputs) yield wish(first!, true);
    // Rounded, where nobody knows yet: that it does not help is rare.
    const early: RangeMethod[] = [];
    for (const method of others) {
      const isInView = judge(made)?.isKept ?? true;
      if (rounding === null) early.push(method);
      yield wish(method, isInView);
    }
    if (inputs && judge(made)?.isKept === false) for (const method of early) yield wish(method, false);
  }
  const all = await make(wanted, (candidate, before) => !isInView(candidate) || judge(before)?.isKept !== false);
  const means = judge(all);
  const isRounded = means?.isKept === true;
  const isAlike = (choice: Choice): boolean => (choice.inputs !== undefined) === isRounded;
  const compared = methods.flatMap((method) => {
    const at = choices.findIndex((choice) => choice.method === method && isAlike(choice));
    return at < 0 ? [] : [{ choice: choices[at]!, made: all[at]! }];
  });
  const taken = new Set(compared.map(({ made }) => made));
  return { compared, rest: all.filter((each) => !taken.has(each)), means };
}

const isInView = ({ variant }: Pick<Candidate, "variant">): boolean =>
  variant.kind === "integers" && variant.recipe.statics?.inputs !== undefined;

const isTold = (candidate: Candidate | undefined): boolean =>
  candidate !== undefined && candidate.sqnrDb !== null && Number.isFinite(candidate.sqnrDb);
