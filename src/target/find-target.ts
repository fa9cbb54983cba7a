/** The targets by the names that people give: `tensorrt`, `ort-cpu@1.17`. */
import { targetUnknown } from "./errors.js";
import { coreml, nnapi, qnn } from "./mobile.js";
import { openVino } from "./openvino.js";
import { ortCpu, ortReleases, ortWeb } from "./ort.js";
import type { Target } from "./target.js";
import { tensorRt } from "./tensorrt.js";

interface Family {
  /** Newest first; the first is meant when none is named. Empty: there is one only. */
  readonly releases: readonly string[];
  readonly make: (name: string, release: string) => Target;
}

const families: Readonly<Record<string, Family>> = {
  "ort-cpu": { releases: ortReleases, make: ortCpu },
  // The same operators; what differs is how integers are added up (integer-kernels.ts).
  "ort-cpu-vnni": { releases: ortReleases, make: ortCpu },
  "ort-cpu-avx2": { releases: ortReleases, make: ortCpu },
  "ort-cpu-arm64": { releases: ortReleases, make: ortCpu },
  "ort-cpu-arm64-dot": { releases: ortReleases, make: ortCpu },
  "ort-web": { releases: ortReleases, make: ortWeb },
  tensorrt: { releases: ["11", "10"], make: tensorRt },
  openvino: { releases: [], make: openVino },
  coreml: { releases: ortReleases, make: coreml },
  nnapi: { releases: ortReleases, make: nnapi },
  qnn: { releases: ortReleases, make: qnn },
};

export const targetNames: readonly string[] = Object.keys(families);

/** Every name with and without a release. */
export const targetSpellings: readonly string[] = Object.entries(families).flatMap(([name, { releases }]) => [
  name,
  ...releases.map((release) => `${name}@${release}`),
]);

/** Each with its releases, for a message: `ort-cpu[@1.5 to @1.30]`. */
export const targetsInWords = (): string =>
  Object.entries(families)
    .map(([name, { releases }]) => (releases.length > 0 ? `${name}[@${releases.at(-1)} to @${releases[0]}]` : name))
    .join(", ");

/** null: no such family, or no such release of it. A patch number after the release changes nothing. */
export function findTarget(name: string): Target | null {
  const [familyName = "", asked, ...rest] = name.split("@");
  const family = Object.hasOwn(families, familyName) ? families[familyName]! : null;
  if (!family || rest.length > 0) return null;
  if (asked === undefined) return family.make(name, family.releases[0] ?? "");
  const release = family.releases.find((known) => asked === known || asked.startsWith(`${known}.`));
  return release === undefined ? null : family.make(name, release);
}

/** Throws TARGET_UNKNOWN. */
export function requireTarget(name: string): Target {
  const target = findTarget(name);
  if (!target) throw targetUnknown(name, targetsInWords());
  return target;
}

/** What runs the models of this program. */
export const hostTarget: Target = ortCpu("ort-cpu", ortReleases[0]!);
