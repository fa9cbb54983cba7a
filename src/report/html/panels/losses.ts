/** Where accuracy is lost, and the command that wins it back: the layers that add the most noise, or how to find them. */
import { shellWord } from "../../../base/shell-word.js";
import type { RunResult } from "../../../pipeline/result.js";
import { afterOf, beforeOf } from "../../../pipeline/sides.js";
import { layerRows } from "../../layer-rows.js";
import { isInteger, type Loss, type Losses, losses } from "../../losses.js";
import { suggest } from "../../next.js";
import { count, milliseconds, percent, plural, significant } from "../../numbers.js";
import { carried, excludeCommand } from "../../reproduce.js";
import { html, type Markup } from "../markup.js";
import type { Panel } from "../panel.js";
import { number, table, text } from "../table.js";

export function lossesPanel(result: RunResult, commandLine: string | null): Panel {
  const panel = { id: "losses", title: "Where accuracy is lost" };
  const after = afterOf(result);
  if (!after || !layerRows(result).some(isInteger)) return { ...panel, body: [] };
  const found = losses(result);
  if (found) return { ...panel, body: told(result, found, commandLine) };
  // The command to try next is that already.
  const isNext = suggest(result, commandLine)?.command.includes(" --layers") ?? false;
  return { ...panel, body: isNext ? [] : unknown(result, after.path, commandLine) };
}

/** Enough of them for half of the noise, and no more than can be tried at once. */
const [HALF, MOST_NAMED] = [0.5, 4];

function told(result: RunResult, { by, rows }: Losses, commandLine: string | null): Markup[] {
  const worst: Loss[] = [];
  for (const row of rows) {
    if (worst.length === MOST_NAMED || worst.reduce((sum, { share }) => sum + share, 0) >= HALF) break;
    if (row.exclude.length > 0) worst.push(row);
  }
  const names = [...new Set(worst.flatMap(({ exclude }) => exclude))];
  const share = worst.reduce((sum, row) => sum + row.share, 0);
  const saved = new Map(worst.flatMap(({ exclude, savedMs }) => (savedMs === null ? [] : [[exclude.join(), savedMs]])));
  const cost = [...saved.values()].reduce((sum, ms) => sum + ms, 0);
  const words =
    by === "alone"
      ? "SQNR of the outputs with this layer alone on integers."
      : "SQNR of what a layer makes, beside that of what it reads: where it falls, noise is added. A float layer that adds noise makes more of what it is fed; the flag then is about what feeds it.";
  return [
    html`<p>${words}</p>`,
    ...(names.length > 0
      ? [
          html`<p>${plural(worst.length, "layer")} ${worst.length === 1 ? "adds" : "add"} ${percent(share, 2)} of the noise.${cost > 0 ? html` In float they cost about ${milliseconds(cost)} ms of a run again.` : null} To try it${isMaking(result) ? "" : ", with the command that made the file"}:</p>`,
          html`<pre class="command">${isMaking(result) ? excludeCommand(result, names, commandLine) : names.map((name) => `--exclude ${shellWord(name)}`).join(" ")}</pre>`,
        ]
      : []),
    table(`${count(rows.length)} layers that add noise, the most first`, rows, [
      text("layer", ({ node }) => node),
      text("operator", ({ op }) => op),
      ...(by === "along" ? [number<Loss>("dB read", ({ readDb }) => readDb, significant)] : []),
      number<Loss>(by === "along" ? "dB made" : "SQNR dB alone", ({ sqnrDb }) => sqnrDb, significant),
      number(
        "of the noise",
        (row) => row.share,
        (value) => percent(value, 2),
      ),
      ...(rows.some(({ savedMs }) => savedMs !== null)
        ? [number<Loss>("saves ms", ({ savedMs }) => savedMs, milliseconds)]
        : []),
      text("to keep it float", ({ exclude }) => exclude.map((name) => `--exclude ${shellWord(name)}`).join(" ")),
    ]),
  ];
}

const isMaking = ({ command }: RunResult): boolean => command === "quantize" || command === "optimize";

function unknown(result: RunResult, path: string, commandLine: string | null): Markup[] {
  const command = `infer-opt verify ${shellWord(beforeOf(result).path)} ${shellWord(path)} --layers${carried(commandLine ?? "", ["--eval", "--metric", "--provider", "--target"])} --report layers.html`;
  return [
    html`<p>This run did not measure what single layers cost. This does, and its page names the flags that win it back:</p>`,
    html`<pre class="command">${command}</pre>`,
  ];
}
