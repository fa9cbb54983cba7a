/** What files are called where there are several: by their names, with as many folders as it takes to tell them apart. */

interface Named {
  readonly path: string;
}

/** By path. */
export function fileNames(models: readonly Named[]): ReadonlyMap<string, string> {
  const paths = [...new Set(models.map(({ path }) => path))];
  const parts = new Map(
    paths.map((path) => [path, path.split(/[\\/]+/).filter((part) => part !== "" && part !== ".")]),
  );
  const deepest = Math.max(1, ...[...parts.values()].map(({ length }) => length));
  const names = new Map<string, string>();
  let open = paths;
  for (let depth = 1; depth <= deepest && open.length > 0; depth++) {
    for (const path of open) names.set(path, parts.get(path)!.slice(-depth).join("/") || path);
    const counts = countOf(open.map((path) => names.get(path)!));
    open = open.filter((path) => counts.get(names.get(path)!)! > 1);
  }
  // One from the root on, the other from here on.
  for (const path of open) names.set(path, path);
  return names;
}

/** In their order; a file that is given again is told by how often. */
export function modelNames(models: readonly Named[]): readonly string[] {
  const names = fileNames(models);
  const seen = new Map<string, number>();
  return models.map(({ path }) => {
    const times = (seen.get(path) ?? 0) + 1;
    seen.set(path, times);
    return times === 1 ? names.get(path)! : `${names.get(path)!} (${times})`;
  });
}

function countOf(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
