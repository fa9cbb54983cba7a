/** The picture in the README is what the program prints of a real result. */
import { readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { commandLine, pictureOf, reportPicture, resultFile, shortened } from "../../scripts/report-picture.mjs";
import { palette, readResult, renderText } from "../../src/index.js";
import { objectionTo } from "./command-lines.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const textOf = (path: string): string => readFileSync(join(root, path), "utf8");

it("docs/report.svg is drawn from the stored result (node scripts/report-picture.mjs)", async () => {
  expect(textOf("docs/report.svg")).toBe(await reportPicture({ palette, readResult, renderText }));
});

it("the result is that of the command in the picture, and no other machine's paths are in it", async () => {
  expect(await objectionTo(commandLine)).toBeNull();
  const result = readResult(join(root, resultFile));
  expect(result).toMatchObject({ command: "optimize", verdict: { status: "pass" }, accuracy: { kind: "labels" } });
  expect([result.model.path, result.output!.path].filter(isAbsolute)).toEqual([]);
});

it("the picture leaves nothing out before what stayed in float", () => {
  const report = renderText(readResult(join(root, resultFile)), palette(false));
  const text = shortened(report);
  const kept = report.slice(0, report.indexOf(" kept in float"));
  expect(text).toContain(kept.trimEnd());
});

it("has every word at its column, with colours as classes and nothing that could be markup", () => {
  const picture = pictureOf("\u001b[1m\u001b[32mPASS\u001b[39m\u001b[22m  <a & b>   1", 20);
  expect(picture).toContain('<text x="18.0" y="32.3" textLength="33.6" class="b g">PASS</text>');
  expect(picture).toContain('<text x="68.4" y="32.3" textLength="58.8">&lt;a &amp; b&gt;</text>');
  expect(picture).toContain('<text x="152.4" y="32.3" textLength="8.4">1</text>');
});
