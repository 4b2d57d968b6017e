// What uPlot is told: scales, axes, lines, and marks for what has no place on them.
import uPlot from 'uplot';
import { duration, short } from './numbers.ts';
import type { Place, PlotData, Range } from './plot.tsx';
import { inlying, spread } from './spread.ts';

export const HEIGHT = 240;

// Lines of so few points show them; a line of one would not be seen at all.
const FEW = 24;
/** Pixels from one to the next. */
const APART = 8;
const SECONDS = [
  1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600,
  7200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800, 2_592_000,
];
const WHOLE = Array.from({ length: 16 }, (_, power) =>
  (power === 0 ? [1, 2, 5] : [1, 2, 2.5, 5]).map((m) => m * 10 ** power),
).flat();

export interface PlotHooks {
  /** What is shown of the horizontal axis; undefined for all. */
  readonly range: () => Range | undefined;
  readonly onRange: (range: Range | undefined) => void;
  readonly onMove: (at: Place | undefined) => void;
  /** What is drawn, as it is now. */
  readonly data: () => PlotData;
}

export function optionsOf(data: PlotData, width: number, hooks: PlotHooks): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  // Asked for at each drawing: the page may turn dark.
  const ink = (): string => style.getPropertyValue('--ink');
  const faint = (): string => style.getPropertyValue('--faint');
  const axis = { stroke: ink, grid: { stroke: faint, width: 1 }, ticks: { stroke: faint, width: 1 } };
  const line = (color: string, thick: number): uPlot.Series => ({
    stroke: color,
    width: thick,
    spanGaps: true,
    points: { show: hasFew, size: 5, fill: color },
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
      x: {
        time: data.axis === 'time',
        range: (u) => {
          // Not there yet while it is being made.
          const [x = []] = u.data ?? [];
          const [from, to] = hooks.range() ?? [x[0] ?? 0, x.at(-1) ?? 1];
          return spread(from, to);
        },
      },
      y: {
        distr: data.log ? 3 : 1,
        range: (u, least, most) => {
          const { min, max } = u.scales['x'] ?? {};
          const [low, high] = data.inliers
            ? inlying(hooks.data(), min ?? -Infinity, max ?? Infinity)
            : [least, most];
          if (data.log) return low > 0 ? uPlot.rangeLog(low, high, 10, false) : [0.1, 1];
          return low === null ? [0, 1] : uPlot.rangeNum(low, high, 0.1, true);
        },
      },
    },
    axes: [
      {
        ...axis,
        // Times have dates below them.
        size: data.axis === 'time' ? 50 : 34,
        ...(data.axis === 'step' ? { incrs: WHOLE, values: (_, splits) => splits.map(short) } : {}),
        ...(data.axis === 'relative' ? { incrs: SECONDS, values: (_, splits) => splits.map(duration) } : {}),
      },
      {
        ...axis,
        size: (_, values) => 18 + 7.5 * Math.max(4, ...(values ?? []).map((text) => text.length)),
        values: (_, splits) => splits.map((v) => (v === null ? '' : short(v))),
      },
    ],
    series: [{}, ...lines],
    cursor: {
      drag: { x: true, y: false, setScale: false },
      // With Shift the plot itself is moved.
      bind: { mousedown: (_u, _target, handler) => (event) => (event.shiftKey ? null : handler(event)) },
    },
    legend: { show: false },
    hooks: {
      setCursor: [
        ({ cursor: { left = -1, top = -1 }, posToVal }) =>
          hooks.onMove(left < 0 ? undefined : { x: posToVal(left, 'x'), y: posToVal(top, 'y') }),
      ],
      setSelect: [
        (u) => {
          const { left, width: selected } = u.select;
          if (selected < 4) return;
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          hooks.onRange([u.posToVal(left, 'x'), u.posToVal(left + selected, 'x')]);
        },
      ],
      draw: [(u) => markOdd(u, hooks.data())],
      ready: [(u) => u.over.addEventListener('dblclick', () => hooks.onRange(undefined))],
    },
  };
}

function hasFew(u: uPlot, series: number, first: number, last: number): boolean {
  const [x] = u.data;
  const values = u.data[series] ?? [];
  const places: number[] = [];
  for (let i = first; i <= last && places.length <= FEW; i++)
    if ((values[i] ?? null) !== null) places.push(x[i] ?? 0);
  const { min = 0, max = 1 } = u.scales.x ?? {};
  const wide = (((places.at(-1) ?? 0) - (places[0] ?? 0)) / (max - min)) * u.over.clientWidth;
  return places.length === 1 || (places.length <= FEW && wide / places.length >= APART);
}

/** Triangles at the foot of the plot where values are NaN or infinite. */
function markOdd(u: uPlot, { series }: PlotData): void {
  const { left, top, width, height } = u.bbox;
  const size = 4 * devicePixelRatio;
  const foot = top + height;
  for (const { odd, color } of series) {
    u.ctx.fillStyle = color;
    for (const at of odd.x) {
      const x = u.valToPos(at, 'x', true);
      if (x < left || x > left + width) continue;
      u.ctx.beginPath();
      u.ctx.moveTo(x, foot - 2 * size);
      u.ctx.lineTo(x + size, foot);
      u.ctx.lineTo(x - size, foot);
      u.ctx.fill();
    }
  }
}

/** One axis for all lines, where a line has no value at another's points; what is smoothed lies on top. */
export function aligned({ series, log }: PlotData): uPlot.AlignedData {
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

const faded = (color: string): string => `${color}55`;
