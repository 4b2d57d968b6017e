import '@eagre/backend-js';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constant, type DType, type PrintOptions, print, range, Variable } from '@eagre/core';
import { describe, expect, it, vi } from 'vitest';

const golden = JSON.parse(readFileSync(new URL('../../golden/print.json', import.meta.url), 'utf8')) as {
  cases: readonly { args: readonly unknown[]; options: PrintOptions; text: string }[];
};

/** A golden file's argument; what is no tensor stays as it is. */
function real(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(real);
  if (typeof value !== 'object' || value === null) return value;
  if (!('dtype' in value)) return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, real(v)]));
  const { tensor, dtype, shape } = value as {
    tensor?: readonly (number | string)[];
    dtype: DType;
    shape: number[];
  };
  const size = shape.reduce((a, b) => a * b, 1);
  const values = tensor ?? Array.from({ length: size }, (_, i) => i);
  const special: Readonly<Record<string, number>> = {
    nan: Number.NaN,
    inf: Infinity,
    '-inf': -Infinity,
    '-0.0': -0,
  };
  if (dtype === 'string') return constant(values as string[], dtype, { shape });
  const numbers = values.map((v) => (typeof v === 'string' ? (special[v] as number) : v));
  if (dtype === 'bool') return constant(numbers.map(Boolean), dtype, { shape });
  return constant(dtype === 'int64' ? numbers.map(BigInt) : numbers, dtype, { shape });
}

/** What is printed to a stream. */
function text(values: readonly unknown[], options: PrintOptions = {}): string {
  let out = '';
  const outputStream = { write: (more: string) => (out += more) };
  print(...values, { ...options, outputStream });
  return out;
}

describe('tf.print', () => {
  it.each(golden.cases.map((c) => [JSON.stringify(c.text).slice(0, 60), c] as const))(
    'as TensorFlow: %s',
    (_, c) => {
      // Without values, options would be one.
      if (c.args.length > 0) expect(text(c.args.map(real), c.options)).toBe(c.text);
    },
  );

  it('writes values of JavaScript as JavaScript does', () => {
    expect(text([1, true, null, undefined, 5n, Number.NaN, Symbol('s')])).toBe(
      '1 true null undefined 5 NaN Symbol(s)\n',
    );
    const map = new Map<unknown, unknown>([
      ['k', [1]],
      [2, constant([1, 2])],
    ]);
    expect(text([map, new Set(['a']), new Float32Array([1, 0.5]), new (class Plain {})()])).toBe(
      "{'k': [1], 2: [1 2]} {'a'} [1, 0.5] <Plain>\n",
    );
    expect(text([new Variable([1, 2.5]), [new Variable(3)]])).toBe('[1 2.5] [3]\n');
    const round: unknown[] = [1];
    round.push(round);
    expect(text([round])).toBe('[1, [...]]\n');
  });

  it('takes the last value for options only if it can be nothing else', () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    print({ sep: '-' });
    print('a', { sep: '-', loss: 1 });
    print('a', {});
    print('a', 'b', { sep: '-' });
    expect(log.mock.calls.map((c) => c.join('|'))).toEqual([
      "{'sep': '-'}",
      "a {'loss': 1, 'sep': '-'}",
      'a {}',
      'a-b',
    ]);
    log.mockRestore();
    for (const wrong of [{ summarize: -2 }, { summarize: 1.5 }, { sep: 1 }, { end: null }])
      expect(() => print(1, { outputStream: 'stdout', ...wrong })).toThrow(/summarize|sep|end/);
    expect(() => print(1, { outputStream: 'printer' })).toThrow("'stderr', 'file://<path>'");
  });

  it('prints to the console, to standard streams without a line end, and to files', () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    print('problem', constant(1), { outputStream: 'stderr' });
    expect(error.mock.calls).toEqual([['problem 1']]);
    error.mockRestore();
    const out = vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
    print('.', { end: '' });
    const written = out.mock.calls.map(([chunk]) => chunk);
    out.mockRestore();
    expect(written).toEqual(['.']);
    const folder = mkdtempSync(join(tmpdir(), 'eagre-print-'));
    try {
      for (let i = 0; i < 2; i++) print('line', range(i), { outputStream: `file://${folder}/out.txt` });
      expect(readFileSync(`${folder}/out.txt`, 'utf8')).toBe('line []\nline [0]\n');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
