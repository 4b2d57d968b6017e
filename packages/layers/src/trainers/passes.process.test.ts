import { afterEach, expect, test, vi } from 'vitest';
import type { Feed } from './data-adapter.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

test('a pass gives the event loop its turn where there is no setImmediate, as in browsers', async () => {
  // No module of ours is loaded before.
  vi.stubGlobal('setImmediate', undefined);
  await import('@eagre/backend-js');
  const { zeros } = await import('@eagre/core');
  const { pass } = await import('./passes.ts');
  const x = zeros([1]);
  const feed = {
    count: () => undefined,
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
    end: async () => {},
    logs: () => ({}),
    readsLogs: () => false,
  };
  const { count } = await pass(feed, undefined, 1, execution, () => {}, null);
  expect([count, turned]).toEqual([3, true]);
});
