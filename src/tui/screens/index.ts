/** The screens in the order of their tabs. */
import type { Screen } from "../screen.js";
import type { ScreenName } from "../state.js";
import { calibration } from "./calibration.js";
import { candidates } from "./candidates.js";
import { decisions } from "./decisions.js";
import { environment } from "./environment.js";
import { latency } from "./latency.js";
import { layers } from "./layers.js";
import { summary } from "./summary.js";

export const screens: Readonly<Record<ScreenName, Screen>> = {
  summary,
  layers,
  latency,
  candidates,
  calibration,
  decisions,
  environment,
};
