/**
 * Attention as ONNX has it since opset 23, without cache, causality and soft cap:
 *
 *   P = softmax(s Q K' + mask)      Y = P V
 *   dV = P' dY     dS = P (dP - sum(dP P)),  dP = dY V'     dQ = s dS K     dK = s dS' Q
 */
import type { Value } from "../../../ir/index.js";
import { dimsOf, type Formula, NoGradient } from "../formula.js";
import type { GradientRule, Site } from "../gradient-rule.js";

const attention: GradientRule = (site) => {
  const { f, node } = site;
  if (node.inputs.slice(4).some((value) => value !== null)) throw new NoGradient("it has a cache");
  if (node.int("is_causal", 0) !== 0) throw new NoGradient("it is causal");
  if (node.float("softcap", 0) !== 0) throw new NoGradient("it has a soft cap");
  if (site.wanted.has(3)) throw new NoGradient("its mask would be learned");
  if (node.inputs[3]?.dtype === "bool") throw new NoGradient("its mask is not added");
  const heads = [site.dims(0).length === 3 ? node.int("q_num_heads", 0) : site.dims(0)[1]!];
  heads.push(site.dims(1).length === 3 ? node.int("kv_num_heads", 0) : site.dims(1)[1]!);
  if (!heads[0] || heads[0] !== heads[1]) throw new NoGradient("several heads share one key");
  const count = heads[0];
  const [q, k, v] = [0, 1, 2].map((i) => apart(f, site.input(i), site.dims(i), count)) as [Value, Value, Value];
  const dy = apart(f, site.dy, dimsOf(site.y), count);
  const size = headSize(site, count);
  const scale = node.float("scale", null) ?? 1 / Math.sqrt(size);
  const turned = (value: Value): Value => f.transpose(value, [0, 1, 3, 2]);
  const product = (a: Value, b: Value): Value => f.op("MatMul", [a, b]);
  const scores = f.times(product(q, turned(k)), scale);
  const mask = site.optional(3);
  const p = f.op("Softmax", [mask ? f.add(scores, mask) : scores], { axis: { type: "int", value: -1n } });
  const dp = product(dy, turned(v));
  const ds = f.times(f.mul(p, f.sub(dp, f.sum(f.mul(dp, p), [3]))), scale);
  return [
    site.ifWanted(0, () => together(f, product(ds, k), site.dims(0))),
    site.ifWanted(1, () => together(f, product(turned(ds), q), site.dims(1))),
    site.ifWanted(2, () => together(f, product(turned(p), dy), site.dims(2))),
    null,
  ];
};

const headSize = (site: Site, heads: number): number => {
  const dims = site.dims(0);
  return dims.length === 3 ? dims[2]! / heads : dims[3]!;
};

/** [batch, steps, heads * size] to [batch, heads, steps, size]; as it is where the heads are apart. */
function apart(f: Formula, value: Value, dims: readonly number[], heads: number): Value {
  if (dims.length === 4) return value;
  const [batch, steps, width] = dims as [number, number, number];
  return f.transpose(f.reshape(value, [batch, steps, heads, width / heads]), [0, 2, 1, 3]);
}

function together(f: Formula, value: Value, dims: readonly number[]): Value {
  return dims.length === 4 ? value : f.reshape(f.transpose(value, [0, 2, 1, 3]), dims);
}

export const attentions: Readonly<Record<string, GradientRule>> = { Attention: attention };
