/**
 * Boxes of a directed graph in layers, top to bottom (Sugiyama, Tagawa and Toda, "Methods for visual understanding of
 * hierarchical system structures", 1981): layers by the longest path, places within a layer by the mean place of
 * neighbours, an edge over several layers kept free of boxes by a place of its own in each. The same graph gives the same drawing.
 */
export interface LayoutSize {
  readonly boxWidth: number;
  readonly boxHeight: number;
  /** Between boxes of a layer, and between layers. */
  readonly gapX: number;
  readonly gapY: number;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  /** The middle of each box. */
  readonly boxes: readonly { readonly x: number; readonly y: number }[];
  /** From the reader's side: each edge as the points that it passes, top to bottom. */
  readonly edges: readonly (readonly (readonly [x: number, y: number])[])[];
}

/** A box, or the place of an edge that passes a layer. */
interface Place {
  readonly layer: number;
  /** Which box; -1 for an edge. */
  readonly box: number;
  readonly half: number;
  readonly above: Place[];
  readonly below: Place[];
  x: number;
}

const SWEEPS = 6;
const EDGE_HALF = 5;
/** Boxes keep in line, and edges make way for them. */
const BOX_WEIGHT = 8;

/** @param reads for each box the boxes that it reads, all of which stand before it */
export function layOut(reads: readonly (readonly number[])[], size: LayoutSize): Layout {
  const layerOf = layersOf(reads);
  const boxes = reads.map(
    (_, box): Place => ({ layer: layerOf[box]!, box, half: size.boxWidth / 2, above: [], below: [], x: 0 }),
  );
  const layers: Place[][] = Array.from({ length: Math.max(-1, ...layerOf) + 1 }, () => []);
  for (const place of boxes) layers[place.layer]!.push(place);
  const ways = new Map<Place, Place[]>();
  const routes = reads.flatMap((from, box) => from.map((source) => routed(boxes[source]!, boxes[box]!, ways, layers)));
  for (let sweep = 0; sweep < SWEEPS; sweep++) order(layers, sweep % 2 === 0);
  for (const layer of layers)
    pack(
      layer,
      layer.map(() => 0),
      size,
    );
  for (let sweep = 0; sweep < 2 * SWEEPS; sweep++) straighten(layers, sweep % 2 === 0, size);
  const all = layers.flat();
  const left = Math.min(0, ...all.map(({ x, half }) => x - half));
  const right = Math.max(0, ...all.map(({ x, half }) => x + half));
  const step = size.boxHeight + size.gapY;
  const middle = ({ x, layer }: Place): { x: number; y: number } => ({
    x: x - left,
    y: layer * step + size.boxHeight / 2,
  });
  return {
    width: right - left,
    height: Math.max(0, layers.length * step - size.gapY),
    boxes: boxes.map(middle),
    edges: routes.map((route) =>
      route.flatMap((place, i) => {
        const { x, y } = middle(place);
        const [top, bottom] = [y - size.boxHeight / 2, y + size.boxHeight / 2];
        // Straight past the boxes of a layer: edges bend between layers only.
        if (i === 0) return [[x, bottom] as const];
        return i === route.length - 1 ? [[x, top] as const] : [[x, top] as const, [x, bottom] as const];
      }),
    ),
  };
}

/** As far down as what they read allows; what reads nothing stands right above its first reader. */
function layersOf(reads: readonly (readonly number[])[]): number[] {
  const layers: number[] = [];
  for (const from of reads) layers.push(from.reduce((lowest, source) => Math.max(lowest, layers[source]! + 1), 0));
  const first = reads.map(() => Number.POSITIVE_INFINITY);
  for (const [box, from] of reads.entries())
    for (const source of from) first[source] = Math.min(first[source]!, layers[box]!);
  return layers.map((layer, box) =>
    reads[box]!.length === 0 && Number.isFinite(first[box]!) ? first[box]! - 1 : layer,
  );
}

/** The places from one box to another, one in each layer. Edges from one box share their way for as long as they go down. */
function routed(from: Place, to: Place, ways: Map<Place, Place[]>, layers: Place[][]): Place[] {
  const way = ways.get(from) ?? [];
  ways.set(from, way);
  for (let layer = from.layer + way.length + 1; layer < to.layer; layer++) {
    const place: Place = { layer, box: -1, half: EDGE_HALF, above: [], below: [], x: 0 };
    layers[layer]!.push(place);
    join(way.at(-1) ?? from, place);
    way.push(place);
  }
  const route = [from, ...way.slice(0, to.layer - from.layer - 1), to];
  join(route.at(-2)!, to);
  return route;
}

function join(upper: Place, lower: Place): void {
  lower.above.push(upper);
  upper.below.push(lower);
}

/** By the mean place of the neighbours above, or below; what has none keeps its place. */
function order(layers: readonly Place[][], isDown: boolean): void {
  for (const layer of layers) for (const [i, place] of layer.entries()) place.x = i;
  for (const layer of isDown ? layers : [...layers].reverse()) {
    const wanted = new Map(layer.map((place) => [place, meanX(isDown ? place.above : place.below) ?? place.x]));
    layer.sort((a, b) => wanted.get(a)! - wanted.get(b)!);
    for (const [i, place] of layer.entries()) place.x = i;
  }
}

/** Towards the neighbours, within the width that the widest layer needs: edges that make way for boxes would drift ever further out. */
function straighten(layers: readonly Place[][], isDown: boolean, size: LayoutSize): void {
  const reach = Math.max(0, ...layers.map((layer) => widthOf(layer, size))) / 2;
  for (const layer of isDown ? layers : [...layers].reverse()) {
    const room = reach - Math.max(0, ...layer.map(({ half }) => half));
    const wanted = layer.map((place) => {
      const near = isDown ? place.above : place.below;
      const boxes = place.box < 0 ? [] : near.filter(({ box }) => box >= 0);
      return Math.max(-room, Math.min(room, meanX(boxes.length > 0 ? boxes : near) ?? place.x));
    });
    pack(layer, wanted, size);
  }
}

const widthOf = (layer: readonly Place[], { gapX }: LayoutSize): number =>
  layer.reduce((sum, { half, box }) => sum + 2 * half + (box < 0 ? 0 : gapX), 0);

const meanX = (places: readonly Place[]): number | null =>
  places.length === 0 ? null : places.reduce((sum, { x }) => sum + x, 0) / places.length;

/**
 * As near to the wanted places as the order and the gaps allow, in the sense of least squares: neighbours that would
 * overlap move together (pool adjacent violators).
 */
function pack(layer: readonly Place[], wanted: readonly number[], { gapX }: LayoutSize): void {
  // From the first place, with everything pushed together.
  const offsets: number[] = [];
  let at = 0;
  for (const [i, place] of layer.entries()) {
    const last = layer[i - 1];
    if (last) at += last.half + (last.box < 0 && place.box < 0 ? 0 : gapX) + place.half;
    offsets.push(at);
  }
  const pools: { sum: number; weight: number; count: number }[] = [];
  for (const [i, want] of wanted.entries()) {
    const weight = layer[i]!.box < 0 ? 1 : BOX_WEIGHT;
    let pool = { sum: weight * (want - offsets[i]!), weight, count: 1 };
    for (let last = pools.at(-1); last && last.sum / last.weight >= pool.sum / pool.weight; last = pools.at(-1)) {
      pool = { sum: pool.sum + last.sum, weight: pool.weight + last.weight, count: pool.count + last.count };
      pools.pop();
    }
    pools.push(pool);
  }
  let i = 0;
  for (const { sum, weight, count } of pools) {
    for (let k = 0; k < count; k++, i++) layer[i]!.x = sum / weight + offsets[i]!;
  }
}
