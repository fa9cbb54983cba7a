import { describe, expect, it } from "vitest";
import { type Model, parseModel } from "../../../src/ir/index.js";
import { computedHere } from "../../../src/passes/fold/computed-here.js";
import { evaluate } from "../../support/ask-runtime.js";

const graphOf = (body: string): string => `() -> (y) { ${body} }`;

function computed(model: Model) {
  const results = computedHere(model, model.graph.nodes());
  return results && results.get(model.graph.outputs[0]!.value)!;
}

/** Constants without values are made up. */
const bodies: Readonly<Record<string, string>> = {
  Identity: "y = Identity($a: f32[2,3])",
  "Reshape to what is left": "y = Reshape($a: f16[2,3,4], $s: i64[2] = {0, -1})",
  Flatten: "y = Flatten<axis=2>($a: f32[2,3,4])",
  "Flatten to one row": "y = Flatten<axis=0>($a: f32[2,3,4])",
  "Squeeze of every 1": "y = Squeeze($a: i64[1,3,1])",
  "Squeeze of one axis": "y = Squeeze($a: i64[1,3,1], $x: i64[1] = {-1})",
  "Unsqueeze, counted from the end of the result": "y = Unsqueeze($a: f32[2,3], $x: i64[2] = {-1, 0})",
  "Transpose without an order": "y = Transpose($a: f32[2,3,4])",
  Transpose: "y = Transpose<perm=[1,0,2]>($a: u8[2,3,4])",
  "Slice of two axes": `y = Slice($a: f32[4,6], $s: i64[2] = {1, -5}, $e: i64[2] = {3, 100}, $x: i64[2] = {0, 1},
    $t: i64[2] = {1, 2})`,
  "Slice backwards":
    "y = Slice($a: f64[5], $s: i64[1] = {-1}, $e: i64[1] = {-100}, $x: i64[1] = {0}, $t: i64[1] = {-1})",
  "Slice backwards by two":
    "y = Slice($a: i32[6], $s: i64[1] = {4}, $e: i64[1] = {0}, $x: i64[1] = {0}, $t: i64[1] = {-2})",
  "Slice backwards from behind the end":
    "y = Slice($a: i32[6], $s: i64[1] = {90}, $e: i64[1] = {2}, $x: i64[1] = {0}, $t: i64[1] = {-1})",
  "Slice of nothing": "y = Slice($a: f32[4,2], $s: i64[1] = {3}, $e: i64[1] = {1})",
  "Slice to the last integer": "y = Slice($a: f32[4,2], $s: i64[1] = {1}, $e: i64[1] = {9223372036854775807})",
  "Slice from the first integer": "y = Slice($a: f32[4,2], $s: i64[1] = {-9223372036854775808}, $e: i64[1] = {-1})",
  "Concat along an inner axis": "y = Concat<axis=-2>($a: f32[2,1,3], $b: f32[2,2,3], $c: f32[2,0,3])",
  "Gather of rows": "y = Gather($a: f32[4,3], $i: i64[2,2] = {0, -1, 3, 1})",
  "Gather of one column": "y = Gather<axis=1>($a: i64[2,3], $i: i32[] = {-2})",
  "Expand both ways": "y = Expand($a: f32[3,1], $s: i64[3] = {2, 1, 4})",
  "Expand to nothing": "y = Expand($a: f32[3,1], $s: i64[2] = {1, 0})",
  "ConstantOfShape without a value": "y = ConstantOfShape($s: i64[2] = {2, 3})",
  "ConstantOfShape of a scalar": "y = ConstantOfShape($s: i64[0])",
  "Add that wraps around": "y = Add($a: i32[2] = {2147483647, 1}, $b: i32[2,1] = {1, 2})",
  "Mul that wraps around": "y = Mul($a: i64[2] = {9223372036854775807, -3}, $b: i64[] = {2})",
  Sub: "y = Sub($a: i64[3] = {1, 2, 3}, $b: i64[1] = {5})",
  "Div towards zero": "y = Div($a: i64[4] = {7, -7, 7, -7}, $b: i64[4] = {2, 2, -2, -2})",
  Equal: "y = Equal($a: i64[3] = {1, 2, 3}, $b: i64[] = {2})",
  Less: "y = Less($a: i32[3] = {1, 2, 3}, $b: i32[] = {2})",
  LessOrEqual: "y = LessOrEqual($a: i64[3] = {1, 2, 3}, $b: i64[] = {2})",
  Greater: "y = Greater($a: i64[3] = {1, 2, 3}, $b: i64[] = {2})",
  GreaterOrEqual: "y = GreaterOrEqual($a: i64[3] = {1, 2, 3}, $b: i64[] = {2})",
  "And, Or and Not": `a = And($p: bool[2,1] = {1, 0}, $q: bool[2] = {1, 0})
    b = Or(a, $r: bool[1] = {0})
    y = Not(b)`,
  "Cast to truth values": "y = Cast<to=9>($a: i64[3] = {0, 5, -1})",
  "Cast of truth values": "y = Cast<to=7>($a: bool[2] = {1, 0})",
  "Cast to fewer bits": "y = Cast<to=6>($a: i64[3] = {-1, 4294967298, 3})",
  "Cast to floats": "y = Cast<to=1>($a: i64[2] = {16777217, -3})",
  "Cast to the same type": "y = Cast<to=10>($a: f16[2])",
  Range: "y = Range($a: i64[] = {2}, $b: i64[] = {11}, $c: i64[] = {3})",
  "Range backwards": "y = Range($a: i32[] = {5}, $b: i32[] = {0}, $c: i32[] = {-2})",
  "Range of nothing": "y = Range($a: i64[] = {5}, $b: i64[] = {0}, $c: i64[] = {1})",
  "a chain as exporters write for paddings": `c = Concat<axis=0>($p: i64[4], $z: i64[4] = {0, 0, 0, 0})
    r = Reshape(c, $s: i64[2] = {-1, 2})
    w = Slice(r, $f: i64[1] = {-1}, $e: i64[1] = {-9223372036854775807}, $x: i64[1] = {0}, $t: i64[1] = {-1})
    q = Transpose<perm=[1,0]>(w)
    y = Reshape(q, $u: i64[1] = {-1})`,
};

describe("computedHere", () => {
  for (const [name, body] of Object.entries(bodies)) {
    it(`computes as the runtime does: ${name}`, async () => {
      const model = parseModel(graphOf(body));
      const own = computed(model);
      const [theirs] = (await evaluate(model)).values();
      expect(own).not.toBeNull();
      expect([own!.dtype, own!.dims]).toEqual([theirs!.dtype, theirs!.dims]);
      expect(own!.bytes()).toEqual(new Uint8Array(theirs!.bytes()));
    });
  }

  for (const [name, body] of Object.entries({
    "what rounds": "y = Exp($a: f32[2])",
    "sums of floats": "y = Add($a: f32[2], $b: f32[2])",
    "operators of several outputs": "y, z = Split<axis=0>($a: f32[4])",
    texts: 'y = Identity($a: string[1] = {"a"})',
    "elements of less than a byte": "y = Transpose($a: u4[2,2])",
    "division by zero": "y = Div($a: i64[1] = {1}, $b: i64[1] = {0})",
    "an index out of range": "y = Gather($a: f32[2], $i: i64[1] = {2})",
    "a shape that does not fit": "y = Reshape($a: f32[2,3], $s: i64[1] = {5})",
    "a slice backwards to the last integer, which kernels read in a way of their own":
      "y = Slice($a: f32[4], $s: i64[1] = {-1}, $e: i64[1] = {9223372036854775807}, $x: i64[1] = {0}, $t: i64[1] = {-1})",
    "axes that are named twice": "y = Squeeze($a: f32[1,1], $x: i64[2] = {0, -2})",
    "integers that floats do not hold": "y = Cast<to=1>($a: i64[1] = {9007199254740993})",
    "floats made to integers": "y = Cast<to=7>($a: f32[1])",
    "a chain that ends in something else": "a = Neg($b: f32[2]) y = Reshape(a, $s: i64[1] = {-1})",
  })) {
    it(`leaves to the runtime: ${name}`, () => {
      expect(computed(parseModel(graphOf(body)))).toBeNull();
    });
  }

  it("leaves to the runtime: a function of the model that has the name of an operator", () => {
    const model = parseModel(graphOf("y = Identity($a: f32[2])"));
    expect(computed({ ...model, functions: new Set(["::Identity"]) })).toBeNull();
  });
});
