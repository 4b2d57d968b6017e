import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { RunSummary, ScalarsAnswer } from '../api.ts';
import type { ViewProps } from './app.tsx';
import { colorOf, resolved } from './colors.ts';
import { Plot, type PlotData } from './plot.tsx';
import { address, ask, useChanges } from './server.ts';
import type { Settings } from './settings.ts';
import { plotSvg, save } from './svg.ts';
import { Group, groupsOf } from './tags.tsx';

export function ScalarView({ runs, names, settings }: ViewProps) {
  return groupsOf(runs, 'scalars', settings.filter).map(([group, tags]) => (
    <Group key={group} title={group} count={tags.length}>
      {tags.map((tag) => (
        <ScalarCard
          key={tag}
          tag={tag}
          runs={runs.filter((run) => run.scalars.includes(tag))}
          names={names}
          settings={settings}
        />
      ))}
    </Group>
  ));
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
  const [range, setRange] = useState<readonly [number, number] | undefined>();
  const list = runs.map((run) => run.name);
  const answers = useScalars(visible ? list : [], tag, settings, range, wide ? 4000 : 1500);
  const data = useMemo(() => columnsOf(answers, names, settings), [answers, names, settings]);
  const description = runs.map((run) => run.descriptions[tag]).find((text) => text !== undefined);
  return (
    <article class={wide ? 'card wide' : 'card'} ref={card}>
      <h2 title={description ?? tag}>{tag}</h2>
      <div class="tools">
        {range !== undefined && (
          <button type="button" onClick={() => setRange(undefined)}>
            All steps
          </button>
        )}
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
        <details class="menu">
          <summary>CSV</summary>
          <ul>
            {list.map((run) => (
              <li key={run}>
                <a href={address('csv', { run, tag })} download>
                  {run}
                </a>
              </li>
            ))}
          </ul>
        </details>
      </div>
      <Plot data={data} onRange={setRange} />
    </article>
  );
}

/** By run, asked anew when something changes; only for cards that are on the screen. */
function useScalars(
  runs: readonly string[],
  tag: string,
  settings: Settings,
  range: readonly [number, number] | undefined,
  points: number,
): ReadonlyMap<string, ScalarsAnswer> {
  const [answers, setAnswers] = useState<ReadonlyMap<string, ScalarsAnswer>>(new Map());
  const changed = useChanges();
  const key = JSON.stringify([runs, tag, settings.smoothing, range, points]);
  useEffect(() => {
    if (runs.length === 0) return;
    const abort = new AbortController();
    const one = async (run: string): Promise<readonly [string, ScalarsAnswer]> => {
      const query = { run, tag, points, smoothing: settings.smoothing, from: range?.[0], to: range?.[1] };
      return [run, await ask<ScalarsAnswer>(address('scalars', query), abort.signal)];
    };
    // A run that is gone by now is left out.
    Promise.allSettled(runs.map(one)).then((settled) => {
      if (abort.signal.aborted) return;
      setAnswers(new Map(settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))));
    });
    return () => abort.abort();
  }, [key, changed]);
  return answers;
}

function columnsOf(
  answers: ReadonlyMap<string, ScalarsAnswer>,
  names: readonly string[],
  { axis, log, smoothing }: Settings,
): PlotData {
  return {
    axis,
    log,
    series: [...answers].map(([run, { steps, wallTimes, values, smoothed, total }]) => {
      const start = wallTimes[0] ?? 0;
      return {
        name: run,
        color: resolved(colorOf(run, names)),
        total,
        x: axis === 'step' ? steps : axis === 'time' ? wallTimes : wallTimes.map((t) => (t - start) / 3600),
        y: values,
        smoothed: smoothing > 0 ? smoothed : undefined,
      };
    }),
  };
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
