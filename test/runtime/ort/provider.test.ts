import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { Tensor } from "../../../src/ir/index.js";
import { scaling, session, startRuntime, writeFile } from "./workbench.js";

const feeds = new Map([["x", Tensor.f32([1, 2], [1, 2])]]);

describe("a provider that is missing", () => {
  it("is one error of one line", async () => {
    await expect(startRuntime().run(scaling(1), feeds, { ...session, provider: "cuda" })).rejects.toMatchObject({
      code: "PROVIDER_MISSING",
      kind: "runtime",
      message: expect.stringMatching(/^provider cuda is not available: [^\n]+$/),
      hint: expect.stringContaining("--allow-fallback"),
    });
  });

  it("may be one that nobody has heard of", async () => {
    const { message } = await startRuntime()
      .run(scaling(1), feeds, { ...session, provider: "abacus" })
      .then(
        () => expect.fail("it ran"),
        (error: Error) => error,
      );
    expect(message).toMatch(/^provider abacus is not available: this build of ONNX Runtime knows only cpu/);
  });

  it("is replaced only on request, and that is on record", async () => {
    const runtime = startRuntime();
    expect(runtime.fallbacks()).toEqual([]);
    const outputs = await runtime.run(scaling(2), feeds, { ...session, provider: "cuda", allowFallback: true });
    expect([...outputs.get("y")!.f32()]).toEqual([2, 4]);
    expect(runtime.fallbacks()).toEqual([{ wanted: "cuda", used: "cpu", reason: expect.any(String) }]);
  });

  it("is not blamed for a model that no provider takes", async () => {
    await expect(
      startRuntime().describe(writeFile("a.onnx", "hello"), { ...session, allowFallback: true }),
    ).rejects.toMatchObject({ code: "MODEL_REJECTED" });
  });

  it("leaves nothing on the terminal", async () => {
    const index = fileURLToPath(new URL("../../../dist/runtime/ort/index.js", import.meta.url));
    const script = writeFile(
      "ask.mjs",
      `import { ortRuntime } from ${JSON.stringify(index)};
       const runtime = ortRuntime();
       const session = { provider: "cuda", threads: 1, optimization: "all" };
       await runtime.describe(process.argv[2], session).catch((error) => process.stdout.write(error.code));`,
    );
    // The script never closes its runtime: an idle child must not keep it alive either.
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [script, scaling(1)]);
    expect({ stdout, stderr }).toEqual({ stdout: "PROVIDER_MISSING", stderr: "" });
  });
});
