/** The entry of a table that is looked up by a name out of a model, which may well be `constructor`. */
export const ownEntry = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;
