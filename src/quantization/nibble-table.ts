/**
 * Look-up tables of 4 bits, two to a byte, with a scale per 16 elements of a row:
 *
 *   g = Gather(T_u8, i);  q = Concat(BitwiseAnd(g, 15), BitShift(g, 4));  y = Reshape(Reshape(Cast(q) - 8) * Gather(scale, i))
 *
 * with the first half of a row in the lower bits and the second in the upper ones, so that halves that are put
 * one after the other are the row. All of it is ai.onnx (opset 18), and only rows that are looked up are widened:
 * a DequantizeLinear of 4 bits before the Gather would widen the whole table in every run (18 ms for 30,000 rows of
 * 384), and the runtime's own GatherBlockQuantized takes six times as long as this (1.5 ms for 512 rows instead of 0.24 ms).
 * A scale for 16 in f16 is as large as scale and zero point for 32, and more accurate.
 */
import { f32ToF16Bits } from "../base/f16.js";
import { attr, elementCount, type Node, Tensor, type Value } from "../ir/index.js";
import { BlockFit } from "./blocks/block-fit.js";
import type { WeightStore, WeightTensors } from "./weight-store.js";

/** What BitwiseAnd came with. */
export const NIBBLES_OPSET = 18;
const BLOCK = 16;
const RANGE = { low: -8, high: 7, isSymmetric: true } as const;
/** Of f16: smaller numbers lose digits. */
const [LEAST_F16, LARGEST_F16] = [2 ** -14, 65504];

/** Whether a look-up's table can be stored so: rows of whole blocks, indices of a known rank, and nobody else who reads it. */
export function takesNibbles(node: Node, opset: number): boolean {
  const [table, indices] = node.inputs as [Value, Value];
  const [, ...rest] = table.constant!.dims;
  const isRead = table.uses.every((use) => use.kind === "input" && use.node.is("Gather") && use.index === 0);
  return opset >= NIBBLES_OPSET && elementCount(rest) % BLOCK === 0 && indices.shape !== null && isRead;
}

/** Replaces a look-up of which `takesNibbles` is true. */
export function storeNibbles(node: Node, store: WeightStore): void {
  const { graph } = node;
  const [table, indices] = node.inputs as [Value, Value];
  const [, ...rest] = table.constant!.dims;
  const stored = store.of(table, "nibbles", () => nibbles(table.constant!));
  const { label, shape } = node.output;
  const add = (op: string, inputs: Value[], suffix: string, dtype: "u8" | "f16" | "f32", attributes = {}): Value => {
    const type = { dtype, shape: op === "Reshape" && suffix === op ? shape : null };
    const outputs = [{ label: `${label}/${suffix}`, type }];
    const { provenance } = node;
    return graph.addNode({ op, name: `${node.name}/${suffix}`, inputs, attributes, outputs, provenance }, node).output;
  };
  const constant = (suffix: string, tensor: Tensor): Value => graph.addConstant(`${label}/${suffix}`, tensor);
  const rows = { axis: attr.int(0) };
  const toFloat = { to: attr.int(1) };
  const pairs = add("Gather", [stored.integers, indices], "Gather", "u8", rows);
  const low = add(
    "BitwiseAnd",
    [pairs, constant("mask", Tensor.ofArray("u8", [], Uint8Array.of(15)))],
    "BitwiseAnd",
    "u8",
  );
  const four = constant("four", Tensor.ofArray("u8", [], Uint8Array.of(4)));
  const high = add("BitShift", [pairs, four], "BitShift", "u8", { direction: attr.string("RIGHT") });
  const integers = add("Concat", [low, high], "Concat", "u8", { axis: attr.int(-1) });
  const centred = add(
    "Sub",
    [add("Cast", [integers], "Cast", "f32", toFloat), constant("middle", Tensor.scalar("f32", 8))],
    "Sub",
    "f32",
  );
  const kept = indices.shape!.map(() => 0);
  const shapeOf = (...last: readonly number[]): Tensor => Tensor.i64([kept.length + last.length], [...kept, ...last]);
  const blocks = add(
    "Reshape",
    [centred, constant("blocks", shapeOf(elementCount(rest) / BLOCK, BLOCK))],
    "blocks",
    "f32",
  );
  const looked = add("Gather", [stored.scale, indices], "scale", stored.scale.dtype === "f16" ? "f16" : "f32", rows);
  const scale = stored.scale.dtype === "f16" ? add("Cast", [looked], "wide", "f32", toFloat) : looked;
  const scaled = add("Mul", [blocks, scale], "Mul", "f32");
  const result = add("Reshape", [scaled, constant("rows", shapeOf(...rest))], "Reshape", "f32");
  graph.replaceUses(node.output, result);
  graph.removeNode(node);
  result.label = label;
}

/** Bytes [rows, row / 2] and scales [rows, row / 16, 1]. */
function nibbles(table: Tensor): WeightTensors {
  const [rows = 0, ...rest] = table.dims;
  const size = elementCount(rest);
  const half = size / 2;
  const values = table.f32();
  const bytes = new Uint8Array(rows * half);
  const scales = new Float32Array((rows * size) / BLOCK);
  const fit = new BlockFit(BLOCK, RANGE);
  const importance = new Float64Array(BLOCK).fill(1);
  for (let block = 0; block < scales.length; block++) {
    const from = block * BLOCK;
    fit.to(values.subarray(from, from + BLOCK), importance, BLOCK);
    scales[block] = fit.scale;
    for (let i = 0; i < BLOCK; i++) {
      const row = Math.floor((from + i) / size);
      const column = (from + i) % size;
      const isHigh = column >= half;
      bytes[row * half + (isHigh ? column - half : column)]! |= (fit.integers[i]! + 8) << (isHigh ? 4 : 0);
    }
  }
  return {
    integers: Tensor.ofArray("u8", [rows, half], bytes),
    scales: scalesTensor([rows, size / BLOCK, 1], scales),
  };
}

function scalesTensor(dims: readonly number[], scales: Float32Array): Tensor {
  const fits = scales.every((scale) => scale >= LEAST_F16 && scale <= LARGEST_F16);
  return fits ? Tensor.ofArray("f16", dims, Uint16Array.from(scales, f32ToF16Bits)) : Tensor.f32(dims, scales);
}
