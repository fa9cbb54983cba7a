/** To which channel each element of a weight belongs, for loops that run over all weights of a model. */

/**
 * `run` elements in a row belong to one channel, `count` channels follow one another, over and over; after `block`
 * elements, a multiple of that, the next `count` channels take their place.
 *
 *   channel of element i = floor(i / block) * count + floor(i / run) mod count
 */
export interface ChannelOrder {
  readonly run: number;
  readonly count: number;
  readonly block: number;
}

/** The order of channels that follow one another to the end of the weight. */
export const inTurn = (run: number, count: number): ChannelOrder => ({ run, count, block: Number.POSITIVE_INFINITY });

/** Writes the channels of the elements from number `first` on. */
export function fillChannels(
  { run, count, block }: ChannelOrder,
  first: number,
  channels: Uint32Array,
  length = channels.length,
): void {
  for (let i = 0; i < length; ) {
    const at = first + i;
    const base = Math.floor(at / block) * count;
    let end = i + run - (at % run);
    for (let channel = Math.floor(at / run) % count; channel < count && i < length; channel++) {
      // Runs are short: a call of fill() would take longer.
      for (const stop = Math.min(end, length); i < stop; i++) channels[i] = base + channel;
      end += run;
    }
  }
}

/** Elements whose channels are looked up at a time. */
export const STRETCH = 1 << 14;

let rooms: readonly Uint32Array[] = [];

/** Room for the channels of a stretch, twice; whoever asks next writes over it. */
export function channelRooms(): readonly [Uint32Array, Uint32Array] {
  if (rooms.length === 0) rooms = [new Uint32Array(STRETCH), new Uint32Array(STRETCH)];
  return [rooms[0]!, rooms[1]!];
}
