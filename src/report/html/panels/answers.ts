/** Whose answers changed: right before and after, only before, only after, neither; and the samples that lost the most. */
import type { AnswerFacts, RunResult } from "../../../pipeline/result.js";
import { change, count, percent, plural, score } from "../../numbers.js";
import { areaKey } from "../chart.js";
import { html, type Markup } from "../markup.js";
import type { Panel } from "../panel.js";
import { number, table } from "../table.js";

export function answersPanel({ accuracy }: RunResult): Panel {
  const body: Markup[] = [];
  if (accuracy?.answers) body.push(...drawn(accuracy.answers));
  if (accuracy?.worst?.length) {
    body.push(
      table("Samples that lost the most, counted from 0 in the order of the data", accuracy.worst, [
        number("sample", ({ sample }) => sample, count),
        number("before", ({ baseline }) => baseline, score),
        number("after", ({ candidate }) => candidate, score),
        number("change", ({ baseline, candidate }) => candidate - baseline, change),
      ]),
    );
  }
  return { id: "answers", title: "Answers", body };
}

const WIDE = 640;
const HIGH = 46;

function drawn(answers: AnswerFacts): Markup[] {
  const rows = (
    [
      ["both", "right before and after"],
      ["onlyBefore", "right only before"],
      ["onlyAfter", "right only after"],
      ["neither", "wrong before and after"],
    ] as const
  ).map(([key, title]) => ({ key, title, samples: answers[key] }));
  const total = rows.reduce((sum, { samples }) => sum + samples, 0);
  const share = (samples: number): string => percent(samples / Math.max(1, total), 3);
  let left = 0;
  const bars = rows.map(({ key, title, samples }) => {
    const wide = (WIDE * samples) / Math.max(1, total);
    const bar = html`<rect class="answer ${key}" x="${left.toFixed(1)}" y="4" width="${wide.toFixed(1)}" height="${HIGH - 8}"><title>${title}: ${count(samples)}</title></rect>`;
    left += wide;
    return bar;
  });
  const changed = answers.onlyBefore + answers.onlyAfter;
  const description = `Of ${plural(total, "sample")}, ${rows.map(({ title, samples }) => `${count(samples)} ${title}`).join(", ")}.`;
  const keys = rows.map(({ key, title }) => areaKey(`answer ${key}`, title));
  return [
    html`<p>${plural(changed, "answer")} of ${count(total)} changed: ${count(answers.onlyBefore)} for the worse, ${count(answers.onlyAfter)} for the better.</p>`,
    html`<p class="key">${keys}</p><svg viewBox="0 0 ${WIDE} ${HIGH}" role="img" aria-label="${description}">${bars}</svg>`,
    html`<div class="table"><table><caption>Samples by who answered right</caption><tbody>${rows.map(({ title, samples }) => html`<tr><th scope="row">${title}</th><td class="n">${count(samples)}</td><td class="n">${share(samples)}</td></tr>`)}</tbody></table></div>`,
  ];
}
