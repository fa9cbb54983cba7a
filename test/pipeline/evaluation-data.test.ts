import { describe, expect, it } from "vitest";
import { openDatasetRef } from "../../src/dataset/index.js";
import { parseModel } from "../../src/ir/index.js";
import type { RuntimeConfig } from "../../src/pipeline/config.js";
import {
  batchOf,
  chooseEvaluationData,
  chooseMetric,
  classProbabilities,
  holdOut,
  randomInputs,
  refuseFixedBatch,
  timingData,
  withBatch,
} from "../../src/pipeline/evaluation-data.js";
import type { PortInfo } from "../../src/runtime/port.js";
import { input, samplesOf } from "../support/dataset.js";
import { classifier } from "../support/fake-runtime.js";
import { f32Npy, i64Npy, npz } from "../support/npz.js";
import { runtimeConfig } from "../support/run-config.js";
import { temporaryFolder } from "../support/temporary-folder.js";

describe("holdOut", () => {
  it("takes a fifth, disjoint from the rest, and loses nothing", () => {
    const { calibration, evaluation } = holdOut(100, 3);
    expect(evaluation).toHaveLength(20);
    expect([...calibration, ...evaluation].sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => i));
  });

  it("gives both parts in ascending order", () => {
    for (const part of Object.values(holdOut(50, 9))) expect(part).toEqual([...part].sort((a, b) => a - b));
  });

  it("depends on the seed and nothing else", () => {
    expect(holdOut(40, 5)).toEqual(holdOut(40, 5));
    expect(holdOut(40, 5)).not.toEqual(holdOut(40, 6));
  });

  it("holds out one of two, and uses the only one twice", () => {
    expect(holdOut(2, 1).evaluation).toHaveLength(1);
    expect(holdOut(1, 1)).toEqual({ calibration: [0], evaluation: [0] });
  });
});

describe("chooseEvaluationData", () => {
  const file = (withLabels: boolean) => {
    const arrays = { x: f32Npy([10, 1, 8, 8], new Array(640).fill(0)) };
    const labels = withLabels ? { labels: i64Npy([10], new Array(10).fill(1)) } : {};
    return `${temporaryFolder({ "d.npz": npz({ ...arrays, ...labels }) })}/d.npz`;
  };
  const choose = (data: { calibration?: string; eval?: string }, batch = 1) => {
    const given = { calibration: null, eval: null, metric: null, ...data };
    return chooseEvaluationData(given, classifier, runtimeConfig({ batch }));
  };

  it("is all of the evaluation data where there is some", async () => {
    const path = file(true);
    expect(await choose({ eval: path, calibration: "/unread.npz" })).toEqual({
      ref: { path },
      count: 10,
      source: "eval",
      hasLabels: true,
    });
  });

  it("is what was held out of the calibration data otherwise", async () => {
    const path = file(false);
    const chosen = await choose({ calibration: path });
    expect(chosen).toMatchObject({ count: 2, source: "held-out", hasLabels: false });
    expect(chosen.ref).toEqual({ path, indices: holdOut(10, 1).evaluation });
  });

  it("is made up when there is no data", async () => {
    expect(await choose({})).toMatchObject({ source: "random", hasLabels: false, ref: { random: { seed: 1 } } });
  });

  it("has no batches of samples", async () => {
    const path = file(false);
    for (const data of [{ eval: path }, { calibration: path }]) {
      const fault = await choose(data, 4).catch((thrown: unknown) => thrown);
      expect(fault).toMatchObject({ code: "BATCH_FIXED", kind: "input", fields: { path, batch: 4, fixed: 1 } });
    }
    expect(await choose({}, 4)).toMatchObject({ source: "random" });
  });
});

describe("refuseFixedBatch", () => {
  const refuse =
    (shape: PortInfo["shape"], given: RuntimeConfig["shapes"] = new Map()) =>
    () => {
      const config = runtimeConfig({ batch: 4, shapes: given });
      refuseFixedBatch(
        "m.onnx",
        randomInputs([input("x", "f32", shape), input("count", "i64", [1])], config, 1),
        config,
      );
    };

  it("is for batches that the model, or a given shape, is not made for", () => {
    const fault = { code: "BATCH_FIXED", fields: { path: "m.onnx", batch: 4, fixed: 1 } };
    expect(refuse([1, 3])).toThrow(expect.objectContaining(fault));
    expect(refuse(["N", 3], new Map([["x", [1, 3]]]))).toThrow(expect.objectContaining(fault));
  });

  it("lets one input with that batch do, and what nobody knows", () => {
    for (const shape of [["N", 3], [null, 3], [4, 3], null]) expect(refuse(shape)).not.toThrow();
    expect(refuse(["N", 3], new Map([["x", [null, 3]]]))).not.toThrow();
  });
});

describe("made-up inputs", () => {
  const inputs = [input("a", "f32", ["N", 3]), input("b", "f32", ["N", "N", null]), input("c", "f32", [null, "T"])];

  it("have the batch wherever its symbol stands", () => {
    const sized = withBatch(inputs, runtimeConfig({ batch: 4 }));
    expect(sized.map(({ shape }) => shape)).toEqual([
      [4, 3],
      [4, 4, null],
      [4, "T"],
    ]);
  });

  it("leave alone what a given shape decides", async () => {
    const config = runtimeConfig({ batch: 4, shapes: new Map([["a", [2, 3]]]) });
    const ref = randomInputs(inputs.slice(0, 2), config, 1);
    const [sample] = await samplesOf(await openDatasetRef(ref));
    expect(sample!.feeds.get("a")!.dims).toEqual([2, 3]);
    expect(sample!.feeds.get("b")!.dims.slice(0, 2)).toEqual([2, 2]);
    expect(batchOf(ref)).toBe(2);
  });

  it("have the batch where a given shape leaves the first dimension open", () => {
    const config = runtimeConfig({ batch: 4, shapes: new Map([["a", [null, 3]]]) });
    expect(withBatch(inputs.slice(0, 1), config)[0]!.shape).toEqual([4, 3]);
    expect(batchOf(randomInputs(inputs.slice(0, 1), config, 1))).toBe(4);
  });

  it("are one sample when a model is timed", () => {
    const ref = timingData({ ref: { path: "" }, count: 8, source: "random" }, classifier, runtimeConfig({ batch: 16 }));
    expect(ref.random!.count).toBe(1);
    expect(batchOf(ref)).toBe(16);
  });
});

it("times with the first samples of real data, one at a time", () => {
  const ref = timingData(
    { ref: { path: "d.npz" }, count: 100, source: "eval" },
    classifier,
    runtimeConfig({ batch: 16 }),
  );
  expect(ref.indices).toEqual(Array.from({ length: 16 }, (_, i) => i));
  expect(batchOf(ref)).toBe(1);
  expect(
    timingData({ ref: { path: "d", indices: [3, 9] }, count: 2, source: "held-out" }, classifier, runtimeConfig())
      .indices,
  ).toEqual([3, 9]);
});

describe("chooseMetric", () => {
  const choose = (outputs: PortInfo[], source: "eval" | "held-out" | "random" = "eval", hasLabels = false) => {
    const metric = chooseMetric(null, { source, hasLabels }, { outputs });
    return metric.kind === "builtin" ? metric.name : metric.path;
  };
  const scores = input("y", "f32", ["N", 10]);

  it("looks for classes in no output without elements", () => {
    expect(choose([input("y", "f32", [1, 0])])).toBe("cosine");
  });

  it("takes what was asked for", () => {
    const asked = { kind: "builtin", name: "mse" } as const;
    expect(chooseMetric(asked, { source: "eval", hasLabels: true }, { outputs: [scores] })).toBe(asked);
  });

  it("is top1 with labels and class scores", () => expect(choose([scores], "eval", true)).toBe("top1"));
  it("is agreement without labels", () => expect(choose([scores])).toBe("agreement"));
  it("is agreement on what was held out, whatever its labels", () =>
    expect(choose([scores], "held-out", true)).toBe("agreement"));
  it("is agreement for answers in integers", () => expect(choose([input("y", "i64", ["N"])])).toBe("agreement"));

  it.each([
    ["scores with axes of 1 behind", "y", ["N", 1000, 1, 1], "agreement"],
    ["scores of a class for each token", "logits", ["N", "T", 30522], "agreement"],
    ["hidden states", "last_hidden_state", ["N", "T", 384], "cosine"],
    ["an embedding", "sentence_embedding", ["N", 384], "cosine"],
    ["an image", "y", ["N", 3, "H", "W"], "cosine"],
    ["one number", "y", ["N", 1], "cosine"],
    ["something of unknown rank", "y", null, "cosine"],
  ] as const)("of %s", (_, name, shape, metric) => expect(choose([input(name, "f32", shape)])).toBe(metric));

  it.each([
    ["of each box", [1, 512, 1], [1, 512, 16], "cosine"],
    ["of as many boxes as there are", ["N", "boxes"], ["N", "boxes", 4], "cosine"],
    ["beside others of one number", ["N", 10], ["N", 10, 1], "agreement"],
    ["beside boxes of another number", ["N", 10], ["N", 100, 4], "agreement"],
    ["beside a map of each class", ["N", 10], ["N", 10, 7, 7], "agreement"],
    ["of places that nobody knows the number of", ["N", null], ["N", null, 4], "agreement"],
    ["beside who knows how many", ["N", 10], ["N", 10, "M"], "agreement"],
    ["beside boxes of another batch", ["N", 10], [1, 10, 4], "agreement"],
  ] as const)("of scores %s", (_, shape, other, metric) =>
    expect(choose([input("scores", "f32", shape), input("other", "f32", other)])).toBe(metric),
  );

  it("takes names and labels at their word, whatever stands beside", () => {
    const parts = input("parts", "f32", ["N", 10, 64]);
    expect(choose([input("logits", "f32", ["N", 10]), parts])).toBe("agreement");
    expect(choose([scores, parts])).toBe("cosine");
    expect(choose([scores, parts], "eval", true)).toBe("top1");
  });

  it("passes over outputs with one number a sample, as metrics do", () => {
    expect(choose([input("loss", "f32", ["N", 1]), scores])).toBe("agreement");
  });
});

describe("classProbabilities", () => {
  const of = (text: string, shape: readonly number[] | null = null) => {
    const model = parseModel(text);
    for (const { value } of model.graph.outputs) value.type = shape && { dtype: "f32", shape };
    return [...classProbabilities(model)];
  };

  it("names outputs of a Softmax over the last axis, whatever they are called", () => {
    expect(of("(x: f32[1,40,6625]) -> (save_0) { save_0 = Softmax<axis=2>(x) }", [1, 40, 6625])).toEqual(["save_0"]);
    expect(of("(x: f32[1,9]) -> (y) { y = LogSoftmax(x) }")).toEqual(["y"]);
  });

  it("names no others", () => {
    expect(of("(x: f32[1,2,64,64]) -> (y) { y = Softmax<axis=1>(x) }", [1, 2, 64, 64])).toEqual([]);
    expect(of("(x: f32[1,9]) -> (y) { y = Sigmoid(x) }")).toEqual([]);
  });

  it("makes them judged by the classes that they name, where nobody said how", () => {
    const outputs = [{ name: "save_0", dtype: "f32", shape: [1, 40, 6625] }] as const;
    const data = { source: "held-out", hasLabels: false } as const;
    expect(chooseMetric(null, data, { outputs })).toEqual({ kind: "builtin", name: "cosine" });
    expect(chooseMetric(null, data, { outputs }, new Set(["save_0"]))).toEqual({ kind: "builtin", name: "agreement" });
  });
});
