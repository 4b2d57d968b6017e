import { describe, expect, test } from 'vitest';
import { type Row, ratioOf, report, type SweepResult } from './report.ts';
import { asIntegers, largerShapes, textsOf } from './sizes.ts';

describe('larger shapes', () => {
  const of = (shapes: number[][], elements: number): unknown[] => [...largerShapes(shapes, elements)];
  test('first the first axis of all that begin alike, then one more in front', () => {
    expect(of([[2, 3], [2]], 600).slice(0, 3)).toEqual([
      [[200, 3], [200]],
      [
        [100, 2, 3],
        [100, 2],
      ],
      [[100, 2, 3], [2]],
    ]);
  });
  test('axes of one size stay equal', () => {
    expect(of([[2, 2], [2]], 400)).toContainEqual([[20, 20], [20]]);
  });
  test('scalars alone have none', () => {
    expect(of([[], []], 400)).toEqual([]);
  });
});

test('integers stand in for floats that are drawn, and for no others', () => {
  expect(asIntegers([{ kind: 'uniform', shape: [3], low: 0, high: 1 }])).toMatchObject([
    { kind: 'integer', shape: [3], dtype: 'int32' },
  ]);
  expect(asIntegers([{ kind: 'bool', shape: [3] }])).toBe(null);
  expect(asIntegers([])).toBe(null);
});

test('texts are repeated with their places', () => {
  expect(textsOf({ kind: 'text', shape: [2], values: ['a', 'b'] }, [5])).toEqual([
    'a',
    'b',
    'a2',
    'b3',
    'a4',
  ]);
});

describe('the report', () => {
  const times = (eager: number | null, traced: number | null = null) => ({ eager, traced });
  const row = (name: string, ours: Row['ours'], theirs: Row['theirs'], why?: string): Row => ({
    area: 'math',
    name,
    size: 'middling',
    elements: 10000,
    dtype: 'float32',
    gradients: false,
    ours,
    theirs,
    ...(why === undefined ? {} : { why }),
  });
  test('a ratio is the better time of TensorFlow ÷ ours', () => {
    expect(ratioOf(row('a', times(2, 1), times(4, 3)), 'eager')).toBe(1.5);
    expect(ratioOf(row('a', times(2, 1), times(4, 3)), 'traced')).toBe(3);
    expect(ratioOf(row('a', times(2), times(4)), 'traced')).toBe(null);
    expect(ratioOf(row('a', times(2), null), 'eager')).toBe(null);
  });
  test('is sorted by ratio, counts shares, and names what has no counterpart', () => {
    const machine = { cpu: 'c', cores: 2, memoryGB: 4, system: 's', node: 'v', commit: 'x' };
    const result: SweepResult = {
      started: 'today',
      machine,
      tensorflow: '2',
      busyCores: 0,
      seconds: 1,
      rows: [
        row('fast', times(1e-3, 1e-3), times(2e-3, 3e-3)),
        row('slow', times(4e-3), times(2e-3)),
        row('own', times(1), null, 'TensorFlow has no function of this name'),
      ],
      failed: [{ name: 'bad', why: 'no call' }],
    };
    const text = report(result);
    expect(text).toContain('| all | eager | 2 | 50.0 % | 50.0 % |');
    expect(text).toContain('| all | traced | 1 | 100.0 % | 100.0 % |');
    expect(text.indexOf('math: slow')).toBeLessThan(text.indexOf('math: fast'));
    expect(text).toContain('## Without a counterpart that can be called from the declaration: 1');
    expect(text).toContain('- TensorFlow has no function of this name: `own`');
    expect(text).toContain('- `bad`: no call');
  });
});
