/**
 * Runs a model again and again, each time on another batch of samples and on what the run before made of its state.
 * State stays in this process; only the best of it goes back.
 */
import type { Tensor as OrtTensor } from "onnxruntime-node";
import { invariant } from "../../../base/errors.js";
import type { InputSpec } from "../../../dataset/index.js";
import { elementCount, Tensor } from "../../../ir/index.js";
import type { Tensors } from "../../port.js";
import type { JobContext, JobHandler, Jobs } from "../protocol.js";
import { fromWireTensors, toWireTensors } from "../wire-tensors.js";
import { betweenSamples } from "./collect-garbage.js";
import { feedsOf, openPart } from "./samples.js";
import { type OpenModel, openModel } from "./session.js";
import { fromOrtTensor } from "./tensors.js";

type Args = Jobs["train"]["args"];
type State = Readonly<Record<string, OrtTensor>>;

export const train: JobHandler<"train"> = async (args, context) => {
  const step = await openModel(args.step, args.session, context);
  const check = await openModel(args.check, args.session, context);
  try {
    return await learn(step, check, args, context);
  } finally {
    await step.release();
    await check.release();
  }
};

async function learn(
  step: OpenModel,
  check: OpenModel,
  args: Args,
  context: JobContext,
): Promise<Jobs["train"]["result"]> {
  const rows = await rowsOf(args.data, args.inputs, context);
  const heldOut = await rowsOf(args.heldOut, args.inputs, context);
  const batches = inBatches(heldOut.length, args.batches[0]!.length).map((batch) => batchOf(heldOut, batch));
  const kept = (state: State): State => Object.fromEntries(args.kept.map((name) => [name, state[name]!]));
  const lossOf = async (state: State): Promise<number> => {
    let sum = 0;
    for (const batch of batches) {
      const feeds = { ...check.feeds(batch), ...kept(state) };
      sum += numberOf((await check.run(feeds, [args.loss], "held-out samples")).get(args.loss)!);
    }
    return sum / batches.length;
  };
  let state: State = step.feeds(fromWireTensors(args.state));
  let best = { step: 0, loss: await lossOf(state), state: kept(state) };
  const history = [{ step: 0, loss: best.loss }];
  const wanted = Object.values(args.carried);
  const collect = betweenSamples();
  const until = performance.now() + (args.mostMs ?? Number.POSITIVE_INFINITY);
  for (let i = 0, sinceBest = 0, isOver = false; !isOver && sinceBest < args.patience; i++) {
    const told = step.feeds(new Map([...batchOf(rows, args.batches[i]!), ...fromWireTensors(args.told[i]!)]));
    const results = await step.run({ ...told, ...state }, wanted, `step ${i + 1}`);
    const next = Object.entries(args.carried).map(([input, output]) => [input, results.get(output)!] as const);
    state = { ...state, ...Object.fromEntries(next) };
    context.progress(i + 1, args.batches.length);
    collect();
    isOver = i + 1 === args.batches.length || performance.now() > until;
    if ((i + 1) % args.every !== 0 && !isOver) continue;
    const loss = await lossOf(state);
    history.push({ step: i + 1, loss });
    // Weights that are no numbers any more never become any again.
    if (!Number.isFinite(loss)) break;
    sinceBest = loss < best.loss ? 0 : sinceBest + 1;
    if (loss < best.loss) best = { step: i + 1, loss, state: kept(state) };
  }
  const tensors = new Map(Object.entries(best.state).map(([name, tensor]) => [name, fromOrtTensor(name, tensor)]));
  return { best: toWireTensors(tensors), step: best.step, history };
}

const numberOf = (tensor: OrtTensor): number => Number((tensor.data as Float32Array)[0]);

/** All samples: batches take them in any order, again and again. */
async function rowsOf(data: Args["data"], inputs: readonly InputSpec[], context: JobContext): Promise<Tensors[]> {
  const part = await openPart(data, inputs);
  const rows: Tensors[] = [];
  for await (const sample of part.samples()) {
    rows.push(feedsOf(sample, inputs));
    context.progress(rows.length, part.count);
  }
  return rows;
}

/** Rows in their order, the first ones again where the last batch is short. */
function inBatches(count: number, size: number): number[][] {
  return Array.from({ length: Math.ceil(count / size) }, (_, batch) =>
    Array.from({ length: size }, (__, i) => (batch * size + i) % count),
  );
}

/** Samples of the same sizes, one after the other along the first axis. */
function batchOf(rows: readonly Tensors[], indices: readonly number[]): Tensors {
  const [first] = indices;
  // Also of a lone number, which has no axis.
  if (indices.length === 1) return rows[first!]!;
  return new Map(
    [...rows[first!]!].map(([name, { dtype, dims, byteLength }]) => {
      const bytes = new Uint8Array(byteLength * indices.length);
      for (const [i, index] of indices.entries()) {
        const part = rows[index]!.get(name)!;
        invariant(part.byteLength === byteLength, `the samples of a batch have the same sizes of "${name}"`);
        bytes.set(part.bytes(), i * byteLength);
      }
      const joined = [dims[0]! * indices.length, ...dims.slice(1)];
      invariant(elementCount(joined) === elementCount(dims) * indices.length, "batches grow along the first axis");
      return [name, Tensor.fromBytes(dtype, joined, bytes)];
    }),
  );
}
