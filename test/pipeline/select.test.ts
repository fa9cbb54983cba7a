import { describe, expect, it } from "vitest";
import { type Model, parseModel } from "../../src/ir/index.js";
import { globMatcher, leftOut, selectNodes } from "../../src/pipeline/select.js";
import { faultOf } from "../support/dataset.js";

/** A stem, two branches that meet again, and a head; nodes are named after what they make. */
function model(): Model {
  const parsed = parseModel(`(x: f32[1,8]) -> (y) {
    stem = Relu(x)
    left = MatMul(stem, $w1: f32[8,8])
    left_out = Sigmoid(left)
    right = MatMul(stem, $w2: f32[8,8])
    side = Tanh(right)
    sum = Add(left_out, right)
    y = com.microsoft::Gelu(sum)
  }`);
  for (const node of parsed.graph.nodes()) node.name = `/net/${node.output.label}`;
  return parsed;
}

const selected = (selector: string, of = model()): string[] =>
  [...selectNodes(of, selector, "--exclude")].map((name) => name.replace("/net/", ""));

describe("selectNodes", () => {
  it("finds a node by its name", () => expect(selected("/net/left")).toEqual(["left"]));
  it("finds nodes by a glob that crosses slashes", () => expect(selected("*/left*")).toEqual(["left", "left_out"]));
  it("finds nodes by operator", () => expect(selected("op:MatMul")).toEqual(["left", "right"]));
  it("finds operators with their domain and without", () => {
    expect(selected("op:com.microsoft::Gelu")).toEqual(["y"]);
    expect(selected("op:Gelu")).toEqual(["y"]);
  });

  it("takes a name with a star for itself first", () => {
    const odd = model();
    odd.graph.firstNode!.name = "/net/l*";
    expect(selected("/net/l*", odd)).toEqual(["l*"]);
  });

  it("finds a fused node by what it was made of", () => {
    const fused = model();
    fused.graph.lastNode!.provenance = ["/net/erf", "/net/mul"];
    expect(selected("/net/erf", fused)).toEqual(["y"]);
    expect(selected("*/mul", fused)).toEqual(["y"]);
  });

  it("finds nodes without a name by the name that reports give them", () => {
    const unnamed = model();
    unnamed.graph.firstNode!.name = "";
    expect(selected("Relu:stem", unnamed)).toEqual(["Relu:stem"]);
  });

  it("finds nodes in bodies", () => {
    const outer = parseModel(`(c: bool, x: f32[2]) -> (y) {
      y = If<else_branch=() -> (n) { n = Neg(x) }, then_branch=() -> (r) { r = Relu(x) }>(c)
    }`);
    expect(selected("op:Neg", outer)).toEqual(["Neg:n"]);
  });
});

describe("a region", () => {
  it("holds the nodes on any path, both ends included", () => {
    expect(selected("from:/net/stem..to:/net/sum")).toEqual(["stem", "left", "left_out", "right", "sum"]);
  });

  it("begins and ends at values too", () => expect(selected("from:left..to:y")).toEqual(["left_out", "sum", "y"]));

  it("leads through bodies that read values from outside", () => {
    const outer = parseModel(`(c: bool, x: f32[2]) -> (y) {
      a = Relu(x)
      b = If<else_branch=() -> (n) { n = Neg(a) }, then_branch=() -> (r) { r = Relu(x) }>(c)
      y = Tanh(b)
    }`);
    expect(selected("from:a..to:y", outer)).toEqual(["If:b", "Neg:n", "Tanh:y"]);
  });

  it("leads into a Loop by its owner's inputs", () => {
    const loop = parseModel(`(n: i64, k: bool, x: f32[2]) -> (y) {
      a = Relu(x)
      y = Loop<body=(i: i64, k_in: bool, carried: f32[2]) -> (k_out, next) {
        k_out = Identity(k_in)
        next = Neg(carried)
      }>(n, k, a)
    }`);
    expect(selected("from:Relu:a..to:Neg:next", loop)).toContain("Neg:next");
  });

  it("that leads nowhere says so", async () => {
    const fault = await faultOf(() => selected("from:/net/side..to:/net/sum"));
    expect(fault).toMatchObject({ code: "SELECTOR_EMPTY", kind: "input" });
    expect(fault.message).toContain("no path leads from /net/side to /net/sum");
  });

  it("names the end that is not there", async () => {
    const fault = await faultOf(() => selected("from:/net/stem..to:/net/summ"));
    expect(fault.message).toContain('there is no node or value "/net/summ"');
    expect(fault.hint).toContain("/net/sum");
  });
});

describe("a selector that matches nothing", () => {
  it("names the nearest nodes", async () => {
    const fault = await faultOf(() => selected("/net/lefd"));
    expect(fault).toMatchObject({ code: "SELECTOR_EMPTY", kind: "input" });
    expect(fault.message).toBe('--exclude "/net/lefd" matches no node');
    expect(fault.hint).toMatch(/^The nearest names are \/net\/left, /);
  });

  it("names the nearest operators", async () => {
    expect((await faultOf(() => selected("op:MatMull"))).hint).toContain("op:MatMul");
  });
});

describe("leftOut", () => {
  it("is what was excluded, with the selector that did it", () => {
    expect([...leftOut(model(), { include: [], exclude: ["op:Tanh"] })]).toEqual([
      ["/net/side", "left out with --exclude op:Tanh"],
    ]);
  });

  it("is what was not included when something was", () => {
    const names = [...leftOut(model(), { include: ["op:MatMul"], exclude: ["/net/left"] }).keys()];
    expect(names).not.toContain("/net/right");
    expect(names).toContain("/net/left");
    expect(names).toContain("/net/stem");
  });

  it("is nothing when nothing was said", () => expect(leftOut(model(), { include: [], exclude: [] }).size).toBe(0));
});

describe("globMatcher", () => {
  it.each([
    ["a?c", "abc", true],
    ["a?c", "ac", false],
    ["a.c", "abc", false],
    ["a[0]*", "a[0]/b", true],
    ["*", "", true],
  ])("%s on %s: %s", (glob, name, expected) => expect(globMatcher(glob)(name)).toBe(expected));
});
