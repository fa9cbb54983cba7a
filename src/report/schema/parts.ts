/** Parts that several fields of a result are made of. */
import * as v from "valibot";

export const text = v.string();
export const number = v.number();
/** Bytes, and how many there are of something. */
export const size = v.pipe(number, v.minValue(0));
export const flag = v.boolean();
export const maybe = v.nullable(v.number());
export const pair = v.tuple([number, number]);
export const sizes = v.array(v.nullable(v.union([number, text])));
export const model = v.looseObject({
  ...{ path: text, sha256: text, dataSha256: v.optional(text), bytes: size, nodes: size },
});
const percentile = v.nullable(size);
const bound = v.looseObject({ low: maybe, high: maybe });
export const bounds = v.looseObject({ p50: bound, p90: v.optional(bound), p95: bound, p99: bound, p999: bound });
export const percentiles = v.looseObject({
  ...{ p50Ms: size, p90Ms: v.optional(percentile), p95Ms: percentile, p99Ms: percentile, p999Ms: percentile },
  bounds: v.optional(bounds),
});
export const float = v.array(v.looseObject({ node: text, op: text, reason: text }));
export const layer = v.looseObject({
  ...{ value: text, node: text, op: text, maxAbs: maybe, relativeL2: maybe, sqnrDb: maybe, cosine: v.optional(maybe) },
});

export const status = v.picklist(["met", "missed", "inconclusive"]);

/** One for each declared limit. */
export const reasons = v.array(
  v.looseObject({
    ...{ limit: text, text, wanted: number, got: maybe, status },
    unit: v.optional(v.picklist(["points", "percent", "metric", "times", "ms", "bytes", "a second"])),
    interval: v.optional(v.tuple([maybe, maybe])),
    longer: v.optional(maybe),
  }),
);

export const differences = v.array(
  v.looseObject({
    ...{ output: text, maxAbs: maybe, relativeL2: maybe, sqnrDb: maybe, cosine: maybe },
    ...{ maxRelative: v.optional(maybe), rmse: v.optional(maybe), argmaxAgreement: v.optional(maybe) },
    samples: v.optional(size),
    intervals: v.optional(
      v.looseObject({
        ...{ rmse: pair, sqnrDb: v.tuple([maybe, maybe]), cosine: pair, argmaxAgreement: v.nullable(pair) },
      }),
    ),
  }),
);

const time = { durationMs: number };
export const placement = v.looseObject({
  ...{ provider: text, runs: v.optional(number), nodes: number, ...time },
  providers: v.array(v.looseObject({ ...time, provider: text, nodes: number })),
  operators: v.array(v.looseObject({ ...time, op: text, provider: text, nodes: number, calls: v.optional(number) })),
  conversions: v.array(v.looseObject({ ...time, op: text, nodes: number, inserted: number })),
  islands: v.array(v.looseObject({ ...time, node: text, op: text })),
});
