/**
 *   Conv(x: [N,C,L], W: [M,C,k])  =>  Squeeze(Conv(Unsqueeze(x, 2), W: [M,C,1,k]), 2)
 *
 * The same sums. ONNX Runtime's CPU has kernels for channels side by side in planes, and none along lines. Of four in a row with
 * Relu: 64 channels each on its own, 3 long, on 200 elements 3.4x as fast, 384 of them, 31 long, on 100 elements 7.4x; 16 groups
 * of 48, 128 long, 1.3x; all channels together 1.1x to 1.7x (1.32, Zen 5, 1 thread). Integers take as long along a line: this is for
 * what stays float. Pools come along where they read such a plane.
 */
import { type Attribute, attr, type Node, type Tensor, type Value } from "../../ir/index.js";
import { defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import { producerOf, readsOnlyFirst } from "../../rewrite/match.js";
import { fillsBlocks, isQuickDepthwise } from "../../target/channel-block.js";
import { planeOf, planeType, withoutRow, withRow } from "./one-row.js";

export const liftLine = defineRewrite({
  name: "lift-line",
  summary: "Convolve along a line as in a plane of one row",
  numerics: "rounding",
  roots: ["Conv", "AveragePool", "MaxPool", "GlobalAveragePool", "GlobalMaxPool"],
  onlyOnCpu: "its kernels for channels side by side are those of planes",
  rewrite(root, maker) {
    const line = root.inputs[0];
    if (!line || !readsOnlyFirst(root)) return null;
    const operands = root.op === "Conv" ? liftedOperands(root, maker) : isLifted(line) ? [] : null;
    if (!operands) return null;
    const plane = planeOf(line) ?? withRow(line, maker);
    const { dtype, shape } = root.output;
    const types = [planeType(dtype, shape)];
    // Once its Squeeze is gone, the plane is what goes by the name.
    const labels = [root.output.label];
    const result = maker.create(root.op, [plane, ...operands], inPlane(root), { like: root, types, labels });
    return withoutRow(result.output, root.output, maker);
  },
});

const isLifted = (line: Value): boolean => planeOf(line) !== null && line.dtype === "f32";

/** Weights and bias; null where lines have no slower kernel than planes. */
function liftedOperands(conv: Node, maker: RewriteContext): (Value | null)[] | null {
  const [, weight, ...bias] = conv.inputs;
  // Read elsewhere they would be stored twice.
  if (!weight || weight.useCount > 1) return null;
  const kernel = weight.constant ?? integersOf(weight);
  if (kernel?.dims.length !== 3 || weight.dtype !== "f32") return null;
  const [channels, own, length] = kernel.dims as [number, number, number];
  if (!isFaster(channels, own, conv.int("group", 1))) return null;
  if (!weight.constant) return [withRow(weight, maker), ...bias];
  return [maker.constant(weight.label, kernel.withDims([channels, own, 1, length])), ...bias];
}

/** Of weights that the runtime widens when it loads the model, by Mul(Cast(w), scale); null for others. */
function integersOf(weight: Value): Tensor | null {
  const [cast, scale] = producerOf(weight, "Mul", weight.graph)?.inputs ?? [];
  return (scale?.constant && producerOf(cast, "Cast", weight.graph)?.inputs[0]?.constant) ?? null;
}

function isFaster(channels: number, own: number, groups: number): boolean {
  if (groups > 1 && own === 1 && channels === groups) return isQuickDepthwise(channels);
  return own > 0 && fillsBlocks(own) && fillsBlocks(channels / groups);
}

/** Its attributes, with one of the row in front of each that is along the line. */
function inPlane(node: Node): ReadonlyMap<string, Attribute> {
  const attributes = new Map(node.attributes);
  const put = (name: string, both: (along: readonly number[]) => readonly number[]): void => {
    const along = node.ints(name);
    if (along) attributes.set(name, attr.ints(both(along)));
  };
  for (const name of ["kernel_shape", "strides", "dilations"]) put(name, ([along]) => [1, along!]);
  put("pads", ([before, after]) => [0, before!, 0, after!]);
  return attributes;
}
