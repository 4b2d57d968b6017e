import { useEffect, useState } from 'preact/hooks';

export const tabs = ['scalars', 'images', 'histograms', 'texts', 'audio', 'graphs', 'hparams'] as const;
export type Tab = (typeof tabs)[number];
export type Axis = 'step' | 'relative' | 'time';

/** What the person chose. It lives in the address, so that a link shows the same. */
export interface Settings {
  readonly tab: Tab;
  /** From 0 to below 1. */
  readonly smoothing: number;
  readonly axis: Axis;
  readonly log: boolean;
  /** Whether outliers have no say in the vertical axis. */
  readonly inliers: boolean;
  /** A regular expression that names of tags must match. */
  readonly filter: string;
  /** The same for runs. */
  readonly runs: string;
  readonly hidden: readonly string[];
}

const initial: Settings = {
  tab: 'scalars',
  smoothing: 0.6,
  axis: 'step',
  log: false,
  inliers: false,
  filter: '',
  runs: '',
  hidden: [],
};

function read(): Settings {
  const query = new URLSearchParams(location.hash.slice(1));
  const smoothing = Number(query.get('smoothing') ?? initial.smoothing);
  const axis = query.get('axis');
  return {
    tab: tabs.find((tab) => tab === query.get('tab')) ?? initial.tab,
    smoothing: smoothing >= 0 && smoothing < 1 ? smoothing : initial.smoothing,
    axis: axis === 'relative' || axis === 'time' ? axis : 'step',
    log: query.get('log') === 'true',
    inliers: query.get('inliers') === 'true',
    filter: query.get('filter') ?? '',
    runs: query.get('runs') ?? '',
    hidden: query.getAll('hidden'),
  };
}

function write(settings: Settings): void {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(settings)) {
    if (Array.isArray(value)) for (const item of value) query.append(key, item);
    else if (value !== initial[key as keyof Settings]) query.set(key, String(value));
  }
  history.replaceState(null, '', query.size > 0 ? `#${query}` : location.pathname);
}

export type Change = (part: Partial<Settings>) => void;

export function useSettings(): [Settings, Change] {
  const [settings, setSettings] = useState(read);
  useEffect(() => {
    const moved = (): void => setSettings(read());
    addEventListener('hashchange', moved);
    return () => removeEventListener('hashchange', moved);
  }, []);
  return [
    settings,
    (part) =>
      setSettings((old) => {
        const next = { ...old, ...part };
        write(next);
        return next;
      }),
  ];
}

/** Whether a name matches; an expression that is not finished matches its own text. */
export function matcher(expression: string): (name: string) => boolean {
  if (expression === '') return () => true;
  try {
    const pattern = new RegExp(expression, 'i');
    return (name) => pattern.test(name);
  } catch {
    return (name) => name.includes(expression);
  }
}

/** What is kept under a name that somebody else chose, which may be `constructor`. */
export function ownOf<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
