import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { benchFolder, choosePython, peers } from './peers.ts';
import { workloads } from './workloads/index.ts';

test('each library takes the first Python that has it', () => {
  const has = (python: string): boolean => python.endsWith('jax');
  expect(choosePython(['with-torch', 'with-jax', 'other-jax'], has)).toBe('with-jax');
  expect(choosePython(['with-torch', 'with-tensorflow'], has)).toBe('with-torch');
});

test('a single Python is not asked', () => {
  const has = (): boolean => expect.fail('was asked');
  expect(choosePython(['python3'], has)).toBe('python3');
});

test('every peer has a name of its own', () => {
  expect(new Set(peers.map((p) => p.id)).size).toBe(peers.length);
});

test('workloads have names of their own, and peers are asked for workloads that they have', () => {
  const names = workloads.map((w) => w.name);
  expect(new Set(names).size).toBe(names.length);
  const targets = workloads.flatMap((w) => w.targets);
  for (const target of targets) {
    if (target.kind === 'ratio') expect(peers.map((p) => p.id)).toContain(target.peer);
    if (target.kind === 'against') expect(names).toContain(target.workload);
  }
});

test('what the peers in Python implement are workloads', () => {
  const folder = join(benchFolder, 'peers');
  const files = readdirSync(folder).filter((file) => file.endsWith('_peer.py'));
  expect(files).toHaveLength(4);
  const names = new Set(workloads.map((w) => w.name));
  for (const file of files) {
    // The keys of the tables that are indented by two or three steps.
    const keys = readFileSync(join(folder, file), 'utf8').matchAll(/^ {8,12}"(\w+)": /gm);
    const implemented = [...keys].map(([, name]) => name);
    expect(implemented.length).toBeGreaterThan(5);
    expect(implemented.filter((name) => !names.has(name!))).toEqual([]);
  }
});
