/** What lies beside a model that is written over an older one. */
import { copyFileSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { loadModel, nodesWithin, parseModel, saveModel, Tensor } from "../../../src/ir/index.js";
import { bytesReckoner, formOf, stageOutput, writeJudged } from "../../../src/pipeline/output/write-output.js";
import { RunRecord } from "../../../src/pipeline/run-record.js";
import { FakeRuntime, fakeContext } from "../../support/fake-runtime.js";
import { graphConfig } from "../../support/real-run.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

it("names the weights of an earlier model and leaves them to its copies", async () => {
  const folder = temporaryFolder();
  const out = join(folder, "net.onnx");
  const write = async (factor: number): Promise<readonly string[]> => {
    const model = parseModel("(x: f32[2000]) -> (y) { y = Mul(x, $w: f32[2000]) }");
    const [node] = model.graph.nodes();
    model.graph.setInput(node!, 1, model.graph.addConstant("w", Tensor.f32([2000], new Array(2000).fill(factor))));
    const scratch = join(temporaryFolder(), "made.onnx");
    saveModel(model, scratch).commit();
    const record = new RunRecord("fuse", fakeContext(new FakeRuntime({})));
    const config = { out: { output: out, externalData: true, keepRejected: false }, graph: graphConfig() };
    const facts = await writeJudged(true, scratch, model, config, record);
    return record.result({
      model: facts!,
      verdict: { status: "pass", outcome: "met", reasons: [], summary: "" },
    }).warnings;
  };
  expect(await write(1)).toEqual([]);
  const [first] = readdirSync(folder).filter((name) => name.endsWith(".data"));
  copyFileSync(out, join(folder, "backup.onnx"));
  expect(await write(1)).toEqual([]);
  expect(await write(2)).toEqual([
    `weights of an earlier net.onnx are still there: ${join(folder, first!)}; remove them if no copy of net.onnx needs them`,
  ]);
  expect(() => loadModel(join(folder, "backup.onnx"))).not.toThrow();
});

it("writes nothing where the original is another file by now", async () => {
  const folder = temporaryFolder();
  const [path, scratch, output] = ["m.onnx", "made.onnx", "out.onnx"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const model = parseModel("(x: f32[2000]) -> (y) { y = Mul(x, $w: f32[2000]) }");
  for (const each of [path, scratch]) saveModel(model, each).commit();
  const original = loadModel(path);
  const config = { out: { output, externalData: false, keepRejected: false }, graph: graphConfig() };
  const write = () =>
    writeJudged(true, scratch, original, config, new RunRecord("quantize", fakeContext(new FakeRuntime({}))));
  expect(await write()).toMatchObject({ path: output });
  rmSync(output);
  copyFileSync(path, join(folder, "other.onnx"));
  renameSync(join(folder, "other.onnx"), path);
  await expect(write()).rejects.toMatchObject({ code: "MODEL_CHANGED" });
  expect(existsSync(output)).toBe(false);
});

it("warns where the target does not take what is written", async () => {
  const folder = temporaryFolder();
  const scratch = join(folder, "made.onnx");
  const model = parseModel("(x: f32[4]) -> (y) { y = Relu(x) }", { opset: 17 });
  saveModel(model, scratch).commit();
  const out = { output: join(folder, "out.onnx"), externalData: false, keepRejected: true };
  for (const isPassed of [true, false]) {
    const warningsFor = async (target: string): Promise<readonly string[]> => {
      const record = new RunRecord("quantize", fakeContext(new FakeRuntime({})));
      const facts = await writeJudged(isPassed, scratch, model, { out, graph: graphConfig({ target }) }, record);
      return record.result({ model: facts!, verdict: { status: "pass", outcome: "met", reasons: [], summary: "" } })
        .warnings;
    };
    expect(await warningsFor("ort-cpu")).toEqual([]);
    expect(await warningsFor("ort-cpu@1.10")).toEqual([expect.stringContaining("opset 17 is beyond 15")]);
  }
});

it("names the data files of a model that is written over, whatever their names", () => {
  const folder = temporaryFolder();
  const path = join(folder, "net.onnx");
  saveModel(parseModel("(x: f32[2000]) -> (y) { y = Mul(x, $w: f32[2000]) }"), path, { externalData: true }).commit();
  const [own] = readdirSync(folder).filter((name) => name.endsWith(".data"));
  // As another program names it; the model says where it is.
  const foreign = "weights".padEnd(own!.length, "0");
  renameSync(join(folder, own!), join(folder, foreign));
  const bytes = readFileSync(path);
  bytes.write(foreign, bytes.indexOf(own!));
  writeFileSync(path, bytes);

  const original = formOf(loadModel(path));
  const changed = parseModel("(x: f32[2000]) -> (y) { t = Mul(x, $v: f32[2000]) y = Neg(t) }");
  const warningsOf = (output: string): readonly string[] => {
    const record = new RunRecord("fold", fakeContext(new FakeRuntime({})));
    const config = { output, externalData: false, keepRejected: false };
    const model = stageOutput(changed, original, config)!.commit(record);
    return record.result({ model, verdict: { status: "pass", outcome: "met", reasons: [], summary: "" } }).warnings;
  };
  expect(warningsOf(join(temporaryFolder(), "other.onnx"))).toEqual([]);
  expect(warningsOf(path)).toEqual([expect.stringContaining(join(folder, foreign))]);
  expect(readdirSync(folder)).toContain(foreign);
});

it("writes ahead and leaves the model as it was", () => {
  const folder = temporaryFolder();
  const out = join(folder, "net.onnx");
  const model = parseModel("(x: f32[3]) -> (y) { t = Relu(x) y = Neg(t) }");
  const original = parseModel("(x: f32[3]) -> (y) { y = Neg(x) }");
  const [relu] = model.graph.nodes();
  const type = { dtype: "f32", shape: [3] } as const;
  relu!.output.type = type;
  const config = { output: out, externalData: false, keepRejected: false };

  stageOutput(model, formOf(original), config)!.discard();
  expect(readdirSync(folder)).toEqual([]);

  const staged = stageOutput(model, formOf(original), config)!;
  expect(readdirSync(folder)).toEqual([expect.stringMatching(/\.partial$/)]);
  expect(relu!.output.type).toBe(type);
  const facts = staged.commit(new RunRecord("fuse", fakeContext(new FakeRuntime({}))));
  expect(facts.nodes).toBe(2);
  expect(readdirSync(folder)).toEqual(["net.onnx"]);
});

it.each([
  ["met every limit", true, false, ["net.onnx"]],
  ["missed one and is kept", false, true, ["net.rejected.onnx"]],
  ["missed one", false, false, []],
])("leaves what is wanted of a model that %s", async (_, isPassed, keepRejected, names) => {
  const folder = temporaryFolder();
  const scratch = join(temporaryFolder(), "made.onnx");
  const model = parseModel("(x: f32[4]) -> (y) { y = Relu(x) }");
  saveModel(model, scratch).commit();
  const record = new RunRecord("quantize", fakeContext(new FakeRuntime({})));
  const config = {
    out: { output: join(folder, "net.onnx"), externalData: false, keepRejected },
    graph: graphConfig(),
  };
  const facts = await writeJudged(isPassed, scratch, model, config, record);
  expect(readdirSync(folder)).toEqual(names);
  expect(facts?.path ?? null).toBe(names.length > 0 ? join(folder, names[0]!) : null);
});

it.each([false, true])(
  "tells the size of an output before it is written, with weights beside it: %s",
  (externalData) => {
    const model = parseModel(`(x: f32[600], c: bool[]) -> (y) {
    t = Mul(x, $w: f32[600])
    u = If<then_branch=() -> (a) { k = Neg(t) a = Relu(k) }, else_branch=() -> (b) { b = Abs(t) }>(c)
    y = Neg(u)
  }`);
    for (const value of [...nodesWithin(model.graph)].flatMap(({ outputs }) => outputs))
      value!.type = { dtype: "f32", shape: [600] };
    const out = { output: join(temporaryFolder(), "net.onnx"), externalData, keepRejected: false };
    const original = parseModel("(x: f32[600]) -> (y) { y = Neg(x) }");
    const scratch = saveModel(model, join(temporaryFolder(), "made.onnx"), { isScratch: true });
    const told = bytesReckoner(original, out)(scratch);
    if (!externalData) expect(told).toBeLessThan(scratch.sizeBytes);
    const record = new RunRecord("fuse", fakeContext(new FakeRuntime({})));
    expect(stageOutput(model, formOf(original), out)!.commit(record).bytes).toBe(told);
  },
);
