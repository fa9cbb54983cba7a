export { type ChannelMoments, channelMoments, meanOf, meanPairOf, meanSquareOf } from "./channel-moments.js";
export { clampTap } from "./clamp-tap.js";
export { observeTensor } from "./observe-tensor.js";
export { chooseRange, type RangeMethod, rangeMethods, type TapRange } from "./ranges.js";
export {
  binsPerSide,
  binWidth,
  finiteCount,
  mergeTaps,
  newTap,
  type TapStatistics,
} from "./statistics.js";
export { type TapJson, tapFromJson, tapToJson } from "./tap-json.js";
