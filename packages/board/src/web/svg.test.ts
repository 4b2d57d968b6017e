import { expect, test } from 'vitest';
import type { PlotData } from './plot.tsx';
import { inlying, spread } from './spread.ts';
import { plotSvg } from './svg.ts';

const line = (
  name: string,
  x: readonly number[],
  y: readonly (number | null)[],
): PlotData['series'][number] => ({
  name,
  color: '#0072b2',
  total: x.length,
  x,
  y,
  smoothed: undefined,
  steps: x,
  times: x,
  start: 0,
  odd: { nan: 0, infinite: 0, x: [] },
});
const textsOf = (svg: string): string[] =>
  [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text ?? '');

test('round numbers on both axes, powers of ten on a logarithm', () => {
  const flat = plotSvg('t', {
    axis: 'step',
    log: false,
    inliers: false,
    series: [line('a', [0, 100], [0, 1])],
  });
  expect(textsOf(flat)).toEqual([
    't',
    '0',
    '0.2',
    '0.4',
    '0.6',
    '0.8',
    '1',
    '0',
    '20',
    '40',
    '60',
    '80',
    '100',
    'a',
  ]);
  const steep = plotSvg('t', {
    axis: 'step',
    log: true,
    inliers: false,
    series: [line('a', [0, 1], [0.001, 1000])],
  });
  expect(textsOf(steep)).toEqual(expect.arrayContaining(['0.001', '0.01', '0.1', '1', '10', '100', '1000']));
});

test('a line of one point is a dot, times are what has passed, names are text', () => {
  const svg = plotSvg('<b>&', {
    axis: 'time',
    log: false,
    inliers: false,
    series: [line('"<x>', [1.7e9], [5])],
  });
  expect(svg).toMatch(/<path d="M[\d. ]+h0.01"/);
  expect(textsOf(svg)).toEqual(expect.arrayContaining(['&lt;b&gt;&amp;', '&quot;&lt;x&gt;', '0s']));
  expect(svg).not.toMatch(/NaN|Infinity/);
});

test('nothing finite is an empty plot, many names take rows below', () => {
  const names = Array.from({ length: 50 }, (_, i) =>
    line(`a rather long name of a run ${i}`, [0, 1], [null, null]),
  );
  const svg = plotSvg('t', { axis: 'step', log: true, inliers: false, series: names });
  expect(svg).not.toMatch(/NaN|Infinity/);
  expect(Number(svg.match(/viewBox="0 0 720 (\d+)"/)?.[1])).toBeGreaterThan(600);
});

test('outliers have no say in the axis where they are ignored, at places far from 0 either', () => {
  const y = Array.from({ length: 100 }, (_, i) => (i === 50 ? 1e6 : i % 10));
  const series = [
    line(
      'a',
      y.map((_, i) => i),
      y,
    ),
  ];
  const all = { axis: 'step', log: false, inliers: false, series } as const;
  expect(inlying(all, 0, 99)).toEqual([0, 9]);
  expect(inlying(all, 200, 300)).toEqual([null, null]);
  expect(textsOf(plotSvg('t', all))).toContain('1M');
  expect(textsOf(plotSvg('t', { ...all, inliers: true }))).not.toContain('1M');
});

test('steps of which doubles know no neighbours have a range', () => {
  for (const at of [0, 1, -1, 2 ** 53, 2 ** 53 + 2, -(2 ** 60), 1.7e9]) {
    const [from, to] = spread(at, at);
    expect(from).toBeLessThan(at);
    expect(to).toBeGreaterThan(at);
    expect(
      plotSvg('t', { axis: 'step', log: false, inliers: false, series: [line('a', [at], [1])] }),
    ).not.toMatch(/NaN|Infinity/);
  }
  expect(spread(0, 1e-5)).toEqual([0, 1e-5]);
  expect(spread(2 ** 53, 2 ** 53 + 2)[1]).toBeGreaterThan(2 ** 53 + 1000);
});
