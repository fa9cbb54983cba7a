import { type DType, dtypeOfCode, isFloat } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { producerOf } from "../../rewrite/match.js";

/** Types that hold every value of the key exactly. */
const widened: Partial<Record<DType, readonly DType[]>> = {
  bool: ["u8", "i8", "u16", "i16", "i32", "i64", "u32", "u64", "f16", "bf16", "f32", "f64"],
  u8: ["u16", "i16", "i32", "i64", "u32", "u64", "f16", "f32", "f64"],
  i8: ["i16", "i32", "i64", "f16", "f32", "f64"],
  u16: ["i32", "i64", "u32", "u64", "f32", "f64"],
  i16: ["i32", "i64", "f32", "f64"],
  i32: ["i64", "f64"],
  u32: ["i64", "u64", "f64"],
  f16: ["f32", "f64"],
  bf16: ["f32", "f64"],
  f32: ["f64"],
};

/**
 * Cast<T>(x: T)                       =>  x
 * Cast<T>(Cast<wider than x>(x: T))   =>  x
 * Cast<U>(Cast<wider than x>(x: T))   =>  Cast<U>(x), when T and U are both floats or both integers
 */
export const eliminateNoOpCast = defineRewrite({
  name: "eliminate-no-op-cast",
  summary: "Remove Casts to the type a tensor has, and Casts there and back",
  numerics: "exact",
  roots: ["Cast"],
  rewrite(cast, { create }) {
    const input = cast.inputs[0];
    const to = dtypeOfCode(cast.int("to", 0));
    if (!input || !to) return null;
    if (input.dtype === to) return input;
    const inner = producerOf(input, "Cast", cast.graph);
    const source = inner?.inputs[0];
    if (!inner || !source?.dtype) return null;
    const middle = dtypeOfCode(inner.int("to", 0));
    if (!middle || !widened[source.dtype]?.includes(middle)) return null;
    if (source.dtype === to) return source;
    const areBothFloats = isFloat(source.dtype) && isFloat(to) && isFloat(middle);
    const areBothIntegers = !isFloat(source.dtype) && !isFloat(to) && !isFloat(middle) && to !== "string";
    if (!areBothFloats && !areBothIntegers) return null;
    return create("Cast", [source], cast.attributes);
  },
});
