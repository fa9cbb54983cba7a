/** What `bench` measured: models in turns, requests under load, settings, stages of a request. */
import { percentileNames, percentileText } from "../../../base/percentiles.js";
import type { Percentiles, RunResult } from "../../../pipeline/result.js";
import { fileNames, modelNames } from "../../model-names.js";
import { bytes, count, interval, milliseconds, percent, plural, ratio, significant } from "../../numbers.js";
import { requestNotes } from "../../request-table.js";
import { html, type Markup } from "../markup.js";
import type { Panel } from "../panel.js";
import { type Column, number, table, text } from "../table.js";
import { rateCurve, sweepCurve } from "./load-curve.js";

/** Those that some of the rows have. */
function percentiles<Row>(rows: readonly Row[], of: (row: Row) => Percentiles): Column<Row>[] {
  const known = percentileNames.filter((name) => rows.some((row) => (of(row)[`${name}Ms`] ?? null) !== null));
  return known.map((name, i) =>
    number(`${percentileText(name)}${i === 0 ? " ms" : ""}`, (row: Row) => of(row)[`${name}Ms`] ?? null, milliseconds),
  );
}

export function measurementsPanel(result: RunResult): Panel {
  const body = [...bench(result), ...request(result), ...load(result), ...sweep(result)];
  return { id: "measurements", title: "Measurements", body };
}

function bench({ bench: facts }: RunResult): Markup[] {
  if (!facts) return [];
  const { models, runs, processes, provider, threads, batch, data, noise } = facts;
  const names = modelNames(models.map(({ model }) => model));
  const titles = new Map(models.map((row, i) => [row, names[i]!]));
  const rows = table("Models timed in turns", models, [
    text("model", (row) => titles.get(row)!),
    ...percentiles(models, (row) => row),
    {
      title: "speed",
      value: (row) => row.speedup ?? 1,
      cell: (row) => (row.speedup === null ? "1" : ratio(row.speedup)),
      isNumber: true,
    },
    {
      title: "interval",
      value: (row) => row.speedupInterval?.[0] ?? null,
      cell: (row) => (row.speedupInterval ? interval(row.speedupInterval, ratio) : ""),
      isNumber: true,
    },
    number("first run ms", ({ firstRunMs }) => firstRunMs, milliseconds),
    number("load ms", ({ loadMs }) => loadMs, milliseconds),
    number("memory", ({ peakRssBytes }) => peakRssBytes, bytes),
  ]);
  const how = `${plural(runs, "run")} of each in ${plural(processes, "process")}; ${provider}, ${plural(threads, "thread")}, batch ${batch}; fed ${data}`;
  const self = noise
    ? html`<p>The first model against itself: ${ratio(noise.ratio)} (${interval(noise.interval, ratio)})</p>`
    : null;
  return [html`${rows}<p class="faint">${how}</p>${self}`];
}

function request({ request: facts }: RunResult): Markup[] {
  if (!facts) return [];
  const notes = requestNotes(facts).map((note) => html`<p>${note}</p>`);
  return [
    table("Stages of a request", facts.stages, [
      text("stage", ({ name }) => name),
      number("share", ({ share }) => share, percent),
      ...percentiles(facts.stages, (row) => row),
    ]),
    ...notes,
  ];
}

function load({ load: facts, verdict }: RunResult): Markup[] {
  if (!facts) return [];
  const names = fileNames(facts.models.map(({ model }) => model));
  const slo = verdict.reasons.find(({ limit }) => limit === "slo p95")?.wanted ?? null;
  const rows = facts.models.flatMap((model) =>
    (["latency", "waiting", "service"] as const).map((part) => ({ model, part, times: model[part] })),
  );
  const shown = table(`${significant(facts.rate)} requests a second: from arrival to answer`, rows, [
    text("model", ({ model }) => names.get(model.model.path)!),
    text("part", ({ part }) => ({ latency: "in all", waiting: "waiting", service: "being served" })[part]),
    ...percentiles(rows, ({ times }) => times),
    number("busy", ({ model }) => model.utilization, percent),
  ]);
  const rates = facts.models.flatMap((each) => {
    const { model, maxRate } = each;
    return maxRate
      ? [
          ...rateCurve(each, names.get(model.path)!, slo),
          table(`Rates tried with ${names.get(model.path)!}`, maxRate.tried, [
            number("a second", ({ perSecond }) => perSecond, significant),
            number("p50 ms", ({ latency }) => latency?.p50Ms ?? null, milliseconds),
            number("p95", ({ latency }) => latency?.p95Ms ?? null, milliseconds),
            number("p99", ({ latency }) => latency?.p99Ms ?? null, milliseconds),
            number("waiting p95", ({ waiting }) => waiting?.p95Ms ?? null, milliseconds),
            text("limits", ({ status }) => status),
          ]),
        ]
      : [];
  });
  return [shown, ...rates];
}

function sweep({ sweep: facts }: RunResult): Markup[] {
  if (!facts) return [];
  const names = fileNames(facts.settings.map(({ model }) => model));
  const taken = facts.best ?? facts.fastest;
  const rows = facts.settings.map((setting, i) => ({ ...setting, isTaken: i === taken }));
  return [
    ...sweepCurve(facts),
    table("Batch sizes and threads; the best is marked", rows, [
      ...(new Set(rows.map(({ model }) => model.path)).size > 1
        ? [text<(typeof rows)[number]>("model", ({ model }) => names.get(model.path)!)]
        : []),
      {
        title: "batch",
        value: ({ batch }) => batch,
        cell: ({ batch }) => `${batch}`,
        isMarked: ({ isTaken }) => isTaken,
        isNumber: true,
      },
      number("threads", ({ threads }) => threads, count),
      ...percentiles(rows, (row) => row),
      number("a second", ({ throughputPerSecond }) => throughputPerSecond, significant),
      number("memory", ({ peakRssBytes }) => peakRssBytes, bytes),
      number("cost a million", ({ costPerMillion }) => costPerMillion, significant),
    ]),
  ];
}
