import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { attr, check, type DType, dtypeCode, loadModel, printGraph, saveModel, Tensor } from "../../../src/ir/index.js";
import {
  type AttributeProto,
  type GraphProto,
  longToBigint,
  type ModelProto,
  type NodeProto,
  readModel,
  type TensorProto,
} from "../../../src/onnx/index.js";
import {
  codeOf,
  concat,
  FLOAT,
  field,
  fileOf,
  floats,
  long,
  modelFile,
  temporaryFolder,
  valueInfo,
} from "../../onnx/build.js";

/** Reads a model file through the graph and gives the message that comes out. */
function rewritten(path: string): ModelProto {
  const to = join(temporaryFolder(), "out.onnx");
  const model = loadModel(path);
  check(model.graph);
  saveModel(model, to).commit();
  return readModel(to).message;
}

const throughGraph = (graph: GraphProto, more: ModelProto = {}): ModelProto => rewritten(modelFile(graph, more));

const nodeWith = (attribute: AttributeProto[], more: NodeProto = {}): GraphProto => ({
  node: [{ op_type: "Op", domain: "test", output: ["y"], attribute, ...more }],
});

const fixtures = fileURLToPath(new URL("../../../fixtures/models/", import.meta.url));

describe("fixtures", () => {
  it.each(readdirSync(fixtures).filter((name) => name.endsWith(".onnx")))("%s reads back as it was", (name) => {
    const [inside, outside] = [join(temporaryFolder(), name), join(temporaryFolder(), name)];
    const model = loadModel(join(fixtures, name));
    check(model.graph);
    saveModel(model, inside).commit();
    saveModel(loadModel(inside), outside, { externalData: true }).commit();
    const text = printGraph(model.graph, { valuesUpTo: 100, types: true });
    for (const path of [inside, outside]) {
      const again = loadModel(path);
      check(again.graph);
      expect(printGraph(again.graph, { valuesUpTo: 100, types: true })).toBe(text);
      const bytes = (m: typeof model) =>
        new Map(
          m.graph.constants.flatMap(({ label, constant }) =>
            constant && constant.dtype !== "string" ? [[label, Buffer.from(constant.bytes()).toString("base64")]] : [],
          ),
        );
      expect(bytes(again)).toEqual(bytes(model));
      expect([again.opsets, again.irVersion, again.functions]).toEqual([
        model.opsets,
        model.irVersion,
        model.functions,
      ]);
    }
  });
});

describe("unknown fields survive", () => {
  const unknown = field(3000, "from a later version");
  const late = <T extends object>(message: T): T =>
    Object.defineProperty(message, "$unknowns", { value: [unknown], enumerable: false });
  type Holder = { $unknowns?: Uint8Array[] } | undefined;
  const levels: Record<string, [GraphProto, ModelProto, (message: ModelProto) => Holder]> = {
    "in a node": [{ node: [late({ op_type: "Op", output: ["y"] })] }, {}, (m) => m.graph!.node![0]],
    "in an initializer": [{ initializer: [late(floats("w", 2))] }, {}, (m) => m.graph!.initializer![0]],
    "in a large initializer": [{ initializer: [late(floats("w", 2000))] }, {}, (m) => m.graph!.initializer![0]],
    "in an attribute": [
      nodeWith([late({ name: "a", type: 2, i: long(1) })]),
      {},
      (m) => m.graph!.node![0]!.attribute![0],
    ],
    "in an attribute's tensor": [
      nodeWith([{ name: "a", type: 4, t: late(floats("t", 2)) }]),
      {},
      (m) => m.graph!.node![0]!.attribute![0]!.t,
    ],
    "in a body": [
      nodeWith([{ name: "a", type: 5, g: late({ name: "body" }) }]),
      {},
      (m) => m.graph!.node![0]!.attribute![0]!.g,
    ],
    "in a graph input": [{ input: [late(valueInfo("x"))] }, {}, (m) => m.graph!.input![0]],
    "in a type": [{ input: [{ name: "x", type: late({}) }] }, {}, (m) => m.graph!.input![0]!.type],
    "in a sparse initializer": [
      { sparse_initializer: [late({ values: floats("s", 2), indices: floats("", 2) })] },
      {},
      (m) => m.graph!.sparse_initializer![0],
    ],
    "in an operator set": [{}, { opset_import: [late({ version: long(17) })] }, (m) => m.opset_import![0]],
    "in a function": [{}, { functions: [late({ name: "f" })] }, (m) => m.functions![0] as Holder],
  };
  it.each(Object.entries(levels))("%s", (_, [graph, more, at]) => {
    expect(at(throughGraph(graph, more))?.$unknowns).toEqual([unknown]);
  });

  it("in the model and in the graph", () => {
    const graph = concat(field(2, "g"), unknown);
    const model = concat(
      Uint8Array.of(0x08, 8),
      field(7, graph),
      field(8, Uint8Array.of(0x10, 17)),
      field(20, "training"),
      unknown,
    );
    const message = rewritten(fileOf(model));
    expect(message.graph!.$unknowns).toEqual([unknown]);
    expect(message.$unknowns).toEqual([field(20, "training"), unknown]);
  });
});

describe("numbers", () => {
  it("of 64 bits in attributes are exact", () => {
    const limits = [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n, -1n];
    const message = throughGraph(
      nodeWith([
        { name: "i", type: 2, i: long(limits[0]!) },
        { name: "ints", type: 7, ints: limits.map(long) },
      ]),
    );
    const [i, ints] = message.graph!.node![0]!.attribute!;
    expect(longToBigint(i!.i!)).toBe(limits[0]);
    expect(ints!.ints!.map(longToBigint)).toEqual(limits);
  });

  it("of 64 bits in int64_data and uint64_data are exact, negative ones too", () => {
    const limits = [2n ** 63n - 1n, -(2n ** 63n), -1n, 0n, 127n, 128n, 2n ** 28n, 2n ** 31n, 2n ** 35n, 2n ** 56n];
    expect(typed("i64", { int64_data: [varints(limits)] }, limits.length).bigints()).toEqual(limits);
    const unsigned = [2n ** 64n - 1n, 2n ** 63n, 0n];
    expect(typed("u64", { uint64_data: [varints(unsigned)] }, 3).bigints()).toEqual(unsigned);
  });

  it("that are sizes stay: 0, free, -1 and unnamed", () => {
    const dim = [{ dim_value: long(0) }, { dim_param: "batch" }, { dim_value: long(-1) }, {}];
    const info = { name: "x", type: { tensor_type: { elem_type: FLOAT, shape: { dim } } } };
    const model = loadModel(modelFile({ input: [info] }));
    expect(model.graph.inputs[0]!.shape).toEqual([0, "batch", null, null]);
    const back = throughGraph({ input: [info] }).graph!.input![0]!.type!.tensor_type!.shape!.dim!;
    expect(back.map((each) => [Object.keys(each), each.dim_value && Number(longToBigint(each.dim_value))])).toEqual([
      [["dim_value"], 0],
      [["dim_param"], undefined],
      [["dim_value"], -1],
      [[], undefined],
    ]);
  });

  it("written without end do not keep the reader busy", () => {
    const endless = new Uint8Array(200_000).fill(0xff);
    endless[endless.length - 1] = 1;
    expect(typed("i64", { int64_data: [endless] }, 1).bigints()).toEqual([-1n]);
  });
});

const varints = (values: readonly bigint[]): Uint8Array => {
  const bytes: number[] = [];
  for (let value of values.map((each) => BigInt.asUintN(64, each))) {
    for (; value >= 0x80n; value >>= 7n) bytes.push(Number(value & 0x7fn) | 0x80);
    bytes.push(Number(value));
  }
  return Uint8Array.from(bytes);
};

/** The tensor that a typed field reads as. */
function typed(dtype: DType, fields: TensorProto, count: number): Tensor {
  const proto = { name: "w", dims: [long(count)], data_type: dtypeCode(dtype), ...fields };
  return loadModel(modelFile({ initializer: [proto] })).graph.constants[0]!.constant!;
}

describe("typed data", () => {
  const view = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  const inInt32 = (values: number[]): TensorProto => ({ int32_data: [varints(values.map(BigInt))] });
  const cases: [DType, TensorProto, ArrayBufferView, number][] = [
    ["f32", { float_data: [view(Float32Array.of(1.5, -2))] }, Float32Array.of(1.5, -2), 2],
    ["c64", { float_data: [view(Float32Array.of(1, 2, 3, 4))] }, Float32Array.of(1, 2, 3, 4), 2],
    ["f64", { double_data: [view(Float64Array.of(0.1))] }, Float64Array.of(0.1), 1],
    ["c128", { double_data: [view(Float64Array.of(0.1, 0.2))] }, Float64Array.of(0.1, 0.2), 1],
    ["f16", inInt32([0x3c00, 0xfbff]), Uint16Array.of(0x3c00, 0xfbff), 2],
    ["bf16", inInt32([0x3f80, 0xff80]), Uint16Array.of(0x3f80, 0xff80), 2],
    ["i32", inInt32([-1, 2 ** 31 - 1, -(2 ** 31)]), Int32Array.of(-1, 2 ** 31 - 1, -(2 ** 31)), 3],
    ["i16", inInt32([-32768, 5]), Int16Array.of(-32768, 5), 2],
    ["u16", inInt32([65535]), Uint16Array.of(65535), 1],
    ["i8", inInt32([-128, -1, 127]), Int8Array.of(-128, -1, 127), 3],
    ["u8", inInt32([255, 0]), Uint8Array.of(255, 0), 2],
    ["bool", inInt32([1, 0]), Uint8Array.of(1, 0), 2],
    ["f8e4m3fn", inInt32([0x7e, 0x80]), Uint8Array.of(0x7e, 0x80), 2],
    ["f8e5m2", inInt32([0xfc]), Uint8Array.of(0xfc), 1],
    ["i4", inInt32([0x21, 0x0f]), Uint8Array.of(0x21, 0x0f), 3],
    ["u4", inInt32([0xba]), Uint8Array.of(0xba), 2],
    ["u32", { uint64_data: [varints([2n ** 32n - 1n])] }, Uint32Array.of(2 ** 32 - 1), 1],
  ];
  it.each(cases)("of %s reads as packed bytes", (dtype, fields, array, count) => {
    expect([...typed(dtype, fields, count).bytes()]).toEqual([...view(array)]);
  });

  it("in several pieces is joined", () => {
    const pieces = [view(Float32Array.of(1)), view(Float32Array.of(2))];
    expect([...typed("f32", { float_data: pieces }, 2).f32()]).toEqual([1, 2]);
  });

  it("of strings stays bytes", () => {
    const texts = [new Uint8Array([0xff, 0]), new Uint8Array()];
    expect(typed("string", { string_data: texts }, 2).utf8()).toEqual(texts);
    expect(codeOf(() => typed("string", { string_data: texts }, 3))).toBe("TENSOR_SIZE");
  });

  it("may be empty, or one scalar", () => {
    expect([...typed("f32", {}, 0).bytes()]).toEqual([]);
    expect([...typed("f32", { dims: [], float_data: [view(Float32Array.of(7))] }, 0).f32()]).toEqual([7]);
  });

  const wrong: Record<string, [TensorProto, string]> = {
    "too few bytes": [{ raw_data: new Uint8Array(7) }, "TENSOR_SIZE"],
    "too many": [{ raw_data: new Uint8Array(12) }, "TENSOR_SIZE"],
    "a large tensor of another size": [{ raw_data: new Uint8Array(5000) }, "TENSOR_SIZE"],
    "a negative size": [{ dims: [long(-2)] }, "TENSOR_SIZE"],
    "sizes beyond 2^53": [{ dims: [long(2n ** 40n), long(2n ** 40n)] }, "TENSOR_SIZE"],
    "a type that ONNX does not have": [{ data_type: 99 }, "TENSOR_TYPE"],
    "no type": [{ data_type: 0 }, "TENSOR_TYPE"],
    "our own mark for bytes in the file": [{ range: 5 }, "MODEL_CORRUPT"],
  };
  it.each(Object.entries(wrong))("is refused with %s", (_, [fields, code]) => {
    expect(codeOf(() => typed("f32", fields, 2))).toBe(code);
  });
});

describe("what surrounds the graph", () => {
  const kv = [{ key: "author", value: "someone" }];

  it("stays: producer, texts, metadata, annotations", () => {
    const message = throughGraph(
      {
        doc_string: "graph",
        metadata_props: kv,
        initializer: [{ ...floats("w", 2), doc_string: "weight", metadata_props: kv }],
        node: [{ op_type: "Relu", input: ["w"], output: ["h"], doc_string: "node", metadata_props: kv, overload: "o" }],
        value_info: [
          { ...valueInfo("h"), doc_string: "hidden", metadata_props: kv },
          { ...valueInfo("w"), doc_string: "w" },
        ],
        quantization_annotation: [{ tensor_name: "h", quant_parameter_tensor_names: [{ key: "SCALE", value: "w" }] }],
      },
      {
        producer_name: "p",
        producer_version: "1",
        domain: "d",
        model_version: long(3),
        doc_string: "model",
        metadata_props: kv,
      },
    );
    const { graph } = message;
    expect(message).toMatchObject({ producer_name: "p", producer_version: "1", domain: "d", doc_string: "model" });
    expect(message.metadata_props).toMatchObject(kv);
    expect(graph).toMatchObject({ doc_string: "graph", metadata_props: kv });
    expect(graph!.initializer![0]).toMatchObject({ doc_string: "weight", metadata_props: kv });
    expect(graph!.node![0]).toMatchObject({ doc_string: "node", metadata_props: kv, overload: "o" });
    expect(graph!.value_info).toMatchObject([
      { name: "h", doc_string: "hidden", metadata_props: kv },
      { name: "w", doc_string: "w" },
    ]);
    expect(graph!.quantization_annotation).toHaveLength(1);
  });

  it("stays in large tensors of functions: constants, defaults, bodies", () => {
    const functions = [
      {
        name: "f",
        attribute_proto: [{ name: "table", type: 4, t: floats("table", 2000, 1) }],
        node: [
          { op_type: "Constant", output: ["k"], attribute: [{ name: "value", type: 4, t: floats("k", 2000, 2) }] },
          {
            op_type: "If",
            attribute: [{ name: "b", type: 5, g: { sparse_initializer: [{ values: floats("s", 2000, 3) }] } }],
          },
        ],
      },
    ];
    const to = join(temporaryFolder(), "out.onnx");
    saveModel(loadModel(modelFile({}, { functions })), to).commit();
    const again = loadModel(to);
    const message = again.extras as ModelProto;
    const [fn] = message.functions!;
    const sources = [
      fn!.attribute_proto![0]!.t,
      fn!.node![0]!.attribute![0]!.t,
      fn!.node![1]!.attribute![0]!.g!.sparse_initializer![0]!.values,
    ].map((tensor) => [...new Float32Array(new Uint8Array(tensor!.source!.read()).buffer)].slice(0, 2));
    expect(sources).toEqual([
      [1, 2],
      [2, 3],
      [3, 4],
    ]);
  });

  it("keeps the name of an attribute's tensor and types nobody knows", () => {
    const message = throughGraph(
      nodeWith([
        { name: "t", type: 4, t: floats("inner", 2) },
        { name: "tp", type: 13, tp: { denotation: "IMAGE" } },
        { name: "ref", type: 1, ref_attr_name: "outer" },
      ]),
    );
    const attributes = message.graph!.node![0]!.attribute!;
    expect(attributes[0]!.t!.name).toBe("inner");
    expect(attributes[1]).toMatchObject({ type: 13, tp: { denotation: "IMAGE" } });
    expect(attributes[2]).toMatchObject({ ref_attr_name: "outer" });
  });

  it("keeps the promise about an output where a description in passing says less", () => {
    const batch = {
      name: "y",
      type: { tensor_type: { elem_type: FLOAT, shape: { dim: [{ dim_param: "N", denotation: "DATA_BATCH" }] } } },
    };
    const vague = { name: "y", type: { tensor_type: { elem_type: FLOAT } } };
    const message = throughGraph({ node: [{ op_type: "Op", output: ["y"] }], output: [batch], value_info: [vague] });
    expect(message.graph!.output![0]).toMatchObject(batch);
  });

  it("says a size that has become known, and keeps the text about it", () => {
    const promised = { ...valueInfo("y"), doc_string: "result" };
    promised.type.tensor_type.shape.dim[0] = { dim_param: "N", denotation: "DATA_BATCH" } as never;
    const model = loadModel(modelFile({ node: [{ op_type: "Op", output: ["y"] }], output: [promised] }));
    model.graph.outputs[0]!.value.type = { dtype: "f32", shape: [4] };
    const to = join(temporaryFolder(), "out.onnx");
    saveModel(model, to).commit();
    const back = readModel(to).message.graph!.output![0]!;
    expect(back).toMatchObject({ doc_string: "result" });
    expect(back.type!.tensor_type!.shape!.dim).toMatchObject([{ dim_value: long(4), denotation: "DATA_BATCH" }]);
  });

  it("drops a description whose type was taken back", () => {
    const model = loadModel(
      modelFile({
        node: [
          { op_type: "Op", output: ["h"] },
          { op_type: "Op", input: ["h"], output: ["y"] },
        ],
        output: [valueInfo("y")],
        value_info: [valueInfo("h")],
      }),
    );
    model.graph.firstNode!.output.type = null;
    const to = join(temporaryFolder(), "out.onnx");
    saveModel(model, to).commit();
    expect(readModel(to).message.graph!.value_info ?? []).toEqual([]);
  });

  it("is told in IR version 4 at least", () => {
    expect(Number(longToBigint(throughGraph({}, { ir_version: long(3) }).ir_version!))).toBe(4);
    expect(Number(longToBigint(throughGraph({}, { ir_version: long(11) }).ir_version!))).toBe(11);
  });
});

it("writes an attribute that a rewrite sets", () => {
  const model = loadModel(modelFile(nodeWith([])));
  model.graph.setAttribute(model.graph.firstNode!, "w", attr.tensor(Tensor.f32([1], [3])));
  const to = join(temporaryFolder(), "out.onnx");
  saveModel(model, to).commit();
  expect([...new Uint8Array(readModel(to).message.graph!.node![0]!.attribute![0]!.t!.raw_data!)]).toEqual([
    0, 0, 64, 64,
  ]);
});

it("keeps sparse initializers that are defaults of inputs, and those of old files as constants", () => {
  const indices = { dims: [long(2)], data_type: 7, raw_data: new Uint8Array(16) };
  const graph: GraphProto = {
    input: [valueInfo("s"), valueInfo("x")],
    sparse_initializer: [{ values: floats("s", 2), indices, dims: [long(2)] }],
    node: [{ op_type: "Add", input: ["s", "x"], output: ["y"] }],
    output: [valueInfo("y")],
  };
  const names = ({ graph: written }: ModelProto) => [
    written!.input!.map(({ name }) => name),
    written!.sparse_initializer!.map(({ values }) => values!.name),
  ];
  expect(names(throughGraph(graph, { ir_version: long(8) }))).toEqual([["s", "x"], ["s"]]);
  expect(names(throughGraph(graph, { ir_version: long(3), opset_import: [{ version: long(7) }] }))[1]).toEqual(["s"]);
});
