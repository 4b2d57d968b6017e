import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { HistogramSample, RunSummary } from '../api.ts';
import { About } from './about.tsx';
import type { ViewProps } from './app.tsx';
import { colorOf, shortNames } from './colors.ts';
import { useDark } from './media.ts';
import { short } from './numbers.ts';
import { drawRidges, isDrawn, type Pointed, pointedAt } from './ridges.ts';
import { address, useAnswer } from './server.ts';
import { Groups } from './tags.tsx';

export function HistogramView({ runs, names, settings }: ViewProps) {
  return (
    <Groups runs={runs} kind="histograms" filter={settings.filter}>
      {(tag, having) =>
        having.map((run) => <HistogramCard key={`${run.name} ${tag}`} run={run} tag={tag} names={names} />)
      }
    </Groups>
  );
}

interface Props {
  readonly run: RunSummary;
  readonly tag: string;
  readonly names: readonly string[];
}

function HistogramCard({ run, tag, names }: Props) {
  const { value = [] } = useAnswer<readonly HistogramSample[]>(address('histograms', { run: run.name, tag }));
  const canvas = useRef<HTMLCanvasElement>(null);
  const [pointed, setPointed] = useState<Pointed | undefined>();
  const color = colorOf(run.name, names);
  const dark = useDark();
  const ridges = useMemo(() => thinned(value.filter(({ buckets }) => buckets.some(isDrawn))), [value]);
  const at = pointed === undefined ? undefined : Math.min(pointed.ridge, ridges.length - 1);
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => drawRidges(element, ridges, color, at));
    observer.observe(element);
    return () => observer.disconnect();
    // The colours of marks are those of the page.
  }, [ridges, color, at, dark]);
  return (
    <article class="card">
      <h2 title={tag}>{tag}</h2>
      <About runs={[run]} tag={tag} />
      <p class="of">
        <span class="swatch" style={{ background: color }} />{' '}
        <span title={run.name}>{shortNames(names)(run.name)}</span>
        {value.length > 0 && <span>{steps(value)}</span>}
      </p>
      <canvas
        class="ridges"
        ref={canvas}
        tabIndex={0}
        aria-label={`${tag} in ${run.name}: ${value.length} histograms; arrows go from one to the next`}
        role="img"
        onPointerMove={(event) => setPointed(pointedAt(event, ridges))}
        onPointerLeave={() => setPointed(undefined)}
        onBlur={() => setPointed(undefined)}
        onKeyDown={(event) => {
          const side = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 }[event.key];
          if (side === undefined || ridges.length === 0) return;
          event.preventDefault();
          const next = (at ?? (side > 0 ? -1 : ridges.length)) + side;
          setPointed({ ridge: Math.max(0, Math.min(ridges.length - 1, next)), value: undefined });
        }}
      />
      <p class="readout" aria-live="polite">
        {ridges.length === 0 && value.length > 0 && 'Nothing to draw: no values, or none that is finite.'}
        {at !== undefined && ridges[at] !== undefined && described(ridges[at], pointed?.value)}
      </p>
    </article>
  );
}

const steps = (samples: readonly HistogramSample[]): string =>
  samples.length === 1
    ? `step ${samples[0]?.step}`
    : `steps ${samples[0]?.step} to ${samples.at(-1)?.step}, the newest in front`;

/** The range and number of values, and how many there are where the mouse is. */
function described({ step, buckets }: HistogramSample, value: number | undefined): string {
  const filled = buckets.filter(isDrawn);
  const count = filled.reduce((sum, [, , n]) => sum + n, 0);
  const text = `step ${step}: ${short(count)} values from ${short(filled[0]?.[0] ?? 0)} to ${short(filled.at(-1)?.[1] ?? 0)}`;
  const bucket = filled.find(([left, right]) => value !== undefined && value >= left && value <= right);
  return bucket === undefined
    ? text
    : `${text}; ${short(bucket[2])} of them from ${short(bucket[0])} to ${short(bucket[1])}`;
}

const MOST_RIDGES = 25;

function thinned(samples: readonly HistogramSample[]): readonly HistogramSample[] {
  if (samples.length <= MOST_RIDGES) return samples;
  return Array.from(
    { length: MOST_RIDGES },
    (_, i) => samples[Math.round((i * (samples.length - 1)) / (MOST_RIDGES - 1))] as HistogramSample,
  );
}
