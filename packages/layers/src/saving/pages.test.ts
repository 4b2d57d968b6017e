// What pages, which have no files, can do with models, and what they are told of the rest.
import { constant, NotFoundError, type Tensor, UnimplementedError } from '@eagre/core';
import { urlFiles } from '@eagre/formats/internal';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { layers, loadModel, Sequential, saveModelToBytes } from '../index.ts';

const model = new Sequential([new layers.Dense(1, { inputShape: [2] })]);
const bytes = await saveModelToBytes(model);
await urlFiles();
await import('./model-urls.ts');
const builtin = process.getBuiltinModule;
beforeEach(() => {
  // Chunks that are imported late are here already, so that nothing of the test's own needs files.
  Object.assign(process, { getBuiltinModule: undefined });
});
afterEach(() => {
  Object.assign(process, { getBuiltinModule: builtin });
  vi.unstubAllGlobals();
});

test('a path is fetched', async () => {
  const asked: string[] = [];
  vi.stubGlobal('fetch', async (url: string) => {
    asked.push(url);
    return url === '/m.keras'
      ? new Response(new Blob([new Uint8Array(bytes)]))
      : new Response('', { status: 404 });
  });
  const loaded = await loadModel('/m.keras');
  const [theirs, ours] = [loaded, model].map((m) => (m.invoke(constant([[1, 2]])) as Tensor).array());
  expect(theirs).toEqual(ours);
  await expect(loadModel('/other.keras')).rejects.toThrow(/other.keras: the server answered 404/);
  await expect(loadModel('/other.keras')).rejects.toThrow(NotFoundError);
  await expect(model.loadWeights('/w.weights.h5')).rejects.toThrow(/answered 404/);
  expect(asked).toEqual(['/m.keras', '/other.keras', '/other.keras', '/w.weights.h5']);
});

test('what writes files says what works', async () => {
  await expect(model.save('m.keras')).rejects.toThrow(/saveModelToBytes\(model\)/);
  await expect(model.save('m.keras')).rejects.toThrow(UnimplementedError);
  await expect(model.saveWeights('m.weights.h5')).rejects.toThrow(/saveModelToBytes\(model\)/);
});
