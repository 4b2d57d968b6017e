import { makeFolders, writeFileAtomic } from '@eagre/formats';
import { nodeBuiltin } from '@eagre/formats/internal';
import { type Checksum, checksumLike } from './checksum.ts';
import { DatasetError } from './errors.ts';
import type { LoadOptions } from './options.ts';
import { type PartFile, partFile } from './part-file.ts';
import { type ProgressDisplay, progressDisplay } from './progress.ts';

const RETRIES = 2;
const BACKOFF_MS = 500;
const TIMEOUT_MS = 30_000;

/** A file to be downloaded. */
export interface DownloadRequest {
  dataset: string;
  /** The file's name, for messages. */
  name: string;
  /** Without one, whatever arrives whole is taken, and nothing is resumed. */
  checksum: Checksum | undefined;
  /** No correct file is larger; a server that sends more is given up. */
  maxBytes: number;
  /** Where the file is, tried in this order. */
  urls: readonly string[];
  /** Where to keep it. */
  path: string;
  /** What the user can do when it is not to be had. */
  hint?: string;
}

/** A failure of one attempt; `passing` ones are worth another attempt at the same mirror. */
class AttemptError extends Error {
  readonly passing: boolean;

  constructor(message: string, passing: boolean, options?: ErrorOptions) {
    super(message, options);
    this.passing = passing;
  }
}

/**
 * Downloads a file from the first mirror that gives it with the right checksum, and keeps it. An interrupted download
 * is resumed by the next one, also by another process. Nothing unverified ever stands at `path`.
 *
 * @throws DatasetError with code `download` that says what each mirror answered, or with code `cache`.
 * @throws The signal's reason when that ended it.
 */
export async function download(request: DownloadRequest, options: LoadOptions): Promise<Uint8Array> {
  const { path } = request;
  await keeping(request, async () => makeFolders(nodeBuiltin('node:path').dirname(path)));
  const part = partFile(`${path}.part`);
  const failures: string[] = [];
  for (const url of request.urls) {
    for (let attempt = 0; attempt <= (options.retries ?? RETRIES); attempt++) {
      if (attempt > 0) await pause(BACKOFF_MS * 2 ** (attempt - 1), options.signal);
      try {
        const bytes = await attemptDownload(url, request, part, options);
        await keeping(request, () => writeFileAtomic(path, bytes));
        await part.discard();
        return bytes;
      } catch (error) {
        if (!(error instanceof AttemptError)) throw error;
        failures.push(`${url}: ${error.message}`);
        if (!error.passing) break;
      }
    }
  }
  throw new DatasetError({
    code: 'download',
    dataset: request.dataset,
    file: path,
    what:
      failures.length > 0
        ? `cannot be downloaded (${[...new Set(failures)].join('; ')})`
        : 'there is no mirror',
    hint: request.hint,
  });
}

async function attemptDownload(
  url: string,
  request: DownloadRequest,
  part: PartFile,
  options: LoadOptions,
): Promise<Uint8Array> {
  const display = await progressDisplay(options.progress);
  try {
    // What an earlier attempt left may be of another file, which only a checksum tells.
    if (request.checksum === undefined) await part.discard();
    const { bytes, resumed } = await receive(url, request, part, display, options);
    if (request.checksum === undefined) return bytes;
    const got = checksumLike(request.checksum, bytes);
    if (got === request.checksum) return bytes;
    await part.discard();
    // The earlier part may be what was wrong; alone, the same mirror may do.
    throw new AttemptError(`wrong content, expected ${request.checksum}, got ${got}`, resumed);
  } finally {
    display.stop();
    await part.close();
  }
}

async function receive(
  url: string,
  request: DownloadRequest,
  part: PartFile,
  display: ProgressDisplay,
  options: LoadOptions,
): Promise<{ bytes: Uint8Array; resumed: boolean }> {
  const patience = new Patience(options.timeoutMs ?? TIMEOUT_MS);
  const signals = options.signal ? [options.signal, patience.signal] : [patience.signal];
  try {
    const earlier = await part.read();
    const response = await fetch(url, {
      // The files are gzipped already, and a decoded one could not be verified.
      headers: {
        'accept-encoding': 'identity',
        ...(earlier.length && { range: `bytes=${earlier.length}-` }),
      },
      signal: AbortSignal.any(signals),
    });
    const resumed = response.status === 206 && earlier.length > 0;
    await checkResponse(response, resumed ? earlier.length : 0, part);

    const chunks: Uint8Array[] = resumed ? [earlier] : [];
    let received = resumed ? earlier.length : 0;
    const length = response.headers.get('content-length');
    const total = length === null ? undefined : received + Number(length);
    if ((total ?? 0) > request.maxBytes) throw tooLarge(request);
    const progress = { dataset: request.dataset, file: request.name, url, total };
    display.update({ ...progress, received });
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      patience.renew();
      if (received + chunk.length > request.maxBytes) {
        await part.discard();
        throw tooLarge(request);
      }
      await keeping(request, () => part.write(chunk, received));
      chunks.push(chunk);
      received += chunk.length;
      display.update({ ...progress, received });
    }
    if (total !== undefined && received < total) throw new AttemptError('the connection ended early', true);
    return { bytes: Buffer.concat(chunks), resumed };
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof AttemptError || error instanceof DatasetError) throw error;
    throw new AttemptError(patience.signal.aborted ? 'no answer in time' : reasonOf(error), true, {
      cause: error,
    });
  } finally {
    patience.end();
  }
}

function tooLarge({ maxBytes }: DownloadRequest): AttemptError {
  return new AttemptError(`larger than the file can be (${maxBytes} bytes)`, false);
}

async function checkResponse(response: Response, start: number, part: PartFile): Promise<void> {
  const { status } = response;
  if (status === 200 && response.body) return;
  if (status === 206 && response.body) {
    const range = response.headers.get('content-range');
    if (start > 0 && range?.startsWith(`bytes ${start}-`)) return;
    await part.discard();
    throw new AttemptError(`another range than asked for (${range})`, true);
  }
  await response.body?.cancel();
  // 416: the part is as long as the file, or longer, and yet was not verified.
  if (status === 416) await part.discard();
  throw new AttemptError(
    `HTTP ${status}`,
    status === 416 || status === 408 || status === 429 || status >= 500,
  );
}

/** Aborts when nothing has happened for a while. */
class Patience {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor(milliseconds: number) {
    this.#timer = setTimeout(() => this.#controller.abort(), milliseconds);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  renew(): void {
    this.#timer.refresh();
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

/** Runs a step that needs the cache folder. */
async function keeping<T>(request: DownloadRequest, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (cause) {
    throw new DatasetError({
      code: 'cache',
      dataset: request.dataset,
      file: request.path,
      what: `cannot be written (${reasonOf(cause)})`,
      hint: 'Name a writable folder by the option `cacheDir` or by $EAGRE_CACHE',
      cause,
    });
  }
}

/** fetch says only "fetch failed"; the reason is in its cause. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  if (!(cause instanceof Error)) return message;
  const { code } = cause as NodeJS.ErrnoException;
  return cause.message || code || message;
}

function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}
