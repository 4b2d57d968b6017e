import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { RunSummary, ScalarsAnswer } from '../api.ts';
import { About } from './about.tsx';
import type { ViewProps } from './app.tsx';
import { colorOf, shortNames } from './colors.ts';
import { Plot, type PlotData, type Range, zoomed } from './plot.tsx';
import { PointTable } from './readings.tsx';
import { address, ask, useChanges } from './server.ts';
import type { Settings } from './settings.ts';
import { plotSvg, save } from './svg.ts';
import { Groups } from './tags.tsx';

export function ScalarView({ runs, names, settings }: ViewProps) {
  return (
    <Groups runs={runs} kind="scalars" filter={settings.filter}>
      {(tag, having) => <ScalarCard key={tag} tag={tag} runs={having} names={names} settings={settings} />}
    </Groups>
  );
}

interface CardProps {
  readonly tag: string;
  readonly runs: readonly RunSummary[];
  readonly names: readonly string[];
  readonly settings: Settings;
}

function ScalarCard({ tag, runs, names, settings }: CardProps) {
  const card = useRef<HTMLElement>(null);
  const visible = useVisible(card);
  const [wide, setWide] = useState(false);
  const [table, setTable] = useState(false);
  const [zoom, setZoom] = useState<{ readonly axis: string; readonly range: Range } | undefined>();
  // A range of steps says nothing about times.
  const range = zoom?.axis === settings.axis ? zoom.range : undefined;
  const setRange = (next: Range | undefined): void => setZoom(next && { axis: settings.axis, range: next });
  const list = runs.map((run) => run.name);
  const answer = useScalars(visible ? list : [], tag, settings, range, wide ? 4000 : 1500);
  const data = useMemo(
    () => columnsOf(answer, list, names, settings),
    [answer, list.join('\n'), names, settings],
  );
  const shown = range ?? extent(data);
  return (
    <article class={wide ? 'card wide' : 'card'} ref={card}>
      <h2 title={tag}>{tag}</h2>
      <About runs={runs} tag={tag} />
      <div class="tools">
        <button type="button" aria-pressed={wide} onClick={() => setWide(!wide)}>
          Wide
        </button>
        <button
          type="button"
          disabled={data.series.length === 0}
          onClick={() => save(`${tag.replaceAll(/[^\w.-]+/g, '_')}.svg`, plotSvg(tag, data))}
        >
          SVG
        </button>
        <Csv runs={list} names={names} tag={tag} />
        <button type="button" aria-pressed={table} onClick={() => setTable(!table)}>
          Table
        </button>
        <span class="zoom">
          {range !== undefined && (
            <>
              <button type="button" aria-label="earlier" onClick={() => setRange(moved(shown, -0.5))}>
                ‹
              </button>
              <button type="button" aria-label="later" onClick={() => setRange(moved(shown, 0.5))}>
                ›
              </button>
              <button type="button" aria-label="zoom out" onClick={() => setRange(zoomed(shown, 2))}>
                −
              </button>
            </>
          )}
          <button type="button" aria-label="zoom in" onClick={() => setRange(zoomed(shown, 0.5))}>
            +
          </button>
          {range !== undefined && (
            <button type="button" onClick={() => setRange(undefined)}>
              All
            </button>
          )}
        </span>
      </div>
      <Plot title={tag} data={data} range={range} onRange={setRange} />
      {table && <PointTable data={data} />}
    </article>
  );
}

const moved = ([from, to]: Range, by: number): Range => [from + by * (to - from), to + by * (to - from)];

function extent({ series }: PlotData): Range {
  const ends = series.flatMap(({ x }) => [x[0] ?? 0, x.at(-1) ?? 0]);
  return ends.length === 0 ? [0, 1] : [Math.min(...ends), Math.max(...ends)];
}

interface CsvProps {
  readonly runs: readonly string[];
  readonly names: readonly string[];
  readonly tag: string;
}

/** Every point of a run; where there are several runs, a list to choose from. */
function Csv({ runs, names, tag }: CsvProps) {
  const [only] = runs;
  if (runs.length === 1 && only !== undefined)
    return (
      <a class="button" href={address('csv', { run: only, tag })} download>
        CSV
      </a>
    );
  return (
    <details
      class="menu"
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.currentTarget.open = false;
        event.currentTarget.querySelector('summary')?.focus();
      }}
      onFocusOut={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null))
          event.currentTarget.open = false;
      }}
    >
      <summary>CSV</summary>
      <ul>
        {runs.map((run) => (
          <li key={run}>
            <a href={address('csv', { run, tag })} download>
              {shortNames(names)(run)}
            </a>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Asked anew when something changes; only for cards that are on the screen. Many runs share the points that a plot can take. */
function useScalars(
  runs: readonly string[],
  tag: string,
  { axis, smoothing }: Settings,
  range: Range | undefined,
  most: number,
): ScalarsAnswer {
  const [answer, setAnswer] = useState<ScalarsAnswer>([]);
  const changed = useChanges();
  const points = Math.max(200, Math.min(most, Math.round((8 * most) / Math.max(1, runs.length))));
  const query = { tag, run: runs, points, smoothing, along: axis, from: range?.[0], to: range?.[1] };
  const url = address('scalars', query);
  useEffect(() => {
    if (runs.length === 0) return;
    const abort = new AbortController();
    // Where the server is away, what was there stays.
    ask<ScalarsAnswer>(url, abort.signal).then(setAnswer, () => {});
    return () => abort.abort();
  }, [url, changed]);
  return answer;
}

function columnsOf(
  answer: ScalarsAnswer,
  runs: readonly string[],
  names: readonly string[],
  { axis, log, inliers, smoothing }: Settings,
): PlotData {
  const short = shortNames(names);
  return {
    axis,
    log,
    inliers,
    series: answer
      .filter(({ run }) => runs.includes(run))
      .map(({ run, total, start, steps, wallTimes, values, smoothed, odd }) => {
        const along = (step: readonly number[], time: readonly number[]): readonly number[] =>
          axis === 'step' ? step : axis === 'time' ? time : time.map((t) => t - start);
        const x = along(steps, wallTimes);
        const order = rising(x);
        return {
          name: short(run),
          color: colorOf(run, names),
          total,
          x: order(x),
          y: order(values),
          smoothed: smoothing > 0 ? order(smoothed) : undefined,
          steps: order(steps),
          times: order(wallTimes),
          start,
          odd: { nan: odd.nan, infinite: odd.infinite, x: along(odd.steps, odd.wallTimes) },
        };
      }),
  };
}

/** What puts columns in order: clocks are set back now and then. */
function rising(x: readonly number[]): <T>(column: readonly T[]) => readonly T[] {
  if (x.every((v, i) => i === 0 || (x[i - 1] as number) <= v)) return (column) => column;
  const order = x.map((_, i) => i).sort((a, b) => (x[a] as number) - (x[b] as number));
  return (column) => order.map((i) => column[i] as (typeof column)[number]);
}

function useVisible(element: { readonly current: Element | null }): boolean {
  const [visible, setVisible] = useState(false);
  useEffect(() => {
    if (element.current === null) return;
    const observer = new IntersectionObserver(
      (entries) => setVisible(entries.some((entry) => entry.isIntersecting)),
      { rootMargin: '300px' },
    );
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return visible;
}
