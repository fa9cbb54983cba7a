/** Models of a known amount of work, written to a folder of their own. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseModel, saveModel } from "../../dist/ir/index.js";

export const folderOf = (name) => mkdtempSync(join(tmpdir(), `infer-opt-${name}-`));

/** `layers` equal ones, one after the other: twelve take a fifth longer than ten. `rows` and `width` say how long each takes. */
export function chainModel(path, { layers, rows, width }) {
  const lines = Array.from({ length: layers }, (_, i) => {
    const from = i === 0 ? "x" : `t${i - 1}`;
    return `m${i} = MatMul(${from}, $w${i}: f32[${width},${width}])
      ${i === layers - 1 ? "y" : `t${i}`} = Tanh(m${i})`;
  });
  saveModel(parseModel(`(x: f32[${rows},${width}]) -> (y) {\n${lines.join("\n")}\n}`), path).commit();
  return path;
}
