import { test } from "vitest";
import { readFileSync } from "node:fs";
import * as ir from "../src/ir/index.js";
import { chainsIn } from "../src/passes/control/recurrent/chain.js";
import { sumOf } from "../src/passes/control/recurrent/gate-sum.js";
import { pickedRowOf } from "../src/passes/control/recurrent/picked-row.js";
import { cellOf, statesBehind } from "../src/passes/control/recurrent/cell.js";
test("x", async () => {
  const model = (await import("../src/ir/serde/from-onnx.js")).loadModel(process.env.F!);
  const g = (model.model ?? model).graph;
  const chains = chainsIn(g);
  console.log(chains.map((c: any) => [c.steps.length, c.cell.op, c.initial.length]));
  for (const n of g.nodes()) if (n.output.label === "/Add_17_output_0") for (const [h, k] of statesBehind(n.output)) console.log(h.input.label, k, cellOf(h, k));
  for (const n of g.nodes()) if (n.is("Squeeze")) { const q = n.inputs[0].producer; console.log(n.output.label, q.op, q.graph === g, n.inputs[1]?.constant?.dims, pickedRowOf(n.output)?.place, q.inputs[1].constant.bigints().join(), q.int("axis",0), q.inputs[0].producer.op, q.inputs[0].shape, q.inputs[0].producer.inputs.map((v: any)=>v.producer?.op + v.constant?.dims)); }
});
