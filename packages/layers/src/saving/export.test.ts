import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import '@eagre/backend-js';
import { FailedPreconditionError, InvalidArgumentError, ones, type Tensor, type Variable } from '@eagre/core';
import { TensorSpec, tfFunction } from '@eagre/graph';
import * as onnx from '@eagre/onnx';
import { load, save } from '@eagre/saved-model';
import { afterAll, expect, test, vi } from 'vitest';
import { ExportArchive, Input, layers, Model, Sequential } from '../index.ts';

const folder = mkdtempSync(join(tmpdir(), 'eagre-export-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const quiet = { verbose: false } as const;

test('a model: its function, signatures and variables', async () => {
  const [a, b] = [Input([2], { name: 'first' }), Input([3], { name: 'second' })];
  const dense = new layers.Dense(2);
  const model = new Model({ inputs: [a, b], outputs: [dense(a), new layers.Flatten()(b)] });
  await model.export(join(folder, 'model'), quiet);
  const loaded = await load(join(folder, 'model'));
  expect(Object.keys(loaded.signatures)).toEqual(['serve', 'serving_default']);
  const [x, y] = [ones([4, 2]), ones([4, 3])];
  const [wanted] = model([x, y]) as unknown as [Tensor];
  expect(loaded['serve']([x, y])[0].array()).toEqual(wanted.array());
  const named = loaded.signatures['serving_default']?.({ first: x, second: y });
  expect(named?.['output_0']?.array()).toEqual(wanted.array());
  expect(loaded.trainableVariables.map((v) => v.shape)).toEqual([[2, 2], [2]]);
});

test('what is said of it', async () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  try {
    const path = join(folder, 'told');
    await new Sequential([Input([2], { name: 'x' }), new layers.Dense(1)]).export(path);
    expect(log.mock.calls).toEqual([
      [
        [
          `Saved artifact at '${path}'. The following endpoints are available:`,
          '',
          "* Endpoint 'serve'",
          "  args_0: TensorSpec(shape=[null, 2], dtype=float32, name='x')",
          'Output Type:',
          '  TensorSpec(shape=[null, 1], dtype=float32)',
        ].join('\n'),
      ],
    ]);
  } finally {
    log.mockRestore();
  }
});

test('a subclassed model serves batches of any size', async () => {
  class Twice extends Model {
    dense: layers.Dense = new layers.Dense(1);
    override call(inputs: Tensor): Tensor {
      return this.dense(inputs).mul(2);
    }
  }
  const model = new Twice();
  await expect(model.export(join(folder, 'unbuilt'), quiet)).rejects.toThrow(FailedPreconditionError);
  await expect(model.export(join(folder, 'a.onnx'), { format: 'onnx' })).rejects.toThrow(
    FailedPreconditionError,
  );
  model(ones([3, 2]));
  await model.export(join(folder, 'twice.onnx'), { ...quiet, format: 'onnx', opsetVersion: 18 });
  const twice = await onnx.load(join(folder, 'twice.onnx'));
  expect(twice.opsets.get('')).toBe(18);
  expect(twice.inputs.map(({ shape }) => shape)).toEqual([[null, 2]]);
  expect(twice(ones([5, 2])).array()).toEqual((model(ones([5, 2])) as Tensor).array());
  await model.export(join(folder, 'twice'), quiet);
  const { serve } = await load(join(folder, 'twice'));
  expect(serve(ones([5, 2])).shape).toEqual([5, 1]);
  const inputSignature = [new TensorSpec([4, 2], 'float32', 'four')];
  await model.export(join(folder, 'four'), { ...quiet, inputSignature });
  const { signatures } = await load(join(folder, 'four'));
  expect(Object.keys(signatures['serve']?.structuredInputSignature[1] ?? {})).toEqual(['four']);
});

test('a functional model as ONNX has the names of its inputs and outputs', async () => {
  const x = Input([2], { name: 'rows' });
  const model = new Model(x, new layers.Dense(1, { name: 'scores' })(x));
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  const file = join(folder, 'functional.onnx');
  await model.export(file, { format: 'onnx' });
  expect(log.mock.calls).toEqual([[`Saved artifact at '${file}'.`]]);
  log.mockRestore();
  const loaded = await onnx.load(file);
  expect(loaded.inputs.map(({ name, shape }) => [name, shape])).toEqual([['rows', [null, 2]]]);
  expect(loaded.outputs.map(({ name }) => name)).toEqual(['scores']);
  expect(loaded(ones([3, 2])).array()).toEqual((model(ones([3, 2])) as Tensor).array());
});

test('endpoints and variables of an archive', async () => {
  const model = new Sequential([Input([2]), new layers.Dense(1)]);
  const archive = new ExportArchive();
  archive.track(model);
  const inputSignature = [new TensorSpec([null, 2])];
  archive.addEndpoint('twice', (rows: Tensor) => model(rows).mul(2), { inputSignature });
  archive.addEndpoint({ name: 'plain', fn: (rows: Tensor) => model(rows), inputSignature } as never);
  archive.addVariableCollection('kernels', [model.variables[0] as Variable]);
  await archive.writeOut(join(folder, 'archive'), quiet);
  const loaded = await load(join(folder, 'archive'));
  expect(Object.keys(loaded.signatures).sort()).toEqual(['plain', 'serving_default', 'twice']);
  expect(loaded['kernels']).toHaveLength(1);
  const x = ones([1, 2]);
  const first = loaded.signatures['serving_default']?.({ rows: x })['output_0'];
  expect(first?.item()).toBe(loaded['twice'](x).item());
});

test('mistakes', async () => {
  const archive = new ExportArchive();
  const never = tfFunction((x: Tensor) => x);
  const spec = { inputSignature: [new TensorSpec([2])] };
  await expect(archive.writeOut(join(folder, 'none'), quiet)).rejects.toThrow('there is no endpoint yet');
  expect(() => archive.track(new layers.Dense(1))).toThrow(FailedPreconditionError);
  expect(() => archive.track(3 as never)).toThrow(InvalidArgumentError);
  expect(() => archive.addEndpoint('f', ((x: Tensor) => x) as never)).toThrow('needs an inputSignature');
  expect(() => archive.addEndpoint('f', never as never)).toThrow('was never traced');
  expect(() => archive.addEndpoint('variables', never as never, spec)).toThrow('is taken');
  expect(() => archive.addVariableCollection('v', [3] as never)).toThrow('expected a list of variables');
  archive.addEndpoint('f', never as never, spec);
  expect(() => archive.addEndpoint('f', never as never, spec)).toThrow("the name 'f' is taken");
  const model = new Sequential([Input([2]), new layers.Dense(1)]);
  await expect(model.export(join(folder, 'x'), { format: 'pickle' as never })).rejects.toThrow(/format/);
  await expect(model.export(join(folder, 'x'), { opsetVersion: 18 })).rejects.toThrow(
    "the format 'onnx' alone",
  );
  await expect(model.export(3 as never, quiet)).rejects.toThrow('must be a path');
});

// TensorFlow refuses them in both, naming the key.
test('nested outputs cannot be a signature', async () => {
  const x = Input([2]);
  const y = new layers.Dense(1)(x);
  const byName = new Model({ inputs: x, outputs: { a: y, n: { b: y } } as never });
  const nested = "returns a structure inside its results, an object at 'n'";
  await expect(save(byName, join(folder, 'by-name'))).rejects.toThrow(
    `the signature 'serving_default' ${nested}`,
  );
  await expect(byName.export(join(folder, 'by-name'), quiet)).rejects.toThrow(nested);
  const inList = new Model({ inputs: x, outputs: [y, [y]] as never });
  await expect(save(inList, join(folder, 'in-list'))).rejects.toThrow('a list at 1');
  // Signatures of one's own may be anything that fits.
  const fn = tfFunction((t: Tensor) => (byName(t) as unknown as { a: Tensor }).a, {
    inputSignature: [new TensorSpec([null, 2])],
  });
  await save(byName, join(folder, 'own'), { signatures: fn });
  expect(Object.keys((await load(join(folder, 'own'))).signatures)).toEqual(['serving_default']);
});
