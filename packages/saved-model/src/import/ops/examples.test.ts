import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as tf from '@eagre/core';
import { bytesOf, textOf } from '@eagre/core/internal';
import { encodeExample, tensorflow } from '@eagre/formats';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { load } from '../../load/load.ts';
import type { LoadedObject } from '../../load/loaded-object.ts';
import { save } from '../../save/save.ts';
import { goldenFile, temporaryFolder } from '../../testing/golden.ts';
import { loadGraphDef } from '../graph-def-file.ts';

interface Stored {
  readonly dtype: tf.DType;
  readonly shape: readonly number[];
  readonly data: readonly (string | number)[];
}
interface Case {
  readonly call: string;
  readonly strings: Stored;
  readonly result?: Readonly<Record<string, Stored>>;
  readonly error?: string;
}
const golden = goldenFile<{
  readonly files: Readonly<Record<string, string>>;
  readonly cases: readonly Case[];
}>('examples');

const folder = temporaryFolder();
let reader: LoadedObject;
beforeAll(async () => {
  for (const [name, content] of Object.entries(golden.files)) {
    const path = join(folder.path, 'reader', name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, Buffer.from(content, 'base64'));
  }
  reader = await load(join(folder.path, 'reader'));
});
afterAll(() => folder.remove());

const stringsOf = ({ data, shape }: Stored): tf.Tensor =>
  tf.constant(
    data.map((text) => textOf(Buffer.from(text as string, 'base64'))),
    'string',
    { shape },
  );

/** A tensor as the golden file has it. */
function stored(x: tf.Tensor): Stored {
  const { dtype } = x;
  const data: readonly unknown[] =
    dtype === 'string'
      ? x.strings().map((text) => Buffer.from(bytesOf(text)).toString('base64'))
      : Array.from(x.data() as ArrayLike<number | bigint>);
  return {
    dtype,
    shape: [...x.shape],
    data: data.map((v) => (typeof v === 'bigint' ? String(v) : v)) as number[],
  };
}

for (const [i, { call, strings, result, error }] of golden.cases.entries())
  test(`${i}, ${call}: ${error ?? 'as in TensorFlow'}`, () => {
    const run = (): Record<string, tf.Tensor> => reader[call](stringsOf(strings));
    if (result === undefined) {
      expect(run).toThrow(tf.InvalidArgumentError);
      return;
    }
    const outputs = run();
    expect(Object.keys(outputs).sort()).toEqual(Object.keys(result).sort());
    for (const [name, wanted] of Object.entries(result))
      expect(stored(outputs[name] as tf.Tensor), name).toEqual(wanted);
    const [input] = Object.keys(reader.signatures[call]?.structuredInputSignature[1] ?? {});
    const signed = reader.signatures[call]?.({ [input as string]: stringsOf(strings) }) ?? {};
    for (const [name, wanted] of Object.entries(result))
      expect(stored(signed[name] as tf.Tensor), name).toEqual(wanted);
  });

test('bytes that are no text are saved and loaded as they are', async () => {
  const bytes = encodeExample({ x: Float32Array.of(1.5, -2), words: [Uint8Array.of(255, 0, 128)] });
  const v = new tf.Variable(tf.constant([textOf(bytes)]), { name: 'v' });
  await save({ v }, join(folder.path, 'bytes'));
  const again = await load(join(folder.path, 'bytes'));
  expect(bytesOf(again['v'].read().strings()[0])).toEqual(bytes);
  expect(reader['score'](again['v'].read()).scores.array()).toEqual([[-3]]);
});

test('StringStrip removes the white space of ASCII alone', async () => {
  const texts = ['  a b\t\n\v\f\r', '\u00a0a\u2003', '\ufeffx ', '\u0085'];
  const graph = await loadGraphDef(
    tensorflow.GraphDef.encode({
      node: [
        { name: 'x', op: 'Placeholder', attr: new Map([['dtype', { type: 7 }]]) },
        { name: 'y', op: 'StringStrip', input: ['x'] },
      ],
    }),
  );
  expect(graph.prune('x:0', 'y:0')(tf.constant(texts))[0]?.array()).toEqual([
    'a b',
    '\u00a0a\u2003',
    '\ufeffx',
    '\u0085',
  ]);
});
