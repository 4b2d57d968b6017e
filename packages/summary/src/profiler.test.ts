import '@eagre/backend-js';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  AlreadyExistsError,
  constant,
  EagreError,
  InvalidArgumentError,
  UnavailableError,
  UnimplementedError,
} from '@eagre/core';
import { profiling } from '@eagre/core/internal';
import { tensorflow } from '@eagre/formats';
import { tfFunction } from '@eagre/graph';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../testing/src/temporary.ts';
import { Profile, ProfilerOptions, start, stop, Trace } from './profiler.ts';

const logs = (): string => temporaryFolder('profile');

/** The events of the one profile in a folder, with their names. */
function read(logdir: string): { name: string; from: number; to: number; stats: unknown }[] {
  const folder = join(logdir, 'plugins', 'profile');
  const [run] = readdirSync(folder) as [string];
  expect(run).toMatch(/^\d{4}(_\d\d){5}$/);
  const [file] = readdirSync(join(folder, run)) as [string];
  expect(file).toMatch(/\.xplane\.pb$/);
  const { planes = [] } = tensorflow.XSpace.decode(readFileSync(join(folder, run, file)));
  const [plane] = planes;
  const named = (list: readonly tensorflow.XMetadataEntry[] = []) =>
    new Map(list.map(({ key, value }) => [Number(key), value?.name ?? '']));
  const [events, stats] = [named(plane?.event_metadata), named(plane?.stat_metadata)];
  return (plane?.lines?.[0]?.events ?? []).map((e) => ({
    name: events.get(Number(e.metadata_id)) as string,
    from: Number(e.offset_ps ?? 0),
    to: Number(e.offset_ps ?? 0) + Number(e.duration_ps ?? 0),
    stats: Object.fromEntries(
      (e.stats ?? []).map((s) => [
        stats.get(Number(s.metadata_id)),
        s.str_value ?? s.double_value ?? Number(s.int64_value ?? 0),
      ]),
    ),
  }));
}

test('ops, functions and parts are written', () => {
  const logdir = logs();
  const f = tfFunction((x: ReturnType<typeof constant>) => x.mul(2), { name: 'double' });
  f(constant(1));
  start(logdir);
  expect(() => start(logdir)).toThrow(AlreadyExistsError);
  new Trace('step', { step_num: 3, _r: 1, loss: 0.5, phase: 'train' }).run(() => {
    constant([1, 2]).add(1);
    f(constant(2));
  });
  stop();
  expect(profiling.record).toBe(null);
  const events = read(logdir);
  const [step, ...inside] = events;
  expect(step).toMatchObject({ name: 'step', stats: { step_num: 3, _r: 1, loss: 0.5, phase: 'train' } });
  expect(inside.map(({ name }) => name)).toEqual(['AddV2', 'double']);
  for (const { from, to } of inside) {
    expect(from).toBeGreaterThanOrEqual(step?.from as number);
    expect(to).toBeLessThanOrEqual(step?.to as number);
  }
});

test('levels, blocks and mistakes', () => {
  const logdir = logs();
  {
    using _ = new Profile(logdir, new ProfilerOptions({ hostTracerLevel: 1 }));
    using trace = new Trace('part');
    trace.setMetadata({ later: true });
    constant(1).add(1);
  }
  expect(read(logdir).map(({ name, stats }) => [name, stats])).toEqual([['part', { later: 1 }]]);
  expect(() => stop()).toThrow(UnavailableError);
  const other = logs();
  start(other);
  stop(false);
  expect(existsSync(join(other, 'plugins'))).toBe(false);
  expect(() => new ProfilerOptions({ pythonTracerLevel: 1 })).toThrow(UnimplementedError);
  expect(() => new ProfilerOptions({ delayMs: 5 })).toThrow(UnimplementedError);
  expect(() => new ProfilerOptions(-1)).toThrow(InvalidArgumentError);
  expect(() => start(other, 3 as never)).toThrow(InvalidArgumentError);
  expect(() => new Trace('x', { a: [] as never })).toThrow(InvalidArgumentError);
  // Outside of a profile it marks nothing.
  expect(new Trace('x').run(() => 3)).toBe(3);
  const file = join(other, 'file');
  writeFileSync(file, '');
  start(file);
  expect(() => stop()).toThrow(EagreError);
  expect(() => stop()).toThrow(UnavailableError);
  const profile = new Profile(logs());
  profile.stop();
  expect(() => profile.stop()).toThrow('ended already');
});
