import type { JobHandler } from "../protocol.js";
import { fromWireTensors, toWireTensors } from "../wire-tensors.js";
import { openModel, toTensors } from "./session.js";

/** Runs a model once on given inputs; every output that is a tensor comes back. */
export const run: JobHandler<"run"> = async (args, context) => {
  const model = await openModel(args.model, args.session, context, { isLean: true });
  try {
    const feeds = model.feeds(fromWireTensors(args.feeds));
    return toWireTensors(toTensors(await model.run(feeds, model.readable, "the given inputs")));
  } finally {
    await model.release();
  }
};
