const LONGEST_NAME = 240;

/** A name as results have it: those beyond all measure are told by their ends. */
export const shortName = (name: string): string =>
  name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME / 2)}...${name.slice(-LONGEST_NAME / 2)}`;
