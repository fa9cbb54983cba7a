/** The opsets of ai.onnx that models are converted between. */
export const OLDEST_OPSET = 7;
export const NEWEST_OPSET = 25;
