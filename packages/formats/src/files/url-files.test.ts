import { afterEach, beforeEach, expect, test } from 'vitest';
import { readFileBytes } from './files.ts';
import { ownSchemes } from './schemes.ts';
import {
  copyFiles,
  listFiles,
  readUrl,
  removeFiles,
  SourceError,
  withSource,
  writeUrl,
} from './url-files.ts';

let kept: Map<string, Uint8Array>;
/** The next name that cannot be written. */
let full = '';
beforeEach(() => {
  kept = new Map();
  full = '';
  for (const scheme of ['one', 'two'])
    ownSchemes.set(scheme, {
      async read(url) {
        const bytes = kept.get(url);
        if (bytes === undefined) throw new SourceError('NOT_FOUND', `nothing at ${url}`);
        return bytes;
      },
      async write(url, bytes) {
        if (full !== '' && url.endsWith(full)) throw new SourceError('RESOURCE_EXHAUSTED', 'full');
        kept.set(url, bytes);
      },
      remove: async (url) => kept.delete(url),
      async list() {
        const own = [...kept].filter(([url]) => url.startsWith(`${scheme}:`));
        return Object.fromEntries(
          own.map(([url, { length }]) => [url, { bytes: length, dateSaved: new Date(0) }]),
        );
      },
    });
});
afterEach(() => ownSchemes.clear());

const text = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
const model = text({
  format: 'graph-model',
  modelTopology: { node: [] },
  weightsManifest: [{ paths: ['a.bin', 'b.bin'], weights: [] }],
});
const files = (): string[] => [...kept.keys()].sort();

test('a model with files beside it is copied and deleted as a whole', async () => {
  await writeUrl('one://m/model.json', model);
  for (const name of ['a.bin', 'b.bin']) await writeUrl(`one://m/${name}`, new Uint8Array(3));
  await copyFiles('one://m/model.json', 'two://n/net.json');
  const copied = ['two://n/a.bin', 'two://n/b.bin', 'two://n/net.json'];
  const source = ['one://m/a.bin', 'one://m/b.bin', 'one://m/model.json'];
  expect(files()).toEqual([...source, ...copied]);
  await expect(copyFiles('one://m/model.json', 'two://n/net.json')).rejects.toMatchObject({
    code: 'ALREADY_EXISTS',
  });
  await expect(copyFiles('one://m/model.json', 'two://n')).rejects.toThrow('ends in .json');
  await removeFiles('two://n/net.json');
  expect(files()).toEqual(source);
  full = 'b.bin';
  await expect(copyFiles('one://m/model.json', 'two://n/net.json')).rejects.toThrow('full');
  expect(files()).toEqual(source);
  expect(Object.keys(await listFiles())).toEqual(['one://m/model.json', 'one://m/a.bin', 'one://m/b.bin']);
  await expect(removeFiles('two://n/net.json')).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('a model.json that names files elsewhere is refused', async () => {
  const bad = (paths: unknown): Uint8Array => text({ weightsManifest: [{ paths }] });
  for (const content of [bad(['../a.bin']), bad(['/a.bin']), bad([3]), bad(3), new Uint8Array([0x7b])]) {
    kept.set('one://m/model.json', content);
    await expect(copyFiles('one://m/model.json', 'two://model.json')).rejects.toMatchObject({
      code: 'DATA_LOSS',
    });
  }
});

test('files that were chosen lie beside each other, and messages name them', async () => {
  const chosen = [new File([new Uint8Array([7])], 'a.bin'), new File([new Uint8Array(model)], 'model.json')];
  let path = '';
  const read = await withSource(
    chosen,
    {},
    (name) => name.endsWith('.json'),
    async (main) => {
      path = main;
      return [await readFileBytes(main), await readFileBytes(main.replace('model.json', 'a.bin'))];
    },
  );
  expect(read).toEqual([model, new Uint8Array([7])]);
  // Nothing is left of them.
  await expect(readFileBytes(path)).rejects.toThrow(SourceError);
  const failed = withSource(
    chosen,
    {},
    () => true,
    async (main) => {
      throw new Error(`${main} is bad`);
    },
  );
  await expect(failed).rejects.toThrow(/^a\.bin is bad$/);
  const missing = withSource(
    chosen,
    {},
    () => true,
    (main) => readFileBytes(main.replace('a.bin', 'c.bin')),
  );
  await expect(missing).rejects.toThrow('c.bin is not among those that were given: a.bin, model.json');
});

test('what lies beside a URL is read with the same options, and schemes are nobody else’s', async () => {
  const seen: unknown[] = [];
  ownSchemes.set('three', {
    async read(url, { requestInit }) {
      seen.push([url, requestInit]);
      return new Uint8Array(1);
    },
  });
  const requestInit = { headers: { a: 'b' } };
  const both = async (path: string): Promise<unknown> =>
    Promise.all([readFileBytes(path), readFileBytes(path.replace('x.json', 'y.bin'))]);
  await withSource('three://f/x.json', { requestInit }, () => true, both);
  expect(seen).toEqual([
    ['three://f/x.json', requestInit],
    ['three://f/y.bin', requestInit],
  ]);
  await expect(readUrl('four://x')).rejects.toMatchObject({ code: 'UNIMPLEMENTED' });
  await expect(writeUrl('three://x', new Uint8Array(1))).rejects.toThrow('three:// cannot keep files');
  await expect(removeFiles('three://x')).rejects.toThrow('three:// cannot delete files');
});
