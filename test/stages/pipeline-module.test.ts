import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadPipelineModule, requestsOf } from "../../src/stages/index.js";
import { faultOf } from "../support/dataset.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const moduleOf = (source: string, name = "p.mjs"): string => join(temporaryFolder({ [name]: source }), name);
const load = (source: string) => loadPipelineModule(moduleOf(source));
const namesOf = (stages: readonly { name: string; called: string }[]) =>
  stages.map(({ name, called }) => [name, called]);

describe("a pipeline's module", () => {
  it("has its stages in the order of a request, whatever order it exports them in", async () => {
    const { before, after } = await load(
      "export const serialise = (x) => x; export function postprocess() {}; export async function preprocess() {}; export function validate() {}; export function receive() {}",
    );
    expect(namesOf(before)).toEqual([
      ["receipt", "receive"],
      ["validation", "validate"],
      ["preprocessing", "preprocess"],
    ]);
    expect(namesOf(after)).toEqual([
      ["postprocessing", "postprocess"],
      ["serialisation", "serialise"],
    ]);
  });

  it("may have one stage only, and the American spelling", async () => {
    const { before, after } = await load("export const serialize = (x) => x;");
    expect(before).toEqual([]);
    expect(namesOf(after)).toEqual([["serialisation", "serialize"]]);
  });

  it("may name its own stages around inference", async () => {
    const { before, after } = await load(
      'function decode() {} export const stages = [decode, { name: "re size", run: decode }, "inference", function rank() {}];',
    );
    expect(namesOf(before).map(([name]) => name)).toEqual(["decode", "re size"]);
    expect(namesOf(after).map(([name]) => name)).toEqual(["rank"]);
  });

  it("may export one object, as CommonJS does", async () => {
    const { before } = await loadPipelineModule(moduleOf("module.exports = { preprocess() {} };", "p.cjs"));
    expect(namesOf(before)).toEqual([["preprocessing", "preprocess"]]);
  });

  it.each([
    ["export const other = 1;", "exports no stage (it exports other)", "preprocess"],
    ["", "exports nothing", "preprocess"],
    [
      "export const postprocess = () => 1, preproces = () => 1;",
      "exports preproces, which is no stage",
      "mean preprocess",
    ],
    ["export const preprocess = 3;", "exports 3 as preprocess", "function"],
    ['export const stages = "inference";', '"inference" as stages', "inference"],
    ["export const stages = [() => 1];", 'without "inference"', '"inference"'],
    ['export const stages = [() => 1, "inference"];', "for stage 1, which has no name", "decode"],
    ['export const stages = ["inference", { name: "a", run: 1 }];', "exports 1 as a", "function"],
    ['const f = () => 1; export const stages = [f, f, "inference"];', 'two stages called "f"', "name of its own"],
    ['export const stages = ["inference", { name: "transfer", run() {} }];', 'two stages called "transfer"', "own"],
    ['export const stages = ["inference", { name: "a,b=1", run() {} }];', 'called "a,b=1"', "--budget"],
    ['export const stages = ["inference"]; export function preprocess() {}', "both stages and preprocess", "Keep one"],
    ["export function serialise() {} export function serialize() {}", "both serialise and serialize", "Keep one"],
  ])("is refused: %s", async (source, message, hint) => {
    const fault = await faultOf(() => load(source));
    expect(fault).toMatchObject({ code: "PIPELINE_EXPORTS", kind: "input" });
    expect(`${fault.message}`).toContain(message === "exports nothing" ? "exports nothing" : message);
    expect(fault.hint).toContain(hint);
  });

  it("tells the line of what fails when it is loaded", async () => {
    const thrown = await faultOf(() => load('\n\nthrow new Error("no weights");'));
    expect(thrown).toMatchObject({ code: "PIPELINE_FAILED", message: expect.stringContaining("(line 3): no weights") });
  });

  it("is missed by its path", async () => {
    expect(await faultOf(() => loadPipelineModule("/no/p.mjs"))).toMatchObject({
      code: "PIPELINE_MISSING",
      message: expect.stringContaining("/no/p.mjs"),
    });
  });
});

describe("requests", () => {
  const requests = async (source: string) => requestsOf(await load(`export const preprocess = (x) => x;${source}`));

  it.each([
    ["export const requests = [1, 2];", [1, 2]],
    ["export const requests = () => new Set([1]);", [1]],
    ["export async function requests() { return [3]; }", [3]],
    ["export async function* requests() { yield 4; yield 5; }", [4, 5]],
    ["", null],
  ])("are a list, or what gives one: %s", async (source, wanted) => expect(await requests(source)).toEqual(wanted));

  it("are the first 64 of many", async () => {
    expect(await requests("export function* requests() { for (let i = 0; ; i++) yield i; }")).toHaveLength(64);
  });

  it.each([
    ["export const requests = 3;", "gives 3, which is no list"],
    ['export const requests = "abc";', 'gives "abc", which is no list'],
    ["export const requests = new Uint8Array(4);", "which is no list"],
    ["export const requests = [];", "gives an empty list"],
    ['export const requests = () => { throw new Error("no folder"); };', "failed (line 1): no folder"],
  ])("are refused: %s", async (source, message) => {
    const fault = await faultOf(() => requests(source));
    expect(fault).toMatchObject({ code: "PIPELINE_REQUESTS", kind: "input" });
    expect(fault.message).toContain(message);
  });
});
