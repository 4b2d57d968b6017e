const HEADER_BYTES = 44;
const BYTES = 2;
const PCM = 1;

/**
 * A WAV file of 16-bit samples, from values in [-1, 1]; others are clipped.
 * @param samples channels next to each other, frame after frame.
 * @param sampleRate in Hz.
 */
export function encodeWav(samples: ArrayLike<number>, channels: number, sampleRate: number): Uint8Array {
  const bytes = BYTES * samples.length;
  const out = new Uint8Array(HEADER_BYTES + bytes);
  const view = new DataView(out.buffer);
  const name = (at: number, text: string): void => out.set(new TextEncoder().encode(text), at);
  name(0, 'RIFF');
  view.setUint32(4, HEADER_BYTES - 8 + bytes, true);
  name(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, PCM, true);
  view.setUint16(22, channels, true);
  view.setUint32(24, sampleRate, true);
  view.setUint32(28, sampleRate * channels * BYTES, true);
  view.setUint16(32, channels * BYTES, true);
  view.setUint16(34, 8 * BYTES, true);
  name(36, 'data');
  view.setUint32(40, bytes, true);
  for (let i = 0; i < samples.length; i++) {
    const scaled = samples[i] * 2 ** 15;
    // Halves away from zero.
    const rounded = Math.sign(scaled) * Math.floor(Math.abs(scaled) + 0.5);
    view.setInt16(HEADER_BYTES + BYTES * i, Math.max(-(2 ** 15), Math.min(2 ** 15 - 1, rounded)), true);
  }
  return out;
}
