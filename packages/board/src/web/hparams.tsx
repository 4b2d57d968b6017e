import { useState } from 'preact/hooks';
import type { Column, HParamsAnswer, TrialRow } from '../api.ts';
import type { ViewProps } from './app.tsx';
import { colorOf, shortNames } from './colors.ts';
import { short } from './numbers.ts';
import { address, useAnswer } from './server.ts';
import { matcher, ownOf } from './settings.ts';

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
  const chosen = ({ name, title }: Column): boolean => matches(name) || matches(title);
  const listed = new Set(runs.map((run) => run.name));
  const shown = shortNames(names);
  const columns: readonly (readonly [key: string, title: string, cell: (row: TrialRow) => Cell])[] = [
    ['run', 'run', (row) => shown(row.run)],
    ['status', 'status', (row) => row.status],
    ...value.hparams
      .filter(chosen)
      .map(({ name, title }) => [`h ${name}`, title, (row: TrialRow) => ownOf(row.values, name)] as const),
    ...value.metrics
      .filter(chosen)
      .map(({ name, title }) => [`m ${name}`, title, (row: TrialRow) => ownOf(row.metrics, name)] as const),
  ];
  const cell = columns.find(([key]) => key === order.column)?.[2] ?? ((row: TrialRow) => row.run);
  const rows = value.trials
    .filter((row) => listed.has(row.run))
    .sort((a, b) => compare(cell(a), cell(b)) * (order.down ? -1 : 1));
  if (rows.length === 0) return <p class="empty">The chosen runs have none; choose others at the side.</p>;
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
                  class="sort"
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
                <td key={key} class={typeof of(row) === 'number' ? 'number' : ''}>
                  {key === 'run' && (
                    <>
                      <span class="swatch" style={{ background: colorOf(row.run, names) }} />{' '}
                    </>
                  )}
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

/** Numbers by size; NaN and what is missing last. */
function compare(a: Cell, b: Cell): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const odd = (cell: Cell): number => Number((cell ?? null) === null || cell === 'NaN');
  if (odd(a) + odd(b) > 0) return odd(a) - odd(b);
  return String(a).localeCompare(String(b), 'en', { numeric: true });
}
