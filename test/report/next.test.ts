/** The command that is suggested after a result: it can be pasted, and it leads on. */
import { describe, expect, it } from "vitest";
import type { LoadFacts } from "../../src/pipeline/load/load-facts.js";
import type { RunResult, Verdict } from "../../src/pipeline/result.js";
import { suggest } from "../../src/report/next.js";
import { refusedResult, sampleResult } from "./sample-result.js";

const verdict = (outcome: Verdict["outcome"], limit: string): Verdict => ({
  status: "inconclusive",
  outcome,
  reasons: [{ limit, wanted: 1, got: 1, status: "inconclusive", text: "" }],
  summary: "",
});
const commandOf = (result: RunResult, line: string | null): string | null => suggest(result, line)?.command ?? null;

const integersOf = ({ candidates }: RunResult): RunResult["candidates"] =>
  candidates.filter(({ name }) => name !== "float32 fused");

describe("the next command", () => {
  it("explains the stored result where there is one", () => {
    const line = "infer-opt optimize models/net.onnx -o x.onnx --report r.md --report 'my r.json' --threads 1";
    expect(commandOf(sampleResult(), line)).toBe("infer-opt explain 'my r.json'");
    // The model by itself tells nothing about integers.
    expect(commandOf(sampleResult(), null)).toBeNull();
  });

  it("measures on all samples what no limit asked for, and holds the limits that were asked for in CI", () => {
    const line = "infer-opt quantize models/net.onnx -o x.onnx --eval 'my test.npz' --metric top1 --threads 2";
    const gain = { ...verdict("met", "gain"), status: "pass" } as const;
    expect(commandOf({ ...sampleResult(), verdict: gain }, line)).toBe(
      "infer-opt verify models/net.onnx out/net.int8.onnx --eval 'my test.npz' --metric top1",
    );
    // What does not saturate where it is to run is judged like that.
    expect(commandOf({ ...sampleResult(), verdict: gain }, `${line} --target openvino`)).toBe(
      "infer-opt verify models/net.onnx out/net.int8.onnx --eval 'my test.npz' --metric top1 --target openvino",
    );
    // Of half precision only outputs were compared, whether it was timed or not.
    const halves = { command: "fp16", quantization: null, precision: { target: "f16", float: [], notes: [] } } as const;
    const { latency: _, ...untimed } = { ...sampleResult(halves), verdict: { ...gain, reasons: [] } };
    for (const half of [untimed, { ...untimed, latency: sampleResult().latency }]) {
      expect(commandOf(half as RunResult, "infer-opt fp16 models/net.onnx -o x.onnx --eval t.npz")).toBe(
        "infer-opt verify models/net.onnx out/net.int8.onnx --eval t.npz",
      );
    }
    const drop = { ...verdict("met", "max-drop"), status: "pass" } as const;
    expect(commandOf({ ...sampleResult(), verdict: drop }, `${line} --max-drop=1% --slo p95=9ms --slo p99=20ms`)).toBe(
      "infer-opt gate models/net.onnx out/net.int8.onnx --eval 'my test.npz' --metric top1 --max-drop 1% --slo p95=9ms --slo p99=20ms --threads 2",
    );
    const both = {
      ...drop,
      reasons: [...drop.reasons, { ...drop.reasons[0]!, limit: "gain", unit: "times" }],
    } as const;
    const limited = `${line} --max-drop 1%`;
    // A search asks for a gain by itself, and `gate` where it is told to.
    const step =
      "infer-opt gate models/net.onnx out/net.int8.onnx --eval 'my test.npz' --metric top1 --max-drop 1% --threads 2";
    expect(commandOf({ ...sampleResult(), verdict: both }, limited)).toBe(`${step} --min-speedup 1.02`);
    expect(commandOf({ ...sampleResult(), verdict: both }, `${limited} --min-speedup=1.5`)).toBe(
      step.replace("1% ", "1% --min-speedup 1.5 "),
    );
    const smaller = { ...both, reasons: both.reasons.map((each) => ({ ...each, unit: "bytes" as const })) };
    expect(commandOf({ ...sampleResult(), verdict: smaller }, limited)).toBe(step);
    expect(commandOf({ ...sampleResult(), verdict: drop }, null)).toBeNull();
    // Without samples to judge by there is still where the time goes.
    expect(commandOf({ ...sampleResult(), verdict: drop }, "infer-opt quantize a -o b --max-drop 1% --threads 2")).toBe(
      "infer-opt profile models/net.onnx out/net.int8.onnx --threads 2",
    );
  });

  it("holds limits against what they were held against: the model that the given one was made of", () => {
    const baseline = { path: "models/dense.onnx", sha256: "cc", bytes: 8_000_000, nodes: 181 };
    const line = "infer-opt quantize models/net.onnx -o x.onnx --baseline models/dense.onnx --eval d.npz --max-drop 1%";
    const drop = { ...verdict("met", "max-drop"), status: "pass" } as const;
    expect(commandOf({ ...sampleResult({ baseline }), verdict: drop }, line)).toBe(
      "infer-opt gate models/dense.onnx out/net.int8.onnx --eval d.npz --max-drop 1%",
    );
  });

  it("asks for the runtime's own operators where they are what is missing for speed", () => {
    const line = "infer-opt quantize m.onnx -o q.onnx";
    const slow = { ...refusedResult(), runtimeSpecificNodes: 1 };
    for (const outcome of ["no-gain", "inconclusive"] as const) {
      const own = { ...slow, verdict: verdict(outcome, "gain") };
      expect(commandOf(own, line)).toBe(`${line} --runtime-specific`);
      expect(commandOf({ ...own, runtimeSpecificNodes: 0 }, line)).not.toContain("--runtime-specific");
    }
    expect(commandOf({ ...slow, verdict: verdict("latency", "slo p95") }, line)).toBe(`${line} --runtime-specific`);
    expect(commandOf({ ...slow, verdict: verdict("inconclusive", "max-drop") }, line)).not.toContain("specific");
    const gain = { ...verdict("met", "gain"), status: "pass" } as const;
    const met = { ...gain, reasons: gain.reasons.map((each) => ({ ...each, status: "met" }) as const) };
    expect(commandOf({ ...sampleResult(), verdict: met, runtimeSpecificNodes: 2 }, line)).toBe(
      `${line} --runtime-specific`,
    );
    expect(commandOf({ ...sampleResult(), verdict: met }, line)).not.toContain("specific");
  });

  it("makes a smaller file where integers were weighed and none of them pay", () => {
    const region = {
      ...{ region: "a", nodes: ["a"], form: "float" as const },
      sqnrDb: null,
      beforeMs: 1,
      afterMs: 2,
      reason: "",
    };
    const { quantization } = sampleResult();
    const none = { ...refusedResult(), candidates: [], verdict: verdict("no-gain", "gain") };
    const line = "infer-opt quantize m.onnx -o q.onnx";
    expect(commandOf({ ...none, quantization: { ...quantization!, regions: [region] } }, line)).toBe(
      `${line} --goal size`,
    );
    expect(commandOf({ ...none, quantization: null }, line)).toContain("infer-opt inspect");
    expect(commandOf({ ...none, quantization: null, shrinkableBytes: 4096 }, line)).toBe(`${line} --goal size`);
    const { reasons, ...missed } = verdict("no-gain", "gain");
    const inSize = { ...missed, reasons: reasons.map((each) => ({ ...each, unit: "bytes" as const })) };
    expect(commandOf({ ...refusedResult(), verdict: inSize }, `${line} --goal size`)).toContain("infer-opt inspect");
  });

  it("weighs the float model too where rewrites apply to a model that integers gain nothing for", () => {
    const line = "infer-opt quantize m.onnx -o q.onnx --max-drop 1%";
    const nextOf = (command: string, applied: number, candidates = integersOf(refusedResult())) => {
      const passes = [{ name: "fuse-gelu", applied, skipped: [], durationMs: 1 }];
      return commandOf({ ...refusedResult(), command, passes, candidates, verdict: verdict("no-gain", "gain") }, line);
    };
    expect(nextOf("quantize", 2)).toBe("infer-opt optimize m.onnx -o q.onnx --max-drop 1%");
    expect(nextOf("quantize", 0)).not.toContain("optimize m.onnx");
    expect(nextOf("optimize", 2)).not.toContain("optimize m.onnx");
    const weighed = (speedup: number) =>
      refusedResult().candidates.map((each) => (each.name === "float32 fused" ? { ...each, speedup } : each));
    expect(nextOf("quantize", 2, weighed(1.01))).not.toContain("optimize m.onnx");
    // Of less than quantize asks of float.
    expect(nextOf("quantize", 2, weighed(1.06))).toContain("optimize m.onnx");
  });

  it("times what was compared, and compares what was timed", () => {
    const { model, ...facts } = sampleResult();
    const [candidateModel, other] = ["b c.onnx", "d.onnx"].map((path) => ({ ...model, path })) as [
      typeof model,
      typeof model,
    ];
    const bare = { ...facts, model, output: null, quantization: null, candidateModel };
    const line = "infer-opt verify models/net.onnx 'b c.onnx' --threads 1 --json";
    expect(commandOf({ ...bare, command: "verify" }, line)).toBe(
      "infer-opt bench models/net.onnx 'b c.onnx' --threads 1",
    );
    const timed = (...models: readonly (typeof model)[]) =>
      ({
        ...bare,
        command: "bench",
        bench: { models: models.map((each) => ({ model: each })) },
      }) as unknown as RunResult;
    expect(commandOf(timed(model, candidateModel), "infer-opt bench a b --eval e.npz")).toBe(
      "infer-opt verify models/net.onnx 'b c.onnx' --eval e.npz",
    );
    expect(commandOf(timed(model, model), null)).toBeNull();
    expect(commandOf(timed(model), "infer-opt bench a --threads=2 --shape x=1,3")).toBe(
      "infer-opt profile models/net.onnx --shape x=1,3 --threads 2",
    );
    const three = timed(model, candidateModel, other);
    const fast = three.bench!.models.map((row, i) => ({ ...row, p50Ms: [3, 1, 2][i]! }));
    expect(commandOf({ ...three, bench: { ...three.bench!, models: fast } }, null)).toBe(
      "infer-opt profile models/net.onnx 'b c.onnx'",
    );
    expect(commandOf({ ...bare, command: "profile" }, "infer-opt profile a b --eval e.npz")).toBe(
      "infer-opt verify models/net.onnx 'b c.onnx' --eval e.npz",
    );
    const { candidateModel: _, ...single } = bare;
    expect(commandOf({ ...single, command: "profile" }, null)).toBe("infer-opt inspect models/net.onnx");
  });

  it("replaces a budget that was too short", () => {
    const result = { ...refusedResult(), verdict: verdict("inconclusive", "min-speedup") };
    expect(commandOf(result, "infer-opt gate a b --budget 30s --json")).toBe("infer-opt gate a b --json --budget 5m");
    expect(commandOf(result, "infer-opt gate a b --budget=30s")).toBe("infer-opt gate a b --budget 5m");
    expect(commandOf(result, "infer-opt gate a b --fold-budget 0B")).toBe(
      "infer-opt gate a b --fold-budget 0B --budget 5m",
    );
  });

  it("gives a search more time that ran out of it", () => {
    const [reason] = verdict("accuracy", "max-drop").reasons;
    const reasons = [{ ...reason!, status: "missed" as const, longer: 2.5 }];
    // The search is a stage within which candidates are verified.
    const stages = [
      { stage: "verify", wallMs: 25_000 },
      { stage: "quantize", wallMs: 30_000 },
      { stage: "bench", wallMs: 10_000 },
    ];
    const resources = { wallMs: 40_000, peakRssBytes: 1 };
    const short = {
      ...refusedResult(),
      ...{ stages, resources },
      verdict: { ...verdict("accuracy", "max-drop"), reasons },
    };
    expect(commandOf(short, "infer-opt optimize a -o b --budget 40s")).toBe("infer-opt optimize a -o b --budget 2m");
    expect(commandOf(short, "infer-opt quantize a -o b --keep-rejected")).toContain(" --budget 2m");
    const through = { ...short, verdict: verdict("accuracy", "max-drop") };
    expect(commandOf(through, "infer-opt optimize a -o b")).toBe("infer-opt optimize a -o b --keep-rejected");
  });

  it("weighs the float model too where integers lose too much of one that rewrites apply to", () => {
    const passes = [{ name: "fuse-pad", applied: 1 }] as unknown as RunResult["passes"];
    const candidates = integersOf(refusedResult());
    const refused = { ...refusedResult(), candidates, passes, verdict: verdict("accuracy", "max-drop") };
    const lost = { ...refused, command: "quantize" } as const;
    expect(commandOf(lost, "infer-opt quantize a -o b --max-drop 1%")).toBe("infer-opt optimize a -o b --max-drop 1%");
    const whole = { ...lost, command: "optimize" } as const;
    expect(commandOf(whole, "infer-opt optimize a -o b")).toBe("infer-opt optimize a -o b --keep-rejected");
    expect(commandOf({ ...lost, passes: [] }, "infer-opt quantize a -o b")).toBe(
      "infer-opt quantize a -o b --keep-rejected",
    );
  });

  it("asks for a smaller file once more time did not tell whether it is faster", () => {
    const unsure = { ...refusedResult(), latency: sampleResult().latency, verdict: verdict("inconclusive", "gain") };
    const [first, ...others] = unsure.candidates;
    const sized = (share: number): RunResult => ({
      ...unsure,
      candidates: [
        { ...first!, chosen: true, bytes: share * unsure.model.bytes },
        ...others.map((each) => ({ ...each, chosen: false })),
      ],
    });
    const [line, longer] = ["infer-opt quantize a -o b", "infer-opt quantize a -o b --budget 71s"];
    expect(commandOf(sized(0.5), longer)).toBe(`${longer} --goal size`);
    expect(commandOf(sized(0.5), line)).toContain("--budget");
    expect(commandOf(sized(0.9), longer)).toContain("--budget");
    const slower = (share: number): RunResult => ({ ...sized(share), latency: { ...unsure.latency!, speedup: 0.9 } });
    expect(commandOf(slower(0.5), line)).toBe(`${line} --goal size`);
    expect(commandOf(slower(0.9), line)).toContain("--budget");
  });

  it("asks for no more time where samples are too few, and keeps the file that they could not decide about", () => {
    const result = { ...refusedResult(), verdict: verdict("inconclusive", "max-drop") };
    expect(commandOf({ ...result, command: "gate" }, "infer-opt gate a b")).toBeNull();
    expect(commandOf(result, "infer-opt optimize a -o b")).toBe("infer-opt optimize a -o b --keep-rejected");
    expect(commandOf(result, "infer-opt optimize a -o b --keep-rejected")).toBeNull();
  });

  it("does not ask for the budget that was too short", () => {
    const result = { ...refusedResult(), verdict: verdict("inconclusive", "min-speedup") };
    expect(commandOf(result, "infer-opt gate a b --budget 5m")).toBe("infer-opt gate a b --budget 20m");
  });

  describe("of a race that did not tell", () => {
    const undecided = (...longer: readonly (number | null)[]): RunResult => ({
      ...sampleResult({ command: "gate", output: null, quantization: null }),
      stages: [
        { stage: "load", wallMs: 500 },
        { stage: "bench", wallMs: 10_000 },
      ],
      verdict: {
        ...verdict("inconclusive", "min-speedup"),
        reasons: longer.map((times) => ({ ...verdict("inconclusive", "min-speedup").reasons[0]!, longer: times })),
      },
    });

    it("is given the time that would", () => {
      expect(commandOf(undecided(3, 4), "infer-opt gate a b")).toBe("infer-opt gate a b --budget 48s");
      const resources = { wallMs: 10_500, peakRssBytes: 1 };
      const search = { ...undecided(3), command: "quantize", resources } as RunResult;
      expect(commandOf(search, "infer-opt quantize a --budget 9s")).toBe("infer-opt quantize a --budget 38s");
    });

    it("is not, where no time would", () => {
      expect(commandOf(undecided(null), "infer-opt gate a b")).toBeNull();
    });

    it("decides one setting of a sweep, and all limits of a pair", () => {
      const sweep = {} as unknown as RunResult["sweep"];
      expect(commandOf({ ...undecided(null, 9, 3), sweep } as RunResult, "infer-opt bench a")).toBe(
        "infer-opt bench a --budget 36s",
      );
      expect(commandOf(undecided(null, 3), "infer-opt gate a b")).toBe("infer-opt gate a b --budget 5m");
    });
  });

  describe("of a load that did not tell", () => {
    const undecided = (longer: readonly (number | null)[], arrivals: string): RunResult => ({
      ...sampleResult({ command: "bench", output: null, quantization: null }),
      load: { arrivals, durationMs: 6000 } as unknown as LoadFacts,
      verdict: {
        ...verdict("inconclusive", "slo p99"),
        reasons: longer.map((times) => ({ ...verdict("inconclusive", "slo p99").reasons[0]!, longer: times })),
      },
    });

    it("is given the time that would", () => {
      const line = "infer-opt bench a --rate 10 --slo p99=50ms --budget 6s";
      expect(commandOf(undecided([10.2], "poisson"), line)).toBe(
        "infer-opt bench a --rate 10 --slo p99=50ms --budget 74s",
      );
      expect(commandOf(undecided([2, 50], "constant"), line)).toBe(
        "infer-opt bench a --rate 10 --slo p99=50ms --budget 6m",
      );
    });

    it("is not, where no time would, or a recording has an end", () => {
      expect(commandOf(undecided([2, null], "poisson"), "infer-opt bench a --rate 10")).toBeNull();
      expect(commandOf(undecided([2], "trace"), "infer-opt bench a --trace t.txt")).toBeNull();
    });
  });

  it("measures stages for longer, and keeps what they may take", () => {
    const request = {} as unknown as RunResult["request"];
    const { latency: _, ...facts } = sampleResult({ command: "bench", output: null, quantization: null });
    const result = { ...facts, request, verdict: verdict("inconclusive", "budget parse") } as unknown as RunResult;
    expect(commandOf(result, "infer-opt bench a --pipeline p.mjs --budget parse=1ms --budget 9s")).toBe(
      "infer-opt bench a --pipeline p.mjs --budget 5m --budget parse=1ms",
    );
  });

  it("joins the parts of a calibration, by their numbers where the file has one", () => {
    const part = sampleResult({ command: "calibrate", output: null, quantization: null });
    const line = "infer-opt calibrate m.onnx --calibration c.npz --shard";
    expect(commandOf(part, `${line} 1/3 -o run2/part1.json`)).toBe(
      "infer-opt calibrate --merge run2/part1.json run2/part2.json run2/part3.json -o ranges.json",
    );
    const joined = "infer-opt calibrate --merge";
    expect(commandOf(part, `${line} 2/2 -o 'a b.json'`)).toBe(`${joined} 'a b.json' OTHERS -o ranges.json`);
    expect(commandOf(part, `${line} 1/20 -o p1.json`)).toBe(`${joined} p1.json OTHERS -o ranges.json`);
  });

  it("looks into a file that verify found too large", () => {
    const bare = sampleResult({ command: "verify", output: null, quantization: null });
    const of = (limit: string) => ({
      ...{ ...bare, candidateModel: { ...bare.model, path: "b.onnx" } },
      verdict: verdict("latency", limit),
    });
    const line = "infer-opt verify a b --eval e.npz --max-size 50kB --max-drop none";
    const tooLarge = of("max-size");
    const reasons = tooLarge.verdict.reasons.map((each) => ({ ...each, status: "missed" as const }));
    expect(commandOf({ ...tooLarge, verdict: { ...tooLarge.verdict, reasons } }, line)).toBe(
      "infer-opt inspect b.onnx",
    );
  });

  describe("of a gate", () => {
    const bare = sampleResult({ command: "gate", output: null, quantization: null });
    const gate = { ...bare, candidateModel: { ...bare.model, path: "b.onnx" } };
    const line =
      "infer-opt gate a b --eval e.npz --metric top1 --max-drop 1% --threads 1 --report g.md --report g.json";
    const missed = (outcome: Verdict["outcome"], ...limits: readonly string[]): RunResult => ({
      ...gate,
      verdict: {
        ...{ status: "fail", outcome, summary: "" },
        reasons: limits.map((limit) => ({ limit, wanted: 1, got: 2, status: "missed", text: "" })),
      },
    });

    it("that accuracy failed tells where the models part", () => {
      expect(commandOf(missed("accuracy", "max-drop"), line)).toBe(
        "infer-opt verify models/net.onnx b.onnx --eval e.npz --metric top1 --max-drop 1% --threads 1 --layers",
      );
    });

    it("goes on with what a config file said", () => {
      const found = { ...missed("accuracy", "max-drop"), configPath: "/ci/job/.infer-opt.json" };
      expect(commandOf(found, "infer-opt gate a b --max-drop 1%")).toBe(
        "infer-opt verify models/net.onnx b.onnx --max-drop 1% --config .infer-opt.json --layers",
      );
      expect(commandOf(missed("latency", "slo p95"), "infer-opt gate a b --config 'my gate.json'")).toBe(
        "infer-opt profile models/net.onnx b.onnx --config 'my gate.json'",
      );
    });

    it("that latency or size failed tells where they go", () => {
      expect(commandOf(missed("latency", "slo p95", "max-size"), line)).toBe(
        "infer-opt profile models/net.onnx b.onnx --eval e.npz --threads 1",
      );
      expect(commandOf(missed("latency", "max-size"), line)).toBe("infer-opt inspect b.onnx");
    });

    it("that passed makes a page of what was kept of it", () => {
      expect(commandOf(gate, line)).toBe("infer-opt report g.json --html g.html");
      expect(commandOf(gate, "infer-opt gate a b --report g.md")).toBeNull();
    });
  });

  it("goes on with integers after pruning, held to the same limits and the first model", () => {
    const pruning = { groups: [], fitted: [], unfitted: [], pareto: [] };
    const output = { ...sampleResult().model, path: "out/p q.onnx" };
    const pruned = sampleResult({ command: "prune", quantization: null, output, pruning });
    const line = "infer-opt prune models/net.onnx -o x --calibration c.npz --eval e.npz --metric top1 --max-drop 1%";
    expect(commandOf(pruned, line)).toBe(
      "infer-opt quantize 'out/p q.onnx' -o 'out/p q.int8.onnx' --baseline models/net.onnx --calibration c.npz --eval e.npz --metric top1 --max-drop 1%",
    );
    expect(commandOf(pruned, "infer-opt prune a -o x --eval e.npz")).toContain("--calibration e.npz --eval e.npz");
    expect(commandOf(pruned, null)).toBeNull();
  });

  it("learns what pruning could not keep, once", () => {
    const verdictOf = { ...verdict("accuracy", "max-drop"), status: "fail" } as const;
    const pruned = sampleResult({ command: "prune", output: null, verdict: verdictOf });
    expect(commandOf(pruned, "infer-opt prune a -o b --keep-ratio 0.5")).toBe(
      "infer-opt prune a -o b --keep-ratio 0.5 --recover",
    );
    expect(commandOf(pruned, "infer-opt prune a -o b --recover")).toBeNull();
  });

  it("profiles the best setting of a sweep", () => {
    const setting = { model: sampleResult().model, batch: 4, threads: 2 };
    const sweep = { settings: [setting, { ...setting, batch: 8 }], fastest: 1, best: null };
    const result = sampleResult({ command: "bench", output: null, quantization: null }) as unknown as RunResult;
    expect(commandOf({ ...result, sweep } as unknown as RunResult, "infer-opt bench a --batch 4,8")).toBe(
      "infer-opt profile models/net.onnx --batch 8 --threads 2",
    );
  });

  it("offers a smaller file only where a candidate was smaller", () => {
    const result = refusedResult();
    expect(commandOf({ ...result, candidates: [] }, "infer-opt optimize a -o b")).toBe(
      "infer-opt inspect models/net.onnx",
    );
  });

  it("does not time a file against itself, nor a copy", () => {
    const { quantization: _, latency: __, candidates: ___, ...bare } = sampleResult();
    const result = {
      ...bare,
      command: "fuse",
      quantization: null,
      latency: null,
      candidates: [],
    } as unknown as RunResult;
    const output = { ...result.model, path: "out.onnx" };
    const applied = [{ name: "fuse-pad", applied: 1 }] as unknown as RunResult["passes"];
    expect(commandOf({ ...result, output, passes: applied }, null)).toBe("infer-opt bench models/net.onnx out.onnx");
    // Of free sizes, made-up inputs may have some that the model does not take.
    const given = "infer-opt fuse a -o b --calibration c.npz --shape 'x=1,3' --skip fuse-relu";
    expect(commandOf({ ...result, output, passes: applied }, given)).toBe(
      "infer-opt bench models/net.onnx out.onnx --eval c.npz --shape x=1,3",
    );
    expect(commandOf({ ...result, output, passes: [] }, null)).toBeNull();
    const precision = { target: "bf16", float: [], notes: [] } as const;
    expect(commandOf({ ...result, output, precision, difference: [] }, null)).toBeNull();
    expect(
      commandOf({ ...result, output, precision: { ...precision, target: "f16" }, difference: [] }, null),
    ).toContain("bench");
    expect(commandOf({ ...result, output: result.model, passes: applied }, null)).toBeNull();
  });
});
