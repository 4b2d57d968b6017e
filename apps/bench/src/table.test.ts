import { expect, test } from 'vitest';
import { chart } from './chart.ts';
import {
  fasterThan,
  formatSummary,
  formatValue,
  otherResults,
  type RunResult,
  rateOf,
  ratioTo,
  type Series,
  seriesOf,
  verdicts,
  type WorkloadResult,
} from './results.ts';
import { report, table } from './table.ts';

function series(library: string, threads: number, rounds: number[]): Series {
  const median = rounds[1]!;
  const summary = { median, low: rounds[0]!, high: rounds[2]!, runs: 30 };
  return { library, threads, summary, rounds, variant: '', check: null };
}

const gemm: WorkloadResult = {
  name: 'gemm',
  title: 'a product',
  unit: 's',
  threaded: true,
  series: [
    series('eagre', 1, [0.001, 0.001, 0.002]),
    series('eagre', 2, [0.0005, 0.0006, 0.0007]),
    series('torch', 1, [0.0018, 0.0018, 0.003]),
    series('torch', 2, [0.002, 0.0025, 0.003]),
  ],
  notes: [],
  failed: false,
  flops: 2e8,
  limits: { 1: [240e9, 250e9, 260e9], 2: [500e9] },
  targets: [{ kind: 'ratio', peer: 'torch', atLeast: 3.5 }],
};

test('the better number of threads of each library is compared', () => {
  expect(seriesOf(gemm, 'eagre', 'best')?.threads).toBe(2);
  expect(seriesOf(gemm, 'torch', 'best')?.threads).toBe(1);
  expect(ratioTo(gemm, 'torch', 'best')?.value).toBeCloseTo(3);
  expect(ratioTo(gemm, 'torch', 1)?.low).toBeCloseTo(1.5);
  expect(ratioTo(gemm, 'tensorflow', 1)).toBeUndefined();
});

test('another build is compared turn by turn, so that a machine that slows down changes nothing', () => {
  const slowing = {
    ...gemm,
    series: [series('eagre', 2, [0.001, 0.002, 0.004]), series('before', 2, [0.0011, 0.0022, 0.003])],
  };
  expect(ratioTo(slowing, 'before', 2)?.value).toBeCloseTo(1.1);
});

test('rates and the part of the limit', () => {
  const one = rateOf(gemm, seriesOf(gemm, 'eagre', 1)!)!;
  expect(one.unit).toBe('GFLOP/s');
  expect(one.rate).toBeCloseTo(200e9);
  expect(one.fraction).toBeCloseTo(0.8);
  const { limits: _, ...rest } = gemm;
  expect(rateOf({ ...rest, limits: {} }, gemm.series[0]!)?.fraction).toBeUndefined();
});

test('a peer that does more than the machine can is found, Eagre never', () => {
  const found = (most: number): unknown => fasterThan({ 1: [most, most / 2] }, gemm.series, 2e8);
  expect(found(110e9)).toEqual([]);
  expect(found(100e9)).toEqual([{ library: 'torch', threads: 1, rate: expect.closeTo(2e8 / 0.0018, -9) }]);
});

test('a peer whose result stands alone is wrong; otherwise the results differ', () => {
  const of = (checks: readonly (readonly [string, number | null])[]): string[][] => {
    const all = checks.map(([library, check]) => ({ ...series(library, 1, [1, 1, 1]), check }));
    const { wrong, differing } = otherResults(all);
    return [wrong, differing].map((some) => some.map((s) => s.library));
  };
  expect(of([])).toEqual([[], []]);
  expect(
    of([
      ['eagre', 1],
      ['torch', 1.0005],
      ['jax', null],
    ]),
  ).toEqual([[], []]);
  expect(
    of([
      ['eagre', 1],
      ['torch', 1],
      ['jax', 1],
      ['torch-compile', 0.6],
    ]),
  ).toEqual([['torch-compile'], []]);
  expect(
    of([
      ['eagre', 1],
      ['eagre', 1],
      ['torch', 1],
      ['torch-compile', 0.6],
    ]),
  ).toEqual([[], ['torch-compile']]);
  expect(
    of([
      ['eagre', 1],
      ['torch', 2],
      ['jax', 2],
      ['tf', 2],
    ]),
  ).toEqual([[], ['torch', 'jax', 'tf']]);
  expect(
    of([
      ['eagre', 1],
      ['eagre', 2],
      ['torch', 1],
      ['jax', 1],
      ['tf', 1],
    ]),
  ).toEqual([[], ['eagre']]);
  expect(
    of([
      ['eagre', 1],
      ['torch', 1],
      ['jax', 1],
      ['tf', Number.NaN],
    ]),
  ).toEqual([['tf'], []]);
});

test('verdicts', () => {
  expect(verdicts(gemm)).toMatchObject([{ met: false, threads: 'best', target: '≥ 3.50× torch' }]);
  const peak: WorkloadResult = {
    ...gemm,
    targets: [{ kind: 'limit', fractions: { 1: 0.75, 2: 0.8, 4: 0.8 } }],
  };
  expect(verdicts(peak).map((v) => [v.threads, v.met])).toEqual([
    [1, true],
    [2, false],
  ]);
  const import_: WorkloadResult = { ...gemm, threaded: false, targets: [{ kind: 'atMost', value: 0.1 }] };
  expect(verdicts(import_)).toMatchObject([{ met: true, target: '≤ 100 ms' }]);
  const scaling: WorkloadResult = { ...gemm, targets: [{ kind: 'scaling', atLeast: 0.95 }] };
  expect(verdicts(scaling)).toMatchObject([{ met: true, threads: 2 }]);
  expect(verdicts({ ...scaling, series: scaling.series.slice(0, 1) })).toEqual([]);
  expect(verdicts({ ...gemm, series: [] })).toEqual([]);
  const other: WorkloadResult = { ...gemm, targets: [{ kind: 'against', workload: 'slow', atLeast: 2 }] };
  const slow: WorkloadResult = {
    ...gemm,
    name: 'slow',
    series: gemm.series.map((s) => ({ ...s, summary: { ...s.summary, median: 3 * s.summary.median } })),
  };
  expect(verdicts(other, [other, slow])).toMatchObject([{ met: true, target: '≥ 2.00× slow' }]);
  expect(verdicts(other, [other])).toEqual([]);
});

test('numbers have three digits and a fitting unit', () => {
  expect(formatValue(123.4e-9, 's')).toBe('123 ns');
  expect(formatValue(0.00123, 's')).toBe('1.23 ms');
  expect(formatValue(156.7, 'MB')).toBe('157 MB');
  expect(formatValue(1.5, '×')).toBe('1.50×');
  const summary = { median: 0.00123, low: 0.0012, high: 0.01, runs: 9 };
  expect(formatSummary(summary, 's')).toBe('1.23 ms (1.20–10.0)');
  expect(formatSummary({ ...summary, runs: 1 }, 's')).toBe('1.23 ms');
});

test('tables line up', () => {
  expect(table(['a', 'long'], [['wide cell', 'x']])).toBe(
    '| a         | long |\n|-----------|------|\n| wide cell | x    |',
  );
});

const run: RunResult = {
  started: '2026-01-01T00:00:00.000Z',
  machine: { cpu: 'CPU', cores: 2, memoryGB: 8, system: 'Linux', node: 'v20', commit: 'abc' },
  libraries: [
    { id: 'eagre', title: 'Eagre', version: '1' },
    { id: 'torch', title: 'PyTorch', version: '2' },
  ],
  absent: [{ title: 'TensorFlow', why: 'not installed' }],
  threads: [1, 2],
  rounds: 3,
  seconds: 1,
  busyCores: 0,
  machineLimits: [{ kind: 'fma', threads: 1, best: 264e9, median: 260e9, how: 'AVX-512' }],
  notes: [],
  workloads: [gemm],
};

test('a report names what is absent and what is missed', () => {
  const text = report(run);
  expect(text).toContain('absent: TensorFlow (not installed)');
  expect(text).toContain('264 GFLOP/s');
  expect(text).toMatch(/\| gemm +\| 1 +\| 1\.00 ms \(1\.00–2\.00\) \| 200 GFLOP\/s \(80 %\) +\| 1\.80 ms/);
  expect(text).toMatch(/\| best .*\*\*3\.00×\*\* .*≥ 3\.50× torch +\|/);
  expect(text).toContain('0 of 1 met');
  expect(text).not.toContain('noisy');
  expect(report({ ...run, busyCores: 1.2 })).toContain('noisy');
});

test('a probe is held against the disk', () => {
  const { flops: _, ...rest } = gemm;
  const restore: WorkloadResult = {
    ...rest,
    name: 'restore',
    threaded: false,
    series: [series('eagre', 1, [0.2, 0.25, 0.3])],
    bytes: 5e8,
    limits: { 1: [2.4e9, 2.5e9, 3e9] },
    limitKind: 'disk',
    targets: [{ kind: 'limit', fractions: { 1: 0.9 } }],
  };
  expect(verdicts(restore)).toMatchObject([
    { met: false, target: '≥ 90 % of the disk', text: "80 % of the disk's own rate" },
  ]);
  expect(report({ ...run, workloads: [restore] })).toMatch(
    /\| restore +\| +\| 250 ms \(200–300\) \| 2\.00 GB\/s \(80 %\) +\| — +\| ≥ 90 % of the disk/,
  );
});

test('a chart has one bar for each ratio', () => {
  const svg = chart(run);
  expect(svg.match(/<rect x="[\d.]+" y="64"/g)).toHaveLength(1);
  expect(svg).toContain('3.00×');
  expect(svg).toMatch(/^<svg [\s\S]*<\/svg>\n$/);
});
