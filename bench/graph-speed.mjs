// How long the graph work takes: reading, types, the passes of `fuse`, and writing, in this process.
//
//   node bench/graph-speed.mjs [MODEL.onnx...] [--nodes N] [--runs R]
//
// Without a model it is a transformer of small weights, exported with everything spelled out, of about N nodes (1,000).
// "types" is the runtime's answer about every value, the rest is JavaScript. The first run meets code that has never run,
// the others (R, 40 by default) what the engine has made of it. What the passes do is the same each time.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { loadModel, parseModel, recipes, saveModel } from "../dist/index.js";
import { describer, evaluator } from "../dist/pipeline/model-runs.js";
import { annotateTypes, runPasses } from "../dist/rewrite/index.js";
import { inProcess, session } from "./in-process.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { nodes: { type: "string", default: "1000" }, runs: { type: "string", default: "41" } },
});

/** Feed-forward block: LayerNormalization and Gelu as exporters before opset 17 wrote them, and a sum around both. */
const block = (i, x) => `
  m${i} = ReduceMean<axes=[-1], keepdims=1>(${x})
  d${i} = Sub(${x}, m${i})
  q${i} = Pow(d${i}, $two${i}: f32[] = {2.0})
  v${i} = ReduceMean<axes=[-1], keepdims=1>(q${i})
  e${i} = Add(v${i}, $epsilon${i}: f32[] = {0.00001})
  s${i} = Sqrt(e${i})
  n${i} = Div(d${i}, s${i})
  g${i} = Mul(n${i}, $gain${i}: f32[16])
  h${i} = Add(g${i}, $shift${i}: f32[16])
  a${i} = MatMul(h${i}, $in${i}: f32[16,32])
  b${i} = Add(a${i}, $inner${i}: f32[32])
  r${i} = Div(b${i}, $root${i}: f32[] = {1.4142135})
  f${i} = Erf(r${i})
  o${i} = Add(f${i}, $one${i}: f32[] = {1.0})
  p${i} = Mul(b${i}, o${i})
  u${i} = Mul(p${i}, $half${i}: f32[] = {0.5})
  w${i} = MatMul(u${i}, $out${i}: f32[32,16])
  z${i} = Add(w${i}, $outer${i}: f32[16])
  y${i} = Identity(z${i})
  x${i} = Add(y${i}, ${x})`;
const NODES_PER_BLOCK = 20;

function transformer(nodes) {
  const count = Math.max(1, Math.round(nodes / NODES_PER_BLOCK));
  const blocks = Array.from({ length: count }, (_, i) => block(i, i === 0 ? "x" : `x${i - 1}`));
  return parseModel(`(x: f32[B,T,16]) -> (y) {${blocks.join("")}\n  y = Relu(x${count - 1})\n}`);
}

const folder = mkdtempSync(join(tmpdir(), "graph-speed-"));
await inProcess("graph-speed", async (context) => {
  const made = join(folder, "transformer.onnx");
  if (positionals.length === 0) saveModel(transformer(Number(values.nodes)), made).commit();
  for (const path of positionals.length === 0 ? [made] : positionals) {
    const runs = [];
    for (let run = 0; run < Number(values.runs); run++) runs.push(await once(path, context));
    const [first, ...rest] = runs;
    const { before, after } = first;
    console.log(`${path === made ? "made-up transformer" : path}: ${before} nodes, ${after} afterwards`);
    for (const part of ["read", "types", "passes", "write"]) {
      const sorted = rest.map((times) => times[part]).sort((a, b) => a - b);
      const [least, median] = [sorted[0], sorted[sorted.length >> 1]];
      const warm = least === undefined ? "" : `, then median ${median.toFixed(1)}, least ${least.toFixed(1)} ms`;
      console.log(`  ${part.padEnd(7)} first ${first[part].toFixed(1)} ms${warm}`);
    }
  }
}).finally(() => rmSync(folder, { recursive: true, force: true }));

async function once(path, context) {
  const config = { ...session, allowFallback: false, seed: 0, shapes: new Map(), batch: 1, benchMs: 0 };
  const describe = describer(config, context);
  const timed = async (work) => {
    const start = performance.now();
    const result = await work();
    return [performance.now() - start, result];
  };
  const [read, model] = await timed(() => loadModel(path));
  const before = model.graph.nodeCount;
  const [types] = await timed(() => annotateTypes(model, describe));
  const [passes] = await timed(() => runPasses(model, recipes.fuse, { evaluate: evaluator(config, context) }));
  const out = join(folder, "out.onnx");
  const [write] = await timed(() => saveModel(model, out).commit());
  return { read, types, passes, write, before, after: model.graph.nodeCount };
}
