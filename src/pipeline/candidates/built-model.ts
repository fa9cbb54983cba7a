import type { Form } from "../../quantization/form.js";
import type { FloatNode } from "../../quantization/plan-static.js";
import type { PassReport } from "../../rewrite/index.js";

/** A candidate on disk, in the scratch folder. */
export interface BuiltModel {
  readonly path: string;
  /** As the output of the run, whose file says less of values and may have its weights beside it. */
  readonly bytes: number;
  /** What became of each node that is not float any more, by name. */
  readonly forms: ReadonlyMap<string, Form>;
  readonly float: readonly FloatNode[];
  readonly notes: readonly string[];
  /** What was rewritten when its integers were placed. */
  readonly finished: readonly PassReport[];
}
