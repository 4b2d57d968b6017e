// What a run has found out, and what follows from it. Nothing here measures.
import type { Limit } from './limits.ts';
import type { Machine } from './machine.ts';
import { median, quantile, type Summary } from './statistics.ts';
import type { Target } from './workload.ts';

/** One library with one number of threads on one workload. */
export interface Series {
  readonly library: string;
  readonly threads: number;
  /** All rounds together; seconds, or the unit of the workload. */
  readonly summary: Summary;
  /** The median of each round. */
  readonly rounds: readonly number[];
  readonly variant: string;
  readonly check: number | null;
}

export interface WorkloadResult {
  readonly name: string;
  readonly title: string;
  readonly unit: 's' | 'MB' | '×';
  /** Whether it was measured for each number of threads. */
  readonly threaded: boolean;
  readonly series: readonly Series[];
  /** What went wrong or was left out, for people. */
  readonly notes: readonly string[];
  /** Eagre failed, or its result is not that of the peers. */
  readonly failed: boolean;
  readonly flops?: number;
  readonly bytes?: number;
  readonly limitKind?: string;
  /** By number of threads: the best of each round, FLOP/s or bytes/s. */
  readonly limits: Readonly<Record<number, readonly number[]>>;
  readonly targets: readonly Target[];
}

export interface RunResult {
  readonly started: string;
  readonly machine: Machine;
  readonly libraries: readonly { readonly id: string; readonly title: string; readonly version: string }[];
  readonly absent: readonly { readonly title: string; readonly why: string }[];
  readonly threads: readonly number[];
  readonly rounds: number;
  readonly seconds: number;
  /** The most cores that something else kept busy while this run was about to measure. */
  readonly busyCores: number;
  readonly machineLimits: readonly ({ readonly kind: string; readonly threads: number } & Limit)[];
  readonly notes: readonly string[];
  readonly workloads: readonly WorkloadResult[];
}

/** The library's series for that many threads, or the best over all of them. */
export function seriesOf(
  result: WorkloadResult,
  library: string,
  threads: number | 'best',
): Series | undefined {
  const own = result.series.filter((s) => s.library === library);
  if (threads !== 'best') return own.find((s) => s.threads === threads);
  return own.reduce<Series | undefined>(
    (best, s) => (best === undefined || s.summary.median < best.summary.median ? s : best),
    undefined,
  );
}

export interface Ratio {
  readonly value: number;
  /** Of the rounds that both took part in: how much the ratio can be relied on. */
  readonly low: number;
  readonly high: number;
}

/**
 * The peer's time ÷ Eagre's: how many times as fast Eagre is. Another build of Eagre had its turns next to this one's, so there it is the
 * median of the ratios of these pairs, with their quartiles.
 */
export function ratioTo(result: WorkloadResult, peer: string, threads: number | 'best'): Ratio | undefined {
  const own = seriesOf(result, 'eagre', threads);
  const other = seriesOf(result, peer, threads);
  if (own === undefined || other === undefined) return undefined;
  const rounds = other.rounds.slice(0, own.rounds.length).map((t, i) => t / own.rounds[i]!);
  if (peer === 'before') {
    const ordered = rounds.toSorted((a, b) => a - b);
    return { value: median(rounds), low: quantile(ordered, 0.25), high: quantile(ordered, 0.75) };
  }
  return {
    value: other.summary.median / own.summary.median,
    low: Math.min(...rounds),
    high: Math.max(...rounds),
  };
}

/** FLOP/s or bytes/s that Eagre reaches, and which part of the machine's limit that is. */
export function rateOf(
  result: WorkloadResult,
  series: Series,
): { rate: number; unit: string; fraction?: number } | undefined {
  const amount = result.flops ?? result.bytes;
  if (amount === undefined) return undefined;
  const rate = amount / series.summary.median;
  const unit = result.flops === undefined ? 'GB/s' : 'GFLOP/s';
  const limits = result.limits[series.threads];
  return limits === undefined || limits.length === 0
    ? { rate, unit }
    : { rate, unit, fraction: rate / median(limits) };
}

// What clocks vary by, from one second to the next.
const CLOCKS = 1.05;

/** Peers that do more operations per second than the machine can with the instructions that they were told to use. */
export function fasterThan(
  limits: WorkloadResult['limits'],
  series: readonly Series[],
  flops: number,
): { readonly library: string; readonly threads: number; readonly rate: number }[] {
  return series.flatMap(({ library, threads, summary }) => {
    const rate = flops / summary.low;
    const most = Math.max(...(limits[threads] ?? [Number.POSITIVE_INFINITY]));
    return library !== 'eagre' && rate > CLOCKS * most ? [{ library, threads, rate }] : [];
  });
}

// Results of the same numbers in another order.
const CHECK_TOLERANCE = 1e-3;

/**
 * Series whose result is not that of the first library (Eagre). `wrong` are those of libraries that stand alone: at least two others have
 * Eagre's result, so theirs is that of another program. The rest, `differing`, leave open who is right.
 */
export function otherResults(series: readonly Series[]): { wrong: Series[]; differing: Series[] } {
  const [reference, ...others] = series.filter((s) => s.check !== null);
  if (reference === undefined) return { wrong: [], differing: [] };
  const right = reference.check as number;
  const agrees = ({ check }: Series): boolean =>
    Math.abs((check as number) - right) <= CHECK_TOLERANCE * Math.abs(right);
  const stray = others.filter((s) => !agrees(s));
  const strayed = new Set(stray.map((s) => s.library));
  const agreeing = new Set(
    others.map((s) => s.library).filter((id) => id !== reference.library && !strayed.has(id)),
  );
  const alone = strayed.size === 1 && !strayed.has(reference.library) && agreeing.size > 1;
  return alone ? { wrong: stray, differing: [] } : { wrong: [], differing: stray };
}

export interface Verdict {
  readonly text: string;
  readonly met: boolean;
  /** The row of the table it belongs to. */
  readonly threads: number | 'best';
  readonly target: string;
}

/**
 * Whether the targets of a workload are met; nothing where there is no figure to tell.
 * @param all the workloads of the run, for targets that compare two.
 */
export function verdicts(result: WorkloadResult, all: readonly WorkloadResult[] = []): Verdict[] {
  return result.targets.flatMap((target) => judge(result, target, all));
}

function judge(result: WorkloadResult, target: Target, all: readonly WorkloadResult[]): Verdict[] {
  const threads = 'best';
  switch (target.kind) {
    case 'limit':
      return Object.entries(target.fractions).flatMap(([threads, least]) => {
        const series = seriesOf(result, 'eagre', Number(threads));
        const fraction = series && rateOf(result, series)?.fraction;
        if (fraction === undefined) return [];
        const disk = result.limitKind === 'disk';
        const wanted = `≥ ${percent(least)} of ${disk ? 'the disk' : 'peak'}`;
        const text = disk
          ? `${percent(fraction)} of the disk's own rate`
          : `${percent(fraction)} of the machine's peak on ${threads} thread${threads === '1' ? '' : 's'}`;
        return [{ text, met: fraction >= least, threads: Number(threads), target: wanted }];
      });
    case 'atMost': {
      const series = seriesOf(result, 'eagre', threads);
      if (series === undefined) return [];
      const text = formatValue(series.summary.median, result.unit);
      const wanted = `≤ ${formatValue(target.value, result.unit)}`;
      return [{ text, met: series.summary.median <= target.value, threads, target: wanted }];
    }
    case 'scaling': {
      const own = result.series.filter((s) => s.library === 'eagre').sort((a, b) => a.threads - b.threads);
      const [one, most] = [own[0], own.at(-1)];
      if (one === undefined || most === undefined || one === most) return [];
      const value = one.summary.median / most.summary.median;
      const text = `${times(value)} as fast on ${most.threads} threads as on ${one.threads}`;
      const wanted = `≥ ${times(target.atLeast)} by threads`;
      return [{ text, met: value >= target.atLeast, threads: most.threads, target: wanted }];
    }
    case 'against': {
      const other = all.find((w) => w.name === target.workload);
      const theirs = other && seriesOf(other, 'eagre', threads);
      const own = seriesOf(result, 'eagre', threads);
      if (theirs === undefined || own === undefined) return [];
      const value = theirs.summary.median / own.summary.median;
      const text = `${times(value)} as fast as ${target.workload}`;
      const wanted = `≥ ${times(target.atLeast)} ${target.workload}`;
      return [{ text, met: value >= target.atLeast, threads, target: wanted }];
    }
    case 'ratio': {
      const ratio = ratioTo(result, target.peer, threads);
      if (ratio === undefined) return [];
      const text = `${times(ratio.value)} ${target.peer} (rounds ${times(ratio.low)} to ${times(ratio.high)})`;
      const wanted = `≥ ${times(target.atLeast)} ${target.peer}`;
      return [{ text, met: ratio.value >= target.atLeast, threads, target: wanted }];
    }
  }
}

// ---- numbers for people

/** Three digits. */
export function digits(value: number): string {
  if (!Number.isFinite(value)) return `${value}`;
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

export function percent(value: number): string {
  return `${(100 * value).toFixed(0)} %`;
}

export function times(value: number): string {
  return `${value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)}×`;
}

const scales = [
  ['s', 1],
  ['ms', 1e-3],
  ['µs', 1e-6],
  ['ns', 1e-9],
] as const;

function scaleOf(seconds: number): (typeof scales)[number] {
  return scales.find(([, size]) => seconds >= size) ?? scales[3];
}

export function formatValue(value: number, unit: WorkloadResult['unit']): string {
  if (unit === '×') return times(value);
  if (unit === 'MB') return `${digits(value)} MB`;
  const [name, size] = scaleOf(value);
  return `${digits(value / size)} ${name}`;
}

/** The median with the 10th and the 90th percentile: `1.23 ms (1.20–1.31)`. */
export function formatSummary({ median, low, high, runs }: Summary, unit: WorkloadResult['unit']): string {
  const text = formatValue(median, unit);
  if (runs < 2) return text;
  const size = unit === 's' ? scaleOf(median)[1] : 1;
  return `${text} (${digits(low / size)}–${digits(high / size)})`;
}
