/** Drives bare-loop.mjs: a timer to hold against the tool's. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** `job`: model, input, dims, threads, and type where it is not float32. */
export async function bareTimer(job) {
  const child = fork(fileURLToPath(new URL("bare-loop.mjs", import.meta.url)), [JSON.stringify(job)], {
    // As in the tool's own processes: what the runtime records of its sessions is not what is compared.
    env: { ...process.env, ORT_DISABLE_TELEMETRY: "1" },
  });
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`the bare loop on ${job.model} ended with ${code}`);
  });
  ended.catch(() => {});
  const answer = async () => (await Promise.race([once(child, "message"), ended]))[0];
  await answer();
  return {
    async measure(runs) {
      child.send(runs);
      return answer();
    },
    close: () => child.disconnect(),
  };
}
