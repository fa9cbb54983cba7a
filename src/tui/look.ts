/** How a terminal may be drawn on: which colours and characters it can show. Colours only repeat what words and marks say. */
import picocolors from "picocolors";
import { type Palette, palette } from "../report/palette.js";

export interface Look extends Palette {
  /** Of the row that the cursor is on, and of the open tab; both have a mark as well. */
  readonly chosen: (text: string) => string;
  /** The old and the new of a chart. */
  readonly before: (text: string) => string;
  readonly after: (text: string) => string;
  /** Whether block and Braille characters can be shown. */
  readonly isUnicode: boolean;
}

export function look(isColored: boolean, isUnicode: boolean): Look {
  const { inverse, cyan, magenta } = picocolors.createColors(isColored);
  return { ...palette(isColored), chosen: inverse, before: magenta, after: cyan, isUnicode };
}
