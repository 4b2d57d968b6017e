import '@eagre/backend-js';
import '@eagre/backend-native';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { InvalidArgumentError, ones, random, type Tensor, zeros } from '@eagre/core';
import { metrics } from '@eagre/metrics';
import { Adam, SGD } from '@eagre/optimizers';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { bundledProgram } from '../../../testing/src/bundled.ts';
import { loadModel } from '../index.ts';
import { Dense, Dropout } from '../layers/index.ts';
import type { Model } from '../models/model.ts';
import { Sequential } from '../models/sequential.ts';
import {
  BackupAndRestore,
  Callback,
  CallbackList,
  CSVLogger,
  EarlyStopping,
  type EarlyStoppingOptions,
  HParams,
  LambdaCallback,
  LearningRateScheduler,
  type Logs,
  ModelCheckpoint,
  ProgressBar,
  ReduceLROnPlateau,
  TensorBoard,
} from './index.ts';

const interrupted = await bundledProgram(
  `
  import { callbacks } from '@eagre/layers';
  process.stdout.isTTY = true;
  const bar = new callbacks.ProgressBar();
  bar.attach({}, { epochs: 1, steps: 2, verbose: 1 });
  await bar.onEpochBegin(0);
  process.kill(process.pid, 'SIGINT');
  setTimeout(() => console.log('still here'), 100_000);
`,
  'layers/src',
);

const folder = mkdtempSync(join(tmpdir(), 'eagre-callbacks-'));
afterAll(() => rmSync(folder, { recursive: true }));

const x = ones([4, 1]);

/** A model whose epochs end with the given logs, and whose only weight says which epoch it is. */
function scripted(epochs: readonly Logs[]): Sequential {
  let epoch = -1;
  class Scripted extends Sequential {
    override trainStep(): Logs {
      epoch++;
      this.weights[0]?.assign([[epoch]]);
      return epochs[epoch % epochs.length] as Logs;
    }
  }
  const model = new Scripted([new Dense(1, { useBias: false, inputShape: [1] })]);
  model.compile({ optimizer: new SGD(0.1), runEagerly: true });
  return model;
}
async function run(
  values: readonly Logs[] | readonly number[],
  ...callbacks: Callback[]
): Promise<{ epochs: number; weight: number; history: Record<string, number[]> }> {
  const logs = values.map((v) => (typeof v === 'number' ? { val_loss: v } : v));
  const model = scripted(logs);
  const history = await model.fit(x, { verbose: 0, epochs: logs.length, callbacks });
  return {
    epochs: history.epoch.length,
    weight: model.weights[0]?.item() as number,
    history: history.history,
  };
}

describe('EarlyStopping', () => {
  test('says what it does', async () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    const options = { monitor: 'loss', patience: 2, restoreBestWeights: true, verbose: 1 } as const;
    const model = scripted([3, 1, 2, 4].map((loss) => ({ loss })));
    await model.fit(x, x, { epochs: 10, verbose: 0, callbacks: [new EarlyStopping(options)] });
    expect(log.mock.calls.flat()).toEqual([
      'Epoch 4: early stopping',
      'Restoring model weights from the end of the best epoch: 2.',
    ]);
    log.mockRestore();
  });
  test('patience', async () => {
    const stop = new EarlyStopping();
    expect((await run([3, 2, 2.5, 1], stop)).epochs).toBe(3);
    expect([stop.stoppedEpoch, stop.bestEpoch]).toEqual([2, 1]);
    expect((await run([3, 2, 2.5, 1], new EarlyStopping({ patience: 1 }))).epochs).toBe(3);
    expect((await run([3, 2, 2.5, 1], new EarlyStopping({ patience: 2 }))).epochs).toBe(4);
    expect((await run([3, 3, 3, 3, 3], new EarlyStopping({ patience: 3 }))).epochs).toBe(4);
  });
  test('starts anew with each run', async () => {
    const stop = new EarlyStopping({ patience: 1 });
    await run([1, 2, 3], stop);
    expect((await run([9, 8, 7], stop)).epochs).toBe(3);
    expect(stop.stoppedEpoch).toBe(-1);
  });
  test('restores the best weights, also when nothing stops training', async () => {
    const options = { patience: 2, restoreBestWeights: true };
    expect(await run([3, 2, 4, 5, 1], new EarlyStopping(options))).toMatchObject({ epochs: 4, weight: 1 });
    expect(await run([3, 1, 2], new EarlyStopping(options))).toMatchObject({ epochs: 3, weight: 1 });
    expect(await run([3, 2, 4, 5], new EarlyStopping({ patience: 2 }))).toMatchObject({ weight: 3 });
    const nothing = new EarlyStopping(options);
    expect(await run([NaN, NaN, NaN, NaN], nothing)).toMatchObject({ epochs: 3, weight: 0 });
    expect(nothing.bestEpoch).toBe(0);
  });
  test('baseline, minDelta, mode, startFromEpoch', async () => {
    const count = async (values: number[], options: object): Promise<number> =>
      (await run(values, new EarlyStopping(options))).epochs;
    expect(await count([5, 4, 3, 3, 2], { patience: 2, baseline: 1 })).toBe(4);
    expect(await count([5, 4, 3, 3, 2], { patience: 2 })).toBe(5);
    expect(await count([5, 0.5, 0.4, 0.3], { patience: 2, baseline: 1 })).toBe(4);
    expect(await count([5, 4.9, 4.8, 4.7], { patience: 2, minDelta: 0.5 })).toBe(3);
    expect(await count([1, 2, 3, 2, 1], { mode: 'max' })).toBe(4);
    expect(await count([1, 2, 3, 4], { startFromEpoch: 2 })).toBe(4);
    for (const [name, grows] of [
      ['val_accuracy', true],
      ['acc', true],
      ['weighted_accuracy', true],
      ['val_auc_1', true],
      ['f1_score', true],
      ['val_loss', false],
      ['mae', false],
      ['place_loss', false],
    ] as const) {
      const logs = [1, 2, 3].map((v) => ({ [name]: v }));
      const { epochs } = await run(logs, new EarlyStopping({ monitor: name }));
      expect(epochs, name).toBe(grows ? 3 : 2);
    }
    expect(() => new EarlyStopping({ mode: 'both' as never })).toThrow(InvalidArgumentError);
  });
  test('a number that is not there only warns, once', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const some: Logs[] = [{ loss: 1 }, { loss: 1, val_loss: 2 }, { loss: 1 }, { loss: 1, val_loss: 1 }];
    expect((await run(some, new EarlyStopping())).epochs).toBe(4);
    expect(warn.mock.calls).toEqual([["EarlyStopping: there is no 'val_loss' to watch; the logs have loss"]]);
    warn.mockRestore();
  });
  test.each(['__proto__', 'constructor'])('%s is no number of the logs', async (name) => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const path = join(folder, 'own/{epoch}.npz');
    const checkpoint = new ModelCheckpoint(path, { monitor: name, saveBestOnly: true });
    await run([1], checkpoint, new EarlyStopping(name), new ReduceLROnPlateau(name));
    expect(warn.mock.calls.map(([said]) => said)).toEqual(
      ['ModelCheckpoint', 'EarlyStopping', 'ReduceLROnPlateau'].map((owner) =>
        expect.stringContaining(`${owner}: there is no '${name}' to watch`),
      ),
    );
    expect(checkpoint.best).toBeNull();
    warn.mockRestore();
  });
});

describe('ModelCheckpoint', () => {
  const inFolder = (name: string): string => join(folder, name);
  test('patterns of the path, folders', async () => {
    const checkpoint = new ModelCheckpoint(
      inFolder('a/w-{epoch:03d}-{val_loss:.2f}-{epoch}-{val_loss:7.1f}.safetensors'),
    );
    await run([0.126, 12], checkpoint);
    expect(readdirSync(inFolder('a')).sort()).toEqual([
      'w-001-0.13-1-    0.1.safetensors',
      'w-002-12.00-2-   12.0.safetensors',
    ]);
  });
  test('only the best', async () => {
    await run([3, 4, 2, 2], new ModelCheckpoint(inFolder('b/{epoch}.safetensors'), { saveBestOnly: true }));
    expect(readdirSync(inFolder('b')).sort()).toEqual(['1.safetensors', '3.safetensors']);
    const model = scripted([{ val_loss: 1 }]);
    await model.loadWeights(inFolder('b/3.safetensors'));
    expect(model.weights[0]?.item()).toBe(2);
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const missing = new ModelCheckpoint(inFolder('c/{epoch}.safetensors'), {
      saveBestOnly: true,
      monitor: 'nothing',
    });
    expect((await run([1, 2], missing)).epochs).toBe(2);
    expect([existsSync(inFolder('c')), warn.mock.calls.length]).toEqual([false, 1]);
    warn.mockRestore();
  });
  test("whole models and weights in Keras's files", async () => {
    const model = (): Sequential => {
      const made = new Sequential([new Dense(1, { inputShape: [1] })]);
      made.compile({ optimizer: 'adam', loss: 'mse' });
      return made;
    };
    const fit = (one: Model, ...list: ModelCheckpoint[]): Promise<unknown> =>
      one.fit(ones([4, 1]), zeros([4, 1]), { epochs: 2, verbose: 0, callbacks: list });
    const [trained, other] = [model(), model()];
    await fit(
      trained,
      new ModelCheckpoint(inFolder('m/{epoch}.keras')),
      new ModelCheckpoint(inFolder('m/{epoch}.weights.h5'), { saveWeightsOnly: true }),
    );
    expect(readdirSync(inFolder('m')).sort()).toEqual(['1.keras', '1.weights.h5', '2.keras', '2.weights.h5']);
    const read = await loadModel(inFolder('m/2.keras'));
    await other.loadWeights(inFolder('m/2.weights.h5'));
    const weights = (one: Model): unknown => one.getWeights().map((w) => w.array());
    for (const one of [read, other]) {
      expect(weights(one)).toEqual(weights(trained));
      expect(one.optimizer.variables.map((v) => v.array())).toEqual(
        trained.optimizer.variables.map((v) => v.array()),
      );
    }
  });
  test('says at once what cannot be', async () => {
    expect(() => new ModelCheckpoint('weights.bin')).toThrow('.safetensors');
    expect(() => new ModelCheckpoint('x.keras', { saveWeightsOnly: true })).toThrow(
      /must end in .weights.h5/,
    );
    expect(() => new ModelCheckpoint('x.weights.h5', { saveWeightsOnly: false })).toThrow(
      /must end in .keras/,
    );
    expect(() => new ModelCheckpoint('x', { saveWeightsOnly: false })).toThrow(/must end in .keras/);
    expect(() => new ModelCheckpoint('{epoch:5x}.safetensors')).toThrow('{epoch:5x}');
    await expect(run([1], new ModelCheckpoint(inFolder('{constructor}.safetensors')))).rejects.toThrow(
      /which is not among/,
    );
    await expect(run([1], new ModelCheckpoint(inFolder('{nothing}.safetensors')))).rejects.toThrow(
      "uses 'nothing', which is not among val_loss, epoch",
    );
  });
});

describe('ModelCheckpoint, further', () => {
  test('after so many batches, over the ends of epochs; a threshold; checkpoints of TensorFlow', async () => {
    const path = join(folder, 'batches/w-{epoch}-{batch}');
    const model = scripted([{ loss: 1 }]);
    const freq = new ModelCheckpoint(path, { saveFreq: 3 });
    await model.fit(ones([4, 1]), { batchSize: 1, epochs: 2, verbose: 0, callbacks: [freq] });
    const written = (name: string): string[] =>
      readdirSync(join(folder, name))
        .filter((f) => f.endsWith('.index'))
        .map((f) => f.slice(0, -6))
        .sort();
    expect(written('batches')).toEqual(['w-1-3', 'w-2-2']);
    const options = { saveBestOnly: true, initialValueThreshold: 2.5 };
    await run([3, 4, 2, 1], new ModelCheckpoint(join(folder, 'threshold/{epoch}'), options));
    expect(written('threshold')).toEqual(['3', '4']);
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    await run([3, 4], new ModelCheckpoint(join(folder, 'v/{epoch}.npz'), { saveBestOnly: true, verbose: 1 }));
    expect(log.mock.calls.map((c) => (c[0] as string).replace(folder, ''))).toEqual([
      '\nEpoch 1: val_loss improved from None to 3.00000, saving model to /v/1.npz',
      '\nEpoch 2: val_loss did not improve from 3.00000',
    ]);
    log.mockRestore();
    expect(() => new ModelCheckpoint('x', { saveFreq: 0 })).toThrow(/saveFreq/);
  });
});

describe('BackupAndRestore', () => {
  const data = random.normal([32, 3], { seed: 1 });
  const targets = random.normal([32, 1], { seed: 2 });
  const make = (): Sequential => {
    const first = new Dense(4, { activation: 'relu', inputShape: [3] });
    const model = new Sequential([first, new Dropout(0.3), new Dense(1)]);
    model.compile({ optimizer: new Adam(0.02), loss: 'mse' });
    return model;
  };
  const weights = (model: Sequential): unknown => model.getWeights().map((w) => w.array());
  class Dies extends Callback {
    override onEpochEnd(epoch: number): void {
      if (epoch === 2) throw new Error('gone');
    }
  }

  test('what was interrupted ends as if it had not been', async () => {
    random.setSeed(7);
    const whole = make();
    const { history } = await whole.fit(data, targets, { epochs: 5, batchSize: 8, verbose: 0 });

    random.setSeed(7);
    const backup = join(folder, 'backup');
    const options = { epochs: 5, batchSize: 8, verbose: 0 as const };
    const dying = make();
    const callbacks = [new BackupAndRestore(backup), new Dies()];
    await expect(dying.fit(data, targets, { ...options, callbacks })).rejects.toThrow('gone');
    expect(existsSync(backup)).toBe(true);

    random.setSeed(99);
    const again = make();
    const rest = await again.fit(data, targets, { ...options, callbacks: [new BackupAndRestore(backup)] });
    expect(rest.epoch).toEqual([3, 4]);
    expect(rest.history['loss']).toEqual(history['loss']?.slice(3));
    expect(weights(again)).toEqual(weights(whole));
    expect(existsSync(backup)).toBe(false);
  });

  test('after batches; the backup before the last one, when that is damaged', async () => {
    const backup = join(folder, 'batches-backup');
    const how = { saveFreq: 3, doubleCheckpoint: true, deleteCheckpoint: false };
    await make().fit(data, targets, {
      epochs: 2,
      batchSize: 8,
      verbose: 0,
      callbacks: [new BackupAndRestore(backup, how)],
    });
    expect(readdirSync(backup).filter((f) => f.endsWith('.index'))).toHaveLength(2);
    rmSync(join(backup, 'ckpt-2.data-00000-of-00001'));
    const model = make();
    const callbacks = [new BackupAndRestore(backup, how)];
    const { epoch } = await model.fit(data, targets, { epochs: 2, batchSize: 8, verbose: 0, callbacks });
    // The first backup, after three of four batches, is of the first epoch.
    expect(epoch).toEqual([0, 1]);
    const unbuilt = new Sequential([new Dense(1)]);
    unbuilt.compile({ optimizer: 'sgd', loss: 'mse' });
    await expect(unbuilt.fit(data, targets, { verbose: 0, callbacks })).rejects.toThrow(/must be built/);
    expect(() => new BackupAndRestore(backup, { saveFreq: -1 })).toThrow(InvalidArgumentError);
  });
});

describe('CSVLogger', () => {
  const path = join(folder, 'logs/log.csv');
  const golden = JSON.parse(readFileSync(new URL('../../golden/training.json', import.meta.url), 'utf8')) as {
    csv_header: string;
  };
  const read = (): string[] => readFileSync(path, 'utf8').trimEnd().split('\n');
  test('one row for each epoch, in the columns of Keras', async () => {
    await run(
      [
        { mae: 2, loss: 1 },
        { mae: 1, loss: 0.5, val_loss: 3 },
      ],
      new CSVLogger(path),
    );
    expect(read()).toEqual([golden.csv_header, '0,1.0,2.0,NA,NA', '1,0.5,1.0,3.0,NA']);
  });
  test('appends, or starts anew', async () => {
    await run([{ loss: 1, val_loss: 2 }], new CSVLogger(path));
    await run([{ val_loss: 4, loss: 3 }], new CSVLogger(path, { append: true }));
    expect(read()).toEqual(['epoch,loss,val_loss', '0,1.0,2.0', '0,3.0,4.0']);
    rmSync(path);
    await run([{ loss: 1, val_loss: 2 }], new CSVLogger(path, { append: true, separator: ';' }));
    expect(read()).toEqual(['epoch;loss;val_loss', '0;1.0;2.0']);
    const twice = new CSVLogger(path);
    await run([{ val_loss: 1 }], twice);
    await run([{ val_loss: 2 }], twice);
    expect(read()).toEqual(['epoch,val_loss', '0,2.0']);
  });
  test.skipIf(!existsSync('/dev/full'))('says what to do where there is no space', async () => {
    const logger = new CSVLogger('/dev/full');
    await logger.onTrainBegin();
    await expect(logger.onEpochEnd(0, { loss: 1 })).rejects.toThrow(
      'CSVLogger: /dev/full: no space is left on the device',
    );
  });
});

describe('numbers as Keras writes them, by tools/golden/callback_files.py', () => {
  const golden = JSON.parse(
    readFileSync(new URL('../../golden/callback_files.json', import.meta.url), 'utf8'),
  ) as { logs: Record<string, number | string>[]; names: string[]; rows: string[] };
  const numbers: Record<string, number> = { nan: Number.NaN, inf: Number.POSITIVE_INFINITY };
  const logs = golden.logs.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([k, v]) => [k, typeof v === 'string' ? (numbers[v] as number) : v]),
    ),
  );
  test('ModelCheckpoint names a file by 1.0, where a metric is a whole number', async () => {
    await run(logs, new ModelCheckpoint(join(folder, 'numbers/{epoch}-{loss}-{accuracy}.npz')));
    const found = readdirSync(join(folder, 'numbers')).sort();
    expect(found).toEqual(golden.names.map((name) => `${name}.npz`));
    expect(found).toContain('1-1.0-0.25.npz');
  });
  test('CSVLogger writes nan', async () => {
    await run(logs, new CSVLogger(join(folder, 'numbers.csv')));
    const rows = readFileSync(join(folder, 'numbers.csv'), 'utf8').trimEnd().split('\n');
    expect(rows).toEqual(golden.rows);
    expect(rows).toContain('1,2.0,nan,NA,NA');
  });
});

test('onTrainBegin gets empty logs', async () => {
  const given: unknown[] = [];
  class Notes extends Callback {
    override onTrainBegin(logs: Logs): void {
      given.push(logs);
    }
  }
  await run([1, 2], new Notes());
  expect(given).toEqual([{}]);
});

test('logs are read for each batch where a callback looks at them, else once an epoch', async () => {
  const reads = async (callback: Callback): Promise<number> => {
    let count = 0;
    class Counted extends metrics.Mean {
      override result(): Tensor {
        count++;
        return super.result();
      }
    }
    const model = new Sequential([new Dense(1, { inputShape: [1] })]);
    const metric = new Counted({ name: 'counted' });
    Object.assign(model, { metric });
    model.compile({ optimizer: 'sgd', loss: 'mse' });
    await model.fit(ones([8, 1]), ones([8, 1]), {
      batchSize: 2,
      epochs: 3,
      verbose: 0,
      callbacks: [callback],
    });
    return count;
  };
  class Looks extends Callback {
    override onBatchEnd(): void {}
  }
  expect(await reads(new Looks())).toBe(12);
  expect(await reads(new LambdaCallback({ onTrainBatchEnd: () => {} }))).toBe(12);
  expect(await reads(new LambdaCallback({ onEpochEnd: () => {} }))).toBe(3);
  // A list looks where one of its callbacks does.
  expect(await reads(new CallbackList([], {}))).toBe(3);
  expect(await reads(new CallbackList([new LambdaCallback({ onBatchEnd: () => {} })], {}))).toBe(12);
  class Checks extends ModelCheckpoint {
    override async onTrainBatchEnd(): Promise<void> {}
    override async onEpochEnd(): Promise<void> {}
  }
  expect(await reads(new Checks('never.keras'))).toBe(12);
});

test('a callback may be asynchronous, add to the logs, and fail', async () => {
  class Adds extends Callback {
    override async onEpochEnd(epoch: number, logs: Logs): Promise<void> {
      await new Promise((resolve) => setTimeout(resolve, 2));
      logs['lr'] = epoch / 10;
    }
  }
  expect((await run([1, 2], new Adds())).history).toEqual({ val_loss: [1, 2], lr: [0, 0.1] });
  class Fails extends Callback {
    override async onEpochEnd(): Promise<void> {
      throw new Error('late');
    }
  }
  await expect(run([1], new Fails())).rejects.toThrow('late');
});

describe('ProgressBar', () => {
  class Screen extends Writable {
    readonly isTTY: boolean;
    text = '';
    constructor(isTTY: boolean) {
      super();
      this.isTTY = isTTY;
    }
    override _write(chunk: Buffer, _: string, done: () => void): void {
      this.text += chunk.toString();
      done();
    }
    cursorTo(): void {}
    clearLine(): void {}
  }
  const screen = (isTTY: boolean): Screen & NodeJS.WriteStream =>
    new Screen(isTTY) as unknown as Screen & NodeJS.WriteStream;
  const ESC = String.fromCharCode(27);
  const CONTROL = new RegExp(`${ESC}(\\[[?\\d]*[a-zA-Z]|[78])`, 'g');
  let now = 0;
  beforeEach(() => {
    now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now);
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test('the lines where nobody looks, and with verbose 2', async () => {
    for (const [verbose, tty] of [
      [1, false],
      [2, true],
    ] as const) {
      const out = screen(tty);
      const bar = new ProgressBar('Epoch', out);
      bar.attach(scripted([]), { epochs: 3, steps: 4, verbose });
      now = 0;
      await bar.onEpochBegin(0);
      for (let b = 0; b < 4; b++) bar.onTrainBatchEnd(b, { loss: b });
      now = 8400;
      bar.onEpochEnd(0, { loss: 0.5, accuracy: 0.98765, tiny: 1.5e-5, none: 0, bad: NaN });
      expect(out.text).toBe(
        'Epoch 1/3 - 4/4 8s 2.1s/step - loss: 0.5000 - accuracy: 0.9877 - tiny: 1.5000e-5 - none: 0.0000 - bad: NaN\n',
      );
    }
  });

  test('times', async () => {
    const out = screen(false);
    const bar = new ProgressBar('Evaluate', out);
    bar.attach(scripted([]), { epochs: 1, steps: undefined, verbose: 1 });
    for (const ms of [0.05, 3.2, 59_700, 119_600, 3_725_000]) {
      now = 0;
      await bar.onEpochBegin(0);
      bar.onTrainBatchEnd(0, {});
      now = ms;
      bar.onEpochEnd(0, {});
    }
    expect(out.text.split('\n')).toEqual([
      'Evaluate - 1/? 0s 50us/step',
      'Evaluate - 1/? 0s 3.2ms/step',
      'Evaluate - 1/? 1:00 59.7s/step',
      'Evaluate - 1/? 2:00 119.6s/step',
      'Evaluate - 1/? 1:02:05 3725.0s/step',
      '',
    ]);
  });

  test('a bar on a terminal', async () => {
    const out = screen(true);
    const bar = new ProgressBar('Epoch', out);
    const model = scripted([{ loss: 1 }]);
    await model.fit(x, { batchSize: 2, epochs: 2, callbacks: [bar] });
    const rows = out.text.replace(CONTROL, '\r').split('\n');
    expect(rows.map((r) => r.split('\r').filter(Boolean).at(-1) ?? '')).toEqual([
      'Epoch 1/2',
      '2/2 ━━━━━━━━━━━━━━━━━━━━━━━━ 0s 0us/step - loss: 1.0000',
      'Epoch 2/2',
      '2/2 ━━━━━━━━━━━━━━━━━━━━━━━━ 0s 0us/step - loss: 1.0000',
      '',
    ]);
    expect(out.text).toContain('\x1b[?25l');
    expect(out.text.lastIndexOf('\x1b[?25h')).toBeGreaterThan(out.text.lastIndexOf('\x1b[?25l'));
    expect(out.text.lastIndexOf('\x1b[?7h')).toBeGreaterThan(out.text.lastIndexOf('\x1b[?7l'));
  });

  test('what others print stands above the bar, in whole lines', async () => {
    const out = screen(true);
    const before = out.write;
    const bar = new ProgressBar('Epoch', out);
    bar.attach(scripted([]), { epochs: 1, steps: 2, verbose: 1 });
    await bar.onEpochBegin(0);
    bar.onTrainBatchEnd(0, { loss: 1 });
    out.write('half ');
    expect(out.text).not.toContain('half');
    out.write('a line\nand more');
    bar.onEpochEnd(0, { loss: 0.5 });
    expect(out.write).toBe(before);
    const rows = out.text.replace(CONTROL, '\r').split('\n');
    expect(rows.map((r) => r.split('\r').filter(Boolean).at(-1) ?? '')).toEqual([
      'Epoch 1/1',
      'half a line',
      'and more',
      '1/2 ━━━━━━━━━━━━──────────── 0s 0us/step - loss: 0.5000',
      '',
    ]);
  });

  test('the last line is whole on narrow terminals', async () => {
    const out = Object.assign(screen(true), { columns: 40 });
    const bar = new ProgressBar('Epoch', out);
    bar.attach(scripted([]), { epochs: 1, steps: 2, verbose: 1 });
    await bar.onEpochBegin(0);
    bar.onTrainBatchEnd(1, {});
    bar.onEpochEnd(0, { loss: 0.5, accuracy: 0.9, val_loss: 0.6, val_accuracy: 0.8 });
    // Where lines wrap again.
    const last = out.text.slice(out.text.lastIndexOf('\x1b[?7h'));
    expect(last.replace(CONTROL, '')).toBe(
      '2/2 0s 0us/step - loss: 0.5000 - accuracy: 0.9000 - val_loss: 0.6000 - val_accuracy: 0.8000\n',
    );
  });

  test('lines go to the console, also of predictions', async () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    const model = scripted([{ loss: 1 }]);
    await model.fit(x, { epochs: 1 });
    await model.predict(x);
    expect(log.mock.calls.flat()).toEqual([
      'Epoch 1/1 - 1/1 0s 0us/step - loss: 1.0000',
      'Predict - 1/1 0s 0us/step',
    ]);
  });

  test('an error leaves no bar, and training can start again', async () => {
    const out = screen(true);
    const listeners = process.listenerCount('SIGINT');
    class Fails extends Callback {
      override onTrainBatchEnd(batch: number): void {
        if (batch === 1) throw new Error('no');
      }
    }
    const model = scripted([{ loss: 1 }]);
    const bar = new ProgressBar('Epoch', out);
    const options = { batchSize: 1, callbacks: [new Fails(), bar] };
    await expect(model.fit(x, options)).rejects.toThrow('no');
    expect(process.listenerCount('SIGINT')).toBe(listeners);
    expect(out.text.endsWith('\n')).toBe(true);
    expect(out.text).toContain('\x1b[?25h');
    const { length } = out.text;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(out.text.length).toBe(length);
    await model.fit(x, { batchSize: 1, callbacks: [bar] });
    expect(out.text.slice(length)).toContain('4/4');
  });

  test('an interrupt ends the process and gives the terminal back', () => {
    const child = spawnSync(process.execPath, [interrupted], { encoding: 'utf8' });
    expect(child.stderr).toBe('');
    expect(child.signal).toBe('SIGINT');
    expect(child.stdout).toContain('\x1b[?25h');
    expect(child.stdout).not.toContain('still here');
  });
});

test('what is not an option is refused, not left aside', () => {
  const wrong = { histogram_freq: 1 } as object;
  const refused = (name: string, make: () => unknown): void => {
    expect(make, name).toThrow(InvalidArgumentError);
    expect(make, name).toThrow(/'histogram_freq' is not an option; the options are /);
  };
  refused('TensorBoard', () => new TensorBoard('logs', wrong));
  refused('EarlyStopping', () => new EarlyStopping(wrong));
  refused('ReduceLROnPlateau', () => new ReduceLROnPlateau(wrong));
  refused('ModelCheckpoint', () => new ModelCheckpoint('w.safetensors', wrong));
  refused('BackupAndRestore', () => new BackupAndRestore('backup', wrong));
  refused('CSVLogger', () => new CSVLogger('log.csv', wrong));
  refused('HParams', () => new HParams('logs', {}, wrong));
  refused('LearningRateScheduler', () => new LearningRateScheduler((_, rate) => rate, wrong));
});

describe('options of callbacks', () => {
  test('are properties of theirs, with Keras’s defaults', () => {
    expect({ ...new EarlyStopping() }).toMatchObject({
      ...{ monitor: 'val_loss', minDelta: 0, patience: 0, verbose: 0, mode: 'auto', baseline: null },
      ...{ restoreBestWeights: false, startFromEpoch: 0 },
    });
    expect({ ...new ReduceLROnPlateau('loss', { factor: 0.5 }) }).toMatchObject({
      ...{ monitor: 'loss', factor: 0.5, patience: 10, minDelta: 1e-4, cooldown: 0, minLr: 0 },
    });
    expect({ ...new ModelCheckpoint({ filepath: 'a.npz', monitor: 'loss' }) }).toMatchObject({
      ...{ filepath: 'a.npz', monitor: 'loss', saveBestOnly: false, saveFreq: 'epoch' },
      ...{ initialValueThreshold: null },
    });
    expect({ ...new BackupAndRestore('a') }).toMatchObject({
      ...{ backupDir: 'a', saveFreq: 'epoch', doubleCheckpoint: false, deleteCheckpoint: true },
    });
    expect({ ...new CSVLogger('a.csv') }).toMatchObject({ filename: 'a.csv', separator: ',', append: false });
    // A class of one's own that passes its options on.
    class Patient extends EarlyStopping {
      constructor({ mine = 3, ...options }: { mine?: number } & EarlyStoppingOptions = {}) {
        super({ patience: mine, ...options });
      }
    }
    expect(new Patient({ mine: 7, monitor: 'loss' }).patience).toBe(7);
    expect(() => new Patient({ patience: -1 })).toThrow(
      'Patient: patience must be a number of at least 0, got -1',
    );
  });

  test.each<[() => unknown, string]>([
    [() => new EarlyStopping({ patience: -1 }), 'EarlyStopping: patience'],
    [() => new EarlyStopping({ baseline: '1' as never }), 'EarlyStopping: baseline'],
    [() => new EarlyStopping({ restoreBestWeights: 1 as never }), 'EarlyStopping: restoreBestWeights'],
    [() => new EarlyStopping({ verbose: 2 as never }), 'EarlyStopping: verbose'],
    [() => new EarlyStopping({ mode: 'both' as never }), 'EarlyStopping: mode'],
    [() => new EarlyStopping(3 as never), 'EarlyStopping: monitor'],
    [() => new ReduceLROnPlateau({ factor: 1 }), 'factor must be at least 0 and less than 1'],
    [() => new ReduceLROnPlateau({ cooldown: Number.NaN }), 'ReduceLROnPlateau: cooldown'],
    [() => new ModelCheckpoint({ filepath: 'a', saveBestOnly: 1 as never }), 'ModelCheckpoint: saveBestOnly'],
    [() => new ModelCheckpoint('a', { initialValueThreshold: 'x' as never }), 'initialValueThreshold'],
    [
      () => new ModelCheckpoint('a', { saveFreq: 1.5 }),
      "saveFreq must be 'epoch' or a number of batches, got 1.5",
    ],
    [() => new ModelCheckpoint(3 as never), 'the path'],
    [() => new LearningRateScheduler(3 as never), 'the schedule'],
    [() => new LearningRateScheduler((epoch) => epoch, { verbose: 3 as never }), 'verbose'],
    [() => new BackupAndRestore(3 as never), 'the folder'],
    [() => new BackupAndRestore('a', { deleteCheckpoint: 0 as never }), 'deleteCheckpoint'],
    [() => new CSVLogger('a', { separator: '' }), 'separator must be text'],
    [() => new CSVLogger('a', { append: 1 as never }), 'append'],
    [
      () => new EarlyStopping({ restore_best_weights: true } as never),
      "'restore_best_weights' is not an option",
    ],
  ])('%s', (make, message) => {
    expect(make).toThrow(InvalidArgumentError);
    expect(make).toThrow(message);
  });
});
