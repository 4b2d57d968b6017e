/** `tf.audio`: sound files. */
import { InvalidArgumentError } from '@eagre/backend';
import {
  constant,
  gather,
  type IntegerLike,
  type NamedFunction,
  pad,
  type Tensor,
  type TensorLike,
} from '@eagre/core';
import { byteTensor, checkCount, defineFunction, kind, toTensor } from '@eagre/core/internal';
import { needsValue } from '../pipeline/plain-code.ts';
import { encodeWav as bytesOfWav, decodeWav as soundOf } from '../readers/wav.ts';
import { atOnce, type BytesLike, bytesFrom } from './byte-strings.ts';

/** The header has 16 bits for their number. */
const MOST_CHANNELS = 65535;

/**
 * The sound in the bytes of a WAV file of 16 bits: `[audio, sampleRate]`, with audio [samples, channels] from -1 to 1.
 * @param desiredChannels how many there are to be: the first ones, or the last one several times; as many as there are by default
 * @param desiredSamples how long the sound is to be: the rest is cut off, and silence stands for what is missing
 * @throws DataLossError for damaged bytes, UnimplementedError for values of other kinds
 */
export const decodeWav: NamedFunction<
  [contents: BytesLike, desiredChannels?: IntegerLike, desiredSamples?: IntegerLike],
  ['contents', 'desiredChannels', 'desiredSamples'],
  unknown,
  readonly [audio: Tensor, sampleRate: Tensor]
> = /* @__PURE__ */ defineFunction(
  'audio.decodeWav',
  { contents: kind.tensor, desiredChannels: kind.integer, desiredSamples: kind.integer },
  {},
  (contents, desiredChannels: number = -1, desiredSamples: number = -1) => {
    const op = 'DecodeWav';
    checkCount(desiredChannels, 'desiredChannels', op, -1);
    checkCount(desiredSamples, 'desiredSamples', op, -1);
    const sound = soundOf(bytesFrom(contents, 'contents', op), 'contents');
    const frames = sound.samples.length / sound.channels;
    const channels = desiredChannels > 0 ? desiredChannels : sound.channels;
    if (channels > MOST_CHANNELS)
      throw new InvalidArgumentError(
        `desiredChannels is ${channels}, expected at most ${MOST_CHANNELS}, as files have`,
        op,
      );
    const count = desiredSamples >= 0 ? desiredSamples : frames;
    const kept = Math.min(count, frames);
    return atOnce(op, () => {
      const data = sound.samples.subarray(0, kept * sound.channels);
      let audio = constant({ data, shape: [kept, sound.channels] });
      if (channels !== sound.channels) {
        const from = Int32Array.from({ length: channels }, (_, c) => Math.min(c, sound.channels - 1));
        audio = gather(audio, constant(from), { axis: 1 });
      }
      if (count > kept) {
        const missing = [
          [0, count - kept],
          [0, 0],
        ] as const;
        audio = pad(audio, missing);
      }
      return [audio, constant(sound.rate, 'int32')];
    });
  },
);

/** The bytes of a WAV file of 16 bits, a scalar, of sound [samples, channels] from -1 to 1. */
export const encodeWav: NamedFunction<[audio: TensorLike, sampleRate: IntegerLike], ['audio', 'sampleRate']> =
  /* @__PURE__ */ defineFunction(
    'audio.encodeWav',
    { audio: kind.tensor, sampleRate: kind.integer },
    {},
    (audio, sampleRate: number) => {
      const op = 'EncodeWav';
      checkCount(sampleRate, 'sampleRate', op, 1);
      const x = toTensor(audio, 'float32');
      needsValue(x, op);
      if (x.rank !== 2 || x.dtype !== 'float32' || x.shape[1] < 1 || x.shape[1] > MOST_CHANNELS)
        throw new InvalidArgumentError(
          `audio must be float32 [samples, channels], got ${x.dtype} [${x.shape}]`,
          op,
        );
      const samples = x.data() as Float32Array;
      const bytes = bytesOfWav({ samples, channels: x.shape[1], rate: sampleRate });
      return atOnce(op, () => byteTensor([bytes], []));
    },
  );
