import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Decimal, isArray, isObject, type Json } from './json.ts';
import { parseJson } from './json-reader.ts';
import { describeJson, JsonWriter } from './json-writer.ts';
import { doubleText, floatText } from './numbers.ts';

const limits = { maxDepth: 64, maxValues: 1_000_000 };
const parse = (text: string): Json => parseJson(Buffer.from(text), limits);

/** A value as JSON.parse gives it. */
function plain(value: Json): unknown {
  if (isArray(value)) return value.map(plain);
  if (isObject(value)) return Object.fromEntries([...value].map(([key, v]) => [key, plain(v)]));
  if (value instanceof Decimal) return value.value;
  return typeof value === 'bigint' ? Number(value) : value;
}

describe('parseJson', () => {
  test('reads what JSON.parse reads', () => {
    const spaced = fc.tuple(fc.jsonValue(), fc.constantFrom(0, 1, 4));
    fc.assert(
      fc.property(spaced, ([value, indent]) => {
        const text = JSON.stringify(value, undefined, indent);
        // An object's own __proto__ is a key like others for us.
        fc.pre(!text.includes('__proto__'));
        expect(plain(parse(text))).toEqual(JSON.parse(text, (_, v) => (Object.is(v, -0) ? 0 : v)));
      }),
      { numRuns: 500 },
    );
  });

  test('reads numbers as JSON.parse does, to the last bit', () => {
    const numbers = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
      fc.tuple(fc.bigInt(), fc.nat({ max: 30 })).map(([n, places]) => `${n}.${'0'.repeat(places)}1`),
      fc
        .tuple(fc.integer(), fc.nat(), fc.integer({ min: -320, max: 290 }))
        .map(([a, b, e]) => `${a}.${b}e${e}`),
    );
    fc.assert(
      fc.property(numbers, (text) => {
        const value = Number(text);
        fc.pre(Number.isFinite(value) && value !== 0);
        expect(plain(parse(text))).toBe(value);
      }),
      { numRuns: 2000 },
    );
  });

  test('tells integers from decimals, and keeps large ones exact', () => {
    expect(parse('[1, 1.0, 1e2, 1.5, -0, 300.0]')).toEqual([
      1,
      new Decimal(1),
      new Decimal(100),
      1.5,
      0,
      new Decimal(300),
    ]);
    expect(parse('-0.0')).toEqual(new Decimal(-0));
    expect(parse('[9007199254740993, -9223372036854775808, 18446744073709551615]')).toEqual([
      9007199254740993n,
      -9223372036854775808n,
      18446744073709551615n,
    ]);
    expect(parse('18446744073709551616')).toEqual(new Decimal(2 ** 64));
  });

  test('reads the tokens for what is no finite number', () => {
    expect(parse('[NaN, Inf, Infinity, -Inf, -Infinity]')).toEqual([
      Number.NaN,
      Infinity,
      Infinity,
      -Infinity,
      -Infinity,
    ]);
  });

  test('gives keys no meaning', () => {
    const value = parse('{"__proto__": {"polluted": 1}, "constructor": 2}') as ReadonlyMap<string, Json>;
    expect([...value.keys()]).toEqual(['__proto__', 'constructor']);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  test.each([
    ['', 'The document is empty. at offset: 0'],
    ['instances = [1]', 'Invalid value. at offset: 0'],
    ['{"a" 1}', 'Missing a colon after a name of object member. at offset: 5'],
    ['{a: 1}', 'Missing a name for object member. at offset: 1'],
    ['{"a": 1,}', 'Missing a name for object member. at offset: 8'],
    ['{"a": 1 "b"', 'Missing a comma or } after an object member. at offset: 8'],
    ['[1 2]', 'Missing a comma or ] after an array element. at offset: 3'],
    ['[1,]', 'Invalid value. at offset: 3'],
    ['[01]', 'Missing a comma or ] after an array element. at offset: 2'],
    ['[1.]', 'Miss fraction part in number. at offset: 3'],
    ['[1e]', 'Miss exponent in number. at offset: 3'],
    ['[1e999]', 'Number too big to be stored in double. at offset: 1'],
    [`[${'9'.repeat(400)}]`, 'Number too big to be stored in double. at offset: 1'],
    [`[-${'9'.repeat(400)}]`, 'Number too big to be stored in double. at offset: 1'],
    ['["a', 'Missing a closing quotation mark in string. at offset: 3'],
    ['["é\\x"]', 'Invalid escape character in string. at offset: 4'],
    ['["\\u12g4"]', 'Incorrect hex digit after \\u escape in string. at offset: 2'],
    ['["\\ud800"]', 'The surrogate pair in string is invalid. at offset: 2'],
    ['["\n"]', 'Invalid encoding in string. at offset: 2'],
    ['{} {}', 'The document root must not be followed by other values. at offset: 3'],
    ['{"a": 1, "a": 2}', 'The name "a" is in an object twice. at offset: 9'],
    ['nul', 'Invalid value. at offset: 0'],
  ])('refuses %s', (text, message) => {
    expect(() => parse(text)).toThrow(`JSON Parse error: ${message}`);
  });

  test('refuses bytes that are no UTF-8, where they are', () => {
    const bytes = Buffer.concat([Buffer.from('["aé'), Buffer.from([0xff]), Buffer.from('"]')]);
    expect(() => parseJson(bytes, limits)).toThrow('Invalid encoding in string. at offset: 5');
  });

  test('reads a number of millions of digits soon', () => {
    const start = process.cpuUsage();
    expect(() => parse(`[${'9'.repeat(8e6)}]`)).toThrow('Number too big');
    expect(process.cpuUsage(start).user).toBeLessThan(1e6);
  });
  test('bounds nesting and values', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect(() => parse(nested(64))).not.toThrow();
    expect(() => parse(nested(65))).toThrow('nested deeper than 64');
    expect(() => parse(nested(1_000_000))).toThrow('nested deeper than 64');
    expect(() => parseJson(Buffer.from('[1,2,3]'), { maxDepth: 9, maxValues: 3 })).toThrow(
      'more than 3 values',
    );
    expect(parseJson(Buffer.from('[1,2]'), { maxDepth: 9, maxValues: 3 })).toEqual([1, 2]);
  });
});

test('floats are written with six digits where these are enough', () => {
  const cases: [number, string][] = [
    [9000000, '9e+06'],
    [999999, '999999.0'],
    [0.5, '0.5'],
    [0.0003, '0.0003'],
    [0.00003, '3e-05'],
    [555557.5, '555557.5'],
    [1435774380, '1.43577434e+09'],
    [0.1, '0.1'],
    [1 / 3, '0.333333343'],
    [0, '0.0'],
    [-0, '-0.0'],
    [3, '3.0'],
    [-2.5, '-2.5'],
    [1e-40, '9.99995e-41'],
    [3.4028234663852886e38, '3.40282347e+38'],
    [Number.NaN, 'NaN'],
    [-Infinity, '-Infinity'],
  ];
  for (const [value, text] of cases) expect(floatText(Math.fround(value))).toBe(text);
  expect(doubleText(1 / 3)).toBe('0.33333333333333331');
  expect(doubleText(1e100)).toBe('1e+100');
});

test('numbers that are written are read again', () => {
  fc.assert(
    fc.property(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.float({ noNaN: true, noDefaultInfinity: true }),
      (d, f) => {
        expect(plain(parse(doubleText(d)))).toBe(d);
        expect(Math.fround(plain(parse(floatText(f))) as number)).toBe(f);
      },
    ),
    { numRuns: 2000 },
  );
});

test('a writer breaks lines as RapidJSON does', () => {
  const writer = new JsonWriter();
  writer.startObject();
  writer.key('a');
  writer.startArray();
  for (const n of [1, 2]) writer.raw(String(n));
  writer.endArray();
  writer.key('b');
  writer.startArray();
  writer.endArray();
  writer.endObject();
  expect(writer.text).toBe('{\n    "a": [\n        1,\n        2\n    ],\n    "b": []\n}');
});

test('messages show the beginning of a value', () => {
  expect(describeJson(parse('{"a": [1, 2.0, "x", null, true, NaN]}'))).toBe(
    '{\n    "a": [1, 2.0, "x", null, true, NaN]\n}',
  );
  expect(describeJson(parse(`["${'x'.repeat(100_000)}"]`)).length).toBeLessThan(600);
  expect(describeJson(parse(`[${'1,'.repeat(100_000)}1]`)).length).toBeLessThan(300);
});
