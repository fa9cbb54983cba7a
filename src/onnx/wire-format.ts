/**
 * Protobuf messages by a table of their fields, both ways. A library would do the same with
 * functions that it generates at run time, which takes longer than reading most models.
 *
 * As in proto2: a field is there or it is not, messages that come in several parts are merged,
 * and what the table does not know, in number or in wire type, is kept as it came and written
 * behind the rest.
 */
/** Signed or unsigned 64 bits, as two halves. */
export interface Long64 {
  readonly low: number;
  readonly high: number;
  readonly unsigned: boolean;
}

export type FieldSpec = readonly [id: number, type: string, repeated?: "repeated"];

interface Field {
  readonly name: string;
  readonly id: number;
  readonly kind: "string" | "bytes" | "int64" | "int32" | "uint32" | "float" | "message";
  readonly wireType: number;
  readonly isRepeated: boolean;
  /** Of a field that holds messages. */
  readonly type: MessageType | null;
}

export interface MessageType {
  readonly byId: Map<number, Field>;
  /** The last field first, which is the order of writing. */
  readonly descending: Field[];
}

type Message = Record<string, unknown> & { $unknowns?: Uint8Array[] };

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const GROUP = 3;
const GROUP_END = 4;
const FIXED32 = 5;

const wireTypes = { string: BYTES, bytes: BYTES, int64: VARINT, int32: VARINT, uint32: VARINT, float: FIXED32 };

/** Message levels: no exporter goes so deep, and a file made to exhaust the stack does. */
const DEEPEST = 100;

/** The types of a table by name. A type of a field that is none of the wire's own names another message. */
export function messageTypes(
  messages: Readonly<Record<string, Readonly<Record<string, FieldSpec>>>>,
): ReadonlyMap<string, MessageType> {
  const types = new Map<string, MessageType>();
  for (const name of Object.keys(messages)) types.set(name, { byId: new Map(), descending: [] });
  for (const [name, specs] of Object.entries(messages)) {
    const { byId, descending } = types.get(name)!;
    for (const [field, [id, kind, repeated]] of Object.entries(specs)) {
      const own = kind in wireTypes ? (kind as keyof typeof wireTypes) : null;
      const one: Field = {
        ...{ name: field, id, kind: own ?? "message", wireType: own === null ? BYTES : wireTypes[own] },
        ...{ isRepeated: repeated !== undefined, type: own === null ? types.get(kind)! : null },
      };
      byId.set(id, one);
      descending.push(one);
    }
    descending.sort((a, b) => b.id - a.id);
  }
  return types;
}

/** Bytes fields are views on `bytes`. Throws an Error in words for what is no message of that type. */
export function decodeMessage(type: MessageType, bytes: Uint8Array): object {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;

  /** Of tags and lengths. */
  const varint = (end: number): number => {
    let value = 0;
    for (let scale = 1; scale < 2 ** 35; scale *= 128) {
      if (at >= end) throw outOfRange(at);
      const byte = buffer[at++]!;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80 && value < 2 ** 32) return value;
    }
    throw new Error(`a number of more than 32 bits at offset ${at}`);
  };

  const long = (end: number): Long64 => {
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (at >= end) throw outOfRange(at);
      const byte = buffer[at++]!;
      const part = byte & 0x7f;
      if (shift < 28) low |= part << shift;
      else if (shift === 28) {
        low |= part << 28;
        high = part >>> 4;
      } else if (shift < 64) high |= part << (shift - 32);
      if (byte < 0x80) return { low, high, unsigned: false };
    }
    throw new Error(`a number without end at offset ${at}`);
  };

  /** Where something ends whose length is told here. */
  const endOf = (end: number): number => {
    const length = varint(end);
    if (length > end - at) throw outOfRange(at);
    return at + length;
  };

  const scalar = (kind: Field["kind"], end: number): unknown => {
    switch (kind) {
      case "string": {
        const last = endOf(end);
        const text = buffer.toString("utf8", at, last);
        at = last;
        return text;
      }
      case "int64":
        return long(end);
      case "int32":
        // A negative one is written with all its 64 bits.
        return long(end).low | 0;
      case "uint32":
        return long(end).low >>> 0;
      case "float":
        if (at + 4 > end) throw outOfRange(at);
        at += 4;
        return buffer.readFloatLE(at - 4);
      default: {
        const from = endOf(end);
        const start = at;
        at = from;
        return bytes.subarray(start, from);
      }
    }
  };

  const skip = (tag: number, end: number, depth: number): void => {
    if (depth > DEEPEST) throw new TooDeep();
    if (tag >>> 3 === 0) throw new Error(`field number 0 at offset ${at}`);
    switch (tag & 7) {
      case VARINT:
        long(end);
        return;
      case FIXED64:
        at += 8;
        break;
      case BYTES:
        at = endOf(end);
        return;
      case GROUP:
        for (;;) {
          const inner = varint(end);
          if ((inner & 7) !== GROUP_END) skip(inner, end, depth + 1);
          else if (inner >>> 3 === tag >>> 3) return;
          else throw new Error(`the end of another group at offset ${at}`);
        }
      case FIXED32:
        at += 4;
        break;
      default:
        throw new Error(`wire type ${tag & 7} at offset ${at}`);
    }
    if (at > end) throw outOfRange(at);
  };

  /** Reads up to `end` into a message that may hold something already. */
  const read = ({ byId }: MessageType, end: number, depth: number, message: Message): Message => {
    if (depth > DEEPEST) throw new TooDeep();
    while (at < end) {
      const start = at;
      const tag = varint(end);
      const field = byId.get(tag >>> 3);
      if (field === undefined) {
        skip(tag, end, depth);
        keepUnknown(message, bytes.subarray(start, at));
        continue;
      }
      const { name, kind, type, isRepeated } = field;
      if (field.wireType === (tag & 7)) {
        if (type === null) {
          const value = scalar(kind, end);
          if (isRepeated) append(message, name, value);
          else message[name] = value;
        } else {
          const last = endOf(end);
          const known = isRepeated ? undefined : (message[name] as Message | undefined);
          const value = read(type, last, depth + 1, known ?? {});
          if (isRepeated) append(message, name, value);
          else message[name] = value;
        }
      } else if (isRepeated && field.wireType !== BYTES && (tag & 7) === BYTES) {
        const last = endOf(end);
        while (at < last) append(message, name, scalar(kind, last));
      } else {
        skip(tag, end, depth);
        keepUnknown(message, bytes.subarray(start, at));
      }
    }
    return message;
  };

  return read(type, bytes.length, 0, {});
}

/** Messages inside each other beyond what readers take. */
export class TooDeep extends Error {
  constructor() {
    super(`more than ${DEEPEST} messages inside each other`);
  }
}

const outOfRange = (at: number): Error => new Error(`something runs past its end at offset ${at}`);

function append(message: Message, name: string, value: unknown): void {
  const list = message[name] as unknown[] | undefined;
  if (list === undefined) message[name] = [value];
  else list.push(value);
}

function keepUnknown(message: Message, field: Uint8Array): void {
  if (message.$unknowns) message.$unknowns.push(field);
  else Object.defineProperty(message, "$unknowns", { value: [field], enumerable: false });
}

/** Used again and again, as long as it is no larger. */
let scratch = Buffer.allocUnsafeSlow(1 << 16);
const LARGEST_SCRATCH = 1 << 20;

/** Fields in the order of their numbers. Written from the last byte to the first: then lengths are known in time. */
export function encodeMessage(type: MessageType, message: object): Uint8Array {
  let buffer = scratch;
  let at = buffer.length;

  /** Makes room for so many bytes before what is written. */
  const reserve = (count: number): void => {
    if (count <= at) {
      at -= count;
      return;
    }
    const written = buffer.length - at;
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * buffer.length, written + count));
    buffer.copy(larger, larger.length - written, at);
    buffer = larger;
    at = larger.length - written - count;
  };

  const varint = (value: number): void => {
    let count = 1;
    for (let rest = value >>> 7; rest !== 0; rest >>>= 7) count++;
    reserve(count);
    let rest = value;
    for (let i = at; i < at + count; i++, rest >>>= 7) buffer[i] = (rest & 0x7f) | (i + 1 < at + count ? 0x80 : 0);
  };

  const long = (low: number, high: number): void => {
    if (high === 0) {
      varint(low >>> 0);
      return;
    }
    const bytes: number[] = [];
    let lower = low >>> 0;
    let upper = high >>> 0;
    while (upper !== 0 || lower >= 0x80) {
      bytes.push((lower & 0x7f) | 0x80);
      lower = ((lower >>> 7) | (upper << 25)) >>> 0;
      upper >>>= 7;
    }
    bytes.push(lower);
    reserve(bytes.length);
    buffer.set(bytes, at);
  };

  const write = ({ id, kind, wireType, type }: Field, value: unknown, depth: number): void => {
    switch (kind) {
      case "string": {
        const length = Buffer.byteLength(value as string);
        reserve(length);
        buffer.write(value as string, at, "utf8");
        varint(length);
        break;
      }
      case "bytes": {
        const { length } = value as Uint8Array;
        reserve(length);
        buffer.set(value as Uint8Array, at);
        varint(length);
        break;
      }
      case "int64": {
        if (typeof value === "number") long(value | 0, Math.floor(value / 2 ** 32));
        else long((value as Long64).low, (value as Long64).high);
        break;
      }
      case "int32":
        long(value as number, (value as number) < 0 ? -1 : 0);
        break;
      case "uint32":
        varint(value as number);
        break;
      case "float":
        reserve(4);
        buffer.writeFloatLE(value as number, at);
        break;
      case "message": {
        const end = buffer.length - at;
        all(type!, value as Message, depth + 1);
        varint(buffer.length - at - end);
      }
    }
    varint(id * 8 + wireType);
  };

  const all = ({ descending }: MessageType, fields: Message, depth: number): void => {
    if (depth > DEEPEST) throw new TooDeep();
    const unknowns = fields.$unknowns;
    for (let i = (unknowns?.length ?? 0) - 1; i >= 0; i--) {
      reserve(unknowns![i]!.length);
      buffer.set(unknowns![i]!, at);
    }
    for (const field of descending) {
      const value = fields[field.name];
      if (value === undefined || value === null) continue;
      if (!field.isRepeated) write(field, value, depth);
      else for (let i = (value as unknown[]).length - 1; i >= 0; i--) write(field, (value as unknown[])[i], depth);
    }
  };

  all(type, message as Message, 0);
  if (buffer.length > LARGEST_SCRATCH) return buffer.subarray(at);
  scratch = buffer;
  return new Uint8Array(buffer.subarray(at));
}
