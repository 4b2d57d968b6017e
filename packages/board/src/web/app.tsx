// Types in a circle: the page shows views, and says what all of them take.
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { RunSummary, RunsAnswer } from '../api.ts';
import { AudioView } from './audio.tsx';
import { GraphView } from './graph.tsx';
import { HistogramView } from './histograms.tsx';
import { HParamsView } from './hparams.tsx';
import { ImageView } from './images.tsx';
import { ScalarView } from './scalars.tsx';
import { address, useAnswer, useConnected } from './server.ts';
import { type Change, matcher, type Settings, type Tab, tabs, useSettings } from './settings.ts';
import { Sidebar } from './sidebar.tsx';
import { TextView } from './texts.tsx';

const titles: Readonly<Record<Tab, string>> = {
  scalars: 'Scalars',
  images: 'Images',
  histograms: 'Histograms',
  texts: 'Text',
  audio: 'Audio',
  graphs: 'Graphs',
  hparams: 'Hyperparameters',
};

/** What every view gets. */
export interface ViewProps {
  /** Those that are shown. */
  readonly runs: readonly RunSummary[];
  /** The names of all, for their colours. */
  readonly names: readonly string[];
  readonly settings: Settings;
  readonly change: Change;
}

export function App() {
  const [settings, change] = useSettings();
  const { value, error } = useAnswer<RunsAnswer>(address('runs'));
  const connected = useConnected();
  const filter = useRef<HTMLInputElement>(null);
  useKeys(change, filter);
  const selected = useRef<HTMLButtonElement>(null);
  // On a small screen it may be beside what is seen of the tabs.
  useEffect(() => selected.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' }), [settings.tab]);
  const names = useMemo(() => (value?.runs ?? []).map((run) => run.name), [value]);
  const shown = useMemo(() => {
    const matches = matcher(settings.runs);
    return (value?.runs ?? []).filter((run) => !settings.hidden.includes(run.name) && matches(run.name));
  }, [value, settings.runs, settings.hidden]);
  const filled = (tab: Tab): boolean =>
    (value?.runs ?? []).some((run) => (tab === 'hparams' ? run.hparams : run[tab].length > 0));
  const props: ViewProps = { runs: shown, names, settings, change };
  return (
    <>
      <header>
        <h1>Eagre board</h1>
        <div class="tabs" role="tablist" aria-label="Kinds of summaries" onKeyDown={beside}>
          {tabs.map((tab) => (
            <button
              key={tab}
              ref={tab === settings.tab ? selected : null}
              type="button"
              role="tab"
              aria-selected={tab === settings.tab}
              tabIndex={tab === settings.tab ? 0 : -1}
              disabled={!filled(tab) && tab !== settings.tab}
              onClick={() => change({ tab })}
            >
              {titles[tab]}
            </button>
          ))}
        </div>
        <span class="logdir" title={value?.logdir}>
          {value?.logdir}
        </span>
      </header>
      <Sidebar all={value?.runs ?? []} settings={settings} change={change} filter={filter} />
      <main>
        {!connected && (
          <p class="problem" role="alert">
            The server does not answer. This page goes on as soon as it is there again.
          </p>
        )}
        {connected && error !== undefined && (
          <p class="problem" role="alert">
            {error}
          </p>
        )}
        {value?.problems.map((problem) => (
          <p class="problem" role="alert" key={problem.file}>
            {problem.message}
          </p>
        ))}
        {value === undefined ? null : value.runs.length === 0 && value.loading ? (
          <p class="empty">Reading event files…</p>
        ) : value.runs.length === 0 ? (
          <p class="empty">
            No event files below <code>{value.logdir}</code> yet. They appear here as soon as a program writes
            some:
            <code class="line">tf.summary.createFileWriter({JSON.stringify(`${value.logdir}/run`)})</code>
          </p>
        ) : !filled(settings.tab) ? (
          <p class="empty">
            {value.loading
              ? 'Reading event files…'
              : `No ${titles[settings.tab].toLowerCase()} in these runs.`}
          </p>
        ) : shown.length === 0 ? (
          <p class="empty">No run is chosen; choose some at the side.</p>
        ) : (
          <View {...props} />
        )}
      </main>
    </>
  );
}

function View(props: ViewProps) {
  switch (props.settings.tab) {
    case 'scalars':
      return <ScalarView {...props} />;
    case 'images':
      return <ImageView {...props} />;
    case 'histograms':
      return <HistogramView {...props} />;
    case 'texts':
      return <TextView {...props} />;
    case 'audio':
      return <AudioView {...props} />;
    case 'graphs':
      return <GraphView {...props} />;
    case 'hparams':
      return <HParamsView {...props} />;
  }
}

/** Arrows go from tab to tab, as everywhere. */
function beside(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const side = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
  const list = [...event.currentTarget.querySelectorAll<HTMLButtonElement>('button:enabled')];
  const at = list.indexOf(event.target as HTMLButtonElement);
  const next = list[(at + side + list.length) % list.length];
  if (side === 0 || at < 0 || next === undefined) return;
  next.focus();
  next.click();
}

/** `1` to `7` change the view, `/` goes to the filter, Escape leaves it. */
function useKeys(change: Change, filter: { readonly current: HTMLInputElement | null }): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      const { target } = event;
      // Sliders and boxes take no digits.
      const typing =
        target instanceof HTMLSelectElement ||
        (target instanceof HTMLInputElement && target.type === 'search');
      if (event.key === 'Escape' && typing) target.blur();
      if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
      const tab = tabs[Number(event.key) - 1];
      if (tab !== undefined) change({ tab });
      else if (event.key === '/') {
        event.preventDefault();
        filter.current?.closest('details')?.setAttribute('open', '');
        filter.current?.focus();
      }
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, [change, filter]);
}
