import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readConfigFile } from "../../src/cli/config-file.js";
import { resolveSettings } from "../../src/cli/settings.js";
import { faultOf } from "../support/dataset.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const configIn = (text: string): string => join(temporaryFolder({ "c.json": text }), "c.json");

describe("readConfigFile", () => {
  it("reads flags by their camelCase names, numbers and single values too", () => {
    const path = configIn(`{"$schema": "x", "threads": 2, "maxDrop": "0.5%", "slo": "p95=20ms", "keepOpset": true}`);
    const settings = resolveSettings({}, ".", readConfigFile(path));
    expect(settings).toMatchObject({
      threads: [2],
      maxDrop: { percent: 0.5 },
      slo: [{ percentile: "p95", ms: 20 }],
      keepOpset: true,
    });
  });

  it("refuses an unknown key by name and suggests the nearest", async () => {
    const fault = await faultOf(() => readConfigFile(configIn(`{"maxDrp": "1%"}`)));
    expect(fault).toMatchObject({ code: "CONFIG_UNKNOWN_KEY", kind: "input", hint: `Did you mean "maxDrop"?` });
    expect(fault.message).toContain(`"maxDrp"`);
  });

  it("suggests no key that is nothing like it", async () => {
    const fault = await faultOf(() => readConfigFile(configIn(`{"banana": "1%"}`)));
    expect(fault.hint).toContain("names of flags");
  });

  it.each([["inPlace"], ["merge"], ["config"]])("refuses %s, which belongs on the command line", async (key) => {
    const fault = await faultOf(() => readConfigFile(configIn(`{"${key}": true}`)));
    expect(fault.code).toBe("CONFIG_UNKNOWN_KEY");
  });

  it.each([
    [`{"json": "yes"}`, "true or false"],
    [`{"maxDrop": true}`, "a text or a number"],
    [`{"slo": {"p95": 20}}`, "a text or a list of texts"],
    [`{"slo": [null]}`, "a text or a list of texts"],
    ["[]", "a JSON object"],
    ["null", "a JSON object"],
  ])("refuses %s, saying what it should be", async (text, wanted) => {
    const fault = await faultOf(() => readConfigFile(configIn(text)));
    expect(fault).toMatchObject({ code: "CONFIG_INVALID", kind: "input" });
    expect(fault.message).toContain(wanted);
  });

  it.each([["{"], [""], ["maxDrop: 1%"]])("refuses %s, which is no JSON", async (text) => {
    expect(await faultOf(() => readConfigFile(configIn(text)))).toMatchObject({
      code: "CONFIG_UNREADABLE",
      kind: "input",
    });
  });

  it("refuses a file that is not there", async () => {
    const { code, message } = await faultOf(() => readConfigFile("nowhere/c.json"));
    expect([code, message]).toEqual(["CONFIG_UNREADABLE", "config nowhere/c.json is not there"]);
  });
});

describe("resolveSettings", () => {
  it("lets flags win over the file, and the file over the defaults", () => {
    const config = readConfigFile(configIn(`{"seed": 7, "batch": 4}`));
    expect(resolveSettings({ seed: "9" }, ".", config)).toMatchObject({ seed: 9, batch: [4], provider: "cpu" });
  });

  it("takes paths in a file from the file's folder, and those of flags from the current one", () => {
    const path = configIn(`{"calibration": "data/c.npz"}`);
    const settings = resolveSettings({ eval: "e.npz" }, "here", readConfigFile(path));
    expect(settings.calibration).toBe(join(path, "..", "data", "c.npz"));
    expect(settings.eval).toBe(join("here", "e.npz"));
  });

  it("names the key and the file of a bad value", async () => {
    const config = readConfigFile(configIn(`{"threads": 0}`));
    const fault = await faultOf(() => resolveSettings({}, ".", config));
    expect(fault).toMatchObject({ code: "CONFIG_INVALID", kind: "input" });
    expect(fault.message).toContain(`threads in ${config.path}: "0"`);
  });
});
