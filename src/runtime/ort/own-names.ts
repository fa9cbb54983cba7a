/** Errors about files of the scratch folder, of which whoever runs the command knows nothing, told by what those were made of. */
import { basename, sep } from "node:path";
import { InferOptError } from "../../base/errors.js";

export interface OwnNames {
  readonly scratch: string;
  /** What to call a model file of the scratch folder. */
  readonly nameOf: (path: string) => string;
}

/** A fault of ours stays as it is, and so does what could not be written: that is about the folder. */
export function inOwnNames(error: unknown, { scratch, nameOf }: OwnNames): unknown {
  if (!(error instanceof InferOptError) || error.code === "OUTPUT_FAILED") return error;
  const start = scratch + sep;
  const { code, kind, message, hint, fields, cause } = error;
  const model = fields["model"];
  if (![message, hint, ...Object.values(fields)].some((each) => typeof each === "string" && each.includes(start)))
    return error;
  const named = (text: string): string => {
    const parts = text.split(start);
    const rest = parts.slice(1).map((part) => {
      const [file = ""] = /^[\w.-]+\.onnx/.exec(part) ?? [];
      return file === "" ? start + part : nameOf(start + file) + part.slice(file.length);
    });
    const told = [parts[0], ...rest].join("");
    return typeof model === "string" && model.startsWith(start)
      ? told.replaceAll(basename(model), nameOf(model))
      : told;
  };
  const own = Object.entries(fields).map(([key, value]) => [key, typeof value === "string" ? named(value) : value]);
  return new InferOptError(code, kind, named(message), {
    ...(hint !== undefined && { hint: named(hint) }),
    ...(cause !== undefined && { cause }),
    fields: Object.fromEntries(own),
  });
}
