import { type PlotData, short } from './plot.tsx';

const WIDTH = 720;
const HEIGHT = 400;
const LEFT = 64;
const BOTTOM = 36;
const TOP = 40;
const RIGHT = 16;

/** A plot as a drawing by itself, for papers and slides: the smoothed lines where there are some. */
export function plotSvg(title: string, { series, log }: PlotData): string {
  const lines = series.map((s) => ({ ...s, y: s.smoothed ?? s.y }));
  const usable = (v: number | null): v is number => v !== null && (!log || v > 0);
  const place = log ? Math.log10 : (v: number) => v;
  const xs = lines.flatMap((s) => [s.x[0] ?? 0, s.x.at(-1) ?? 0]);
  let [low, high] = [Infinity, -Infinity];
  for (const { y } of lines)
    for (const v of y)
      if (usable(v)) {
        low = Math.min(low, place(v));
        high = Math.max(high, place(v));
      }
  if (!(low <= high)) [low, high] = [0, 1];
  if (low === high) [low, high] = [low - 0.5, high + 0.5];
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const x = (v: number): number => LEFT + ((v - left) / (right - left || 1)) * (WIDTH - LEFT - RIGHT);
  const y = (v: number): number =>
    HEIGHT - BOTTOM - ((place(v) - low) / (high - low)) * (HEIGHT - BOTTOM - TOP);
  const parts = [
    `<text x="${LEFT}" y="18" font-size="14" font-weight="bold">${escaped(title)}</text>`,
    ...ticks(low, high).map((t) => {
      const at = y(log ? 10 ** t : t).toFixed(1);
      return `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at}" y2="${at}" stroke="#ddd"/><text x="${LEFT - 6}" y="${at}" text-anchor="end" dominant-baseline="middle">${short(log ? 10 ** t : t)}</text>`;
    }),
    ...ticks(left, right).map(
      (t) =>
        `<text x="${x(t).toFixed(1)}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${short(t)}</text>`,
    ),
    ...lines.map(({ x: at, y: values, color }) => {
      let path = '';
      let pen = 'M';
      values.forEach((v, i) => {
        if (!usable(v)) return;
        path += `${pen}${x(at[i] as number).toFixed(1)} ${y(v).toFixed(1)}`;
        pen = 'L';
      });
      return `<path d="${path}" fill="none" stroke="${escaped(color)}" stroke-width="1.5"/>`;
    }),
    ...lines.map(
      ({ name, color }, i) =>
        `<text x="${LEFT + (i % 4) * 160}" y="${32 + 12 * Math.floor(i / 4)}" fill="${escaped(color)}">${escaped(name)}</text>`,
    ),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="11">${parts.join('')}</svg>\n`;
}

/** About five round numbers. */
function ticks(low: number, high: number): number[] {
  const rough = (high - low) / 5 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((m) => m * power >= rough) ?? 10) * power;
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => (first + i) * step);
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Gives the person a file. */
export function save(name: string, text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
