import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SEED } from '@eagre/testing';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { goldenArchive } from '../../onnx/src/testing/archive.ts';
import { type Golden, goldenFile, modelOf, unpack } from '../../saved-model/src/testing/golden.ts';
import { bundledProgram } from '../../testing/src/bundled.ts';
import { temporaryFolder } from '../../testing/src/temporary.ts';
import * as tf from '../src/index.ts';

// Files of models with a few wrong bytes, or with right forms and wrong contents: a typed error or a model, soon, and without much memory. A
// model that weights are read into stays as it was. `pnpm fuzz --runs=10000 packages/eagre/tests/damaged-files` tries more of them;
// EAGRE_FUZZ_FROM is the first run that counts, EAGRE_FUZZ_KEEP a folder for the model of the last one. Other processes try them, so that those which end are noticed.

const RUNS = Number(process.env['EAGRE_FUZZ_RUNS'] ?? 40);
const FROM = Number(process.env['EAGRE_FUZZ_FROM'] ?? 0);
// Of the processor's time, where the system tells it; of a clock more, since other programs may run meanwhile.
const LONGEST_SECONDS = 20;
const LONGEST_WAIT_MS = 600_000;
const MOST_BYTES = 1.5 * 2 ** 30;
const MOST_PROBLEMS = 20;

const folder = temporaryFolder('damaged-files');
const program = await bundledProgram("import './testing/damaged-models.ts';", 'eagre/tests');

beforeAll(() => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  return () => warn.mockRestore();
});

/** What the system tells of a process: the bytes that it holds, and the seconds that it has run. */
function usageOf(pid: number): { readonly bytes: number; readonly seconds: number; readonly state: string } {
  const of = (name: string): string => readFileSync(`/proc/${pid}/${name}`, 'utf8');
  try {
    const [state = '', ...numbers] = of('stat')
      .replace(/^.*\) /, '')
      .split(' ');
    const ticks = Number(numbers[10]) + Number(numbers[11]);
    return { bytes: Number(of('statm').split(' ')[1]) * 4096, seconds: ticks / 100, state };
  } catch {
    // It has ended, or this is no Linux.
    return { bytes: 0, seconds: 0, state: 'unknown' };
  }
}

interface Outcome {
  refused: number;
  used: number;
  readonly problems: string[];
}

/** Damages the models of a folder until a run ends the process. @returns the run to go on with. */
function part(kind: string, models: string, from: number, outcome: Outcome): Promise<number> {
  const temporary = join(folder, 'tmp', kind);
  mkdirSync(temporary, { recursive: true });
  return new Promise((resolve, reject) => {
    const args = [
      '--max-old-space-size=800',
      program,
      kind,
      models,
      String(SEED),
      String(from),
      String(FROM + RUNS),
    ];
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NODE_OPTIONS: '', TMPDIR: temporary, EAGRE_NUM_THREADS: '1' },
    });
    let [line, errors, run, isDone] = ['', '', from, false];
    let why = '';
    const kill = (reason: string): void => {
      why = reason;
      child.kill('SIGKILL');
    };
    let last = performance.now();
    let secondsBefore = 0;
    const watch = setInterval(() => {
      const { bytes, seconds, state } = usageOf(child.pid as number);
      const waited = performance.now() - last;
      if (waited < 100) secondsBefore = seconds;
      if (seconds - secondsBefore > LONGEST_SECONDS || waited > LONGEST_WAIT_MS)
        kill(`did not end: state ${state}, ${seconds - secondsBefore} s of the processor, ${waited} ms`);
      else if (bytes > MOST_BYTES) kill('took all memory');
    }, 50);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      last = performance.now();
      const lines = `${line}${text}`.split('\n');
      line = lines.pop() as string;
      for (const told of lines) {
        const [word, ...rest] = told.split(' ');
        if (word === 'run') run = Number(rest[0]);
        else if (word === 'problem') outcome.problems.push(JSON.parse(rest.join(' ')) as string);
        else if (word === 'done') {
          isDone = true;
          outcome.refused += Number(rest[0]);
          outcome.used += Number(rest[1]);
          if (process.env['EAGRE_FUZZ_LOG']) console.info(`${kind}: to run ${run}, slowest ${rest[2]} s`);
        }
      }
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors = `${errors}${text}`.slice(-3000);
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearInterval(watch);
      if (!isDone)
        outcome.problems.push(`run ${run}: the process ${why || `ended with ${signal ?? code}`}: ${errors}`);
      resolve(run + 1);
    });
  });
}

/** Damages what `make` puts into folders of their own, by the names of models. */
async function damage(kind: string, make: (models: string) => Promise<void> | void): Promise<void> {
  const pristine = join(folder, `${kind}-pristine`);
  mkdirSync(pristine);
  await make(pristine);
  const outcome: Outcome = { refused: 0, used: 0, problems: [] };
  for (let from = FROM; from < FROM + RUNS && outcome.problems.length < MOST_PROBLEMS; ) {
    const models = join(folder, `${kind}-${from}`);
    cpSync(pristine, models, { recursive: true });
    from = await part(kind, models, from, outcome);
  }
  if (process.env['EAGRE_FUZZ_LOG'])
    console.info(
      `${kind}: ${outcome.refused} refused, ${outcome.used} used, ${outcome.problems.length} problems`,
    );
  expect(outcome.problems, `seed ${SEED}`).toEqual([]);
  expect(outcome.refused).toBeGreaterThan(0);
  if (RUNS >= 400) expect(outcome.used).toBeGreaterThan(0);
}

const makeModel = (): tf.Sequential => {
  const { layers } = tf.keras;
  const model = new tf.keras.Sequential([
    tf.keras.Input([6, 2]),
    new layers.Conv1D(3, 2, { activation: 'relu' }),
    new layers.BatchNormalization(),
    new layers.LSTM(2),
    new layers.Dense(2, { name: 'last' }),
  ]);
  model.compile({ optimizer: 'adam', loss: 'mse' });
  return model;
};
const trained = async (): Promise<tf.Sequential> => {
  const model = makeModel();
  await model.fit(tf.ones([4, 6, 2]), tf.zeros([4, 2]), { verbose: 0 });
  return model;
};
const GOLDEN = fileURLToPath(new URL('../../layers/golden/keras-files/', import.meta.url));

describe.concurrent('damaged files of', () => {
  const into =
    (write: (model: tf.Sequential, path: (name: string) => string) => Promise<unknown>) =>
    async (models: string): Promise<void> => {
      mkdirSync(join(models, 'own'));
      const model = await trained();
      await model.save(join(models, 'own', 'model.keras'));
      await write(model, (name) => join(models, 'own', name));
    };
  const of = (kind: string, make: (models: string) => Promise<void> | void): void =>
    test(kind, { timeout: 7_200_000 }, () => damage(kind, make));

  of('saved-model', async (models) => {
    for (const name of ['training', 'v1', 'tables', 'normalization', 'named', 'flow', 'bidirectional'])
      unpack(modelOf(name), models);
    await (await trained()).export(join(models, 'own'), { verbose: false });
    // The others take some time to be read.
    for (const file of RUNS < 400 ? [] : ['more-models', 'composites', 'concrete-functions', 'version1'])
      for (const model of goldenFile<Golden>(file).models) unpack(model, models, `${file}-${model.name}`);
  });
  of('keras', async (models) => {
    const few = [
      'shared',
      'attention',
      'bidirectional',
      'lookup',
      'nested',
      'penalties',
      'wrappers',
      'int8',
      'cells',
      'operations',
    ];
    const all = readdirSync(GOLDEN).filter((name) => name.endsWith('.keras'));
    for (const name of RUNS < 400 ? few.map((name) => `${name}.keras`) : all) {
      mkdirSync(join(models, name));
      cpSync(join(GOLDEN, name), join(models, name, 'model.keras'));
    }
  });
  of(
    'keras-folder',
    into((model, path) => model.save(path('folder'), { zipped: false })),
  );
  of(
    'h5',
    into((model, path) => model.save(path('model.h5'))),
  );
  of(
    'weights-h5',
    into((model, path) => model.saveWeights(path('x.weights.h5'))),
  );
  of(
    'npz',
    into((model, path) => model.saveWeights(path('x.npz'))),
  );
  of(
    'safetensors',
    into((model, path) => tf.keras.saving.saveSafetensors(model, path('a'), { maxShardSize: 300 })),
  );
  of('onnx', async (models) => {
    await into((model, path) => tf.onnx.save(model, path('model.onnx')))(models);
    for (const [name, bytes] of goldenArchive('models.zip')) {
      if (!name.endsWith('.onnx') || bytes.length > 20_000) continue;
      const own = join(models, name.replaceAll('/', '-'));
      mkdirSync(own);
      writeFileSync(join(own, 'model.onnx'), bytes);
    }
  });
  of('onnx-nodes', (models) => {
    // The node tests of the onnx package: some of them, evenly.
    const files = goldenArchive('nodes.zip');
    const { tests } = JSON.parse(new TextDecoder().decode(files.get('info.json'))) as {
      readonly tests: Readonly<Record<string, { readonly models: readonly [at: number, length: number] }>>;
    };
    const entries = Object.entries(tests);
    const step = Math.ceil(entries.length / (RUNS < 400 ? 20 : 1000));
    for (const [
      name,
      {
        models: [at, length],
      },
    ] of entries.filter((_, i) => i % step === 0)) {
      mkdirSync(join(models, name));
      writeFileSync(
        join(models, name, 'model.onnx'),
        files.get('models.bin')?.subarray(at, at + length) as Uint8Array,
      );
    }
  });
  of(
    'onnx-external',
    into((model, path) => tf.onnx.save(model, path('external.onnx'), { externalData: true })),
  );
  of('graph-def', (models) => {
    const graph = new tf.compat.v1.Graph();
    graph.asDefault(() => {
      const input = tf.compat.v1.placeholder('float32', [null, 6, 2], { name: 'x' });
      const kernel = tf.constant([
        [1, 2],
        [3, 4],
      ]);
      const looped = tf.whileLoop(
        (i: tf.Tensor) => i.less(3),
        (i: tf.Tensor, y: tf.Tensor) => [i.add(1), y.matmul(kernel).tanh()],
        [tf.constant(0, 'int32'), input],
      )[1] as tf.Tensor;
      return tf.cond(
        looped.sum().greater(0),
        () => looped.softmax(),
        () => looped.mean(1, { keepdims: true }).add(looped),
      );
    });
    mkdirSync(join(models, 'own'));
    writeFileSync(join(models, 'own', 'graph.pb'), graph.asGraphDef());
  });
});
