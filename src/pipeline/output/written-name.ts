/** A node's name without what the runtime put behind it: it names nodes of its own after those that they stand for, or what they make. */
export const writtenName = (name: string): string =>
  name.replace(/\/\w*Fusion\w*\/?$/, "").replace(/(_nchwc|_token_\d+)+$/, "");

/** The same of one in the runtime's blocked layout, which is named after what it makes. */
export const withoutBlocks = (name: string): string => name.replace(/_nchwc$/, "");
