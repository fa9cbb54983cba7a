/**
 * Whether a file that was made for a processor with VNNI is to run on one without: there
 * sums of two products saturate, and the same file gives other answers.
 */
import { loadModel } from "../../ir/index.js";
import { saturableNodes } from "../../quantization/saturable.js";
import type { RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import type { VerdictReason } from "../result.js";
import { placesOf } from "./other-target.js";

export interface SaturationRuling {
  readonly warnings: readonly string[];
  /** Null where what was measured here tells, or where nothing can saturate. */
  readonly reason: VerdictReason | null;
}

/** @param name the target, as `--target` names it; null: this processor */
export function judgeSaturation(
  path: string,
  name: string | null,
  { provider }: RuntimeConfig,
  context: RunContext,
): SaturationRuling {
  const { target, here } = placesOf(name, provider, context);
  const nodes = target.saturatesPairs ? saturableNodes(loadModel(path)) : [];
  if (nodes.length === 0) return { warnings: [], reason: null };
  const several = nodes.length === 1 ? "a node holds" : `${nodes.length} nodes hold`;
  const text = `${several} weights whose sums can saturate on x86 without VNNI (${nodes.slice(0, 3).join(", ")}${nodes.length > 3 ? ", ..." : ""}): quantize with --target ort-cpu-avx2, or run it with session.x64quantprecision=1, which is slower`;
  if (here.saturatesPairs)
    return { warnings: [`${text}; if it is for another place, name that with --target`], reason: null };
  const reason = { limit: "saturation", wanted: 0, got: nodes.length, status: "missed", text } as const;
  return { warnings: [], reason };
}
