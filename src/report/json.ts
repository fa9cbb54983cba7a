import type { RunResult } from "../pipeline/result.js";

/** The result for machines: contract.md fixes the fields. Ends with a line break. */
export const renderJson = (result: RunResult | object): string => `${JSON.stringify(result, null, 2)}\n`;
