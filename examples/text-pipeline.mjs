/**
 * The steps around a model of text, as stages with names of their own, for
 *
 *   infer-opt bench fixtures/models/transformer_block.onnx --pipeline examples/text-pipeline.mjs --threads 1
 *
 * That model takes vectors of words. A model that takes `input_ids` gets them as
 * { input_ids: { dims: [1, length], data: BigInt64Array.from(ids, BigInt) }, attention_mask: ... }.
 */

const WIDTH = 32;
const ROWS = 4096;
const LONGEST = 128;

/** What arrives: the bodies of HTTP requests. */
export const requests = [
  "The quick brown fox jumps over the lazy dog.",
  "How long does a request take, from its first byte to its last? Less than one thinks, and seldom where one looks.",
  "Measure twice, cut once.",
].map((text) => JSON.stringify({ text }));

/** The table of vectors that a real service would load from a file: one row for each remainder of a word's hash. */
const table = Float32Array.from({ length: ROWS * WIDTH }, (_, i) => Math.sin(i * 12.9898) * 0.5);

function parse(body) {
  const { text } = JSON.parse(body);
  if (typeof text !== "string" || text === "") throw new Error("there is no text in the body");
  return text;
}

/** Words and marks, as rows of the table. */
function tokenize(text) {
  const words = text.normalize("NFKC").toLowerCase().match(/\p{L}+|\p{N}+|[^\s\p{L}\p{N}]/gu) ?? [];
  return words.slice(0, LONGEST).map((word) => {
    let hash = 2166136261;
    for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), 16777619);
    return (hash >>> 0) % ROWS;
  });
}

/** The last stage before the model returns its tensors, by the names of its inputs. */
function embed(rows, { state }) {
  const data = new Float32Array(rows.length * WIDTH);
  for (const [i, row] of rows.entries()) data.set(table.subarray(row * WIDTH, (row + 1) * WIDTH), i * WIDTH);
  state.words = rows.length;
  return { x: { dims: [1, rows.length, WIDTH], data } };
}

/** The first stage after the model is given its outputs, by their names; `dims` and `data` as above. */
function pool({ y }, { state }) {
  const mean = new Float32Array(WIDTH);
  for (let i = 0; i < y.data.length; i++) mean[i % WIDTH] += y.data[i] / state.words;
  const norm = Math.hypot(...mean);
  return Array.from(mean, (each) => each / norm);
}

const respond = (vector) => JSON.stringify({ vector });

/** In order; "inference" is where the model stands. Functions may be async. */
export const stages = [parse, tokenize, embed, "inference", pool, { name: "respond", run: respond }];
