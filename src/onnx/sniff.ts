/** Names the files that people pass for a model by mistake, from their first bytes. */
import { InferOptError } from "../base/errors.js";

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1");

/** A flatbuffer begins with a small 32-bit offset; in an ONNX file a producer's name could stand at byte 4. */
const isFlatbuffer = (head: string, identifier: string): boolean =>
  head.slice(4, 8) === identifier && head.slice(2, 4) === "\0\0";

interface Signature {
  readonly what: string;
  readonly hint: string;
  matches(head: string): boolean;
}

const signatures: readonly Signature[] = [
  {
    what: "a Git LFS pointer, not the model itself",
    hint: "Run `git lfs pull` in the repository that it came from.",
    matches: (head) => head.startsWith("version https://git-lfs"),
  },
  {
    what: "a web page",
    hint: "The download returned a page (a login or an error): open it to see why.",
    matches: (head) => /^\s*<(!doctype|html|\?xml)/i.test(head),
  },
  {
    what: "a zip archive (perhaps a PyTorch checkpoint, a .npz or an exported folder)",
    hint: "Unpack it, or export the model to ONNX first.",
    matches: (head) => head.startsWith("PK\x03\x04"),
  },
  { what: "a gzip file", hint: "Unpack it with gunzip.", matches: (head) => head.startsWith("\x1f\x8b") },
  {
    what: "a TensorFlow Lite model",
    hint: "Convert it with tf2onnx first.",
    matches: (head) => isFlatbuffer(head, "TFL3"),
  },
  {
    what: "a Python pickle (perhaps a PyTorch checkpoint)",
    hint: "Export the model to ONNX with torch.onnx.export first.",
    matches: (head) => head[0] === "\x80" && head.charCodeAt(1) >= 2 && head.charCodeAt(1) <= 5,
  },
  {
    what: "an ONNX Runtime .ort model",
    hint: "Pass the .onnx file that it was made from.",
    matches: (head) => isFlatbuffer(head, "ORTM"),
  },
  {
    what: "a safetensors file",
    hint: "It holds weights without a graph: export the model to ONNX first.",
    matches: (head) => /^.{8}\{"/s.test(head) && head.charCodeAt(7) === 0,
  },
];

/** Throws MODEL_EMPTY or MODEL_NOT_ONNX when the first bytes are those of something else. */
export function refuseForeignFile(path: string, head: Uint8Array): void {
  if (head.length === 0) {
    throw new InferOptError("MODEL_EMPTY", "input", `${path} is empty`, {
      hint: "The export or download failed: make the file again.",
      fields: { path },
    });
  }
  const start = text(head);
  const found = signatures.find((signature) => signature.matches(start));
  if (found) throw notOnnx(path, `it is ${found.what}`, found.hint);
}

export const notOnnx = (path: string, why: string, hint: string, cause?: unknown): InferOptError =>
  new InferOptError("MODEL_NOT_ONNX", "input", `${path} is not an ONNX model: ${why}`, {
    hint,
    cause,
    fields: { path },
  });
