// Metric for infer-opt: 1 when a line is read exactly right, else 0. Greedy decoding of the softmax output, as the
// model's authors do: the best class of each step, repeats joined, blanks dropped. compare_ocr.py copies this file
// beside the model's list of characters. Classes are: blank, the characters in order, space.
import { readFileSync } from "node:fs";

const listed = readFileSync(new URL("./ppocr_keys_v1.txt", import.meta.url), "utf8").split("\n");
const characters = ["", ...listed.filter((character) => character !== ""), " "];

export const name = "exact-line";
export const higherIsBetter = true;

export function score(outputs, labels) {
  const { dims, data } = Object.values(outputs)[0];
  const [steps, classes] = dims.slice(-2);
  let text = "";
  let last = 0;
  for (let step = 0; step < steps; step++) {
    const best = indexOfLargest(data.subarray(step * classes, (step + 1) * classes));
    if (best !== last) text += characters[best];
    last = best;
  }
  const label = String.fromCodePoint(...Array.from(labels.data, Number).filter((code) => code !== 0));
  return text.trim() === label ? 1 : 0;
}

function indexOfLargest(values) {
  let best = 0;
  for (let i = 1; i < values.length; i++) if (values[i] > values[best]) best = i;
  return best;
}
