// Where bytes come from when a path is a URL. What reads them is loaded when the first one is read (`url-files.ts`).

/** Bytes that are kept under a URL, for lists. */
export interface StoredFile {
  readonly bytes: number;
  readonly dateSaved: Date;
}

/** How far one file is. */
export interface FetchProgress {
  readonly url: string;
  /** How many bytes there are, and are to come; `total` is null where the server does not say it. */
  readonly loaded: number;
  readonly total: number | null;
}

/** What a request has, of the options of the page's `fetch`. */
export interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly credentials?: 'omit' | 'same-origin' | 'include';
  readonly mode?: 'cors' | 'same-origin';
  readonly redirect?: 'follow' | 'error';
  readonly referrerPolicy?: string;
  /** Of what is saved: POST unless given. */
  readonly method?: 'POST' | 'PUT' | 'PATCH';
}

/** What ends something early, such as an `AbortSignal`. */
export interface Signal {
  readonly aborted: boolean;
  readonly reason?: unknown;
}

/** How files of URLs are read. */
export interface FetchOptions {
  /** Is called while a file comes: with its fraction from 0 to 1, which is 0 up to the end where the server does not say the size. */
  readonly onProgress?: ((fraction: number, progress: FetchProgress) => void) | null;
  /** Ends it early, such as the `signal` of an `AbortController`. */
  readonly signal?: Signal | null;
  /** Headers and other options of the requests, as for `fetch`. */
  readonly requestInit?: RequestOptions | null;
  /** The hash that the file must have, as pages write it: `'sha256-…'`; or those of several files by their names. */
  readonly integrity?: string | Readonly<Record<string, string>> | null;
  /** Whether files of `http` and `https` are kept in the page's cache, and taken from there; false unless given. */
  readonly cache?: boolean;
}

/** What knows the URLs of a scheme. */
export interface FileScheme {
  /** All bytes of a URL. */
  read(url: string, options: FetchOptions): Promise<Uint8Array>;
  /** Keeps bytes under a URL, in the place of those that are there, whole or not at all. */
  write?(
    url: string,
    bytes: Uint8Array,
    options: Pick<FetchOptions, 'requestInit' | 'signal'>,
  ): Promise<void>;
  /** @returns whether there was anything */
  remove?(url: string): Promise<boolean>;
  /** All that is kept, by URL. */
  list?(): Promise<Readonly<Record<string, StoredFile>>>;
}

/** Those of programs, by scheme. */
export const ownSchemes: Map<string, FileScheme> = new Map();

/** The scheme of a URL, in small letters; undefined for a path. A letter alone is a drive of Windows. */
export const schemeOf = (path: string): string | undefined =>
  /^([a-z][a-z\d+.-]+):\/\//i.exec(path)?.[1]?.toLowerCase();

/** What reads, keeps and lists files of URLs. */
export const urlFiles = (): Promise<typeof import('./url-files.ts')> => import('./url-files.ts');
