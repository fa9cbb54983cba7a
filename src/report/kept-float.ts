import type { RunResult } from "../pipeline/result.js";

type FloatNode = NonNullable<RunResult["quantization"]>["float"][number];

/** Nodes that one would look for among integers, or in half precision, and that are float: each with its reason. */
export const keptFloat = ({
  quantization,
  unquantized,
  precision,
}: Pick<RunResult, "quantization" | "unquantized" | "precision">): readonly FloatNode[] => [
  ...(quantization?.float ?? []),
  ...(unquantized?.float ?? []),
  ...(precision?.float ?? []),
];
