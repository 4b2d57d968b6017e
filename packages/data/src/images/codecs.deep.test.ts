// The codecs as a module of WebAssembly: as those of the addon.
import '@eagre/backend-js';
import { EagreError, InternalError, InvalidArgumentError } from '@eagre/backend';
import { loadCodecs } from '@eagre/backend-native/here';
import { type Codecs, callCodecs, moduleCodecs } from '@eagre/backend-wasm/codecs';
import { random, type Tensor } from '@eagre/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mutate, randomSource } from '../../../formats/src/testing/mutate.ts';
import { files, hash, pictures, testCodecs } from '../testing/picture-cases.ts';
import { useCodecs } from './codecs.ts';
import { encodeJpeg, encodePng } from './decode-image.ts';
import { type DecodeJpegWishes, decodeJpeg, usualJpeg } from './jpeg.ts';
import { decodePng, isPng } from './png.ts';

const native = loadCodecs();
function found(): Codecs | undefined {
  try {
    return moduleCodecs('test');
  } catch (error) {
    console.log(`The codecs of WebAssembly are not tested: ${(error as Error).message}`);
    return undefined;
  }
}
const wasm = found();

describe.runIf(wasm !== undefined)('the codecs of WebAssembly', () => {
  beforeAll(() => useCodecs(wasm));
  afterAll(() => useCodecs(undefined));
  testCodecs();

  test.runIf(native !== undefined)('write the files that the addon writes', () => {
    const noise = random
      .statelessUniform([61, 47, 3], [1, 2], { minval: 0, maxval: 256, dtype: 'int32' })
      .cast('uint8');
    const options = [
      {},
      { quality: 30, progressive: true },
      { optimizeSize: true, chromaDownsampling: false },
    ];
    for (const picture of [noise, ...pictures.values()]) {
      const written = (codecs: Codecs): unknown => {
        useCodecs(codecs);
        const pngs = [-1, 0, 1, 5, 9].flatMap((level) => [
          encodePng(picture, level),
          encodePng(picture.cast('uint16'), level),
        ]);
        const isJpeg = [1, 3].includes(picture.shape[2] as number);
        const jpegs = isJpeg ? options.map((each) => encodeJpeg({ image: picture, ...each })) : [];
        return [...pngs, ...jpegs].map((file: Tensor) => file.item());
      };
      const theirs = written(native as Codecs);
      expect(written(wasm as Codecs)).toEqual(theirs);
    }
  });

  test.runIf(native !== undefined)('make of damaged files what the addon makes of them', () => {
    const next = randomSource(11);
    const all = [...files.values()];
    const ways: readonly DecodeJpegWishes[] = [
      usualJpeg,
      { ...usualJpeg, tryRecoverTruncated: true, acceptableFraction: 0.3, channels: 1 },
      { ...usualJpeg, accurate: true, fancyUpscaling: false, ratio: 2, channels: 3 },
    ];
    let refused = 0;
    for (let run = 0; run < 6000; run++) {
      const file = all[run % all.length] as Uint8Array;
      const damaged = mutate(file, next);
      const way = ways[run % ways.length] as DecodeJpegWishes;
      const made = (codecs: Codecs): string => {
        useCodecs(codecs);
        try {
          const { height, width, channels, data } = isPng(file)
            ? decodePng(damaged, { channels: run % 5 === 2 ? 3 : 0, depth: run % 2 === 0 ? 8 : 16 }, 'test')
            : decodeJpeg(damaged, way, 'test');
          // Smaller pictures are sums of `long` in libjpeg, which wrap around at other sizes here, as on Windows.
          const values = !isPng(file) && way.ratio > 1 ? '' : hash(data);
          return `${height} × ${width} × ${channels} ${values}`;
        } catch (error) {
          if (!(error instanceof EagreError)) throw error;
          return `${error.name} ${error.message}`;
        }
      };
      const theirs = made(native as Codecs);
      if (theirs.startsWith('InvalidArgumentError')) refused++;
      expect([run, made(wasm as Codecs)]).toEqual([run, theirs]);
    }
    expect(refused).toBeGreaterThan(1000);
    expect(refused).toBeLessThan(5900);
  });

  test('go on with a new instance when one has stopped, or has become large', () => {
    useCodecs(wasm);
    const small = pictures.get('small') as Tensor;
    const file = [...files].find(([, bytes]) => isPng(bytes))?.[1] as Uint8Array;
    const whole = decodePng(file, { channels: 0, depth: 8 }, 'test');
    // It says that it is longer than the memory.
    const chunk = [0x7f, 0, 0, 0, ...new TextEncoder().encode('IDAT')];
    const endless = Uint8Array.of(...file.subarray(0, 8), ...chunk);
    Object.defineProperty(endless, 'length', { value: 2 ** 32 - 1 });
    for (let i = 0; i < 3; i++) {
      expect(() =>
        callCodecs('test', (codecs) => codecs.decodePng(endless, 0, 8, new Int32Array(3)), wasm),
      ).toThrow(InternalError);
      expect(decodePng(file, { channels: 0, depth: 8 }, 'test')).toEqual(whole);
    }
    const large = encodePng(small.slice([0, 0, 0], [1, 1, 1]).broadcastTo([6000, 5000, 1]), 1);
    expect(decodePng(file, { channels: 0, depth: 8 }, 'test')).toEqual(whole);
    expect(String(large.item()).length).toBeLessThan(1e6);
  });

  test('refuse what is too large, and sizes that are not those of the values', () => {
    const call =
      (run: (codecs: Codecs) => unknown): (() => unknown) =>
      () =>
        callCodecs('test', run, wasm);
    const options = Int32Array.of(90, 0, 0, 1, 1, 300, 300);
    const none = new Uint8Array(0);
    const wide = new Uint8Array(65501);
    expect(call((c) => c.encodeJpeg(wide, 1, 65501, 1, options, none))).toThrow('65501 × 1 pixels');
    expect(call((c) => c.encodeJpeg(wide, 2, 65501, 1, options, none))).toThrow(InvalidArgumentError);
    expect(call((c) => c.encodePng(wide, 1, 65500, 1, 6))).toThrow(InvalidArgumentError);
    expect(call((c) => c.encodeJpeg(wide.subarray(1), 1, 65500, 1, options, new Uint8Array(70000)))).toThrow(
      'metadata of 70000 bytes',
    );
  });
});
