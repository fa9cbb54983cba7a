import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { attr, loadModel, type Model, opsetOf, printGraph, Tensor } from "../../../src/ir/index.js";
import { recipes } from "../../../src/passes/catalog.js";
import { type Prepared, prepareModel } from "../../../src/pipeline/prepare/prepare.js";
import type { PrepareRequest } from "../../../src/pipeline/prepare/prepare-request.js";
import { type AnyPass, defineRewrite } from "../../../src/rewrite/index.js";
import { ortRuntime } from "../../../src/runtime/ort/index.js";
import type { CompareJob, Runtime } from "../../../src/runtime/port.js";
import { faultOf } from "../../support/dataset.js";
import { differenceOf, FakeRuntime } from "../../support/fake-runtime.js";
import { modelFile } from "../../support/model-file.js";
import { graphConfig, realContext } from "../../support/real-run.js";
import { runtimeConfig } from "../../support/run-config.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const runtime = ortRuntime({ workers: 1 });
afterAll(() => runtime.close());

const text = `(x: f32[2,4]) -> (y) {
  a = Identity(x)
  b = Tanh(a)
  c = Identity(b)
  d = Sigmoid(c)
  e = Tanh(d)
  y = Tanh(e)
}`;

async function prepare(
  passes?: readonly AnyPass[],
  request: Partial<PrepareRequest> = {},
  { on = runtime, opset = 17 }: { on?: Runtime; opset?: number } = {},
): Promise<Prepared & { readonly original: string }> {
  const original = modelFile(temporaryFolder(), text, { opset });
  const signature = {
    inputs: [{ name: "x", dtype: "f32", shape: [2, 4] }],
    outputs: [{ name: "y", dtype: "f32", shape: [2, 4] }],
  } as const;
  const data = { path: "random", random: { seed: 1, count: 2, signature: signature.inputs } };
  const prepared = await prepareModel(
    {
      model: original,
      recipe: "fuse",
      intake: { signature, trial: data },
      graph: graphConfig(),
      runtime: runtimeConfig(),
      minOpset: 0,
      ...request,
    },
    realContext(on),
    passes,
  );
  return { ...prepared, original };
}

const opsOf = ({ model }: Prepared): string[] => [...model.graph.nodes()].map(({ op }) => op);
const reportOf = ({ passes }: Prepared, name: string) => passes.find((pass) => pass.name === name)!;

/** Takes Sigmoid for Tanh. */
const wrong = defineRewrite({
  name: "confuse-sigmoid",
  summary: "Wrong",
  numerics: "exact",
  roots: ["Sigmoid"],
  rewrite: (root, { create }) => create("Tanh", [root.inputs[0]!]),
});

/** Right at each Tanh but the last. */
const sometimesWrong = defineRewrite({
  name: "pad-tanh",
  summary: "Wrong at times",
  numerics: "exact",
  roots: ["Tanh"],
  rewrite: (root, { create }) => {
    const input = root.inputs[0]!;
    if (input.producer?.is("Identity")) return null;
    const value = root.output.label === "y" ? create("Sigmoid", [input]).output : input;
    return create("Tanh", [create("Identity", [value]).output]);
  },
});

/** The same in other words. */
const negatedTwice = defineRewrite({
  name: "negate-twice",
  summary: "For tests",
  numerics: "exact",
  roots: ["Sigmoid"],
  rewrite: (root, { create }) => {
    const input = root.inputs[0]!;
    if (input.producer?.is("Neg")) return null;
    return create("Sigmoid", [create("Neg", [create("Neg", [input]).output]).output]);
  },
});

const failing = defineRewrite({
  name: "fall-over",
  summary: "Fails",
  numerics: "exact",
  roots: ["Sigmoid"],
  rewrite: () => {
    throw new Error("out of cheese");
  },
});

describe("prepareModel", () => {
  it("runs the recipe and writes what it returns", async () => {
    const prepared = await prepare();
    expect(opsOf(prepared)).toEqual(["Tanh", "Sigmoid", "Tanh", "Tanh"]);
    expect(printGraph(loadModel(prepared.path).graph)).toBe(printGraph(prepared.model.graph));
    expect(prepared.warnings).toEqual([]);
    expect(prepared.passes.map(({ name }) => name)).toEqual(recipes.fuse.map(({ name }) => name));
    expect(prepared.differences.map(({ differing }) => differing)).toEqual([0]);
  });

  it("rejects a pass that changes results, names it and the node, and goes on without it", async () => {
    const prepared = await prepare([...recipes.fuse, wrong]);
    expect(opsOf(prepared)).toEqual(["Tanh", "Sigmoid", "Tanh", "Tanh"]);
    expect(reportOf(prepared, "confuse-sigmoid")).toMatchObject({ applied: 0 });
    expect(reportOf(prepared, "confuse-sigmoid").rejected).toMatch(/^output y: 16 of 16 elements differ/);
    expect(prepared.warnings).toEqual([
      expect.stringMatching(/^pass rejected: confuse-sigmoid at Sigmoid:d \(output y: /),
    ]);
    expect(prepared.differences.map(({ differing }) => differing)).toEqual([0]);
  });

  it("shows each result that is compared, and none of those that only look for the culprit", async () => {
    const seen: Model[] = [];
    const prepared = await prepare([...recipes.fuse, wrong], { meanwhile: (model) => void seen.push(model) });
    expect(seen).toHaveLength(2);
    expect(seen[1]).toBe(prepared.model);
  });

  it("finds it among others, whatever its place", async () => {
    const prepared = await prepare([wrong, ...recipes.fuse]);
    expect(reportOf(prepared, "confuse-sigmoid").rejected).toBeDefined();
    expect(prepared.passes.filter(({ rejected }) => rejected !== undefined)).toHaveLength(1);
    expect(opsOf(prepared)).toEqual(["Tanh", "Sigmoid", "Tanh", "Tanh"]);
  });

  it("finds the node at which a pass is wrong that is right elsewhere", async () => {
    const prepared = await prepare([sometimesWrong]);
    expect(prepared.warnings).toEqual([expect.stringMatching(/^pass rejected: pad-tanh at Tanh:y \(/)]);
  });

  it("leaves out only the wrong rewrite when it is to find that one", async () => {
    const prepared = await prepare([sometimesWrong], { graph: graphConfig({ bisect: true }) });
    expect(prepared.warnings).toEqual([expect.stringMatching(/^rewrite rejected: pad-tanh at Tanh:y \(/)]);
    expect(reportOf(prepared, "pad-tanh")).toMatchObject({ applied: 1 });
    expect(reportOf(prepared, "pad-tanh").rejected).toBeUndefined();
    expect(prepared.differences.map(({ differing }) => differing)).toEqual([0]);
  });

  it("leaves out only the rewrite after which the runtime does not open the model", async () => {
    /** Adds to the last Sigmoid what has another shape. */
    const refused = defineRewrite({
      name: "pad-tanh",
      summary: "Refused at times",
      numerics: "exact",
      roots: ["Tanh"],
      rewrite: (root, { create, constant }) => {
        const input = root.inputs[0]!;
        if (input.producer?.is("Identity") || input.producer?.is("Concat")) return null;
        const odd = constant("odd", Tensor.f32([3], [0, 0, 0]));
        const value =
          root.output.label === "y"
            ? create("Concat", [input, odd], { axis: attr.int(0) }).output
            : create("Identity", [input]).output;
        return create("Tanh", [value]);
      },
    });
    const prepared = await prepare([refused]);
    expect(prepared.warnings).toEqual([
      expect.stringMatching(/^rewrite rejected: pad-tanh at Tanh:y \(it does not load: /),
    ]);
    expect(reportOf(prepared, "pad-tanh").rejected).toBeUndefined();
    expect(prepared.differences.map(({ differing }) => differing)).toEqual([0]);
  });

  /** Moves everything by one step of rounding: fine for a fusion, not for a pass that promises the same bits. */
  const nudge = (numerics: "exact" | "rounding") =>
    defineRewrite({
      name: "nudge-sigmoid",
      summary: "For tests",
      numerics,
      roots: ["Sigmoid"],
      rewrite: (root, { create, constant }) => {
        const input = root.inputs[0]!;
        if (input.producer?.is("Mul")) return null;
        const almostOne = constant("almost_one", Tensor.f32([], [1 + 2 ** -22]));
        return create("Sigmoid", [create("Mul", [input, almostOne]).output]);
      },
    });

  it("holds a pass to the numerics that it declares", async () => {
    expect(reportOf(await prepare([nudge("rounding")]), "nudge-sigmoid")).toMatchObject({ applied: 1 });
    expect(reportOf(await prepare([nudge("exact")]), "nudge-sigmoid").rejected).toMatch(/elements differ/);
  });

  it("compares after each pass when it is to be thorough, each by what it promises", async () => {
    // In the end rounding is allowed, since one pass rounds: only on the way does it show that another must not.
    const rounds: AnyPass = { ...negatedTwice, numerics: "rounding" };
    const passes = [nudge("exact"), rounds];
    const fast = await prepare(passes, { graph: graphConfig() });
    expect(fast.passes.map(({ rejected }) => rejected)).toEqual([undefined, undefined]);
    const full = await prepare(passes, { graph: graphConfig({ verify: "full" }) });
    expect(full.passes.map(({ rejected }) => rejected)).toEqual([expect.stringMatching(/elements differ/), undefined]);
    expect(full.equivalence).toEqual({ level: "full", checked: true, inputs: "made-up" });
  });

  it("compares graphs of which copies of a node have one name, as they have until all passes are done", async () => {
    const named: AnyPass = {
      kind: "graph",
      name: "name-all",
      summary: "For tests",
      numerics: "exact",
      run: ({ model, claim }) => {
        for (const node of model.graph.nodes()) if (node.name !== "copy" && claim(node.displayName)) node.name = "copy";
      },
    };
    const prepared = await prepare([named], { graph: graphConfig({ verify: "full" }) });
    expect(reportOf(prepared, "name-all")).toMatchObject({ applied: 6 });
    expect(reportOf(prepared, "name-all").rejected).toBeUndefined();
    expect([...prepared.model.graph.nodes()].map(({ name }) => name)).toContain("copy_5");
  });

  it("says so when nothing was to be compared", async () => {
    const prepared = await prepare([wrong], { graph: graphConfig({ verify: "none" }) });
    expect(opsOf(prepared)).toContain("Tanh");
    expect(opsOf(prepared)).not.toContain("Sigmoid");
    expect(prepared.equivalence).toEqual({ level: "none", checked: false, inputs: null });
    expect(prepared.warnings.join()).toContain("not compared with the original: --verify none");
  });

  it("finds every pass that is wrong", async () => {
    const prepared = await prepare([...recipes.fuse, wrong, sometimesWrong]);
    expect(prepared.passes.filter(({ rejected }) => rejected !== undefined).map(({ name }) => name)).toEqual([
      "confuse-sigmoid",
      "pad-tanh",
    ]);
    expect(opsOf(prepared)).toEqual(["Tanh", "Sigmoid", "Tanh", "Tanh"]);
  });

  it("goes on without a pass that fails, and says which and where", async () => {
    const prepared = await prepare([failing, ...recipes.fuse]);
    expect(reportOf(prepared, "fall-over").rejected).toContain("fall-over");
    expect(prepared.warnings).toEqual(["pass rejected: fall-over at Sigmoid:d (out of cheese)"]);
    expect(opsOf(prepared)).toEqual(["Tanh", "Sigmoid", "Tanh", "Tanh"]);
  });

  it("copes with one that fails and one that is wrong", async () => {
    const prepared = await prepare([failing, ...recipes.fuse, wrong]);
    expect(prepared.passes.flatMap(({ name, rejected }) => (rejected === undefined ? [] : [name]))).toEqual([
      "fall-over",
      "confuse-sigmoid",
    ]);
  });

  it("leaves passes out, or runs only some", async () => {
    const skipped = await prepare(undefined, { graph: graphConfig({ skip: ["eliminate-identity"] }) });
    expect(skipped.passes.map(({ name }) => name)).not.toContain("eliminate-identity");
    const only = await prepare(undefined, { graph: graphConfig({ only: ["eliminate-identity"] }) });
    expect(only.passes.map(({ name }) => name)).toEqual(["eliminate-identity"]);
    const fault = await faultOf(() => prepare(undefined, { graph: graphConfig({ skip: ["eliminate-identities"] }) }));
    expect(fault.code).toBe("PASS_UNKNOWN");
  });

  it("raises old opsets, unless told not to", async () => {
    const raised = await prepare(undefined, {}, { opset: 11 });
    expect(opsetOf(raised.model)).toBe(17);
    const kept = await prepare(undefined, { graph: graphConfig({ keepOpset: true }) }, { opset: 11 });
    expect(opsetOf(kept.model)).toBe(11);
    expect(opsetOf((await prepare(undefined, { minOpset: 21 })).model)).toBe(21);
  });

  it("leaves an old opset where the newer one takes more nodes to say the same", async () => {
    const port = { dtype: "f32", shape: ["N", "A", 4] } as const;
    const signature = { inputs: [{ name: "x", ...port }], outputs: [{ name: "y", ...port }] };
    const intake = { signature, trial: { path: "random", random: { seed: 1, count: 2, signature: signature.inputs } } };
    const softmaxOf = (lines: string, request: Partial<PrepareRequest> = {}) => {
      const graph = `(x: f32[N,A,4]) -> (y) { ${lines} y = Softmax<axis=1>(a) }`;
      const model = modelFile(temporaryFolder(), graph, { opset: 12 });
      return prepare(recipes.fuse, { model, intake, ...request });
    };
    const left = await softmaxOf("a = Identity(x)");
    expect([opsetOf(left.model), opsOf(left), left.equivalence.checked]).toEqual([12, ["Softmax"], true]);
    expect(opsetOf((await softmaxOf("a = Identity(x)", { minOpset: 13 })).model)).toBe(17);
    const normalized =
      await softmaxOf(`m = ReduceMean<axes=[-1]>(x) d = Sub(x, m) q = Mul(d, d) v = ReduceMean<axes=[-1]>(q)
      e = Add(v, $tiny: f32[] = {0.01}) s = Sqrt(e) a = Div(d, s)`);
    expect([opsetOf(normalized.model), opsOf(normalized)]).toEqual([
      17,
      ["LayerNormalization", "Flatten", "Softmax", "Reshape"],
    ]);
  });

  it("raises the opset for a pass that needs it, as far as it may", async () => {
    const needy: AnyPass = { ...negatedTwice, minOpset: 20 };
    const raised = await prepare([needy]);
    expect([opsetOf(raised.model), reportOf(raised, needy.name).applied]).toEqual([20, 1]);
    expect((await prepare([{ ...needy, roots: ["Conv"] }])).model.opsets.get("")).toBe(17);

    const capped = await prepare([needy], { graph: graphConfig({ maxOpset: 19 }) });
    expect([opsetOf(capped.model), reportOf(capped, needy.name).skipped]).toEqual([
      17,
      [{ node: "Sigmoid:d", reason: "needs opset 20: the target knows opsets up to 19" }],
    ]);
    const kept = await prepare([needy], { graph: graphConfig({ keepOpset: true }) });
    expect([opsetOf(kept.model), reportOf(kept, needy.name).skipped[0]!.reason]).toEqual([
      17,
      "needs opset 20: --keep-opset was given",
    ]);
    expect(opsetOf((await prepare([], { graph: graphConfig({ maxOpset: 15 }) }, { opset: 11 })).model)).toBe(15);
  });

  it("brings the model to the opset that was asked for, and no further", async () => {
    const needy: AnyPass = { ...negatedTwice, minOpset: 22 };
    const asked = await prepare([needy], { graph: graphConfig({ opset: 20 }) });
    expect([opsetOf(asked.model), reportOf(asked, needy.name).applied]).toEqual([20, 0]);
    expect(opsetOf((await prepare([], { graph: graphConfig({ opset: 25 }), recipe: "fold" })).model)).toBe(25);
    expect(opsetOf((await prepare([], { graph: graphConfig({ opset: 9 }) }, { opset: 8 })).model)).toBe(9);
    const below = await faultOf(() => prepare([], { graph: graphConfig({ opset: 16 }) }));
    expect([below.code, below.message]).toEqual([
      "OPSET_UNSUPPORTED",
      "the model is of opset 17, beyond 16; models are only converted upwards",
    ]);
  });

  it("raises the opset as far as the target goes, and states no newer IR version than it needs", async () => {
    const needy: AnyPass = { ...negatedTwice, minOpset: 20 };
    const capped = await prepare([needy], { graph: graphConfig({ target: "ort-cpu@1.16" }) });
    expect([opsetOf(capped.model), capped.model.irVersion, reportOf(capped, needy.name).skipped[0]!.reason]).toEqual([
      ...[17, 8],
      "needs opset 20: the target knows opsets up to 19",
    ]);
    const raised = await prepare([needy], { graph: graphConfig({ target: "ort-cpu@1.17" }) });
    expect([opsetOf(raised.model), raised.model.irVersion]).toEqual([20, 9]);
    expect(opsetOf((await prepare([], { graph: graphConfig({ target: "ort-cpu@1.9" }) }, { opset: 11 })).model)).toBe(
      15,
    );
    const fault = await faultOf(() => prepare([], { graph: graphConfig({ target: "ort-gpu" }) }));
    expect(fault.code).toBe("TARGET_UNKNOWN");
  });

  it("makes nothing that the target lacks", async () => {
    const contrib = defineRewrite({
      name: "make-contrib",
      summary: "Make Tanh a foreign Gelu",
      numerics: "lossy",
      roots: ["Tanh"],
      rewrite: (root, { create }) => create("Gelu", root.inputs, {}, { domain: "com.microsoft" }),
    });
    const prepared = await prepare([contrib], { graph: graphConfig({ target: "tensorrt" }) });
    expect(opsOf(prepared)).not.toContain("Gelu");
    expect(reportOf(prepared, "make-contrib").skipped[0]!.reason).toContain("NVIDIA TensorRT 11: com.microsoft::Gelu");
  });

  /** A runtime to which a file looks wrong when the test says so. */
  const doubting = (isWrong: (path: string) => boolean): Runtime =>
    new FakeRuntime(
      {},
      {
        compare: ({ baseline, candidate }: CompareJob) => [
          differenceOf("y", baseline !== candidate && isWrong(candidate) ? { maxAbs: 1, differing: 5 } : {}),
        ],
      },
    );

  it("refuses an opset that was asked for and changes results", async () => {
    const on = doubting((path) => existsSync(path) && opsetOf(loadModel(path)) === 21);
    const fault = await faultOf(() => prepare([], { graph: graphConfig({ opset: 21 }) }, { on }));
    expect(fault.code).toBe("MODEL_UNFAITHFUL");
    expect(fault.message).toContain("once read, brought to opset 21 and written");
  });

  it("goes on with an opset too old to be raised", async () => {
    const prepared = await prepare(undefined, {}, { opset: 6 });
    expect(opsetOf(prepared.model)).toBe(6);
    expect(prepared.warnings.join()).toContain("the opset stays at 6");
  });

  it("leaves the opset alone when converting it changes results", async () => {
    const on = doubting((path) => existsSync(path) && opsetOf(loadModel(path)) > 11);
    const prepared = await prepare(undefined, {}, { on, opset: 11 });
    expect(opsetOf(prepared.model)).toBe(11);
    expect(prepared.warnings[0]).toContain("the opset was left as it is");
  });

  it("refuses a model that changes merely by being written", async () => {
    const fault = await faultOf(() => prepare(undefined, {}, { on: doubting(() => true) }));
    expect(fault.code).toBe("MODEL_UNFAITHFUL");
    expect(fault.message).toContain("output y: ");
  });

  it("leaves nothing behind in the scratch folder but its result", async () => {
    const prepared = await prepare([...recipes.fuse, wrong]);
    const folder = join(prepared.path, "..");
    expect(readdirSync(folder).map((name) => join(folder, name))).toEqual([prepared.path]);
  });
});
