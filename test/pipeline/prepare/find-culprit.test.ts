import { expect, it } from "vitest";
import { type Attempt, findCulprit, type Trial } from "../../../src/pipeline/prepare/find-culprit.js";

const passes = Array.from({ length: 9 }, (_, i) => `pass-${i}`);
const nodes = Array.from({ length: 7 }, (_, i) => `node-${i}`);

/** Results are wrong once a pass has been applied to a node. */
function faultAt(pass: string, node: string) {
  const attempts: Attempt[] = [];
  const tryOut = async (attempt: Attempt): Promise<Trial> => {
    attempts.push(attempt);
    const sites = nodes.slice(0, attempt.maxApplications?.get(pass) ?? nodes.length);
    const isWrong = attempt.only.includes(pass) && sites.includes(node);
    return {
      violation: isWrong ? `wrong with ${attempt.only.length}` : null,
      appliedAt: new Map([[pass, attempt.only.includes(pass) ? sites : []]]),
    };
  };
  return { attempts, tryOut };
}

it.each([
  ["pass-0", "node-0"],
  ["pass-4", "node-3"],
  ["pass-8", "node-6"],
])("finds %s at %s, with the reason of the fewest passes that are wrong", async (pass, node) => {
  const { attempts, tryOut } = faultAt(pass, node);
  const count = passes.indexOf(pass) + 1;
  const reason = count === passes.length ? "wrong" : `wrong with ${count}`;
  expect(await findCulprit({ raiseOpset: true, only: passes }, "wrong", tryOut)).toEqual({ pass, node, reason });
  expect(attempts.length).toBeLessThan(9);
  expect(attempts.every(({ raiseOpset }) => raiseOpset)).toBe(true);
});

it("names no node where the pass says of none that it was applied", async () => {
  const { tryOut } = faultAt("pass-2", "node-0");
  const silent = async (attempt: Attempt): Promise<Trial> => ({ ...(await tryOut(attempt)), appliedAt: new Map() });
  expect(await findCulprit({ raiseOpset: false, only: passes }, "wrong", silent)).toMatchObject({
    pass: "pass-2",
    node: null,
  });
});
