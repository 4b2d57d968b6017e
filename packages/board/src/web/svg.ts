import { duration, placeText, short } from './numbers.ts';
import type { PlotData } from './plot.tsx';
import { inlying, spread } from './spread.ts';

const WIDTH = 720;
const PLOT = 400;
const LEFT = 64;
const BOTTOM = 36;
const TOP = 30;
const RIGHT = 16;
// Of sans-serif at 11 px, about.
const SIGN = 6.2;
const LINE = 15;

/** A plot as a drawing by itself, for papers and slides: the smoothed lines where there are some, and their names below. */
export function plotSvg(title: string, data: PlotData): string {
  const { series, log, axis } = data;
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
  if (data.inliers) {
    const [least, most] = inlying(data, -Infinity, Infinity);
    if (least !== null) [low, high] = [place(least), place(most)];
  }
  if (!(low <= high)) [low, high] = [0, 1];
  const margin = 0.04 * (high - low) || 0.5;
  [low, high] = [low - margin, high + margin];
  // Moments in time are told in full once, and then as what has passed.
  const since = axis === 'time' ? Math.min(...xs) : 0;
  let [left, right] = [Math.min(...xs) - since, Math.max(...xs) - since];
  [left, right] = spread(left, right);
  const x = (v: number): number => LEFT + ((v - since - left) / (right - left)) * (WIDTH - LEFT - RIGHT);
  const y = (v: number): number => PLOT - BOTTOM - ((place(v) - low) / (high - low)) * (PLOT - BOTTOM - TOP);
  const names = namesBelow(lines);
  const height = PLOT + names.height;
  const parts = [
    '<rect width="100%" height="100%" fill="#fff"/>',
    ...(data.inliers
      ? [
          `<clipPath id="area"><rect x="${LEFT}" y="${TOP}" width="${WIDTH - LEFT - RIGHT}" height="${PLOT - BOTTOM - TOP}"/></clipPath>`,
        ]
      : []),
    `<text x="${LEFT}" y="18" font-size="14" font-weight="bold">${escaped(title)}</text>`,
    ...(log ? powers(low, high) : ticks(low, high)).map((t) => {
      const at = y(t).toFixed(1);
      return `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at}" y2="${at}" stroke="#ddd"/><text x="${LEFT - 6}" y="${at}" text-anchor="end" dominant-baseline="middle">${short(t)}</text>`;
    }),
    ...ticks(left, right).map(
      (t) =>
        `<text x="${x(t + since).toFixed(1)}" y="${PLOT - BOTTOM + 18}" text-anchor="middle">${axis === 'step' ? short(t) : duration(t)}</text>`,
    ),
    ...lines.map(({ x: at, y: values, color }) => {
      let path = '';
      let pen = 'M';
      let count = 0;
      values.forEach((v, i) => {
        if (!usable(v)) return;
        path += `${pen}${x(at[i] as number).toFixed(1)} ${y(v).toFixed(1)}`;
        pen = 'L';
        count++;
      });
      // A line of one point would not be seen.
      if (count === 1) path += 'h0.01';
      return `<path d="${path}" fill="none" stroke="${escaped(color)}" stroke-width="${count === 1 ? 5 : 1.5}" stroke-linecap="round"${data.inliers ? ' clip-path="url(#area)"' : ''}/>`;
    }),
    ...names.parts,
  ];
  if (axis === 'time')
    parts.push(
      `<text x="${WIDTH - RIGHT}" y="18" text-anchor="end">from ${escaped(placeText('time', since))}</text>`,
    );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="11">${parts.join('')}</svg>\n`;
}

/** Names of lines one after another, as many to a row as have room. */
function namesBelow(lines: readonly { readonly name: string; readonly color: string }[]): {
  readonly parts: readonly string[];
  readonly height: number;
} {
  let [at, row] = [LEFT, 0];
  const parts = lines.map(({ name, color }) => {
    const wide = 18 + name.length * SIGN;
    if (at > LEFT && at + wide > WIDTH - RIGHT) [at, row] = [LEFT, row + 1];
    const y = PLOT + row * LINE;
    const part = `<circle cx="${at + 4}" cy="${y}" r="4" fill="${escaped(color)}"/><text x="${at + 12}" y="${y}" dominant-baseline="central">${escaped(name)}</text>`;
    at += wide + 10;
    return part;
  });
  return { parts, height: lines.length === 0 ? 0 : (row + 1) * LINE };
}

/** About six round numbers. */
function ticks(low: number, high: number): number[] {
  const rough = (high - low) / 6 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((m) => m * power >= rough) ?? 10) * power;
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => (first + i) * step);
}

/** Round numbers between two powers of ten: powers alone, or also others between them where there are few. */
function powers(low: number, high: number): number[] {
  const every = Math.max(1, Math.ceil((high - low) / 8));
  const digits = high - low > 3 ? [1] : high - low > 1 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9];
  const first = Math.floor(low / every) * every;
  const found: number[] = [];
  for (let power = first; power <= high; power += every)
    for (const digit of digits) {
      const at = power + Math.log10(digit);
      if (at >= low && at <= high) found.push(digit * 10 ** power);
    }
  return found;
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
