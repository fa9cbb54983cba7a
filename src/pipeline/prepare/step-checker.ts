/** `--verify full`: which pass is wrong shows right after it, however much the passes behind it may hide. */
import type { Numerics } from "../../base/numerics.js";
import { linkModel, type Model, nodesWithin } from "../../ir/index.js";
import { nameAdded } from "../../quantization/names.js";
import type { AnyPass } from "../../rewrite/index.js";
import type { RunContext } from "../context.js";
import { linkedFile, removeLinked } from "../model-runs.js";
import type { Equivalence } from "./equivalence.js";

/** Two models as files, and what the difference between them may be. */
export type CompareSteps = (before: string, after: string, numerics: Numerics) => Promise<Equivalence>;

/** Compares the graph after each pass with what it was before it, by what the pass promises. */
export class StepChecker {
  #before: string;
  violation: string | null = null;
  wrongPass: string | null = null;

  constructor(
    readonly model: Model,
    readonly compare: CompareSteps,
    readonly context: RunContext,
  ) {
    this.#before = this.#write();
  }

  async check(pass: AnyPass): Promise<void> {
    if (this.violation !== null) return;
    const after = this.#write();
    const { violation } = await this.compare(this.#before, after, pass.numerics);
    removeLinked(this.#before);
    this.#before = after;
    if (violation === null) return;
    this.violation = violation;
    this.wrongPass = pass.name;
  }

  drop(): void {
    removeLinked(this.#before);
  }

  /** Copies of a node have its name until all passes are done, and the runtime takes none twice. */
  #write(): string {
    const path = linkedFile(this.context, "step");
    const named = [...nodesWithin(this.model.graph)].map((node) => [node, node.name] as const);
    nameAdded(this.model, new Set());
    try {
      linkModel(this.model, path);
    } finally {
      for (const [node, name] of named) node.name = name;
    }
    return path;
  }
}
