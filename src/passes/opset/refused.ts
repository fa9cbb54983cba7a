/** Nodes that only some models have and that have no equal later on. */
import type { DType } from "../../ir/index.js";
import type { Converter } from "./converter.js";

/** Scan took a batch axis and lengths of sequences before 9. */
export const scanBatches: Converter = {
  at: 9,
  refuse: () => "it lost the batch axis and the sequence lengths",
};

const integers: ReadonlySet<DType | null> = new Set<DType>(["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]);

export const erfOfFloats: Converter = {
  at: 13,
  refuse: (node, { dtypeOf }) => (integers.has(dtypeOf(node.inputs[0])) ? "integers are no longer allowed" : null),
};

/** A vector of scales was never defined before 13, but runtimes let it pass; then `axis` (default 1) decides what it means. */
export const scalesPerChannel: Converter = {
  at: 13,
  refuse: (node) =>
    node.inputs[1]?.shape?.some((dim) => typeof dim === "number" && dim !== 1)
      ? "a vector of scales gets a meaning that it did not have"
      : null,
};
