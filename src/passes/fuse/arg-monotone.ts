/**
 *   ArgMax(Softmax(x))  =>  ArgMax(x)     over the same axis; likewise LogSoftmax, and that before ArgMin too
 *
 * The greatest element keeps its place. Not ArgMin of Softmax: small results round to 0
 * and become equal there; and nothing of Exp, whose large results are all infinite.
 */
import { defineRewrite } from "../../rewrite/index.js";
import { soleProducer } from "../../rewrite/match.js";

export const fuseArgMonotone = defineRewrite({
  name: "fuse-arg-monotone",
  summary: "Look for the greatest element before a Softmax or LogSoftmax, not behind it",
  numerics: "rounding",
  roots: ["ArgMax", "ArgMin"],
  minOpset: 13,
  rewrite(root, { create, skip }) {
    const input = root.inputs[0];
    const op = ["Softmax", "LogSoftmax"].find((each) => soleProducer(input, each));
    const inner = op ? soleProducer(input, op) : null;
    const x = inner?.inputs[0];
    if (!inner || !x) return null;
    const rank = x.shape?.length ?? input!.shape?.length;
    const [axis, own] = [root.int("axis", 0), inner.int("axis", -1)];
    if (axis !== own && (rank === undefined || (axis + rank) % rank !== (own + rank) % rank)) {
      return skip("the elements are compared along another axis");
    }
    if (root.op === "ArgMin" && inner.op !== "LogSoftmax") return skip("small results round to equal ones");
    return create(root.op, [x], root.attributes);
  },
});
