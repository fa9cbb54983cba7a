import type { palette, readResult, renderText } from "../src/index.js";

export const resultFile: string;
export const commandLine: string;
export function pictureOf(text: string, columns: number): string;
export function shortened(report: string): string;
export function reportPicture(library: {
  palette: typeof palette;
  readResult: typeof readResult;
  renderText: typeof renderText;
}): Promise<string>;
