// Histograms one in front of the other, the newest at the front; heights are densities, on one scale.
import type { HistogramSample } from '../api.ts';
import { short } from './numbers.ts';

type Bucket = HistogramSample['buckets'][number];

const LEFT = 8;
/** Room for steps. */
const RIGHT = 48;
const BOTTOM = 24;
/** The part of the height above the line of the first. */
const ABOVE = 0.35;

/** Buckets that have a place: those of values that are not finite have none. */
export const isDrawn = ([left, right, count]: Bucket): boolean =>
  count > 0 && Number.isFinite(left) && Number.isFinite(right);

/** Where values and lines are on a canvas. */
function placesOf(width: number, height: number, ridges: readonly HistogramSample[]) {
  const drawn = ridges.flatMap(({ buckets }) => buckets.filter(isDrawn));
  let low = Math.min(...drawn.map(([left]) => left));
  let high = Math.max(...drawn.map(([, right]) => right));
  // All values are one: in the middle.
  if (low === high) {
    const margin = Math.abs(low) / 2 || 0.5;
    low -= margin;
    high += margin;
  }
  const span = high - low;
  const [top, bottom] = [height * ABOVE, height - BOTTOM];
  return {
    low,
    span,
    bottom,
    x: (v: number): number => LEFT + ((v - low) / span) * (width - LEFT - RIGHT),
    base: (i: number): number =>
      ridges.length === 1 ? bottom : top + ((bottom - top) * i) / (ridges.length - 1),
  };
}

/** A histogram, and a value in it where one is pointed at. */
export interface Pointed {
  readonly ridge: number;
  readonly value: number | undefined;
}

/** What is under the mouse: the histogram whose line is nearest below it. */
export function pointedAt(event: PointerEvent, ridges: readonly HistogramSample[]): Pointed | undefined {
  if (ridges.length === 0) return undefined;
  const box = (event.currentTarget as HTMLCanvasElement).getBoundingClientRect();
  const { low, span, base } = placesOf(box.width, box.height, ridges);
  const y = event.clientY - box.top;
  const below = ridges.findIndex((_, i) => base(i) >= y);
  const value = low + ((event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT)) * span;
  return { ridge: below < 0 ? ridges.length - 1 : below, value };
}

/** @param marked the one that stands out. */
export function drawRidges(
  canvas: HTMLCanvasElement,
  ridges: readonly HistogramSample[],
  color: string,
  marked: number | undefined,
): void {
  const scale = devicePixelRatio;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  canvas.width = width * scale;
  canvas.height = height * scale;
  const pen = canvas.getContext('2d');
  if (pen === null || ridges.length === 0) return;
  pen.scale(scale, scale);
  pen.font = '11px system-ui, sans-serif';
  const style = getComputedStyle(document.documentElement);
  const [ink, paper] = [style.getPropertyValue('--ink'), style.getPropertyValue('--paper')];
  const { low, span, bottom, x, base } = placesOf(width, height, ridges);
  const density = ([left, right, count]: Bucket): number => count / Math.max(right - left, span / 200);
  const most = Math.max(...ridges.flatMap(({ buckets }) => buckets.filter(isDrawn).map(density)));
  const every = Math.ceil(ridges.length / 5);
  ridges.forEach(({ step, buckets }, i) => {
    const line = base(i);
    pen.beginPath();
    pen.moveTo(x(low), line);
    const placed = buckets.filter(([left, right]) => Number.isFinite(left) && Number.isFinite(right));
    // On the line up to where the values begin, and from where they end.
    pen.lineTo(x(placed[0]?.[0] ?? low), line);
    for (const bucket of placed) {
      const [left, right, count] = bucket;
      const tall = line - (density(bucket) / most) * height * ABOVE * 0.9;
      const middle = x((left + right) / 2);
      // One value is a spike, not a line from where the last one was.
      const spike = left === right && count > 0;
      if (spike) pen.lineTo(middle - 1.5, line);
      pen.lineTo(middle, count > 0 ? tall : line);
      if (spike) pen.lineTo(middle + 1.5, line);
    }
    pen.lineTo(x(placed.at(-1)?.[1] ?? low), line);
    pen.lineTo(x(low + span), line);
    pen.fillStyle = paper;
    pen.globalAlpha = 0.7;
    pen.fill();
    pen.fillStyle = color;
    pen.globalAlpha = i === marked ? 0.9 : 0.15 + (0.45 * (i + 1)) / ridges.length;
    pen.fill();
    pen.globalAlpha = 1;
    pen.strokeStyle = i === marked ? ink : color;
    pen.lineWidth = 1;
    pen.stroke();
    const last = i === ridges.length - 1;
    // A label that would touch the last one is left out.
    if (!last && (i % every !== 0 || ridges.length - 1 - i < every / 2)) return;
    pen.fillStyle = ink;
    pen.textAlign = 'left';
    pen.fillText(short(step), width - RIGHT + 8, line + 3);
  });
  pen.fillStyle = ink;
  const marks = width < 420 ? 2 : 4;
  for (let i = 0; i <= marks; i++) {
    const value = low + (span * i) / marks;
    pen.textAlign = i === 0 ? 'left' : 'center';
    pen.fillText(short(Number(value.toPrecision(3))), x(value), bottom + 18);
  }
}
