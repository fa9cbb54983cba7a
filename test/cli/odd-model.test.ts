/** Models that are odd, and may well be right: each is done, or refused in words. */
import { describe, expect, it } from "vitest";
import { bytesOf, floats, long, valueInfo } from "../onnx/build.js";
import { f32Npy, npz } from "../support/npz.js";
import { modelBytes, node, wireModel } from "../support/odd-files.js";
import { type Fault, scene } from "../support/scene.js";

const ramp = (dims: number[]) =>
  f32Npy(
    dims,
    Array.from({ length: dims.reduce((a, b) => a * b, 1) }, (_, i) => i / 7),
  );

const argvOf = {
  fuse: ["fuse", "model.onnx", "-o", "new.onnx"],
  fp16: ["fp16", "model.onnx", "-o", "new.onnx"],
  quantize: ["quantize", "model.onnx", "-o", "new.onnx", "--budget", "1s"],
  verify: ["verify", "model.onnx", "model.onnx"],
  bench: ["bench", "model.onnx", "--budget", "1s"],
} as const;
type Name = keyof typeof argvOf;

const withData = (name: Name): string[] => [
  ...argvOf[name],
  ...(name === "verify" || name === "bench" ? ["--eval", "d.npz"] : ["--calibration", "d.npz"]),
];

describe("is refused:", () => {
  const product = (input: string) => `(x: ${input}) -> (y) { y = MatMul(x, $w: f32[8,4]) }`;
  const cases: Record<string, [model: () => Uint8Array, data: Uint8Array | null, names: Name[], fault: Fault]> = {
    "an If whose branches differ in type": [
      () =>
        modelBytes(`(x: f32[2], p: bool[]) -> (y) {
          y = If<then_branch=() -> (t) { t = Relu(x) }, else_branch=() -> (e) { e = Cast<to=7>(x) }>(p)
        }`),
      null,
      ["fuse", "quantize"],
      [3, "MODEL_REJECTED", "If", "type"],
    ],
    "a batch of four, fed with samples": [
      () => modelBytes(product("f32[4,8]")),
      npz({ x: ramp([6, 8]) }),
      ["quantize", "verify"],
      [3, "DATASET_SHAPE", '"x"', "batches of exactly 4"],
    ],
    "inputs of one symbol fed with two sizes": [
      () => modelBytes("(a: f32[N,4], b: f32[N,4]) -> (y) { y = Add(a, b) }"),
      npz({ a: ramp([2, 3, 4]), b: ramp([2, 2, 4]) }),
      ["fuse", "verify"],
      [4, "RUN_FAILED", "d.npz[0]", "3"],
    ],
    "float16 fed with values beyond it": [
      () => modelBytes("(x: f16[N,2]) -> (y) { y = Relu(x) }"),
      npz({ x: f32Npy([1, 2], [1, 1e6]) }),
      ["fuse"],
      [3, "DATASET_NOT_FINITE", '"x"', "f16"],
    ],
    "bfloat16 fed with float32": [
      () => modelBytes("(x: bf16[N,2]) -> (y) { y = Cast<to=1>(x) }"),
      npz({ x: ramp([3, 2]) }),
      ["quantize"],
      [3, "DATASET_DTYPE", '"x"', "bf16"],
    ],
    "text fed with numbers": [
      () => modelBytes("(x: string[N,2]) -> (y) { y = Identity(x) }"),
      npz({ x: ramp([3, 2]) }),
      ["quantize", "verify"],
      [3, "DATASET_DTYPE", '"x"', "string"],
    ],
    "samples for a model without inputs": [
      () => modelBytes("() -> (y) { y = MatMul($a: f32[4,4], $w: f32[4,4]) }"),
      npz({ x: ramp([3, 2]) }),
      ["quantize"],
      [3, "DATASET_INPUT_UNKNOWN", '"x"', "takes no inputs"],
    ],
    "no outputs": [
      () => bytesOf({ node: [node("Relu", ["x"], ["y"])], input: [valueInfo("x")] }),
      null,
      ["fuse", "quantize", "verify", "bench"],
      [3, "GRAPH_INVALID", "no outputs"],
    ],
    "nothing at all": [() => bytesOf({}), null, ["fuse"], [3, "MODEL_REJECTED", "model.onnx"]],
    "an opset of 2017": [
      () => modelBytes("(x: f32[N,4]) -> (y) { y = Relu(x) }", 5),
      null,
      ["fuse"],
      [3, "MODEL_REJECTED", "Relu"],
    ],
  };
  for (const [name, [model, data, names, fault]] of Object.entries(cases)) {
    it(name, async () => {
      for (const command of names) {
        const stage = scene({ "model.onnx": model(), ...(data && { "d.npz": data }) });
        const ended = await stage.refuses(data ? withData(command) : argvOf[command], fault);
        expect(ended.stderr).not.toMatch(/onnxruntime::|std::/);
      }
    });
  }
});

describe("is done:", () => {
  const all: Partial<Record<Name, number>> = { fuse: 0, fp16: 0, quantize: 12, verify: 0 };
  const cases: Record<
    string,
    [model: () => Uint8Array, data: Uint8Array | null, codes: Partial<Record<Name, number>>]
  > = {
    "a model without inputs": [() => modelBytes("() -> (y) { y = MatMul($a: f32[4,4], $w: f32[4,4]) }"), null, all],
    "a model without nodes": [() => modelBytes("(x: f32[N,4]) -> (x) { }"), null, all],
    "a weight that may be overridden by an input": [
      () =>
        wireModel([node("Add", ["x", "w"], ["y"])], {
          initializer: [floats("w", 2)],
          input: [valueInfo("x"), valueInfo("w")],
        }),
      null,
      all,
    ],
    "a constant without elements": [
      () =>
        wireModel([node("Concat", ["x", "e"], ["y"], { attribute: [{ name: "axis", type: 2, i: long(0) }] })], {
          initializer: [floats("e", 0)],
        }),
      npz({ x: ramp([3, 2]) }),
      all,
    ],
    "a product without columns": [
      () => modelBytes("(x: f32[N,4]) -> (y) { y = MatMul(x, $w: f32[4,0]) }"),
      npz({ x: ramp([2, 4]) }),
      { fuse: 0, fp16: 0, quantize: 12, bench: 0 },
    ],
    "float16 fed with float32": [
      () => modelBytes("(x: f16[N,8]) -> (y) { y = MatMul(x, $w: f16[8,4]) }"),
      npz({ x: ramp([6, 8]) }),
      // Whether so small a product gains by integers is up to the machine.
      { fuse: 0, fp16: 0, verify: 0 },
    ],
    "int8 already": [
      () =>
        modelBytes(`(x: f32[N,4]) -> (y) {
          q = QuantizeLinear(x, $s: f32[] = {0.1}, $z: u8[] = {128})
          d = DequantizeLinear(q, $s, $z)
          y = MatMul(d, $w: f32[4,4])
        }`),
      npz({ x: ramp([4, 4]) }),
      all,
    ],
    "answers in integers": [
      () => modelBytes("(x: f32[N,4]) -> (y) { m = MatMul(x, $w: f32[4,4]) y = ArgMax(m) }"),
      npz({ x: ramp([6, 4]) }),
      { verify: 0, fp16: 0 },
    ],
    "answers that are NaN": [
      () => modelBytes("(x: f32[N,4]) -> (y) { m = MatMul(x, $w: f32[4,4]) a = Abs(m) n = Neg(a) y = Log(n) }"),
      npz({ x: ramp([4, 4]) }),
      { fuse: 0, fp16: 13 },
    ],
  };
  for (const [name, [model, data, codes]] of Object.entries(cases)) {
    it(name, async () => {
      const stage = scene({ "model.onnx": model(), ...(data && { "d.npz": data }) });
      for (const [command, code] of Object.entries(codes) as [Name, number][]) {
        const ended = await stage.run([...(data ? withData(command) : argvOf[command]), "--json"]);
        expect({ command, code: ended.code }, ended.stderr).toEqual({ command, code });
        expect(JSON.parse(ended.stdout)).toMatchObject({ schemaVersion: 1, command });
      }
    });
  }

  it("answers in integers, quantized as far as it pays", async () => {
    const model = modelBytes("(x: f32[N,16]) -> (y) { m = MatMul(x, $w: f32[16,32]) y = ArgMax<axis=1>(m) }");
    const stage = scene({ "model.onnx": model, "d.npz": npz({ x: ramp([10, 16]) }) });
    const ended = await stage.run([...withData("quantize"), "--json"]);
    // Accuracy, gain or neither: never an error.
    expect([0, 10, 12, 13], ended.stderr).toContain(ended.code);
    expect(JSON.parse(ended.stdout).accuracy.metric).toBe("agreement");
  });
});

describe("an operator that the runtime does not know", () => {
  const around = (call: string) =>
    modelBytes(`(x: f32[N,4]) -> (y) { a = Identity(x) b = ${call}(a) c = Relu(b) y = Relu(c) }`);
  const cases: Record<string, string> = {
    "of another domain": "some.domain::Unheard",
    "of the runtime's own domain": "com.microsoft::Unheard",
    "of ai.onnx": "Unheard",
    "called like what every object has": "constructor",
  };
  for (const [name, call] of Object.entries(cases)) {
    it(`${name} stays, and the rest is rewritten`, async () => {
      const stage = scene({ "model.onnx": around(call) });
      const ended = await stage.run(["fuse", "model.onnx", "-o", "new.onnx", "--json"]);
      expect(ended.code, ended.stderr).toBe(0);
      const { output, equivalence, warnings } = JSON.parse(ended.stdout);
      expect(output.nodes).toBe(2);
      expect(equivalence.checked).toBe(false);
      expect(warnings.join()).toContain("not compared with the original: ONNX Runtime does not load model.onnx");
      expect(warnings.join()).not.toContain(stage.scratch);
    });
  }

  it("in an opset whose operators mean other things is refused", async () => {
    const stage = scene({ "model.onnx": modelBytes("(x: f32[N,4]) -> (y) { a = Relu(x) y = Unheard(a) }", 6) });
    await stage.refuses(["fuse", "model.onnx", "-o", "new.onnx"], [3, "MODEL_REJECTED", "Unheard"]);
  });
});
