/** How large a model is when it is compressed, as packages and downloads are: zeros take next to no room there. */
import { createReadStream } from "node:fs";
import { createGzip } from "node:zlib";
import { loadModel } from "../../ir/index.js";
import { externalFiles } from "../model-facts.js";

/** Bytes of all files of the model together, each as `gzip` writes it. */
export async function compressedBytes(path: string): Promise<number> {
  let total = 0;
  for (const file of [path, ...externalFiles(loadModel(path))]) {
    for await (const chunk of createReadStream(file).pipe(createGzip())) total += (chunk as Buffer).length;
  }
  return total;
}
