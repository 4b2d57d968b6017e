import { expect, test } from 'vitest';
import { choosePython, peers } from './peers.ts';

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
