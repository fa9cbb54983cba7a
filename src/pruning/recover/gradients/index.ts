import type { GradientRule } from "../gradient-rule.js";
import { attentions } from "./attention.js";
import { convolutions } from "./convolution.js";
import { elementwise } from "./elementwise.js";
import { normalization } from "./normalization.js";
import { pooling } from "./pooling.js";
import { products } from "./products.js";
import { shape } from "./shape.js";

/** By operator of ai.onnx; opset 16 and later. */
export const gradientRules: ReadonlyMap<string, GradientRule> = new Map(
  Object.entries({
    ...elementwise,
    ...shape,
    ...products,
    ...attentions,
    ...convolutions,
    ...pooling,
    ...normalization,
  }),
);
