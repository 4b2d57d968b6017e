import { expect, test } from 'vitest';
import type { PlotData } from './plot.tsx';
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
  odd: { nan: 0, infinite: 0, x: [] },
});
const textsOf = (svg: string): string[] =>
  [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text ?? '');

test('round numbers on both axes, powers of ten on a logarithm', () => {
  const flat = plotSvg('t', { axis: 'step', log: false, series: [line('a', [0, 100], [0, 1])] });
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
  const steep = plotSvg('t', { axis: 'step', log: true, series: [line('a', [0, 1], [0.001, 1000])] });
  expect(textsOf(steep)).toEqual(expect.arrayContaining(['0.001', '0.01', '0.1', '1', '10', '100', '1000']));
});

test('a line of one point is a dot, times are what has passed, names are text', () => {
  const svg = plotSvg('<b>&', { axis: 'time', log: false, series: [line('"<x>', [1.7e9], [5])] });
  expect(svg).toMatch(/<path d="M[\d. ]+h0.01"/);
  expect(textsOf(svg)).toEqual(expect.arrayContaining(['&lt;b&gt;&amp;', '&quot;&lt;x&gt;', '0s']));
  expect(svg).not.toMatch(/NaN|Infinity/);
});

test('nothing finite is an empty plot, many names take rows below', () => {
  const names = Array.from({ length: 50 }, (_, i) =>
    line(`a rather long name of a run ${i}`, [0, 1], [null, null]),
  );
  const svg = plotSvg('t', { axis: 'step', log: true, series: names });
  expect(svg).not.toMatch(/NaN|Infinity/);
  expect(Number(svg.match(/viewBox="0 0 720 (\d+)"/)?.[1])).toBeGreaterThan(600);
});
