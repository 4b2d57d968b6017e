// Functions that read many strings at once, beside what they do with one, and beside TensorFlow.
import '@eagre/backend-js';
import { describe, expect, test } from 'vitest';
import { constant, fingerprint, type RaggedTensor, strings, type Tensor, withBackend } from '../../index.ts';
import { bytesOf } from './bytes.ts';
import { expressionOf, replacer } from './re2.ts';
import { eachUtf8 } from './utf8.ts';

const ODD = [
  '',
  'a',
  'é',
  '日本',
  '😀',
  '\udcff',
  '\ud800',
  '\udc00',
  'a\udce9b',
  '\udce2\udc82',
  'ÿ\u0000',
  '\ud83d',
];
const texts = [
  ...ODD,
  ...ODD.map((text) => text.repeat(60)),
  ...ODD.map((text) => `${'plain '.repeat(20)}${text}${'words'.repeat(15)}`),
];

describe('bytes of many strings', () => {
  test.each([1, 40])('are those of each, of %i times as many', (times) => {
    const all = Array.from({ length: times }, () => texts).flat();
    const x = constant(all);
    for (let run = 0; run < 2; run++) {
      const found: string[] = [];
      eachUtf8(x, ({ bytes, starts, ascii, valid }, first) => {
        expect([first, ascii, valid]).toEqual([0, false, false]);
        for (let i = 0; i < all.length; i++) found.push(String(bytes.subarray(starts[i], starts[i + 1])));
      });
      expect(found).toEqual(all.map((text) => String(bytesOf(text))));
    }
  });
  test('of very many come in pieces', () => {
    const text = 'é'.repeat(2 ** 19);
    const all = Array.from({ length: 40 }, (_, i) => text.slice(i));
    const firsts: number[] = [];
    eachUtf8(constant(all), ({ starts }, first) => {
      firsts.push(first);
      for (let i = 0; i + 1 < starts.length; i++)
        expect(starts[i + 1] - starts[i]).toBe(2 * all[first + i].length);
    });
    expect(firsts.length).toBeGreaterThan(10);
  });
  test('say whether they are ASCII', () => {
    for (const [text, wanted] of [
      ['abc', [true, true]],
      ['é', [false, true]],
      ['\udc80', [false, false]],
    ] as const)
      eachUtf8(constant([text, 'x'.repeat(99)]), ({ ascii, valid }) =>
        expect([ascii, valid]).toEqual(wanted),
      );
  });
});

describe('hashes', () => {
  const named = (end: string): Tensor =>
    constant(
      Array.from(
        { length: 300 },
        (_, i) =>
          Array.from({ length: i }, (_, j) => String.fromCharCode(97 + ((i * 7 + j * j) % 26))).join('') +
          end,
      ),
    );
  const total = (x: Tensor): number => Number((x.data() as BigInt64Array).reduce((a, b) => a + b, 0n));
  // Sums that TensorFlow gives.
  test.each([
    ['', 7, 951, 864, 888],
    ['', 1000, 146649, 149285, 149248],
    ['', 3000017, 446394054, 454700447, 447722947],
    ['', 2 ** 40 + 15, 160170061390977, 174068452117941, 166575089572118],
    ['é日😀', 7, 933, 992, 919],
    ['é日😀', 1000, 144090, 148299, 150035],
    ['é日😀', 3000017, 454848344, 440460940, 462195370],
    ['é日😀', 2 ** 40 + 15, 161569564960200, 158683308064982, 166860610041514],
  ])('of texts of up to 300 bytes that end in "%s", in %i buckets', (end, n, fast, strong, plain) => {
    const x = named(end);
    expect(total(strings.toHashBucketFast(x, n))).toBe(fast);
    expect(total(strings.toHashBucketStrong(x, n, [1234567890123, -5]))).toBe(strong);
    expect(total(strings.toHashBucket(x, n))).toBe(plain);
  });
  test('of rows', () => {
    const sum = (x: Tensor): number =>
      (x.data() as Uint8Array).reduce((n, byte, i) => n + byte * ((i % 8) + 1), 0);
    expect(sum(fingerprint(named('')))).toBe(1381605);
    const rows = Uint8Array.from(
      { length: 2000 },
      (_, k) => (Math.floor(k / 100) * 31 + (k % 100) * 17) % 256,
    );
    expect(sum(fingerprint(constant({ data: rows, shape: [20, 100] })))).toBe(94555);
  });
});

describe('fast ways', () => {
  test('letters of ASCII change alone', () => {
    const x = constant(['ABC', 'abc', 'ÄBc', 'İI', 'ß', '\u212a', '\udcc4A', `${'Z'.repeat(40)}Ä`]);
    expect(strings.lower(x).strings()).toEqual([
      'abc',
      'abc',
      'Äbc',
      'İi',
      'ß',
      '\u212a',
      '\udcc4a',
      `${'z'.repeat(40)}Ä`,
    ]);
    expect(strings.upper(x).strings()).toEqual([
      'ABC',
      'ABC',
      'ÄBC',
      'İI',
      'ß',
      '\u212a',
      '\udcc4A',
      `${'Z'.repeat(40)}Ä`,
    ]);
  });
  test('what is cut by bytes and by characters', () => {
    const x = constant(['abcdef', 'aébc', '日本語', '\udcffab']);
    expect(strings.substr(x, 1, 2).strings()).toEqual(['bc', 'é', '\udc97\udca5', 'ab']);
    expect(strings.substr(x, -3, -1, 'UTF8_CHAR').strings()).toEqual(['def', 'ébc', '日本語', '\udcffab']);
    expect(strings.substr(x, [0, 1, 2, 0], [1, 2, 1, 2], 'UTF8_CHAR').strings()).toEqual([
      'a',
      'éb',
      '語',
      '\udcffa',
    ]);
    expect(() => strings.substr(x, 4, 1, 'UTF8_CHAR')).toThrow('out of range');
  });
  test('bytes that are joined become text', () => {
    const [a, b] = [constant(['\udce2\udc82', 'x', '']), constant(['\udcac', '\udcac', '\udce2'])];
    expect(strings.join([a, b]).strings()).toEqual(['€', 'x\udcac', '\udce2']);
    expect(strings.join([a, b], ',').strings()).toEqual(['\udce2\udc82,\udcac', 'x,\udcac', ',\udce2']);
    expect(
      strings.join([constant('\udce2'), constant(''), constant('\udc82'), constant('\udcac')]).strings(),
    ).toEqual(['€']);
  });
  // As RE2 replaces: nothing is found again where the match before ended.
  test.each([
    ['a*', 'baac', '-', '-b-c-'],
    ['[[:alpha:]]*', 'ab1', '-', '-1-'],
    ['[ab]+', 'xaby', '<\\0>', 'x<ab>y'],
    ['^a?', 'aab', '$1', '$1ab'],
    ['(a)|b*', 'cab', '[\\1]', '[]c[a][]'],
    ['\\d', 'a1b22', '$&', 'a$&b$&$&'],
    ['(\\w)(\\w)?', 'abc', '\\2\\1', 'bac'],
    ['x{0,1}', 'xy', '-', '-y-'],
    ['[|]a*', '|aa|', '.', '..'],
    ['\\.+?', '..', '_', '__'],
  ])('what matches %s in %s is replaced by %s', (pattern, text, rewrite, wanted) => {
    expect(replacer(pattern, rewrite, true, 'test')(text)).toBe(wanted);
    expect(replacer(pattern, rewrite, false, 'test')(text)).toBe(
      text.replace(new RegExp(expressionOf(pattern, false, 'test').source, 'u'), (match, ...groups) =>
        rewrite.replace(/\\(\d)/g, (_, n) => (n === '0' ? match : (groups[n - 1] ?? ''))),
      ),
    );
  });
  test('characters of texts that are and are not UTF-8', () => {
    for (const list of [
      ['aé', '日', '', '😀b'],
      ['aé', '\udcff', '', '😀b'],
    ]) {
      const x = constant(list);
      const [points, places] = strings.unicodeDecodeWithOffsets(x, 'UTF-8') as unknown as RaggedTensor[];
      const broken = list[1] === '\udcff';
      expect(points.toList()).toEqual([[97, 233], [broken ? 0xfffd : 0x65e5], [], [0x1f600, 98]]);
      expect(places.toList().map((row) => (row as bigint[]).map(Number))).toEqual([[0, 1], [0], [], [0, 4]]);
      expect(strings.unicodeTranscode(x, 'UTF-8', 'UTF-8').strings()[1]).toBe(broken ? '\ufffd' : '日');
      expect((strings.unicodeEncode(points, 'UTF-16-BE') as Tensor).strings()[0]).toBe('\u0000a\u0000\udce9');
    }
  });
  test('words of many texts are those of each', () => {
    const parts = [
      'é',
      'naïve',
      ' ',
      '\t',
      '日本語の',
      '😀',
      'a\u0001b',
      'x'.repeat(40),
      '\u007f',
      'the',
      '\n',
      'é'.repeat(20),
      '',
    ];
    for (const broken of ['', '\udcff']) {
      const all = Array.from({ length: 300 }, (_, i) =>
        Array.from({ length: i % 9 }, (_, j) => parts[(i * 7 + j * j + j * i) % parts.length]).join(
          i % 3 === 0 ? ' ' : '',
        ),
      );
      all[150] += broken;
      const rows = (strings.split(constant(all)) as RaggedTensor).toList();
      expect(rows).toEqual(all.map((text) => (strings.split(constant(text)) as Tensor).array()));
    }
  });
  test('n-grams of many widths', () => {
    const x = constant(['a', 'b', 'c']);
    expect(
      (strings.ngrams(x, [1, 3], { padValues: ['<', '>'], paddingWidth: 1 }) as Tensor).strings(),
    ).toEqual(['a', 'b', 'c', '< a b', 'a b c', 'b c >']);
    expect((strings.ngrams(x, 5, { preserveShortSequences: true }) as Tensor).strings()).toEqual(['a b c']);
  });
  test('numbers of strings, short and long ones', () => {
    const x = constant([
      '1',
      ' -2.5\t',
      '+.5',
      '5.',
      '1e3',
      '0.1',
      '123456789.123456789',
      '-0',
      'inf',
      '0x10',
    ]);
    const wanted = [1, -2.5, 0.5, 5, 1000, 0.1, Number('123456789.123456789'), -0, Infinity, 16];
    expect(Array.from(strings.toNumber(x, 'float64').data())).toEqual(wanted);
    const y = constant(['1', ' -2 ', '+9007199254740993', '-9223372036854775808', '000000000000000000012']);
    expect(strings.toNumber(y, 'int64').array()).toEqual([1n, -2n, 9007199254740993n, -(2n ** 63n), 12n]);
    expect(strings.toNumber(constant(['18446744073709551615', '3']), 'uint64').array()).toEqual([
      2n ** 64n - 1n,
      3n,
    ]);
    for (const [text, dtype] of [
      ['2147483648', 'int32'],
      ['-1', 'uint32'],
      ['1.5', 'int64'],
      ['.', 'float32'],
      ['', 'float32'],
      ['1 2', 'int32'],
    ] as const)
      expect(() => strings.toNumber(constant([text]), dtype)).toThrow('is no number');
  });
  // As C writes them: what lies in the middle goes to the even digit.
  test.each([
    [0.5, { precision: 0 }, '0'],
    [1.5, { precision: 0 }, '2'],
    [2.5, { precision: 0 }, '2'],
    [-0.125, { precision: 2 }, '-0.12'],
    [0.375, { precision: 2 }, '0.38'],
    [1e22, {}, '10000000000000000000000.000000'],
    [123456789.125, { precision: 2 }, '123456789.12'],
    [1000005, { shortest: true }, '1e+06'],
    [1000015, { shortest: true }, '1.00002e+06'],
    [0.0001, { shortest: true }, '0.0001'],
    [0.00001, { shortest: true }, '1e-05'],
    [999999.5, { shortest: true }, '1e+06'],
    [9.5, { scientific: true, precision: 0 }, '1e+01'],
    [8.5, { scientific: true, precision: 0 }, '8e+00'],
    [1234.5, { scientific: true, precision: 3 }, '1.234e+03'],
  ])('%f with %j is %s', (value, options, wanted) => {
    expect(strings.asString(constant([value], 'float64'), options).strings()).toEqual([wanted]);
  });
  test.each([
    [254.7265625, '254.726562'],
    [0.0234375, '0.023438'],
    [-0.0078125, '-0.007812'],
    [0.99999994, '1.000000'],
    [2147483520, '2147483520.000000'],
    [1e-7, '0.000000'],
    [-0, '-0.000000'],
  ])('the float32 %f has six places', (value, wanted) => {
    expect(strings.asString(constant([value])).strings()).toEqual([wanted]);
  });
  test('integers as strings', () => {
    const x = constant([0n, -5n, 2n ** 31n, -(2n ** 63n), 2n ** 53n + 1n], 'int64');
    expect(strings.asString(x).strings()).toEqual([
      '0',
      '-5',
      '2147483648',
      '-9223372036854775808',
      '9007199254740993',
    ]);
  });
  test('strings along several axes', () => {
    const x = constant(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'], undefined, { shape: [2, 2, 2] });
    expect((strings.reduceJoin(x, [0, 2]) as Tensor).array()).toEqual(['aebf', 'cgdh']);
    expect((strings.reduceJoin(x, [2, 0]) as Tensor).array()).toEqual(['abef', 'cdgh']);
    expect((strings.reduceJoin(x, 1, { keepdims: true }) as Tensor).shape).toEqual([2, 1, 2]);
    const none = constant([], 'string' as never, { shape: [0, 3] });
    expect((strings.reduceJoin(none, 0) as Tensor).array()).toEqual(['', '', '']);
  });
});

test('hashes of the kernels in TypeScript are those of the native ones', () => {
  const x = constant([...texts, ...Array.from({ length: 200 }, (_, i) => 'é'.repeat(i).slice(i % 3))]);
  const hashes: readonly (() => Tensor)[] = [
    () => strings.toHashBucketFast(x, 2 ** 53 - 1),
    () => strings.toHashBucket(x, 1_000_003),
    () => strings.toHashBucketStrong(x, 2 ** 40, [-5n, 2n ** 62n + 1n]),
    () => fingerprint(x),
  ];
  for (const hash of hashes) expect(withBackend('js', () => hash().array())).toEqual(hash().array());
});
