// The server in HTTP: limits, time, health, metrics, CORS and the request log around the API.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { UnavailableError } from '@eagre/backend';
import { isOwnName, nodeBuiltin } from '@eagre/formats/internal';
import { Metrics } from '../metrics.ts';
import { errorBody } from '../rest/predict-response.ts';
import type { ApiResponse, RestApi } from '../rest/rest-api.ts';
import type { ServerSettings } from '../server-options.ts';
import { StatusError, statusOf } from '../status.ts';

export interface HttpServerOptions {
  readonly settings: ServerSettings;
  readonly api: RestApi;
  readonly metrics: Metrics;
  /** Whether every model has a version that is served. */
  ready(): boolean;
}

const JSON_TYPE = 'application/json';
/** How long nothing may move on a connection, beyond all times that it may be waited for. */
const STALLED_MS = 1000;
/** How long a client that has connected may take to send its first request, once the server closes. */
const FIRST_REQUEST_MS = 250;
/** Turns of the event loop in which nothing new comes, before the server stops to listen, and the most of all: some accept one connection each. */
const QUIET_TURNS = 3;
const MOST_TURNS = 2000;
const METRICS_PATH = '/monitoring/prometheus/metrics';

/** A request that is being answered. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly reply: ServerResponse;
  readonly start: number;
  /** What the client waits for before it sends the body. */
  readonly expects?: 'to continue' | 'something else';
  /** Of the body, as it came. */
  bytes: number;
}

/** Listens from `listen` to `close`. */
export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #server: Server;
  readonly #connections: Connections;
  readonly #answering = new Set<AbortController>();
  #closing = false;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    const { settings } = options;
    this.#server = nodeBuiltin('node:http').createServer(
      {
        requestTimeout: settings.requestTimeoutMs,
        keepAliveTimeout: settings.keepAliveTimeoutMs,
        maxHeaderSize: settings.maxHeaderBytes,
        headersTimeout: Math.min(settings.headersTimeoutMs, settings.requestTimeoutMs),
        connectionsCheckingInterval: Math.min(1000, settings.headersTimeoutMs),
        // Node's own answers to what is wrong with the headers are empty.
        requireHostHeader: false,
      },
      (request, reply) => this.#begin({ request, reply }),
    );
    this.#server.on('checkContinue', (request: IncomingMessage, reply: ServerResponse) =>
      this.#begin({ request, reply, expects: 'to continue' }),
    );
    this.#server.on('checkExpectation', (request: IncomingMessage, reply: ServerResponse) =>
      this.#begin({ request, reply, expects: 'something else' }),
    );
    this.#server.on('clientError', refuseConnection);
    this.#server.on('connect', (_, socket: Socket) => {
      // Node looks after its errors no more.
      socket.on('error', () => undefined);
      refuseConnection(new Error('no proxy'), socket);
    });
    // Nothing else bounds the time of a client that does not read its answers. Waiting for a prediction or the next request is no such time.
    const { requestTimeoutMs, predictTimeoutMs, keepAliveTimeoutMs } = settings;
    this.#server.timeout = Math.max(requestTimeoutMs, predictTimeoutMs, keepAliveTimeoutMs) + STALLED_MS;
    if (settings.maxConnections !== undefined) this.#server.maxConnections = settings.maxConnections;
    this.#connections = new Connections(this.#server);
  }

  /** @returns the address. @throws UnavailableError where the port cannot be had */
  async listen(): Promise<string> {
    const { host, port } = this.#options.settings;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (cause) => {
        const why = `cannot listen on ${host}:${port}: ${cause.message}`;
        reject(new UnavailableError(why, 'serving', { cause }));
      });
      this.#server.listen({ host, port }, resolve);
    });
    const { address, family, port: own } = this.#server.address() as AddressInfo;
    const name = family === 'IPv6' ? `[${address}]` : address;
    return `http://${name}:${own}`;
  }

  /** Takes no more connections, answers all that has come, and closes them. What takes longer than `drainTimeoutMs` gets 503. */
  async close(): Promise<void> {
    this.#closing = true;
    const server = this.#server;
    await this.#connections.quiet();
    const silentSince = performance.now();
    // Those that are busy now are idle after their answer.
    const closeIdle = (): void =>
      this.#connections.closeIdle(performance.now() - silentSince >= FIRST_REQUEST_MS);
    const idle = setInterval(closeIdle, 20);
    let last: NodeJS.Timeout | undefined;
    const impatient = setTimeout(() => {
      for (const abort of this.#answering)
        abort.abort(new StatusError('UNAVAILABLE', 'the server is closing', 503));
      last = setTimeout(() => server.closeAllConnections(), STALLED_MS);
    }, this.#options.settings.drainTimeoutMs);
    try {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      closeIdle();
      await closed;
    } finally {
      clearInterval(idle);
      clearTimeout(impatient);
      clearTimeout(last);
    }
  }

  #begin(exchange: Omit<Exchange, 'start' | 'bytes'>): void {
    const { request, reply } = exchange;
    this.#connections.begin(request.socket, reply);
    void this.#answer({ ...exchange, start: performance.now(), bytes: 0 });
  }

  async #answer(exchange: Exchange): Promise<void> {
    const { request, reply } = exchange;
    const { metrics, settings } = this.#options;
    const path = pathOf(request);
    if (settings.cors) {
      reply.setHeader('Access-Control-Allow-Origin', '*');
      reply.setHeader('Access-Control-Allow-Methods', 'POST, GET');
      reply.setHeader('Access-Control-Allow-Headers', 'Content-Type');
    }
    if (this.#closing) reply.setHeader('Connection', 'close');
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (isRead && path === '/healthz') return send(reply, { status: 200, body: '{"status":"ok"}' });
    if (isRead && path === '/readyz') {
      const ready = !this.#closing && this.#options.ready();
      const body = `{"status":"${ready ? 'ready' : 'not ready'}"}`;
      return send(reply, { status: ready ? 200 : 503, body });
    }
    if (isRead && path === METRICS_PATH && this.#isOwn(request))
      return send(reply, { status: 200, body: metrics.text() }, Metrics.contentType);
    let response: ApiResponse;
    try {
      response = await this.#respond(exchange, path);
    } catch (error) {
      // Whether the body comes after all is for the client to say.
      if (exchange.expects !== undefined) reply.setHeader('Connection', 'close');
      response = failure(error);
    }
    this.#logRequest(exchange, path, response);
    send(reply, response);
  }

  async #respond(exchange: Exchange, path: string): Promise<ApiResponse> {
    const { request, reply } = exchange;
    const method = request.method ?? '';
    checkHeaders(exchange);
    if (!this.#isOwn(request)) {
      reply.setHeader('Connection', 'close');
      throw new StatusError(
        'PERMISSION_DENIED',
        'this name is not served here: use the address of the machine, or name it in allowedHosts (--allow-host)',
      );
    }
    if (!/^\/v1\//i.test(path)) throw new StatusError('NOT_FOUND', 'Not Found');
    if (!isDecodable(path))
      throw new StatusError('INVALID_ARGUMENT', `'${path}' is not a valid url component`, 400);
    if (method === 'OPTIONS') return preflight(request);
    const body = await this.#bodyOf(exchange);
    const abort = new AbortController();
    const gone = (): void => {
      if (!reply.writableFinished) abort.abort(new StatusError('CANCELLED', 'the client has gone'));
    };
    reply.once('close', gone);
    this.#answering.add(abort);
    try {
      return await this.#options.api.answer({ method, path, body, signal: abort.signal });
    } finally {
      this.#answering.delete(abort);
      reply.off('close', gone);
    }
  }

  /** Whether it asks for a name that this server has. */
  #isOwn({ headers }: IncomingMessage): boolean {
    const { allowedHosts, host } = this.#options.settings;
    return allowedHosts.includes('*') || isOwnName(headers.host, [host, ...allowedHosts]);
  }

  /** The body, as it was before it was compressed. */
  async #bodyOf(exchange: Exchange): Promise<Uint8Array> {
    const { request, reply } = exchange;
    const { maxBodyBytes } = this.#options.settings;
    let body: Buffer;
    try {
      if (Number(request.headers['content-length']) > maxBodyBytes) throw tooLarge(maxBodyBytes);
      if (exchange.expects === 'to continue') reply.writeContinue();
      body = await received(request, maxBodyBytes);
    } catch (error) {
      // What is left of it is not read: the connection ends with the answer.
      reply.setHeader('Connection', 'close');
      throw error;
    }
    exchange.bytes = body.length;
    const encoding = request.headers['content-encoding']?.toLowerCase() ?? 'identity';
    if (encoding === 'identity') return body;
    if (encoding !== 'gzip')
      throw new StatusError('INVALID_ARGUMENT', `bodies may be compressed by gzip, not by ${encoding}`, 415);
    try {
      return await unzipped(body, maxBodyBytes);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(maxBodyBytes);
      throw new StatusError('INVALID_ARGUMENT', 'the body is no gzip file');
    }
  }

  #logRequest({ request, start, bytes }: Exchange, path: string, response: ApiResponse): void {
    const { requestLog, log } = this.#options.settings;
    const { error, status } = response;
    const method = request.method ?? '';
    // What is told to nobody else.
    if (status === 500) log(`${method} ${path} failed`, error);
    if (requestLog === undefined) return;
    const milliseconds = Math.round((performance.now() - start) * 1000) / 1000;
    requestLog({
      time: new Date(Date.now() - milliseconds).toISOString(),
      method,
      path: path.slice(0, 1000),
      status,
      milliseconds,
      requestBytes: bytes,
      responseBytes: Buffer.byteLength(response.body),
      ...(response.model === undefined ? {} : { model: response.model }),
      ...(response.version === undefined ? {} : { version: response.version }),
      ...(error === undefined ? {} : { error: statusOf(error).message }),
    });
  }
}

/** @throws StatusError for headers that no answer can be given to */
function checkHeaders({ request, reply, expects }: Exchange): void {
  const { httpVersion, headers, headersDistinct } = request;
  const hosts = headersDistinct['host']?.length;
  if (httpVersion !== '1.0' && hosts !== 1) {
    // What else comes from there may not be what it seems.
    reply.setHeader('Connection', 'close');
    throw new StatusError('INVALID_ARGUMENT', 'expected one Host header', 400);
  }
  if (expects === 'something else')
    throw new StatusError('INVALID_ARGUMENT', `the expectation '${headers.expect}' cannot be met`, 417);
}

const tooLarge = (most: number): StatusError =>
  new StatusError('INVALID_ARGUMENT', `the body is larger than ${most} bytes`, 413);

/** The bytes of a body. @throws (the promise) StatusError for more than `most`, and where the client goes away before the end */
function received(request: IncomingMessage, most: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= most) chunks.push(chunk);
      else {
        request.pause();
        chunks.length = 0;
        reject(tooLarge(most));
      }
    });
    request.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    const ended = (): void => reject(new StatusError('INVALID_ARGUMENT', 'the body ended early', 400));
    request.on('error', ended);
    request.on('close', ended);
  });
}

/** The connections of a server. Node's own `closeIdleConnections` leaves those on which no request has come yet. */
class Connections {
  readonly #open = new Set<Socket>();
  /** Those on which no request has come yet. */
  readonly #silent = new Set<Socket>();
  /** How many requests of each are being answered: a client may send several at once. */
  readonly #busy = new Map<Socket, number>();
  /** How many connections and requests have come. */
  #came = 0;

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#came++;
      this.#open.add(socket);
      this.#silent.add(socket);
      socket.once('close', () => {
        this.#open.delete(socket);
        this.#silent.delete(socket);
      });
    });
  }

  /** Says that a request on a connection is being answered. */
  begin(socket: Socket, reply: ServerResponse): void {
    this.#came++;
    this.#silent.delete(socket);
    this.#busy.set(socket, (this.#busy.get(socket) ?? 0) + 1);
    reply.once('close', () => {
      const left = (this.#busy.get(socket) ?? 1) - 1;
      if (left > 0) this.#busy.set(socket, left);
      else this.#busy.delete(socket);
    });
  }

  /** Waits until all that has come to this machine is read: the system holds connections and requests until the event loop takes them. */
  async quiet(): Promise<void> {
    for (let [quiet, turn] = [0, 0]; quiet < QUIET_TURNS && turn < MOST_TURNS; turn++) {
      const before = this.#came;
      await new Promise((done) => setImmediate(done));
      quiet = this.#came === before ? quiet + 1 : 0;
    }
  }

  /** Closes those on which no request is being answered. @param all those, too, on which none has come yet. */
  closeIdle(all: boolean): void {
    for (const socket of this.#open)
      if (!this.#busy.has(socket) && (all || !this.#silent.has(socket))) socket.destroySoon();
  }
}

/** What was compressed. @throws an error with a code for more bytes, and for what is no gzip file */
function unzipped(bytes: Uint8Array, maxOutputLength: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    nodeBuiltin('node:zlib').gunzip(bytes, { maxOutputLength }, (error, result) =>
      error === null ? resolve(result) : reject(error),
    );
  });
}

/** The path as it was sent, without the query. */
function pathOf({ url = '/' }: IncomingMessage): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** The answer to the question of a browser whether a page may send a request. */
function preflight({ headers }: IncomingMessage): ApiResponse {
  if (/^https?:\/\//.test(headers.origin ?? '')) return { status: 200, body: '' };
  return failure(new StatusError('FAILED_PRECONDITION', 'Origin header is missing in CORS preflight'));
}

function failure(error: unknown): ApiResponse {
  const { message, status } = statusOf(error);
  return { status, body: errorBody(message), error };
}

function send(reply: ServerResponse, { status, body }: ApiResponse, type: string = JSON_TYPE): void {
  reply.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) });
  reply.end(body);
}

const refusals: Readonly<Record<string, readonly [status: number, text: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large', 'the headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', 'the request took too long to arrive'],
};

/** Answers what is no HTTP, or comes too slowly, and closes the connection. */
function refuseConnection(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const [status, text, message] = refusals[error.code ?? ''] ?? [
    400,
    'Bad Request',
    'malformed HTTP request',
  ];
  const body = errorBody(message);
  if (socket.writable)
    socket.write(
      `HTTP/1.1 ${status} ${text}\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    );
  socket.destroySoon();
}
