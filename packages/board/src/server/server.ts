import { stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { fileURLToPath } from 'node:url';
import { FormatError } from '@eagre/formats';
import { isOwnName } from '@eagre/formats/internal';
import { answers, type Body, Refusal } from './answers.ts';
import { Logs } from './logs.ts';
import { Pages } from './pages.ts';

/** Options of `serveBoard`. */
export interface BoardOptions {
  /** The folder of runs; event files anywhere below it are shown. */
  readonly logdir: string;
  /** 6006 unless given, as TensorBoard's; 0 takes any that is free. */
  readonly port?: number;
  /** `127.0.0.1` unless given. On another address everybody who reaches it can read the logs. */
  readonly host?: string;
  /** How often the files are looked at, in milliseconds; 1000 unless given. */
  readonly reloadMillis?: number;
}

/** A running dashboard. */
export interface Board {
  readonly url: string;
  /** Resolves once all that was there at the start has been read. */
  readonly loaded: Promise<void>;
  close(): Promise<void>;
}

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
};

/**
 * Serves a dashboard of the event files below a folder, and follows them as they grow.
 *
 *     const board = await serveBoard({ logdir: 'runs' });
 *     console.log(board.url);      // http://127.0.0.1:6006/
 *
 * @throws Error where there is no such folder, or the port is taken.
 */
export function serveBoard(options: BoardOptions): Promise<Board> {
  return serveFrom(fileURLToPath(new URL('./web', import.meta.url)), options);
}

/** The same with the pages of another folder. */
export async function serveFrom(web: string, options: BoardOptions): Promise<Board> {
  const { logdir, port = 6006, host = '127.0.0.1', reloadMillis = 1000 } = options;
  if (!(await stat(logdir).catch(() => undefined))?.isDirectory())
    throw new Error(`there is no folder ${logdir}`);
  const logs = new Logs(logdir);
  const watchers = new Set<ServerResponse>();
  const pages = await Pages.read(web);
  const server = createServer((request, response) => {
    // Those who go away while they are answered; nobody waits for what is left.
    response.on('error', () => undefined);
    try {
      respond(request, response);
    } catch (error) {
      if (response.headersSent) response.destroy();
      else if (error instanceof Refusal) refuse(response, error.status, error.message);
      else refuse(response, 500, error instanceof Error ? error.message : String(error));
    }
  });
  const respond = (request: IncomingMessage, response: ServerResponse): void => {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    if (!isOwnName(request.headers.host ?? '', [host]))
      throw new Refusal(
        403,
        'this name is not served here: use the address of the machine, or --host with this name',
      );
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      throw new Refusal(405, 'only GET');
    }
    const { path, query } = targetOf(request.url ?? '/');
    if (path === '/api/changes') watch(request, response, watchers);
    else if (path.startsWith('/api/')) answer(response, logs, path.slice('/api/'.length), query);
    else if (!pages.send(path, request, response)) throw new Refusal(404, 'not found');
  };
  await listen(server, port, host);

  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  const turn = async (): Promise<void> => {
    const changed = await logs.refresh().catch(() => false);
    if (changed) for (const watcher of watchers) tell(watcher);
    if (!closed) timer = setTimeout(turn, reloadMillis);
  };
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  return {
    url: `http://${isIP(host) === 6 ? `[${host}]` : host}:${bound}/`,
    loaded: turn(),
    async close() {
      closed = true;
      clearTimeout(timer);
      for (const watcher of watchers) watcher.end();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** What a request asks for. Its target is not taken for an address: `//` is none. */
function targetOf(target: string): { readonly path: string; readonly query: URLSearchParams } {
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  if (!path.startsWith('/')) throw new Refusal(400, 'the path of a request begins with /');
  try {
    return { path: decodeURIComponent(path), query: new URLSearchParams(mark < 0 ? '' : target.slice(mark)) };
  } catch {
    throw new Refusal(400, 'the path has a % that is not followed by the code of a character');
  }
}

function answer(response: ServerResponse, logs: Logs, name: string, query: URLSearchParams): void {
  if (!Object.hasOwn(answers, name)) throw new Refusal(404, 'not found');
  try {
    send(response, answers[name](logs, query));
  } catch (error) {
    if (error instanceof FormatError) throw new Refusal(422, error.message);
    throw error;
  }
}

function send(response: ServerResponse, { type, bytes, saveAs }: Body): void {
  response.setHeader('content-type', `${type}; charset=utf-8`);
  response.setHeader('cache-control', 'no-store');
  if (saveAs !== undefined) response.setHeader('content-disposition', `attachment; filename="${saveAs}"`);
  response.end(bytes);
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(message);
}

// What a page that does not listen any more may leave unread.
const MOST_UNREAD = 1 << 16;

/** Server-sent events: one whenever something was read. */
function watch(request: IncomingMessage, response: ServerResponse, watchers: Set<ServerResponse>): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  response.write(': \n\n');
  watchers.add(response);
  response.on('close', () => watchers.delete(response));
}

function tell(watcher: ServerResponse): void {
  if (watcher.writableLength > MOST_UNREAD) watcher.destroy();
  else watcher.write('data: changed\n\n');
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE'
          ? new Error(`port ${port} is taken: choose another by --port, or 0 for any`, { cause: error })
          : new Error(`cannot listen on ${host}, port ${port}: ${error.message}`, { cause: error }),
      );
    });
    server.listen(port, host, () => {
      // Such as too many open files: it says so by itself where it matters, and the next connection may do.
      server.on('error', () => undefined);
      resolve();
    });
  });
}
