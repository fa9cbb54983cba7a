/**
 * A .jsonl file as a dataset, one sample a line:
 *
 *   {"input_ids": [[101, 7592, 102]], "labels": 1}
 *
 * `labels` goes to the metric as it is; every other key is an input. JSON does not say
 * which type a number has: the model's signature does. The batch axis may be left out.
 * Opening notes where lines begin and end, no more; samples are then read line by line.
 */
import { open } from "node:fs/promises";
import { basename } from "node:path";
import { messageOf } from "../base/errors.js";
import type { Tensor } from "../ir/index.js";
import type { Dataset, InputSpec, Sample } from "./dataset.js";
import { datasetError } from "./errors.js";
import { faultOfLabels } from "./json-labels.js";
import { guessDtype, JsonFault, tensorFromJson } from "./json-tensor.js";
import { sampleOrder } from "./select.js";

const LABELS = "labels";
const CHUNK_BYTES = 1 << 18;

/** A line with something on it: where it lies, and its number counted from 1. */
interface Line {
  readonly start: number;
  readonly end: number;
  readonly number: number;
}

/** Throws DATASET_EMPTY and DATASET_LINE_INVALID (first line); later lines are checked when read. */
export async function openJsonl(path: string, signature?: readonly InputSpec[]): Promise<Dataset> {
  const lines = await indexLines(path);
  const first = lines[0];
  if (!first) {
    throw datasetError("DATASET_EMPTY", `${path} holds no samples`, "Write one JSON object per line.", {
      fields: { path },
    });
  }
  let hasLabels = false;
  for await (const { object } of readObjects(path, [first])) hasLabels = LABELS in object;
  const dataset: Dataset = {
    path,
    count: lines.length,
    hasLabels,
    async *samples(indices) {
      const order = Array.from(sampleOrder(dataset, indices), (index) => lines[index]!);
      for await (const { line, object } of readObjects(path, order)) yield toSample(path, line, object, signature);
    },
  };
  return dataset;
}

function toSample(
  path: string,
  line: Line,
  { [LABELS]: labels, ...inputs }: Record<string, unknown>,
  signature: readonly InputSpec[] | undefined,
): Sample {
  if (!signature) {
    throw datasetError(
      "DATASET_SIGNATURE_NEEDED",
      `${path} does not say which types its numbers have`,
      "Open it together with the model that it is for, or save the samples as .npz.",
      { fields: { path } },
    );
  }
  const feeds = new Map<string, Tensor>();
  for (const [name, value] of Object.entries(inputs)) {
    const dtype = signature.find((spec) => spec.name === name)?.dtype ?? guessDtype(value);
    const tensor = tensorFromJson(value, dtype);
    if (tensor instanceof JsonFault) throw lineError(path, line, `"${name}"${tensor.where} ${tensor.what}`);
    feeds.set(name, tensor);
  }
  const fault = faultOfLabels(labels);
  if (fault !== null) throw lineError(path, line, `"${LABELS}" ${fault}`);
  return { id: idOf(path, line), feeds, labels: labels === undefined ? null : { json: labels } };
}

async function* readObjects(
  path: string,
  lines: Iterable<Line>,
): AsyncGenerator<{ line: Line; object: Record<string, unknown> }> {
  const file = await open(path);
  try {
    for (const line of lines) {
      const bytes = new Uint8Array(line.end - line.start);
      const { bytesRead } = await file.read(bytes, 0, bytes.length, line.start);
      if (bytesRead !== bytes.length)
        throw lineError(path, line, "is no longer there: the file changed while it was read");
      yield { line, object: parseLine(path, line, bytes) };
    }
  } finally {
    await file.close();
  }
}

function parseLine(path: string, line: Line, bytes: Uint8Array): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw lineError(path, line, `is no JSON: ${messageOf(cause)}`, cause);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw lineError(path, line, "is no JSON object");
}

/** Lines that are not blank, found by their bytes in chunks: in UTF-8 a byte 0x0A is always a newline. */
async function indexLines(path: string): Promise<Line[]> {
  const lines: Line[] = [];
  const file = await open(path);
  try {
    const chunk = new Uint8Array(CHUNK_BYTES);
    let start = 0;
    let number = 1;
    let blank = true;
    let offset = 0;
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, chunk.length, offset);
      if (bytesRead === 0) break;
      for (let i = 0; i < bytesRead; i++) {
        const byte = chunk[i]!;
        if (byte !== 0x0a) {
          if (byte > 0x20) blank = false;
          continue;
        }
        if (!blank) lines.push({ start, end: offset + i, number });
        start = offset + i + 1;
        number++;
        blank = true;
      }
      offset += bytesRead;
    }
    if (!blank) lines.push({ start, end: offset, number });
  } finally {
    await file.close();
  }
  return lines;
}

const idOf = (path: string, line: Line): string => `${basename(path)}:${line.number}`;

const lineError = (path: string, line: Line, what: string, cause?: unknown) =>
  datasetError(
    "DATASET_LINE_INVALID",
    `line ${line.number} of ${path}: ${what}`,
    "Each line is one JSON object of nested arrays of equal lengths, without NaN, Infinity or comments.",
    { fields: { path, line: line.number }, ...(cause === undefined ? {} : { cause }) },
  );
