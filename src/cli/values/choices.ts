/** What of a model, of its data and of this machine is taken. Each parser throws FLAG_INVALID (or CONFIG_INVALID) with the name and the value. */
import type { Sparsity } from "../../pruning/sparsity/sparsity.js";
import { processorsOf } from "../../runtime/affinity.js";
import { decimal, formed, invalid, type Parse, whole } from "./parse.js";

export interface InputShape {
  readonly input: string;
  /** A number settles an axis, a name leaves it open. */
  readonly dims: readonly (number | string)[];
}

const DIM = String.raw`([A-Za-z_][\w.]*|[1-9]\d{0,14})`;
const isName = (dim: string): boolean => /^[A-Za-z_][\w.]*$/.test(dim);

/** `input=1,3,224,224`; a scalar is `input=`. Names may hold "=" and ":" themselves. */
export const parseShape: Parse<InputShape> = formed(
  { text: whole(String.raw`[\s\S]+=(${DIM}(,${DIM})*)?`) },
  (text, source) => {
    const cut = text.lastIndexOf("=");
    const hint = "Write the input's name and its sizes, with names for axes that stay open: input=1,3,H,W.";
    if (cut <= 0) throw invalid(text, source, "names no input", hint);
    const sizes = text.slice(cut + 1);
    const dims = sizes === "" ? [] : sizes.split(",");
    const wrong = dims.find((dim) => !isName(dim) && (!/^[1-9]\d*$/.test(dim) || !Number.isSafeInteger(Number(dim))));
    if (wrong !== undefined)
      throw invalid(text, source, `has "${wrong}" for a size, which is no number above 0 and no name`, hint);
    return { input: text.slice(0, cut), dims: dims.map((dim) => (isName(dim) ? dim : Number(dim))) };
  },
);

export interface Shard {
  /** From 1. */
  readonly index: number;
  readonly count: number;
}

/** `2/8`: the second of eight. */
export const parseShard: Parse<Shard> = (text, source) => {
  const parts = /^(\d+)\/(\d+)$/.exec(text);
  const [index, count] = [Number(parts?.[1]), Number(parts?.[2])];
  if (parts && index >= 1 && index <= count) return { index, count };
  throw invalid(text, source, "is no part", "Write which one and of how many, counted from 1: 2/8.");
};

/** `48,32,0`: whole numbers, in their order. */
export const parseWidths: Parse<readonly number[]> = formed(
  { text: whole(String.raw`\d{1,7}(,\d{1,7})*`) },
  (text, source) => {
    if (/^\d{1,7}(,\d{1,7})*$/.test(text)) return text.split(",").map(Number);
    throw invalid(text, source, "is no list of whole numbers", "Write how many units stay of each group: 48,32,0.");
  },
);

/** `50%`, or `2:4`: two of every four are left. */
export const parseSparsity: Parse<Sparsity> = formed(
  { text: whole(String.raw`(?=[\d.]*[1-9])(\d{1,2}(\.\d+)?|\.\d+)\s*%|1:2|[12]:4|[1-4]:8`) },
  (text, source) => {
    const [, kept, of] = /^(\d{1,2}):(\d{1,2})$/.exec(text)?.map(Number) ?? [];
    if (kept !== undefined && of !== undefined && kept >= 1 && kept < of && of <= 32)
      return { kind: "pattern", kept, of };
    const percent = text.endsWith("%") ? decimal(text.slice(0, -1).trimEnd()) : null;
    if (percent !== null && percent > 0 && percent < 100) return { kind: "share", share: percent / 100 };
    throw invalid(
      text,
      source,
      "is neither a share of zeros nor a pattern of them",
      "Write 50% for every other weight, or 2:4 for two of every four that are left.",
    );
  },
);

/** `0-2,8`: ascending, each once. */
export const parseProcessors: Parse<readonly number[]> = formed(
  { text: whole(String.raw`\d{1,5}(,\d{1,5})*`) },
  (text, source) => {
    const processors = processorsOf(text);
    if (processors) return processors;
    throw invalid(text, source, "is no list of processors", "Write their numbers, counted from 0: 0,1 or 0-3.");
  },
);
