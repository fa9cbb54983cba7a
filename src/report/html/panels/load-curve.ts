/** Latency as the load grows: of the rates that `--find-max-rate` tried, and of the batch sizes of a sweep. */
import type { ModelLoadFacts, TriedRate } from "../../../pipeline/load/load-facts.js";
import type { SweepFacts } from "../../../pipeline/sweep/sweep-facts.js";
import { fileNames } from "../../model-names.js";
import { milliseconds, plural, significant } from "../../numbers.js";
import {
  axesFor,
  BOTTOM,
  chart,
  dotKey,
  LEFT,
  line,
  lineKey,
  logarithmic,
  px,
  RIGHT,
  type Scale,
  TOP,
} from "../chart.js";
import { html, type Markup } from "../markup.js";

type Known = TriedRate & { readonly latency: NonNullable<TriedRate["latency"]> };

/**
 * Nothing for results of versions that kept no latencies of the rates.
 *
 * @param name what the model is called beside the others
 * @param slo milliseconds that the 95th percentile may take; null where nobody said
 */
export function rateCurve({ maxRate }: ModelLoadFacts, name: string, slo: number | null): Markup[] {
  const tried = (maxRate?.tried ?? []).filter((each): each is Known => each.latency !== undefined);
  const known = tried.filter(({ latency }) => latency.p50Ms > 0).sort((a, b) => a.perSecond - b.perSecond);
  if (known.length < 2) return [];
  const tail = ({ latency }: Known): number => latency.p95Ms ?? latency.p50Ms;
  const axes = axesFor(
    known.map(({ perSecond }) => perSecond),
    [...(slo === null ? [] : [slo]), ...known.flatMap((each) => [each.latency.p50Ms, tail(each)])],
    logarithmic,
    logarithmic,
  );
  const { x, y } = axes;
  const lines = [
    line(
      "after",
      known.map((each) => [x(each.perSecond), y(tail(each))] as const),
    ),
    line(
      "front-line",
      known.map((each) => [x(each.perSecond), y(each.latency.p50Ms)] as const),
    ),
  ];
  const dots = known.map(
    (each) =>
      html`<circle class="spot ${{ met: "good", missed: "bad", inconclusive: "unsure" }[each.status]}" cx="${px(x(each.perSecond))}" cy="${px(y(tail(each)))}" r="5"><title>${significant(each.perSecond)} a second: p50 ${milliseconds(each.latency.p50Ms)} ms, p95 ${milliseconds(each.latency.p95Ms)} ms, ${each.status}</title></circle>`,
  );
  const most = maxRate?.perSecond ?? null;
  const limit = [
    ...ceiling(slo, y),
    ...(most === null
      ? []
      : [
          html`<line class="most" x1="${px(x(most))}" x2="${px(x(most))}" y1="${TOP}" y2="${BOTTOM}"><title>${significant(most)} a second</title></line>`,
        ]),
  ];
  const said =
    most === null ? "no rate tried meets the limits" : `limits are met up to ${significant(most)} requests a second`;
  const description = `Latency of ${name} from arrival to answer at ${plural(known.length, "rate")}: ${said}.`;
  return [
    html`<p class="key">${lineKey("after", "p95")}${lineKey("front-line", "p50")}${dotKey("spot good", "limits met")}${dotKey("spot unsure", "undecided")}${dotKey("spot bad", "missed")}${ceilingKey(slo)}${most === null ? null : lineKey("most", "the highest rate within the limits")}</p>`,
    chart(description, axes, ["requests a second (logarithmic)", "ms (logarithmic)"], [...limit, ...lines, ...dots]),
  ];
}

export function sweepCurve({ settings, best, fastest }: SweepFacts): Markup[] {
  if (settings.length < 2) return [];
  const slo = settings[0]!.limits.find(({ limit }) => limit === "slo p95")?.wanted ?? null;
  const axes = axesFor(
    settings.map(({ throughputPerSecond }) => throughputPerSecond),
    [...settings.map(({ p50Ms, p95Ms }) => p95Ms ?? p50Ms), ...(slo === null ? [] : [slo])],
  );
  const { x, y } = axes;
  const taken = best ?? fastest;
  // Names of dots that are near each other: above or below, where no other is.
  const named: (readonly [left: number, top: number])[] = [];
  const placed = (left: number, top: number): number => {
    const isFree = (at: number): boolean =>
      named.every(([x0, y0]) => Math.abs(x0 - left) > 34 || Math.abs(y0 - at) > 13);
    const at = [top - 9, top + 18, top - 22, top + 31].find(isFree) ?? top - 9;
    named.push([left, at]);
    return at;
  };
  const names = fileNames(settings.map(({ model }) => model));
  const models = [...names.values()];
  // One model: what was taken stands out. Several: each has its colour, and what was taken a ring.
  const kindOf = (name: string, i: number): string => {
    if (models.length === 1) return i === taken ? "spot taken" : "spot base";
    return modelKinds[Math.min(models.indexOf(name), modelKinds.length - 1)]!;
  };
  const dots = settings.map(({ model, batch, threads, throughputPerSecond, p50Ms, p95Ms }, i) => {
    const [left, top] = [x(throughputPerSecond), y(p95Ms ?? p50Ms)];
    const title = `${names.get(model.path)!}, batch ${batch}, ${plural(threads, "thread")}: ${significant(throughputPerSecond)} a second, p95 ${milliseconds(p95Ms)} ms`;
    const ring =
      models.length > 1 && i === taken
        ? html`<path class="ring" d="M${px(left - 9)} ${px(top)}a9 9 0 1 0 18 0a9 9 0 1 0 -18 0"/>`
        : null;
    return html`<circle class="${kindOf(names.get(model.path)!, i)}" cx="${px(left)}" cy="${px(top)}" r="5"><title>${title}</title></circle>${ring}<text class="tick name" x="${px(left)}" y="${px(placed(left, top))}" text-anchor="middle">${batch} x ${threads}</text>`;
  });
  const chosen = settings[taken]!;
  const takenText = best === null ? "most a second" : "best within the limits";
  const description = `Throughput and latency of ${plural(settings.length, "setting")}, batch size times threads; ${best === null ? "the fastest" : "the best"} is ${models.length > 1 ? `${names.get(chosen.model.path)!}, ` : ""}batch ${chosen.batch} with ${plural(chosen.threads, "thread")}: ${significant(chosen.throughputPerSecond)} a second.`;
  return [
    html`<p class="key">${
      models.length === 1
        ? [dotKey("spot taken", takenText), dotKey("spot base", "others")]
        : [...models.map((name, i) => dotKey(kindOf(name, i), name)), dotKey("ring", takenText)]
    }<span>beside a dot: batch size x threads</span>${ceilingKey(slo)}</p>`,
    chart(
      description,
      axes,
      [
        "samples a second",
        settings.some(({ p95Ms }) => p95Ms === null) ? "p95, or p50 of too few runs, ms" : "p95, ms",
      ],
      [...ceiling(slo, y), ...dots],
    ),
  ];
}

const modelKinds = ["spot base", "spot", "spot good", "spot unsure"];

const ceilingText = (slo: number): string => `p95 at most ${milliseconds(slo)} ms`;

const ceilingKey = (slo: number | null): Markup | null => (slo === null ? null : lineKey("limit", ceilingText(slo)));

const ceiling = (slo: number | null, y: Scale): Markup[] =>
  slo === null
    ? []
    : [
        html`<line class="limit" x1="${LEFT}" x2="${RIGHT}" y1="${px(y(slo))}" y2="${px(y(slo))}"><title>${ceilingText(slo)}</title></line>`,
      ];
