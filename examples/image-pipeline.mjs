/**
 * The steps around a classifier of images, for
 *
 *   infer-opt bench fixtures/models/digits.onnx --pipeline examples/image-pipeline.mjs --threads 1
 *
 * A request is what a client would send: here a grey photo in the PGM format, which needs no library to decode.
 * For JPEG and PNG put `await sharp(bytes).greyscale().raw().toBuffer({ resolveWithObject: true })` into `receive`.
 */

/** What the model was trained on. */
const SIZE = 28;
const MOST_PIXELS = 4_000_000;

/** What arrives, in turn: a list, or a function that returns one. A service would read real photos from a folder. */
export function requests() {
  return [320, 480, 640].map((width) => photo(width, Math.round(width * 0.75)));
}

/** Receipt: bytes become something with a width, a height and pixels. */
export function receive(bytes) {
  const header = /^P5\s+(\d+)\s+(\d+)\s+255\s/.exec(bytes.subarray(0, 32).toString("latin1"));
  if (!header) throw new Error("this is no PGM image with 255 shades");
  const [all, width, height] = header;
  return { width: Number(width), height: Number(height), pixels: bytes.subarray(all.length) };
}

/** Validation: throws at what should not have been sent. A stage that returns nothing passes on what it got. */
export function validate({ width, height, pixels }) {
  if (width * height > MOST_PIXELS) throw new Error(`${width}x${height} is too large`);
  if (pixels.length < width * height) throw new Error("the image ends early");
}

/** Preprocessing: the middle square, each pixel of the small image the mean of those it covers, in 0..1. */
export function preprocess({ width, height, pixels }, { state }) {
  const side = Math.min(width, height);
  const [left, top] = [(width - side) >> 1, (height - side) >> 1];
  const data = new Float32Array(SIZE * SIZE);
  for (let y = 0; y < SIZE; y++) {
    const [fromY, toY] = [Math.floor((y * side) / SIZE), Math.floor(((y + 1) * side) / SIZE)];
    for (let x = 0; x < SIZE; x++) {
      const [fromX, toX] = [Math.floor((x * side) / SIZE), Math.floor(((x + 1) * side) / SIZE)];
      let sum = 0;
      for (let v = fromY; v < toY; v++) {
        const row = (top + v) * width + left;
        for (let u = fromX; u < toX; u++) sum += pixels[row + u];
      }
      data[y * SIZE + x] = sum / (255 * (toY - fromY) * (toX - fromX));
    }
  }
  // For postprocessing: one plain object a request.
  state.size = [width, height];
  return { image: { dims: [1, 1, SIZE, SIZE], data } };
}

/** Postprocessing: scores become probabilities. */
export function postprocess({ logits }, { state }) {
  const largest = Math.max(...logits.data);
  const raised = Array.from(logits.data, (score) => Math.exp(score - largest));
  const sum = raised.reduce((total, each) => total + each, 0);
  const digit = raised.indexOf(Math.max(...raised));
  return { digit, probability: raised[digit] / sum, of: state.size };
}

/** Serialisation: what goes back to the client. */
export const serialise = (answer) => Buffer.from(JSON.stringify(answer));

/** A bright ring on a dark ground, as a camera might see a zero. */
function photo(width, height) {
  const pixels = Buffer.alloc(width * height);
  const radius = height / 3;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const distance = Math.hypot(1.4 * (x - width / 2), y - height / 2);
      pixels[y * width + x] = Math.abs(distance - radius) < height / 12 ? 230 : (7 * x + 13 * y) % 20;
    }
  }
  return Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`), pixels]);
}
