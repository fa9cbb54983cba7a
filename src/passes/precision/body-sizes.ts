/**
 * Sizes that a file declares for the inputs of the body of a Loop or a Scan bind no runtime: files describe what the
 * first iteration sees, or something else altogether, and run all the same. But ONNX Runtime plans memory by them, and
 * between the Casts of half precision it then meets a buffer of another size. So a declaration stays only where what
 * comes in bears it out, and for a state also what the body hands on.
 */
import { type Graph, type Node, promisedShape, type Shape } from "../../ir/index.js";
import { bodyEntries } from "../../rewrite/index.js";

/** Takes back what the body of a Loop or a Scan declares on no grounds of its inputs, and of the states it hands on. */
export function forgetUnfoundedSizes(node: Node): void {
  const body = node.bodies[0];
  for (const { input, shape, next } of bodyEntries(node)) {
    const port = next === null ? null : body!.outputs[next];
    const declared = [promisedShape(input.info) ?? input.shape, port && (promisedShape(port.info) ?? port.value.shape)];
    if (declared.every((claim) => !claim || isBorneOut(claim, shape))) continue;
    input.info = null;
    // What is true of an element is true of all.
    input.type = input.type && { dtype: input.type.dtype, shape: port ? null : shape };
    if (port) forgetPromise(body!, next!);
  }
}

const isBorneOut = (claim: Shape, shape: Shape | null): boolean =>
  claim.length === shape?.length && claim.every((dim, axis) => dim === null || dim === shape[axis]);

/** Names and order of outputs stay. */
function forgetPromise(body: Graph, place: number): void {
  const ports = body.outputs;
  for (const { name } of ports) body.removeOutput(name);
  for (const [i, { name, value, info }] of ports.entries()) body.addOutput(name, value, i === place ? null : info);
}
