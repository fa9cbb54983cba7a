/**
 * Flags that were given and change nothing. Each says how integers of some kind are made, or asks for such: where none are, by
 * what else was asked or by what the model has, that is told in a warning for each reason.
 */
import { groupBy } from "../../base/group-by.js";
import type { Form } from "../../quantization/form.js";
import { type Candidate, isStatic } from "../candidates/candidate.js";
import type { OptimizeConfig } from "../config.js";
import { corrections as allCorrections, type Correction } from "../correct/corrections.js";

type Purpose = "static" | "dynamic" | "weights4" | Correction;

interface Asked {
  /** As typed. */
  readonly flag: string;
  /** One of them is enough for an effect. */
  readonly purposes: readonly Purpose[];
}

type Asking = Pick<OptimizeConfig, "quantize" | "data" | "graph">;

/** What is clear before anything is done. */
export const ruledOut = (config: Asking): readonly string[] =>
  inWords(askedIn(config), (asked) => whyRuledOut(asked, config));

/**
 * And what came out in the end.
 *
 * @param chosen what is written; null where nothing is
 */
export function unused(config: Asking, tried: readonly Candidate[], chosen: Candidate | null): readonly string[] {
  const open = askedIn(config).filter((asked) => whyRuledOut(asked, config) === null);
  const isMade = (form: Form, candidates: readonly Candidate[]): boolean =>
    candidates.some(({ built }) => [...built.forms.values()].includes(form));
  const has: Readonly<Record<"static" | "weights4" | "chosen4", boolean>> = {
    static: tried.some((each) => isStatic(each) && each.built.forms.size > 0),
    weights4: isMade("weights4", tried),
    chosen4: chosen === null || isMade("weights4", [chosen]),
  };
  const { mode } = config.quantize;
  return inWords(open, ({ purposes }) => {
    const [first] = purposes;
    if (first === "weights4") {
      const more = mode === "weights" ? "" : ", which are for --mode weights to make";
      return has.chosen4 ? null : `the result has no weights of 4 bits${more}`;
    }
    if (first === "dynamic") return null;
    const left = purposes.filter((purpose) => whyNever(purpose, config) === null);
    const [isRounding, isOfStatics] = [left.includes("rounding"), left.some((purpose) => purpose !== "rounding")];
    if ((isRounding && has.weights4) || (isOfStatics && has.static)) return null;
    if (!isRounding) return "no static integers were made";
    return `${isOfStatics ? "neither static integers nor" : "no"} weights of 4 bits were made`;
  });
}

function askedIn({ quantize, graph }: Asking): readonly Asked[] {
  const { bits, method, format, ranges, corrections } = quantize;
  const asked = (isAsked: boolean, flag: string, ...purposes: readonly Purpose[]): readonly Asked[] =>
    isAsked ? [{ flag, purposes }] : [];
  const isOwn = corrections.length > 0 && corrections.length < allCorrections.length;
  return [
    ...asked(bits === 4, "--bits 4", "weights4"),
    ...asked(format === "qoperator", `--format ${format}`, "static"),
    ...asked(method !== null, `--method ${method}`, "static"),
    ...asked(isOwn, `--corrections ${corrections.join(",")}`, ...corrections),
    ...asked(ranges !== null, `--ranges ${ranges}`, "static"),
    ...asked(graph.runtimeSpecific, "--runtime-specific", "dynamic"),
  ];
}

function whyRuledOut({ purposes }: Asked, config: Asking): string | null {
  const reasons = purposes.map((purpose) => whyNever(purpose, config));
  return reasons.includes(null) ? null : (reasons[0] ?? null);
}

/** Whatever the model is like; null where something may come of it. */
function whyNever(purpose: Purpose, config: Asking): string | null {
  const { quantize, data } = config;
  const { mode, bits, ranges } = quantize;
  const isOther = (...modes: readonly (typeof mode)[]): boolean => mode !== "auto" && !modes.includes(mode);
  switch (purpose) {
    case "static":
      if (isOther("static")) return `--mode ${mode} makes no static integers`;
      return ranges === null && data.calibration === null ? "static integers need --calibration or --ranges" : null;
    case "dynamic":
      return isOther("dynamic") ? `--mode ${mode} makes no dynamic integers` : null;
    case "weights4":
      return isOther("weights") ? `--mode ${mode} makes no weights of 4 bits: --mode weights does` : null;
    case "rounding":
      if (bits === 8) return "rounding is of the weights that --bits 4 makes";
      return whyNever("weights4", config) ?? withoutSamples(data);
    case "join":
    case "equalize":
      if (ranges !== null && !isOther("static")) return `the ranges in ${ranges} are of the model without that`;
      return whyNever("static", config);
    case "means":
    case "outputs":
      return whyNever("static", config) ?? withoutSamples(data);
  }
}

const withoutSamples = ({ calibration }: Asking["data"]): string | null =>
  calibration === null ? "corrections are fitted to samples, which --calibration gives" : null;

function inWords(all: readonly Asked[], why: (asked: Asked) => string | null): readonly string[] {
  const told = all.flatMap((asked) => {
    const reason = why(asked);
    return reason === null ? [] : [{ flag: asked.flag, reason }];
  });
  return [...groupBy(told, ({ reason }) => reason)].map(
    ([reason, flags]) => `${flags.map(({ flag }) => flag).join(", ")}: without effect, since ${reason}`,
  );
}
