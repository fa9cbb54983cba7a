/** What results tell of each node, for those who write them down. */
export { type Form, storedBitsOf } from "../quantization/form.js";
