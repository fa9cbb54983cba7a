import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loadModel, nodesWithin } from "../../../src/ir/index.js";
import { takeIn } from "../../../src/pipeline/intake.js";
import { joinFacts, joinProducts } from "../../../src/pipeline/place/join-products.js";
import { prepareModel } from "../../../src/pipeline/prepare/prepare.js";
import { requestOf } from "../../../src/pipeline/prepare/prepare-request.js";
import { RunRecord } from "../../../src/pipeline/run-record.js";
import { ortRuntime } from "../../../src/runtime/ort/index.js";
import { modelFile } from "../../support/model-file.js";
import { graphConfig, optimizeConfig, realContext } from "../../support/real-run.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const runtime = ortRuntime({ workers: 1 });
afterAll(() => runtime.close());

/** A product of 8 x 24 elements, of which the two have 128. */
const CHAIN = `(x: f32[1,8,6,6]) -> (y) {
  a = Conv(x, $u: f32[4,8,1,1], $ub: f32[4])
  b = Conv(a, $v: f32[24,4,1,1], $vb: f32[24])
  r = Relu(b)
  y = Conv(r, $w: f32[8,24,1,1])
}`;
const WIDE = CHAIN.replace("f32[4,8,1,1], $ub: f32[4]", "f32[2,8,1,1], $ub: f32[2]").replace(
  "[24,4,1,1]",
  "[24,2,1,1]",
);

async function joinIn(text: string, graph: Parameters<typeof graphConfig>[0] = {}) {
  const folder = temporaryFolder();
  const config = optimizeConfig(modelFile(folder, text), join(folder, "out.onnx"), {}, { graph: graphConfig(graph) });
  const context = realContext(runtime);
  const record = new RunRecord("quantize", context);
  const request = requestOf(config, await takeIn(config, record), "fuse");
  const prepared = await prepareModel(request, context);
  return { prepared, joined: await joinProducts(prepared, request, record, false) };
}

const convs = (path: string): string[] =>
  [...nodesWithin(loadModel(path).graph)].flatMap(({ op, name }) => (op === "Conv" ? [name] : []));

describe("joinProducts", () => {
  it("makes one of two in a row, and leaves the float model as it is", async () => {
    const { prepared, joined } = await joinIn(CHAIN);
    expect(convs(prepared.path)).toHaveLength(3);
    expect(convs(joined!.prepared.path)).toHaveLength(2);
    expect([...joined!.nodes].every((node) => convs(joined!.prepared.path).includes(node))).toBe(true);
    expect(joined!.prepared.passes.filter(({ applied }) => applied > 0).map(({ name }) => name)).toContain(
      "join-linear-chain",
    );
  });

  it("names what is left where a product that was joined is joined again", async () => {
    const { joined } = await joinIn(`(x: f32[1,8,6,6], z: f32[1,8,6,6]) -> (y) {
      a = Conv(x, $u: f32[4,8,1,1], $ub: f32[4])
      b = Conv(z, $v: f32[4,8,1,1], $vb: f32[4])
      s = Add(a, b)
      c = Conv(s, $w: f32[10,4,1,1], $wb: f32[10])
      y = Relu(c)
    }`);
    const left = convs(joined!.prepared.path);
    expect(left).toHaveLength(1);
    expect([...joined!.nodes]).toEqual(left);
    expect(joinFacts(joined!).detail).toBe("2 tensors less between products");
  });

  it("is compared with the original when that is asked for", async () => {
    const { prepared, joined } = await joinIn(CHAIN);
    expect(joined!.prepared.equivalence.checked).toBe(false);
    const proven = await joined!.ifRight();
    expect(proven!.equivalence).toMatchObject({ level: prepared.equivalence.level, checked: true });
    expect(proven!.path).toBe(joined!.prepared.path);
  });

  it("has nothing to do where the product would be much larger, or the pass is to be left out", async () => {
    expect((await joinIn(WIDE)).joined).toBeNull();
    expect((await joinIn(CHAIN, { skip: ["join-linear-chain"] })).joined).toBeNull();
    expect((await joinIn(CHAIN, { only: ["fuse-clip"] })).joined).toBeNull();
  });
});
