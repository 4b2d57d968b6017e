// Sound files.
import { DataLossError, UnimplementedError } from '@eagre/backend';

/** Sound: frames one after another, each with a value for each channel, from -1 to 1. */
export interface Sound {
  readonly samples: Float32Array;
  readonly channels: number;
  /** Frames in a second. */
  readonly rate: number;
}

const PCM = 1;
// The real format stands behind it.
const EXTENSIBLE = 0xfffe;

/**
 * The sound of a WAV file of 16 bits per value.
 * @throws DataLossError for what is no WAV file, or ends too early; UnimplementedError for other kinds of values
 */
export function decodeWav(bytes: Uint8Array, path: string): Sound {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const name = (at: number): string => String.fromCharCode(...bytes.subarray(at, at + 4));
  if (bytes.length < 12 || name(0) !== 'RIFF' || name(8) !== 'WAVE')
    throw new DataLossError(`${path} is no WAV file`);
  let channels = 0;
  let rate = 0;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const size = view.getUint32(at + 4, true);
    const start = at + 8;
    if (name(at) === 'fmt ' && size >= 16 && start + size <= bytes.length) {
      const kind = view.getUint16(start, true);
      const format = kind === EXTENSIBLE && size >= 26 ? view.getUint16(start + 24, true) : kind;
      const bits = view.getUint16(start + 14, true);
      if (format !== PCM || bits !== 16)
        throw new UnimplementedError(`${path}: only WAV files of 16-bit integers can be read`);
      channels = view.getUint16(start + 2, true);
      rate = view.getUint32(start + 4, true);
    } else if (name(at) === 'data') {
      if (channels === 0) throw new DataLossError(`${path} does not say what its values are`);
      // Programs that write to a pipe leave the size open.
      const end = Math.min(bytes.length, start + size);
      const frames = Math.floor((end - start) / (2 * channels));
      if (end < start + size && size < 0x7fffffff) throw new DataLossError(`${path} ends too early`);
      const samples = Float32Array.from(
        { length: frames * channels },
        (_, i) => view.getInt16(start + 2 * i, true) / 2 ** 15,
      );
      return { samples, channels, rate };
    }
    // Chunks begin at even places.
    at = start + size + (size % 2);
  }
  throw new DataLossError(`${path} holds no sound`);
}

/** The bytes of a WAV file of 16 bits per value. Values outside of -1 to 1 are cut off. */
export function encodeWav({ samples, channels, rate }: Sound): Uint8Array {
  const size = 2 * samples.length;
  const out = new DataView(new ArrayBuffer(44 + size));
  const name = (at: number, text: string): void => {
    for (let i = 0; i < 4; i++) out.setUint8(at + i, text.charCodeAt(i));
  };
  name(0, 'RIFF');
  out.setUint32(4, 36 + size, true);
  name(8, 'WAVE');
  name(12, 'fmt ');
  out.setUint32(16, 16, true);
  out.setUint16(20, PCM, true);
  out.setUint16(22, channels, true);
  out.setUint32(24, rate, true);
  out.setUint32(28, rate * channels * 2, true);
  out.setUint16(32, channels * 2, true);
  out.setUint16(34, 16, true);
  name(36, 'data');
  out.setUint32(40, size, true);
  samples.forEach((value, i) => {
    const scaled = Math.min(32767, Math.max(-32768, value * 32768));
    // Halves go away from 0, as C rounds.
    out.setInt16(44 + 2 * i, Math.sign(scaled) * Math.round(Math.abs(scaled)), true);
  });
  return new Uint8Array(out.buffer);
}
