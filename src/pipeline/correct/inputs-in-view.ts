/** What the weights of static integers are rounded in view of, by what the calibration saw of it. */
import { storedById } from "../../dataset/index.js";
import { meanOf, meanPairOf, meanSquareOf } from "../../observe/index.js";
import { inputMoments } from "../../quantization/inputs/moment-taps.js";
import type { InputMoments } from "../../quantization/inputs/round-in-view.js";
import type { StaticChoice } from "../../quantization/recipe.js";
import type { FloatAnswers } from "../calibrate/kept-answers.js";
import type { Correction } from "./corrections.js";

/** By the labels of what products read, as far as it held numbers; null where nothing did, or where nobody wants it. */
export function inputsInView(
  { corrections }: { readonly corrections: readonly Correction[] },
  answers: FloatAnswers | null,
): NonNullable<StaticChoice["inputs"]> | null {
  if (!answers?.fitted || !corrections.includes("means")) return null;
  const { path, names } = answers.moments;
  const samples = [...storedById(path).values()];
  if (samples.length === 0) return null;
  const found = [...names].flatMap(([label, name]) => {
    const moments = inputMoments(
      samples.map((kept) => ({
        mean: kept.get(meanOf(name))!().f32(),
        meanSquare: kept.get(meanSquareOf(name))!().f32(),
        meanPair: kept.get(meanPairOf(name))!().f32(),
      })),
    );
    return moments ? [[label, moments] as const] : [];
  });
  return found.length > 0 ? new Map<string, InputMoments>(found) : null;
}
