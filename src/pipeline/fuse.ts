/** `fold` and `fuse`: the graph is rewritten, compared with the original, and written. */
import { loadModel, opsetOf } from "../ir/index.js";
import type { FuseConfig } from "./config.js";
import type { RunContext } from "./context.js";
import { differenceFacts } from "./difference.js";
import { shapeChanges } from "./fix-shapes.js";
import { refusedByTarget } from "./inspect-target.js";
import { takeIn } from "./intake.js";
import { approximate, lossyText } from "./lossy.js";
import { type PrepareRequest, prepareModel } from "./prepare.js";
import type { RunResult } from "./result.js";
import { RunRecord } from "./run-record.js";
import { chooseRuntimeSpecific, runtimeSpecificText } from "./runtime-specific.js";
import { writeOutput } from "./write-output.js";

export async function runFuse(
  config: FuseConfig & { readonly recipe: "fold" | "fuse" },
  context: RunContext,
): Promise<RunResult> {
  const record = new RunRecord(config.recipe, context);
  const intake = await record.stage("load", () => takeIn(config, record, "graph"));
  const request: PrepareRequest = {
    model: config.model,
    recipe: config.recipe,
    signature: intake.signature,
    data: intake.trial,
    unrunnable: intake.unrunnable,
    // Folding promises the same bits, and the same opset.
    graph: config.recipe === "fold" ? { ...config.graph, keepOpset: true } : config.graph,
    runtime: config.runtime,
    minOpset: 0,
  };
  const portable = await record.stage("fuse", () => prepareModel(request, context));
  const choice =
    config.recipe === "fuse" && config.graph.runtimeSpecific
      ? await chooseRuntimeSpecific(portable, request, record)
      : null;
  const exact = choice?.prepared ?? portable;
  const isLossy = config.recipe === "fuse" && config.graph.lossy === true;
  const lossy = isLossy ? await approximate(exact, request, record) : null;
  const prepared = lossy?.prepared ?? exact;
  record.warn(...prepared.warnings);
  const refused = refusedByTarget(prepared.model, config.graph.target);
  if (refused) record.warn(refused);
  const original = loadModel(config.model);
  const output = await record.stage("write", () => writeOutput(prepared.path, original, config.out, record));
  const applied = prepared.passes.reduce((sum, pass) => sum + pass.applied, 0);
  const raised =
    opsetOf(prepared.model) > opsetOf(original)
      ? `, opset ${opsetOf(original)} raised to ${opsetOf(prepared.model)}`
      : "";
  const summary = [
    applied === 0 ? `nothing to ${config.recipe}${raised}` : `${applied} rewrites${raised}`,
    ...(choice ? [runtimeSpecificText(choice.facts)] : []),
    ...(lossy ? [lossyText(lossy.facts)] : []),
  ].join("; ");
  return record.result({
    model: intake.facts,
    output,
    passes: prepared.passes,
    unfused: prepared.unfused,
    difference: differenceFacts(prepared.differences),
    equivalence: prepared.equivalence,
    ...(config.graph.shapes.size > 0 && { shapes: shapeChanges(original, prepared.model) }),
    ...(choice && { runtimeSpecific: choice.facts }),
    ...(lossy && { lossy: lossy.facts }),
    verdict: { status: "pass", outcome: "met", reasons: [], summary },
  });
}
