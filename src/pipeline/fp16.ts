/** `fp16`: half precision, compared with the original as it would be delivered. */
import { loadModel, saveModel } from "../ir/index.js";
import { type NarrowingReport, toFloat16 } from "../passes/precision/to-float16.js";
import { makeNamesUnique } from "../quantization/names.js";
import { annotateTypes } from "../rewrite/index.js";
import type { Fp16Config } from "./config.js";
import type { RunContext } from "./context.js";
import { differenceFacts, differenceWarnings } from "./difference.js";
import { fixShapes } from "./fix-shapes.js";
import { fewOf, takeIn } from "./intake.js";
import { asDelivered, describer, scratchFile } from "./model-runs.js";
import { measurePlacement } from "./placement.js";
import { applyAskedOpset, settleIrVersion } from "./raise-opset.js";
import type { RunResult, Verdict } from "./result.js";
import { RunRecord } from "./run-record.js";
import { leftOut } from "./select.js";
import { writeOutput, writeRejected } from "./write-output.js";

/**
 * Least mean cosine between the outputs before and after. Half precision keeps 11 bits;
 * healthy models stay above 0.9999, one that overflows somewhere falls far below.
 */
const LEAST_COSINE = 0.99;

export async function runFp16(config: Fp16Config, context: RunContext): Promise<RunResult> {
  const record = new RunRecord("fp16", context);
  const intake = await record.stage("load", () => takeIn(config, record));
  const original = loadModel(config.model);
  const path = scratchFile(context, "half");
  const convert = async (keepIo: boolean, to: string): Promise<NarrowingReport> => {
    const model = loadModel(config.model);
    fixShapes(model, config.graph.shapes);
    applyAskedOpset(model, config.graph);
    makeNamesUnique(model);
    const annotation = await annotateTypes(model, describer(config.runtime, context), {
      isSized: config.graph.shapes.size > 0,
    });
    if (annotation.problem) record.warn(`types could not be found out by the runtime: ${annotation.problem}`);
    const kept = leftOut(model, config.selection);
    const report = toFloat16(model, { keepIo, target: config.target, keep: (node) => kept.has(node.displayName) });
    settleIrVersion(model, config.graph);
    saveModel(model, to).commit();
    return report;
  };
  // Outputs of another type compare with nothing: what is judged takes and gives float32 in any case.
  const delivered = config.convertIo ? scratchFile(context, "half") : path;
  const report = await record.stage("convert", async () => {
    const compared = await convert(true, path);
    return config.convertIo ? convert(false, delivered) : compared;
  });
  const differences = await record.stage("verify", () =>
    context.runtime.compare({
      baseline: config.model,
      candidate: path,
      data: fewOf(intake.trial, 4),
      session: asDelivered(config.runtime),
    }),
  );
  record.warn(...differenceWarnings(differences));
  const placement = await measurePlacement(path, intake.trial, config.runtime, record);
  const worst = differences.find(
    ({ maxAbs, cosine, nanMismatch, mismatch }) =>
      mismatch !== null || nanMismatch > 0 || maxAbs === Number.POSITIVE_INFINITY || cosine < LEAST_COSINE,
  );
  const verdict: Verdict = worst
    ? {
        status: "fail",
        outcome: "accuracy",
        reasons: [],
        summary: `output ${worst.output} is damaged in half precision (cosine ${worst.cosine.toFixed(4)}, ${worst.nanMismatch} new NaN): keep nodes in float with --exclude`,
      }
    : {
        status: "pass",
        outcome: "met",
        reasons: [],
        summary: `half precision, ${report.float.length} nodes kept in float32`,
      };
  const output = await record.stage("write", () =>
    worst ? writeRejected(delivered, original, config.out) : writeOutput(delivered, original, config.out),
  );
  return record.result({
    model: intake.facts,
    output,
    precision: { target: config.target, float: report.float, notes: report.notes },
    difference: differenceFacts(differences),
    ...(placement && { placement }),
    verdict,
  });
}
