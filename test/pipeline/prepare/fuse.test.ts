/** What is asked of the runtime while the passes run counts all the same. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parseModel, saveModel, Tensor } from "../../../src/ir/index.js";
import { runFuse } from "../../../src/pipeline/prepare/fuse.js";
import { ortRuntime } from "../../../src/runtime/ort/index.js";
import { faultOf } from "../../support/dataset.js";
import { modelFile } from "../../support/model-file.js";
import { fuseConfig, graphConfig, realContext } from "../../support/real-run.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const runtime = ortRuntime({ workers: 2 });
afterAll(() => runtime.close());

const SOUND = "(x: f32[2,4]) -> (y) { a = Identity(x) y = Relu(a) }";
/** 3 columns, and 4 rows to multiply them with. */
const REFUSED = "(x: f32[2,3]) -> (y) { a = Identity(x) y = MatMul(a, $w: f32[4,5]) }";

async function fuse(file: string, graph: Parameters<typeof graphConfig>[0] = { verify: "none" }) {
  const folder = temporaryFolder();
  const config = fuseConfig(file, join(folder, "out.onnx"), { graph: graphConfig(graph) });
  const fault = await faultOf(() => runFuse({ ...config, recipe: "fuse" }, realContext(runtime))).catch(() => null);
  return { code: fault?.code ?? null, left: readdirSync(folder) };
}

describe("fuse", () => {
  it.each(["none", "fast"] as const)(
    "writes nothing of a model that the runtime refuses, with --verify %s",
    async (verify) => {
      expect(await fuse(modelFile(temporaryFolder(), REFUSED), { verify })).toEqual({
        code: "MODEL_REJECTED",
        left: [],
      });
      expect(await fuse(modelFile(temporaryFolder(), SOUND), { verify })).toEqual({ code: null, left: ["out.onnx"] });
    },
  );

  it("tells what is wrong with the file before what is wrong with the wishes", async () => {
    const wishes = { verify: "none", skip: ["no-such-pass"] } as const;
    expect((await fuse(modelFile(temporaryFolder(), REFUSED), wishes)).code).toBe("MODEL_REJECTED");
    expect((await fuse(modelFile(temporaryFolder(), SOUND), wishes)).code).toBe("PASS_UNKNOWN");
  });

  it("refuses weights that are no numbers", async () => {
    const model = parseModel("(x: f32[2,2]) -> (y) { a = Identity(x) y = MatMul(a, $w: f32[2,2]) }");
    const [, product] = model.graph.nodes();
    model.graph.setInput(product!, 1, model.graph.addConstant("odd", Tensor.f32([2, 2], [1, 2, Number.NaN, 4])));
    const file = join(temporaryFolder(), "odd.onnx");
    saveModel(model, file).commit();
    expect(await fuse(file)).toEqual({ code: "MODEL_NOT_FINITE", left: [] });
  });

  it("asks one process, whatever is asked at a time", async () => {
    const asked = ortRuntime({ workers: 2 });
    try {
      const file = modelFile(temporaryFolder(), SOUND);
      const session = { provider: "cpu", threads: 1, optimization: "disabled" } as const;
      await Promise.all([asked.describe(file, session), asked.describe(file, session)]);
      expect(asked.pids()).toHaveLength(1);
    } finally {
      await asked.close();
    }
  });
});
