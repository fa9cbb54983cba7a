/**
 * The test of a pass in two lists: what it rewrites and what it leaves. Each case is
 * a graph in text. Every case that is rewritten is also checked, run before and after
 * at two sizes, printed and read back, tried a second time, and where a pass sees to the
 * whole graph, tried with every change forbidden.
 */
import { expect, describe as group, it } from "vitest";
import type { Numerics } from "../../src/base/numerics.js";
import { check, type Model, nodesWithin, parseModel, printGraph, type Tensor } from "../../src/ir/index.js";
import { type AnyPass, annotateTypes, type PassReport, runPasses } from "../../src/rewrite/index.js";
import { requireTarget } from "../../src/target/find-target.js";
import { describeModel, evaluate } from "./ask-runtime.js";
import { runModel, seededFeeds } from "./run-model.js";

interface CaseOptions {
  readonly opset?: number;
  /** Where the result is to run. */
  readonly target?: string;
}

export interface RewriteCases {
  /** Completes "it rewrites ...". */
  readonly rewrites: Readonly<Record<string, string | readonly [text: string, options: CaseOptions]>>;
  /** Completes "it leaves ...": the graph and the reason, null when the pass says nothing. */
  readonly leaves: Readonly<Record<string, readonly [text: string, reason: string | null, options?: CaseOptions]>>;
}

/** Sizes given to symbolic dimensions. */
const SIZES = [2, 3];

export function testRewrite(pass: AnyPass, { rewrites, leaves }: RewriteCases): void {
  group(pass.name, () => {
    for (const [name, given] of Object.entries(rewrites)) {
      const [text, options] = typeof given === "string" ? [given, {}] : given;
      it(`rewrites ${name}`, () => expectRewritten(pass, text, options));
    }
    for (const [name, [text, reason, options]] of Object.entries(leaves)) {
      it(`leaves ${name}`, () => expectLeft(pass, text, reason, options));
    }
  });
}

async function parsed(text: string, options: CaseOptions = {}): Promise<Model> {
  const model = parseModel(text, options);
  check(model.graph);
  await annotateTypes(model, describeModel);
  return model;
}

async function apply(pass: AnyPass, model: Model, { target }: CaseOptions = {}): Promise<PassReport> {
  const place = target === undefined ? {} : { target: requireTarget(target) };
  return (await runPasses(model, [pass], { evaluate, check: true, annotate, ...place }))[0]!;
}

const annotate = (model: Model): Promise<unknown> => annotateTypes(model, describeModel, { isRepeated: true });

async function expectRewritten(pass: AnyPass, text: string, options: CaseOptions): Promise<void> {
  const original = parseModel(text, options);
  const model = await parsed(text, options);
  const ports = portsOf(model);
  expect((await apply(pass, model, options)).applied).toBeGreaterThan(0);
  expect(portsOf(model)).toEqual(ports);

  const printed = printGraph(model.graph, { valuesUpTo: Number.POSITIVE_INFINITY });
  const again = parseModel(printed, options);
  expect(printGraph(again.graph, { valuesUpTo: Number.POSITIVE_INFINITY })).toBe(printed);
  expect(printGraph(model.graph)).toMatchSnapshot();

  for (const size of SIZES) {
    const feeds = seededFeeds(original, size);
    expectSame(await runModel(original, feeds), await runModel(model, feeds), pass.numerics);
  }
  await annotateTypes(model, describeModel);
  expect((await apply(pass, model, options)).applied).toBe(0);
  if (pass.kind === "graph") await expectObedient(pass, await parsed(text, options));
}

/** What the caller forbids is not done anywhere in the graph. */
async function expectObedient(pass: AnyPass, model: Model): Promise<void> {
  const nodes = [...nodesWithin(model.graph)];
  const before = nodes.map(({ displayName, inputs }) => [displayName, ...inputs]);
  await runPasses(model, [pass], { evaluate, check: true, isBarred: () => true });
  expect([...nodesWithin(model.graph)]).toEqual(nodes);
  expect(nodes.map(({ displayName, inputs }) => [displayName, ...inputs])).toEqual(before);
}

async function expectLeft(
  pass: AnyPass,
  text: string,
  reason: string | null,
  options: CaseOptions = {},
): Promise<void> {
  const model = await parsed(text, options);
  const before = printGraph(model.graph);
  const report = await apply(pass, model, options);
  expect(report.applied).toBe(0);
  expect(report.skipped.map((skipped) => skipped.reason)).toEqual(reason === null ? [] : [reason]);
  expect(printGraph(model.graph)).toBe(before);
}

const portsOf = ({ graph }: Model): unknown => ({
  inputs: graph.inputs.map(({ label, type }) => ({ label, type })),
  outputs: graph.outputs.map(({ name }) => name),
});

/** Largest difference over largest magnitude that each word allows. */
const tolerance: Record<Numerics, number> = { exact: 0, rounding: 2e-6, lossy: Number.POSITIVE_INFINITY };

export function expectSame(
  before: Readonly<Record<string, Tensor>>,
  after: Readonly<Record<string, Tensor>>,
  numerics: Numerics,
): void {
  expect(Object.keys(after)).toEqual(Object.keys(before));
  for (const [name, a] of Object.entries(before)) {
    const b = after[name]!;
    expect([b.dtype, b.dims]).toEqual([a.dtype, a.dims]);
    const floats = a.toF32();
    if (numerics === "exact" || !floats) {
      expect(Buffer.from(b.bytes()).equals(Buffer.from(a.bytes())), `${name} keeps its bits`).toBe(true);
      continue;
    }
    const others = b.toF32()!;
    const magnitude = floats.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const difference = floats.reduce((most, value, i) => Math.max(most, Math.abs(value - others[i]!)), 0);
    // A float16 has 11 bits: its rounding is 2^13 times coarser.
    const scale = a.dtype === "f16" ? 8192 : 1;
    expect(Number.isFinite(magnitude), `${name} is finite`).toBe(true);
    expect(difference).toBeLessThanOrEqual(tolerance[numerics] * scale * magnitude);
  }
}
