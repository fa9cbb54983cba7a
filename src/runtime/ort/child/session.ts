/** Opens models, and says in one line what kept one from opening or running. */
import { existsSync, readFileSync } from "node:fs";
import type { InferenceSession, Tensor as OrtTensor } from "onnxruntime-node";
import { InferOptError, messageOf } from "../../../base/errors.js";
import { isLinked, linkRoot, outputFailed } from "../../../onnx/index.js";
import type { ModelSignature, SessionOptions, Tensors } from "../../port.js";
import type { JobContext } from "../protocol.js";
import { tinyModel } from "../tiny-models.js";
import { loadOrt, type OrtModule } from "./load-ort.js";
import { type Opening, toOrtOptions } from "./options.js";
import { signatureOf, withInputRanksOf } from "./signature.js";
import { crosses, fromOrtTensor, toOrtTensor, typeUnsupported } from "./tensors.js";

export interface OpenModel {
  readonly path: string;
  /** The bare session, for those who time it. */
  readonly session: InferenceSession;
  /** What it took to make it, the runtime's library being there. */
  readonly sessionMs: number;
  readonly signature: ModelSignature;
  /** Outputs that can be read: tensors of a type that crosses the binding. */
  readonly readable: readonly string[];
  /** Runs once. Rejects with RUN_FAILED naming the model and `where`, a sample's id. */
  run(
    feeds: Readonly<Record<string, OrtTensor>>,
    /** Names; or tensors of the right type and shape by name, which are written to. */
    outputs: readonly string[] | Readonly<Record<string, OrtTensor>>,
    where: string,
  ): Promise<Results>;
  /** Our tensors as the binding takes them; bytes are shared where alignment allows. */
  feeds(tensors: Tensors): Record<string, OrtTensor>;
  release(): Promise<void>;
}

export type Results = ReadonlyMap<string, OrtTensor>;

/**
 * Loads a model by its path. Rejects with MODEL_MISSING, MODEL_REJECTED (the runtime's
 * reason in one line), PROVIDER_MISSING or RUNTIME_UNAVAILABLE. A missing provider is
 * replaced by cpu when the options allow that, and the context is told.
 */
export async function openModel(
  path: string,
  options: SessionOptions,
  context: JobContext,
  opening: Opening = {},
): Promise<OpenModel> {
  const ort = await loadOrt();
  const from = performance.now();
  const session = await openSession(path, options, context, opening);
  const sessionMs = performance.now() - from;
  const signature = withInputRanksOf(path, signatureOf(session));
  const readable = signature.outputs.filter(({ dtype }) => crosses(dtype)).map(({ name }) => name);
  return {
    path,
    session,
    sessionMs,
    signature,
    readable,
    async run(feeds, outputs, where) {
      if (Array.isArray(outputs) && outputs.length === 0) refuseUnreadable({ path, signature, readable });
      refuseTaken(path, signature, new Set(Array.isArray(outputs) ? outputs : Object.keys(outputs)));
      try {
        return new Map(Object.entries(await session.run(feeds, outputs)));
      } catch (cause) {
        throw runFailed(path, where, cause);
      }
    },
    feeds: (tensors) => toFeeds(ort, tensors),
    release: () => session.release(),
  };
}

/**
 * The binding takes outputs by name from a plain object, which has `toString` whether that was asked for or not; and what is
 * called `__proto__` gets lost on its way there and back.
 */
function refuseTaken(path: string, { outputs }: ModelSignature, wanted: ReadonlySet<string>): void {
  const taken = outputs.find(({ name }) => name in {} && (name === "__proto__" || !wanted.has(name)));
  if (!taken) return;
  const { name } = taken;
  throw new InferOptError(
    "OUTPUTS_UNREADABLE",
    "input",
    `"${name}" of ${path} cannot be told from what every JavaScript object has under that name, by which ONNX Runtime hands results to Node`,
    {
      hint: `Give what is called "${name}" in the model another name.`,
      fields: { model: path, outputs: [name] },
    },
  );
}

/** For those who run the bare session. Throws OUTPUTS_UNREADABLE where it would have nothing to answer with. */
export function refuseUnreadable({
  path,
  signature,
  readable,
}: Pick<OpenModel, "path" | "signature" | "readable">): void {
  refuseTaken(path, signature, new Set(readable));
  if (readable.length > 0) return;
  const names = signature.outputs.map(({ name }) => `"${name}"`).join(", ");
  throw new InferOptError(
    "OUTPUTS_UNREADABLE",
    "input",
    `the model has no output that can be read: ${names || "none at all"}; ONNX Runtime hands Node tensors, and neither sequences, maps nor optionals`,
    {
      hint: "Add an output that is a tensor, such as what ConcatFromSequence makes of a sequence.",
      fields: { model: path, outputs: signature.outputs.map(({ name }) => name) },
    },
  );
}

/** As `openModel`, but the bare session. */
export async function openSession(
  path: string,
  options: SessionOptions,
  context: JobContext,
  opening: Opening,
): Promise<InferenceSession> {
  const ort = await loadOrt();
  if (!existsSync(path)) {
    throw new InferOptError("MODEL_MISSING", "input", `there is no file ${path}`, {
      hint: "Check the path.",
      fields: { path },
    });
  }
  const missing = knownProviders(ort).includes(options.provider)
    ? null
    : `this build of ONNX Runtime knows only ${knownProviders(ort).join(", ")}`;
  if (missing === null) {
    try {
      return await create(ort, path, options, options.provider, opening);
    } catch (cause) {
      const broken = options.provider === "cpu" ? null : await brokenProvider(ort, options);
      if (broken === null) throw rejected(path, cause, opening);
      return openOnCpu(ort, path, options, context, opening, broken);
    }
  }
  return openOnCpu(ort, path, options, context, opening, missing);
}

/** The weights of a linked model lie all over the file system: the runtime gets it as bytes, and is told where from. */
function create(
  ort: OrtModule,
  path: string,
  options: SessionOptions,
  provider: string,
  opening: Opening,
): Promise<InferenceSession> {
  if (!isLinked(path)) return ort.InferenceSession.create(path, toOrtOptions(options, provider, opening));
  const weightsFolder = linkRoot(path);
  return ort.InferenceSession.create(
    readFileSync(path),
    toOrtOptions(options, provider, { ...opening, weightsFolder }),
  );
}

async function openOnCpu(
  ort: OrtModule,
  path: string,
  options: SessionOptions,
  context: JobContext,
  opening: Opening,
  reason: string,
): Promise<InferenceSession> {
  const wanted = options.provider;
  if (!options.allowFallback) {
    throw new InferOptError("PROVIDER_MISSING", "runtime", `provider ${wanted} is not available: ${reason}`, {
      hint: "Use --provider cpu, or --allow-fallback to take cpu in its place; `infer-opt doctor` lists what works.",
      fields: { provider: wanted },
    });
  }
  context.fellBack({ wanted, used: "cpu", reason });
  try {
    return await create(ort, path, options, "cpu", opening);
  } catch (cause) {
    throw rejected(path, cause, opening);
  }
}

const knownProviders = (ort: OrtModule): string[] => ort.listSupportedBackends().map(({ name }) => name);

/** Why a provider cannot even open a trivial model; null when it can, and the model is to blame. */
async function brokenProvider(ort: OrtModule, options: SessionOptions): Promise<string | null> {
  try {
    const session = await ort.InferenceSession.create(tinyModel(), toOrtOptions(options, options.provider));
    await session.release();
    return null;
  } catch (cause) {
    return reasonOf(cause);
  }
}

/** What the runtime says when it has loaded a model, and the system does not take the graph that it made of it. */
const unwritten = /Protobuf serialization failed|system error number/;

function rejected(path: string, cause: unknown, { optimizedModel }: Opening): InferOptError {
  const reason = reasonOf(cause);
  if (optimizedModel !== undefined && unwritten.test(reason)) return outputFailed(optimizedModel, cause);
  const type = /^Unsupported data type: (\d+)/.exec(reason)?.[1];
  if (type) return typeUnsupported(`an input or output of ${path}`, `number ${type} of TensorProto.DataType`);
  return new InferOptError("MODEL_REJECTED", "input", `ONNX Runtime does not load ${path}: ${reason}`, {
    hint: "Check the model's opset and operators against the installed ONNX Runtime; `infer-opt inspect` lists them.",
    cause,
    fields: { model: path, reason, isOperatorMissing: missingOperator.test(messageOf(cause)) },
  });
}

/** What the runtime says when it knows everything about a model but one of its operators. */
const missingOperator = /No Op registered for |is not a registered function\/op|Could not find an implementation for /;

export function runFailed(path: string, where: string, cause: unknown): InferOptError {
  return new InferOptError("RUN_FAILED", "runtime", `${path} failed on ${where}: ${reasonOf(cause)}`, {
    hint: "Check that the sample's shapes and values are ones that the model accepts; for inputs that were made up give sizes (--shape) or samples (--eval).",
    cause,
    fields: { model: path, sample: where },
  });
}

const MOST_CHARACTERS = 400;

/** The first line of what native code says, without its source files. */
function reasonOf(cause: unknown): string {
  const line = messageOf(cause)
    .replace(/\/\S*onnxruntime\S*\.(cc|h):\d+\s*/g, "")
    .replace(/^Load model from .*? failed:\s*/, "")
    .replace(/^\S+::\S+\(.* was false\.\s*/, "")
    // The C++ function that threw, with its parameters.
    .replace(/^[\w:<>,&* ]*onnxruntime::[^\n]*?\)(?: const)?\s+(?=[A-Z])/, "")
    // A check inside, as C++ spells it; what follows says the same in words.
    .replace(/(?:\w[\w:<>&*]* )?onnxruntime::\S+?\([^\n]*? was false\. *(?=\S)/, "")
    .split("\n")[0]!
    .replace(/\s+/g, " ")
    .trim();
  return line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS)}...` : line || "no reason given";
}

function toFeeds(ort: OrtModule, tensors: Tensors): Record<string, OrtTensor> {
  return Object.fromEntries(Array.from(tensors, ([name, tensor]) => [name, toOrtTensor(ort, name, tensor)]));
}

/** Results as our tensors, in the same memory. */
export const toTensors = (results: Results): Tensors =>
  new Map(Array.from(results, ([name, tensor]) => [name, fromOrtTensor(name, tensor)]));
