export { observeTensor } from "./observe-tensor.js";
export {
  binsPerSide,
  binWidth,
  finiteCount,
  mergeTaps,
  newTap,
  type TapStatistics,
} from "./statistics.js";
