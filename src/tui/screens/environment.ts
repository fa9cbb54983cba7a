/** Where and how it was measured: without that, numbers are not worth much. */
import { environmentRows } from "../../report/environment-rows.js";
import type { TextScreen } from "../screen.js";
import { titled } from "./rows.js";

export const environment: TextScreen = {
  kind: "text",
  name: "environment",
  title: "Environment",
  about: "The machine, versions, files with their digests, the stages of the run with their times, and the command.",
  keys: () => [],
  text: ({ book: { result, commandLine, path }, width }) =>
    [
      ...environmentRows(result),
      ["result", path] as const,
      ["command", commandLine ?? "not in this result: it was written by an earlier version"] as const,
    ].flatMap(([title, text]) => titled(title, text, width)),
};
