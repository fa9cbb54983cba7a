import { eliminateUnpaddedCount } from "../../../src/passes/eliminate/unpadded-average.js";
import { testRewrite } from "../../support/test-rewrite.js";

const graph = (attributes: string): string =>
  `(x: f32[1,3,5,7]) -> (y) { a = Neg(x) b = AveragePool<${attributes}>(a) y = Abs(b) }`;

testRewrite(eliminateUnpaddedCount, {
  rewrites: {
    "a last window rounded up": graph("kernel_shape=[3,2], strides=[3,2], ceil_mode=1, count_include_pad=1"),
    "padding of zero": graph("kernel_shape=[2,2], strides=[2,2], pads=[0,0,0,0], ceil_mode=1, count_include_pad=1"),
    "dilations of one": [graph("kernel_shape=[2,2], dilations=[1,1]"), { opset: 19 }],
    "dilations of one beside counted padding": [
      graph("kernel_shape=[2,2], dilations=[1,1], pads=[1,0,0,0], ceil_mode=1, count_include_pad=1"),
      { opset: 19 },
    ],
  },
  leaves: {
    "counted padding": [
      graph("kernel_shape=[2,2], strides=[2,2], pads=[0,0,1,1], ceil_mode=1, count_include_pad=1"),
      "padding is counted",
    ],
    "padding to the same size": [
      graph('kernel_shape=[2,2], strides=[2,2], auto_pad="SAME_UPPER", ceil_mode=1, count_include_pad=1'),
      "padding is counted",
    ],
    "what a Pad in front of it may need": [graph("kernel_shape=[2,2], count_include_pad=1"), null],
    "padding that is not counted": [graph("kernel_shape=[2,2], ceil_mode=1"), null],
    "a way of rounding that there is not": [graph("kernel_shape=[2,2], ceil_mode=-1, count_include_pad=1"), null],
    "windows with gaps": [graph("kernel_shape=[2,2], dilations=[2,1]"), null, { opset: 19 }],
  },
});
