/** What the thread that does the work and the one that has the terminal tell each other. Plain data. */
import type { HoldChange } from "../base/unfinished.js";
import type { RunEvent } from "../pipeline/events.js";

export type FromWork =
  | { readonly kind: "write"; readonly to: "stdout" | "stderr"; readonly chunk: string | Uint8Array }
  /** Somebody is to see the events from here on, until "unwatch". */
  | { readonly kind: "watch" }
  | { readonly kind: "event"; readonly event: RunEvent }
  | { readonly kind: "unwatch" }
  | { readonly kind: "hold"; readonly change: HoldChange }
  /** The interrupt was heard, and the run is on its way to its end. */
  | { readonly kind: "heard" }
  /** Here and now. */
  | { readonly kind: "exit"; readonly code: number }
  /** All has been said. */
  | { readonly kind: "ended"; readonly code: number };

export type ToWork = { readonly kind: "interrupt" } | { readonly kind: "columns"; readonly columns: number | null };

/** What the work has to know of the terminal from its start. */
export interface TerminalFacts {
  /** Cells of a line at stdout; null where that is no terminal. */
  readonly columns: number | null;
}
