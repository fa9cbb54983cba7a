/** Labels are whatever JSON can say. All who read them go as deep as they nest, and the stack ends somewhere. */
const MOST_DEPTH = 64;

/** What stands against labels; null where nothing does. */
export const faultOfLabels = (labels: unknown): string | null =>
  isWithin(labels, MOST_DEPTH) ? null : `nests more than ${MOST_DEPTH} deep`;

const isWithin = (value: unknown, depth: number): boolean =>
  typeof value !== "object" ||
  value === null ||
  (depth > 0 && Object.values(value).every((each) => isWithin(each, depth - 1)));
