import { InvalidArgumentError } from '@eagre/backend';
import {
  checkCount,
  checkFlag,
  checkFunction,
  checkOptionNames,
  checkText,
  isPlain,
  shown,
} from '@eagre/core/internal';
import { nodeBuiltin } from '@eagre/formats/internal';
import type { BatchingOptions } from './batching/batch-queue.ts';
import { checkPolicy, isVersion, type VersionPolicy } from './models/version-policy.ts';

/** A line of the request log. */
export interface RequestLogEntry {
  /** When the request came, in ISO 8601. */
  readonly time: string;
  /** `GET`, `POST`, … */
  readonly method: string;
  /** What was asked for, without what is behind a `?`. */
  readonly path: string;
  /** Of HTTP. */
  readonly status: number;
  /** How long the answer took. */
  readonly milliseconds: number;
  /** How many bytes came. */
  readonly requestBytes: number;
  /** How many bytes went. */
  readonly responseBytes: number;
  /** The model that was asked, where there was one. */
  readonly model?: string;
  /** Its version, where it was known. */
  readonly version?: number;
  /** What went wrong. */
  readonly error?: string;
}

/** Options of `createServer` and `startServer`. */
export interface ServerOptions {
  /** 127.0.0.1 unless given, which no other machine can reach. */
  readonly host?: string;
  /**
   * Further names under which clients reach the server, such as that of a service in a cluster; `'*'` for any. Addresses, `localhost`, the machine's
   * name and `host` count without; requests to others get 403, as a web page elsewhere can bend its name to this machine.
   */
  readonly allowedHosts?: readonly string[];
  /** 8501 unless given; 0 takes any that is free. */
  readonly port?: number;
  /** The model's name, where one is served: the name of its folder, or `default`. */
  readonly name?: string;
  /** Which versions of a folder are served: `'latest'` unless given. */
  readonly versionPolicy?: VersionPolicy;
  /** Names of versions, for paths such as `/v1/models/NAME/labels/stable`. */
  readonly versionLabels?: Readonly<Record<string, number>>;
  /** How often folders are looked at for new versions, in seconds; 1 unless given, 0 for never. */
  readonly pollSeconds?: number;
  /** Puts the rows of several requests together; `true` for the defaults. Off unless given: a model may look at all rows of a batch. */
  readonly batching?: boolean | BatchingOptions;
  /** The most runs at a time; the number of processors unless given. */
  readonly maxInFlight?: number;
  /** The most requests that wait for their run, 1000 unless given; further ones get 503. */
  readonly maxEnqueued?: number;
  /** How long a request may wait and run, in milliseconds; 30000 unless given. Then it gets 504. */
  readonly predictTimeoutMs?: number;
  /** How long a client may take to send a request, in milliseconds; 30000 unless given. */
  readonly requestTimeoutMs?: number;
  /** How long a client may take to send the headers, in milliseconds; 10000 unless given. */
  readonly headersTimeoutMs?: number;
  /** How long a connection may be idle, in milliseconds; 72000 unless given. */
  readonly keepAliveTimeoutMs?: number;
  /** How long `close` waits for requests that are being answered, in milliseconds; 30000 unless given. Then they get 503. */
  readonly drainTimeoutMs?: number;
  /** The largest body, in bytes, also of one that was compressed; 32 MiB unless given. Larger ones get 413. */
  readonly maxBodyBytes?: number;
  /** The most bytes of headers; 16 KiB unless given. */
  readonly maxHeaderBytes?: number;
  /** How deep JSON may be nested; 64 unless given. */
  readonly maxJsonDepth?: number;
  /** The most values of a JSON text; 2²³ unless given. */
  readonly maxJsonValues?: number;
  /** The most connections at a time; no limit unless given. */
  readonly maxConnections?: number;
  /** Lets pages of other origins send requests. */
  readonly cors?: boolean;
  /** Gets each request that has been answered. */
  readonly requestLog?: (entry: RequestLogEntry) => void;
  /** Gets what happens to models: loaded, failed, unloaded. `console.warn` for what fails unless given. */
  readonly log?: (message: string, error?: unknown) => void;
}

/** Options with their defaults. */
export interface ServerSettings
  extends Omit<Required<ServerOptions>, 'name' | 'batching' | 'maxConnections' | 'requestLog'> {
  readonly name: string | undefined;
  readonly batching: Required<BatchingOptions> | undefined;
  readonly maxConnections: number | undefined;
  readonly requestLog: ((entry: RequestLogEntry) => void) | undefined;
}

const OP = 'serving.createServer';

const defaults = {
  pollSeconds: 1,
  maxEnqueued: 1000,
  predictTimeoutMs: 30_000,
  requestTimeoutMs: 30_000,
  headersTimeoutMs: 10_000,
  keepAliveTimeoutMs: 72_000,
  drainTimeoutMs: 30_000,
  maxBodyBytes: 32 * 2 ** 20,
  maxHeaderBytes: 16 * 2 ** 10,
  maxJsonDepth: 64,
  maxJsonValues: 2 ** 23,
};
// More would overflow the timers of Node.
const MOST_MS = 2 ** 31 - 1;
/** A recursive reader must not run out of stack. */
const MOST_DEPTH = 1000;

/** @throws InvalidArgumentError for values that options cannot have */
export function settingsOf(options: ServerOptions): ServerSettings {
  const given = Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined && value !== null),
  ) as ServerOptions;
  const {
    host = '127.0.0.1',
    port = 8501,
    allowedHosts = [],
    name,
    versionPolicy = 'latest',
    versionLabels = {},
    maxInFlight = nodeBuiltin('node:os').availableParallelism(),
    maxConnections,
    cors = false,
    requestLog,
    log = (message: string, error?: unknown): void => {
      if (error !== undefined)
        console.warn(`${message}: ${error instanceof Error ? error.message : String(error)}`);
    },
  } = given;
  checkText(host, 'host', OP);
  checkUpTo(port, 'port', 0, 65_535);
  if (!Array.isArray(allowedHosts))
    throw new InvalidArgumentError(`allowedHosts must be a list of names, got ${shown(allowedHosts)}`, OP);
  for (const allowed of allowedHosts) checkText(allowed, 'a name of allowedHosts', OP);
  if (name !== undefined) checkModelName(name, OP);
  checkPolicy(versionPolicy, OP);
  checkLabels(versionLabels, OP);
  checkCount(maxInFlight, 'maxInFlight', OP, 1);
  if (maxConnections !== undefined) checkCount(maxConnections, 'maxConnections', OP, 1);
  checkFlag(cors, 'cors', OP);
  if (requestLog !== undefined) checkFunction(requestLog, 'requestLog', OP);
  checkFunction(log, 'log', OP);
  const safeLog = withoutErrors(log);
  const numbers = { ...defaults, ...pick(given) };
  for (const [key, value] of Object.entries(numbers)) checkLimit(key, value);
  const batching = batchingOf(given.batching ?? false);
  return {
    ...numbers,
    host,
    port,
    allowedHosts,
    name,
    versionPolicy,
    versionLabels,
    batching,
    maxInFlight,
    maxConnections,
    cors,
    requestLog: requestLog === undefined ? undefined : withoutErrors(requestLog),
    log: safeLog,
  };
}

/** A function of the user's that only watches: what it throws must not fail a request. */
function withoutErrors<A extends readonly unknown[]>(watch: (...args: A) => void): (...args: A) => void {
  return (...args) => {
    try {
      watch(...args);
    } catch (error) {
      console.warn('a log function of the server failed:', error);
    }
  };
}

type Limits = typeof defaults;

function pick(given: ServerOptions): Partial<Limits> {
  return Object.fromEntries(Object.entries(given).filter(([key]) => key in defaults));
}

function checkLimit(name: string, value: unknown): void {
  if (name === 'pollSeconds') {
    if (typeof value !== 'number' || !(value >= 0) || value > MOST_MS / 1000)
      throw new InvalidArgumentError(
        `pollSeconds must be a number from 0 to ${MOST_MS / 1000}, got ${shown(value)}`,
        OP,
      );
  } else if (name.endsWith('Ms')) checkUpTo(value, name, 1, MOST_MS);
  else if (name === 'maxJsonDepth') checkUpTo(value, name, 1, MOST_DEPTH);
  else checkCount(value, name, OP, 1);
}

function checkUpTo(value: unknown, name: string, least: number, most: number): void {
  checkCount(value, name, OP, least);
  if ((value as number) > most)
    throw new InvalidArgumentError(`${name} must be at most ${most}, got ${shown(value)}`, OP);
}

function batchingOf(batching: boolean | BatchingOptions): Required<BatchingOptions> | undefined {
  if (batching === false) return undefined;
  if (batching !== true && !isPlain(batching))
    throw new InvalidArgumentError(
      `batching must be true, false or an object of options, got ${shown(batching)}`,
      OP,
    );
  const options: BatchingOptions = batching === true ? {} : batching;
  checkOptionNames<BatchingOptions>(
    options,
    { maxBatchSize: true, batchTimeoutMicros: true },
    `${OP}: batching`,
  );
  const maxBatchSize = options.maxBatchSize ?? 32;
  const batchTimeoutMicros = options.batchTimeoutMicros ?? 1000;
  checkCount(maxBatchSize, 'maxBatchSize', OP, 1);
  checkUpTo(batchTimeoutMicros, 'batchTimeoutMicros', 0, MOST_MS);
  return { maxBatchSize, batchTimeoutMicros };
}

/** @throws InvalidArgumentError for a name that no path can hold */
export function checkModelName(name: unknown, op: string): asserts name is string {
  checkText(name, 'the name of a model', op);
  if ((name as string) === '' || /[\p{Cc}]/u.test(name as string))
    throw new InvalidArgumentError(`${shown(name)} cannot be the name of a model`, op);
}

/** @throws InvalidArgumentError for what are no labels: words with the numbers of versions */
export function checkLabels(labels: unknown, op: string): asserts labels is Readonly<Record<string, number>> {
  if (!isPlain(labels))
    throw new InvalidArgumentError(`versionLabels must be an object, got ${shown(labels)}`, op);
  for (const [label, version] of Object.entries(labels)) {
    if (!/^\w+$/.test(label))
      throw new InvalidArgumentError(`a label is made of letters, digits and _, got ${shown(label)}`, op);
    if (!isVersion(version))
      throw new InvalidArgumentError(
        `the label ${label} needs the number of a version, got ${shown(version)}`,
        op,
      );
  }
}
