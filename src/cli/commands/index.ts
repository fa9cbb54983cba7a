/** Every command of this release, in the order of the help. */
import type { Command } from "../command.js";
import { bench } from "./bench.js";
import { calibrate } from "./calibrate.js";
import { completion } from "./completion.js";
import { doctor } from "./doctor.js";
import { explain } from "./explain.js";
import { fold, fuse } from "./fold-and-fuse.js";
import { fp16 } from "./fp16.js";
import { gate } from "./gate.js";
import { inspect } from "./inspect.js";
import { passes } from "./passes.js";
import { profile } from "./profile.js";
import { prune } from "./prune.js";
import { optimize, quantize } from "./quantize.js";
import { report } from "./report.js";
import { show } from "./show.js";
import { verify } from "./verify.js";

export const commands: readonly Command[] = [
  ...[inspect, show, explain, report],
  ...[optimize, quantize, prune, fp16, fuse, fold, calibrate],
  ...[verify, bench, profile, gate],
  ...[doctor, passes, completion],
];
