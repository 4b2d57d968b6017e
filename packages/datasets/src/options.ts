import { defineFunction, type Kind, type NamedFunction } from '@eagre/core/internal';
import * as kind from './kinds.ts';

/** How far a download is. */
export interface DownloadProgress {
  dataset: string;
  /** The file's name. */
  file: string;
  url: string;
  /** The bytes that are here, those of an earlier attempt included. */
  received: number;
  /** The file's size, when the server says it. */
  total: number | undefined;
}

/**
 * Where data set files come from. They are looked for in `folder` alone when it is given; else in
 * `$EAGRE_DATASETS/<name>`, then in the cache, then in Keras's (`$KERAS_HOME` or `~/.keras`), and last downloaded into
 * the cache.
 */
export interface LoadOptions {
  /** The folder that holds the files, gzipped or not. Nothing is downloaded then. */
  folder?: string | undefined;
  /** The cache; its `datasets/<name>` is used. Default: `$EAGRE_CACHE`, or `eagre` in the user's cache folder. */
  cacheDir?: string | undefined;
  /** URLs of folders to download from, tried in this order. Default: the data set's own. */
  mirrors?: readonly string[] | undefined;
  /** Never download. Default: false. */
  offline?: boolean | undefined;
  /** Compare files with their known checksums. Default: true. */
  verify?: boolean | undefined;
  /** Show downloads on standard error (the default), hide them, or be told of them. */
  progress?: boolean | ((progress: DownloadProgress) => void) | undefined;
  /** Ends a download early; the loading then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** How often to try each mirror again after a passing failure. Default: 2. */
  retries?: number | undefined;
  /** A connection that gives nothing for this long is given up. Default: 30,000. */
  timeoutMs?: number | undefined;
}

/** How these are read. */
export const loadOptions: Readonly<Record<keyof LoadOptions, Kind>> = {
  folder: kind.path,
  cacheDir: kind.path,
  mirrors: kind.listOf(kind.text),
  offline: kind.flag,
  verify: kind.flag,
  progress: kind.progress,
  signal: kind.signal,
  retries: kind.count(0),
  timeoutMs: kind.milliseconds,
};

/** Declares a function that loads, which takes options alone. @param run an async function */
export function defineLoader<O extends LoadOptions, R>(
  name: string,
  options: Readonly<Record<keyof O, Kind>>,
  run: (options: O) => Promise<R>,
): (options?: O | null) => Promise<R> {
  type Loader = NamedFunction<[], [], LoadOptions, Promise<R>>;
  return defineFunction<Loader>(name, {}, options, run as (options: LoadOptions) => Promise<R>);
}
