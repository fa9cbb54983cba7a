/**
 * Sizes that a file declares for the inputs of the body of a Loop or a Scan bind no runtime: files describe what the
 * first iteration sees, or something else altogether, and run all the same. But ONNX Runtime plans memory by them, and
 * between the Casts of half precision it then meets a buffer of another size. So a size stays only where what comes in
 * bears it out, and for a state also what the body hands on. Ranks stay where nothing contradicts them: the runtime
 * wants that of every output of a Scan.
 */
import { type Graph, type Node, promisedShape, type Shape } from "../../ir/index.js";
import { bodyEntries } from "../../rewrite/index.js";

/** Takes back what the body of a Loop or a Scan declares on no grounds of its inputs, and of the states it hands on. */
export function forgetUnfoundedSizes(node: Node): void {
  const body = node.bodies[0];
  for (const { input, shape, next } of bodyEntries(node)) {
    const port = next === null ? null : body!.outputs[next];
    const claim = promisedShape(input.info) ?? input.shape;
    const handed = port ? (promisedShape(port.info) ?? port.value.shape) : null;
    if ([claim, handed].every((declared) => !declared || isBorneOut(declared, shape))) continue;
    const founded = shape ? settled(node, shape, [claim, handed]) : (claim?.map(() => null) ?? null);
    input.info = null;
    input.type = input.type && { dtype: input.type.dtype, shape: founded };
    if (port) forgetPromise(body!, next!);
  }
}

const isBorneOut = (claim: Shape, shape: Shape | null): boolean =>
  claim.length === shape?.length && claim.every((dim, axis) => dim === null || dim === shape[axis]);

/** What holds in every iteration of a value that comes in with a shape: a Scan lets none change. */
function settled(node: Node, shape: Shape, claims: readonly (Shape | null)[]): Shape | null {
  if (node.is("Scan")) return shape;
  if (claims.some((claim) => claim && claim.length !== shape.length)) return null;
  return shape.map((dim, axis) => (claims.every((claim) => !claim || claim[axis] === dim) ? dim : null));
}

/** Names and order of outputs stay, and the rank that was promised. */
function forgetPromise(body: Graph, place: number): void {
  const ports = body.outputs;
  for (const { name } of ports) body.removeOutput(name);
  for (const [i, { name, value, info }] of ports.entries()) {
    body.addOutput(name, value, i === place ? null : info);
    const rank = i === place ? promisedShape(info) : null;
    if (rank && value.producer?.graph === body && value.dtype && !value.shape)
      value.type = { dtype: value.dtype, shape: rank.map(() => null) };
  }
}
