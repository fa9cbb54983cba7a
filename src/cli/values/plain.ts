/** Texts, choices and numbers without a unit. Each parser throws FLAG_INVALID (or CONFIG_INVALID) with the name and the value. */
import { likelyName } from "../../base/nearest.js";
import { decimal, exampleOf, formed, invalid, type Parse, POSITIVE, whole } from "./parse.js";

export const parseText: Parse<string> = formed({ text: { pattern: "." } }, (text, source) => {
  if (text === "") throw invalid(text, source, "is empty", "Give it a value.");
  return text;
});

/** Names separated by commas. */
export const parseNames: Parse<readonly string[]> = formed(
  { text: whole(String.raw`[^,]*[^,\s][^,]*(,[^,]*[^,\s][^,]*)*`) },
  (text, source) => {
    const names = text.split(",").map((name) => name.trim());
    if (names.every((name) => name !== "")) return names;
    throw invalid(text, source, "has an empty name", "Separate names by single commas.");
  },
);

export function parseChoice<const T extends string>(choices: readonly T[]): Parse<T> {
  return formed({ text: { enum: choices } }, (text, source) => {
    const found = choices.find((choice) => choice === text);
    if (found !== undefined) return found;
    const likely = likelyName(text, choices);
    throw invalid(
      text,
      source,
      `is none of ${choices.join(", ")}`,
      likely === null ? "Give one of them." : `Did you mean ${likely}?`,
    );
  });
}

/** Some of the choices, with commas between them, in the order of the choices; or `none`. */
export function parseSome<const T extends string>(choices: readonly T[]): Parse<readonly T[]> {
  const parse = parseChoice(choices);
  const each = String.raw`\s*(${choices.join("|")})\s*`;
  return formed({ text: whole(`none|${each}(,${each})*`) }, (text, source) => {
    if (text === "none") return [];
    const parts = text.split(",").map((part) => part.trim());
    if (parts.includes("none"))
      throw invalid(text, source, "says none, and others besides", "Give none by itself, or leave it out.");
    const named = parts.map((part) => parse(part, source));
    return choices.filter((choice) => named.includes(choice));
  });
}

export const parseInteger = (least: number, most: number): Parse<number> =>
  formed({ number: { type: "integer", minimum: least, maximum: most } }, (text, source) => {
    const value = /^\d+$/.test(text) ? Number(text) : null;
    if (value !== null && value >= least && value <= most) return value;
    throw invalid(text, source, `is no whole number from ${least} to ${most}`, exampleOf(source, least));
  });

/** `4`, or several: `1,2,4,8`. */
export const parseIntegers = (least: 1, most: number): Parse<readonly number[]> => {
  // As many digits as stay below the most.
  const each = String.raw`\s*[1-9]\d{0,${String(most).length - 2}}\s*`;
  const number = { type: "integer", minimum: least, maximum: most } as const;
  return formed({ number, text: whole(`${each}(,${each})*`) }, (text, source) => {
    const values = text.split(",").map((part) => (/^\d+$/.test(part.trim()) ? Number(part) : Number.NaN));
    if (values.every((value) => value >= least && value <= most)) return [...new Set(values)];
    throw invalid(text, source, `is no whole number from ${least} to ${most}`, exampleOf(source, least));
  });
};

/** `40`, `0.5`. */
export const parsePositive = (example: string): Parse<number> =>
  formed({ number: { type: "number", exclusiveMinimum: 0 }, text: whole(POSITIVE) }, (text, source) => {
    const value = decimal(text);
    if (value !== null && value > 0) return value;
    throw invalid(text, source, "is no plain number above 0", `Write one in digits: ${example}.`);
  });

/** `1.2` or `1.2x`. */
export const parseFactor: Parse<number> = formed(
  { number: { type: "number", exclusiveMinimum: 0 }, text: whole(`${POSITIVE}x?`) },
  (text, source) => {
    const value = decimal(text.endsWith("x") ? text.slice(0, -1) : text);
    if (value !== null && value > 0) return value;
    throw invalid(text, source, "is no factor above 0", "Write 1.2 for a fifth faster.");
  },
);

/** `1.5` or `1.5x`: more than as fast as before. */
export const parseSpeedup: Parse<number> = formed(
  {
    number: { type: "number", exclusiveMinimum: 1 },
    text: whole(String.raw`0*(([2-9]|[1-9]\d+)(\.\d+)?|1\.0*[1-9]\d*)x?`),
  },
  (text, source) => {
    const value = decimal(text.endsWith("x") ? text.slice(0, -1) : text);
    if (value !== null && value > 1) return value;
    throw invalid(text, source, "is no factor above 1", "Write 1.5 for half as fast again.");
  },
);

/** 0.5, .5 or 50%, but neither nothing nor all. */
const shareForm = {
  number: { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 },
  text: whole(String.raw`(?=[\d.]*[1-9])(0*\.\d+|(0*\d{1,2}(\.\d+)?|\.\d+)%)`),
} as const;

/** Above 0 and below 1, also as a percentage. */
export const parseShare: Parse<number> = formed(shareForm, (text, source) => {
  const percent = text.endsWith("%");
  const value = decimal(percent ? text.slice(0, -1) : text);
  const share = value === null ? null : percent ? value / 100 : value;
  if (share !== null && share > 0 && share < 1) return share;
  throw invalid(text, source, "is no share above 0 and below 1", "Write 0.5 or 50%.");
});
