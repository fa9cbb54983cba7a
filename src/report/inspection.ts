/** What is in a model, for a terminal. */
import { basename } from "node:path";
import type { InspectedPort, Inspection } from "../pipeline/inspect/inspect.js";
import { middle, middles, printable } from "./escape.js";
import { bytes, count, plural, significant } from "./numbers.js";
import type { Palette } from "./palette.js";
import { shapeText } from "./shapes.js";
import { columns, wrap } from "./table.js";
import { targetLines } from "./target.js";

const WIDTH = 79;
const MOST = 12;
const TITLE = 10;
/** Nodes named with a finding. */
const NAMED = 3;

export function renderInspection(inspection: Inspection, paint: Palette): string {
  const blocks = [
    head(inspection, paint),
    [...ports("inputs", inspection.inputs), ...ports("outputs", inspection.outputs)],
    operators(inspection),
    parameters(inspection),
    work(inspection),
    inspection.target ? targetLines(inspection.target, paint, WIDTH) : [],
    findings(inspection, paint),
  ].filter((lines) => lines.length > 0);
  return `${blocks.map((lines) => lines.map((line) => ` ${line}`.trimEnd()).join("\n")).join("\n\n")}\n`;
}

function head({ model, opsets, irVersion, producer, externalFiles, functions }: Inspection, paint: Palette): string[] {
  const versions = Object.entries(opsets).map(([domain, version]) => `${printable(domain)} ${version}`);
  const maker = `${producer.name} ${producer.version}`.trim();
  const facts = [
    bytes(model.bytes),
    plural(model.nodes, "node"),
    `opset ${versions.join(", ")}`,
    `IR ${irVersion}`,
    ...(maker === "" ? [] : [`made by ${printable(maker)}`]),
  ];
  return [
    paint.strong(middle(printable(basename(model.path)), WIDTH)),
    ...wrap(facts.join(", "), WIDTH),
    ...(externalFiles.length > 0
      ? wrap(`weights in ${externalFiles.map((file) => printable(basename(file))).join(", ")}`, WIDTH)
      : []),
    ...(functions.length > 0 ? wrap(`functions: ${functions.map(printable).join(", ")}`, WIDTH) : []),
  ];
}

function ports(title: string, list: readonly InspectedPort[]): string[] {
  const shown = list.slice(0, MOST);
  const rows = shown.map(({ name, dtype, shape }, i) => [
    (i === 0 ? title : "").padEnd(TITLE),
    middle(printable(name), 40),
    dtype ?? "?",
    printable(shapeText(shape)),
  ]);
  const lines = columns(rows, ["left", "left", "left", "left"]);
  const left = list.length - shown.length;
  return left > 0 ? [...lines, `${" ".repeat(TITLE)}  and ${left} more`] : lines;
}

function operators({ operators }: Inspection): string[] {
  const shown = operators.slice(0, MOST);
  const left = operators.length - shown.length;
  const list = shown.map(({ op, nodes }) => `${printable(op)} ${count(nodes)}`).join(", ");
  const [first, ...rest] = wrap(left > 0 ? `${list}, and ${left} more operators` : list, WIDTH - 13);
  return [`operators   ${first}`, ...rest.map((line) => `            ${line}`)];
}

function parameters({ parameters }: Inspection): string[] {
  const kinds = parameters.byDtype.map(({ dtype, bytes: size }) => `${dtype} ${bytes(size)}`).join(", ");
  const largest = parameters.largest.slice(0, 3);
  const names = middles(
    largest.map(({ name }) => printable(name)),
    36,
  );
  const rows = largest.map(({ dtype, dims, bytes: size }, i) => [
    `            ${names[i]!}`,
    `${dtype}[${dims.join(",")}]`,
    bytes(size),
  ]);
  return [
    `parameters  ${count(parameters.count)}${kinds === "" ? "" : ` (${kinds})`}`,
    ...(rows.length > 0 ? ["            largest:", ...columns(rows, ["left", "left", "right"])] : []),
  ];
}

function work({ flops, quantized }: Inspection): string[] {
  const unsized = flops.total === null ? flops.nodesWithoutShape : 0;
  const operators = Object.entries(flops.operators).sort(([, a], [, b]) => b - a);
  const counted = operators.length === 0 ? "no products" : operators.map(([op, n]) => `${count(n)} ${op}`).join(", ");
  const known = `${significant(flops.known / 1e6)} MFLOP in ${printable(counted)}`;
  const unknown = unsized > 0 ? `, ${count(unsized)} of them of unknown shape` : "";
  const total =
    unsized > 0 && unsized === flops.nodes ? `unknown: ${printable(counted)} of unknown shape` : known + unknown;
  const loops = flops.nodesInLoops > 0 ? `, loops counted once` : "";
  const free = Object.values(flops.assumed).some((shape) => shape?.some((dim) => typeof dim !== "number"));
  const cure = unsized > 0 && free ? "; give the sizes with --shape" : "";
  const assumed = Object.entries(flops.assumed).map(
    ([name, shape]) => `${printable(name)} ${printable(shapeText(shape))}`,
  );
  const forms = {
    none: "no",
    qdq: "yes, as QuantizeLinear/DequantizeLinear pairs",
    "integer-operators": "yes, by integer operators",
    "weights-only": "only the weights",
    mixed: "yes, in several forms",
  };
  return [
    ...wrap(total + loops, WIDTH - 13).map((line, i) => `${i === 0 ? "work        " : " ".repeat(12)}${line}`),
    ...(assumed.length > 0
      ? wrap(`for ${assumed.join(", ")}${cure}`, WIDTH - 13).map((line) => `            ${line}`)
      : []),
    ...(flops.problem === null
      ? []
      : wrap(`shapes: ${printable(flops.problem)}`, WIDTH - 13).map((line) => `            ${line}`)),
    `quantized   ${forms[quantized.form]}`,
  ];
}

function findings({ findings }: Inspection, paint: Palette): string[] {
  return findings.flatMap(({ severity, text, command, nodes }) => {
    const word = severity === "advice" ? paint.unsure("advice") : "note  ";
    const [first, ...rest] = wrap(printable(text), WIDTH - 9);
    const shown = middles(nodes.slice(0, NAMED).map(printable), 40);
    const named =
      shown.length === 0 ? [] : wrap([...shown, ...(nodes.length > NAMED ? ["..."] : [])].join(", "), WIDTH - 9);
    return [
      `${word}  ${first}`,
      ...[...rest, ...named.map(paint.faint), printable(command)].map((line) => `        ${line}`),
    ];
  });
}
