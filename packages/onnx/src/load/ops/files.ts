// Files that are values of a model: pictures.
import { constant, type Tensor, tile } from '@eagre/core';
import { elements, type OnnxOp, type OpTable } from '../node.ts';

type Decode = (bytes: Uint8Array) => Tensor;
let decode: Decode | undefined;

// Of red, green and blue in a grey, in parts of 2^16: those of Pillow, which ONNX's own tests are made with.
const GREY = [19595, 38470, 7471];
const HALF = 2 ** 15;

/** The picture in the bytes of a file, [height, width, channels]. */
const imageDecoder: OnnxOp = {
  eager: true,
  prepare: async () => {
    const { decodeImage, decodeJpeg, loadImageCodecs } = await import('@eagre/data/internal');
    await loadImageCodecs();
    // JPEG as Pillow does it, by the accurate transform.
    decode = (bytes) =>
      bytes[0] === 0xff && bytes[1] === 0xd8
        ? decodeJpeg(bytes, 0, { dctMethod: 'INTEGER_ACCURATE' })
        : decodeImage(bytes, 0, 'uint8', { expandAnimations: false });
  },
  run: (node) => {
    const bytes = node.x();
    if (bytes.dtype !== 'uint8' || bytes.rank !== 1) node.fail('the bytes must be uint8 of one axis');
    const format = node.attrs.text('pixel_format', 'RGB');
    if (!['RGB', 'BGR', 'Grayscale'].includes(format))
      node.fail(`pixel_format is '${format}', expected RGB, BGR or Grayscale`);
    const given = (decode as Decode)(Uint8Array.from(elements(bytes) as Uint8Array));
    const colours = coloursOf(given);
    if (format === 'RGB') return colours;
    if (format === 'BGR') return colours.reverse([-1]);
    const weighted = colours.cast('int32').mul(constant(GREY, 'int32'));
    return weighted
      .sum(-1, { keepdims: true })
      .add(HALF)
      .floorDiv(2 ** 16)
      .cast('uint8');
  },
};

/** Red, green and blue, without alpha. */
function coloursOf(image: Tensor): Tensor {
  const channels = image.shape[2] as number;
  return channels < 3
    ? tile(image.slice([0, 0, 0], [-1, -1, 1]), [1, 1, 3])
    : image.slice([0, 0, 0], [-1, -1, 3]);
}

export const files: OpTable = { ImageDecoder: imageDecoder };
