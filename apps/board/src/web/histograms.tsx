import { useEffect, useRef } from 'preact/hooks';
import type { HistogramSample, RunSummary } from '../api.ts';
import type { ViewProps } from './app.tsx';
import { colorOf, resolved } from './colors.ts';
import { short } from './plot.tsx';
import { address, useAnswer } from './server.ts';
import { Group, groupsOf } from './tags.tsx';

export function HistogramView({ runs, names, settings }: ViewProps) {
  return groupsOf(runs, 'histograms', settings.filter).map(([group, tags]) => (
    <Group key={group} title={group} count={tags.length}>
      {tags.flatMap((tag) =>
        runs
          .filter((run) => run.histograms.includes(tag))
          .map((run) => <HistogramCard key={`${run.name} ${tag}`} run={run} tag={tag} names={names} />),
      )}
    </Group>
  ));
}

interface Props {
  readonly run: RunSummary;
  readonly tag: string;
  readonly names: readonly string[];
}

function HistogramCard({ run, tag, names }: Props) {
  const { value = [] } = useAnswer<readonly HistogramSample[]>(address('histograms', { run: run.name, tag }));
  const canvas = useRef<HTMLCanvasElement>(null);
  const color = colorOf(run.name, names);
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => draw(element, value, resolved(color)));
    observer.observe(element);
    return () => observer.disconnect();
  }, [value, color]);
  return (
    <article class="card">
      <h2 title={run.descriptions[tag] ?? tag}>{tag}</h2>
      <p class="of">
        <span class="swatch" style={{ background: color }} /> {run.name}
        {value.length > 0 && (
          <span>
            steps {value[0]?.step} to {value.at(-1)?.step}, the newest in front
          </span>
        )}
      </p>
      <canvas class="ridges" ref={canvas} aria-label={`${tag}: ${value.length} histograms`} role="img" />
    </article>
  );
}

const MOST_RIDGES = 25;

/** Histograms one in front of the other, the newest at the front; heights are densities, on one scale. */
function draw(canvas: HTMLCanvasElement, samples: readonly HistogramSample[], color: string): void {
  const scale = devicePixelRatio;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  canvas.width = width * scale;
  canvas.height = height * scale;
  const pen = canvas.getContext('2d');
  if (pen === null) return;
  pen.scale(scale, scale);
  const style = getComputedStyle(document.documentElement);
  const ridges = thinned(samples.filter(({ buckets }) => buckets.some(([, , count]) => count > 0)));
  if (ridges.length === 0) return;
  const low = Math.min(...ridges.map(({ buckets }) => buckets[0]?.[0] ?? 0));
  const high = Math.max(...ridges.map(({ buckets }) => buckets.at(-1)?.[1] ?? 0));
  const span = high - low || 1;
  const density = ([left, right, count]: readonly [number, number, number]): number =>
    count / Math.max(right - left, span / 500);
  const most = Math.max(...ridges.flatMap(({ buckets }) => buckets.map(density)));
  const [top, bottom] = [height * 0.35, height - 24];
  const x = (v: number): number => 8 + ((v - low) / span) * (width - 56);
  ridges.forEach(({ step, buckets }, i) => {
    const base = ridges.length === 1 ? bottom : top + ((bottom - top) * i) / (ridges.length - 1);
    const tall = (d: number): number => base - (d / most) * top * 0.9;
    pen.beginPath();
    pen.moveTo(x(low), base);
    for (const bucket of buckets) {
      const [left, right] = bucket;
      pen.lineTo(x((left + right) / 2), tall(density(bucket)));
    }
    pen.lineTo(x(high), base);
    pen.fillStyle = style.getPropertyValue('--paper');
    pen.globalAlpha = 0.7;
    pen.fill();
    pen.fillStyle = color;
    pen.globalAlpha = 0.15 + (0.45 * (i + 1)) / ridges.length;
    pen.fill();
    pen.globalAlpha = 1;
    pen.strokeStyle = color;
    pen.lineWidth = 1;
    pen.stroke();
    if (i % Math.ceil(ridges.length / 5) === 0 || i === ridges.length - 1) {
      pen.fillStyle = style.getPropertyValue('--ink');
      pen.font = '10px sans-serif';
      pen.fillText(short(step), width - 44, base);
    }
  });
  pen.fillStyle = style.getPropertyValue('--ink');
  pen.font = '10px sans-serif';
  for (let i = 0; i <= 4; i++)
    pen.fillText(short(low + (span * i) / 4), x(low + (span * i) / 4) - 4, height - 6);
}

function thinned(samples: readonly HistogramSample[]): readonly HistogramSample[] {
  if (samples.length <= MOST_RIDGES) return samples;
  return Array.from(
    { length: MOST_RIDGES },
    (_, i) => samples[Math.round((i * (samples.length - 1)) / (MOST_RIDGES - 1))] as HistogramSample,
  );
}
