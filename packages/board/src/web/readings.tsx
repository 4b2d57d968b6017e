// The numbers of a plot: those at the cursor below it, and all of its points in a table.
import { useState } from 'preact/hooks';
import { duration, placeText, short } from './numbers.ts';
import type { Place, PlotData, PlotSeries } from './plot.tsx';

/** So many names are seen at once. */
const FEW_LINES = 5;

/** The lines by name, with what they are at the mouse, or at their ends; of many, the nearest to the mouse come first. */
export function Readout({ data, at }: { readonly data: PlotData; readonly at: Place | undefined }) {
  const lines = data.series.map((series) => ({ series, i: indexAt(series, at?.x) }));
  if (lines.length === 0) return null;
  if (at !== undefined && lines.length > FEW_LINES) {
    const away = ({ series: { y, smoothed }, i }: (typeof lines)[number]): number => {
      const value = (smoothed ?? y)[i] ?? null;
      return value === null ? Infinity : Math.abs(value - at.y);
    };
    lines.sort((a, b) => away(a) - away(b));
  }
  const smooth = data.series.some((s) => s.smoothed !== undefined);
  return (
    <div class="readout">
      <table>
        <thead>
          <tr>
            <th class="where">{at === undefined ? 'last values' : placeText(data.axis, at.x)}</th>
            <th>Value</th>
            {smooth && <th>Smoothed</th>}
            <th>Step</th>
            <th>Relative</th>
          </tr>
        </thead>
        <tbody>
          {lines.map(({ series, i }) => {
            const { name, color, odd, y, smoothed, steps, times, start } = series;
            const time = times[i];
            return (
              <tr key={name}>
                <th scope="row" title={name}>
                  <span class="swatch" style={{ background: color }} />
                  <span class="name">{name}</span>
                  {odd.nan > 0 && <em>{odd.nan} NaN</em>}
                  {odd.infinite > 0 && <em>{odd.infinite} infinite</em>}
                </th>
                <td>
                  <b>{text(y[i])}</b>
                </td>
                {smooth && <td>{text(smoothed?.[i])}</td>}
                <td>{steps[i]}</td>
                <td title={time === undefined ? undefined : placeText('time', time)}>
                  {time === undefined ? '' : duration(time - start)}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

const MANY_ROWS = 100;

/** The points that are drawn, newest first; of long series they are a choice that keeps the peaks. */
export function PointTable({ data }: { readonly data: PlotData }) {
  const [most, setMost] = useState(MANY_ROWS);
  const rows = data.series.flatMap((series) => series.steps.map((step, i) => ({ series, step, i })));
  rows.sort((a, b) => b.step - a.step);
  const total = data.series.reduce((sum, series) => sum + series.total, 0);
  const smooth = data.series.some((s) => s.smoothed !== undefined);
  const rest = rows.length - most;
  return (
    <div class="points">
      <p class="muted">
        {rows.length < total
          ? `${rows.length} of ${total} points; zoom in for more, or take the CSV for all`
          : `${total} points`}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls needs the focus */}
      <section class="table" tabIndex={0} aria-label="points">
        <table>
          <thead>
            <tr>
              {data.series.length > 1 && <th>Run</th>}
              <th>Step</th>
              <th>Value</th>
              {smooth && <th>Smoothed</th>}
              <th>Relative</th>
              <th>Time</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, most).map(({ series: { name, color, y, smoothed, times, start }, step, i }) => {
              const time = times[i] as number;
              return (
                <tr key={`${name} ${i}`}>
                  {data.series.length > 1 && (
                    <td title={name}>
                      <span class="swatch" style={{ background: color }} /> {name}
                    </td>
                  )}
                  <td class="number">{step}</td>
                  <td class="number" title={String(y[i] ?? '')}>
                    {text(y[i])}
                  </td>
                  {smooth && <td class="number">{text(smoothed?.[i])}</td>}
                  <td class="number">{duration(time - start)}</td>
                  <td>{placeText('time', time)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </section>
      {rest > 0 && (
        <button type="button" onClick={() => setMost(most + MANY_ROWS)}>
          Show {Math.min(rest, MANY_ROWS)} more of {rest}
        </button>
      )}
    </div>
  );
}

const text = (value: number | null | undefined): string =>
  value === undefined ? '' : value === null ? 'not finite' : short(value);

/** The point nearest to a place; the last one that is finite where there is no place. */
function indexAt({ x, y }: PlotSeries, at: number | undefined): number {
  if (at === undefined) {
    const last = y.findLastIndex((v) => v !== null);
    return last < 0 ? x.length - 1 : last;
  }
  let low = 0;
  let high = x.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((x[middle] as number) < at) low = middle;
    else high = middle;
  }
  return Math.abs((x[low] ?? 0) - at) <= Math.abs((x[high] ?? 0) - at) ? low : high;
}
