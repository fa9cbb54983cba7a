/** How near each node comes to what the machine can do (Williams, Waterman and Patterson, 2009): above the bend arithmetic bounds it, left of it memory. */
import type { ModelProfileFacts, NodeProfileFacts, ProfileFacts } from "../../../pipeline/profile/profile-facts.js";
import type { RunResult } from "../../../pipeline/result.js";
import { overPeak } from "../../bound.js";
import { milliseconds, plural, significant } from "../../numbers.js";
import { axesFor, chart, dotKey, line, lineKey, logarithmic, marks, px } from "../chart.js";
import { html, type Markup } from "../markup.js";
import type { Panel } from "../panel.js";
import { folded, number, text } from "../table.js";

export function rooflinePanel({ profile }: RunResult): Panel {
  return { id: "roofline", title: "Roofline", body: profile?.machine ? drawn(profile, profile.machine) : [] };
}

interface Point {
  readonly side: "before" | "after";
  readonly node: NodeProfileFacts;
  /** FLOP a byte, and GFLOP a second. */
  readonly intensity: number;
  readonly speed: number;
}

const MOST_DRAWN = 400;

function pointsOf({ nodes }: ModelProfileFacts, side: Point["side"]): Point[] {
  return nodes.flatMap((node) => {
    const { intensity, flops, ms } = node;
    return intensity !== null && flops && intensity > 0 && ms > 0
      ? [{ side, node, intensity, speed: flops / ms / 1e6 }]
      : [];
  });
}

function drawn({ models }: ProfileFacts, machine: NonNullable<ProfileFacts["machine"]>): Markup[] {
  const [before, after] = models as [ModelProfileFacts, ModelProfileFacts?];
  const all = [...pointsOf(before, "before"), ...(after ? pointsOf(after, "after") : [])];
  if (all.length === 0) return [];
  const points = [...all].sort((a, b) => b.node.ms - a.node.ms).slice(0, MOST_DRAWN);
  const roofs = [
    { name: "float", peak: machine.flopsPerSecond / 1e9, className: "roof" },
    { name: "8-bit integers", peak: machine.intOpsPerSecond / 1e9, className: "roof integers" },
  ];
  const bandwidth = machine.bytesPerSecond / 1e9;
  const bends = roofs.map(({ peak }) => peak / bandwidth);
  const axes = axesFor(
    [...points.map(({ intensity }) => intensity), ...bends],
    [...points.map(({ speed }) => speed), ...roofs.map(({ peak }) => peak)],
    logarithmic,
    logarithmic,
  );
  const { x, y } = axes;
  const [least, most] = [
    Math.min(...points.map(({ intensity }) => intensity), ...bends),
    Math.max(...points.map(({ intensity }) => intensity), ...bends),
  ];
  const lines = roofs.map(({ peak, className }) => {
    const corners = [least, peak / bandwidth, most].map((at) => [x(at), y(Math.min(peak, at * bandwidth))] as const);
    return line(className, corners);
  });
  const longest = Math.max(...points.map(({ node }) => node.ms));
  const dots = points.map(({ side, node, intensity, speed }) => {
    const radius = 2.5 + 7 * Math.sqrt(node.ms / longest);
    return {
      className: side === "before" ? "spot base" : "spot taken",
      at: [x(intensity), y(speed)] as const,
      radius,
      title: `${node.op} ${node.name} ${side}: ${significant(speed)} GFLOP/s at ${significant(intensity)} FLOP/B, ${milliseconds(node.ms)} ms`,
    };
  });
  const arrows = after ? moved(points, x, y) : [];
  const description = `${plural(points.length, "node")} by arithmetic for each byte and by speed, under what the machine reaches: ${significant(roofs[0]!.peak)} GFLOP/s in float, ${significant(roofs[1]!.peak)} in 8-bit integers, ${significant(bandwidth)} GB/s.`;
  const left = all.length - points.length;
  const over = (after ? [before, after] : [before]).flatMap((model) => {
    const why = overPeak(model);
    return why === null
      ? []
      : html`<p class="faint">Above the lines${after ? ` (${model === before ? "before" : "after"})` : ""}: ${why}.</p>`;
  });
  return [
    html`<p class="key">${dotKey("spot base", after ? "before" : "nodes; the larger, the more time")}${after ? dotKey("spot taken", "after; the larger, the more time") : null}${lineKey("roof", "peak in float")}${lineKey("roof integers", "peak in 8-bit integers")}</p>`,
    chart(
      description,
      axes,
      ["FLOP for each byte (logarithmic)", "GFLOP/s (logarithmic)"],
      [...lines, ...arrows, ...marks(dots)],
    ),
    ...over,
    ...(left > 0
      ? [html`<p class="faint">${plural(left, "node")} that take the least time are in the table only.</p>`]
      : []),
    folded(
      "As a table",
      "Nodes with arithmetic, by time",
      [...all].sort((a, b) => b.node.ms - a.node.ms),
      [
        text("node", ({ node }) => node.name),
        text("operator", ({ node }) => node.op),
        ...(after ? [text<Point>("model", ({ side }) => side)] : []),
        number("FLOP/B", ({ intensity }) => intensity, significant),
        number("GFLOP/s", ({ speed }) => speed, significant),
        number("ms", ({ node }) => node.ms, milliseconds),
      ],
    ),
  ];
}

/** From a node before to the node of the same name after. */
function moved(points: readonly Point[], x: (value: number) => number, y: (value: number) => number): Markup[] {
  const old = new Map(points.filter(({ side }) => side === "before").map((point) => [nameOf(point), point]));
  const ways = points.flatMap((point) => {
    const from = point.side === "after" ? old.get(nameOf(point)) : undefined;
    if (!from || nameOf(point) === "") return [];
    return [`M${px(x(from.intensity))} ${px(y(from.speed))}L${px(x(point.intensity))} ${px(y(point.speed))}`];
  });
  return ways.length > 0 ? [html`<path class="arrow" d="${ways.join("")}"/>`] : [];
}

/** In the runtime's blocked layout and in its integer kernels a node has more behind its name. */
const nameOf = ({ node }: Point): string => node.name.replace(/_(nchwc|quant)$/, "");
