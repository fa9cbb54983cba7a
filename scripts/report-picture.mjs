// Draws docs/report.svg, the picture at the top of the README, from the result of a real run (examples/digits.result.json).
// `--run` makes that run anew first. Run `npm run build` before.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
export const resultFile = "examples/digits.result.json";

/** The command whose result is drawn, without the flags that only say where to write. */
export const commandLine = [
  "infer-opt optimize fixtures/models/digits.onnx -o digits.int8.onnx",
  "--calibration calibration/digits/calibration.npz --eval calibration/digits/evaluation.npz",
  "--metric top1 --threads 1",
].join(" ");

const CELL = 8.4;
const LINE = 19;
const MARGIN = 18;

/** A text with the colours of a terminal as SVG that follows the light or dark setting of whoever looks at it. */
export function pictureOf(text, columns) {
  const lines = text.trimEnd().split("\n");
  const width = Math.ceil(columns * CELL + 2 * MARGIN);
  const height = lines.length * LINE + 2 * MARGIN;
  const body = lines.flatMap((line, i) => lineOf(line, MARGIN + (i + 0.75) * LINE));
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    "<title>What infer-opt prints at the end of a run</title>",
    "<style>",
    "text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #1f2328 }",
    "rect { fill: #ffffff; stroke: #d1d9e0 }",
    ".b { font-weight: 700 } .d { fill: #59636e } .g { fill: #116329 } .r { fill: #b3261e } .y { fill: #7d4e00 }",
    "@media (prefers-color-scheme: dark) {",
    "text { fill: #e6edf3 } rect { fill: #0d1117; stroke: #3d444d }",
    ".d { fill: #9198a1 } .g { fill: #3fb950 } .r { fill: #ff7b72 } .y { fill: #d29922 }",
    "}",
    "</style>",
    `<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>`,
    ...body,
    "</svg>",
  ].join("\n")}\n`;
}

const classes = { 1: "b", 2: "d", 31: "r", 32: "g", 33: "y" };

/** Words apart by more than one space stand where their column is, whatever font there is. */
function lineOf(line, y) {
  const parts = [];
  let at = 0;
  let style = new Set();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escapes of a terminal are what is looked for.
  for (const piece of line.split(/(\u001b\[\d+m)/)) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: as above.
    const code = /^\u001b\[(\d+)m$/.exec(piece)?.[1];
    if (code !== undefined) {
      if (classes[code]) style.add(classes[code]);
      else style = new Set();
      continue;
    }
    for (const { 0: words, index } of piece.matchAll(/\S+(?: \S+)*/g)) {
      const name = style.size > 0 ? ` class="${[...style].join(" ")}"` : "";
      const x = (MARGIN + (at + index) * CELL).toFixed(1);
      const length = (words.length * CELL).toFixed(1);
      parts.push(`<text x="${x}" y="${y.toFixed(1)}" textLength="${length}"${name}>${escaped(words)}</text>`);
    }
    at += piece.length;
  }
  return parts;
}

const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

/** The command as one would type it, then the report; what is told below of passes and candidates is left out. */
export function shortened(report) {
  const typed = broken(commandLine, "    ");
  const blocks = report.trimEnd().split("\n\n");
  const end = blocks.findIndex((block) => block.startsWith(" kept in float"));
  const last = blocks.at(-1).replace(/^ next {2}.*$/m, (line) => broken(line, "         "));
  return [`$ ${typed}`, ...blocks.slice(0, end + 1), " ...", last].join("\n\n");
}

/** A command in lines that still can be pasted. */
const broken = (line, indent) => line.replace(/ (?=--(?:calibration|eval|metric))/g, ` \\\n${indent}`);

/** The picture of the stored result. */
export async function reportPicture({ palette, readResult, renderText }) {
  const result = readResult(join(root, resultFile));
  return pictureOf(shortened(renderText(result, palette(true), commandLine)), 80);
}

function runAnew() {
  const folder = mkdtempSync(join(tmpdir(), "infer-opt-picture-"));
  try {
    const words = commandLine.split(" ").slice(1);
    words[words.indexOf("-o") + 1] = join(folder, "digits.int8.onnx");
    const report = join(folder, "result.json");
    const args = [join(root, "bin/infer-opt.js"), ...words, "--report", report];
    const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
    if (status !== 0) throw new Error(`the run ended with ${status}`);
    const text = readFileSync(report, "utf8").replaceAll(`${folder}/`, "");
    writeFileSync(join(root, resultFile), text);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  if (process.argv.includes("--run")) runAnew();
  writeFileSync(join(root, "docs/report.svg"), await reportPicture(await import("../dist/index.js")));
}
