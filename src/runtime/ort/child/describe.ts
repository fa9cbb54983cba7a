/**
 * Loads a model and says what goes in and out, filling the gaps of the binding's metadata:
 *
 * - a "scalar" that the file does not declare as one may be of unknown rank. A copy of the
 *   model gets a Shape node behind each such output: its own output is [rank] if the runtime
 *   knows the rank, and of unknown size if not.
 * - ports of a type that the binding cannot pass are taken as the file declares them.
 */
import { appendFileSync, copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { InferOptError } from "../../../base/errors.js";
import { encodeModel, isLinked, isSystemError, linkedSuffix, outputFailed } from "../../../onnx/index.js";
import type { ModelSignature, PortInfo } from "../../port.js";
import type { JobContext, JobHandler, Jobs } from "../protocol.js";
import { openSession } from "./session.js";
import { isDoubtful, signatureOf, signatureOfFile, withInputRanksOf } from "./signature.js";

type Args = Jobs["describe"]["args"];

export const describe: JobHandler<"describe"> = async (args, context) => {
  const loaded = await metadataOf(args.model, args, context);
  if (!loaded) return signatureOfFile(args.model);
  if (args.options.isRough) return loaded;
  const { inputs, outputs } = withInputRanksOf(args.model, loaded);
  if (!outputs.some(isDoubtful)) return { inputs, outputs };

  const declared = new Map(signatureOfFile(args.model).outputs.map((port) => [port.name, port.shape]));
  const doubtful = outputs.filter((port) => isDoubtful(port) && declared.get(port.name)?.length !== 0);
  if (doubtful.length === 0) return { inputs, outputs };
  const scalars = await provenScalars(args, doubtful, context);
  const settled = (port: PortInfo): PortInfo =>
    doubtful.includes(port) && !scalars.has(port.name) ? { ...port, shape: null } : port;
  return { inputs, outputs: outputs.map(settled) };
};

/** null when the model loads but has ports of a type that the binding cannot name. */
async function metadataOf(
  path: string,
  { session: how, options: { saveOptimizedTo } }: Pick<Args, "session" | "options">,
  context: JobContext,
): Promise<ModelSignature | null> {
  try {
    const session = await openSession(path, how, context, {
      // As it would be deployed, it must load with all that comes with it; as it is written, it is only looked at.
      isLean: how.optimization === "disabled",
      ...(saveOptimizedTo !== undefined && { optimizedModel: saveOptimizedTo }),
    });
    const signature = signatureOf(session);
    await session.release();
    return signature;
  } catch (error) {
    if (error instanceof InferOptError && error.code === "TENSOR_TYPE_UNSUPPORTED") return null;
    throw error;
  }
}

const RANK_OF = "infer-opt/rank-of/";

/** Names of the outputs that are scalars for sure. */
async function provenScalars(
  args: Args,
  doubtful: readonly PortInfo[],
  context: JobContext,
): Promise<ReadonlySet<string>> {
  const { folder, copy } = withRanks(args, doubtful);
  try {
    const probed = await metadataOf(copy, { session: args.session, options: {} }, context);
    const ranks = probed?.outputs.filter(({ name, shape }) => name.startsWith(RANK_OF) && shape?.[0] === 0);
    return new Set(ranks?.map(({ name }) => name.slice(RANK_OF.length)));
  } catch (error) {
    // Weights in other files stay behind, and then the copy does not load: nothing is proven.
    if (error instanceof InferOptError && error.code === "MODEL_REJECTED") return new Set();
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A copy of the model that gives the shapes of these outputs too, in a folder of its own. Throws OUTPUT_FAILED. */
function withRanks({ model, scratch }: Args, doubtful: readonly PortInfo[]): { folder: string; copy: string } {
  const prefix = join(scratch, "infer-opt-ranks-");
  let folder: string | null = null;
  try {
    folder = mkdtempSync(prefix);
    const copy = join(folder, isLinked(model) ? `model${linkedSuffix()}` : "model.onnx");
    copyFileSync(model, copy);
    // Protobuf joins messages that are written one after the other: the graph gains nodes
    // and outputs, and its weights are not touched.
    const shapes = doubtful.map(({ name }) => ({ op_type: "Shape", input: [name], output: [RANK_OF + name] }));
    const outputs = doubtful.map(({ name }) => ({ name: RANK_OF + name }));
    appendFileSync(copy, encodeModel({ graph: { node: shapes, output: outputs } }));
    return { folder, copy };
  } catch (cause) {
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
    throw isSystemError(cause) ? outputFailed(folder ?? prefix, cause) : cause;
  }
}
