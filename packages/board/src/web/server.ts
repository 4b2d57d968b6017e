import { useEffect, useRef, useState } from 'preact/hooks';

type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** The address of an answer of the server. */
export function address(name: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query))
    for (const each of [value].flat()) if (each !== undefined) search.append(key, String(each));
  return `api/${name}${search.size > 0 ? `?${search}` : ''}`;
}

export async function ask<T>(url: string, signal?: AbortSignal): Promise<T> {
  return JSON.parse(await askText(url, signal)) as T;
}

async function askText(url: string, signal?: AbortSignal): Promise<string> {
  const response = await fetch(url, signal === undefined ? {} : { signal });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}

const listeners = new Set<() => void>();
let changes: EventSource | undefined;
let connected = true;

/** Calls back whenever the server has read something new, is gone or is there again; returns how to stop. */
function onChange(listener: () => void): () => void {
  if (changes === undefined) {
    const tell = (now: boolean, anyway: boolean): void => {
      if (now === connected && !anyway) return;
      connected = now;
      for (const each of listeners) each();
    };
    changes = new EventSource('api/changes');
    changes.onmessage = () => tell(true, true);
    changes.onopen = () => tell(true, false);
    changes.onerror = () => tell(false, false);
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

/** Counts the changes, at most one every `millis` so that a run at full speed leaves time to look. */
export function useChanges(millis = 1000): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    let timer: number | undefined;
    const stop = onChange(() => {
      timer ??= window.setTimeout(() => {
        timer = undefined;
        setCount((n) => n + 1);
      }, millis);
    });
    return () => {
      stop();
      window.clearTimeout(timer);
    };
  }, [millis]);
  return count;
}

/** Whether the server is there, as far as is known. */
export function useConnected(): boolean {
  const [now, setNow] = useState(connected);
  useEffect(() => onChange(() => setNow(connected)), []);
  return now;
}

export interface Answer<T> {
  readonly value: T | undefined;
  /** The address that was asked for it. */
  readonly of: string | undefined;
  readonly error: string | undefined;
}

/**
 * The answer for an address, asked again when the address or the logs change; the old one stays until the new one is there, and for good
 * where both say the same.
 */
export function useAnswer<T>(url: string | undefined): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>({ value: undefined, of: undefined, error: undefined });
  const text = useRef('');
  const changed = useChanges();
  useEffect(() => {
    if (url === undefined) return;
    const abort = new AbortController();
    askText(url, abort.signal).then(
      (next) =>
        setAnswer((old) => {
          if (old.of === url && text.current === next && old.error === undefined) return old;
          text.current = next;
          return { value: JSON.parse(next) as T, of: url, error: undefined };
        }),
      (error: Error) => {
        if (!abort.signal.aborted) setAnswer((old) => ({ ...old, error: error.message }));
      },
    );
    return () => abort.abort();
  }, [url, changed]);
  return answer;
}
