import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FormatError } from '../errors.ts';
import { tensorflow } from '../index.ts';
import { mutate, randomSource } from '../testing/mutate.ts';
import {
  decodeExample,
  decodeSequenceExample,
  encodeExample,
  encodeSequenceExample,
  type FeatureInput,
} from './example.ts';

const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const read = (value: FeatureInput) => decodeExample(encodeExample({ x: value })).get('x');

describe('an Example', () => {
  it("is what TensorFlow's would be", () => {
    // tf.train.Example(features=…, {'a': int64 [1, -1, 300]}).SerializeToString()
    const bytes = encodeExample({ a: [1n, -1n, 300n] });
    expect(Buffer.from(bytes).toString('hex')).toBe('0a180a160a016112111a0f0a0d01ffffffffffffffffff01ac02');
  });

  it('takes values of every kind', () => {
    const floats = Float32Array.of(1.5, -2);
    expect(read(1.5)).toEqual(Float32Array.of(1.5));
    expect(read([1.5, -2])).toEqual(floats);
    expect(read(floats)).toEqual(floats);
    expect(read(Float64Array.of(1.5, -2))).toEqual(floats);
    expect(read(7n)).toEqual(BigInt64Array.of(7n));
    expect(read([true, false])).toEqual(BigInt64Array.of(1n, 0n));
    expect(read(true)).toEqual(BigInt64Array.of(1n));
    expect(read(Int32Array.of(-5, 5))).toEqual(BigInt64Array.of(-5n, 5n));
    expect(read(Uint16Array.of(65535))).toEqual(BigInt64Array.of(65535n));
    expect(read('ü')).toEqual([text('ü')]);
    expect(read(['a', Uint8Array.of(0)])).toEqual([text('a'), Uint8Array.of(0)]);
    expect(read(Uint8Array.of(1, 2))).toEqual([Uint8Array.of(1, 2)]);
    expect(read([])).toEqual(new Float32Array(0));
    expect(read(null)).toBeNull();
  });

  it('refuses what no feature holds', () => {
    const wrong = [[1, 'a'], [1n, 2], [{}], [2n ** 63n], 2n ** 64n, ['a', 1]] as unknown as FeatureInput[];
    for (const value of wrong) expect(() => encodeExample({ x: value })).toThrow(/feature "x"/);
    for (const x of [Symbol('x'), undefined, {}, [[1]], [1, undefined], [() => 1], [undefined]])
      expect(() => encodeExample({ x } as never)).toThrow(FormatError);
    expect(() => decodeExample(Uint8Array.of(10, 5, 1), { file: 'a.tfrecord' })).toThrow(/^a\.tfrecord: /);
  });

  it('keeps all integers and floats', () => {
    const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    fc.assert(
      fc.property(fc.array(int64), fc.float32Array(), (integers, floats) => {
        const inputs = new Map<string, FeatureInput>([
          ['i', BigInt64Array.from(integers)],
          ['f', floats],
        ]);
        const values = decodeExample(encodeExample(inputs));
        expect(values.get('i')).toEqual(BigInt64Array.from(integers));
        expect(values.get('f')).toEqual(floats);
      }),
    );
  });

  it('is read whether lists are packed or not, and in parts', () => {
    const { Int64List, FloatList } = tensorflow;
    const ints = [8, 1, 10, 2, 2, 172, 2, 8, 4].concat([8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1]);
    const bytes = Uint8Array.from([...ints.slice(0, 3), 3, 2, ...ints.slice(5)]);
    expect(Int64List.decode(bytes).value).toEqual(BigInt64Array.of(1n, 2n, 300n, 4n, -1n));
    const one = [0, 0, 128, 63];
    expect(FloatList.decode(Uint8Array.from([13, ...one, 10, 4, ...one, 13, ...one])).value).toEqual(
      Float32Array.of(1, 1, 1),
    );
    // A hundred thousand in parts of one are not slow.
    const many = new Uint8Array(200_000).map((_, i) => (i % 2 === 0 ? 8 : 5));
    expect(Int64List.decode(many).value?.length).toBe(100_000);
    expect(() => FloatList.decode(Uint8Array.of(10, 3, 0, 0, 0))).toThrow(FormatError);
    expect(() => Int64List.decode(Uint8Array.of(10, 2, 128, 128))).toThrow(FormatError);
    expect(() => Int64List.decode(Uint8Array.of(8, ...new Array(10).fill(255)))).toThrow(FormatError);
  });
});

describe('a SequenceExample', () => {
  it('comes out as it went in', () => {
    const bytes = encodeSequenceExample({
      context: { length: 2n },
      featureLists: { words: ['a', ['b', 'c']], scores: [[1, 2], []] },
    });
    const { context, featureLists } = decodeSequenceExample(bytes);
    expect(context).toEqual(new Map([['length', BigInt64Array.of(2n)]]));
    expect(featureLists.get('words')).toEqual([[text('a')], [text('b'), text('c')]]);
    expect(featureLists.get('scores')).toEqual([Float32Array.of(1, 2), new Float32Array(0)]);
  });
});

describe('damaged messages', () => {
  const samples = [
    encodeExample({ floats: [1, 2, 3], ints: [1n, -1n, 2n ** 40n], bytes: ['abc', ''] }),
    encodeSequenceExample({ context: { a: 1n }, featureLists: { b: [[1, 2], [3]] } }),
  ];

  it('(10,000 of them) give a FormatError or values', () => {
    const random = randomSource(19);
    const result = { read: 0, refused: 0 };
    for (let run = 0; run < 10_000; run++) {
      const bytes = mutate(samples[run % 2]!, random);
      try {
        const { context, featureLists } =
          run % 2 ? decodeSequenceExample(bytes) : { context: decodeExample(bytes), featureLists: new Map() };
        let total = 0;
        for (const value of [...context.values(), ...[...featureLists.values()].flat()])
          total += value === null ? 0 : 'buffer' in value ? value.buffer.byteLength : value.length;
        expect(total).toBeLessThanOrEqual(bytes.length * 16);
        result.read++;
      } catch (error) {
        if (!(error instanceof FormatError)) throw new Error(`run ${run}`, { cause: error });
        result.refused++;
      }
    }
    expect(result.read).toBeGreaterThan(500);
    expect(result.refused).toBeGreaterThan(2000);
  });
});
