import type { Graph } from "./graph.js";
import type { WireExtras } from "./tensor.js";

/** A graph with what surrounds it on the wire. */
export interface Model {
  readonly graph: Graph;
  /** Opset version by domain; "" is ai.onnx. */
  readonly opsets: Map<string, number>;
  irVersion: number;
  /** `domain::name` of every function the model brings along; their bodies are carried through unread (serde/function.ts reads them). */
  readonly functions: Set<string>;
  /** Producer, metadata, functions, unknown fields: kept for the writer. */
  readonly extras: WireExtras;
  /** Where it was read from; "" for a model made in memory. */
  readonly path: string;
}

/** The opset version of ai.onnx. */
export const opsetOf = (model: Model): number => model.opsets.get("") ?? 1;

/** For operators of a domain that were added. Those of other domains than ai.onnx are all of version 1 so far; a version that is imported already stays. */
export function importDomain({ opsets }: Model, domain: string): void {
  if (!opsets.has(domain)) opsets.set(domain, 1);
}
