/**
 * The functions that a model brings along. Each states an opset of its own, but ONNX lets it
 * differ from the model's only as far as the operators called in it are the same in both
 * (runtimes even read the body by the model's opset). So a function follows when none of its
 * operators changes meaning on the way, and stands in the way when one does.
 */
import { ownEntry } from "../../base/own-entry.js";
import { bigintToLong, type Long64, longToBigint, type Model } from "../../ir/index.js";
import { converters } from "./converters.js";
import type { Refusal } from "./errors.js";

/** What is read of FunctionProto; the rest travels along untouched. */
interface WireFunction {
  readonly name?: string;
  readonly domain?: string;
  readonly opset_import?: { domain?: string; version?: Long64 | number }[];
  readonly node?: readonly WireNode[];
}

interface WireNode {
  readonly op_type?: string;
  readonly domain?: string;
  readonly attribute?: readonly WireAttribute[];
}

interface WireAttribute {
  readonly name?: string;
  readonly i?: Long64 | number;
  readonly ref_attr_name?: string;
  readonly g?: WireBody;
  readonly graphs?: readonly WireBody[];
}

interface WireBody {
  readonly node?: readonly WireNode[];
}

/** Functions whose bodies call an operator that changes between their opset and the target. */
export function refuseFunctions(model: Model, target: number): Refusal[] {
  return functionsBelow(model, target).flatMap(({ fn, version }) => {
    const change = changedOperator(fn, version, target);
    if (!change) return [];
    const node = [fn.domain, fn.name].filter(Boolean).join("::");
    return [{ node, ...change, reason: "its meaning changes, and it stands in a function of the model" }];
  });
}

/** The first operator called in a function that changes between two opsets, whichever is the newer; null when none does. */
export function changedOperator(fn: WireFunction, one: number, other: number): { op: string; at: number } | null {
  const [from, to] = [Math.min(one, other), Math.max(one, other)];
  for (const called of operatorsIn(fn)) {
    const op = called.op_type ?? "";
    const converter = ownEntry(converters, op)?.find(
      ({ at, concerns }) => at > from && at <= to && (concerns?.((name) => intOf(called, name)) ?? true),
    );
    if (converter) return { op, at: converter.at };
  }
  return null;
}

/** Makes the functions that were not refused state the target. */
export function raiseFunctions(model: Model, target: number): void {
  for (const { entry } of functionsBelow(model, target)) entry.version = bigintToLong(BigInt(target));
}

function functionsBelow(model: Model, target: number) {
  const { functions = [] } = model.extras as { readonly functions?: readonly WireFunction[] };
  return functions.flatMap((fn) => {
    const entry = fn.opset_import?.find(({ domain }) => !domain || domain === "ai.onnx");
    const version = entry ? Number(longToBigint(entry.version ?? 0)) : target;
    return entry && version < target ? [{ fn, entry, version }] : [];
  });
}

/** null also where the attribute is taken from the function's own. */
function intOf(node: WireNode, name: string): number | null {
  const found = node.attribute?.find((attribute) => attribute.name === name);
  return !found || found.ref_attr_name ? null : Number(longToBigint(found.i ?? 0));
}

function* operatorsIn(body: WireBody): Generator<WireNode> {
  for (const node of body.node ?? []) {
    if (!node.domain || node.domain === "ai.onnx") yield node;
    for (const { g, graphs } of node.attribute ?? []) {
      for (const inner of [g, ...(graphs ?? [])]) if (inner) yield* operatorsIn(inner);
    }
  }
}
