import simpleChart from 'simple-ascii-chart';

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
  return simpleChart(points, { width, height: 15, ...labels });
}
