import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { constant, strings, type Tensor } from '@eagre/core';
import { decodeNpy, encodeNpy, encodeNpz, zipParts } from '@eagre/formats';
import { TensorSpec, tfFunction } from '@eagre/graph';
import { Input, layers, Model } from '@eagre/layers';
import { save } from '@eagre/saved-model';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { contentsText, inspect } from '../inspect.ts';
import { runSavedModel } from './run.ts';
import { showSavedModel } from './show.ts';

const folder = mkdtempSync(join(tmpdir(), 'eagre-cli-'));
const dir = join(folder, 'model');
const signature = { tagSet: 'serve', signatureDef: 'serving_default' };

beforeAll(async () => {
  const [a, b] = [Input([2], { name: 'a' }), Input([1], { name: 'b', dtype: 'int32' })];
  const doubled = new layers.Dense(1, { kernelInitializer: 'ones', name: 'sum' })(a);
  const outputs = { sum: doubled, whole: new layers.Flatten()(b) };
  await new Model({ inputs: [a, b], outputs }).export(dir, { verbose: false });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(
  options: Omit<Parameters<typeof runSavedModel>[1], keyof typeof signature>,
): Promise<string> {
  const lines: string[] = [];
  await runSavedModel(dir, { ...signature, ...options }, (line) => lines.push(line));
  return lines.join('\n');
}

test('values of the command', async () => {
  expect(await run({ inputExprs: 'a=[[1, 2.5], [3, 4]];b=[[1], [2]]' })).toBe(
    'Result for output key sum:\n[[3.5]\n [7. ]]\nResult for output key whole:\n[[1]\n [2]]',
  );
});

test('serialized examples of the command', async () => {
  const golden = new URL('../../../saved-model/golden/examples.json.gz', import.meta.url);
  const { files } = JSON.parse(gunzipSync(readFileSync(golden)).toString()) as {
    readonly files: Readonly<Record<string, string>>;
  };
  const reader = join(folder, 'reader');
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(reader, name)), { recursive: true });
    writeFileSync(join(reader, name), Buffer.from(content, 'base64'));
  }
  const call = async (signatureDef: string, inputExamples: string): Promise<string> => {
    const lines: string[] = [];
    const options = { tagSet: 'serve', signatureDef, inputExamples };
    await runSavedModel(reader, options, (line) => lines.push(line));
    return lines.join('\n');
  };
  expect(await call('score', 'examples=[{"x": [1.5, 2]}, {"x": [0.5, 1.0], "other": ["y"]}]')).toBe(
    'Result for output key scores:\n[[9.]\n [4.]]',
  );
  expect(await call('older', 'examples=[{"x": [1.5, 2.5], "id": [7], "words": ["a", "ü"]}]')).toMatch(
    /key values:\n\["a" "ü"\]/,
  );
  // An integer is no float, as in TensorFlow's tool.
  await expect(call('score', 'examples=[{"x": [1, 2]}]')).rejects.toThrow(
    /Expected type: float32, got int64/,
  );
  await expect(call('score', 'examples={"x": [1.5, 2.5]}')).rejects.toThrow(/a list of dictionaries/);
  await expect(call('score', 'examples=[{"x": [1.5, "a"]}]')).rejects.toThrow(
    /the feature 'x' must be a list/,
  );
  await expect(run({ inputExamples: 'a=[{"x": [1.5]}]', inputExprs: 'b=[[1]]' })).rejects.toThrow(
    "the input 'a' takes float32, not examples",
  );
});

test('values of files, and outputs in files', async () => {
  const array = constant([[1, 2]]).ndarray();
  writeFileSync(join(folder, 'a.npy'), encodeNpy(array));
  writeFileSync(
    join(folder, 'b.npz'),
    encodeNpz({ x: constant([[7]]).ndarray(), y: constant([[8]]).ndarray() }),
  );
  const inputs = `a=${join(folder, 'a.npy')};b=${join(folder, 'b.npz')}[y]`;
  const outdir = join(folder, 'out');
  expect(await run({ inputs, outdir })).toContain(`Output sum is saved to ${join(outdir, 'sum.npy')}`);
  expect(decodeNpy(readFileSync(join(outdir, 'whole.npy')))).toMatchObject({ shape: [1, 1], dtype: 'int32' });
  await expect(run({ inputs, outdir })).rejects.toThrow('exists already; add --overwrite');
  await run({ inputs, outdir, overwrite: true });
  expect(readdirSync(outdir).sort()).toEqual(['sum.npy', 'whole.npy']);
  // What is in the command counts.
  expect(await run({ inputs, inputExprs: 'b=[[9]]' })).toContain('[[9]]');
});

test('what cannot be run', async () => {
  await expect(run({})).rejects.toThrow("the input 'a' is missing");
  await expect(run({ inputExprs: 'c=1' })).rejects.toThrow(
    "'c' is no input of the signature; its inputs are 'a', 'b'",
  );
  await expect(run({ inputExprs: 'a' })).rejects.toThrow('key=value');
  await expect(run({ inputExprs: 'a=[[1,2],[3]];b=[[1]]' })).rejects.toThrow(
    "the input 'a' is no float32 tensor",
  );
  await expect(run({ inputExprs: "a={'x': 1};b=[[1]]" })).rejects.toThrow('is a dictionary');
  await expect(run({ inputs: `a=${join(folder, 'none.npy')}` })).rejects.toThrow('there is no');
  await expect(run({ inputs: `b=${join(folder, 'b.npz')}` })).rejects.toThrow('holds 2 arrays');
  await expect(run({ inputs: `b=${join(folder, 'b.npz')}[z]` })).rejects.toThrow("has no array 'z'");
  const lines: string[] = [];
  const intoFile = { ...signature, inputExprs: 'a=[[1, 2]];b=[[1]]', outdir: join(folder, 'a.npy') };
  await expect(runSavedModel(dir, intoFile, (line) => lines.push(line))).rejects.toThrow(
    `${intoFile.outdir} is a file, expected a folder`,
  );
  expect(lines).toEqual([]);
  await expect(runSavedModel(folder, { ...signature }, () => {})).rejects.toThrow('there is no SavedModel');
  await expect(runSavedModel(dir, { ...signature, tagSet: 'gpu' }, () => {})).rejects.toThrow("tags 'gpu'");
});

test('what is in it', async () => {
  const contents = await inspect(dir);
  expect(contents).toMatchObject({ format: 'savedModel', about: { tags: 'serve', functions: ['serve'] } });
  expect(contentsText(contents)).toMatch(/signatures: \["serve","serving_default"\]/);
  expect(contents.items?.map(({ shape }) => shape)).toEqual(expect.arrayContaining([[2, 1], [1]]));
  expect(showSavedModel(dir, { all: true })).toContain(
    "          Value: [TensorSpec(shape=(None, 2), dtype=tf.float32, name='a'), TensorSpec(shape=(None, 1), dtype=tf.int32, name='b')]",
  );
});

test('texts of files of NumPy, of characters and of bytes', async () => {
  const spec = new TensorSpec([null], 'string', 'x');
  const words = tfFunction({ inputSignature: [spec] })((x: Tensor) => strings.upper(x));
  const dir = join(folder, 'words');
  await save({ words }, dir, { signatures: words });
  const lines: string[] = [];
  // np.save and np.savez of np.array(['ab', 'ü', '']), with dtype '<U2' and 'S2'.
  const npy = (descr: string, data: Buffer): Buffer => {
    const header = `{'descr': '${descr}', 'fortran_order': False, 'shape': (3,), }`.padEnd(117);
    return Buffer.concat([
      Buffer.from('\x93NUMPY\x01\x00\x76\x00', 'latin1'),
      Buffer.from(`${header}\n`),
      data,
    ]);
  };
  const wide = Buffer.from(Uint32Array.of(97, 98, 0xfc, 0, 0, 0).buffer);
  writeFileSync(join(folder, 'u.npy'), npy('<U2', wide));
  writeFileSync(
    join(folder, 'a.npz'),
    Buffer.concat([...zipParts([['x.npy', npy('|S2', Buffer.from([97, 98, 0xc3, 0xbc, 0, 0]))]])]),
  );
  for (const path of ['u.npy', 'a.npz[x]', 'a.npz'])
    await runSavedModel(dir, { ...signature, inputs: `x=${join(folder, path)}` }, (line) => lines.push(line));
  expect(lines).toEqual(Array.from({ length: 3 }, () => expect.stringMatching(/\["AB" "ü" ""\]/)));
  writeFileSync(join(folder, 'n.npy'), encodeNpy(constant([1]).ndarray() as never));
  const numbers = runSavedModel(dir, { ...signature, inputs: `x=${join(folder, 'n.npy')}` }, () => {});
  await expect(numbers).rejects.toThrow("the input 'x' takes texts, not float32");
  await expect(run({ inputs: `a=${join(folder, 'u.npy')}`, inputExprs: 'b=[[1]]' })).rejects.toThrow(
    "the input 'a' takes float32, not texts",
  );
});
