/** Where scratch folders are made, and what they are called. */
import { tmpdir } from "node:os";
import { sight } from "./sight.js";

/** The folder that INFER_OPT_TMP names, or the system's. */
export const scratchRoot = (env: Readonly<Record<string, string | undefined>>): string =>
  env["INFER_OPT_TMP"] || tmpdir();

/** The run that a scratch folder is of is in its name, before what makes the name its own: whoever finds it later knows whether it goes on. */
export const scratchPrefix = (pid: number, seenBy = sight()): string =>
  `infer-opt-${pid}-${seenBy}${seenBy ? "-" : ""}`;
export const scratchName = /^infer-opt-(?<pid>\d+)-(?:(?<seenBy>[0-9a-f]{8})-)?\w{6}$/;
