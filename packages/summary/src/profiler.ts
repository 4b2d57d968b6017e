// `tf.profiler.experimental`: what a program did, op by op, for TensorBoard's profiler.
import {
  AlreadyExistsError,
  FailedPreconditionError,
  InvalidArgumentError,
  UnavailableError,
  UnimplementedError,
  withFileErrors,
} from '@eagre/backend';
import {
  type Arguments,
  argumentsOf,
  checkCount,
  checkPath,
  checkText,
  defineFunction,
  kind,
  type NamedFunction,
  profiling,
  shown,
  takesArguments,
} from '@eagre/core/internal';
import { makeFolders, tensorflow, writeFileAtomicSync } from '@eagre/formats';
import { nodeBuiltin } from '@eagre/formats/internal';

const SPACE = 'profiler.experimental.';

interface ProfilerArguments {
  readonly hostTracerLevel?: number;
  readonly pythonTracerLevel?: number;
  readonly deviceTracerLevel?: number;
  readonly delayMs?: number | null;
}

/** What is profiled. */
export class ProfilerOptions {
  /** 1: what `Trace` marks; 2 and 3: ops and functions as well. */
  readonly hostTracerLevel: number;

  /**
   * @throws UnimplementedError for `pythonTracerLevel` and a `delayMs` other than 0: JavaScript's own profiler (`node --cpu-prof`) shows functions of the program.
   */
  constructor(
    ...args: Arguments<
      [
        hostTracerLevel?: number,
        pythonTracerLevel?: number,
        deviceTracerLevel?: number,
        delayMs?: number | null,
      ],
      ['hostTracerLevel', 'pythonTracerLevel', 'deviceTracerLevel', 'delayMs']
    >
  ) {
    const op = 'ProfilerOptions';
    const {
      hostTracerLevel = 2,
      pythonTracerLevel = 0,
      deviceTracerLevel = 1,
      delayMs = null,
    } = argumentsOf<ProfilerArguments>(ProfilerOptions, new.target, args);
    for (const [name, value] of Object.entries({
      hostTracerLevel,
      pythonTracerLevel,
      deviceTracerLevel,
      delayMs: delayMs ?? 0,
    }))
      checkCount(value, name, op, 0);
    if (pythonTracerLevel > 0)
      throw new UnimplementedError(
        'pythonTracerLevel can be 0 only: calls of JavaScript are not traced, run `node --cpu-prof` for these',
        op,
      );
    if (deviceTracerLevel > 1) throw new UnimplementedError('deviceTracerLevel can be 0 or 1', op);
    if ((delayMs ?? 0) > 0)
      throw new UnimplementedError('delayMs can be 0 only: a profile begins at once, call start later', op);
    this.hostTracerLevel = hostTracerLevel;
  }
}
takesArguments<ProfilerArguments>(
  {
    positional: ['hostTracerLevel', 'pythonTracerLevel', 'deviceTracerLevel', 'delayMs'],
    required: 0,
    names: { hostTracerLevel: true, pythonTracerLevel: true, deviceTracerLevel: true, delayMs: true },
  },
  ProfilerOptions,
);

type Metadata = Readonly<Record<string, number | string | boolean>>;
interface Span {
  readonly name: string;
  /** Milliseconds, as `performance.now()` tells them. */
  readonly begin: number;
  readonly end: number;
  readonly metadata: Metadata;
}

/** The profile that is being made. */
let session: {
  readonly logdir: string;
  readonly began: number;
  readonly spans: Span[];
} | null = null;

/**
 * Begins a profile, which `stop` writes. Every op of eager code and every run of a traced function, but those of `runAsync`, is in it, with the time
 * that the host spent on it, and what `Trace` marks.
 *
 *     tf.profiler.experimental.start('logs');
 *     …
 *     tf.profiler.experimental.stop();
 *
 * @throws AlreadyExistsError while another one is made
 */
export const start: NamedFunction<
  [logdir: string, options?: ProfilerOptions | null],
  ['logdir', 'options'],
  unknown,
  void
> = /* @__PURE__ */ defineFunction(
  `${SPACE}start`,
  { logdir: kind.asIs, options: kind.asIs },
  {},
  (logdir, options = null) => {
    const op = `${SPACE}start`;
    checkPath(logdir, 'logdir', op);
    if (options !== null && !(options instanceof ProfilerOptions))
      throw new InvalidArgumentError(
        `options must be a tf.profiler.experimental.ProfilerOptions, got ${shown(options)}`,
        op,
      );
    if (session !== null) throw new AlreadyExistsError('another profile is being made: call stop first', op);
    const spans: Span[] = [];
    session = { logdir, began: performance.now(), spans };
    if ((options?.hostTracerLevel ?? 2) >= 2)
      profiling.record = (name, begin) => {
        spans.push({ name, begin, end: performance.now(), metadata: {} });
      };
  },
);

/**
 * Ends the profile, and writes it to `logdir/plugins/profile/<time>/<host>.xplane.pb`, where TensorBoard looks for it.
 * @param save whether it is written; true unless given.
 * @throws UnavailableError where none was begun
 */
export const stop: NamedFunction<[save?: boolean], ['save'], unknown, void> = /* @__PURE__ */ defineFunction(
  `${SPACE}stop`,
  { save: kind.asIs },
  {},
  (save = true) => {
    if (session === null)
      throw new UnavailableError('no profile is being made: call start first', `${SPACE}stop`);
    const ended = session;
    session = null;
    profiling.record = null;
    if (save) write(ended.logdir, ended.began, ended.spans);
  },
);

function write(logdir: string, began: number, spans: readonly Span[]): void {
  const { join } = nodeBuiltin('node:path');
  const now = new Date();
  const two = (n: number): string => String(n).padStart(2, '0');
  const [year, ...rest] = [
    now.getFullYear(),
    now.getMonth() + 1,
    now.getDate(),
    now.getHours(),
    now.getMinutes(),
    now.getSeconds(),
  ];
  const folder = join(logdir, 'plugins', 'profile', [String(year), ...rest.map(two)].join('_'));
  const host = nodeBuiltin('node:os').hostname() || 'localhost';
  const path = join(folder, `${host}.xplane.pb`);
  withFileErrors(path, `${SPACE}stop`, () => {
    makeFolders(folder);
    writeFileAtomicSync(path, tensorflow.XSpace.encode(spaceOf(began, spans)));
  });
}

const PS_PER_MS = 1e9;

function spaceOf(began: number, spans: readonly Span[]): tensorflow.XSpace {
  const names = new Map<string, number>();
  const facts = new Map<string, number>();
  const idOf = (known: Map<string, number>, name: string): number => {
    const id = known.get(name) ?? known.size + 1;
    known.set(name, id);
    return id;
  };
  const events = spans.map(({ name, begin, end, metadata }) => ({
    metadata_id: idOf(names, name),
    offset_ps: Math.round(Math.max(0, begin - began) * PS_PER_MS),
    duration_ps: Math.round((end - Math.max(begin, began)) * PS_PER_MS),
    stats: Object.entries(metadata).map(([key, value]) => statOf(idOf(facts, key), value)),
  }));
  // By their beginnings: one that holds others ends after them, and comes before.
  events.sort((a, b) => a.offset_ps - b.offset_ps || b.duration_ps - a.duration_ps);
  const listed = (known: ReadonlyMap<string, number>): tensorflow.XMetadataEntry[] =>
    [...known].map(([name, id]) => ({ key: id, value: { id, name } }));
  const line = {
    id: 1,
    name: 'JavaScript',
    timestamp_ns: BigInt(Math.round((performance.timeOrigin + began) * 1e3)) * 1000n,
    events,
  };
  const plane = {
    id: 1,
    name: '/host:CPU',
    lines: [line],
    event_metadata: listed(names),
    stat_metadata: listed(facts),
  };
  return { planes: [plane] };
}

function statOf(id: number, value: number | string | boolean): tensorflow.XStat {
  if (typeof value === 'string') return { metadata_id: id, str_value: value };
  return Number.isSafeInteger(Number(value))
    ? { metadata_id: id, int64_value: Number(value) }
    : { metadata_id: id, double_value: Number(value) };
}

interface TraceArguments extends Metadata {
  readonly name: string;
}

/**
 * Marks a part of the program in profiles: `using _ = new tf.profiler.experimental.Trace('train', { step_num: step, _r: 1 })`, or
 * `new Trace('train').run(() => …)`. Facts are numbers and texts by name; TensorBoard knows steps by `step_num` and `_r: 1`.
 */
export class Trace implements Disposable {
  readonly #name: string;
  readonly #begin: number = performance.now();
  #metadata: Metadata;
  #open = true;

  constructor(name: string, metadata?: Metadata | null);
  constructor(
    options: {
      /** What the stretch of time is called. */
      readonly name: string;
    } & Metadata,
  );
  constructor(...args: readonly unknown[]) {
    const { name, ...metadata } = argumentsOf<TraceArguments>(Trace, new.target, args);
    checkText(name, 'name', 'Trace');
    checkMetadata(metadata);
    this.#name = name;
    this.#metadata = metadata;
  }

  /** Adds facts that are known later. */
  setMetadata(metadata: Metadata): void {
    checkMetadata(metadata);
    this.#metadata = { ...this.#metadata, ...metadata };
  }

  /** Runs `fn` as the part that is marked. */
  run<T>(fn: () => T): T {
    try {
      return fn();
    } finally {
      this[Symbol.dispose]();
    }
  }

  /** Ends the part. */
  [Symbol.dispose](): void {
    if (!this.#open) return;
    this.#open = false;
    session?.spans.push({
      name: this.#name,
      begin: this.#begin,
      end: performance.now(),
      metadata: this.#metadata,
    });
  }
}
takesArguments<TraceArguments>(
  { positional: ['name'], anyName: true, names: { name: true } as never },
  Trace,
);

function checkMetadata(metadata: unknown): void {
  if (typeof metadata !== 'object' || metadata === null)
    throw new InvalidArgumentError(`expected facts by name, got ${shown(metadata)}`, 'Trace');
  for (const [key, value] of Object.entries(metadata))
    if (!['number', 'string', 'boolean'].includes(typeof value))
      throw new InvalidArgumentError(
        `${key} must be a number, a text or a truth value, got ${shown(value)}`,
        'Trace',
      );
}

interface ProfileArguments {
  readonly logdir: string;
  readonly options?: ProfilerOptions | null;
}

/** A profile of a block: `using _ = new tf.profiler.experimental.Profile('logs')`. */
export class Profile implements Disposable {
  #open = true;

  constructor(...args: Arguments<[logdir: string, options?: ProfilerOptions | null], ['logdir', 'options']>) {
    const { logdir, options = null } = argumentsOf<ProfileArguments>(Profile, new.target, args);
    start(logdir, options);
  }

  /** Ends it, and writes it. @throws FailedPreconditionError when it has ended already */
  stop(): void {
    if (!this.#open) throw new FailedPreconditionError('the profile has ended already', 'Profile');
    this[Symbol.dispose]();
  }
  [Symbol.dispose](): void {
    if (!this.#open) return;
    this.#open = false;
    stop();
  }
}
takesArguments<ProfileArguments>(
  { positional: ['logdir', 'options'], required: 1, names: { logdir: true, options: true } },
  Profile,
);
