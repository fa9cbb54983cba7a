/**
 * A Resize of some axes says what becomes of all of them:
 *
 *   Resize<axes=[2, 3]>(x, scales [2, 2])  =>  Resize(x, scales [1, 1, 2, 2])
 *
 * ONNX Runtime (1.30, 1.32) does not load a model in which it moves a Transpose past one with `axes`, as it does behind integer Convs:
 * "Number of elements of input 'sizes' (0) does not match the number of axes (2)".
 */
import { fromFront, type Graph, type Node, Tensor } from "../ir/index.js";
import { resizedTo, resizeRatios } from "../target/resize-ratios.js";

/** Once pairs are written. */
export function resizeAllAxes(graph: Graph): void {
  for (const node of [...graph.nodes()]) {
    if (!node.is("Resize") || !node.attributes.has("axes")) continue;
    const ratios = resizeRatios(node);
    if (!ratios || !tellsSizes(node, ratios)) continue;
    const attributes = new Map(node.attributes);
    attributes.delete("axes");
    const scales = graph.addConstant(`${node.name}/scales`, Tensor.f32([ratios.length], ratios));
    const { name, output, provenance } = node;
    const { label, type } = output;
    const inputs = [node.inputs[0]!, null, scales];
    const whole = graph.addNode(
      { op: "Resize", name, inputs, attributes, outputs: [{ label, type }], provenance },
      node,
    );
    graph.replaceUses(output, whole.output);
    graph.removeNode(node);
  }
}

/** Whether ratios come to the sizes that the node gives, and no part is cut out. */
function tellsSizes(node: Node, ratios: readonly number[]): boolean {
  if (node.string("coordinate_transformation_mode", "half_pixel") === "tf_crop_and_resize") return false;
  const sizes = node.inputs[3]?.constant?.integers();
  if (!sizes) return ratios.every(Number.isFinite);
  const axes = node.ints("axes")!;
  return axes.every((axis, i) => {
    const at = fromFront(axis, ratios.length);
    const size = node.inputs[0]!.shape![at];
    return typeof size === "number" && resizedTo(size, ratios[at]!) === sizes[i];
  });
}
