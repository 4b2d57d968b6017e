// Files of servers.
import { joined } from '../bytes.ts';
import type { FetchOptions, RequestOptions, StoredFile } from './schemes.ts';
import { SourceError, type SourceProblem } from './source-error.ts';

/** The name of the page's cache. */
const CACHE = 'eagre-models';

interface PageCache {
  match(url: string): Promise<Response | undefined>;
  put(url: string, response: Response): Promise<void>;
  delete(url: string): Promise<boolean>;
  keys(): Promise<readonly { readonly url: string }[]>;
}
const caches = (): { open(name: string): Promise<PageCache> } | undefined =>
  (globalThis as { caches?: { open(name: string): Promise<PageCache> } }).caches;

async function pageCache(): Promise<PageCache> {
  const found = caches();
  if (found === undefined)
    throw new SourceError(
      'UNIMPLEMENTED',
      'cache: true needs the cache of a page that is served by HTTPS or from this machine; leave it out elsewhere',
    );
  return found.open(CACHE);
}

function checkRequest(requestInit: RequestOptions, ours: readonly string[]): void {
  const known = ['headers', 'credentials', 'mode', 'redirect', 'referrerPolicy', ...ours];
  const name = Object.keys(requestInit).find((key) => !known.includes(key));
  if (name !== undefined)
    throw new SourceError('INVALID_ARGUMENT', `requestInit takes ${known.join(', ')}, got '${name}'`);
}

/** @throws SourceError CANCELLED where a signal says so */
function checkSignal(signal: FetchOptions['signal'], url: string): void {
  if (signal?.aborted) throw new SourceError('CANCELLED', `${url}: the request was aborted`, signal.reason);
}

async function request(url: string, init: RequestInit, { signal }: FetchOptions): Promise<Response> {
  checkSignal(signal, url);
  try {
    // A relative URL alone is asked for as it stands.
    return await fetch(url, signal == null ? init : { ...init, signal: signal as AbortSignal });
  } catch (cause) {
    checkSignal(signal, url);
    const { message, cause: deeper } = cause as Error;
    const why = deeper instanceof Error ? `${message}: ${deeper.message}` : message;
    throw new SourceError(
      'UNAVAILABLE',
      `${url}: the request failed (${why}): the server may be out of reach, redirect without end, or not permit other origins (CORS)`,
      cause,
    );
  }
}

const PROBLEMS: Readonly<Record<number, SourceProblem>> = {
  401: 'PERMISSION_DENIED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  410: 'NOT_FOUND',
  413: 'RESOURCE_EXHAUSTED',
  507: 'RESOURCE_EXHAUSTED',
};

function checkAnswer(answer: Response, url: string): void {
  if (answer.type === 'opaqueredirect' || (answer.status >= 300 && answer.status < 400))
    throw new SourceError(
      'FAILED_PRECONDITION',
      `${url}: the server redirects, which would lose what is sent: give the URL that it redirects to`,
    );
  if (answer.ok) return;
  throw new SourceError(
    PROBLEMS[answer.status] ?? 'UNAVAILABLE',
    `${url}: the server answered ${answer.status} ${answer.statusText}`.trimEnd(),
  );
}

/** The bytes of a URL. */
export async function readHttp(url: string, options: FetchOptions): Promise<Uint8Array> {
  const { onProgress, cache = false, requestInit } = options;
  checkRequest(requestInit ?? {}, []);
  const kept = cache ? await pageCache() : undefined;
  const found = await kept?.match(url);
  const answer = found ?? (await request(url, { ...(requestInit as RequestInit) }, options));
  checkAnswer(answer, url);
  const bytes = await bodyOf(answer, url, options);
  const type = answer.headers.get('content-type') ?? '';
  // A server that has no such file may answer with its first page.
  if (/^(text\/html|application\/xhtml)/i.test(type) && bytes[firstSign(bytes)] === '<'.charCodeAt(0)) {
    const where = answer.redirected ? `, of ${answer.url}` : '';
    throw new SourceError(
      'NOT_FOUND',
      `${url}: the server answered with a page (${type}${where}), not with a file: is the URL right, and does it ask for a login?`,
    );
  }
  await checkIntegrity(bytes, url, options);
  onProgress?.(1, { url, loaded: bytes.length, total: bytes.length });
  if (kept !== undefined && found === undefined) {
    const headers = { 'content-length': String(bytes.length), date: new Date().toUTCString() };
    await kept
      .put(url, new Response(bytes as Uint8Array<ArrayBuffer>, { headers }))
      .catch((cause: unknown) => {
        if ((cause as Error).name !== 'QuotaExceededError') throw cause;
        throw new SourceError(
          'RESOURCE_EXHAUSTED',
          `${url}: the page's cache is full: leave cache out`,
          cause,
        );
      });
  }
  return bytes;
}

const firstSign = (bytes: Uint8Array): number => bytes.findIndex((byte) => byte > 32 && byte < 128);

async function bodyOf(
  answer: Response,
  url: string,
  { onProgress, signal }: FetchOptions,
): Promise<Uint8Array> {
  try {
    if (onProgress == null || answer.body === null) return new Uint8Array(await answer.arrayBuffer());
    const length = Number(answer.headers.get('content-length') ?? Number.NaN);
    // Of packed bodies the length is another one.
    const total = Number.isSafeInteger(length) && !answer.headers.has('content-encoding') ? length : null;
    const reader = answer.body.getReader();
    const parts: Uint8Array[] = [];
    let loaded = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      parts.push(value);
      loaded += value.length;
      onProgress(total === null || total === 0 ? 0 : Math.min(1, loaded / total), { url, loaded, total });
    }
    return joined(parts);
  } catch (cause) {
    checkSignal(signal, url);
    if (!(cause instanceof Error) || !(cause instanceof TypeError || cause.name === 'AbortError'))
      throw cause;
    throw new SourceError('UNAVAILABLE', `${url}: the answer broke off (${cause.message})`, cause);
  }
}

const ALGORITHMS: Readonly<Record<string, string>> = {
  sha256: 'SHA-256',
  sha384: 'SHA-384',
  sha512: 'SHA-512',
};

/** @throws SourceError where bytes have another hash than they must have */
export async function checkIntegrity(
  bytes: Uint8Array,
  url: string,
  { integrity }: FetchOptions,
): Promise<void> {
  const name = fileName(url);
  const wanted = typeof integrity === 'string' ? integrity : integrity?.[name];
  if (integrity == null) return;
  if (wanted === undefined)
    throw new SourceError('INVALID_ARGUMENT', `integrity has no hash for the file '${name}' of ${url}`);
  const [, algorithm = '', hash] = /^(sha256|sha384|sha512)-([A-Za-z\d+/]+=*)$/.exec(wanted) ?? [];
  if (hash === undefined)
    throw new SourceError(
      'INVALID_ARGUMENT',
      `integrity must be 'sha256-', 'sha384-' or 'sha512-' and a hash in base64, got '${wanted}'`,
    );
  const { subtle } = globalThis.crypto ?? {};
  if (subtle === undefined)
    throw new SourceError(
      'UNIMPLEMENTED',
      'integrity needs a page that is served by HTTPS or from this machine, which can compute hashes',
    );
  const digest = await subtle.digest(ALGORITHMS[algorithm] as string, bytes as Uint8Array<ArrayBuffer>);
  const found = btoa(String.fromCharCode(...new Uint8Array(digest)));
  if (found.replace(/=+$/, '') !== hash.replace(/=+$/, ''))
    throw new SourceError(
      'DATA_LOSS',
      `${url}: its hash is ${algorithm}-${found}, and integrity says ${wanted}`,
    );
}

/** The last name of a path or URL. */
export const fileName = (url: string): string => url.replace(/[?#].*$/, '').replace(/^.*\//, '');

/** Sends bytes to a URL. */
export async function writeHttp(
  url: string,
  bytes: Uint8Array,
  options: Pick<FetchOptions, 'requestInit' | 'signal'>,
): Promise<void> {
  const { headers = {}, ...init } = options.requestInit ?? {};
  checkRequest(options.requestInit ?? {}, ['method']);
  const sent = {
    method: 'POST',
    ...(init as RequestInit),
    headers: { 'content-type': 'application/octet-stream', ...headers },
    body: bytes as Uint8Array<ArrayBuffer>,
    // A browser makes a GET of a POST that is redirected.
    redirect: 'manual' as const,
  };
  checkAnswer(await request(url, sent, options), url);
}

/** Takes a URL out of the page's cache. */
export async function removeHttp(url: string): Promise<boolean> {
  return caches() === undefined ? false : (await pageCache()).delete(url);
}

/** What the page's cache has. */
export async function listHttp(scheme: string): Promise<Record<string, StoredFile>> {
  const files: Record<string, StoredFile> = {};
  if (caches() === undefined) return files;
  const kept = await pageCache();
  for (const { url } of await kept.keys()) {
    if (!url.startsWith(`${scheme}:`)) continue;
    const headers = (await kept.match(url))?.headers;
    files[url] = {
      bytes: Number(headers?.get('content-length') ?? 0),
      dateSaved: new Date(headers?.get('date') ?? 0),
    };
  }
  return files;
}
