import { Tensor, zeros } from '@eagre/core';
import '@eagre/backend-js';
import { afterEach, expect, test, vi } from 'vitest';
import type { Feed } from './data-adapter.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

test('a pass gives the event loop its turn where there is no setImmediate, as in browsers', async () => {
  vi.stubGlobal('setImmediate', undefined);
  vi.resetModules();
  const { pass } = await import('./passes.ts');
  const x = zeros([1]);
  expect(x).toBeInstanceOf(Tensor);
  const feed = {
    async *pass() {
      for (let i = 0; i < 3; i++) yield { x, y: undefined, sampleWeight: undefined };
    },
  } as unknown as Feed;
  let turned = false;
  const { port1, port2 } = new MessageChannel();
  port1.addEventListener('message', () => {
    turned = true;
    port1.close();
  });
  port1.start();
  port2.postMessage(null);
  const execution = {
    begin: async () => {},
    run: () => {
      const until = performance.now() + 60;
      while (performance.now() < until);
    },
    end: async () => ({}),
  };
  const { count } = await pass(feed, undefined, 1, execution, () => {}, null);
  expect([count, turned]).toEqual([3, true]);
});
