// `eagre serve`: finds the models in a folder or a file, and serves them.
import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { readRegularSync } from '@eagre/formats/internal';
import {
  createServer,
  type ModelConfig,
  type Server,
  type ServerOptions,
  type VersionPolicy,
} from '@eagre/serving';
import { plainLines } from './table.ts';

/** What the command line says. */
export interface ServeOptions {
  readonly port: number;
  readonly host: string;
  readonly allowHost?: readonly string[];
  readonly name?: string;
  readonly config?: string;
  readonly batchSize?: number;
  readonly batchTimeout?: number;
  readonly poll?: number;
  readonly versions?: string;
  readonly label?: Readonly<Record<string, number>>;
  readonly timeout?: number;
  readonly drainTimeout?: number;
  readonly maxBody?: number;
  readonly maxEnqueued?: number;
  readonly maxInFlight?: number;
  readonly cors?: true;
  readonly requestLog?: true;
}

/** Starts the server. Lines about models and requests are written to `out`. @throws Error for a folder without models, and as `createServer` */
export async function serve(
  folder: string | undefined,
  options: ServeOptions,
  out: { write(text: string): void },
): Promise<Server> {
  if ((folder === undefined) === (options.config === undefined))
    throw new Error('give a folder, or a file with --config');
  const models = folder === undefined ? modelsInFile(options.config as string) : modelsIn(resolve(folder));
  const several = typeof models !== 'string';
  if (several && options.name !== undefined)
    throw new Error('--name is for one model, but there are several');
  const line = (text: string): void => out.write(`${plainLines(text)}\n`);
  const { batchSize, batchTimeout, versions, label } = options;
  const given: ServerOptions = {
    host: options.host,
    port: options.port,
    ...optional('allowedHosts', options.allowHost),
    ...optional('name', options.name),
    ...optional('pollSeconds', options.poll),
    ...optional('versionPolicy', versions === undefined ? undefined : policyOf(versions)),
    ...optional('versionLabels', label),
    ...optional('predictTimeoutMs', options.timeout),
    ...optional('drainTimeoutMs', options.drainTimeout),
    ...optional('maxBodyBytes', options.maxBody),
    ...optional('maxEnqueued', options.maxEnqueued),
    ...optional('maxInFlight', options.maxInFlight),
    ...optional('cors', options.cors),
    ...(batchSize === undefined && batchTimeout === undefined
      ? {}
      : {
          batching: {
            ...optional('maxBatchSize', batchSize),
            ...optional('batchTimeoutMicros', batchTimeout),
          },
        }),
    ...(options.requestLog === true ? { requestLog: (entry) => line(JSON.stringify(entry)) } : {}),
    log: (message, error) =>
      line(
        error === undefined
          ? message
          : `${message}: ${error instanceof Error ? error.message : String(error)}`,
      ),
  };
  return createServer(models, given);
}

function optional<K extends string, T>(key: K, value: T | undefined): { readonly [key in K]?: T } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [key in K]: T });
}

/** `latest`, `all`, `latest:2`, `1,2`. @throws Error for something else */
function policyOf(text: string): VersionPolicy {
  if (text === 'latest' || text === 'all') return text;
  const count = /^latest:(\d+)$/.exec(text)?.[1];
  if (count !== undefined) return { latest: Number(count) };
  if (/^\d+(,\d+)*$/.test(text)) return { specific: text.split(',').map(Number) };
  throw new Error(`--versions is latest, all, latest:N or a list such as 1,2; got ${text}`);
}

/** A model, or those by the names of their folders. @throws Error where there is none */
function modelsIn(folder: string): string | Record<string, string> {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new Error(`there is no folder ${folder}`);
  if (holdsModel(folder) || holdsVersions(folder)) return folder;
  const names = folderNames(folder).filter(
    (name) => holdsModel(join(folder, name)) || holdsVersions(join(folder, name)),
  );
  if (names.length === 0)
    throw new Error(
      `there is no SavedModel in ${folder}: expected ${basename(folder)}/saved_model.pb, ${basename(folder)}/1/saved_model.pb, or folders of such`,
    );
  return Object.fromEntries(names.map((name) => [name, join(folder, name)]));
}

function folderNames(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map(({ name }) => name)
    .sort();
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;
const holdsModel = (folder: string): boolean => isFile(join(folder, 'saved_model.pb'));

function holdsVersions(folder: string): boolean {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return false;
  return folderNames(folder).some((name) => /^\d+$/.test(name) && holdsModel(join(folder, name)));
}

/** The models that a file lists. Its paths start from its folder. @throws Error for another file */
function modelsInFile(file: string): Record<string, ModelConfig> {
  const config = JSON.parse(new TextDecoder().decode(readRegularSync(file, 'models'))) as {
    readonly models?: Readonly<Record<string, ModelConfig>>;
  } | null;
  const models = config?.models;
  if (typeof models !== 'object' || models === null)
    throw new Error(`${file} must be an object with "models", by their names`);
  return Object.fromEntries(
    Object.entries(models).map(([name, model]) => {
      if (typeof model !== 'object' || model === null || typeof model.path !== 'string')
        throw new Error(`${file}: the model ${name} needs a "path"`);
      return [name, { ...model, path: resolve(dirname(file), model.path) }];
    }),
  );
}
