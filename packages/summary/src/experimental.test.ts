import '@eagre/backend-js';
import '@eagre/backend-native';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DataLossError, InvalidArgumentError } from '@eagre/backend';
import { nameScope, ones, type Tensor } from '@eagre/core';
import { tensorflow } from '@eagre/formats';
import { tfFunction } from '@eagre/graph';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../testing/src/temporary.ts';
import { createFileWriter, experimental, summaryIterator, write } from './index.ts';

const { summaryScope, writeRawPb } = experimental;

/** What `fn` writes, after the version. */
function written(fn: () => void): readonly tensorflow.Event[] {
  const folder = temporaryFolder('summary');
  const writer = createFileWriter(folder);
  writer.asDefault(fn);
  writer.close();
  return [...summaryIterator(join(folder, readdirSync(folder)[0] as string))].slice(1);
}

const summary = (tag: string, simple_value: number): Uint8Array =>
  tensorflow.Summary.encode({ value: [{ tag, simple_value }] });

it('messages are written as they are, those of one call in one event, as in TensorFlow', () => {
  const [a, b] = [summary('a', 1), summary('b', 2)];
  const events = written(() => {
    expect(writeRawPb(a, { step: 3 })).toBe(true);
    expect(writeRawPb([a, b], { step: 4 })).toBe(true);
    expect(() => writeRawPb(Uint8Array.of(255, 255), { step: 5 })).toThrow(DataLossError);
    expect(() => writeRawPb('a' as unknown as Uint8Array, { step: 5 })).toThrow(InvalidArgumentError);
    expect(() => writeRawPb(a)).toThrow(/No step set/);
  });
  expect(
    events.map(({ step, summary }) => [step, summary?.value?.map((v) => [v.tag, v.simple_value])]),
  ).toEqual([
    [3, [['a', 1]]],
    [
      4,
      [
        ['a', 1],
        ['b', 2],
      ],
    ],
  ]);
  expect(writeRawPb(a, { step: 1 })).toBe(false);
});

it('at each run of a traced function', () => {
  const f = tfFunction((x: Tensor) => {
    writeRawPb(summary('a', 1));
    return x;
  });
  const events = written(() => {
    for (const step of [1, 2]) {
      experimental.setStep(step);
      f(ones([]));
    }
  });
  experimental.setStep(null);
  expect(events.map(({ step, summary }) => [step, summary?.value?.length])).toEqual([
    [1, 1],
    [2, 1],
  ]);
});

it("scopes and tags are TensorFlow's", () => {
  const places: [string, string][] = [];
  const place = (name: string | null, defaultName?: string): void =>
    summaryScope(
      name,
      ({ tag, scope }) => void places.push([tag, scope]),
      defaultName === undefined ? {} : { defaultName },
    );
  nameScope('outer', () => {
    place('my tag!/x', 'def');
    place('', 'def');
    place('!!!', 'def');
  });
  place('x');
  place(null);
  expect(places).toEqual([
    ['outer/my tag!/x', 'outer/mytag/x/'],
    ['outer/def', 'outer/def/'],
    ['outer/!!!', 'outer/def/'],
    ['x', 'x/'],
    ['summary', 'summary/'],
  ]);
  const events = written(() => {
    const done = summaryScope('kind', ({ tag }) => write(tag, 1, { step: 0 }));
    expect(done).toBe(true);
  });
  expect(events[0]?.summary?.value?.[0]?.tag).toBe('kind');
  expect(() => summaryScope(1 as unknown as string, () => 0)).toThrow(InvalidArgumentError);
});
