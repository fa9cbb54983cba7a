/**
 * Made-up latencies whose quantiles are known: what statistics say of them can be held against the truth.
 * Distributions by their quantile function; series that depend on their past by a normal that leans on the one before, or by
 * phases in which everything takes longer.
 */
/** Uniform in [0, 1), and normal: a generator of its own (mulberry32), so that nothing here rests on what it examines. */
export function chance(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let z = Math.imul(state ^ (state >>> 15), state | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return ((z ^ (z >>> 14)) >>> 0) / 2 ** 32;
  };
  return { next, normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()) };
}

/** P(Z <= z) of the standard normal, to 1e-7 (Abramowitz and Stegun 26.2.17). */
function normalCdf(z) {
  const t = 1 / (1 + 0.2316419 * Math.abs(z));
  const tail =
    (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) *
    t *
    (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return z > 0 ? 1 - tail : tail;
}

/** Its inverse, so that both make the same error. */
function normalQuantile(p) {
  let [low, high] = [-8, 8];
  for (let i = 0; i < 45; i++) {
    const middle = (low + high) / 2;
    if (normalCdf(middle) < p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

const clamp = (p) => Math.min(1 - 1e-12, Math.max(1e-12, p));

/** Milliseconds at a probability. */
const shapes = {
  lognormal: (p) => 10 * Math.exp(0.1 * normalQuantile(clamp(p))),
  exponential: (p) => 5 - 2 * Math.log1p(-clamp(p)),
  pareto: (p) => 10 * (1 - clamp(p)) ** (-1 / 3),
  uniform: (p) => 8 + 4 * p,
  /** 85 in 100 around 10 ms, the others around 14: a garbage collection, another core. */
  bimodal: (p) =>
    p < 0.85 ? 10 + 0.2 * normalQuantile(clamp(p / 0.85)) : 14 + 0.4 * normalQuantile(clamp((p - 0.85) / 0.15)),
};

/** The same by a table, which is quicker: linear between 20,001 points, exact in the tails. */
function tabled(quantile) {
  const steps = 20_000;
  const table = Float64Array.from({ length: steps + 1 }, (_, i) => quantile(clamp(i / steps)));
  return (p) => {
    if (p < 0.001 || p > 0.999) return quantile(p);
    const at = p * steps;
    const below = Math.floor(at);
    return table[below] + (table[below + 1] - table[below]) * (at - below);
  };
}

/** Each by itself. */
function independent(shape) {
  const draw = tabled(shapes[shape]);
  return { quantile: shapes[shape], series: (random) => () => draw(random.next()) };
}

/** A normal of variance 1 that leans on the one before, in the shape given. */
function leaning(shape, lean) {
  const draw = tabled(shapes[shape]);
  return {
    quantile: shapes[shape],
    series(random) {
      let normal = random.normal();
      return () => {
        const ms = draw(normalCdf(normal));
        normal = lean * normal + Math.sqrt(1 - lean ** 2) * random.normal();
        return ms;
      };
    },
  };
}

/** A tenth of the time, in phases of `length` runs on average, everything takes half as long again. */
function phases(length) {
  const [share, factor] = [0.1, 1.5];
  const draw = tabled(shapes.lognormal);
  const atMost = (ms) =>
    (1 - share) * normalCdf(Math.log(ms / 10) / 0.1) + share * normalCdf(Math.log(ms / (10 * factor)) / 0.1);
  return {
    quantile(p) {
      let [low, high] = [1, 100];
      for (let i = 0; i < 60; i++) {
        const middle = (low + high) / 2;
        if (atMost(middle) < p) low = middle;
        else high = middle;
      }
      return (low + high) / 2;
    },
    series(random) {
      let isSlow = random.next() < share;
      return () => {
        const ms = draw(random.next()) * (isSlow ? factor : 1);
        const leave = (isSlow ? 1 : share / (1 - share)) / length;
        if (random.next() < leave) isSlow = !isSlow;
        return ms;
      };
    },
  };
}

/** By name: `quantile(p)` is the truth, `series(random)` makes a source of one latency after the other. */
export const latencySources = {
  lognormal: independent("lognormal"),
  exponential: independent("exponential"),
  "heavy tail (Pareto, 3)": independent("pareto"),
  uniform: independent("uniform"),
  bimodal: independent("bimodal"),
  "lognormal, leaning 0.5": leaning("lognormal", 0.5),
  "lognormal, leaning 0.8": leaning("lognormal", 0.8),
  "exponential, leaning 0.9": leaning("exponential", 0.9),
  "bimodal, leaning 0.8": leaning("bimodal", 0.8),
  "slow phases of 5 runs": phases(5),
};

/** Too few phases in the runs there are to know their share: nothing is claimed, and what happens is shown. */
export const beyondSources = { "slow phases of 20 runs": phases(20) };
