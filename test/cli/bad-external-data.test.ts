/** Models whose weights lie in other files, and those files are not what they should be. */
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "vitest";
import { externalModel } from "../support/odd-files.js";
import { type Fault, type Scene, scene } from "../support/scene.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const fuse = ["fuse", "model.onnx", "-o", "out.onnx"];
const weights = new Uint8Array(Float32Array.of(1, 2).buffer);

describe("external data is refused that", () => {
  const cases: Record<string, [Record<string, string>, Fault, ((stage: Scene) => void)?]> = {
    "is missing": [{ location: "none.data" }, [3, "EXTERNAL_DATA_MISSING", '"w"', "none.data"]],
    "is too short": [{ location: "w.data", offset: "4" }, [3, "EXTERNAL_DATA_SHORT", '"w"', "w.data"]],
    "has another length than the shape asks for": [
      { location: "w.data", length: "4" },
      [3, "EXTERNAL_DATA_INVALID", '"w"', "w.data"],
    ],
    "climbs out of the folder": [{ location: "../../etc/passwd" }, [3, "EXTERNAL_DATA_OUTSIDE", '"w"', "etc/passwd"]],
    "climbs out and comes back": [
      { location: "a/../../../etc/passwd" },
      [3, "EXTERNAL_DATA_OUTSIDE", '"w"', "etc/passwd"],
    ],
    "has an absolute path": [{ location: "/etc/passwd" }, [3, "EXTERNAL_DATA_OUTSIDE", '"w"', "/etc/passwd"]],
    "is a link to somewhere else": [
      { location: "link.data" },
      [3, "EXTERNAL_DATA_OUTSIDE", '"w"', "link.data"],
      ({ folder }) =>
        symlinkSync(join(temporaryFolder({ "secret.data": weights }), "secret.data"), join(folder, "link.data")),
    ],
    "lies behind a link to another folder": [
      { location: "link/secret.data" },
      [3, "EXTERNAL_DATA_OUTSIDE", '"w"', "link/secret.data"],
      ({ folder }) =>
        symlinkSync(dirname(join(temporaryFolder({ "secret.data": weights }), "secret.data")), join(folder, "link")),
    ],
    "is a folder": [
      { location: "dir" },
      [3, "EXTERNAL_DATA_INVALID", '"w"', "dir"],
      ({ folder }) => mkdirSync(join(folder, "dir")),
    ],
    "is a pipe": [
      { location: "pipe" },
      [3, "EXTERNAL_DATA_INVALID", '"w"', "pipe"],
      ({ folder }) => void execFileSync("mkfifo", [join(folder, "pipe")]),
    ],
    "has no location": [{ offset: "0" }, [3, "EXTERNAL_DATA_INVALID", '"w"']],
    "has an offset of 2^70": [
      { location: "w.data", offset: String(2n ** 70n) },
      [3, "EXTERNAL_DATA_INVALID", '"w"', String(2n ** 70n)],
    ],
  };
  for (const [name, [entries, fault, prepare]] of Object.entries(cases)) {
    it.skipIf(process.platform === "win32" && prepare)(name, async () => {
      const stage = scene({ "model.onnx": externalModel(entries), "w.data": weights });
      prepare?.(stage);
      await stage.refuses(fuse, fault);
    });
  }
});

it("refuses a pipe in the place of the model, without waiting for a writer", async () => {
  const stage = scene();
  execFileSync("mkfifo", [join(stage.folder, "model.onnx")]);
  await stage.refuses(fuse, [3, "MODEL_UNREADABLE", "model.onnx"]);
});
