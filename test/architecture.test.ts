import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../src", import.meta.url));

/** The house: what each room may import besides itself. */
const mayImport: Record<string, readonly string[]> = {
  base: [],
  onnx: ["base"],
  ir: ["base"],
  // Wire messages become graphs here, and nowhere else in the room.
  "ir/serde": ["base", "onnx"],
  ops: ["base", "ir"],
  target: ["base", "ir"],
  observe: ["base", "ir"],
  metric: ["base", "ir"],
  // What users wrote around a model.
  stages: ["base", "ir"],
  rewrite: ["base", "ir", "ops", "target"],
  // The test data of ONNX models are tensors in the wire format.
  dataset: ["base", "ir", "onnx"],
  runtime: ["base", "ir", "dataset", "observe", "metric", "stages"],
  // The adapter: the only room that knows ONNX Runtime.
  "runtime/ort": ["base", "ir", "onnx", "dataset", "observe", "metric", "stages", "runtime"],
  passes: ["base", "ir", "ops", "target", "rewrite"],
  quantization: ["base", "ir", "ops", "target", "rewrite", "dataset", "observe", "runtime"],
  pruning: ["base", "ir", "ops", "target", "rewrite", "dataset", "observe", "runtime"],
  verify: ["base", "ir", "dataset", "metric", "runtime"],
  bench: ["base", "ir", "dataset", "stages", "runtime"],
  pipeline: [
    ...["base", "onnx", "ir", "ops", "target", "observe", "metric", "stages", "rewrite", "dataset", "runtime"],
    ...["passes", "quantization", "pruning", "verify", "bench"],
  ],
  report: ["base", "pipeline"],
  tui: ["base", "pipeline", "report"],
  // cli and index.ts put the house together and may import everything.
};
const buildsTheHouse = ["cli", "index.ts"];

interface Import {
  readonly from: string;
  /** A path below src, or the name of a package. */
  readonly to: string;
  readonly kind: "value" | "type" | "lazy";
}

const files = readdirSync(root, { recursive: true, encoding: "utf8" })
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => /\.tsx?$/.test(path));

const STATIC = /(?:^|\n)\s*(?:import|export)\s+(type\s+)?(?:[^"';]*?\sfrom\s+)?"([^"]+)"/g;
const LAZY = /\bimport\(\s*"([^"]+)"\s*\)/g;

function importsOf(from: string): Import[] {
  const text = readFileSync(join(root, from), "utf8");
  const at = (specifier: string): string => {
    if (!specifier.startsWith(".")) return specifier;
    const path = relative(root, join(root, dirname(from), specifier)).replaceAll("\\", "/");
    return files.find((file) => file.replace(/\.tsx?$/, "") === path.replace(/\.js$/, "")) ?? path;
  };
  return [
    ...[...text.matchAll(STATIC)].map(([, type, to]): Import => ({ from, to: at(to!), kind: type ? "type" : "value" })),
    ...[...text.matchAll(LAZY)].map(([, to]): Import => ({ from, to: at(to!), kind: "lazy" })),
  ];
}

const imports = files.flatMap(importsOf);
const inside = imports.filter(({ to }) => files.includes(to));

function roomOf(path: string): string {
  const parts = path.split("/");
  const wing = parts.slice(0, 2).join("/");
  return parts.length > 2 && wing in mayImport ? wing : parts[0]!;
}

/** The floor that a room belongs to, wings aside. */
const houseOf = (room: string): string => room.split("/")[0]!;

function isAllowed({ from, to }: Import): boolean {
  const [here, there] = [roomOf(from), roomOf(to)];
  if (here === there || buildsTheHouse.includes(here)) return true;
  if (there === "runtime/ort") return false;
  if (here === "runtime" && houseOf(there) === "runtime") return false;
  if (houseOf(here) === houseOf(there)) return true;
  return mayImport[here]?.includes(houseOf(there)) ?? false;
}

/** Which rooms of the pipeline each imports from, files in the hall aside: what these name is for all rooms. */
function pipelineRooms(imports: readonly Import[]): Map<string, string[]> {
  const next = new Map<string, string[]>();
  const own = (path: string): string | null => /^pipeline\/([^/]+)\//.exec(path)?.[1] ?? null;
  for (const { from, to } of imports) {
    const [here, there] = [own(from), own(to)];
    if (here === null || there === null || here === there) continue;
    next.set(here, [...(next.get(here) ?? []), there]);
    next.set(there, next.get(there) ?? []);
  }
  return next;
}

/** One for each way back that a walk meets: empty where there is none. */
function cyclesIn(next: ReadonlyMap<string, readonly string[]>): string[] {
  const state = new Map<string, "open" | "done">();
  const cycles = new Set<string>();
  const visit = (from: string, path: readonly string[]): void => {
    if (state.get(from) === "done") return;
    if (state.get(from) === "open") {
      cycles.add([...path.slice(path.indexOf(from)), from].join(" > "));
      return;
    }
    state.set(from, "open");
    for (const to of next.get(from)!) visit(to, [...path, from]);
    state.set(from, "done");
  };
  for (const from of next.keys()) visit(from, []);
  return [...cycles];
}

const shown = ({ from, to }: Import): string => `${from} imports ${to}`;

describe("the house", () => {
  it("is read: every relative import leads to a file", () => {
    expect(files.length).toBeGreaterThan(30);
    expect(imports.filter(({ to }) => to.includes("/") && /^\.|\.js$/.test(to)).map(shown)).toEqual([]);
  });

  it("has a row in the table for every room", () => {
    const rooms = new Set(files.map((path) => path.split("/")[0]!));
    expect([...rooms].filter((room) => !(room in mayImport) && !buildsTheHouse.includes(room))).toEqual([]);
  });

  it("only imports from the floors below", () => {
    expect(inside.filter((each) => !isAllowed(each)).map(shown)).toEqual([]);
  });

  it("tells a forbidden import", () => {
    const between = (from: string, to: string): boolean => isAllowed({ from, to, kind: "value" });
    expect(between("ir/graph.ts", "onnx/schema.ts")).toBe(false);
    expect(between("ir/serde/from-onnx.ts", "onnx/schema.ts")).toBe(true);
    expect(between("pipeline/run.ts", "runtime/ort/client.ts")).toBe(false);
    expect(between("runtime/port.ts", "runtime/ort/client.ts")).toBe(false);
    expect(between("passes/catalog.ts", "runtime/port.ts")).toBe(false);
    expect(between("cli/main.ts", "runtime/ort/client.ts")).toBe(true);
  });

  it("loads what draws on terminals only where there is one", () => {
    const users = inside.filter(({ from, to }) => roomOf(to) === "tui" && roomOf(from) !== "tui");
    expect(users.length).toBeGreaterThan(0);
    // The thread that has the terminal, which is there only then.
    const foreground = "cli/foreground.ts";
    expect(users.filter(({ kind, from }) => kind === "value" && from !== foreground).map(shown)).toEqual([]);
    expect(inside.filter(({ to }) => to === foreground)).toEqual([]);
  });

  it("knows the wire format in one room and ONNX Runtime in one room", () => {
    const users = (name: string): string[] => [
      ...new Set(imports.filter(({ to }) => to === name).map((i) => roomOf(i.from))),
    ];
    expect(users("onnx/wire-format.ts")).toEqual(["onnx"]);
    expect(users("onnxruntime-node").filter((room) => room !== "runtime/ort")).toEqual([]);
  });

  it("has no cycle between files at run time", () => {
    const next = new Map(files.map((file) => [file, [] as string[]]));
    for (const { from, to, kind } of inside) if (kind === "value") next.get(from)!.push(to);
    expect(cyclesIn(next)).toEqual([]);
  });

  it("has no cycle between the rooms of the pipeline, types included", () => {
    expect(cyclesIn(pipelineRooms(inside))).toEqual([]);
  });

  it("tells a cycle between rooms, however long, and none through the hall", () => {
    const types = (...pairs: readonly (readonly [string, string])[]): Import[] =>
      pairs.map(([from, to]) => ({ from: `pipeline/${from}.ts`, to: `pipeline/${to}.ts`, kind: "type" }));
    const cycle = types(["a/one", "b/one"], ["b/two", "c/one"], ["c/two", "a/two"]);
    expect(cyclesIn(pipelineRooms(cycle))).toEqual(["a > b > c > a"]);
    expect(cyclesIn(pipelineRooms(types(["a/one", "b/one"], ["b/one", "config"], ["config", "a/one"])))).toEqual([]);
  });
});

describe("files", () => {
  it("stay below 450 lines", () => {
    const long = files.filter((file) => readFileSync(join(root, file), "utf8").split("\n").length > 450);
    expect(long).toEqual([]);
  });

  it("are named for what they hold", () => {
    expect(files.filter((file) => /^(utils?|helpers?|common|types|misc)\.tsx?$/.test(basename(file)))).toEqual([]);
  });
});
