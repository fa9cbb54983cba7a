/**
 * Raises the ai.onnx opset of a model: nodes whose form or meaning changed are changed,
 * version by version, in the main graph and in every body; the number follows at the end.
 *
 * Only calls of ai.onnx operators change: those of other domains and of model functions
 * stay as they are (functions.ts tells what becomes of the functions themselves).
 */
import { invariant } from "../../base/errors.js";
import { type Model, type Node, nodesWithin, opsetOf } from "../../ir/index.js";
import { dtypesOf } from "../../ops/dtypes.js";
import { sinceVersion } from "../../ops/since-versions.js";
import type { ConvertContext } from "./converter.js";
import { converters } from "./converters.js";
import { type Refusal, unconvertible, unsupportedOpset } from "./errors.js";
import { raiseFunctions, refuseFunctions } from "./functions.js";
import { irVersionOfOpset } from "./ir-version.js";
import { NEWEST_OPSET, OLDEST_OPSET } from "./range.js";

export interface ConversionReport {
  readonly from: number;
  readonly to: number;
  readonly irVersion: { readonly from: number; readonly to: number };
  /** Nodes that were changed, by operator as it was called before, with how many there were. */
  readonly converted: ReadonlyMap<string, number>;
}

/**
 * Brings the model to the opset `target`, in place. A model that is there or beyond is left
 * alone. Throws OPSET_UNCONVERTIBLE, with every node that stands in the way in `fields`, and
 * OPSET_UNSUPPORTED for models older than opset 7 or targets beyond 25; then nothing has changed.
 */
export function convertOpset(model: Model, target: number): ConversionReport {
  const from = opsetOf(model);
  const irVersion = { from: model.irVersion, to: model.irVersion };
  if (from >= target) return { from, to: from, irVersion, converted: new Map() };
  checkRange(from, target);
  const dtypes = dtypesOf(model);
  const context: ConvertContext = {
    target,
    dtypeOf: (value) => (value ? (dtypes.get(value) ?? null) : null),
    enlarging: new Set(),
  };
  const refusals = [...nodesWithin(model.graph)].flatMap((node) => refuse(model, node, from, target, context));
  refusals.push(...refuseFunctions(model, target));
  if (refusals.length > 0) throw unconvertible(refusals, from, target);

  const converted = new Map<string, number>();
  for (let version = from + 1; version <= target; version++) {
    for (const node of [...nodesWithin(model.graph)]) {
      if (!isPlainOperator(model, node)) continue;
      const converter = converters[node.op]?.find(({ at }) => at === version);
      if (!converter?.convert) continue;
      invariant(node.attached, `${node.displayName} went away while another node was converted`);
      converter.convert(node, context);
      converted.set(node.op, (converted.get(node.op) ?? 0) + 1);
    }
  }
  raiseFunctions(model, target);
  model.opsets.set("", target);
  model.irVersion = irVersion.to = Math.max(model.irVersion, irVersionOfOpset(target));
  return { from, to: target, irVersion, converted };
}

function checkRange(from: number, target: number): void {
  if (from < OLDEST_OPSET) {
    throw unsupportedOpset(
      `the model is of opset ${from}; conversion starts at opset ${OLDEST_OPSET}`,
      from,
      "Export the model again with a newer exporter.",
    );
  }
  if (target > NEWEST_OPSET) {
    throw unsupportedOpset(
      `opset ${target} is beyond ${NEWEST_OPSET}, the newest that models are converted to`,
      target,
      `Ask for opset ${NEWEST_OPSET} or less.`,
    );
  }
}

/**
 * What ONNX Runtime has under names of ai.onnx at every opset, and its optimizers write: opset 17 took the first over for inputs of one type,
 * the second is in no opset.
 */
const ofRuntime: ReadonlySet<string> = new Set(["LayerNormalization", "SimplifiedLayerNormalization"]);

/** Whether the node calls an operator of ai.onnx, not a function of the model that bears such a name. */
const isPlainOperator = (model: Model, node: Node): boolean =>
  node.domain === "" && !model.functions.has(`::${node.op}`);

function refuse(model: Model, node: Node, from: number, target: number, context: ConvertContext): Refusal[] {
  if (!isPlainOperator(model, node)) return [];
  const refusal = (at: number, reason: string): Refusal => ({ node: node.displayName, op: node.op, at, reason });
  if (sinceVersion(node.op, from) === null && !ofRuntime.has(node.op)) {
    return [refusal(target, `it is unknown: opset ${from} of ai.onnx has no such operator`)];
  }
  if (node.op === "LayerNormalization" && from < 17 && target >= 17) {
    const types = new Set(node.inputs.flatMap((value) => (value ? context.dtypeOf(value) : [])));
    if (types.size > 1) return [refusal(17, `its inputs are of several types: ${[...types].join(", ")}`)];
  }
  return (converters[node.op] ?? []).flatMap((converter) => {
    if (converter.at <= from || converter.at > target) return [];
    const reason = converter.refuse?.(node, context);
    return reason ? [refusal(converter.at, reason)] : [];
  });
}
