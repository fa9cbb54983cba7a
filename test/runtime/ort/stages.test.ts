import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { faultOf } from "../../support/dataset.js";
import { jsonl, scaling, session, startRuntime, temporaryFolder, writeFile } from "./workbench.js";

const steps = (source: string): string => writeFile("steps.mjs", source);
const open = (source: string, timeoutMs = 20_000) =>
  startRuntime().stages({
    model: scaling(2),
    pipeline: steps(source),
    data: { path: jsonl({ x: [[1, 2]] }, { x: [[3, 4]] }) },
    session: { ...session, timeoutMs },
  });

const whole = `
  export const requests = ["1,2", "3,4", "5,6"];
  export const receive = (text) => text.split(",");
  export async function validate(parts, { inputs, outputs }) {
    if (inputs[0].name !== "x" || inputs[0].type !== "float32" || inputs[0].dims.join() !== "1,2") throw new Error("inputs");
    if (outputs[0].name !== "y") throw new Error("outputs");
  }
  export function preprocess(parts, { state }) {
    state.sum = Number(parts[0]) + Number(parts[1]);
    return { x: { dims: [1, 2], data: Float32Array.from(parts, Number) } };
  }
  export function postprocess({ y }, { state, request }) {
    if (y.type !== "float32" || y.dims.join() !== "1,2") throw new Error("y");
    const doubled = y.data[0] + y.data[1];
    if (doubled !== 2 * state.sum || !request.startsWith(String(y.data[0] / 2))) throw new Error("not this request's");
    return doubled;
  }
  export const serialise = (answer) => JSON.stringify(answer);`;

describe("stages around a model", () => {
  it("are timed in the order of a request, one after the other", async () => {
    const timer = await open(whole);
    expect(timer).toMatchObject({
      before: ["receipt", "validation", "preprocessing"],
      after: ["postprocessing", "serialisation"],
      ...{ requests: 3, hasRequests: true },
    });
    const { stagesMs, requestMs, wallMs, impossible } = await timer.measure(7, "serial");
    expect([stagesMs.length, requestMs.length, impossible]).toEqual([7, 7, null]);
    for (const [i, ms] of requestMs.entries()) {
      const sum = stagesMs.reduce((total, stage) => total + stage[i]!, 0);
      expect(sum).toBeCloseTo(ms, 6);
    }
    expect(wallMs).toBeGreaterThanOrEqual(requestMs.reduce((sum, ms) => sum + ms, 0));
    expect(await timer.peakRssBytes()).toBeGreaterThan(2 ** 20);
  });

  it("work ahead in a thread, and each request meets its own state", async () => {
    const timer = await open(whole);
    for (let i = 0; i < 3; i++) {
      const { requestMs, wallMs, impossible } = await timer.measure(8, "overlapped");
      expect([requestMs.length, impossible]).toEqual([8, null]);
      expect(wallMs).toBeGreaterThan(0);
      expect(Math.min(...requestMs)).toBeGreaterThan(0);
    }
  });

  it("leave the model alone with the tensors that they made", async () => {
    const { requestMs, stagesMs } = await (await open(whole)).measure(4, "alone");
    expect(stagesMs).toEqual([requestMs]);
    expect(requestMs.length).toBe(4);
  });

  it("take samples of the data where the module has no requests", async () => {
    const timer = await open(
      'export function preprocess(sample) { if (sample.x.data.length !== 2) throw new Error("x"); return sample; }',
    );
    expect(timer).toMatchObject({ requests: 2, hasRequests: false });
    expect((await timer.measure(3, "overlapped")).impossible).toBeNull();
  });

  it("may stand behind the model only: then nothing can be overlapped", async () => {
    const timer = await open("export const postprocess = ({ y }) => y.data[0];");
    expect((await timer.measure(3, "overlapped")).impossible).toContain("no stage stands before the model");
  });

  it("say why they cannot work ahead, and are timed all the same", async () => {
    const timer = await open("export function preprocess(sample, { state }) { state.log = () => 1; return sample; }");
    expect((await timer.measure(3, "overlapped")).impossible).toContain("cannot cross to another thread");
    expect((await timer.measure(3, "serial")).requestMs.length).toBe(3);
    const threadless = await open(
      'import { isMainThread } from "node:worker_threads"; if (!isMainThread) throw new Error("not here"); export const preprocess = (x) => x;',
    );
    expect((await threadless.measure(3, "overlapped")).impossible).toContain("not here");
  });
});

describe("stages at fault", () => {
  it.each([
    ["export function preprocess() {\n throw new Error('no luck');\n}", "PIPELINE_STAGE_FAILED", "(line 2): no luck"],
    ["export const preprocess = async () => { throw 3; };", "PIPELINE_STAGE_FAILED", "stage preprocess"],
    ["export const postprocess = () => { throw new Error('after'); };", "PIPELINE_STAGE_FAILED", "stage postprocess"],
    ["export const preprocess = () => ({ x: { dims: [2], data: new Float32Array(2) } });", "PIPELINE_TENSORS", "[2]"],
    ["export const preprocess = () => ({ x: { dims: [1, 2], data: [1, 2] } });", "PIPELINE_TENSORS", "Array"],
    ["export const preprocess = ;", "PIPELINE_FAILED", "(line 1)"],
    ["export const name = 1;", "PIPELINE_EXPORTS", "exports name"],
    ["export const preprocess = () => process.exit(5);", "PIPELINE_ENDED", "exit code 5"],
    ["export const requests = []; export const preprocess = (x) => x;", "PIPELINE_REQUESTS", "empty"],
  ])("are told before anything is timed: %s", async (source, code, message) => {
    const fault = await faultOf(() => open(source));
    expect(fault).toMatchObject({ code, kind: "input" });
    expect(fault.message).toContain(message);
    expect(fault.message).toContain("steps.mjs");
    expect(fault.hint).toBeTruthy();
  });

  it("are told where one ends the thread that it works ahead in", async () => {
    const timer = await open(
      'import { isMainThread } from "node:worker_threads"; export const preprocess = (x) => (isMainThread ? x : process.exit(7));',
    );
    const fault = await faultOf(() => timer.measure(3, "overlapped"));
    expect(fault).toMatchObject({
      code: "PIPELINE_ENDED",
      kind: "input",
      message: expect.stringContaining("exit code 7"),
    });
  });

  it.each([
    ["in a loop", "export const preprocess = () => { for (;;); };", "stage preprocess"],
    ["on a promise", "export const postprocess = () => new Promise(() => {});", "stage postprocess"],
    ["when loaded", "await new Promise(() => {});\nexport const preprocess = (x) => x;", "loading"],
    [
      "over its requests",
      "export const requests = () => new Promise(() => {}); export const preprocess = (x) => x;",
      "requests of",
    ],
  ])("that hang %s are told by name", async (_, source, what) => {
    const fault = await faultOf(() => open(source, 3000));
    expect(fault).toMatchObject({ code: "PIPELINE_HANGS", kind: "input" });
    expect(fault.message).toContain(what);
    expect(fault.message).toContain("steps.mjs");
  });

  it("fail later too: on a request that went well before", async () => {
    const timer = await open(
      "let n = 0; export const requests = [1]; export const preprocess = () => { if (n++ > 4) throw new Error('worn out'); return { x: { dims: [1, 2], data: new Float32Array(2) } }; };",
    );
    expect(await faultOf(() => timer.measure(20, "serial"))).toMatchObject({ code: "PIPELINE_STAGE_FAILED" });
  });

  it("leave no process behind", async () => {
    const runtime = startRuntime();
    const spec = {
      model: scaling(1),
      pipeline: join(temporaryFolder(), "no.mjs"),
      data: { path: jsonl({ x: [[1, 2]] }) },
      session,
    };
    await expect(runtime.stages(spec)).rejects.toMatchObject({ code: "PIPELINE_MISSING" });
    expect(runtime.pids()).toEqual([]);
  });
});
