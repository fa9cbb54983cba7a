/** What a result says of a model file. */
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { countNodes, graphsWithin, loadModel, type Model, nodesWithin, type Tensor } from "../ir/index.js";
import { fileSource, refuseChanged } from "../onnx/index.js";
import type { ModelFacts } from "./result.js";

/** `model` is the file as loaded, when somebody has it already. Throws what loading throws. */
export const modelFacts = async (path: string, model: Model = loadModel(path)): Promise<ModelFacts> =>
  factsReader(path, model)();

/**
 * The same in two steps: the model is asked now, and may be changed by the time that the file is read.
 * @param withData whether files beside it that hold weights are read too
 */
export function factsReader(path: string, model: Model, withData = false): () => Promise<ModelFacts> {
  const files = externalFiles(model);
  const bytes = [model.path || path, ...files].reduce((sum, file) => sum + statSync(file).size, 0);
  const nodes = countNodes(model.graph);
  return async () => ({
    ...{ path, sha256: await sha256Of(path), bytes, nodes },
    ...(withData && files.length > 0 && { dataSha256: await sha256OfAll(files) }),
  });
}

/** What tells a model from another, its weights included wherever they lie: of facts that were read with the data. */
export const modelDigest = ({ sha256, dataSha256 }: ModelFacts): string =>
  dataSha256 === undefined ? sha256 : createHash("sha256").update(`${sha256} ${dataSha256}`).digest("hex");

async function sha256OfAll(files: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const file of [...files].sort()) hash.update(await sha256Of(file));
  return hash.digest("hex");
}

/** Read without a pause; then whoever waits, a signal too, gets a turn. */
const BURST_BYTES = 4 << 20;

/** To be called after each piece that was read. */
export function pauser(): (bytes: number) => Promise<void> | undefined {
  let read = 0;
  return (bytes) => {
    read += bytes;
    if (read < BURST_BYTES) return undefined;
    read = 0;
    return setImmediate();
  };
}

/** The digest of a file of any size, in hex. A stream would do, but leaves the file's worth of garbage behind. */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256");
  const pause = pauser();
  for (const chunk of fileSource(path, 0, statSync(path).size).chunks()) {
    hash.update(chunk);
    await pause(chunk.length);
  }
  return hash.digest("hex");
}

/** Files beside the model that hold weights of it, each once. */
export function externalFiles(model: Model): readonly string[] {
  const files = new Set<string>();
  for (const { file } of tensorsOf(model)) if (file && file.path !== model.path) files.add(file.path);
  return [...files];
}

/** Throws MODEL_CHANGED where a file with weights of a model is not as it was when the model was read. */
export function refuseReplaced(model: Model): void {
  const seen = new Set<string>();
  for (const { file } of tensorsOf(model)) {
    if (!file?.state || seen.has(file.path)) continue;
    seen.add(file.path);
    refuseChanged(file.path, file.state);
  }
}

/** Every constant of the graph and its bodies, tensors in attributes included. */
export function* tensorsOf(model: Model): Generator<Tensor> {
  for (const graph of graphsWithin(model.graph)) {
    for (const { constant } of graph.constants) if (constant) yield constant;
    for (const { origin } of graph.inputs) if (origin.defaultTensor) yield origin.defaultTensor;
  }
  for (const node of nodesWithin(model.graph)) {
    for (const attribute of node.attributes.values()) {
      if (attribute.type === "tensor") yield attribute.value;
      if (attribute.type === "tensors") yield* attribute.value;
    }
  }
}
