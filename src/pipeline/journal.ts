/**
 * What a search has measured so far, beside the output, so that one that was cut short goes on
 * where it was: OUT.journal.jsonl, a line for each number, appended as soon as it is known. The
 * first line says what the numbers hold for; a journal of anything else is not believed.
 */
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, readFileSync, rmSync, truncateSync } from "node:fs";
import { messageOf } from "../base/errors.js";
import { replaceFile } from "../base/replace-file.js";
import { Tensor } from "../ir/index.js";
import { refuseSpecialFile } from "../onnx/index.js";
import type { Candidate } from "./candidates/candidate.js";

const VERSION = 6;

/** What to do where something lies in a journal's place that is no file. */
export const IN_THE_WAY = "Move it away, or name another output.";

/** What is measured of a candidate; or planned, before there are any. */
export type Measure = "error" | "speed" | "accuracy" | "plan";

/** A candidate by how it is made; anything else by a name that is its alone. */
export type Subject = Pick<Candidate, "variant" | "keptFloat"> | string;

interface Entry {
  readonly candidate: string;
  readonly measure: Measure | "mark";
  readonly value: unknown;
  /** Of the rest and of whose it is: who reads a value takes it for what was written, by a run of the same search. */
  readonly sum?: string;
}

interface Heading {
  readonly journal?: unknown;
  readonly identity?: unknown;
}

/** What a journal is to those that measure. */
export type Measured = Pick<Journal, "recall" | "record">;

export class Journal {
  readonly #known = new Map<string, unknown>();
  /** What subjects are of, where a run has several parts that may call theirs alike. */
  #chapter = "";
  /** Whether the file has our first line. */
  #isOpen = false;
  #isBroken = false;

  /**
   * @param identity of everything that the numbers depend on: model, data, options, version, CPU
   * @param warn told why an older journal is not used
   * Throws OUTPUT_FAILED where something else than a file lies in its place.
   */
  constructor(
    readonly path: string,
    readonly identity: string,
    readonly warn: (warning: string) => void,
  ) {
    this.#read();
  }

  /** Numbers of an earlier run, or of this one. */
  get size(): number {
    return this.#known.size;
  }

  /** From now on subjects are of another part of the run. */
  begin(chapter: string): void {
    this.#chapter = `${chapter}: `;
  }

  /** undefined: not measured yet. What is known was written by `record`, for the same kind of measure. */
  recall<T>(subject: Subject, measure: Measure): T | undefined {
    return this.#known.get(`${measure} ${this.#chapter}${keyOf(subject)}`) as T | undefined;
  }

  record(subject: Subject, measure: Measure, value: unknown): void {
    this.#add({ candidate: this.#chapter + keyOf(subject), measure, value });
  }

  /** For candidates of another model than the rest are of: what they are made by may be the same, what is measured is not. */
  apart(model: string): Measured {
    const named = (subject: Subject): string => `${model}: ${keyOf(subject)}`;
    return {
      recall: (subject, measure) => this.recall(named(subject), measure),
      record: (subject, measure, value) => this.record(named(subject), measure, value),
    };
  }

  /** Something that is so from now on, in the runs that go on with this one too. */
  mark(what: string): void {
    if (!this.isMarked(what)) this.#add({ candidate: what, measure: "mark", value: true });
  }

  isMarked(what: string): boolean {
    return this.#known.has(`mark ${what}`);
  }

  #add(entry: Entry): void {
    this.#known.set(`${entry.measure} ${entry.candidate}`, entry.value);
    if (this.#isBroken) return;
    this.#write(() => {
      // Another run of the same search may have ended, and taken it along.
      if (!this.#isOpen || !existsSync(this.path)) replaceFile(this.path, `${JSON.stringify(this.#heading)}\n`);
      this.#isOpen = true;
      appendFileSync(this.path, `${JSON.stringify({ ...entry, sum: sumOf(this.identity, entry) })}\n`);
    });
  }

  /** A search without a journal is still a search. */
  #write(act: () => void): void {
    try {
      act();
    } catch (cause) {
      this.#isBroken = true;
      this.warn(`no journal is kept, so an interrupted search starts over: ${messageOf(cause)}`);
    }
  }

  /** The search is over: there is nothing to go on with. What another one that writes beside the same output has begun is its own. */
  remove(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    try {
      if (this.#isOurs(readFileSync(this.path, "utf8"))) rmSync(this.path, { force: true });
    } catch (cause) {
      // Another run of the same search may have taken it along; and what was found does not depend on it.
      if ((cause as { code?: string }).code !== "ENOENT") {
        this.warn(`the journal ${this.path} stays, and may be removed: ${messageOf(cause)}`);
      }
    }
  }

  #isOurs(text: string): boolean {
    return parsed<Heading>(text.split("\n", 1)[0]!)?.identity === this.identity;
  }

  get #heading() {
    return { journal: VERSION, identity: this.identity };
  }

  #read(): void {
    if (!existsSync(this.path)) return;
    refuseSpecialFile(this.path, this.path, IN_THE_WAY);
    const text = readFileSync(this.path, "utf8");
    const [first = "", ...lines] = text.split("\n");
    const heading = parsed<Heading>(first);
    const why =
      heading === null || heading.journal !== VERSION
        ? "it is no journal of this version"
        : !this.#isOurs(text)
          ? "it is of another model, other data or other options"
          : null;
    if (why !== null) {
      this.warn(`the journal ${this.path} is not used and is begun anew: ${why}`);
      return;
    }
    // What follows the last line break was being written when the run ended.
    const entries = lines.slice(0, -1).map((line) => parsed<Entry>(line));
    // Each line says for itself that it is whole and of this search; another one may have written between them.
    const broken: number[] = [];
    for (const [i, entry] of entries.entries()) {
      if (isEntry(entry, this.identity)) this.#known.set(`${entry.measure} ${entry.candidate}`, entry.value);
      else broken.push(i + 2);
    }
    if (broken.length > 0) {
      const what = `${broken.length} of its lines are measured again`;
      this.warn(`the journal ${this.path} is damaged at line ${broken[0]}: ${what}`);
    }
    this.#isOpen = true;
    const kept = text.slice(0, text.lastIndexOf("\n") + 1);
    // Cut and not written anew: a disk that is full, or a kill, would take what is there.
    if (kept !== text) this.#write(() => truncateSync(this.path, Buffer.byteLength(kept)));
  }
}

const isEntry = (entry: Entry | null, identity: string): entry is Entry =>
  typeof entry?.candidate === "string" &&
  typeof entry.measure === "string" &&
  "value" in entry &&
  entry.sum === sumOf(identity, entry);

/** The same for what was written and for what is read of it, and another one in another search. */
const sumOf = (identity: string, { candidate, measure, value }: Entry): string =>
  createHash("sha256")
    .update(JSON.stringify([identity, candidate, measure, value]))
    .digest("hex")
    .slice(0, 16);

/** null for what is no JSON object. */
function parsed<T extends object>(line: string): T | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as T) : null;
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown;
    return null;
  }
}

/** The same for the same recipe and the same nodes in float, whatever the reasons. */
const keyOf = (subject: Subject): string =>
  typeof subject === "string" ? subject : digestOf([subject.variant, [...subject.keptFloat.keys()].sort()]);

/** Of plain data with maps, sets, tensors and typed arrays in it; the order of maps does not count. */
export const digestOf = (value: unknown): string =>
  createHash("sha256").update(JSON.stringify(value, plain)).digest("hex").slice(0, 24);

function plain(_: string, value: unknown): unknown {
  if (value instanceof Map) return [...value].sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
  if (value instanceof Set) return [...value].sort();
  if (value instanceof Tensor) {
    const { dtype, dims } = value;
    return { dtype, dims, content: dtype === "string" ? value.utf8() : value.bytes() };
  }
  if (ArrayBuffer.isView(value)) {
    return createHash("sha256")
      .update(Buffer.from(value.buffer, value.byteOffset, value.byteLength))
      .digest("hex");
  }
  // JSON would make null of them.
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}
