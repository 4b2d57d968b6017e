import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { RunSummary } from '../api.ts';
import { colorOf, shortNames } from './colors.ts';
import { useMedia } from './media.ts';
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
  ['time', 'Date and time'],
];

export function Sidebar({ all, settings, change, filter }: Props) {
  const names = all.map((run) => run.name);
  const matching = names.filter(matcher(settings.runs));
  const shown = shortNames(names);
  const others = [...new Set(all.flatMap((run) => run.others))];
  const hide = (hidden: Iterable<string>): void => change({ hidden: [...new Set(hidden)] });
  return (
    <aside>
      <details ref={useOpenOnWide()}>
        <summary>Filters and runs</summary>
        <div class="side">
          {settings.tab !== 'graphs' && (
            <label>
              <span class="title">
                {settings.tab === 'hparams' ? 'Filter columns' : 'Filter tags'} <kbd>/</kbd>
              </span>
              <input
                ref={filter}
                type="search"
                placeholder="regular expression"
                value={settings.filter}
                onInput={(event) => change({ filter: event.currentTarget.value })}
              />
            </label>
          )}
          {settings.tab === 'scalars' && <Plotting settings={settings} change={change} />}
          <fieldset>
            <legend>Runs</legend>
            <input
              type="search"
              aria-label="Filter runs"
              placeholder="filter runs"
              value={settings.runs}
              onInput={(event) => change({ runs: event.currentTarget.value })}
            />
            {matching.length > 1 && (
              <div class="choices">
                <button
                  type="button"
                  onClick={() => hide(settings.hidden.filter((name) => !matching.includes(name)))}
                >
                  Show all
                </button>
                <button type="button" onClick={() => hide([...settings.hidden, ...matching])}>
                  Hide all
                </button>
              </div>
            )}
            {matching.map((name) => (
              <label class="inline run" key={name} title={name}>
                <input
                  type="checkbox"
                  style={{ accentColor: colorOf(name, names) }}
                  checked={!settings.hidden.includes(name)}
                  onChange={(event) =>
                    hide(
                      event.currentTarget.checked
                        ? settings.hidden.filter((hidden) => hidden !== name)
                        : [...settings.hidden, name],
                    )
                  }
                />
                <span class="swatch" style={{ background: colorOf(name, names) }} />
                <span>{shown(name)}</span>
              </label>
            ))}
            {names.length > 0 && matching.length === 0 && <p class="muted">no run matches</p>}
          </fieldset>
          {others.length > 0 && <p class="muted">Also written, but not shown here: {others.join(', ')}.</p>}
        </div>
      </details>
    </aside>
  );
}

function Plotting({ settings, change }: Pick<Props, 'settings' | 'change'>) {
  return (
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
      <label class="inline">
        <input
          type="checkbox"
          checked={settings.inliers}
          onChange={(event) => change({ inliers: event.currentTarget.checked })}
        />
        Ignore outliers in scaling
      </label>
    </>
  );
}

/** Beside the page it is always open; above it, on a small screen, when it is asked for. */
function useOpenOnWide(): RefObject<HTMLDetailsElement | null> {
  const details = useRef<HTMLDetailsElement>(null);
  const wide = useMedia('(min-width: 721px)');
  useEffect(() => {
    if (details.current !== null) details.current.open = wide;
  }, [wide]);
  return details;
}
