/** Sizes and times. Each parser throws FLAG_INVALID (or CONFIG_INVALID) with the name and the value. */
import { decimal, formed, invalid, NUMBER, type Parse, POSITIVE, whole } from "./parse.js";

const bytesPer: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
};

/** `10MB`, `512KiB`, `3000000B`: bytes. */
export const parseSize: Parse<number> = formed({ text: whole(`${NUMBER} ?([kKmMgG][iI]?)?[bB]`) }, (text, source) => {
  const parts = /^([\d.]+) ?([a-z]+)$/i.exec(text);
  const value = parts ? decimal(parts[1]!) : null;
  const unit = parts ? bytesPer[parts[2]!.toLowerCase()] : undefined;
  if (value !== null && unit !== undefined) return Math.floor(value * unit);
  throw invalid(text, source, "is no size", "Write a number and a unit: 10MB, 512KiB or 3000000B.");
});

const msPer: Readonly<Record<string, number>> = { us: 1e-3, ms: 1, s: 1e3, m: 6e4, min: 6e4, h: 3.6e6 };

/** Source of an expression. */
export const DURATION = `${POSITIVE} ?(${Object.keys(msPer).join("|")})`;

/** In milliseconds; null for what is none. */
export function duration(text: string): number | null {
  const parts = /^([\d.]+) ?([a-z]+)$/.exec(text);
  const value = parts ? decimal(parts[1]!) : null;
  const unit = parts ? msPer[parts[2]!] : undefined;
  return value !== null && unit !== undefined && value > 0 ? value * unit : null;
}

/** `5m`, `90s`, `500ms`: milliseconds. */
export const parseDuration: Parse<number> = formed({ text: whole(DURATION) }, (text, source) => {
  const value = duration(text);
  if (value !== null) return value;
  throw invalid(text, source, "is no duration", "Write a number and a unit: 5m, 90s or 500ms.");
});
