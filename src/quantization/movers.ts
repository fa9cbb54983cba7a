/** Operators that give elements other places or another shape, and leave each as it is. */
export const movers: ReadonlySet<string> = new Set(["Flatten", "Reshape", "Squeeze", "Transpose", "Unsqueeze"]);
