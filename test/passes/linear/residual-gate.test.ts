import { fuseResidualGate } from "../../../src/passes/linear/residual-gate.js";
import { testRewrite } from "../../support/test-rewrite.js";

const graph = (lines: string, inputs = "x: f32[N,4,H,W], g: f32[N,4,1,1]", outputs = "y"): string =>
  `(${inputs}) -> (${outputs}) {\n${lines}\n}`;

testRewrite(fuseResidualGate, {
  rewrites: {
    "a gate of channels": graph("m = Mul(x, g) y = Add(x, m)"),
    "in the other orders": graph("m = Mul(g, x) y = Add(m, x)"),
    "a gate of fewer axes": graph("m = Mul(x, g) y = Add(x, m)", "x: f32[2,3,4], g: f32[4]"),
    "a gate of places": graph("m = Mul(x, g) y = Add(x, m)", "x: f32[2,3,4], g: f32[2,1,4]"),
  },
  leaves: {
    "a gate of every element": [graph("m = Mul(x, g) y = Add(x, m)", "x: f32[2,3], g: f32[2,3]"), null],
    "one number each": [graph("m = Mul(x, g) y = Add(x, m)", "x: f32[1,1], g: f32[1,1]"), null],
    "a gate that makes the tensor larger": [graph("m = Mul(x, g) y = Add(x, m)", "x: f32[2,1], g: f32[2,3]"), null],
    "something else that is added": [graph("m = Mul(x, g) y = Add(z, m)", "x: f32[2,3], g: f32[1], z: f32[2,3]"), null],
    "a product that somebody else reads": [graph("m = Mul(x, g) y = Add(x, m)", undefined, "y, m"), null],
    "a constant": [graph("m = Mul(x, $g: f32[4,1,1]) y = Add(x, m)", "x: f32[N,4,H,W]"), null],
    "a gate of unknown shape": [graph("m = Mul(x, g) y = Add(x, m)", "x: f32[2,3], g: f32"), null],
    doubles: [graph("m = Mul(x, g) y = Add(x, m)", "x: f64[2,3], g: f64[1]"), null],
  },
});
