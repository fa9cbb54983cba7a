import { eliminateUnreadTaps } from "../../../src/passes/eliminate/unread-taps.js";
import { testRewrite } from "../../support/test-rewrite.js";

const of = (x: string, attributes: string, weight: string): string =>
  `(x: f32[${x}]) -> (y) { y = Conv<${attributes}>(x, $w: f32[${weight}], $b: f32[4]) }`;

testRewrite(eliminateUnreadTaps, {
  rewrites: {
    "all but the middle": of("N,3,5,6", "dilations=[6,6], pads=[6,6,6,6]", "4,3,3,3"),
    "one axis": of("N,3,5,W", "dilations=[5,1], pads=[5,1,5,1]", "4,3,3,3"),
    "groups, a line, more before than behind": of("N,4,4", "dilations=[2], pads=[10,2], group=2", "4,2,7"),
    "a stride": of("N,3,4,4", "dilations=[4,4], pads=[4,4,4,4], strides=[2,2]", "4,3,3,3"),
    "as much as the padding allows": of("N,3,2", "dilations=[3], pads=[8,0]", "4,3,4"),
  },
  leaves: {
    "taps that are read": [of("N,3,5,5", "dilations=[4,4], pads=[4,4,4,4]", "4,3,3,3"), null],
    "maps of unknown size": [of("N,3,H,W", "dilations=[36,36], pads=[36,36,36,36]", "4,3,3,3"), null],
    "a tap in less padding than a step": [of("N,3,5", "dilations=[3], pads=[2,0]", "4,3,3"), null],
    "padding by auto_pad": [of("N,3,2,2", 'dilations=[3,3], auto_pad="SAME_UPPER"', "4,3,3,3"), null],
    "weights that are made": [
      "(x: f32[N,3,2,2], w: f32[4,3,3,3]) -> (y) { y = Conv<dilations=[2,2], pads=[2,2,2,2]>(x, w) }",
      null,
    ],
  },
});
