// For test files that share a process: none leaves a tape, a scope or a device open for the next.
import { findDropped, notAtRest } from '@eagre/core/internal';
import { afterAll, expect } from 'vitest';

const before = notAtRest();
afterAll(async () => {
  // Tapes that were dropped without an end are open until they are collected.
  globalThis.gc?.();
  findDropped();
  await Promise.resolve();
  expect(notAtRest(), 'what this file leaves behind').toEqual(before);
});
