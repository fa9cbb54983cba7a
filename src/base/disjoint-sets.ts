/** Union-find over whole numbers, with the smallest member of a set as its name: the same however it came about. */
export class DisjointSets {
  readonly #parent: number[] = [];

  /** Adds as many sets of one; returns the first. */
  add(count: number): number {
    const first = this.#parent.length;
    for (let i = 0; i < count; i++) this.#parent.push(first + i);
    return first;
  }

  find(member: number): number {
    let root = member;
    while (this.#parent[root] !== root) root = this.#parent[root]!;
    for (let at = member; at !== root; ) {
      const next = this.#parent[at]!;
      this.#parent[at] = root;
      at = next;
    }
    return root;
  }

  join(a: number, b: number): void {
    const [one, other] = [this.find(a), this.find(b)];
    this.#parent[Math.max(one, other)] = Math.min(one, other);
  }
}
