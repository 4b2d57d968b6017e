// The server in HTTP: limits, time, health, metrics, CORS and the request log around the API.
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { UnavailableError } from '@eagre/backend';
import { nodeBuiltin } from '@eagre/formats/internal';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
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
const METRICS_PATH = '/monitoring/prometheus/metrics';

/** Listens from `listen` to `close`. */
export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #app: FastifyInstance;
  readonly #connections: Connections;
  #closing = false;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    const { settings } = options;
    this.#app = fastify({
      bodyLimit: settings.maxBodyBytes,
      requestTimeout: settings.requestTimeoutMs,
      keepAliveTimeout: settings.keepAliveTimeoutMs,
      forceCloseConnections: false,
      http: {
        maxHeaderSize: settings.maxHeaderBytes,
        headersTimeout: Math.min(settings.headersTimeoutMs, settings.requestTimeoutMs),
        connectionsCheckingInterval: Math.min(1000, settings.headersTimeoutMs),
      },
      clientErrorHandler: refuseConnection,
      frameworkErrors: (error, _, reply) => send(reply, failure(error)),
    });
    if (settings.maxConnections !== undefined) this.#app.server.maxConnections = settings.maxConnections;
    this.#connections = new Connections(this.#app.server);
    this.#addRoutes();
  }

  /** @returns the address. @throws UnavailableError where the port cannot be had */
  async listen(): Promise<string> {
    const { host, port } = this.#options.settings;
    try {
      await this.#app.listen({ host, port });
    } catch (cause) {
      await this.#app.close();
      throw new UnavailableError(`cannot listen on ${host}:${port}: ${(cause as Error).message}`, 'serving', {
        cause,
      });
    }
    const { address, family, port: own } = this.#app.server.address() as AddressInfo;
    const name = family === 'IPv6' ? `[${address}]` : address;
    return `http://${name}:${own}`;
  }

  /** Takes no more requests, waits for the answers to those that are there, and closes all connections. */
  async close(): Promise<void> {
    this.#closing = true;
    const { server } = this.#app;
    // Those that are busy now are idle after their answer.
    const idle = setInterval(() => this.#connections.closeIdle(), 20);
    const impatient = setTimeout(() => server.closeAllConnections(), this.#options.settings.drainTimeoutMs);
    try {
      const closed = this.#app.close();
      this.#connections.closeIdle();
      await closed;
    } finally {
      clearInterval(idle);
      clearTimeout(impatient);
    }
  }

  #addRoutes(): void {
    const app = this.#app;
    const { metrics, settings } = this.#options;
    // Whatever type a client says: curl says that its body is a form.
    app.addHook('onRequest', async ({ raw }) => {
      delete raw.headers['content-type'];
    });
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body));
    app.setErrorHandler((error, request, reply) => this.#send(request, reply, failure(error)));
    app.setNotFoundHandler((request, reply) =>
      this.#send(request, reply, failure(new StatusError('NOT_FOUND', 'Not Found'))),
    );
    if (settings.cors)
      app.addHook('onRequest', async (_, reply) => {
        reply.header('Access-Control-Allow-Origin', '*');
        reply.header('Access-Control-Allow-Methods', 'POST, GET');
        reply.header('Access-Control-Allow-Headers', 'Content-Type');
      });
    app.get('/healthz', (_, reply) => reply.type(JSON_TYPE).send('{"status":"ok"}'));
    app.get('/readyz', (_, reply) => {
      const ready = !this.#closing && this.#options.ready();
      return reply
        .code(ready ? 200 : 503)
        .type(JSON_TYPE)
        .send(`{"status":"${ready ? 'ready' : 'not ready'}"}`);
    });
    app.get(METRICS_PATH, (_, reply) => reply.type(Metrics.contentType).send(metrics.text()));
    app.all('/*', (request, reply) => this.#handle(request, reply));
  }

  async #handle(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { method } = request;
    const path = pathOf(request);
    if (!/^\/v1\//i.test(path))
      return this.#send(request, reply, failure(new StatusError('NOT_FOUND', 'Not Found')));
    if (method === 'OPTIONS') return this.#send(request, reply, preflight(request));
    let body: Uint8Array;
    try {
      body = await this.#bodyOf(request);
    } catch (error) {
      return this.#send(request, reply, failure(error));
    }
    const abort = new AbortController();
    const gone = (): void => {
      if (!reply.raw.writableFinished) abort.abort();
    };
    reply.raw.once('close', gone);
    const response = await this.#options.api.answer({ method, path, body, signal: abort.signal });
    reply.raw.off('close', gone);
    return this.#send(request, reply, response);
  }

  /** The body, as it was before it was compressed. */
  async #bodyOf(request: FastifyRequest): Promise<Uint8Array> {
    const body = (request.body as Buffer | undefined | null) ?? Buffer.alloc(0);
    const encoding = request.headers['content-encoding']?.toLowerCase() ?? 'identity';
    if (encoding === 'identity') return body;
    if (encoding !== 'gzip')
      throw new StatusError('INVALID_ARGUMENT', `bodies may be compressed by gzip, not by ${encoding}`, 415);
    const { maxBodyBytes } = this.#options.settings;
    try {
      return await unzipped(body, maxBodyBytes);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
        throw new StatusError('INVALID_ARGUMENT', `the body is larger than ${maxBodyBytes} bytes`, 413);
      throw new StatusError('INVALID_ARGUMENT', 'the body is no gzip file');
    }
  }

  #send(request: FastifyRequest, reply: FastifyReply, response: ApiResponse): FastifyReply {
    this.#logRequest(request, reply, response);
    return send(reply, response);
  }

  #logRequest(request: FastifyRequest, reply: FastifyReply, response: ApiResponse): void {
    const { requestLog, log } = this.#options.settings;
    const { error, status } = response;
    // What is told to nobody else.
    if (status === 500) log(`${request.method} ${pathOf(request)} failed`, error);
    if (requestLog === undefined) return;
    const milliseconds = Math.round(reply.elapsedTime * 1000) / 1000;
    requestLog({
      time: new Date(Date.now() - milliseconds).toISOString(),
      method: request.method,
      path: pathOf(request).slice(0, 1000),
      status,
      milliseconds,
      requestBytes: Buffer.isBuffer(request.body) ? request.body.length : 0,
      responseBytes: Buffer.byteLength(response.body),
      ...(response.model === undefined ? {} : { model: response.model }),
      ...(response.version === undefined ? {} : { version: response.version }),
      ...(error === undefined ? {} : { error: statusOf(error).message }),
    });
  }
}

/** The connections of a server. Node's own `closeIdleConnections` leaves those on which no request has come yet. */
class Connections {
  readonly #open = new Set<Socket>();
  /** How many requests of each are being answered: a client may send several at once. */
  readonly #busy = new Map<Socket, number>();

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
    });
    server.on('request', ({ socket }, response) => {
      this.#busy.set(socket, (this.#busy.get(socket) ?? 0) + 1);
      response.once('close', () => {
        const left = (this.#busy.get(socket) ?? 1) - 1;
        if (left > 0) this.#busy.set(socket, left);
        else this.#busy.delete(socket);
      });
    });
  }

  /** Closes those on which no request is being answered. */
  closeIdle(): void {
    for (const socket of this.#open) if (!this.#busy.has(socket)) socket.destroySoon();
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
function pathOf({ raw }: FastifyRequest): string {
  const url = raw.url ?? '/';
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

/** The answer to the question of a browser whether a page may send a request. */
function preflight({ headers }: FastifyRequest): ApiResponse {
  if (/^https?:\/\//.test(headers.origin ?? '')) return { status: 200, body: '' };
  return failure(new StatusError('FAILED_PRECONDITION', 'Origin header is missing in CORS preflight'));
}

function failure(error: unknown): ApiResponse {
  const { message, status } = statusOf(asStatus(error));
  return { status, body: errorBody(message), error };
}

/** Errors of the HTTP library, such as that of a body that is too large, tell their status. */
function asStatus(error: unknown): unknown {
  const { statusCode, message } = error as { readonly statusCode?: number; readonly message?: string };
  if (statusCode === undefined || statusCode < 400 || statusCode >= 500) return error;
  return new StatusError('INVALID_ARGUMENT', message ?? 'bad request', statusCode);
}

function send(reply: FastifyReply, { status, body }: ApiResponse): FastifyReply {
  return reply.code(status).type(JSON_TYPE).send(body);
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
