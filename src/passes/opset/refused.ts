/** Nodes that only some models have and that have no equal later on. */
import type { DType, Node } from "../../ir/index.js";
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

const infinityMoves = "infinity becomes the largest number of that float8 type, where it became NaN";
/** f8e4m3fnuz and f8e5m2fnuz, as attributes name them. */
const finiteFloat8: ReadonlySet<number | null> = new Set([18, 20]);

/** Without saturation, infinity stays NaN; and no integer is infinite. */
const mayMeetInfinity = (node: Node, from: DType | null): boolean =>
  node.int("saturate", 1) !== 0 && !integers.has(from) && from !== "bool";

export const castToFloat8: Converter = {
  at: 24,
  concerns: (int) => int("to") === null || finiteFloat8.has(int("to")),
  refuse: (node, { dtypeOf }) =>
    finiteFloat8.has(node.int("to", 0)) && mayMeetInfinity(node, dtypeOf(node.inputs[0])) ? infinityMoves : null,
};

export const castToFloat8Like: Converter = {
  at: 24,
  refuse(node, { dtypeOf }) {
    const to = dtypeOf(node.inputs[1]);
    return (to === "f8e4m3fnuz" || to === "f8e5m2fnuz") && mayMeetInfinity(node, dtypeOf(node.inputs[0]))
      ? infinityMoves
      : null;
  },
};
