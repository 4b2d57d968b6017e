import simpleChart from 'simple-ascii-chart';

const HEIGHT = 15;

/** Draws numbers as a line in the terminal, averaged down to the width. */
export function plot(
  values: readonly number[],
  options: { xLabel?: string; yLabel?: string; width?: number } = {},
): string {
  const { width = 70, ...labels } = options;
  const size = Math.max(1, Math.ceil(values.length / width));
  const points: [number, number][] = [];
  for (let i = 0; i < values.length; i += size) {
    const part = values.slice(i, i + size);
    points.push([i, part.reduce((a, b) => a + b, 0) / part.length]);
  }
  const ys = points.map(([, y]) => y);
  return simpleChart(points, {
    width,
    height: HEIGHT,
    customXAxisTicks: ticks(0, values.length, 6),
    customYAxisTicks: ticks(Math.min(...ys), Math.max(...ys), 5),
    ...labels,
  });
}

/** Round numbers between two others, about `count` of them. */
function ticks(low: number, high: number, count: number): number[] {
  const rough = (high - low) / count;
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5].find((n) => n * power >= rough) ?? 10) * power;
  const out: number[] = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) out.push(Number((i * step).toPrecision(6)));
  return out;
}
