import type { Markup } from "./markup.js";

/** A part of the page; one that has nothing to show is not there. */
export interface Panel {
  /** Of the link to it. */
  readonly id: string;
  readonly title: string;
  readonly body: readonly Markup[];
}
