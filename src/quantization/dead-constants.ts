import { type Graph, graphsWithin } from "../ir/index.js";

/** Drops constants that nobody reads any more: the float weights behind integer ones. */
export function removeUnreadConstants(graph: Graph): void {
  for (const each of graphsWithin(graph)) {
    for (const value of each.constants) if (value.useCount === 0) each.removeConstant(value);
  }
}
