// Images and sound.
import { InvalidArgumentError } from '@eagre/backend';
import type { NamedFunction, Tensor, TensorLike } from '@eagre/core';
import {
  checkCount,
  defineFunction,
  hostValues,
  isFloating,
  type OptionNames,
  shown,
  showShape,
} from '@eagre/core/internal';
import { encodeTensorProto, type tensorflow } from '@eagre/formats';
import { encodeWav } from './audio.ts';
import { encodePng, toBytes } from './image.ts';
import { checked, metadataOf, record, type SummaryOptions, summaryNames, tagOf } from './record.ts';

/** Options of `image`. */
export interface ImageOptions extends SummaryOptions {
  /** The most images that are written of a batch; 3 unless given. */
  readonly maxOutputs?: number;
}

const imageNames: OptionNames<ImageOptions> = { ...summaryNames, maxOutputs: true };
const IMAGES = metadataOf('images');

/**
 * Writes images as PNG.
 * @param data `[count, height, width, channels]`, where channels are 1 (grey), 2 (grey with alpha), 3 (RGB) or 4 (RGBA). uint8 as it is; floats
 * from 0 to 1, others are clipped; integers of other dtypes over their whole range, and 0 where they are negative.
 * @returns as `scalar`.
 * @throws InvalidArgumentError for another shape, bools, strings, empty images, or a missing step.
 */
export const image: NamedFunction<[name: string, data: TensorLike], ['name', 'data'], ImageOptions, boolean> =
  defineFunction('tf.summary.image', { name: true, data: true }, imageNames, (name, data, options) => {
    const what = 'tf.summary.image';
    const { step, description, maxOutputs = 3 } = options;
    checkMaxOutputs(maxOutputs, what);
    return record({
      what,
      tag: tagOf(name, 'image_summary', what),
      step,
      metadata: description === undefined ? IMAGES : metadataOf('images', description),
      data: () => checked(data, what, wrongImages),
      encode: (x) => encodeImages(x, maxOutputs),
    });
  });

function wrongImages(x: Tensor): string | null {
  if (x.dtype === 'bool' || x.dtype === 'string') return `expected numbers, got ${x.dtype}`;
  if (x.rank !== 4)
    return `expected images as [count, height, width, channels], got the shape ${showShape(x.shape)}`;
  // Sizes may be unknown while a function is traced: only what has to be known is asked for.
  const channels = x.shape[3];
  return channels >= 1 && channels <= 4 ? null : `images have 1 to 4 channels, got ${channels}`;
}

function encodeImages(x: Tensor, maxOutputs: number): tensorflow.TensorProto {
  const [count, height, width, channels] = x.shape as [number, number, number, number];
  const kept = Math.min(count, maxOutputs);
  const size = height * width * channels;
  if (size === 0)
    throw new InvalidArgumentError(`the images have no pixels: ${showShape(x.shape)}`, 'tf.summary.image');
  const pixels = toBytes(hostValues(x).subarray(0, kept * size), x.dtype);
  const data: (string | Uint8Array)[] = [String(width), String(height)];
  for (let i = 0; i < kept; i++)
    data.push(encodePng(pixels.subarray(i * size, (i + 1) * size), width, height, channels));
  return encodeTensorProto({ dtype: 'string', shape: [data.length], data });
}

/** Options of `audio`. */
export interface AudioOptions extends SummaryOptions {
  /** The most clips that are written of a batch; 3 unless given. */
  readonly maxOutputs?: number;
  /** There is no other. */
  readonly encoding?: 'wav';
}

const audioNames: OptionNames<AudioOptions> = { ...summaryNames, maxOutputs: true, encoding: true };
// AudioPluginData with the encoding WAV.
const WAV = Uint8Array.of(0x10, 11);
const MOST_CHANNELS = 2 ** 16 - 1;

/**
 * Writes sound as WAV of 16 bits.
 * @param data floats `[count, frames, channels]` from -1 to 1; others are clipped.
 * @param sampleRate frames in a second.
 * @returns as `scalar`.
 * @throws InvalidArgumentError for another shape, dtype, sample rate or encoding, or a missing step.
 */
export const audio: NamedFunction<
  [name: string, data: TensorLike, sampleRate: number],
  ['name', 'data', 'sampleRate'],
  AudioOptions,
  boolean
> = defineFunction(
  'tf.summary.audio',
  { name: true, data: true, sampleRate: true },
  audioNames,
  (name, data, sampleRate, options) => {
    const what = 'tf.summary.audio';
    const { step, description, maxOutputs = 3, encoding = 'wav' } = options;
    checkMaxOutputs(maxOutputs, what);
    if (encoding !== 'wav')
      throw new InvalidArgumentError(`unknown encoding ${shown(encoding)}; there is 'wav'`, what);
    if (!Number.isInteger(sampleRate) || sampleRate < 1 || sampleRate >= 2 ** 31)
      throw new InvalidArgumentError(
        `the sample rate is ${shown(sampleRate)}, expected a positive integer`,
        what,
      );
    return record({
      what,
      tag: tagOf(name, 'audio_summary', what),
      step,
      metadata: metadataOf('audio', description, WAV),
      data: () => checked(data, what, wrongClips),
      encode: (x) => encodeClips(x, sampleRate, maxOutputs),
    });
  },
);

function wrongClips(x: Tensor): string | null {
  if (!isFloating(x.dtype)) return `expected floats from -1 to 1, got ${x.dtype}`;
  if (x.rank !== 3) return `expected clips as [count, frames, channels], got the shape ${showShape(x.shape)}`;
  const channels = x.shape[2];
  return channels >= 1 && channels <= MOST_CHANNELS
    ? null
    : `a clip has at least one channel, got ${channels}`;
}

function encodeClips(x: Tensor, sampleRate: number, maxOutputs: number): tensorflow.TensorProto {
  const [count, frames, channels] = x.shape as [number, number, number];
  const kept = Math.min(count, maxOutputs);
  const size = frames * channels;
  const samples = hostValues(x) as Float32Array | Float64Array;
  const data: (string | Uint8Array)[] = [];
  // Each clip has a label, which TensorFlow leaves empty.
  for (let i = 0; i < kept; i++)
    data.push(encodeWav(samples.subarray(i * size, (i + 1) * size), channels, sampleRate), '');
  return encodeTensorProto({ dtype: 'string', shape: [kept, 2], data });
}

function checkMaxOutputs(maxOutputs: number, what: string): void {
  checkCount(maxOutputs, 'maxOutputs', what);
}
