/**
 * What `--include` leaves in float between integers without meaning to: an Add or a pooling between two convolutions that are
 * included. Whatever it reads and makes is converted then, which may take more than the integers gain.
 */
import { groupBy } from "../../base/group-by.js";
import { type Model, nodesWithin } from "../../ir/index.js";
import { planStatic } from "../../quantization/plan-static.js";
import { type IntegerTarget, kernelFor } from "../../target/integer-kernel.js";
import { widestPlacement } from "../calibrate/calibration.js";
import { NOT_INCLUDED } from "../select.js";

/** In words; null where nothing is. */
export function leftBetween(model: Model, target: IntegerTarget, excluded: ReadonlyMap<string, string>): string | null {
  const planned = (keepFloat: ReadonlyMap<string, string>) =>
    planStatic(model, target, { ...widestPlacement, keepFloat }).nodes.map(({ node }) => node);
  const followers = new Set(
    [...nodesWithin(model.graph)]
      .filter((node) => (kernelFor(target, node)?.kind ?? "compute") !== "compute")
      .map(({ name }) => name),
  );
  const meant = new Map([...excluded].filter(([name, reason]) => reason !== NOT_INCLUDED || !followers.has(name)));
  if (meant.size === excluded.size) return null;
  const included = new Set(planned(excluded));
  const left = planned(meant).filter((node) => !included.has(node));
  if (left.length === 0) return null;
  const kinds = [...groupBy(left, ({ opName }) => opName)].sort(([, a], [, b]) => b.length - a.length);
  const counts = kinds.map(([op, of]) => `${op} ${of.length}`).join(", ");
  // Others follow by themselves.
  const asked = kinds.filter(([, of]) => of.some(({ name }) => excluded.has(name)));
  const flags = asked.map(([op]) => `--include op:${op}`).join(" ");
  const [which, they] =
    left.length === 1 ? ["a node", "it reads and makes"] : [`${left.length} nodes`, "they read and make"];
  return `--include leaves ${which} between integers in float (${counts}), and what ${they} is converted, which takes time: ${flags} makes integers of them too`;
}
