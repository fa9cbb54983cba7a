/**
 * What nobody but a Concat reads is rounded once where it has the scale of what the Concat makes: rounded to a
 * scale of its own, it would be rounded again there, element by element through a table.
 */
import { type Model, soleReader, type Value } from "../ir/index.js";
import type { StaticPlan } from "./plan-static.js";
import type { ActivationScheme } from "./scheme.js";

/** @returns `schemes` by value label, with those of joined parts in place of their own */
export function withJoinedParts(
  { graph }: Model,
  plan: StaticPlan,
  schemes: ReadonlyMap<string, ActivationScheme>,
): ReadonlyMap<string, ActivationScheme> {
  const result = new Map(schemes);
  // What moves elements has the scheme of what it moves.
  const makers = new Map(
    plan.nodes.flatMap(({ node, kernel, outputs }) =>
      kernel.kind === "passthrough" ? [] : outputs.map((value) => [value, node] as const),
    ),
  );
  const isOwn = (value: Value): boolean => {
    const maker = makers.get(value);
    // A Clip is left to the kernel only while no integer stands for more than its bound.
    return maker !== undefined && maker.graph === graph && !value.producer?.is("Clip");
  };
  for (const { node } of [...plan.nodes].reverse()) {
    const made = node.is("Concat") ? result.get(node.output.label) : undefined;
    if (!made) continue;
    for (const part of node.inputs) {
      const own = part && isOwn(part) && soleReader(part) === node ? schemes.get(part.label) : undefined;
      // A Relu is left to it as long as 0 is the least integer.
      if (own && (own.zeroPoint === 0) === (made.zeroPoint === 0)) result.set(part!.label, made);
    }
  }
  return result;
}
