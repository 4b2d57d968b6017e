import { InvalidArgumentError } from '@eagre/backend';
import { callCodecs } from '@eagre/backend-wasm/codecs';
import { describe, expect, it } from 'vitest';
import { contactSheet, contactSheetText } from './contact-sheet.ts';

const grey = { dtype: 'uint8', shape: [3, 1, 2], data: Uint8Array.of(0, 255, 10, 20, 30, 40) } as const;

/** The picture in a PNG file. */
function decode(file: Uint8Array) {
  const shape = new Int32Array(3);
  const data = callCodecs('decode', (codecs) => codecs.decodePng(file, 0, 8, shape));
  const [height, width, channels] = shape;
  return { width, height, channels, data };
}

describe('contactSheet', () => {
  it('lays pictures out as a PNG file', async () => {
    const { width, height, channels, data } = decode(
      await contactSheet(grey, { columns: 2, gap: 1, scale: 2 }),
    );
    expect([width, height, channels]).toEqual([9, 5, 3]);
    const at = (x: number, y: number): number[] => [...data.subarray((y * 9 + x) * 3, (y * 9 + x) * 3 + 3)];
    expect(at(0, 0)).toEqual([0, 0, 0]);
    expect(at(3, 1)).toEqual([255, 255, 255]);
    expect(at(4, 0)).toEqual([128, 128, 128]);
    expect(at(7, 1)).toEqual([20, 20, 20]);
    expect(at(0, 3)).toEqual([30, 30, 30]);
    expect(at(8, 4)).toEqual([128, 128, 128]);
  });

  it('takes colours and floats', async () => {
    const colour = { dtype: 'float32', shape: [1, 1, 1, 3], data: Float32Array.of(1, 0.5, -3) } as const;
    expect([...decode(await contactSheet(colour)).data]).toEqual([255, 128, 0]);
  });

  it('refuses what is no picture', async () => {
    await expect(contactSheet({ ...grey, shape: [6] })).rejects.toThrow(/expected images of shape/);
    await expect(contactSheet({ ...grey, shape: [1, 1, 3, 2] })).rejects.toThrow(/got \[1,1,3,2\]/);
    await expect(contactSheet(grey, { count: 4 })).rejects.toThrow(/count must be an integer from 1 to 3/);
    await expect(contactSheet(grey, { gap: 0.5 })).rejects.toThrow(InvalidArgumentError);
    const words = { dtype: 'int64', shape: [1, 1, 1], data: BigInt64Array.of(1n) } as const;
    await expect(contactSheet(words)).rejects.toThrow(/got int64/);
  });
});

describe('contactSheetText', () => {
  it('paints two rows of pixels per line', () => {
    const text = contactSheetText({ ...grey, shape: [1, 3, 2] });
    expect(text.split('\n').length).toBe(3);
    expect(text).toContain('\x1b[38;2;0;0;0m\x1b[48;2;10;10;10m▀');
    expect(text.endsWith('\x1b[38;2;40;40;40m\x1b[49m▀\x1b[0m\n')).toBe(true);
  });
});
