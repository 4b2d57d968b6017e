import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fuzzCalls, type Subject } from '@eagre/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import * as tf from '../src/index.ts';

// What summaries and checkpoints take, wrong in a place or two. What is in files has tests of its own.

const ROUNDS = 120;

const folder = mkdtempSync(join(tmpdir(), 'eagre-bad-files-'));
let made = 0;
/** Wherever a wrong path leads, it is below the folder of this test. */
const inside = (path: unknown): string =>
  typeof path === 'string'
    ? join(folder, `${made++ % 8}`, path)
    : path === undefined
      ? folder
      : (path as string);

beforeAll(() => void vi.spyOn(console, 'warn').mockImplementation(() => undefined));
afterAll(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

const { summary, train } = tf;
const tag = (): tf.Tensor => tf.ones([]);

/** With a default writer, and nothing of it left behind. */
const written = (subject: Subject): Subject => ({
  ...subject,
  call: async (...args: never[]) => {
    const writer = summary.createFileWriter(join(folder, 'events'), { maxQueue: 0 });
    // These need a writer while they run, and may be asynchronous.
    const scope = writer.asDefault(0);
    try {
      const result: unknown = await subject.call(...args);
      // `recordIf` without a function holds until it is disposed of.
      if (typeof result === 'object' && result !== null && Symbol.dispose in result)
        (result as Disposable)[Symbol.dispose]();
    } finally {
      scope[Symbol.dispose]();
      writer.close();
      summary.traceOff();
      summary.experimental.setStep(null);
    }
    expect(summary.experimental.getStep()).toBe(null);
    expect(summary.shouldRecordSummaries()).toBe(false);
  },
});
const traced = (subject: Subject): Subject => ({
  name: `${subject.name}, traced`,
  args: subject.args,
  call: (...args: never[]) =>
    tf.function(() => {
      subject.call(...args);
      return tf.constant(1);
    })(),
});

const kinds: readonly Subject[] = [
  { name: 'scalar', args: () => ['a', tag(), { step: 1, description: 'text' }], call: summary.scalar },
  {
    name: 'scalar of a number',
    args: () => ['a', 0.5, { step: tf.constant(1, 'int64') }],
    call: summary.scalar,
  },
  {
    name: 'histogram',
    args: () => ['a', tf.ones([4]), { step: 1, description: 'text', buckets: 3 }],
    call: summary.histogram,
  },
  {
    name: 'image',
    args: () => ['a', tf.ones([2, 3, 3, 1]), { step: 1, description: 'text', maxOutputs: 1 }],
    call: summary.image,
  },
  {
    name: 'audio',
    args: () => [
      'a',
      tf.ones([2, 9, 1]),
      8000,
      { step: 1, description: 'text', maxOutputs: 1, encoding: 'wav' },
    ],
    call: summary.audio,
  },
  { name: 'text', args: () => ['a', ['b', 'c'], { step: 1, description: 'text' }], call: summary.text },
  {
    name: 'write',
    args: () => [
      'a',
      tag(),
      {
        step: 1,
        name: 'n',
        metadata: {
          plugin_data: { plugin_name: 'p', content: new Uint8Array(2) },
          display_name: 'd',
          summary_description: 's',
        },
      },
    ],
    call: summary.write,
  },
  {
    name: 'writeRawPb',
    args: () => [[new Uint8Array(0)], { step: 1, name: 'n' }],
    call: summary.experimental.writeRawPb,
  },
  { name: 'recordIf', args: () => [true, () => summary.scalar('a', 1)], call: summary.recordIf },
  {
    name: 'recordIf of a function',
    args: () => [() => tf.constant(true), () => summary.scalar('a', 1)],
    call: summary.recordIf,
  },
  {
    name: 'summaryScope',
    args: () => ['a', ({ tag: t }: { tag: string }) => summary.write(t, 1), { defaultName: 'd' }],
    call: summary.experimental.summaryScope,
  },
];
const eager: readonly Subject[] = [
  {
    name: 'hparams',
    args: () => [
      { units: 3, name: 'a', flag: true },
      { trialId: 't', startTimeSecs: 1 },
    ],
    call: summary.hparams,
  },
  {
    name: 'hparamsConfig',
    args: () => [
      {
        hparams: [new summary.HParam('a', new summary.Discrete([1, 2]))],
        metrics: [new summary.Metric('m')],
        timeCreatedSecs: 1,
      },
    ],
    call: summary.hparamsConfig,
  },
  { name: 'hparamsEnd', args: () => ['success', { endTimeSecs: 1 }], call: summary.hparamsEnd },
  {
    name: 'HParam',
    args: () => ['a', [1, 2], { displayName: 'd', description: 'e' }],
    call: (name: string, values: number[], options: object) =>
      summary.hparamsConfig({
        hparams: [new summary.HParam(name, new summary.Discrete(values), options)],
        metrics: [],
      }),
  },
  {
    name: 'RealInterval',
    args: () => [0, 1],
    call: (a: number, b: number) =>
      summary.hparamsConfig({
        hparams: [new summary.HParam('a', new summary.RealInterval(a, b))],
        metrics: [],
      }),
  },
  { name: 'IntInterval', args: () => [0, 1], call: (a: number, b: number) => new summary.IntInterval(a, b) },
  {
    name: 'Metric',
    args: () => ['m', { group: 'g', displayName: 'd', description: 'e', datasetType: 'training' }],
    call: (name: string, options: object) =>
      summary.hparamsConfig({ hparams: [], metrics: [new summary.Metric(name, options)] }),
  },
  {
    name: 'graph',
    args: () => [tf.function((x: tf.Tensor) => x).getConcreteFunction(tag()).graph],
    call: summary.graph,
  },
  {
    name: 'trace',
    args: () => [{ graph: true, profiler: false }, 'name', { step: 1 }],
    call: (options: object, name: string, exported: object) => {
      summary.traceOn(options);
      tf.function((x: tf.Tensor) => x.add(1))(tag());
      summary.traceExport(name, exported);
    },
  },
  { name: 'setStep', args: () => [3], call: summary.experimental.setStep },
  {
    name: 'createFileWriter',
    args: () => ['logs', { maxQueue: 1, flushMillis: 1000, filenameSuffix: '.x', name: 'n' }, 1],
    call: (path: string, options: object, step: number) => {
      const writer = summary.createFileWriter(inside(path), options);
      try {
        writer.asDefault(step, () => summary.scalar('a', 1));
      } finally {
        writer.close();
      }
    },
  },
  {
    name: 'asDefault',
    args: () => [3, () => 1],
    call: (...args: [number, () => number]) => {
      const writer = summary.createFileWriter(join(folder, 'events'));
      const scope: unknown = writer.asDefault(...args);
      (scope as Partial<Disposable> | undefined)?.[Symbol.dispose]?.();
      writer.close();
    },
  },
  { name: 'flush', args: () => [summary.createNoopWriter()], call: summary.flush },
  {
    name: 'readEvents',
    args: () => ['events', { follow: false, pollMillis: 10, signal: AbortSignal.timeout(50) }],
    call: async (path: string, options: object) => {
      let count = 0;
      for await (const _ of summary.readEvents(typeof path === 'string' ? join(folder, path) : path, options))
        if (++count > 5) break;
      return count;
    },
  },
  {
    name: 'summaryIterator',
    args: () => ['events'],
    call: (path: string) => [
      ...summary.summaryIterator(typeof path === 'string' ? join(folder, path) : path),
    ],
  },
];

it('summaries give a value or one of our errors', async () => {
  const findings = await fuzzCalls([...kinds, ...kinds.map(traced), ...eager].map(written), ROUNDS);
  expect(findings.list('summaries').slice(0, 30)).toEqual([]);
  expect(findings.values).toBeGreaterThan(findings.calls / 20);
});

const objects = (): { model: object; step: tf.Variable } => ({
  model: { a: new tf.Variable([1, 2]), list: [new tf.Variable(3)] },
  step: new tf.Variable(4, { dtype: 'int64' }),
});
const options = (): Partial<tf.train.CheckpointOptions> => ({
  enableAsync: false,
  experimentalSkipSlotVariables: false,
  experimentalWriteCallbacks: [() => undefined],
  shards: 2,
});
const saved = new train.Checkpoint(objects());
const known = saved.save(join(folder, 'known', 'ckpt'));
/** A path below the folder of the test; the one that is there unless changed. */
const at = (path: unknown): string =>
  path === 'known' ? known : typeof path === 'string' ? join(folder, path) : (path as string);
const checkpoints: readonly Subject[] = [
  {
    name: 'new Checkpoint',
    args: () => [objects()],
    call: (children: object) => new train.Checkpoint(children).write(inside('c')),
  },
  {
    name: 'new Checkpoint of a root',
    args: () => [
      new tf.Sequential([new tf.layers.Dense(1, { inputShape: [1] })]),
      { step: new tf.Variable(1) },
    ],
    call: (root: tf.Model, more: object) => new train.Checkpoint(root, more).write(inside('c')),
  },
  ...(['save', 'write', 'saveAsync', 'writeAsync'] as const).map(
    (method): Subject => ({
      name: `Checkpoint.${method}`,
      args: () => ['c', options()],
      call: async (path: string, given: object) => {
        const checkpoint = new train.Checkpoint(objects());
        const act = checkpoint[method] as (
          this: typeof checkpoint,
          path: string,
          options: unknown,
        ) => unknown;
        const result = act.call(
          checkpoint,
          inside(path),
          typeof given === 'object' && given !== null ? new train.CheckpointOptions(given) : given,
        );
        await checkpoint.sync();
        return result;
      },
    }),
  ),
  {
    name: 'Checkpoint.write of arrays',
    args: () => ['c.safetensors', options()],
    call: (path: string, given: object) =>
      new train.Checkpoint(objects()).write(
        inside(path),
        new train.CheckpointOptions({ ...given, shards: 1 }),
      ),
  },
  {
    name: 'Checkpoint.save, as options come',
    args: () => ['c', new train.CheckpointOptions()],
    call: (path: string, given: never) => new train.Checkpoint(objects()).save(inside(path), given),
  },
  ...(['restore', 'read'] as const).map(
    (method): Subject => ({
      name: `Checkpoint.${method}`,
      args: () => ['known', new train.CheckpointOptions()],
      call: (path: string, given: tf.train.CheckpointOptions) =>
        new train.Checkpoint(objects())[method](at(path), given).expectPartial(),
    }),
  ),
  {
    name: 'new CheckpointOptions',
    args: () => [options()],
    call: (given: object) => new train.CheckpointOptions(given),
  },
  {
    name: 'CheckpointManager',
    args: () => [
      new train.Checkpoint(objects()),
      'managed',
      {
        maxToKeep: 2,
        keepCheckpointEveryNHours: 1,
        checkpointName: 'ckpt',
        stepCounter: new tf.Variable(1, { dtype: 'int64' }),
        checkpointInterval: 1,
        initFn: () => undefined,
        clock: () => 10,
      },
      { checkpointNumber: 3, checkInterval: false, options: new train.CheckpointOptions() },
    ],
    call: (checkpoint: never, path: string, how: never, save: never) => {
      const manager = new train.CheckpointManager(checkpoint, inside(path), how);
      manager.restoreOrInitialize();
      manager.save(save);
      return manager.checkpoints;
    },
  },
  {
    name: 'CheckpointManager.saveAsync',
    args: () => [{ checkpointNumber: 3, checkInterval: false }],
    call: (how: never) =>
      new train.CheckpointManager(new train.Checkpoint(objects()), inside('managed'), {
        maxToKeep: 1,
      }).saveAsync(how),
  },
  {
    name: 'latestCheckpoint',
    args: () => ['known', 'checkpoint'],
    call: (path: string, name: string) =>
      train.latestCheckpoint(typeof path === 'string' ? join(folder, path) : path, name),
  },
  {
    name: 'getCheckpointState',
    args: () => ['known', 'checkpoint'],
    call: (path: string, name: string) =>
      train.getCheckpointState(typeof path === 'string' ? join(folder, path) : path, name),
  },
  { name: 'listVariables', args: () => ['known'], call: (path: string) => train.listVariables(at(path)) },
  {
    name: 'loadVariable',
    args: () => ['known', 'step'],
    call: (path: string, name: string) => train.loadVariable(at(path), name),
  },
  {
    name: 'loadCheckpoint',
    args: () => ['known', 'step'],
    call: (path: string, name: string) => {
      const reader = train.loadCheckpoint(at(path));
      return reader.hasTensor(name) ? reader.getTensor(name) : reader.getVariableToDtypeMap();
    },
  },
  {
    name: 'CheckpointReader.getTensor',
    args: () => ['step/.ATTRIBUTES/VARIABLE_VALUE'],
    call: (name: string) => train.loadCheckpoint(known).getTensor(name),
  },
  {
    name: 'checkpointsIterator',
    args: () => ['known', { minIntervalSecs: 0.01, timeout: 0.05, timeoutFn: () => true }],
    call: async (
      path: string,
      how: { timeout?: unknown; minIntervalSecs?: unknown; timeoutFn?: unknown },
    ) => {
      // Whoever asks for an hour, gets one.
      const short = (n: unknown): unknown =>
        typeof n === 'number' && n > 0.05 ? 0.05 : n === undefined || n === null ? 0.05 : n;
      let asked = 0;
      const { timeoutFn } = how ?? {};
      // Nor is the answer no for ever.
      const ask = (): unknown => ++asked > 3 || (timeoutFn as () => unknown)();
      const given =
        typeof how === 'object' && how !== null
          ? {
              ...how,
              timeout: short(how.timeout),
              minIntervalSecs: short(how.minIntervalSecs),
              timeoutFn: typeof timeoutFn === 'function' ? ask : timeoutFn,
            }
          : (how ?? { timeout: 0.05 });
      for await (const found of train.checkpointsIterator(
        typeof path === 'string' ? join(folder, path) : path,
        given as never,
      ))
        return found;
      return null;
    },
  },
];

it('checkpoints give a value or one of our errors', async () => {
  const findings = await fuzzCalls(checkpoints, ROUNDS);
  expect(findings.list('checkpoints').slice(0, 30)).toEqual([]);
  expect(findings.values).toBeGreaterThan(findings.calls / 20);
});

it('what the system refuses is an error of its kind that names the file', async () => {
  const closed = join(folder, 'closed');
  mkdirSync(closed);
  chmodSync(folder, 0o755);
  chmodSync(closed, 0);
  const at = (name: string): string => join(closed, name);
  const model = new tf.Sequential([new tf.layers.Dense(1, { inputShape: [2] })]);
  const checkpoint = new train.Checkpoint({ v: new tf.Variable(1) });
  const { Dataset } = tf.data;
  const all = async (dataset: tf.data.Dataset<tf.Tensor>): Promise<void> => {
    for await (const _ of dataset);
  };
  const calls = (at: (name: string) => string): (() => Promise<unknown>)[] => [
    async () => checkpoint.write(at('c')),
    async () => checkpoint.read(at('c')),
    async () => new train.CheckpointManager(checkpoint, at(''), { maxToKeep: 1 }),
    () => model.saveWeights(at('w')),
    () => model.saveWeights(at('w.npz')),
    () => model.saveWeights(at('w.safetensors')),
    () => model.saveWeights(at('w.weights.h5')),
    () => model.loadWeights(at('w.npz')),
    () => model.save(at('m.keras')),
    () => model.export(at('e'), { verbose: false }),
    () => tf.keras.models.loadModel(at('m.keras')),
    async () => tf.savedModel.load(at('e')),
    () => Dataset.range(2).save(at('d')),
    async () => Dataset.load(at('d')),
    () => all(Dataset.range(2).cache(at('c'))),
    async () => [...Dataset.range(2).cache(at('c'))],
    () => all(new tf.data.TextLineDataset(at('l')) as tf.data.Dataset<tf.Tensor>),
    async () => new tf.io.TFRecordWriter(at('r')),
    async () => tf.io.readFile(at('f')),
    async () => tf.io.writeFile(at('f'), 'x'),
    () => tf.keras.utils.getFile('http://127.0.0.1:9/f', { cacheDir: at('') }),
    async () => tf.summary.createFileWriter(at('s')),
  ];
  // What is loaded on first use may lie where the other user cannot read.
  const open = join(folder, 'open');
  mkdirSync(open);
  for (const call of calls((name) => join(open, name))) await call().catch(() => null);
  // Root may do everything.
  const root = process.getuid?.() === 0;
  if (root) process.seteuid?.(65_534);
  try {
    for (const refused of calls(at)) {
      const error = await refused().then(
        () => null,
        (cause: unknown) => cause as Error,
      );
      expect(error, String(refused)).toBeInstanceOf(tf.errors.PermissionDeniedError);
      expect(error?.message).toContain(closed);
    }
  } finally {
    if (root) process.seteuid?.(0);
    chmodSync(closed, 0o700);
  }
  const { writeSync } = process.getBuiltinModule('node:fs');
  vi.spyOn(process.getBuiltinModule('node:fs'), 'writeSync').mockImplementation(((
    ...args: Parameters<typeof writeSync>
  ) => {
    if (args[1].length > 1000)
      throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC', syscall: 'write' });
    return writeSync(...args);
  }) as typeof writeSync);
  const large = Dataset.fromTensors(tf.ones([100_000]));
  for (const full of [() => all(large.cache(at('c'))), () => large.save(at('d'))])
    await expect(full()).rejects.toThrow(tf.errors.ResourceExhaustedError);
  expect(readdirSync(closed)).toEqual([]);
});

it.each(['npz', 'safetensors', 'weights.h5', 'keras', 'h5'])(
  'a pipe is not replaced by a file: .%s',
  async (ending) => {
    const path = join(folder, `pipe.${ending}`);
    execFileSync('mkfifo', [path]);
    const model = new tf.Sequential([new tf.layers.Dense(1, { inputShape: [2] })]);
    const whole = ending === 'keras' || ending === 'h5';
    await expect(whole ? model.save(path) : model.saveWeights(path)).rejects.toThrow(
      tf.errors.FailedPreconditionError,
    );
    expect(statSync(path).isFIFO()).toBe(true);
  },
);
