import type { RefObject } from 'preact';
import type { RunSummary } from '../api.ts';
import { colorOf } from './colors.ts';
import { type Axis, type Change, matcher, type Settings } from './settings.ts';

interface Props {
  readonly all: readonly RunSummary[];
  readonly settings: Settings;
  readonly change: Change;
  readonly filter: RefObject<HTMLInputElement | null>;
}

const axes: readonly (readonly [Axis, string])[] = [
  ['step', 'Step'],
  ['relative', 'Relative'],
  ['time', 'Time of day'],
];

export function Sidebar({ all, settings, change, filter }: Props) {
  const names = all.map((run) => run.name);
  const matches = matcher(settings.runs);
  const scalars = settings.tab === 'scalars';
  return (
    <aside>
      <label>
        <span class="title">
          Filter tags <kbd>/</kbd>
        </span>
        <input
          ref={filter}
          type="search"
          placeholder="regular expression"
          value={settings.filter}
          onInput={(event) => change({ filter: event.currentTarget.value })}
        />
      </label>
      {scalars && (
        <>
          <label>
            <span class="title">
              Smoothing <output>{settings.smoothing.toFixed(2)}</output>
            </span>
            <input
              type="range"
              min="0"
              max="0.99"
              step="0.01"
              value={settings.smoothing}
              onInput={(event) => change({ smoothing: Number(event.currentTarget.value) })}
            />
          </label>
          <label>
            Horizontal axis
            <select
              value={settings.axis}
              onChange={(event) => change({ axis: event.currentTarget.value as Axis })}
            >
              {axes.map(([axis, title]) => (
                <option key={axis} value={axis}>
                  {title}
                </option>
              ))}
            </select>
          </label>
          <label class="inline">
            <input
              type="checkbox"
              checked={settings.log}
              onChange={(event) => change({ log: event.currentTarget.checked })}
            />
            Logarithmic values
          </label>
        </>
      )}
      <fieldset>
        <legend>Runs</legend>
        <input
          type="search"
          aria-label="Filter runs"
          placeholder="filter runs"
          value={settings.runs}
          onInput={(event) => change({ runs: event.currentTarget.value })}
        />
        {names.filter(matches).map((name) => (
          <label class="inline run" key={name} title={name}>
            <input
              type="checkbox"
              style={{ accentColor: colorOf(name, names) }}
              checked={!settings.hidden.includes(name)}
              onChange={(event) =>
                change({
                  hidden: event.currentTarget.checked
                    ? settings.hidden.filter((hidden) => hidden !== name)
                    : [...settings.hidden, name],
                })
              }
            />
            <span class="swatch" style={{ background: colorOf(name, names) }} />
            <span>{name}</span>
          </label>
        ))}
      </fieldset>
    </aside>
  );
}
