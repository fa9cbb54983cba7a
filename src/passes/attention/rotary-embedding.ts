/**
 *   x * cos + Concat(-x2, x1) * sin  =>  RotaryEmbedding(x, cos, sin)
 *
 * in the forms of rotation.ts, on [B, H, S, D] or [B, S, H, D]. Where x is a split of
 * [B, S, H * D] into heads, the rotation goes before it, where an Attention can read it:
 *
 *   RotaryEmbedding(Transpose(Reshape(x)))  =>  Transpose(Reshape(RotaryEmbedding<num_heads>(x)))
 */
import { attr, type Node, Tensor, type Value } from "../../ir/index.js";
import { type Answer, defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import { sizeFacts } from "../fold/size-facts.js";
import { anglesFor, headsAxisOf } from "./angles.js";
import { headsOf, mergedHeads, type SizesOf, swapsHeads } from "./heads.js";
import { type Rotation, rotationAt } from "./rotation.js";

export const fuseRotaryEmbedding = defineRewrite({
  name: "fuse-rotary-embedding",
  summary: "Turn the rotation of queries and keys written out into RotaryEmbedding",
  numerics: "rounding",
  roots: ["Add", "Concat", "Reshape"],
  minOpset: 23,
  rewrite(root, context) {
    const sizesOf = context.shared(sizeFacts).shapeOf;
    const rotation = rotationAt(root, sizesOf);
    if (!rotation) return null;
    const { x } = rotation;
    const sizes = sizesOf(x);
    const width = sizes?.[3];
    if (sizes?.length !== 4 || typeof width !== "number") return context.skip("the width of a head is not known");
    if ([x, rotation.cos, rotation.sin].some(({ dtype }) => dtype !== "f32"))
      return context.skip("only f32 is rotated");
    const headsAxis = headsAxisOf(rotation.cos, sizesOf);
    if (headsAxis === null || headsAxisOf(rotation.sin, sizesOf) !== headsAxis) {
      return context.skip("the angles differ between heads, or may");
    }
    const wanted = { ...rotation, headsAxis, width, batch: sizes[0]!, length: sizes[3 - headsAxis]! };
    const cos = anglesFor(rotation.cos, wanted, sizesOf, context);
    const sin = anglesFor(rotation.sin, wanted, sizesOf, context);
    if (typeof cos === "string") return context.skip(cos);
    if (typeof sin === "string") return context.skip(sin);
    const turned = rotated(root, rotation, headsAxis, [cos, sin], sizesOf, context);
    if (rotation.rest.length === 0 || !(turned && "op" in turned)) return turned;
    return context.create("Concat", [turned.output, ...rotation.rest], root.attributes);
  },
});

function rotated(
  root: Node,
  { x, isInterleaved }: Rotation,
  headsAxis: 1 | 2,
  angles: readonly Value[],
  sizesOf: SizesOf,
  context: RewriteContext,
): Answer {
  const { create, constant, skip } = context;
  const interleaved = isInterleaved ? { interleaved: attr.int(1) } : {};
  const type = { dtype: "f32", shape: x.shape } as const;
  const [, second, third, width] = sizesOf(x)!;
  const heads = headsAxis === 1 ? second : third;
  const tokens = headsAxis === 1 ? (swapsHeads(x)?.inputs[0] ?? null) : x;
  const isSplit = tokens?.producer?.is("Reshape") ?? false;
  if (headsAxis === 1 && !isSplit) return create("RotaryEmbedding", [x, ...angles], interleaved, { types: [type] });
  const laidOut = { ...headsOf(x, sizesOf)!, headsFirst: null, tokensFirst: tokens, heads: heads! };
  const source = mergedHeads(laidOut, sizesOf, context);
  if (!source || typeof heads !== "number" || typeof width !== "number") {
    if (headsAxis === 2) return skip("the number of heads is not known");
    return create("RotaryEmbedding", [x, ...angles], interleaved, { types: [type] });
  }
  const turned = create(
    "RotaryEmbedding",
    [source, ...angles],
    { ...interleaved, num_heads: attr.int(heads) },
    { types: [{ dtype: "f32", shape: source.shape }] },
  );
  const split = constant(`${root.output.label}.split`, Tensor.i64([4], [0, 0, heads, width]));
  const shape = tokens?.shape && [...tokens.shape.slice(0, 2), heads, width];
  const spread = create("Reshape", [turned.output, split], {}, { types: [{ dtype: "f32", shape: shape ?? null }] });
  if (headsAxis === 2) return spread;
  return create("Transpose", [spread.output], { perm: attr.ints([0, 2, 1, 3]) }, { types: [type] });
}
