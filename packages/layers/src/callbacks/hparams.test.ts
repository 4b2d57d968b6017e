import '@eagre/backend-js';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FailedPreconditionError, InvalidArgumentError, ones } from '@eagre/core';
import * as summary from '@eagre/summary';
import { afterAll, expect, it } from 'vitest';
import { Dense } from '../layers/index.ts';
import { Sequential } from '../models/sequential.ts';
import type { Callback } from './callback.ts';
import { HParams } from './hparams.ts';
import { LambdaCallback } from './lambda-callback.ts';

const root = mkdtempSync(join(tmpdir(), 'eagre-hparams-'));
afterAll(() => rmSync(root, { recursive: true }));

async function fit(...callbacks: Callback[]): Promise<void> {
  const model = new Sequential([new Dense(1, { inputShape: [3] })]);
  model.compile({ optimizer: 'sgd', loss: 'mse' });
  await model.fit(ones([4, 3]), ones([4, 1]), { verbose: 0, callbacks });
}

function written(folder: string): unknown[] {
  return [...summary.readEvents(folder)].flatMap((e): unknown[] => {
    if (e.kind === 'hparams') return [{ ...e.values, group: e.groupName }];
    return e.kind === 'hparamsEnd' ? [e.status, e.endTimeSecs > 1e9] : [];
  });
}

it('writes the hyperparameters and that training has ended', async () => {
  const folder = join(root, 'done');
  const units = new summary.HParam('units');
  const callback = new HParams(
    folder,
    new Map<string | summary.HParam, number | string>([
      [units, 4],
      ['rate', 'low'],
    ]),
    { trialId: 'first' },
  );
  await fit(callback);
  expect(written(folder)).toEqual([{ units: 4, rate: 'low', group: 'first' }, 'success', true]);
  expect(readdirSync(folder)).toHaveLength(1);
  await expect(fit(callback)).rejects.toThrow(FailedPreconditionError);
  expect(written(folder)).toHaveLength(3);
});

it('writes to a writer that goes on, and that training has failed', async () => {
  const folder = join(root, 'failed');
  const writer = summary.createFileWriter(folder);
  const failing = new LambdaCallback({
    onEpochEnd: () => {
      throw new Error('no more');
    },
  });
  await expect(fit(new HParams(writer, { units: 4 }), failing)).rejects.toThrow('no more');
  writer.asDefault(() => summary.scalar('behind', 1, { step: 1 }));
  writer.close();
  expect(written(folder)).toEqual([
    { units: 4, group: expect.stringMatching(/^[0-9a-f]{64}$/) },
    'failure',
    true,
  ]);
  expect([...summary.readEvents(folder)].at(-1)).toMatchObject({ kind: 'scalar', tag: 'behind' });
});

it('refuses what are no hyperparameters', () => {
  expect(() => new HParams(root, { x: [1] as never })).toThrow(InvalidArgumentError);
  expect(() => new HParams(null as never, {})).toThrow('the writer or the folder must be a path');
  expect(() => new HParams(root, {}, { trialId: 3 as never })).toThrow('trialId must be a string, got 3');
  expect(() => summary.hparamsEnd('done' as never)).toThrow("one of 'success', 'failure', 'running'");
  expect(summary.hparamsEnd()).toBe(false);
});
