import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useDark } from './media.ts';
import { placeText, short } from './numbers.ts';
import { aligned, HEIGHT, optionsOf } from './plot-options.ts';
import type { Axis } from './settings.ts';

/** In units of the axes. */
export interface Place {
  readonly x: number;
  readonly y: number;
}
export type Range = readonly [from: number, to: number];

export interface PlotSeries {
  readonly name: string;
  readonly color: string;
  /** How many points there are in all. */
  readonly total: number;
  /** Rising. */
  readonly x: readonly number[];
  readonly y: readonly (number | null)[];
  readonly smoothed: readonly (number | null)[] | undefined;
  /** What is not finite, and where some of it is. */
  readonly odd: { readonly nan: number; readonly infinite: number; readonly x: readonly number[] };
}
export interface PlotData {
  readonly axis: Axis;
  readonly log: boolean;
  readonly series: readonly PlotSeries[];
}

interface Props {
  readonly title: string;
  readonly data: PlotData;
  /** What is shown of the horizontal axis; undefined for all. */
  readonly range: Range | undefined;
  readonly onRange: (range: Range | undefined) => void;
}

/**
 * Lines over a common axis. What is selected with the mouse is shown larger; with Shift it is moved. By keys: arrows move the cursor, with
 * Shift the plot, `+`, `-` and `0` change the size.
 */
export function Plot({ title, data, range, onRange }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const now = useRef({ data, range, onRange });
  const [at, setAt] = useState<Place | undefined>();
  now.current = { data, range, onRange };
  const empty = data.series.length === 0;
  const shape = JSON.stringify([
    data.axis,
    data.log,
    data.series.map((s) => [s.name, s.color, s.smoothed !== undefined]),
  ]);
  // Made anew when its lines change, not its points.
  useEffect(() => {
    const element = place.current;
    if (element === null || empty) return;
    const options = optionsOf(data, element.clientWidth, {
      range: () => now.current.range,
      onRange: (next) => now.current.onRange(next),
      onMove: setAt,
      data: () => now.current.data,
    });
    const made = new uPlot(options, aligned(data), element);
    plot.current = made;
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined && entry.contentRect.width > 0)
        made.setSize({ width: entry.contentRect.width, height: HEIGHT });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [shape]);
  useEffect(() => plot.current?.setData(aligned(data)), [data, range]);
  const dark = useDark();
  // The colours of axes are those of the page.
  useEffect(() => plot.current?.redraw(false, true), [dark]);

  const hint =
    empty || data.series.some(isDrawn(data.log))
      ? undefined
      : data.log
        ? 'nothing above zero'
        : 'nothing finite';
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a plot is no fieldset */}
      <div
        class="plot"
        ref={place}
        style={{ minHeight: `${HEIGHT}px` }}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys need the focus
        tabIndex={0}
        role="group"
        aria-label={`${title}: arrows move the cursor, with Shift the plot; +, - and 0 zoom`}
        onKeyDown={(event) => {
          if (plot.current !== undefined && byKey(plot.current, event, range, onRange))
            event.preventDefault();
        }}
        onPointerDown={(event) => {
          if (event.shiftKey && plot.current !== undefined) drag(plot.current, event, onRange);
        }}
        onPointerMove={(event) => {
          if (event.pointerType === 'touch' && plot.current !== undefined) follow(plot.current, event);
        }}
        onBlur={() => plot.current?.setCursor({ left: -10, top: -10 })}
      >
        {hint !== undefined && <p class="nothing">{hint}</p>}
      </div>
      <Readout data={data} at={at} />
    </>
  );
}

const isDrawn =
  (log: boolean) =>
  ({ y }: PlotSeries): boolean =>
    y.some((v) => v !== null && (!log || v > 0));

/** Whether a key meant something. */
function byKey(
  u: uPlot,
  event: KeyboardEvent,
  range: Range | undefined,
  onRange: (range: Range | undefined) => void,
): boolean {
  const { min = 0, max = 1 } = u.scales.x ?? {};
  const span = max - min;
  const side = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : 0;
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  if (side !== 0 && event.shiftKey) onRange([min + side * 0.25 * span, max + side * 0.25 * span]);
  else if (side !== 0) moveCursor(u, side);
  else if (event.key === '+' || event.key === '=') onRange(zoomed([min, max], 0.5, cursorAt(u)));
  else if (event.key === '-') onRange(zoomed([min, max], 2, cursorAt(u)));
  else if (event.key === '0' && range !== undefined) onRange(undefined);
  else return event.key === '0';
  return true;
}

/** The same range larger or smaller, around a place or its middle. */
export function zoomed([from, to]: Range, factor: number, around: number = (from + to) / 2): Range {
  return [around - (around - from) * factor, around + (to - around) * factor];
}

function cursorAt(u: uPlot): number | undefined {
  const { left = -1 } = u.cursor;
  return left < 0 ? undefined : u.posToVal(left, 'x');
}

/** To the next point of any line, at least a pixel away. */
function moveCursor(u: uPlot, side: -1 | 1): void {
  const [x = []] = u.data;
  const { left = -1 } = u.cursor;
  const top = u.over.clientHeight / 2;
  const width = u.over.clientWidth;
  const places = Array.from(x, (v) => u.valToPos(v, 'x')).filter((p) => p >= 0 && p <= width);
  const next =
    left < 0
      ? places.at(side === 1 ? 0 : -1)
      : side === 1
        ? places.find((p) => p >= left + 1)
        : places.findLast((p) => p <= left - 1);
  if (next !== undefined) u.setCursor({ left: next, top });
}

/** Moves the plot with the pointer until it is let go. */
function drag(u: uPlot, start: PointerEvent, onRange: (range: Range) => void): void {
  const { min = 0, max = 1 } = u.scales.x ?? {};
  const each = (max - min) / u.over.clientWidth;
  const moved = (event: PointerEvent): void => {
    const shift = (start.clientX - event.clientX) * each;
    onRange([min + shift, max + shift]);
  };
  addEventListener('pointermove', moved);
  addEventListener('pointerup', () => removeEventListener('pointermove', moved), { once: true });
}

function follow(u: uPlot, event: PointerEvent): void {
  const box = u.over.getBoundingClientRect();
  u.setCursor({ left: event.clientX - box.left, top: event.clientY - box.top });
}

/** So many names are seen at once. */
const FEW_LINES = 5;

/** The lines by name, with their values under the mouse, or their last ones; of many, the nearest to the mouse come first. */
function Readout({ data, at }: { readonly data: PlotData; readonly at: Place | undefined }) {
  const lines = data.series.map((series) => ({ series, value: valueAt(series, at?.x) }));
  if (lines.length === 0) return null;
  if (at !== undefined && lines.length > FEW_LINES) {
    const away = (value: number | null): number => (value === null ? Infinity : Math.abs(value - at.y));
    lines.sort((a, b) => away(a.value) - away(b.value));
  }
  return (
    <ul class="readout">
      <li class="where">{at === undefined ? 'last values' : placeText(data.axis, at.x)}</li>
      {lines.map(({ series: { name, color, odd }, value }) => (
        <li key={name}>
          <span class="swatch" style={{ background: color }} />
          <span class="name" title={name}>
            {name}
          </span>
          {value !== null && <b>{short(value)}</b>}
          {odd.nan > 0 && <em>{odd.nan} NaN</em>}
          {odd.infinite > 0 && <em>{odd.infinite} infinite</em>}
        </li>
      ))}
    </ul>
  );
}

/** Of the smoothed line where there is one, at the nearest point. */
function valueAt({ x, y, smoothed }: PlotSeries, at: number | undefined): number | null {
  const values = smoothed ?? y;
  if (at === undefined) return values.findLast((v) => v !== null) ?? null;
  let low = 0;
  let high = x.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((x[middle] as number) < at) low = middle;
    else high = middle;
  }
  const nearest = Math.abs((x[low] ?? 0) - at) <= Math.abs((x[high] ?? 0) - at) ? low : high;
  return values[nearest] ?? null;
}
