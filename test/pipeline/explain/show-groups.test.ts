import { expect, it } from "vitest";
import { showGroups } from "../../../src/pipeline/explain/show-groups.js";
import { ortRuntime } from "../../../src/runtime/ort/index.js";
import { modelFile } from "../../support/model-file.js";
import { realContext } from "../../support/real-run.js";
import { runtimeConfig } from "../../support/run-config.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

it("shows the groups of the model that prune starts from, with the widths that pay here", async () => {
  const folder = temporaryFolder();
  const path = modelFile(
    folder,
    `(x: f32[N,3,8,8]) -> (y) {
      c = Conv<kernel_shape=[1,1]>(x, $w: f32[32,3,1,1])
      n = BatchNormalization(c, $s: f32[32], $b: f32[32], $m: f32[32], $v: f32[32] = {${new Array(32).fill(1)}})
      r = Relu(n)
      y = Conv<kernel_shape=[1,1]>(r, $u: f32[4,32,1,1])
    }`,
  );
  const runtime = ortRuntime({ scratch: folder });
  try {
    const context = realContext(runtime);
    const { groups, notes } = await showGroups(path, runtimeConfig(), {
      ...context,
      environment: { ...context.environment, flags: ["avx2"] },
    });
    expect(notes).toEqual([]);
    // The normalization is folded into the Conv before.
    expect(groups).toMatchObject([
      {
        kind: "channels",
        width: 32,
        widths: [32, 24, 16, 8, 4],
        followers: [expect.stringContaining("Conv")],
        frozen: null,
      },
      { kind: "channels", width: 4, widths: [4], frozen: "it is the model's output y" },
    ]);
  } finally {
    await runtime.close();
  }
});
