import type { RunResult } from "../pipeline/result.js";

/** The result for machines, with the fields of result.ts. Ends with a line break. */
export const renderJson = (result: RunResult | object): string => `${JSON.stringify(result, null, 2)}\n`;
