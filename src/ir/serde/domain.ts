/** "ai.onnx" and "" are the same domain; the house says "". */
export const canonicalDomain = (domain: string | undefined): string => (!domain || domain === "ai.onnx" ? "" : domain);
