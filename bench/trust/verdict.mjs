/** What came of a proof, in one of three words. A machine that cannot tell is no failure of what is examined. */
export const HELD = "held";
export const MISSED = "missed";
export const UNSURE = "could not tell";

const words = { [HELD]: 0, [UNSURE]: 1, [MISSED]: 2 };

/** Prints a claim with its verdict and figures; the worst of all decides the exit code of the script. */
export class Proofs {
  #worst = HELD;

  tell(verdict, claim, figures) {
    if (words[verdict] > words[this.#worst]) this.#worst = verdict;
    console.log(`${verdict.toUpperCase().padEnd(15)} ${claim}: ${figures}`);
  }

  /** 0, 13 (as the tool's own "inconclusive") or 11. */
  end() {
    process.exitCode = { [HELD]: 0, [UNSURE]: 13, [MISSED]: 11 }[this.#worst];
  }
}

export const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)} %`;
