/** What many timings of one thing come to: seconds per iteration. */
export interface Summary {
  readonly median: number;
  /** The 10th and the 90th percentile. */
  readonly low: number;
  readonly high: number;
  /** How many samples there were. */
  readonly runs: number;
}

const MAX_SAMPLES = 500;

/** Of numbers in ascending order, by linear interpolation. */
export function quantile(ordered: readonly number[], p: number): number {
  if (ordered.length === 0) return Number.NaN;
  const at = p * (ordered.length - 1);
  const low = Math.floor(at);
  const high = Math.min(low + 1, ordered.length - 1);
  return ordered[low]! + (ordered[high]! - ordered[low]!) * (at - low);
}

export function median(values: readonly number[]): number {
  return quantile(ascending(values), 0.5);
}

/**
 * The mean of all but the slowest tenth. What only every few runs cost, such as a collection of garbage, counts here and not in a
 * median; what disturbed a few runs counts in neither.
 */
export function trimmedMean(values: readonly number[]): number {
  const kept = ascending(values).slice(0, Math.ceil(0.9 * values.length));
  return kept.reduce((sum, v) => sum + v, 0) / kept.length;
}

export function summarize(samples: readonly number[], runs: number = samples.length): Summary {
  const ordered = ascending(samples);
  return { median: quantile(ordered, 0.5), low: quantile(ordered, 0.1), high: quantile(ordered, 0.9), runs };
}

/** At most 500 of the samples, in ascending order, with the same distribution: what goes over the wire. */
export function thin(samples: readonly number[]): number[] {
  const ordered = ascending(samples);
  const n = ordered.length;
  if (n <= MAX_SAMPLES) return ordered;
  return Array.from(
    { length: MAX_SAMPLES },
    (_, i) => ordered[Math.floor((i * (n - 1)) / (MAX_SAMPLES - 1))]!,
  );
}

/** Joins rounds so that each counts the same, however many samples it had. */
export function pool(
  rounds: readonly { readonly samples: readonly number[]; readonly runs: number }[],
): Summary {
  const points = rounds.flatMap(({ samples }) => {
    const ordered = ascending(samples);
    return Array.from({ length: 101 }, (_, i) => quantile(ordered, i / 100));
  });
  return summarize(
    points,
    rounds.reduce((sum, r) => sum + r.runs, 0),
  );
}

function ascending(values: readonly number[]): number[] {
  return [...values].sort((a, b) => a - b);
}
