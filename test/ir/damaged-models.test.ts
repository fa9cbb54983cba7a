import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { type Random, seededRandom } from "../../src/base/random.js";
import { check, loadModel, saveModel } from "../../src/ir/index.js";
import { codeOf, temporaryFolder } from "../onnx/build.js";

const fixtures = fileURLToPath(new URL("../../fixtures/models/", import.meta.url));
const models = readdirSync(fixtures).filter((name) => name.endsWith(".onnx"));

/** Bits flipped, bytes replaced, pieces cut out, put in, copied; mostly near the start, where graphs are. */
function damage(original: Uint8Array, random: Random): Uint8Array {
  let bytes = new Uint8Array(original);
  for (let times = 1 + random.below(5); times > 0; times--) {
    const at = random.below(random.below(4) === 0 ? bytes.length : Math.min(bytes.length, 3000));
    const length = random.below(20);
    switch (random.below(6)) {
      case 0:
        bytes[at] = bytes[at]! ^ (1 << random.below(8));
        break;
      case 1:
        bytes[at] = random.below(256);
        break;
      case 2:
        bytes.fill(0xff, at, at + length);
        break;
      case 3:
        bytes = new Uint8Array(Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]));
        break;
      case 4:
        bytes.copyWithin(at, random.below(bytes.length), bytes.length);
        break;
      default:
        if (random.below(4) === 0) bytes = bytes.slice(0, at + 1);
    }
    if (bytes.length === 0) return bytes;
  }
  return bytes;
}

/** Replaces what fields hold and leaves their framing whole, so that the damage gets past the reader. */
function change(original: Uint8Array, random: Random): Uint8Array {
  const bytes = new Uint8Array(original);
  for (let times = 1 + random.below(12); times > 0; times--) {
    const at = random.below(Math.min(bytes.length, 4000));
    // Letters for letters, small numbers for small numbers: lengths and tags are rarely hit.
    const byte = bytes[at]!;
    if (byte >= 0x61 && byte <= 0x7a) bytes[at] = 0x61 + random.below(26);
    else if (byte <= 20) bytes[at] = random.below(21);
  }
  return bytes;
}

it.each(models)("a damaged %s is refused in words, or is a model", (name) => {
  const folder = temporaryFolder();
  copyFileSync(join(fixtures, "external.data"), join(folder, "external.data"));
  const path = join(folder, name);
  const original = new Uint8Array(readFileSync(join(fixtures, name)));
  const random = seededRandom(name.length);
  const runs = original.length > 100_000 ? 20 : 80;
  let survivors = 0;
  for (let i = 0; i < runs; i++) {
    writeFileSync(path, (i % 2 ? damage : change)(original, random));
    const code = codeOf(() => {
      const model = loadModel(path);
      check(model.graph);
      const staged = saveModel(model, join(folder, "out.onnx"));
      check(loadModel(staged.path).graph);
      staged.discard();
    });
    if (code === null) survivors++;
  }
  expect(survivors).toBeGreaterThan(0);
  expect(survivors).toBeLessThan(runs);
});
