import { describe, expect, it } from "vitest";
import { toOrtOptions } from "../../../src/runtime/ort/child/options.js";
import { session } from "./workbench.js";

describe("toOrtOptions", () => {
  const sessionEntries = (waiting?: "asleep" | "asleep-after-runs") =>
    toOrtOptions({ ...session, ...(waiting && { waiting }) }, "cpu").extra;

  it("tells the runtime how its threads are to wait, in keys that it knows", () => {
    expect(sessionEntries()).toBeUndefined();
    expect(sessionEntries("asleep")).toEqual({ session: { "intra_op.allow_spinning": "0" } });
    expect(sessionEntries("asleep-after-runs")).toEqual({ session: { force_spinning_stop: "1" } });
  });

  it("asks for kernels that do not saturate where sums are to be exact", () =>
    expect(toOrtOptions({ ...session, isExact: true }, "cpu").extra).toEqual({ session: { x64quantprecision: "1" } }));
});
