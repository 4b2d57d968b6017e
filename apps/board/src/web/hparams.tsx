import { useState } from 'preact/hooks';
import type { HParamsAnswer, TrialRow } from '../api.ts';
import type { ViewProps } from './app.tsx';
import { colorOf } from './colors.ts';
import { short } from './plot.tsx';
import { address, useAnswer } from './server.ts';
import { matcher } from './settings.ts';

type Cell = string | number | boolean | null | undefined;

/** The trials in a table that sorts by any column. */
export function HParamsView({ runs, names, settings }: ViewProps) {
  const { value } = useAnswer<HParamsAnswer>(address('hparams'));
  const [order, setOrder] = useState<{ readonly column: string; readonly down: boolean }>({
    column: 'run',
    down: false,
  });
  if (value === undefined) return null;
  const matches = matcher(settings.filter);
  const shown = new Set(runs.map((run) => run.name));
  const columns: readonly (readonly [key: string, title: string, cell: (row: TrialRow) => Cell])[] = [
    ['run', 'run', (row) => row.run],
    ['status', 'status', (row) => row.status],
    ...value.names
      .filter(matches)
      .map((name) => [`h ${name}`, name, (row: TrialRow) => row.values[name]] as const),
    ...value.metrics
      .filter(matches)
      .map((name) => [`m ${name}`, name, (row: TrialRow) => row.metrics[name]] as const),
  ];
  const cell = columns.find(([key]) => key === order.column)?.[2] ?? ((row: TrialRow) => row.run);
  const rows = value.trials
    .filter((row) => shown.has(row.run))
    .sort((a, b) => compare(cell(a), cell(b)) * (order.down ? -1 : 1));
  return (
    <div class="table">
      <table>
        <thead>
          <tr>
            {columns.map(([key, title]) => (
              <th
                key={key}
                aria-sort={order.column !== key ? 'none' : order.down ? 'descending' : 'ascending'}
              >
                <button
                  type="button"
                  onClick={() => setOrder({ column: key, down: order.column === key && !order.down })}
                >
                  {title}
                  {order.column === key ? (order.down ? ' ▾' : ' ▴') : ''}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.run}>
              {columns.map(([key, , of]) => (
                <td key={key}>
                  {key === 'run' && <span class="swatch" style={{ background: colorOf(row.run, names) }} />}{' '}
                  {text(of(row))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const text = (cell: Cell): string =>
  cell === undefined || cell === null ? '' : typeof cell === 'number' ? short(cell) : String(cell);

/** Numbers by size, what is missing last. */
function compare(a: Cell, b: Cell): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if ((a ?? null) === null || (b ?? null) === null)
    return Number((a ?? null) === null) - Number((b ?? null) === null);
  return String(a).localeCompare(String(b), 'en', { numeric: true });
}
