/** Graphs within a node: what If, Loop and Scan run. */
import type { GraphProto, NodeProto } from "./schema.js";

export const bodiesOf = ({ attribute = [] }: NodeProto): GraphProto[] =>
  attribute.flatMap(({ g, graphs = [] }) => (g ? [g, ...graphs] : graphs));
