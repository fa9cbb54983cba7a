import type { ProfileFacts } from "../../pipeline/profile/profile-facts.js";
import { renderChromeTrace } from "../../report/chrome-trace.js";
import { type Command, feedsModels, running } from "../command.js";
import { changeExits, runAndDeliver } from "../run-and-deliver.js";
import { runtimeConfig } from "../settings.js";
import { writeWhole } from "../write-file.js";

export const profile: Command = {
  name: "profile",
  group: "Prove",
  parameters: "<models...>",
  about: "Where time and memory go, and what bounds them",
  note: "Times of nodes are those of the runtime's own profile, in the run in which each took least. Two models stand side by side. With --pipeline, whole requests are timed too, your own steps around the model included.",
  examples: [
    "infer-opt profile model.onnx --threads 1 --shape input=1,3,224,224",
    "infer-opt profile model.onnx int8.onnx --eval test.npz --threads 1 --chrome-trace run.json",
  ],
  flags: ["eval", ...running, "affinity", "budget", "pipeline", "requireEp", "top", "chromeTrace", "report"],
  abouts: feedsModels,
  exits: changeExits,
  async run(invocation) {
    const { more, settings, actions } = invocation;
    const { eval: data, requireEp: required, chromeTrace, pipeline } = settings;
    const config = { models: more, data, runtime: runtimeConfig(settings), required, pipeline };
    let found: ProfileFacts | undefined;
    const code = await runAndDeliver(invocation, async (context) => {
      const result = await actions.profile(config, context);
      found = result.profile;
      return result;
    });
    // Once the figures are told: the file may not be written.
    if (chromeTrace !== null && found) writeWhole(chromeTrace, renderChromeTrace(found));
    return code;
  },
};
