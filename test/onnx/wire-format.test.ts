/** Bytes by hand, and messages that come back as they went. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeMessage, encodeMessage, messageTypes } from "../../src/onnx/wire-format.js";

const types = messageTypes({
  Tree: {
    name: [1, "string"],
    count: [2, "int32"],
    size: [3, "int64"],
    share: [4, "float"],
    data: [5, "bytes"],
    left: [6, "Tree"],
    sizes: [7, "int64", "repeated"],
    names: [8, "string", "repeated"],
    leaves: [9, "Leaf", "repeated"],
    shares: [10, "float", "repeated"],
    place: [536_870_911, "uint32"],
  },
  Leaf: { name: [1, "string"] },
});
const tree = types.get("Tree")!;
const decode = (...bytes: number[]) => decodeMessage(tree, Uint8Array.from(bytes)) as Record<string, unknown>;
const encode = (message: object): number[] => [...encodeMessage(tree, message)];
const long = (low: number, high = 0) => ({ low, high, unsigned: false });

describe("decoding", () => {
  it("reads each kind of field", () => {
    expect(decode(10, 2, 0xc3, 0xa9)).toEqual({ name: "é" });
    expect(decode(16, 0xac, 2)).toEqual({ count: 300 });
    expect(decode(16, ...new Array(9).fill(0xff), 1)).toEqual({ count: -1 });
    expect(decode(24, 0x80, 0x80, 0x80, 0x80, 0x10)).toEqual({ size: long(0, 1) });
    expect(decode(24, ...new Array(9).fill(0xff), 1)).toEqual({ size: long(-1, -1) });
    expect(decode(37, 0, 0, 0xc0, 0x3f)).toEqual({ share: 1.5 });
    expect(decode(42, 1, 7)).toEqual({ data: Uint8Array.of(7) });
    expect(decode(0xf8, 0xff, 0xff, 0xff, 0x0f, 5)).toEqual({ place: 5 });
  });

  it("hands out bytes as views", () => {
    const bytes = Uint8Array.of(42, 2, 7, 8);
    const { data } = decodeMessage(tree, bytes) as { data: Uint8Array };
    expect(data.buffer).toBe(bytes.buffer);
    expect([...data]).toEqual([7, 8]);
  });

  it("takes lists of numbers in both forms", () => {
    expect(decode(56, 1, 56, 2)).toEqual({ sizes: [long(1), long(2)] });
    expect(decode(56, 1, 58, 2, 2, 3)).toEqual({ sizes: [long(1), long(2), long(3)] });
  });

  it("merges a message that comes in parts, and takes the last of what is no message", () => {
    expect(decode(50, 2, 16, 1, 10, 1, 97, 50, 3, 10, 1, 98, 10, 1, 99)).toEqual({
      left: { count: 1, name: "b" },
      name: "c",
    });
  });

  it("keeps what it does not know, in number or wire type", () => {
    const groups = [0x9b, 1, 16, 1, 0x9c, 1];
    const bytes = [8, 1, 0x99, 1, 1, 2, 3, 4, 5, 6, 7, 8, 0x92, 1, 1, 9, ...groups];
    const message = decode(...bytes) as { $unknowns: Uint8Array[] };
    expect(Object.keys(message)).toEqual([]);
    expect(message.$unknowns.map((field) => [...field])).toEqual([
      [8, 1],
      [0x99, 1, 1, 2, 3, 4, 5, 6, 7, 8],
      [0x92, 1, 1, 9],
      groups,
    ]);
    expect(encode({ ...message, $unknowns: message.$unknowns, count: 1 })).toEqual([16, 1, ...bytes]);
  });

  it.each([
    ["a text that runs past its end", [10, 5, 97]],
    ["a message that runs past the one around it", [50, 2, 50, 4, 8, 1, 8, 1]],
    ["a number cut off", [16, 0x80]],
    ["a number without end", [16, ...new Array(11).fill(0x80)]],
    ["a float cut off", [37, 0, 0, 0]],
    ["a list whose last number is cut off", [58, 2, 1, 0x80]],
    ["a length of more than 32 bits", [10, 0xff, 0xff, 0xff, 0xff, 0x7f]],
    ["a tag of more than 32 bits", [0x88, 0x80, 0x80, 0x80, 0x10, 1]],
    ["field number 0", [0, 1]],
    ["a wire type that there is not", [14, 1]],
    ["a group without end", [0x9b, 1, 16, 1]],
    ["the end of another group", [0x9b, 1, 0xa4, 1]],
    ["the end of a group that never began", [0x9c, 1]],
    ["an unknown number of 64 bits that is cut off", [0x99, 1, 1, 2]],
  ])("refuses %s", (_, bytes) => {
    expect(() => decode(...bytes)).toThrow(/at offset \d+/);
  });

  it("refuses messages and groups that are too deep", () => {
    const nested = (levels: number): number[] => {
      let bytes: number[] = [];
      for (let i = 0; i < levels; i++) bytes = [...encode({ left: {} }).slice(0, 1), ...lengthOf(bytes), ...bytes];
      return bytes;
    };
    const lengthOf = ({ length }: number[]) => (length < 128 ? [length] : [(length & 127) | 128, length >> 7]);
    expect(() => decode(...nested(100))).not.toThrow();
    expect(() => decode(...nested(101))).toThrow(/more than 100/);
    expect(() => decode(...new Array(300).fill([0x9b, 1]).flat())).toThrow(/more than 100/);
  });
});

describe("encoding", () => {
  it("writes fields by number, and what is not there not at all", () => {
    expect(encode({ count: -2, name: "", data: undefined, sizes: [] })).toEqual([
      ...[10, 0, 16, 0xfe],
      ...new Array(8).fill(0xff),
      1,
    ]);
    expect(encode({ leaves: [{ name: "a" }, {}], size: long(0, 1) })).toEqual([
      ...[24, 0x80, 0x80, 0x80, 0x80, 0x10],
      ...[74, 3, 10, 1, 97, 74, 0],
    ]);
    expect(encode({ place: 5 })).toEqual([0xf8, 0xff, 0xff, 0xff, 0x0f, 5]);
  });

  it("refuses to write what would not be read", () => {
    let deep: object = {};
    for (let i = 0; i < 101; i++) deep = { left: deep };
    expect(() => encode(deep)).toThrow(/more than 100/);
  });

  it("hands out bytes that the next message leaves alone, however long they are", () => {
    const first = encodeMessage(tree, { name: "first" });
    const large = encodeMessage(tree, { data: new Uint8Array(3 << 20).fill(1) });
    const after = encodeMessage(tree, { data: new Uint8Array(3 << 20).fill(2) });
    encodeMessage(tree, { name: "other" });
    expect(decodeMessage(tree, first)).toEqual({ name: "first" });
    expect(large.at(-1)).toBe(1);
    expect(after.length).toBe(large.length);
  });

  it("gives back what was written", () => {
    const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
    const longs = fc.record({ low: int32, high: int32, unsigned: fc.constant(false) });
    const float = fc.float({ noNaN: true });
    const bytes = fc.uint8Array({ maxLength: 200 });
    const list = <T>(each: fc.Arbitrary<T>) => fc.array(each, { minLength: 1, maxLength: 40 });
    const text = fc.string({ unit: "grapheme", maxLength: 60 });
    const { tree: messages } = fc.letrec<{ tree: object }>((tie) => ({
      tree: fc.record(
        {
          ...{ name: text, count: int32, size: longs, share: float, data: bytes },
          ...{ left: tie("tree"), sizes: list(longs), names: list(text), shares: list(float) },
          ...{ leaves: list(fc.record({ name: text })), place: fc.nat() },
        },
        { requiredKeys: [] },
      ),
    }));
    fc.assert(
      fc.property(messages, (message) => {
        const written = encodeMessage(tree, message);
        expect(decodeMessage(tree, written)).toEqual(message);
      }),
    );
  });
});
