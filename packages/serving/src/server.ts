import { BatchQueue } from './batching/batch-queue.ts';
import { HttpServer } from './http/http-server.ts';
import { Metrics } from './metrics.ts';
import { type ModelSource, type Source, sourcesOf, versionsOf } from './models/model-source.ts';
import { ServedModel } from './models/served-model.ts';
import { VersionWatcher } from './models/version-watcher.ts';
import { warmUp } from './models/warmup.ts';
import { RestApi } from './rest/rest-api.ts';
import { loadServable } from './servable/saved-model.ts';
import type { Servable } from './servable/servable.ts';
import { type ServerOptions, type ServerSettings, settingsOf } from './server-options.ts';

/** A server that runs. */
export interface Server {
  /** `http://127.0.0.1:8501` */
  readonly url: string;
  /** The names of the models, each with the versions that are served now. */
  readonly models: Readonly<Record<string, readonly number[]>>;
  /** Takes no more requests, waits for the answers to those that are there, closes all connections and unloads the models. */
  close(): Promise<void>;
}

/** What is served: one model, or several by their names. */
export type ServedModels =
  | ModelSource
  | Readonly<Record<string, ModelSource>>
  | ReadonlyMap<string, ModelSource>;

/** Starts a server with TensorFlow Serving's REST API: see `tf.serving.createServer`. */
export async function createServer(models: ServedModels, options: ServerOptions = {}): Promise<Server> {
  return startServer(models, options, loadServable);
}

/** As `createServer`, with what loads the versions in folders. */
export async function startServer(
  models: ServedModels,
  options: ServerOptions,
  load: (path: string) => Promise<Servable>,
): Promise<Server> {
  const settings = settingsOf(options);
  const running = new RunningServer(sourcesOf(models, settings.name), settings, load);
  await running.start();
  return running;
}

class RunningServer implements Server {
  readonly #settings: ServerSettings;
  readonly #sources: ReadonlyMap<string, Source>;
  readonly #models: ReadonlyMap<string, ServedModel>;
  readonly #watchers: VersionWatcher[] = [];
  readonly #http: HttpServer;
  readonly #load: (path: string) => Promise<Servable>;
  #url = '';
  #closed: Promise<void> | undefined;

  constructor(
    sources: ReadonlyMap<string, Source>,
    settings: ServerSettings,
    load: (path: string) => Promise<Servable>,
  ) {
    this.#settings = settings;
    this.#load = load;
    this.#sources = sources;
    this.#models = new Map(
      [...sources].map(([name, source]) => [
        name,
        new ServedModel(name, labelsOf(source, settings), settings.log),
      ]),
    );
    const metrics = new Metrics(() => queue);
    const queue = new BatchQueue(settings, {
      started: (rows, waited) => {
        if (rows !== undefined) metrics.batchSize.observe([], rows);
        for (const micros of waited) metrics.queuingLatency.observe([], micros);
      },
    });
    const limits = { maxDepth: settings.maxJsonDepth, maxValues: settings.maxJsonValues };
    const { predictTimeoutMs } = settings;
    const api = new RestApi({ models: this.#models, queue, metrics, limits, predictTimeoutMs });
    const ready = (): boolean => [...this.#models.values()].every(({ available }) => available.length > 0);
    this.#http = new HttpServer({ settings, api, metrics, ready });
  }

  get url(): string {
    return this.#url;
  }

  get models(): Readonly<Record<string, readonly number[]>> {
    const entries = [...this.#models].map(([name, model]) => [name, model.available] as const);
    return Object.fromEntries(entries);
  }

  async start(): Promise<void> {
    try {
      for (const [name, source] of this.#sources)
        await this.#serve(this.#models.get(name) as ServedModel, source);
      this.#url = await this.#http.listen();
    } catch (error) {
      await this.#closeModels();
      throw error;
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#http.close().finally(() => this.#closeModels());
    return this.#closed;
  }

  async #closeModels(): Promise<void> {
    await Promise.all(this.#watchers.map((watcher) => watcher.close()));
    await Promise.all([...this.#models.values()].map((model) => model.close()));
  }

  async #serve(model: ServedModel, source: Source): Promise<void> {
    if (source.kind === 'servable') return model.loaded(1, source.servable);
    const { config, path } = source;
    const { log, pollSeconds, versionPolicy, maxJsonDepth, maxJsonValues } = this.#settings;
    const watcher = new VersionWatcher(model, {
      policy: config.versionPolicy ?? versionPolicy,
      pollMs: pollSeconds * 1000,
      find: await versionsOf(path),
      load: async (folder) => {
        const servable = await this.#load(folder.path);
        await orDispose(servable, () =>
          warmUp(folder.path, servable, { maxDepth: maxJsonDepth, maxValues: maxJsonValues }),
        );
        return servable;
      },
      log,
    });
    this.#watchers.push(watcher);
    await watcher.start();
  }
}

async function orDispose(servable: Servable, fn: () => Promise<void>): Promise<void> {
  try {
    await fn();
  } catch (error) {
    await servable.dispose?.();
    throw error;
  }
}

function labelsOf(source: Source, settings: ServerSettings): ReadonlyMap<string, number> {
  const own = source.kind === 'folder' ? source.config.versionLabels : undefined;
  return new Map(Object.entries(own ?? settings.versionLabels));
}
