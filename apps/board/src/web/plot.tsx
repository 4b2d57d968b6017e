import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Axis } from './settings.ts';

export interface PlotSeries {
  readonly name: string;
  readonly color: string;
  /** How many points there are in all. */
  readonly total: number;
  /** Rising. */
  readonly x: readonly number[];
  readonly y: readonly (number | null)[];
  readonly smoothed: readonly (number | null)[] | undefined;
}
export interface PlotData {
  readonly axis: Axis;
  readonly log: boolean;
  readonly series: readonly PlotSeries[];
}

interface Props {
  readonly data: PlotData;
  /** Steps that were selected with the mouse; undefined after a double click. */
  readonly onRange: (range: readonly [number, number] | undefined) => void;
}

const HEIGHT = 240;

/** Lines over a common axis. What is selected with the mouse is shown larger. */
export function Plot({ data, onRange }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const range = useRef(onRange);
  const [at, setAt] = useState<number | undefined>();
  range.current = onRange;
  const shape = JSON.stringify([
    data.axis,
    data.log,
    data.series.map((s) => [s.name, s.color, s.smoothed !== undefined]),
  ]);
  // Made anew when its lines change, not its points.
  useEffect(() => {
    if (place.current === null || data.series.length === 0) return;
    const made = new uPlot(
      optionsOf(data, place.current.clientWidth, (r) => range.current(r), setAt),
      aligned(data),
      place.current,
    );
    plot.current = made;
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined && entry.contentRect.width > 0)
        made.setSize({ width: entry.contentRect.width, height: HEIGHT });
    });
    observer.observe(place.current);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [shape]);
  useEffect(() => plot.current?.setData(aligned(data)), [data]);
  return (
    <>
      <div class="plot" ref={place} style={{ minHeight: `${HEIGHT}px` }} />
      <Readout data={data} at={at} />
    </>
  );
}

/** The lines by name, with their values under the mouse. */
function Readout({ data, at }: { readonly data: PlotData; readonly at: number | undefined }) {
  return (
    <ul class="readout">
      {at !== undefined && <li class="where">{place(data.axis, at)}</li>}
      {data.series.map((series) => {
        const value = at === undefined ? null : valueAt(series, at);
        return (
          <li key={series.name}>
            <span class="swatch" style={{ background: series.color }} /> {series.name}
            {value !== null && <b>{short(value)}</b>}
          </li>
        );
      })}
    </ul>
  );
}

function place(axis: Axis, at: number): string {
  if (axis === 'step') return `step ${Math.round(at)}`;
  return axis === 'time' ? new Date(at * 1000).toLocaleString() : `${short(at)} hours`;
}

/** Of the smoothed line where there is one, at the nearest point. */
function valueAt({ x, y, smoothed }: PlotSeries, at: number): number | null {
  let low = 0;
  let high = x.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((x[middle] as number) < at) low = middle;
    else high = middle;
  }
  const nearest = Math.abs((x[low] ?? 0) - at) <= Math.abs((x[high] ?? 0) - at) ? low : high;
  return (smoothed ?? y)[nearest] ?? null;
}

function optionsOf(
  data: PlotData,
  width: number,
  onRange: (range: readonly [number, number] | undefined) => void,
  onMove: (at: number | undefined) => void,
): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue('--ink');
  const faint = style.getPropertyValue('--faint');
  const axis = { stroke: ink, grid: { stroke: faint, width: 1 }, ticks: { stroke: faint, width: 1 } };
  const line = (color: string, thick: number): uPlot.Series => ({
    stroke: color,
    width: thick,
    spanGaps: true,
    points: { show: false },
  });
  // In the order of `aligned`.
  const lines = [
    ...data.series.map(({ color, smoothed }) =>
      smoothed === undefined ? line(color, 1.5) : line(faded(color), 1),
    ),
    ...data.series.flatMap(({ color, smoothed }) => (smoothed === undefined ? [] : [line(color, 1.5)])),
  ];
  return {
    width,
    height: HEIGHT,
    scales: {
      x: { time: data.axis === 'time' },
      y: data.log ? { distr: 3 } : {},
    },
    axes: [
      { ...axis, values: data.axis === 'step' ? (_, splits) => splits.map(short) : undefined } as uPlot.Axis,
      { ...axis, size: 64, values: (_, splits) => splits.map((v) => (v === null ? '' : short(v))) },
    ],
    series: [{}, ...lines],
    cursor: { drag: { x: true, y: false, setScale: false } },
    legend: { show: false },
    hooks: {
      setCursor: [
        (u) =>
          onMove(
            u.cursor.left === undefined || u.cursor.left < 0 ? undefined : u.posToVal(u.cursor.left, 'x'),
          ),
      ],
      setSelect: [
        (u) => {
          if (u.select.width < 4) return;
          const from = u.posToVal(u.select.left, 'x');
          const to = u.posToVal(u.select.left + u.select.width, 'x');
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          if (data.axis === 'step') onRange([from, to]);
          else u.setScale('x', { min: from, max: to });
        },
      ],
      ready: [(u) => u.over.addEventListener('dblclick', () => onRange(undefined))],
    },
  };
}

/** One axis for all lines, where a line has no value at another's points; what is smoothed lies on top. */
function aligned({ series, log }: PlotData): uPlot.AlignedData {
  // A logarithm has no place for zero and what is below.
  const shown = (v: number | null): number | null => (log && v !== null && v <= 0 ? null : v);
  const table = (x: readonly number[], y: readonly (number | null)[]): uPlot.AlignedData => [
    Float64Array.from(x),
    y.map(shown),
  ];
  const tables = [
    ...series.map(({ x, y }) => table(x, y)),
    ...series.flatMap(({ x, smoothed }) => (smoothed === undefined ? [] : [table(x, smoothed)])),
  ];
  return tables.length === 1 ? (tables[0] as uPlot.AlignedData) : uPlot.join(tables);
}

const faded = (color: string): string =>
  color.startsWith('#') ? `${color}55` : color.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.33)');

/** A number in at most about seven signs. */
export function short(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e15 || (size < 1e-4 && size > 0)) return value.toExponential(2);
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(5))}M`;
  if (size >= 1e4) return `${Number((value / 1e3).toPrecision(5))}k`;
  return String(Number(value.toPrecision(5)));
}
