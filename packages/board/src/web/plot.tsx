// Types in a circle: plots draw what their options say, which are made of the data of a plot.
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useDark } from './media.ts';
import { aligned, HEIGHT, optionsOf } from './plot-options.ts';
import { Readout } from './readings.tsx';
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
  /** Of the points, in their order. */
  readonly steps: readonly number[];
  /** Seconds since 1970. */
  readonly times: readonly number[];
  /** When the series begins. */
  readonly start: number;
  /** What is not finite, and where some of it is. */
  readonly odd: { readonly nan: number; readonly infinite: number; readonly x: readonly number[] };
}
export interface PlotData {
  readonly axis: Axis;
  readonly log: boolean;
  /** The vertical axis leaves out the most extreme values. */
  readonly inliers: boolean;
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
    data.inliers,
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
