/** Models and samples for tests of what the command does with bad ones: tiny, and made in the test. */
import { readFileSync } from "node:fs";
import { seededRandom } from "../../src/base/random.js";
import type { GraphProto, NodeProto, TensorProto } from "../../src/onnx/index.js";
import { bytesOf, FLOAT, long, valueInfo } from "../onnx/build.js";
import { modelFile } from "./model-file.js";
import { f32Npy, i64Npy, npz } from "./npz.js";
import { temporaryFolder } from "./temporary-folder.js";

/** Ten class scores from an image of 8 x 8. */
export const CLASSIFIER = `(x: f32[N,1,8,8]) -> (y) {
  c = Conv<pads=[1,1,1,1]>(x, $w: f32[8,1,3,3])
  r = Relu(c)
  f = Flatten(r)
  y = MatMul(f, $v: f32[512,10])
}`;

/** The bytes of a graph in text. Call it inside a test. */
export const modelBytes = (text: string, opset = 17): Buffer =>
  readFileSync(modelFile(temporaryFolder(), text, { opset }));

export const classifier = (): Buffer => modelBytes(CLASSIFIER);

/** `count` images for CLASSIFIER, with labels unless told otherwise; `change` may spoil the values. */
export function images(
  count: number,
  { labels = true, change }: { readonly labels?: boolean; readonly change?: (values: number[]) => void } = {},
): Buffer {
  const random = seededRandom(3);
  const values = Array.from({ length: count * 64 }, () => random.normal());
  change?.(values);
  return npz({
    x: f32Npy([count, 1, 8, 8], values),
    ...(labels && {
      labels: i64Npy(
        [count],
        Array.from({ length: count }, (_, i) => i % 10),
      ),
    }),
  });
}

/** A graph x f32[2] -> y with the given nodes, field by field: also what no text can say. */
export const wireModel = (nodes: readonly NodeProto[], more: Partial<GraphProto> = {}): Uint8Array =>
  bytesOf({ node: [...nodes], input: [valueInfo("x")], output: [valueInfo("y")], ...more });

export const node = (op_type: string, input: string[], output: string[], more: Partial<NodeProto> = {}): NodeProto => ({
  op_type,
  input,
  output,
  name: `/${op_type}/${output[0]}`,
  ...more,
});

/** A weight "w" of two floats, in a file beside the model. */
export function externalModel(entries: Readonly<Record<string, string>>): Uint8Array {
  const tensor: TensorProto = {
    name: "w",
    dims: [long(2)],
    data_type: FLOAT,
    data_location: 1,
    external_data: Object.entries(entries).map(([key, value]) => ({ key, value })),
  };
  return wireModel([node("Add", ["x", "w"], ["y"])], { initializer: [tensor] });
}
