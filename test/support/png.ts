/** Writes 8-bit .png bytes for tests, after the PNG specification: one IDAT, no filters. */
import { deflateSync } from "node:zlib";
import { crc32 } from "../../src/dataset/zip-archive.js";

const colorType = { 1: 0, 3: 2, 4: 6 } as const;

/** `data` is [height, width, channels]: gray, RGB or RGBA. */
export function png(width: number, height: number, channels: 1 | 3 | 4, data: readonly number[]): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, colorType[channels]], 8);
  const rowBytes = width * channels;
  const rows = Array.from({ length: height }, (_, y) => [0, ...data.slice(y * rowBytes, (y + 1) * rowBytes)]);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(Buffer.from(rows.flat()))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc32(body), body.length + 4);
  return out;
}
