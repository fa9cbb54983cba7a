/** The metrics that come with the program. */
import { bestClass, classScores, findClassScores, noClasses, rankOf } from "./classes.js";
import { counterpart, leastCosine, meanCosine, meanMse, meanSqnrDb } from "./distance.js";
import { labelClasses } from "./label-classes.js";
import type { BuiltinMetric, Metric, MetricLabels, NamedTensors } from "./metric.js";

/** Share of positions whose label is among the `among` best classes. */
const top =
  (name: "top1" | "top5", among: number) =>
  (outputs: NamedTensors, labels: MetricLabels, sample: string): number => {
    const scores = classScores(name, outputs);
    const wanted = labelClasses(name, sample, labels, scores.positions, scores.classes);
    return wanted.filter((label, position) => rankOf(scores, position, label) < among).length / scores.positions;
  };

/**
 * Share of positions whose best class is the reference's, of the first output with class scores; but no more than the
 * cosine of any other float output: one that is lost makes the answer another. A model without class scores that
 * answers in integers (or text) agrees by the share of equal elements of its first such output.
 */
function agreement(outputs: NamedTensors, reference: NamedTensors): number {
  const wanted = findClassScores(reference);
  if (!wanted) return equalShare(outputs, reference);
  const answer = counterpart("agreement", wanted.output, reference[wanted.output]!, outputs);
  const got = classScores("agreement", { [wanted.output]: answer });
  let agreeing = 0;
  for (let position = 0; position < wanted.positions; position++) {
    const best = bestClass(wanted, position);
    if (best >= 0 && best === bestClass(got, position)) agreeing++;
  }
  return Math.min(agreeing / wanted.positions, leastCosine("agreement", outputs, reference, wanted.output));
}

function equalShare(outputs: NamedTensors, reference: NamedTensors): number {
  const discrete = Object.entries(reference).find(([, { type, data }]) => !type.includes("float") && data.length > 0);
  if (!discrete) throw noClasses("agreement", reference);
  const [name, wanted] = discrete;
  const got = counterpart("agreement", name, wanted, outputs);
  let equal = 0;
  for (let i = 0; i < wanted.data.length; i++) if (wanted.data[i] === got.data[i]) equal++;
  return equal / wanted.data.length;
}

interface Definition {
  readonly higherIsBetter: boolean;
  readonly needs: "labels" | "reference";
  readonly score: (outputs: NamedTensors, labels: MetricLabels, sample: string, reference: NamedTensors) => number;
}

const definitions: Record<BuiltinMetric, Definition> = {
  top1: { higherIsBetter: true, needs: "labels", score: top("top1", 1) },
  top5: { higherIsBetter: true, needs: "labels", score: top("top5", 5) },
  agreement: { higherIsBetter: true, needs: "reference", score: (o, _l, _s, r) => agreement(o, r) },
  cosine: { higherIsBetter: true, needs: "reference", score: (o, _l, _s, r) => meanCosine(o, r) },
  sqnr: { higherIsBetter: true, needs: "reference", score: (o, _l, _s, r) => meanSqnrDb(o, r) },
  mse: { higherIsBetter: false, needs: "reference", score: (o, _l, _s, r) => meanMse(o, r) },
};

export function builtinMetric(name: BuiltinMetric): Metric {
  const { higherIsBetter, needs, score } = definitions[name];
  return {
    name,
    higherIsBetter,
    needsLabels: needs === "labels",
    needsReference: needs === "reference",
    score: async (outputs, labels, sample, reference) => score(outputs, labels, sample.id, reference),
  };
}
