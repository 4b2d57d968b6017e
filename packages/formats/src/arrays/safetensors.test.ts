import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FormatError, UnsupportedFormatError } from '../errors.ts';
import { fuzz } from '../testing/fuzz.ts';
import { goldenBytes, goldenFiles, toGolden } from '../testing/golden.ts';
import type { NDArray } from './ndarray.ts';
import { decodeSafetensors, decodeSafetensorsHeader, encodeSafetensors } from './safetensors.ts';

function file(header: string, data: number[] = [], length?: number): Uint8Array {
  const text = new TextEncoder().encode(header);
  const bytes = new Uint8Array(8 + text.length + data.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(length ?? text.length), true);
  bytes.set(text, 8);
  bytes.set(data, 8 + text.length);
  return bytes;
}

const tensor = (name: string, dtype: string, shape: string, offsets: string): string =>
  `"${name}":{"dtype":"${dtype}","shape":${shape},"data_offsets":${offsets}}`;

describe('files of the reference writer', () => {
  for (const { name, arrays, metadata, unsupported } of goldenFiles('safetensors')) {
    it(`reads ${name}`, () => {
      const missing = unsupported as string[];
      const decoded = decodeSafetensors(goldenBytes(name), { filter: (key) => !missing.includes(key) });
      expect(decoded.metadata).toEqual(metadata);
      const tensors = Object.fromEntries([...decoded.tensors].map(([key, array]) => [key, toGolden(array)]));
      expect(tensors).toEqual(arrays);
    });
  }

  for (const name of ['mixed.safetensors', 'plain.safetensors', 'empty.safetensors']) {
    it(`writes ${name} byte for byte`, () => {
      const { tensors, metadata } = decodeSafetensors(goldenBytes(name));
      const reversed = new Map([...tensors].reverse());
      const written = encodeSafetensors(reversed, Object.keys(metadata).length > 0 ? metadata : undefined);
      expect(Buffer.from(written).equals(goldenBytes(name))).toBe(true);
    });
  }

  it('refuses dtypes without an equal here, when they are asked for', () => {
    const bytes = goldenBytes('torch.safetensors');
    expect(() => decodeSafetensors(bytes, { filter: (name) => name === 'f1' })).toThrow(
      UnsupportedFormatError,
    );
    expect(() => decodeSafetensors(bytes, { file: 'torch.safetensors' })).toThrow(
      /torch.safetensors: tensor "/,
    );
    expect(decodeSafetensorsHeader(bytes).entries.get('f1')).toMatchObject({ dtype: 'F8_E4M3', shape: [1] });
  });
});

describe('encodeSafetensors', () => {
  it('keeps scalars, empty arrays and names that look like integers or prototypes', () => {
    const tensors = new Map<string, NDArray>([
      ['1', { dtype: 'float32', shape: [], data: new Float32Array([1.5]) }],
      ['__proto__', { dtype: 'bool', shape: [2], data: new Uint8Array([1, 0]) }],
      ['toString', { dtype: 'int64', shape: [0, 3], data: new BigInt64Array(0) }],
    ]);
    const metadata = { format: 'tf', note: 'ü' };
    const decoded = decodeSafetensors(encodeSafetensors(tensors, metadata));
    expect(decoded.metadata).toEqual(metadata);
    expect(new Set(decoded.tensors)).toEqual(new Set(tensors));
  });

  it('round-trips any array', () => {
    const arrays = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.array(fc.float(), { maxLength: 9 }));
    fc.assert(
      fc.property(arrays, (values) => {
        delete values['__metadata__'];
        const tensors = new Map<string, NDArray>();
        for (const [name, list] of Object.entries(values)) {
          tensors.set(name, { dtype: 'float32', shape: [list.length], data: Float32Array.from(list) });
        }
        expect(new Set(decodeSafetensors(encodeSafetensors(tensors)).tensors)).toEqual(new Set(tensors));
      }),
    );
  });

  it('shares memory when alignment allows and copies when not', () => {
    const bytes = encodeSafetensors({ x: { dtype: 'float32', shape: [2], data: new Float32Array([1, 2]) } });
    expect(decodeSafetensors(bytes).tensors.get('x')!.data.buffer).toBe(bytes.buffer);
    const shifted = new Uint8Array(bytes.length + 1);
    shifted.set(bytes, 1);
    const x = decodeSafetensors(shifted.subarray(1)).tensors.get('x')!;
    expect([...x.data]).toEqual([1, 2]);
    expect(x.data.buffer).not.toBe(shifted.buffer);
  });

  it('refuses what the format cannot hold', () => {
    const one = { dtype: 'float32', shape: [1], data: new Float32Array(1) } as const;
    expect(() => encodeSafetensors({ __metadata__: one })).toThrow(FormatError);
    expect(() => encodeSafetensors({ '\ud800': one })).toThrow(/well-formed/);
    expect(() => encodeSafetensors({ x: { ...one, shape: [2] } })).toThrow(
      /"x".*expected 2 elements, got 1 elements/,
    );
    expect(() => encodeSafetensors({}, { n: 1 as unknown as string })).toThrow(/expected a string, got 1/);
  });
});

describe('decodeSafetensors', () => {
  const cases: [string, Uint8Array, RegExp][] = [
    ['no length', new Uint8Array(7), /truncated header length/],
    ['a huge length', file('{}', [], 2 ** 50), /header length: expected at most 100000000/],
    ['a length beyond the file', file('{}', [], 3), /truncated header: expected 3 bytes, got 2/],
    ['bytes that are not UTF-8', file('{"\x80"}').map((b) => (b === 0xc2 ? 0xff : b)), /UTF-8/],
    ['text that is not JSON', file('{"a":}'), /expected JSON/],
    ['JSON that is not an object', file('[1]'), /expected a JSON object/],
    [
      'a duplicate key',
      file(`{${tensor('a', 'U8', '[0]', '[0,0]')},${tensor('\\u0061', 'U8', '[0]', '[0,0]')}}`),
      /"a" twice/,
    ],
    ['a duplicate inner key', file('{"a":{"dtype":"U8","dtype":"I8"}}'), /"dtype" twice/],
    ['metadata that is not text', file('{"__metadata__":{"n":1}}'), /expected a string, got 1/],
    ['metadata that is an array', file('{"__metadata__":[]}'), /__metadata__/],
    ['an unknown dtype', file(`{${tensor('a', 'toString', '[0]', '[0,0]')}}`), /dtype.*"toString"/],
    ['a negative size', file(`{${tensor('a', 'U8', '[-1]', '[0,0]')}}`), /shape/],
    ['a fractional size', file(`{${tensor('a', 'U8', '[0.5]', '[0,0]')}}`), /shape/],
    ['a product beyond 2^53', file(`{${tensor('a', 'U8', '[4294967296,4294967296]', '[0,0]')}}`), /shape/],
    ['offsets in reverse', file(`{${tensor('a', 'U8', '[1]', '[1,0]')}}`, [0]), /data_offsets/],
    ['offsets beyond the file', file(`{${tensor('a', 'U8', '[2]', '[0,2]')}}`, [0]), /data_offsets/],
    ['three offsets', file(`{${tensor('a', 'U8', '[1]', '[0,1,1]')}}`, [0]), /data_offsets/],
    [
      'a size that does not suit the shape',
      file(`{${tensor('a', 'I16', '[1]', '[0,1]')}}`, [0]),
      /2 bytes, got 1/,
    ],
    ['half a byte', file(`{${tensor('a', 'F4', '[1]', '[0,1]')}}`, [0]), /0.5 bytes/],
    ['a hole', file(`{${tensor('a', 'U8', '[1]', '[1,2]')}}`, [0, 0]), /hole/],
    [
      'an overlap',
      file(`{${tensor('a', 'U8', '[2]', '[0,2]')},${tensor('b', 'U8', '[2]', '[1,3]')}}`, [0, 0, 0]),
      /overlaps/,
    ],
    ['trailing bytes', file(`{${tensor('a', 'U8', '[1]', '[0,1]')}}`, [0, 0]), /trailing/],
    ['deep nesting', file(`{"a":${'['.repeat(1e5)}${']'.repeat(1e5)}}`), /expected an object/],
    [
      'deep nesting inside',
      file(`{${tensor('a', 'U8', `[${'['.repeat(1e5)}${']'.repeat(1e5)}]`, '[0,0]')}}`),
      /shape/,
    ],
  ];
  for (const [what, bytes, message] of cases) {
    it(`refuses ${what}`, () => {
      expect(() => decodeSafetensors(bytes, { file: 'x.safetensors' })).toThrow(FormatError);
      expect(() => decodeSafetensors(bytes)).toThrow(message);
    });
  }

  it('accepts spaces around the header', () => {
    expect(decodeSafetensors(file(' {} ')).tensors.size).toBe(0);
  });

  it('makes bools 0 or 1', () => {
    const { tensors } = decodeSafetensors(file(`{${tensor('a', 'BOOL', '[3]', '[0,3]')}}`, [0, 1, 2]));
    expect([...tensors.get('a')!.data]).toEqual([0, 1, 1]);
  });

  it('never fails otherwise on damaged files', () => {
    const samples = goldenFiles('safetensors').map(({ name }) => goldenBytes(name));
    const result = fuzz(samples, (bytes) => decodeSafetensors(bytes).tensors.values());
    expect(result.rejected).toBeGreaterThan(1000);
    expect(result.decoded).toBeGreaterThan(20);
  });
});

it('reads a header from the beginning of a file', () => {
  const bytes = encodeSafetensors({ w: { dtype: 'float32', shape: [1000], data: new Float32Array(1000) } });
  const start = bytes.subarray(0, bytes.length - 4000);
  const header = decodeSafetensorsHeader(start, { fileBytes: bytes.length });
  expect(header.entries.get('w')).toMatchObject({ shape: [1000], end: bytes.length });
  expect(() => decodeSafetensorsHeader(start)).toThrow(FormatError);
  expect(() => decodeSafetensorsHeader(start, { fileBytes: bytes.length - 1 })).toThrow(FormatError);
});
