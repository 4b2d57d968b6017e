// For test files that share a process: none leaves a tape, a scope or a device of its own to the next.
import { allBackends } from '@eagre/backend';
import { findDropped, notAtRest } from '@eagre/core/internal';
import { afterAll, expect } from 'vitest';

const before = notAtRest();
afterAll(async () => {
  // Tapes that were dropped without an end are open until they are collected.
  globalThis.gc?.();
  findDropped();
  await Promise.resolve();
  expect(notAtRest(), 'what this file leaves behind').toEqual(before);
  // Tests of all devices would be others, by which file comes first.
  const others = allBackends().filter(({ name }) => name !== 'native' && name !== 'js');
  expect(
    others.map(({ name }) => name),
    'a device that this file has registered: such files are called x.process.test.ts',
  ).toEqual([]);
});
