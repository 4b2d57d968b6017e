// TensorFlow Serving's REST API, apart from HTTP: a method, a path and a body in, a status and a body out.
import type { BatchQueue } from '../batching/batch-queue.ts';
import type { JsonLimits } from '../json/json-reader.ts';
import { parseJson } from '../json/json-reader.ts';
import type { Metrics } from '../metrics.ts';
import { notFound, type ServedModel, type VersionHandle } from '../models/served-model.ts';
import { StatusError, statusOf } from '../status.ts';
import { inferenceOf } from './inference.ts';
import { metadataBody, statusBody } from './model-info.ts';
import { type Target, targetOf } from './paths.ts';
import { asDocument } from './predict-request.ts';
import { errorBody } from './predict-response.ts';

/** What a client asked. */
export interface ApiRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly body: Uint8Array;
  /** Aborted when the client has gone, or when the server ends; the reason is a StatusError. */
  readonly signal: AbortSignal;
}

export interface ApiResponse {
  /** Of HTTP. */
  readonly status: number;
  readonly body: string;
  /** For the log, where they are known. */
  readonly model?: string;
  readonly version?: number;
  /** What went wrong. */
  readonly error?: unknown;
}

export interface RestApiOptions {
  readonly models: ReadonlyMap<string, ServedModel>;
  readonly queue: BatchQueue;
  readonly metrics: Metrics;
  readonly limits: JsonLimits;
  readonly predictTimeoutMs: number;
}

type Known = { model?: string; version?: number };

export class RestApi {
  readonly #options: RestApiOptions;

  constructor(options: RestApiOptions) {
    this.#options = options;
  }

  /** Answers a request; never throws. */
  async answer(request: ApiRequest): Promise<ApiResponse> {
    const { metrics, models } = this.#options;
    const start = performance.now();
    const known: Known = {};
    let api = '';
    try {
      const target = targetOf(request.method, request.path);
      // Only names that there are: others would fill the memory, and the metrics.
      if (models.has(target.model)) known.model = target.model;
      api = target.kind === 'inference' ? target.method : target.kind;
      const body = await this.#answerTo(target, request, known);
      metrics.requests.add([known.model ?? '', 'OK']);
      metrics.requestLatency.observe([known.model ?? '', api, 'REST'], (performance.now() - start) * 1000);
      return { status: 200, body, ...known };
    } catch (error) {
      const { code, message, status } = statusOf(error);
      metrics.requests.add([known.model ?? '', code]);
      return { status, body: errorBody(message), error, ...known };
    }
  }

  async #answerTo(target: Target, request: ApiRequest, known: Known): Promise<string> {
    if (target.kind === 'inference') return this.#infer(target, request, known);
    if (target.kind === 'status') {
      const model = this.#options.models.get(target.model);
      if (model === undefined)
        throw new StatusError('NOT_FOUND', `Could not find any versions of model ${target.model}`);
      return statusBody(model.status(target.choice));
    }
    return this.#with(target, known, async ({ servable, version }) =>
      metadataBody(target.model, version, servable),
    );
  }

  async #infer(
    target: Target & { readonly kind: 'inference' },
    { body, signal }: ApiRequest,
    known: Known,
  ): Promise<string> {
    const { queue, metrics, limits, predictTimeoutMs } = this.#options;
    if (body.length === 0)
      throw new StatusError('INVALID_ARGUMENT', 'JSON Parse error: The document is empty. at offset: 0');
    const infer = inferenceOf(target.method, asDocument(parseJson(body, limits)));
    const giveUp = new Deadline(predictTimeoutMs, signal);
    try {
      return await this.#with(target, known, ({ servable }) =>
        infer(servable, async (signature, inputs) => {
          const start = performance.now();
          const outputs = await queue.submit(signature, inputs, giveUp.signal);
          const micros = (performance.now() - start) * 1000;
          metrics.runtimeLatency.observe([target.model, target.method, 'Eagre'], micros);
          return outputs;
        }),
      );
    } finally {
      giveUp.clear();
    }
  }

  /** Holds a version until `use` has ended. */
  async #with<T>(
    { model, choice }: Target,
    known: Known,
    use: (handle: VersionHandle) => Promise<T>,
  ): Promise<T> {
    const served = this.#options.models.get(model);
    if (served === undefined) throw notFound(model, choice.version);
    const handle = served.acquire(choice);
    known.version = handle.version;
    try {
      return await use(handle);
    } finally {
      handle.release();
    }
  }
}

/** Ends a request after some time, or when its client has gone. */
class Deadline {
  readonly #abort = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #client: AbortSignal;

  constructor(milliseconds: number, client: AbortSignal) {
    this.#client = client;
    this.#timer = setTimeout(() => {
      this.#abort.abort(
        new StatusError('DEADLINE_EXCEEDED', `the request took more than ${milliseconds} ms`),
      );
    }, milliseconds);
    client.addEventListener('abort', this.#gone);
    if (client.aborted) this.#gone();
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#client.removeEventListener('abort', this.#gone);
  }

  readonly #gone = (): void => this.#abort.abort(this.#client.reason);
}
