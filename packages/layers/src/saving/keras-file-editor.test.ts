import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { DataLossError, InvalidArgumentError, NotFoundError, ones, Tensor, zeros } from '@eagre/core';
import { type Hdf5Group, isHdf5Dataset, readHdf5File } from '@eagre/formats';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Input, KerasFileEditor, layers, Sequential } from '../index.ts';

interface Golden {
  readonly files: Readonly<Record<string, string>>;
  readonly summary: readonly string[];
  readonly summaryOfWeights: readonly string[];
  readonly comparisons: Readonly<
    Record<string, { readonly lines: readonly string[]; readonly status: string }>
  >;
  readonly errors: Readonly<Record<string, string>>;
  readonly edits: readonly (readonly [name: string, args: readonly unknown[]])[];
  readonly edited: readonly string[];
  readonly saved: Readonly<Record<string, unknown>>;
}
const golden = JSON.parse(
  gunzipSync(readFileSync(new URL('../../golden/file-editor.json.gz', import.meta.url))).toString(),
) as Golden;

const folder = mkdtempSync(join(tmpdir(), 'eagre-editor-'));
const at = (name: string): string => join(folder, name);
let lines: string[] = [];
beforeAll(() => {
  for (const [name, content] of Object.entries(golden.files))
    writeFileSync(at(name), Buffer.from(content, 'base64'));
  vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
});
afterAll(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});
/** What a call prints. */
function printed(call: () => unknown): string[] {
  lines = [];
  call();
  return lines;
}

const base = (units = 3): Sequential => {
  const model = new Sequential([
    Input([2]),
    new layers.Dense(units, { name: 'hidden' }),
    new layers.Dropout(0.5),
    new layers.BatchNormalization(),
    new layers.Dense(1, { name: 'last' }),
  ]);
  model.compile({ optimizer: 'adam', loss: 'mse' });
  return model;
};
const references: Readonly<Record<string, () => Promise<Sequential>>> = {
  base: async () => built(base()),
  wider: async () => built(base(4)),
  more: async () =>
    new Sequential([
      Input([2]),
      new layers.Dense(3),
      new layers.BatchNormalization(),
      new layers.Dense(1),
      new layers.Dense(1),
    ]),
  renamed: async () =>
    new Sequential([
      Input([2]),
      new layers.Dense(3),
      new layers.Dropout(0.5),
      new layers.BatchNormalization(),
      new layers.EinsumDense('ab,bc->ac', 1, { biasAxes: 'c' }),
    ]),
};
/** With the state of its optimizer. */
async function built(model: Sequential): Promise<Sequential> {
  await model.fit(ones([1, 2]), zeros([1, 1]), { verbose: 0 });
  return model;
}

test('prints what Keras prints', async () => {
  const editor = await KerasFileEditor.open(at('model.keras'));
  expect(lines[0]).toBe(`Keras model file '${at('model.keras')}'`);
  expect(lines[1]).toMatch(/^Saved with Keras 3\.15\.1 - date: \d{4}-/);
  expect(editor.metadata?.['keras_version']).toBe('3.15.1');
  expect(editor.config?.['class_name']).toBe('Sequential');
  expect(printed(() => editor.summary())).toEqual(golden.summary);
  const weights = await KerasFileEditor.open(at('model.weights.h5'));
  expect([weights.metadata, weights.config]).toEqual([null, null]);
  expect(printed(() => weights.summary())).toEqual(golden.summaryOfWeights);
});

for (const [name, { lines: expected, status }] of Object.entries(golden.comparisons))
  test(`compares the file with another model: ${name}`, async () => {
    const editor = await KerasFileEditor.open(at('model.keras'));
    const reference = await references[name]!();
    let result: ReturnType<typeof editor.compare> | undefined;
    const found = printed(() => {
      result = editor.compare(reference);
    });
    // Keras counts what is in objects several times.
    const plain = (line: string): string => line.replace(/^( *Found) \d+/, '$1 n');
    expect(found.map(plain)).toEqual(expected.map(plain));
    expect(result?.status).toBe(status);
    expect(result?.errorCount).toBe(found.filter((line) => line.startsWith('...')).length);
    if (name === 'base') expect(result?.matchCount).toBe(8 + 14);
  });

async function arraysIn(path: string): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  const look = (group: Hdf5Group, inside: string): void => {
    for (const [name, child] of group.children) {
      const own = inside === '' ? name : `${inside}/${name}`;
      if (isHdf5Dataset(child)) found[own] = child.read();
      else look(child, own);
    }
  };
  await readHdf5File(path, (root) => look(root, ''));
  return found;
}

test('edits as Keras does, and writes what Keras writes', async () => {
  const editor = await KerasFileEditor.open(at('model.keras'));
  for (const [name, args] of golden.edits)
    (editor as unknown as Record<string, (...args: readonly unknown[]) => void>)[name]!(...args);
  const sorted = (text: readonly string[]): readonly string[] =>
    [...text].map((line) => line.replace(/[├└│]/g, ' ')).sort();
  expect(sorted(printed(() => editor.summary()))).toEqual(sorted(golden.edited));
  await editor.resaveWeights(at('edited.weights.h5'));
  const saved = await arraysIn(at('edited.weights.h5'));
  expect(Object.keys(saved).sort()).toEqual(Object.keys(golden.saved).sort());
  const again = await KerasFileEditor.open(at('edited.weights.h5'));
  const flat = (value: unknown, path: string): [string, unknown][] =>
    value instanceof Tensor
      ? [[path, value.array()]]
      : Object.entries(value as object).flatMap(([key, inner]) =>
          flat(inner, path === '' ? key : `${path}/${key}`),
        );
  const values = Object.fromEntries(
    flat(again.weightsDict, '').map(([path, value]) => [path.replace(/\/(\d+)$/, '/vars/$1'), value]),
  );
  expect(values).toEqual(golden.saved);
  // A model with these layers takes the file.
  const model = new Sequential([Input([2]), new layers.Dense(3)]);
  const first = again.weightsDict['layers'] as Record<string, Record<string, Tensor>>;
  const writer = await KerasFileEditor.open(at('edited.weights.h5'));
  for (const name of ['batch_normalization', 'other', 'einsum_dense']) writer.deleteObject(`layers/${name}`);
  writer.deleteWeight('first', '2');
  writer.renameObject({ objectName: 'first', newName: 'dense' });
  await writer.save({ filepath: at('one.weights.h5') });
  await model.loadWeights(at('one.weights.h5'));
  expect(model.weights[0]?.array()).toEqual(first['first']?.['0']?.array());
});

test('refuses what makes no sense, and changes nothing then', async () => {
  const editor = await KerasFileEditor.open(at('model.keras'));
  const before = printed(() => editor.summary());
  expect(() => editor.renameObject('0', '9')).toThrow(golden.errors['twice']);
  expect(() => editor.deleteObject('nobody')).toThrow(/does not appear in the file/);
  expect(() => editor.renameObject('layers/nobody', 'x')).toThrow(golden.errors['path']);
  expect(() => editor.renameObject('layers/dense', 'a/b')).toThrow(InvalidArgumentError);
  expect(() => editor.renameObject('layers/dense', 'dense_1')).toThrow(/there is a 'dense_1' beside/);
  expect(() => editor.deleteWeight('layers/dense', '7')).toThrow(
    'Weight 7 not found in object layers/dense.',
  );
  expect(() => editor.deleteWeight('layers/dense/0', '7')).toThrow(/is a weight, and no object/);
  expect(() => editor.addObject('nowhere/x', { 0: [1] })).toThrow("Path 'nowhere/x' not found in model.");
  expect(() => editor.addObject('layers/x', { 'a/b': [1] })).toThrow(/must be a name/);
  expect(() => editor.addObject('layers/x', [1] as never)).toThrow(/must be an object of values/);
  expect(() => editor.addWeights('layers/dense', { 2: ['text'] as never })).toThrow(/hold numbers/);
  expect(() => editor.compare(3 as never)).toThrow(/must be a model/);
  expect(printed(() => editor.summary())).toEqual(before);
  await expect(editor.save(at('x.keras'))).rejects.toThrow(/must end in .weights.h5/);
  await expect(KerasFileEditor.open(at('none.keras'))).rejects.toThrow(NotFoundError);
  await expect(KerasFileEditor.open(at('model.h5'))).rejects.toThrow(InvalidArgumentError);
  expect(() => new KerasFileEditor({})).toThrow(/open a file/);
  const bytes = Buffer.from(golden.files['model.weights.h5']!, 'base64');
  writeFileSync(at('cut.weights.h5'), bytes.subarray(0, 3000));
  await expect(KerasFileEditor.open(at('cut.weights.h5'))).rejects.toThrow(DataLossError);
});
