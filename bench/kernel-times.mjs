// Holds the table that quantize places static integers by against times of kernels: how far it is off on this processor.
//
//   python bench/kernel_times.py --out times.json
//   node bench/kernel-times.mjs times.json [vnni|avx2]
//
// Only ratios count: absolute times are brought to one mean first.
import { readFileSync } from "node:fs";
import { parseModel } from "../dist/ir/index.js";
import { avx2Rates, vnniRates } from "../dist/target/kernel-rates.js";
import { kernelTimesBy } from "../dist/target/kernel-times.js";

const [path, name = "vnni"] = process.argv.slice(2);
const tables = { vnni: vnniRates, avx2: avx2Rates };
if (!path || !tables[name]) {
  console.error("usage: node bench/kernel-times.mjs TIMES.json [vnni|avx2]");
  process.exit(2);
}
const table = kernelTimesBy(tables[name]);
/** Each kernel ran in a model of its own, whose weights stay near. */
const weights = 1e4;

function nodeOf({ kind, rows, depth, columns, channels, kernel, stride, groups }) {
  const text =
    kind === "product"
      ? `(x: f32[${rows},${depth}]) -> (y) { y = MatMul(x, $w: f32[${depth},${columns}]) }`
      : `(x: f32[1,${depth},H,W]) -> (y) { y = Conv<group=${groups}, strides=[${stride},${stride}]>(x, $w: f32[${channels},${depth / groups},${kernel},${kernel}]) }`;
  return [...parseModel(text).graph.nodes()][0];
}

const rows = JSON.parse(readFileSync(path, "utf8")).map((row) => {
  const isProduct = row.kind === "product";
  const read = isProduct ? row.rows * row.depth : row.depth * row.size ** 2;
  const made = isProduct ? row.rows * row.columns : row.channels * row.written ** 2;
  const { floatMs, integerMs } = table.node(nodeOf(row), { read, made, weights });
  return { kind: row.kind, float: (floatMs * 1e3) / row.floatUs, integer: (integerMs * 1e3) / row.integerUs };
});

const quantile = (values, share) => values.slice().sort((a, b) => a - b)[Math.round(share * (values.length - 1))];
const scale =
  1 /
  quantile(
    rows.flatMap(({ float, integer }) => [float, integer]),
    0.5,
  );
const shown = (values) => [0.1, 0.25, 0.5, 0.75, 0.9].map((share) => quantile(values, share).toFixed(2)).join(" ");
console.log(`${rows.length} shapes by the table of ${name}; said / measured, quantiles 10 25 50 75 90 %`);
console.log(`all times of the table are taken ${scale.toFixed(2)} times`);
for (const kind of new Set(rows.map(({ kind }) => kind))) {
  const own = rows.filter((row) => row.kind === kind);
  const of = (value) => shown(own.map(value));
  console.log(
    `${kind.padEnd(10)} ${String(own.length).padStart(4)}  float ${of((row) => scale * row.float)}  integers ${of((row) => scale * row.integer)}  ` +
      `float / integers ${of(({ float, integer }) => float / integer)}`,
  );
}
