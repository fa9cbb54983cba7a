import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readArrivalTrace } from "../../../src/pipeline/load/arrival-trace.js";
import { faultOf } from "../../support/dataset.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const file = (text: string): string => join(temporaryFolder({ "t.txt": text }), "t.txt");

describe("a trace of arrivals", () => {
  it("is read in seconds, and begins with its first", () => {
    expect([
      ...readArrivalTrace(file("# epoch\n1700000000.5\n\n1700000001\r\n1700000001\n1.7000000025e9\n"), null),
    ]).toEqual([0, 500, 500, 2000]);
  });

  it.each([
    ["a word", "0\nsoon\n", `line 2 ("soon")`],
    ["a negative moment", "-1\n0\n", "line 1"],
    ["moments out of order", "0\n5\n4\n", "line 3"],
    ["hexadecimal", "0x10\n20\n", "line 1"],
    ["an empty file", "", "holds 0 arrivals"],
    ["a single arrival", "3\n", "holds 1 arrivals"],
    ["milliseconds for seconds", "0\n90000\n90001\n", "lasts 25 hours"],
    ["arrivals that are all at one moment", "3\n3\n3\n", "one moment"],
  ])("refuses %s", async (_, text, what) => {
    const fault = await faultOf(() => readArrivalTrace(file(text), null));
    expect(fault).toMatchObject({ code: "TRACE_INVALID", kind: "input" });
    expect(fault.message).toContain(what);
  });

  it("is replayed as far as the time goes", async () => {
    const path = file("5\n6\n7\n100005\n");
    expect([...readArrivalTrace(path, 1500)]).toEqual([0, 1000]);
    expect((await faultOf(() => readArrivalTrace(path, 500))).message).toContain("1 arrivals within --budget");
  });

  it("refuses a file that is not there", async () => {
    expect((await faultOf(() => readArrivalTrace("/no/such/file", null))).code).toBe("TRACE_INVALID");
  });
});
