/** Colours by meaning. They only ever repeat what a word says already. */
import picocolors from "picocolors";

export interface Palette {
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly unsure: (text: string) => string;
  readonly strong: (text: string) => string;
  readonly faint: (text: string) => string;
}

export function palette(colored: boolean): Palette {
  const { green, red, yellow, bold, dim } = picocolors.createColors(colored);
  return {
    good: (text) => bold(green(text)),
    bad: (text) => bold(red(text)),
    unsure: (text) => bold(yellow(text)),
    strong: bold,
    faint: dim,
  };
}
