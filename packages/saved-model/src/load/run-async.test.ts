import * as tf from '@eagre/core';
import { tensorflow } from '@eagre/formats';
import { afterAll, expect, test, vi } from 'vitest';
import { translatedOps } from '../import/ops/index.ts';
import { pauses } from '../import/pauses.ts';
import { Runtime } from '../import/runtime.ts';
import {
  expectSame,
  golden,
  goldenFile,
  type StoredModel,
  temporaryFolder,
  toValue,
  unpack,
} from '../testing/golden.ts';
import { load } from './load.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());
const { models } = goldenFile<{ readonly models: readonly StoredModel[] }>('composites');

test.each(models.filter(({ name }) => name !== 'tables').map((model) => [model.name, model] as const))(
  '%s gives the same off the event loop',
  async (_, model) => {
    const loaded = await load(unpack(model, folder.path));
    for (const { call, args, result } of model.cases)
      expectSame(await loaded[call].runAsync(...args.map(toValue)), result, call);
  },
);

test('signatures run off the event loop, also those of TensorFlow 1', async () => {
  for (const model of golden.models.filter(({ name }) => ['v1', 'texts', 'words'].includes(name))) {
    const loaded = await load(unpack(model, folder.path));
    for (const { call, kwargs, result } of model.cases) {
      if (!call.startsWith('signatures.')) continue;
      const signature = loaded.signatures[call.slice('signatures.'.length)];
      const inputs = Object.fromEntries(Object.entries(kwargs).map(([name, x]) => [name, toValue(x)]));
      expectSame(await signature?.runAsync(inputs), result, call);
      await expect(signature?.runAsync(inputs, AbortSignal.abort())).rejects.toThrow(tf.CancelledError);
    }
  }
});

/** A graph that makes texts longer and shorter again, many times, in functions that call each other. */
function longGraph(nodes: number): Runtime {
  const attr = new Map([['encoding', { s: new Uint8Array() }]]);
  const node_def = Array.from({ length: nodes }, (_, i) => ({
    name: `n${i}`,
    op: i % 2 === 0 ? 'StringUpper' : 'StringLower',
    input: [i === 0 ? 'x' : `n${i - 1}:output:0`],
    attr,
  }));
  const inner = {
    signature: { name: 'inner', input_arg: [{ name: 'x', type: 7 }], output_arg: [{ name: 'y', type: 7 }] },
    node_def,
    ret: new Map([['y', `n${nodes - 1}:output:0`]]),
  };
  const outer = {
    signature: { name: 'outer', input_arg: [{ name: 'x', type: 7 }], output_arg: [{ name: 'y', type: 7 }] },
    node_def: [
      {
        name: 'call',
        op: 'StatefulPartitionedCall',
        input: ['x'],
        attr: new Map([['f', { func: { name: 'inner' } }]]),
      },
    ],
    ret: new Map([['y', 'call:output:0']]),
  };
  const bytes = tensorflow.GraphDef.encode({ library: { function: [inner, outer] } });
  return new Runtime(tensorflow.GraphDef.decode(bytes), translatedOps());
}

test('the process goes on between nodes, and a run ends when nobody wants it', async () => {
  const runtime = longGraph(200);
  // A clock of its own: with the real one, a fast machine would be done before its first pause.
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now++);
  const x = tf.constant(Array.from({ length: 3000 }, (_, i) => `Text number ${i}`));
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const [y] = (await runtime.callAsync('outer', [x], pauses(undefined))) as [tf.Tensor];
  isOver = true;
  expect(turns).toBeGreaterThan(5);
  expect(y.strings()).toEqual((runtime.call('outer', [x])[0] as tf.Tensor).strings());
  const controller = new AbortController();
  setImmediate(() => controller.abort());
  await expect(runtime.callAsync('outer', [x], pauses(controller.signal))).rejects.toThrow(tf.CancelledError);
  clock.mockRestore();
});
