// tf.strings against TensorFlow.
import '@eagre/backend-js';
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { EagreError } from '@eagre/backend';
import { describe, expect, test } from 'vitest';
import { constant, type RaggedTensor, ragged, strings, Tensor } from './index.ts';
import { bytesOf, textOf } from './ops/strings/bytes.ts';
import { byteTensor } from './tensor/byte-strings.ts';

const functions = new Map(Object.entries(strings));

interface Values {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly values: readonly unknown[];
}
interface Case {
  readonly op: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: string;
}
const golden = JSON.parse(readFileSync(new URL('../golden/strings.json', import.meta.url), 'utf8')) as {
  readonly scripts: readonly (readonly [number, number])[];
  readonly cases: readonly Case[];
};

const isValues = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && 'shape' in value;
const isRows = (v: unknown): v is { ragged: unknown; dtype: string; raggedRank: number } =>
  typeof v === 'object' && v !== null && 'ragged' in v;
const value = (v: unknown): unknown => {
  if (Array.isArray(v)) return { re: v[0], im: v[1] };
  if (typeof v !== 'object') return v;
  const { big, float } = v as { big?: string; float?: string };
  return big === undefined
    ? float === undefined
      ? v
      : Number(float.replace('inf', 'Infinity'))
    : BigInt(big);
};
function decoded(arg: unknown, asBytes: boolean): unknown {
  if (isValues(arg)) {
    if (asBytes && arg.dtype === 'string')
      return byteTensor(
        arg.values.map((text) => bytesOf(text as string)),
        arg.shape,
      );
    const wide = arg.dtype === 'int64' || arg.dtype === 'uint64';
    const values = arg.values.map(value).map((v) => (wide ? BigInt(v as number) : v));
    return constant(values as never, arg.dtype as never, { shape: arg.shape });
  }
  if (isRows(arg)) {
    // What is no ragged dimension has one size, which is given.
    return ragged.constant(arg.ragged as never, arg.dtype as never, { raggedRank: arg.raggedRank });
  }
  return Array.isArray(arg) && (arg.some(isValues) || arg.some(isRows))
    ? arg.map((each) => decoded(each, asBytes))
    : arg;
}

function shown(result: unknown): unknown {
  if (Array.isArray(result)) return result.map(shown);
  const plain = (v: unknown): unknown => {
    if (Array.isArray(v)) return v.map(plain);
    if (typeof v === 'bigint') return Number.isSafeInteger(Number(v)) ? Number(v) : { big: String(v) };
    if (typeof v !== 'number' || Number.isFinite(v)) return v;
    return { float: String(v).replace('Infinity', 'inf').replace('NaN', 'nan') };
  };
  if (!(result instanceof Tensor)) {
    const ragged = result as { toList(): unknown; dtype: string };
    return { ragged: plain(ragged.toList()), dtype: ragged.dtype };
  }
  const { dtype, shape } = result;
  const values = dtype === 'string' ? result.strings() : Array.from(result.data() as ArrayLike<unknown>);
  return { dtype, shape, values: plain(dtype === 'bool' ? values.map(Boolean) : values) };
}

const groups = new Map<string, Case[]>();
for (const c of golden.cases) groups.set(c.op, [...(groups.get(c.op) ?? []), c]);

describe.each([...groups])('%s', (op, cases) => {
  test.each([
    ['texts', false],
    ['bytes', true],
  ])('gives what TensorFlow gives for %s', (_, asBytes) => {
    const different: unknown[] = [];
    for (const { args, result, error } of cases) {
      let got: unknown;
      try {
        const given = Object.fromEntries(
          Object.entries(args).map(([key, arg]) => [key, decoded(arg, asBytes)]),
        );
        got = shown((functions.get(op) as (args: unknown) => unknown)(given));
      } catch (fault) {
        if (error !== undefined && fault instanceof EagreError) continue;
        got = fault;
      }
      if (error !== undefined || !isDeepStrictEqual(got, result))
        different.push({ args, got, wanted: error ?? result });
    }
    expect(different).toEqual([]);
  });
});

describe('beside TensorFlow', () => {
  test('any bytes have a text, from which they come back', () => {
    for (let run = 0; run < 300; run++) {
      const bytes = Uint8Array.from({ length: run % 40 }, (_, i) => (run * 7919 + i * i * 104729) % 256);
      expect(bytesOf(textOf(bytes))).toEqual(bytes);
    }
    expect(textOf(Uint8Array.of(0xff, 0x61))).toBe('\udcffa');
    expect(bytesOf('\ud800')).toEqual(Uint8Array.of(0xef, 0xbf, 0xbd));
    expect(bytesOf('😀\udc80')).toEqual(Uint8Array.of(0xf0, 0x9f, 0x98, 0x80, 0x80));
    const large = new Uint8Array(100_000).fill(0xe9);
    expect(bytesOf(textOf(large))).toEqual(large);
  });

  test('ragged tensors of strings', () => {
    const x = ragged.constant([['a b', 'C'], [], ['d']]) as RaggedTensor;
    expect((strings.lower(x as never) as unknown as RaggedTensor).toList()).toEqual([
      ['a b', 'c'],
      [],
      ['d'],
    ]);
    expect((strings.split(x) as RaggedTensor).toList()).toEqual([[['a', 'b'], ['C']], [], [['d']]]);
    expect((strings.reduceJoin(x, -1, { separator: '+' }) as Tensor).array()).toEqual(['a b+C', '', 'd']);
    expect((strings.ngrams(x, 2) as RaggedTensor).toList()).toEqual([['a b C'], [], []]);
    expect((strings.unicodeSplit(x, 'UTF-8') as RaggedTensor).toList()).toEqual([
      [['a', ' ', 'b'], ['C']],
      [],
      [['d']],
    ]);
    const points = strings.unicodeDecode(x, 'UTF-8') as RaggedTensor;
    expect((strings.unicodeEncode(points, 'UTF-8') as RaggedTensor).toList()).toEqual(x.toList());
  });

  test('many texts are split as one is', () => {
    const spaces = [' ', '  ', '\t', '\n\v', '\f\r '];
    // More words than are remembered, some of them long, some alike, and what is a space elsewhere.
    const word = (k: number): string =>
      [`w${k % 7}`, 'ab'.repeat(k % 23), `\u0001${k % 50}\u001f\0`][k % 5] ??
      `${(k * 7919) % 9000}\u00a0é😀\udc80`;
    const texts = Array.from({ length: 3000 }, (_, i) => {
      const parts = Array.from({ length: i % 8 }, (_, j) => `${word(i * 8 + j)}${spaces[(i + j) % 5]}`);
      return (
        (i % 3 === 0 ? ' ' : '') + parts.join(i % 4 === 0 ? ',' : '').slice(0, i % 2 === 0 ? -1 : undefined)
      );
    });
    for (const most of [-1, 0, 1, 3]) {
      const wordsOf = (text: string): string[] => {
        if (most === 0) return [text];
        const rest = text.replace(/^[ \t-\r]+/, '');
        const all = rest === '' ? [] : rest.split(/[ \t-\r]+/);
        if (most > 0 && all.length > most) {
          const begin = new RegExp(`^([^ \\t-\\r]+[ \\t-\\r]*){${most}}`).exec(rest)?.[0].length;
          return [...all.slice(0, most), rest.slice(begin)];
        }
        if (all.at(-1) === '') all.pop();
        return most > 0 && all.length === most ? [...all, ''] : all;
      };
      const betweenOf = (text: string): string[] => {
        const all = text.split(',');
        return most < 0 || all.length <= most ? all : [...all.slice(0, most), all.slice(most).join(',')];
      };
      // Of ASCII, some longer than what is looked at together; and of both, one after the other.
      const plain = texts.map((text) => text.replaceAll(/[^\0-\x7f]/g, 'z'));
      for (const some of [texts, plain, [...plain, plain.join(''), 'é'.repeat(40_000), ...texts]]) {
        const rowsOf = (separator: string | null): unknown =>
          (strings.split(constant(some), separator, most) as RaggedTensor).toList();
        expect(rowsOf(null)).toEqual(some.map(wordsOf));
        expect(rowsOf(',')).toEqual(some.map(betweenOf));
      }
    }
    const rows = strings.bytesSplit(constant(['é', '', '\udcffa'])) as RaggedTensor;
    expect(rows.toList()).toEqual([['\udcc3', '\udca9'], [], ['\udcff', 'a']]);
    expect(rows.rowSplits.array()).toEqual([0n, 2n, 2n, 4n]);
  });

  test('wrong arguments are refused', () => {
    const wrong: (() => unknown)[] = [
      () => strings.lower(constant([1])),
      () => strings.split(constant([1])),
      () => strings.regexFullMatch(constant(['a']), constant(['a', 'b'])),
      () => strings.regexReplace('a', '(a)', '\\2'),
      () => strings.regexReplace('a', 'a(?i)[b]', 'c'),
      () => strings.toHashBucketStrong('a', 3, [1]),
      () => strings.toHashBucketFast('a', 0),
      () => strings.toNumber(constant(['1']), 'bool'),
      () => strings.length('a', 'WORD' as never),
      () => strings.format('{}', [constant(1)], { summarize: 1.5 }),
      () => strings.unicodeDecode('a', 'UTF-8', { replacementChar: -1 }),
      () => strings.unicodeEncode(constant([1.5]), 'UTF-8'),
      () => strings.ngrams(constant(['a']), 1, { paddingWidth: 1 }),
      () => strings.join(constant(['a']) as never),
    ];
    for (const call of wrong) expect(call, String(call)).toThrow(EagreError);
  });
});
