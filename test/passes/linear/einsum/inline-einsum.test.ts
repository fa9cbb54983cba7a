import { expect, it } from "vitest";
import { parseModel } from "../../../../src/ir/index.js";
import { inlineEinsum } from "../../../../src/passes/linear/einsum/inline-einsum.js";
import { annotateTypes, type PassReport, runPasses } from "../../../../src/rewrite/index.js";
import { describeModel, evaluate } from "../../../support/ask-runtime.js";
import { relativeError } from "../../../support/quantize-text.js";
import { runModel, seededFeeds } from "../../../support/run-model.js";
import { testRewrite } from "../../../support/test-rewrite.js";

const einsum = (equation: string, inputs: string, operands = "a, b"): string =>
  `(${inputs}) -> (y) { y = Einsum<equation="${equation}">(${operands}) }`;
const NOT_PLAIN = "a letter occurs twice in a term, the rank of an operand is not known, or the equation is not plain";
const UNKNOWN = "sizes are not known, or not to be the same in both operands";
const two = (equation: string, a: string, b: string): string => einsum(equation, `a: f32[${a}], b: f32[${b}]`);
const weighed = (equation: string, a: string, w: string): string =>
  einsum(equation, `a: f32[${a}]`, `a, $w: f32[${w}]`);

testRewrite(inlineEinsum, {
  rewrites: {
    "a product of matrices": two("ij,jk->ik", "N,5", "5,7"),
    "a product whose result is turned": two("ij,jk->ki", "N,5", "5,7"),
    "a product of what is turned": two("ji,kj->ik", "5,N", "7,5"),
    "weights of heads": weighed("bfd,dhk->bfhk", "N,6,8", "8,3,4"),
    "weights in front": einsum("dhk,bfd->bfhk", "a: f32[N,6,8]", "$w: f32[8,3,4], a"),
    "heads that are put together": weighed("bfhk,hkd->bfd", "N,6,3,4", "3,4,8"),
    "heads that are put together in another order": weighed("bfhk,dkh->bfd", "N,6,3,4", "8,4,3"),
    "weights of each head": weighed("bhi,hio->bho", "N,3,4", "3,4,5"),
    scores: two("bqhd,bkhd->bhqk", "N,5,3,4", "N,6,3,4"),
    "what scores weigh": two("bhqk,bkhd->bqhd", "N,3,5,6", "N,6,3,4"),
    "sequences of unknown length": two("bqhd,bkhd->bhqk", "N,Q,3,4", "N,K,3,4"),
    "sequences in front": two("ibnd,jbnd->bnij", "5,N,3,4", "6,N,3,4"),
    "an outer product": two("i,d->id", "5", "7"),
    "an outer product that is turned": two("i,d->di", "5", "7"),
    "a product with broadcasting": two("bij,bj->bij", "N,4,5", "N,5"),
    "a product of what has its axes in another order": two("bij,jb->ibj", "N,4,5", "5,N"),
    "an outer product for each of a batch": two("bi,bj->bij", "N,5", "N,7"),
    "an outer product with a constant": einsum("i,d->id", "a: f32[N]", "a, $w: f32[7]"),
    "a turned matrix and a vector": two("bkm,k->bm", "N,6,5", "6"),
    "rows along two axes and stacks of unknown size": two("bijk,bkl->bijl", "N,3,5,6", "N,6,7"),
    "rows of an unknown size beside known stacks": two("bijk,bkl->bijl", "2,3,J,6", "2,6,7"),
    "a scalar": two(",ij->ij", "", "N,4"),
    "dot products": two("bd,bd->b", "N,6", "N,6"),
    "dot products of what is turned": two("bd,db->b", "N,6", "6,N"),
    "a product summed whole": two("ij,ij->", "N,6", "N,6"),
    "a vector and a matrix": two("k,kn->n", "6", "6,7"),
    "a matrix and a vector": two("mk,k->m", "N,6", "6"),
    "a vector and matrices": two("bk,bkn->bn", "N,6", "N,6,7"),
    "matrices and a vector": two("bmk,bk->bm", "N,5,6", "N,6"),
    "rows along two axes": two("bijk,bkl->bijl", "N,3,5,6", "N,6,7"),
    "columns along two axes": two("bij,bjkl->bikl", "N,3,5", "N,5,6,7"),
    "what is added up in one operand": two("bij,bk->bk", "N,3,5", "N,4"),
    "what is added up in both": two("bij,bjk->bj", "N,3,5", "N,5,6"),
    "sums along two axes": two("bijk,bjkl->bil", "N,3,4,5", "N,4,5,6"),
    "one operand, turned": einsum("bij->ibj", "a: f32[N,3,4]", "a"),
    "one operand, added up": einsum("bij->jb", "a: f32[N,3,4]", "a"),
    "one operand, all of it added up": einsum("bij->", "a: f32[N,3,4]", "a"),
    "one operand as it is": einsum("bij->bij", "a: f32[N,3,4]", "a"),
    "three operands": einsum("bi,bij,bj->b", "a: f32[N,3], b: f32[N,3,4], c: f32[N,4]", "a, b, c"),
    "a chain of matrices": einsum("ij,jk,kl->il", "a: f32[N,3], b: f32[3,4], c: f32[4,5]", "a, b, c"),
    "four operands, some of which nobody else reads": einsum(
      "bi,c,bj,k->bc",
      "a: f32[N,3], b: f32[4], c: f32[N,5], d: f32[6]",
      "a, b, c, d",
    ),
    "axes that are not named": two("...ij,...jk->...ik", "N,3,4,5", "N,3,5,6"),
    "axes that only one has": two("...ij,jk->...ik", "N,3,4,5", "5,6"),
    "axes that are not named, between others": two("i...j,j...->...i", "4,N,5", "5,N"),
    "a result that is not told": two("ij,jk", "N,5", "5,7"),
    "a result that is not told, in the order of the alphabet": two("zj,ja", "N,5", "5,7"),
    "a result that is not told, of axes that are not named": two("...ij,...jk", "N,3,4", "N,4,5"),
    "spaces and upper case": two(" i J , J k -> i k ", "N,5", "5,7"),
    doubles: `(a: f32[N,5]) -> (z) {
      d = Cast<to=11>(a)
      y = Einsum<equation="ij,jk->ik">(d, $b: f64[5,7])
      z = Cast<to=1>(y)
    }`,
    "sizes of 1 on both sides": two("bij,bjk->bik", "1,3,1", "1,1,4"),
    "weights in front that add up along two axes in another order": einsum(
      "dkh,hkn->dn",
      "a: f32[3,4,N]",
      "$w: f32[8,4,3], a",
    ),
    "rows with rows, turned": two("ij,kj->ki", "N,5", "7,5"),
    "rows along two axes and sums along two": two("bijkl,jlm->bikm", "N,I,3,K,4", "3,4,M"),
  },
  leaves: {
    "a diagonal": [einsum("ii->i", "a: f32[4,4]", "a"), NOT_PLAIN],
    "a result that is not told, with upper case": [two("ij,jK", "N,5", "5,7"), NOT_PLAIN],
    "a result that has a letter twice": [einsum("ij->iij", "a: f32[4,5]", "a"), NOT_PLAIN],
    "a size of 1 that is repeated on the right": [
      two("bij,bjk->bik", "N,3,4", "N,1,5"),
      "a size of 1 is repeated along an axis of the same letter",
    ],
    "rows along two axes of unknown sizes": [two("bijk,bkl->bijl", "N,I,J,6", "N,6,7"), UNKNOWN],
    "columns along two axes of unknown sizes": [two("bij,bjkl->bikl", "N,3,5", "N,5,K,L"), UNKNOWN],
    "rows that would be joined where there may be no stacks": [two("bhqd,bd->bhq", "N,3,Q,8", "N,8"), UNKNOWN],
    "sums along an axis of which one operand knows the size": [two("bqk,bkd->bqd", "N,Q,K", "N,5,6"), UNKNOWN],
    "sums along an axis of two sizes that may be one": [two("bqk,bkd->bqd", "N,Q,K", "N,L,6"), UNKNOWN],
    "no elements": [two("bhqk,bk->bhq", "N,2,3,0", "N,0"), UNKNOWN],
    "an older opset": [einsum("bij,bk->bk", "a: f32[N,5,6], b: f32[N,7]"), null, { opset: 12 }],
    "integers, which others add up": [einsum("ij,jk->ik", "a: i32[N,5], b: i32[5,7]"), null],
    "a size of 1 that is repeated": [
      two("bij,bjk->bik", "N,3,1", "N,5,4"),
      "a size of 1 is repeated along an axis of the same letter",
    ],
    "what is added up along axes of unknown sizes": [two("bijk,bjkl->bil", "N,3,J,K", "N,J,K,L"), UNKNOWN],
  },
});

it("repeats stacks of a size that turns out to be 1, as Einsum does", async () => {
  const text = two("bhij,bjk->bhik", "N,3,4,5", "5,5,6");
  const [float, model] = [parseModel(text), parseModel(text)];
  await annotateTypes(model, describeModel);
  const [{ applied }] = (await runPasses(model, [inlineEinsum], { evaluate, check: true })) as [PassReport];
  const feeds = seededFeeds(float, 1);
  expect(applied).toBe(1);
  expect(relativeError(await runModel(float, feeds), await runModel(model, feeds))).toBeLessThan(1e-6);
});
