/**
 * Minimum cut of a small directed network with whole capacities, by shortest
 * augmenting paths. Used to choose between two sides for many nodes at once where
 * what counts is how many edges run between the sides.
 */

export interface Cut {
  readonly capacity: number;
  /** Whether a vertex is on the side of the source; of all minimum cuts, the one with the smallest such side. */
  readonly isSource: (vertex: number) => boolean;
}

interface Edge {
  readonly to: number;
  room: number;
  readonly back: Edge;
}

export class Network {
  static readonly SOURCE = 0;
  static readonly SINK = 1;
  readonly #edges: Edge[][] = [[], []];

  vertex(): number {
    this.#edges.push([]);
    return this.#edges.length - 1;
  }

  /** Infinity for an edge that must not be cut. */
  connect(from: number, to: number, capacity: number): void {
    const edge = { to, room: capacity } as { to: number; room: number; back: Edge };
    const back: Edge = { to: from, room: 0, back: edge };
    edge.back = back;
    this.#edges[from]!.push(edge);
    this.#edges[to]!.push(back);
  }

  /** Uses the network up. */
  cut(): Cut {
    let capacity = 0;
    for (;;) {
      const reached = this.#search();
      const last = reached[Network.SINK];
      if (!last) return { capacity, isSource: (vertex) => reached[vertex] !== undefined || vertex === Network.SOURCE };
      let room = Number.POSITIVE_INFINITY;
      for (let edge: Edge | undefined = last; edge; edge = reached[edge.back.to]) room = Math.min(room, edge.room);
      if (room === Number.POSITIVE_INFINITY) return { capacity: room, isSource: () => false };
      for (let edge: Edge | undefined = last; edge; edge = reached[edge.back.to]) {
        edge.room -= room;
        edge.back.room += room;
      }
      capacity += room;
    }
  }

  /** The edge by which each vertex is reached first from the source. */
  #search(): (Edge | undefined)[] {
    const reached = new Array<Edge | undefined>(this.#edges.length);
    const queue = [Network.SOURCE];
    for (let i = 0; i < queue.length; i++) {
      for (const edge of this.#edges[queue[i]!]!) {
        if (edge.room <= 0 || edge.to === Network.SOURCE || reached[edge.to]) continue;
        reached[edge.to] = edge;
        queue.push(edge.to);
      }
    }
    return reached;
  }
}
