/**
 * Resize(x) to the size that x has                       =>  x
 * Resize(x, sizes [N, C, 8, 8]) where x is [N, C, 4, 4]  =>  Resize(x, scales [1, 1, 2, 2])
 * Resize(x, sizes [N, C, h, w]) where x is [N, C, ...]   =>  Resize<axes=[2, 3]>(x, [h, w])
 *
 * These spare the computing of sizes that are given back as they are. The last is for float alone: ONNX Runtime 1.32 does not
 * load a model in which it moves a Transpose past such a Resize ("Number of elements of input 'sizes' (0) does not match"),
 * as it does where integers are around.
 */
import { attr, type Node, Tensor, type Value } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { equalsElementwise, producerOf } from "../../rewrite/match.js";
import { areSame, type Size } from "../fold/size.js";
import { sizeFacts } from "../fold/size-facts.js";
import type { SizeFacts } from "../fold/size-rules.js";

/** Modes in which an element of the result lies on one of the input when nothing is stretched. */
const identities = ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"];

export const eliminateNoOpResize = defineRewrite({
  name: "eliminate-no-op-resize",
  summary: "Remove Resize nodes that keep the size",
  numerics: "exact",
  roots: ["Resize"],
  rewrite(resize, { shared }) {
    const [source, , scales] = resize.inputs;
    const mode = resize.string("coordinate_transformation_mode", "half_pixel");
    if (!source || resize.inputs.length < 3 || !identities.includes(mode)) return null;
    if (resize.inputs[3]) return keepsSizes(resize, source, shared(sizeFacts)) ? source : null;
    return scales?.constant && scales.constant.elementCount > 0 && equalsElementwise(scales, 1) ? source : null;
  },
});

function keepsSizes(resize: Node, source: Value, facts: SizeFacts): boolean {
  const shape = facts.shapeOf(source);
  const sizes = facts.vectorOf(resize.inputs[3])?.elements;
  const axes = resize.ints("axes") ?? shape?.map((_, axis) => axis);
  return (
    !!shape && !!sizes && axes?.length === sizes.length && sizes.every((size, i) => areSame(size, shape.at(axes[i]!)))
  );
}

export const fuseResizeScales = defineRewrite({
  name: "fuse-resize-scales",
  summary: "Tell a Resize the ratios of sizes that are known but for the batch",
  numerics: "exact",
  roots: ["Resize"],
  // There may be no region of interest from here on.
  minOpset: 13,
  rewrite(resize, { create, constant, shared }) {
    const source = resize.inputs[0];
    const sizes = resize.inputs[3];
    if (!source || !sizes || sizes.constant || !stretches(resize)) return null;
    const facts = shared(sizeFacts);
    const shape = facts.shapeOf(source);
    const elements = facts.vectorOf(sizes)?.elements;
    if (!shape || elements?.length !== shape.length) return null;
    const scales = elements.map((size, axis) => ratioOf(size, shape[axis]));
    if (!scales.every((scale) => scale !== null)) return null;
    const vector = constant(`${resize.output.label}/scales`, Tensor.f32([scales.length], scales));
    return create("Resize", [source, null, vector], resize.attributes);
  },
});

/** Of all axes, and in proportion. */
function stretches(resize: Node): boolean {
  const roi = resize.inputs[1];
  return (
    !resize.attributes.has("axes") &&
    !(roi && roi.shape?.[0] !== 0) &&
    resize.string("keep_aspect_ratio_policy", "stretch") === "stretch" &&
    resize.string("coordinate_transformation_mode", "half_pixel") !== "tf_crop_and_resize"
  );
}

/** As the runtime reckons it from both sizes, and where it comes to the same size by it; null where they are not known. */
function ratioOf(to: Size | null | undefined, from: Size | null | undefined): number | null {
  if (areSame(to, from)) return 1;
  if (typeof to !== "number" || typeof from !== "number" || from === 0 || to === 0) return null;
  const ratio = Math.fround(to / from);
  return Math.floor(Math.fround(from * ratio)) === to ? ratio : null;
}

export const fuseResizeAxes = defineRewrite({
  name: "fuse-resize-axes",
  summary: "Tell a Resize the sizes of the axes that it changes only",
  numerics: "exact",
  roots: ["Resize"],
  minOpset: 18,
  rewrite(resize, { create, shared }) {
    const source = resize.inputs[0];
    const sizes = resize.inputs[3];
    const concat = producerOf(sizes, "Concat", resize.graph);
    if (!source || !sizes || !concat || !stretches(resize)) return null;
    const facts = shared(sizeFacts);
    const shape = facts.shapeOf(source);
    const elements = facts.vectorOf(sizes)?.elements;
    if (!shape || elements?.length !== shape.length) return null;
    const isKept = elements.map((size, axis) => areSame(size, shape[axis]));
    const parts = changedParts(concat, isKept, facts);
    const [only, ...others] = parts ?? [];
    if (!only || parts!.length === concat.inputs.length) return null;
    const vector =
      others.length === 0
        ? only.value
        : create(
            "Concat",
            parts!.map(({ value }) => value),
            { axis: attr.int(0) },
          ).output;
    const axes = parts!.flatMap((part) => part.axes);
    return create("Resize", [source, null, null, vector], [...resize.attributes, ["axes", attr.ints(axes)]]);
  },
});

/** The parts of the vector of sizes without those that are kept as a whole; null when nothing is left or a part is not known. */
function changedParts(
  concat: Node,
  isKept: readonly boolean[],
  { vectorOf }: SizeFacts,
): { value: Value; axes: number[] }[] | null {
  let from = 0;
  const parts: { value: Value; axes: number[] }[] = [];
  for (const value of concat.inputs) {
    const held: readonly (Size | null)[] | undefined = vectorOf(value)?.elements;
    if (!value || !held) return null;
    const start = from;
    const axes = held.map((_, i) => start + i);
    from += held.length;
    if (!axes.every((axis) => isKept[axis])) parts.push({ value, axes });
  }
  return parts.length > 0 ? parts : null;
}
