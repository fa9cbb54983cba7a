/** Some of many, evenly spread: neighbours in a file are often alike. `all` is a list, or a count for 0, 1, 2, ... */
export function spread(all: readonly number[] | number, most: number): number[] {
  const count = typeof all === "number" ? all : all.length;
  const of = Math.min(most, count);
  return Array.from({ length: of }, (_, i) => {
    const at = Math.floor((i * count) / of);
    return typeof all === "number" ? at : all[at]!;
  });
}
