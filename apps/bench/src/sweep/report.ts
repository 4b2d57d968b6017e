// What the sweep found, as Markdown.
import type { Machine } from '../machine.ts';
import { formatValue } from '../results.ts';

/** Seconds; null where there is no such way, as for gradients of what has none. */
export interface Times {
  readonly eager: number | null;
  readonly traced: number | null;
}
export interface Row {
  readonly area: string;
  readonly name: string;
  readonly size: string;
  /** Elements of the inputs. */
  readonly elements: number;
  readonly dtype: string;
  readonly gradients: boolean;
  readonly ours: Times;
  /** Null where it could not be called, with the reason in `why`. */
  readonly theirs: Times | null;
  readonly why?: string;
}
export interface SweepResult {
  readonly started: string;
  readonly machine: Machine;
  readonly tensorflow: string;
  readonly busyCores: number;
  readonly seconds: number;
  readonly rows: readonly Row[];
  /** Calls that failed here, and why. */
  readonly failed: readonly { readonly name: string; readonly why: string }[];
}

const best = ({ eager, traced }: Times): number =>
  Math.min(eager ?? Number.POSITIVE_INFINITY, traced ?? Number.POSITIVE_INFINITY);

/** TensorFlow's better time ÷ ours in one way. */
export function ratioOf({ ours, theirs }: Row, way: keyof Times): number | null {
  const own = ours[way];
  if (theirs === null || own === null) return null;
  const other = best(theirs);
  return Number.isFinite(other) ? other / own : null;
}

const share = (ratios: readonly number[], least: number): string =>
  ratios.length === 0
    ? '–'
    : `${((100 * ratios.filter((r) => r >= least).length) / ratios.length).toFixed(1)} %`;
const seconds = (value: number | null): string =>
  value === null || !Number.isFinite(value) ? '–' : formatValue(value, 's');
const times = (value: number | null): string => (value === null ? '–' : `${value.toFixed(2)}×`);

export function report(result: SweepResult): string {
  const { machine, rows, failed } = result;
  const compared = rows.filter((row) => ratioOf(row, 'eager') !== null || ratioOf(row, 'traced') !== null);
  const ratios = (of: readonly Row[], way: keyof Times): number[] =>
    of.map((row) => ratioOf(row, way)).filter((r) => r !== null);
  const worst = (row: Row): number => ratioOf(row, 'eager') ?? ratioOf(row, 'traced') ?? 0;
  const sorted = compared.toSorted((a, b) => worst(a) - worst(b));
  const sizes = [...new Set(rows.map((row) => row.size))];
  const line = (title: string, of: readonly Row[]): string[] =>
    (['eager', 'traced'] as const).map((way) => {
      const all = ratios(of, way);
      return `| ${title} | ${way} | ${all.length} | ${share(all, 0.8)} | ${share(all, 1)} |`;
    });
  const reasons = new Map<string, string[]>();
  for (const row of rows)
    if (row.theirs === null) {
      const names = reasons.get(row.why ?? '') ?? [];
      if (!names.includes(row.name)) names.push(row.name);
      reasons.set(row.why ?? '', names);
    }
  const without = new Set([...reasons.values()].flat());
  return `# Sweep, ${result.started}

- ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGB} GB; ${machine.system}; Node ${machine.node}; commit ${machine.commit}
- TensorFlow ${result.tensorflow}; others kept ${result.busyCores.toFixed(1)} cores busy when this began
- medians of ${result.seconds} s; the ratio is TensorFlow's time ÷ ours: its eager call or its \`tf.function\`, whichever is faster, against each of ours

| Rows | Way | Count | ≥ 0.8 | ≥ 1.0 |
| --- | --- | --- | --- | --- |
${[
  ...line('all', compared),
  ...sizes.flatMap((size) =>
    line(
      size,
      compared.filter((row) => row.size === size),
    ),
  ),
  ...line(
    'gradients',
    compared.filter((row) => row.gradients),
  ),
].join('\n')}

| Call | Size | Elements | Dtype | Eager | Traced | TensorFlow eager | tf.function | Ratio eager | Ratio traced |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
${sorted.map((row) => `| ${row.area === 'tf' || row.name.includes('.') ? '' : `${row.area}: `}${row.name}${row.gradients ? ', gradients' : ''} | ${row.size} | ${row.elements} | ${row.dtype} | ${seconds(row.ours.eager)} | ${seconds(row.ours.traced)} | ${seconds(row.theirs!.eager)} | ${seconds(row.theirs!.traced)} | ${times(ratioOf(row, 'eager'))} | ${times(ratioOf(row, 'traced'))} |`).join('\n')}

## Without a counterpart that can be called from the declaration: ${without.size}

${[...reasons].map(([why, names]) => `- ${why}: ${names.map((name) => `\`${name}\``).join(', ')}`).join('\n') || 'None.'}

## Calls that failed here: ${failed.length}

${failed.map(({ name, why }) => `- \`${name}\`: ${why}`).join('\n') || 'None.'}
`;
}
