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

const COLOURS = ['#d55e00', '#0072b2', '#009e73', '#cc79a7'];

/** Lists of numbers as lines in a picture, SVG. */
export function chart(
  lines: Readonly<Record<string, readonly number[]>>,
  { xLabel, yLabel }: { readonly xLabel: string; readonly yLabel: string },
): string {
  const [width, height, margin] = [640, 400, 50];
  const all = Object.values(lines).flat();
  const [low, high, last] = [
    Math.min(...all),
    Math.max(...all),
    Math.max(...Object.values(lines).map((l) => l.length)) - 1,
  ];
  const x = (i: number): number => margin + (i / last) * (width - 2 * margin);
  const y = (v: number): number => height - margin - ((v - low) / (high - low)) * (height - 2 * margin);
  const text = (at: readonly [number, number], what: string, more = ''): string =>
    `<text x="${at[0].toFixed(1)}" y="${at[1].toFixed(1)}" ${more}>${what}</text>`;
  const drawn = Object.entries(lines).map(([name, values], i) => {
    const colour = COLOURS[i % COLOURS.length];
    const points = values.map((v, at) => `${x(at).toFixed(1)},${y(v).toFixed(1)}`).join(' ');
    const legend = text([width - margin, margin + 18 * i], name, `fill="${colour}" text-anchor="end"`);
    return `<polyline points="${points}" fill="none" stroke="${colour}" stroke-width="1.5"/>${legend}`;
  });
  const marks = [
    ...ticks(low, high, 5).map((v) => text([margin - 6, y(v) + 4], String(v), 'text-anchor="end"')),
    ...ticks(0, last, 6).map((i) => text([x(i), height - margin + 18], String(i), 'text-anchor="middle"')),
    text([width / 2, height - 10], xLabel, 'text-anchor="middle"'),
    text([12, margin - 16], yLabel),
  ];
  const axes = `<path d="M${margin},${margin}V${height - margin}H${width - margin}" fill="none" stroke="#888"/>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/>${axes}${marks.join('')}${drawn.join('')}</svg>\n`;
}
