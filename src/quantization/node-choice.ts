import type { Node } from "../ir/index.js";

/** Which nodes a quantizer is to look at. */
export interface NodeChoice {
  /** Names of nodes to leave float, with the reason to give. */
  readonly keepFloat?: ReadonlyMap<string, string>;
  /** Whether a node is this quantizer's business; others are passed over in silence. Absent: all are. */
  readonly takes?: (node: Node) => boolean;
}

export const takesAll = (): boolean => true;
