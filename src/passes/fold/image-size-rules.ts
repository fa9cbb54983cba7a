/** Shapes of what operators on images make: [N, C, spatial...]. */
import type { Node } from "../../ir/index.js";
import { add, divide, multiply, type Size } from "./size.js";
import type { PartialShape, Rule, SizeFacts } from "./size-rules.js";

/** Conv and pools: windows along the axes after the second. */
const windows: Rule = (node, { shapeOf }) => {
  const data = shapeOf(node.inputs[0]);
  const weight = shapeOf(node.inputs[1]);
  const isConv = node.op === "Conv" || node.op === "FusedConv";
  if (!data || data.length < 3 || (isConv && !weight)) return null;
  const kernel = node.ints("kernel_shape") ?? (isConv ? weight!.slice(2) : null);
  const channels = isConv ? weight![0]! : data[1]!;
  const auto = node.string("auto_pad", "NOTSET");
  const rank = data.length - 2;
  const strides = node.ints("strides") ?? Array<number>(rank).fill(1);
  const dilations = node.ints("dilations") ?? Array<number>(rank).fill(1);
  const pads = node.ints("pads") ?? Array<number>(2 * rank).fill(0);
  if (auto !== "NOTSET" && auto !== "VALID") return [data[0]!, channels, ...data.slice(2).map(() => null)];
  return [
    data[0]!,
    channels,
    ...data.slice(2).map((size, i) => {
      const length = kernel?.[i];
      if (typeof length !== "number" || node.int("ceil_mode", 0) !== 0) return null;
      const padding = auto === "VALID" ? 0 : pads[i]! + pads[rank + i]!;
      const room = add(size, padding - dilations[i]! * (length - 1) - 1);
      const steps = room === null ? null : divide(room, strides[i]!);
      return steps === null ? null : add(steps, 1);
    }),
  ];
};

const convTranspose: Rule = (node, { shapeOf }) => {
  const [data, weight] = [shapeOf(node.inputs[0]), shapeOf(node.inputs[1])];
  if (!data || !weight || data.length < 3) return null;
  const rank = data.length - 2;
  const channels = multiply(weight[1]!, node.int("group", 1));
  const isPlain = node.string("auto_pad", "NOTSET") === "NOTSET" && !node.attributes.has("output_shape");
  const read = (name: string, count: number, absent: number): number[] =>
    node.ints(name) ?? Array<number>(count).fill(absent);
  const [strides, dilations, pads, extra] = [
    read("strides", rank, 1),
    read("dilations", rank, 1),
    read("pads", 2 * rank, 0),
    read("output_padding", rank, 0),
  ];
  const kernel = node.ints("kernel_shape") ?? weight.slice(2);
  return [
    data[0]!,
    channels,
    ...data.slice(2).map((size, i) => {
      const length = kernel[i];
      if (!isPlain || typeof length !== "number") return null;
      const less = add(size, -1);
      const steps = less === null ? null : multiply(less, strides[i]!);
      return steps === null
        ? null
        : add(steps, extra[i]! + (length - 1) * dilations[i]! + 1 - pads[i]! - pads[rank + i]!);
    }),
  ];
};

const resize: Rule = (node, { shapeOf, vectorOf }) => {
  const shape = shapeOf(node.inputs[0]);
  const isCrop = node.string("coordinate_transformation_mode", "half_pixel") === "tf_crop_and_resize";
  if (!shape || node.attributes.has("axes") || isCrop) return null;
  if (node.inputs[3]) {
    const isStretched = node.string("keep_aspect_ratio_policy", "stretch") === "stretch";
    const sizes = vectorOf(node.inputs[3])?.elements;
    return isStretched && sizes?.length === shape.length ? sizes : null;
  }
  const scales = node.inputs[2]?.constant?.toF32();
  if (scales?.length !== shape.length) return null;
  return shape.map((size, axis) => (Number.isInteger(scales[axis]) ? multiply(size, scales[axis]!) : null));
};

const rearranged: Rule = (node, { shapeOf }) => {
  const shape = shapeOf(node.inputs[0]);
  const block = node.int("blocksize", 0);
  if (shape?.length !== 4 || block < 1) return null;
  const [n, c, h, w] = shape as [Size, Size, Size, Size];
  return node.op === "DepthToSpace"
    ? [n, divide(c, block * block), multiply(h, block), multiply(w, block)]
    : [n, multiply(c, block * block), divide(h, block), divide(w, block)];
};

const pooledAway = (node: Node, { shapeOf }: SizeFacts): PartialShape | null =>
  shapeOf(node.inputs[0])?.map((size, axis) => (axis < 2 ? size : 1)) ?? null;

export const imageRules: Readonly<Record<string, Rule>> = {
  AveragePool: windows,
  Conv: windows,
  ConvTranspose: convTranspose,
  DepthToSpace: rearranged,
  GlobalAveragePool: pooledAway,
  GlobalMaxPool: pooledAway,
  MaxPool: windows,
  Resize: resize,
  SpaceToDepth: rearranged,
};
