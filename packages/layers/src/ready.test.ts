import { preferredBackend } from '@eagre/backend';
import { InvalidArgumentError } from '@eagre/core';
import { expect, test } from 'vitest';
import { ready } from './ready.ts';

// What pages do is tested in `apps/consumers`.
test('in Node kernels are there from the start', async () => {
  const before = preferredBackend();
  expect(await ready()).toBeUndefined();
  expect(preferredBackend()).toBe(before);
  await expect((async () => (ready as (x: unknown) => unknown)({ module: 'x' }))()).rejects.toThrow(
    InvalidArgumentError,
  );
});
