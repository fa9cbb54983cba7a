/** Positions that must be kept or removed together, and why some cannot be removed. */
import { DisjointSets } from "../../base/disjoint-sets.js";

export class UnitSets {
  readonly #sets = new DisjointSets();
  /** By the name of a set. */
  readonly #reasons = new Map<number, string>();
  readonly #heads = new Set<number>();

  /** Positions that belong to nothing yet. */
  add(count: number): Int32Array {
    const first = this.#sets.add(count);
    return Int32Array.from({ length: count }, (_, i) => first + i);
  }

  /** Positions that stay whatever else goes. */
  addFrozen(count: number, reason: string): Int32Array {
    const ids = this.add(count);
    this.freezeAll(ids, reason);
    return ids;
  }

  find(id: number): number {
    return this.#sets.find(id);
  }

  join(a: number, b: number): void {
    const [one, other] = [this.find(a), this.find(b)];
    if (one === other) return;
    this.#sets.join(one, other);
    const [stays, goes] = one < other ? [one, other] : [other, one];
    const reason = this.#reasons.get(goes);
    if (reason !== undefined && !this.#reasons.has(stays)) this.#reasons.set(stays, reason);
    if (this.#heads.has(goes)) this.#heads.add(stays);
  }

  joinEach(a: ArrayLike<number>, b: ArrayLike<number>): void {
    for (let i = 0; i < a.length; i++) this.join(a[i]!, b[i]!);
  }

  /** The first reason stands. */
  freezeAll(ids: Iterable<number>, reason: string): void {
    for (const id of ids) {
      const set = this.find(id);
      if (!this.#reasons.has(set)) this.#reasons.set(set, reason);
    }
  }

  frozen(id: number): string | null {
    return this.#reasons.get(this.find(id)) ?? null;
  }

  /** Says that these are parts of attention heads. */
  callHeads(ids: Iterable<number>): void {
    for (const id of ids) this.#heads.add(this.find(id));
  }

  isHead(id: number): boolean {
    return this.#heads.has(this.find(id));
  }
}
