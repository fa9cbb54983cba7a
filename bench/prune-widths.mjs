/**
 * What narrower layers take: the time of small nets by the number of their channels, against the widest. From it come the
 * steps in which channels are removed (src/target/channel-block.ts).
 *
 *   node bench/prune-widths.mjs [--reps 40] [--json]
 *
 * One thread, ONNX Runtime with all of its optimizations; widths take turns, and the least of each counts.
 */

import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import * as ort from "onnxruntime-node";
import { parseModel, saveModel } from "../dist/ir/index.js";

const { values: options } = parseArgs({
  options: { reps: { type: "string", default: "40" }, json: { type: "boolean", default: false } },
});
const reps = Number(options.reps);

/** Nets around one hidden width c, by name; x is what they read. */
const nets = {
  "3x3 Conv, hidden channels": {
    widths: [
      128, 127, 126, 124, 120, 116, 112, 108, 104, 100, 96, 88, 80, 72, 64, 56, 48, 40, 36, 34, 32, 28, 24, 20, 16, 12,
      8, 4,
    ],
    text: (c) => `(x: f32[1,64,28,28]) -> (y) {
      a = Conv<kernel_shape=[3,3], pads=[1,1,1,1]>(x, $w: f32[${c},64,3,3], $b: f32[${c}])
      r = Relu(a)
      y = Conv<kernel_shape=[3,3], pads=[1,1,1,1]>(r, $v: f32[64,${c},3,3], $k: f32[64])
    }`,
  },
  "expand, depthwise 3x3, project": {
    widths: [
      256, 254, 252, 250, 248, 244, 240, 232, 224, 208, 192, 176, 160, 144, 143, 142, 140, 136, 128, 120, 112, 104, 96,
      80, 72, 68, 66, 64, 60, 56, 48, 40, 32, 24, 20, 16, 12, 8, 4,
    ],
    text: (c) => `(x: f32[1,48,28,28]) -> (y) {
      a = Conv<kernel_shape=[1,1]>(x, $w: f32[${c},48,1,1], $b: f32[${c}])
      r = Relu(a)
      d = Conv<kernel_shape=[3,3], pads=[1,1,1,1], group=${c}>(r, $u: f32[${c},1,3,3], $q: f32[${c}])
      s = Relu(d)
      y = Conv<kernel_shape=[1,1]>(s, $v: f32[48,${c},1,1], $k: f32[48])
    }`,
  },
  "1x1 Conv, channels of both sides": {
    widths: [
      192, 190, 188, 184, 180, 176, 168, 160, 144, 128, 120, 112, 96, 80, 72, 68, 66, 64, 48, 40, 32, 24, 20, 18, 16,
      12, 8, 4,
    ],
    text: (c) => `(x: f32[1,16,28,28]) -> (y) {
      i = Conv<kernel_shape=[1,1]>(x, $w: f32[${c},16,1,1], $b: f32[${c}])
      a = Relu(i)
      m = Conv<kernel_shape=[1,1]>(a, $u: f32[${c},${c},1,1], $q: f32[${c}])
      r = Relu(m)
      y = Conv<kernel_shape=[1,1]>(r, $v: f32[16,${c},1,1], $k: f32[16])
    }`,
  },
  "MatMul, hidden units": {
    widths: [
      1536, 1532, 1528, 1520, 1504, 1472, 1408, 1280, 1152, 1100, 1024, 896, 768, 760, 752, 700, 640, 512, 384, 256,
      128,
    ],
    text: (c) => `(x: f32[1,32,384]) -> (y) {
      a = MatMul(x, $w: f32[384,${c}])
      s = Add(a, $b: f32[${c}])
      r = Relu(s)
      y = MatMul(r, $v: f32[${c},384])
    }`,
  },
};

async function timesOf({ widths, text }) {
  const sessions = [];
  for (const width of widths) {
    const model = parseModel(text(width));
    const path = join(tmpdir(), `prune-widths-${process.pid}.onnx`);
    saveModel(model, path).commit();
    const session = await ort.InferenceSession.create(path, {
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      graphOptimizationLevel: "all",
      logSeverityLevel: 3,
    });
    rmSync(path);
    const dims = model.graph.inputs[0].shape;
    const count = dims.reduce((a, b) => a * b, 1);
    const x = new ort.Tensor(
      "float32",
      Float32Array.from({ length: count }, (_, i) => Math.sin(i)),
      dims,
    );
    sessions.push({ width, session, feeds: { x }, best: Number.POSITIVE_INFINITY });
  }
  for (let rep = 0; rep < reps; rep++) {
    for (const each of sessions) {
      const start = process.hrtime.bigint();
      await each.session.run(each.feeds);
      each.best = Math.min(each.best, Number(process.hrtime.bigint() - start) / 1e6);
    }
  }
  for (const { session } of sessions) await session.release();
  return sessions.map(({ width, best }) => ({ width, ms: best }));
}

const results = {};
for (const [name, net] of Object.entries(nets)) {
  const times = await timesOf(net);
  results[name] = times;
  if (options.json) continue;
  console.log(`\n${name}`);
  for (const { width, ms } of times) {
    console.log(`  ${String(width).padStart(5)}  ${ms.toFixed(3)} ms  ${(times[0].ms / ms).toFixed(2)}x`);
  }
}
if (options.json) console.log(JSON.stringify(results, null, 2));
