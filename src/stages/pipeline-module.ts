/**
 * The user's own steps around a model, as `--pipeline FILE.mjs` exports them: what a request goes through before the
 * model has its tensors, and what its outputs go through until there is an answer. docs/bench.md tells the interface.
 */
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { messageOf } from "../base/errors.js";
import { likelyName } from "../base/nearest.js";
import { placeOf, shown, stageError } from "./stage-error.js";

/** What a stage is told besides what the one before it returned. */
export interface StageContext {
  /** As `requests` gave it. */
  readonly request: unknown;
  /** The user's, for one request: what preprocessing leaves for postprocessing. */
  readonly state: Record<string, unknown>;
  readonly inputs: readonly PortWords[];
  readonly outputs: readonly PortWords[];
}

/** A port of the model as ONNX Runtime would tell it; null for sizes that are open. */
export interface PortWords {
  readonly name: string;
  readonly type: string;
  readonly dims: readonly (number | null)[] | null;
}

export interface UserStage {
  /** As reports and `--budget` call it. */
  readonly name: string;
  /** As the module does. */
  readonly called: string;
  /** What it returned, or a promise of that. */
  run(value: unknown, context: StageContext): unknown;
}

export interface PipelineModule {
  readonly path: string;
  /** In order: the first has the request, the last gives the tensors. */
  readonly before: readonly UserStage[];
  /** In order: the first has the model's outputs. */
  readonly after: readonly UserStage[];
  /** What the module says arrives; undefined when it leaves that to the data. */
  readonly requests: unknown;
}

/** Exports in the order in which a request meets them, and what they are called; the model stands between the two halves. */
const [exportsBefore, exportsAfter] = [
  { receive: "receipt", validate: "validation", preprocess: "preprocessing" },
  { postprocess: "postprocessing", serialise: "serialisation", serialize: "serialisation" },
] as const;

/** The part that is not the user's. */
export const ownStages = ["transfer", "inference"] as const;

/** Other words for the stages, as `--budget` takes them. */
export const stageAliases: Readonly<Record<string, string>> = {
  ...exportsBefore,
  ...exportsAfter,
  network: "inference",
  model: "inference",
  request: "total",
  serialization: "serialisation",
};

type Exports = Readonly<Record<string, unknown>>;

/** Rejects with PIPELINE_MISSING, PIPELINE_FAILED or PIPELINE_EXPORTS. */
export async function loadPipelineModule(path: string): Promise<PipelineModule> {
  const exported = await importModule(path);
  const { requests, stages } = exported;
  const known = Object.keys({ ...exportsBefore, ...exportsAfter });
  const named = known.filter((name) => exported[name] !== undefined);
  if (stages !== undefined && named.length > 0) {
    throw wrong(path, `exports both stages and ${named[0]}`, `Keep one of the two: stages, or ${known.join(", ")}.`);
  }
  if (stages !== undefined) return { path, ...orderedStages(path, stages), requests };
  if (named.length === 0) {
    const found = Object.keys(exported).filter((name) => name !== "default");
    throw wrong(
      path,
      `exports no stage (it exports ${found.join(", ") || "nothing"})`,
      `Export preprocess and postprocess (or ${known.join(", ")}), or stages in order with "inference" among them.`,
    );
  }
  refuseMisspelt(path, Object.keys(exported), known);
  if (exported["serialise"] !== undefined && exported["serialize"] !== undefined) {
    throw wrong(path, "exports both serialise and serialize", "Keep one of the two.");
  }
  const halves = [exportsBefore, exportsAfter].map((half) =>
    Object.entries(half)
      .filter(([called]) => exported[called] !== undefined)
      .map(([called, name]) => userStage(path, name, called, exported[called])),
  );
  return { path, before: halves[0]!, after: halves[1]!, requests };
}

/** A stage that nobody runs would be missed in the figures only. */
function refuseMisspelt(path: string, exported: readonly string[], known: readonly string[]): void {
  for (const name of exported.filter((each) => !["default", "requests", ...known].includes(each))) {
    const likely = likelyName(name, known);
    if (likely === null || exported.includes(likely)) continue;
    throw wrong(
      path,
      `exports ${name}, which is no stage`,
      `Did you mean ${likely}? A helper needs no export; the stages are ${known.join(", ")}.`,
    );
  }
}

const STAGE_NAME = /^[\p{L}\p{N}_][\p{L}\p{N}_ .-]*$/u;

/** `[decode, { name: "resize", run: f }, "inference", softmax]`. */
function orderedStages(path: string, stages: unknown): Pick<PipelineModule, "before" | "after"> {
  const example = 'Write export const stages = [decode, resize, "inference", softmax].';
  if (!Array.isArray(stages)) throw wrong(path, `exports ${shown(stages)} as stages, which is no array`, example);
  const at = stages.indexOf("inference");
  if (at < 0) throw wrong(path, 'exports stages without "inference", so nobody knows where the model stands', example);
  const taken = new Set<string>([...ownStages, "total"]);
  const made = stages.map((stage: unknown, i): UserStage | null => {
    if (i === at) return null;
    const { name, run } =
      typeof stage === "function" ? { name: stage.name, run: stage } : ((stage ?? {}) as Record<string, unknown>);
    if (stage === "inference") throw wrong(path, 'has "inference" twice among its stages', example);
    if (typeof name === "string" && name !== "" && typeof run === "function" && !STAGE_NAME.test(name)) {
      const hint = "Letters, digits, spaces, dots and dashes are what --budget can name.";
      throw wrong(path, `has a stage called ${shown(name)}`, hint);
    }
    if (typeof name !== "string" || !STAGE_NAME.test(name)) {
      throw wrong(path, `has ${shown(stage)} for stage ${i + 1}, which has no name`, example);
    }
    if (taken.has(name)) throw wrong(path, `has two stages called "${name}"`, "Give each stage a name of its own.");
    taken.add(name);
    return userStage(path, name, name, run);
  });
  const own = (stage: UserStage | null): stage is UserStage => stage !== null;
  return { before: made.slice(0, at).filter(own), after: made.slice(at + 1).filter(own) };
}

function userStage(path: string, name: string, called: string, run: unknown): UserStage {
  if (typeof run !== "function") {
    throw wrong(path, `exports ${shown(run)} as ${called}, which is no function`, `Make ${called} a function.`);
  }
  return { name, called, run: run as UserStage["run"] };
}

async function importModule(path: string): Promise<Exports> {
  if (!existsSync(path)) {
    throw stageError("PIPELINE_MISSING", `pipeline ${path} does not exist`, "Check the path given to --pipeline.", {
      fields: { path },
    });
  }
  try {
    const exported = (await import(pathToFileURL(path).href)) as Exports;
    const fallback = exported["default"];
    // CommonJS modules, and those that export one object, have everything on `default`.
    return typeof fallback === "object" && fallback !== null ? { ...fallback, ...exported } : exported;
  } catch (cause) {
    throw stageError(
      "PIPELINE_FAILED",
      `pipeline ${path} cannot be loaded${placeOf(cause, path)}: ${messageOf(cause).split("\n")[0]}`,
      `Try it alone: node --input-type=module -e 'await import("${pathToFileURL(path).href}")'.`,
      { cause, fields: { path } },
    );
  }
}

const wrong = (path: string, what: string, hint: string) =>
  stageError("PIPELINE_EXPORTS", `pipeline ${path} ${what}`, hint, { fields: { path } });

/** Requests come round again; so many different ones are held. */
const MOST_REQUESTS = 64;

/**
 * The first requests of a module: `requests` is a list of them, or a function that gives one, each as anything that can
 * be iterated, also asynchronously. null when the module has none. Rejects with PIPELINE_REQUESTS.
 */
export async function requestsOf({ path, requests }: PipelineModule): Promise<readonly unknown[] | null> {
  if (requests === undefined) return null;
  const hint = "Export requests: a list, or a function (async, if it must) that returns one.";
  const refuse = (what: string, cause?: unknown) =>
    stageError("PIPELINE_REQUESTS", `requests of ${path} ${what}`, hint, { cause, fields: { path } });
  const collected: unknown[] = [];
  try {
    const given: unknown = typeof requests === "function" ? await requests() : requests;
    if (!isIterable(given)) throw refuse(`gives ${shown(given)}, which is no list`);
    for await (const request of given) {
      collected.push(request);
      if (collected.length === MOST_REQUESTS) break;
    }
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "PIPELINE_REQUESTS") throw cause;
    throw refuse(`failed${placeOf(cause, path)}: ${messageOf(cause)}`, cause);
  }
  if (collected.length === 0) throw refuse("gives an empty list: nothing would be timed");
  return collected;
}

function isIterable(value: unknown): value is Iterable<unknown> | AsyncIterable<unknown> {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return false;
  return Symbol.iterator in value || Symbol.asyncIterator in value;
}
