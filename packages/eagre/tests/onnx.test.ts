// What tf.onnx does beside giving the same numbers, which onnx-models.test.ts is about.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onnx } from '@eagre/formats';
import { afterAll, describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'eagre-onnx-'));
const at = (name: string): string => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true }));

const graphIn = (file: string): onnx.GraphProto =>
  onnx.ModelProto.decode(new Uint8Array(readFileSync(file))).graph as onnx.GraphProto;
const opsIn = (file: string): string[] => (graphIn(file).node ?? []).map((n) => n.op_type as string);
const sizesOf = (v: onnx.ValueInfoProto | undefined): unknown[] =>
  (v?.type?.tensor_type?.shape?.dim ?? []).map((d) => d.dim_param ?? d.dim_value);
const { layers } = tf;
const spec = (...shape: (number | null)[]): tf.TensorSpec => new tf.TensorSpec(shape);

describe('what is written', () => {
  test('a model with its names, sizes and weights', async () => {
    const x = tf.Input([4], { name: 'features' });
    const model = new tf.Model(x, new layers.Dense(2, { name: 'scores' })(x));
    await tf.onnx.save(model, at('dense.onnx'));
    const graph = graphIn(at('dense.onnx'));
    expect(graph.input?.map((i) => [i.name, sizesOf(i)])).toEqual([['features', ['N', 4]]]);
    expect(graph.output?.map((o) => [o.name, sizesOf(o)])).toEqual([['scores', ['N', 2]]]);
    expect(graph.initializer?.map((t) => [t.name, t.dims])).toEqual([
      ['scores/kernel', [4, 2]],
      ['scores/bias', [2]],
    ]);
    expect(opsIn(at('dense.onnx')).filter((op) => op !== 'Identity')).toEqual(['Gemm']);
  });

  test('a loaded function, for a shape that a wider trace serves', async () => {
    const w = new tf.Variable(tf.ones([4, 2]));
    const f = tf.function((x: tf.Tensor) => x.matmul(w), { inputSignature: [spec(null, 4)] });
    await tf.savedModel.save({ f, w }, at('wider'));
    const loaded = await tf.savedModel.load(at('wider'));
    await tf.onnx.save(loaded['f'], at('narrow.onnx'), {
      inputSignature: [new tf.TensorSpec([3, 4], 'float32', 'rows')],
    });
    const [input] = graphIn(at('narrow.onnx')).input ?? [];
    expect([input?.name, sizesOf(input)]).toEqual(['rows', [3, 4]]);
    const again = await tf.onnx.load(at('narrow.onnx'));
    expect(again(tf.ones([3, 4])).array()).toEqual([
      [4, 4],
      [4, 4],
      [4, 4],
    ]);
    await expect(
      tf.onnx.save(loaded['f'], at('other.onnx'), { inputSignature: [new tf.TensorSpec([3, 5])] }),
    ).rejects.toThrow(tf.errors.InvalidArgumentError);
  });

  test('transposes between convolutions cancel', async () => {
    const model = new tf.Sequential([
      new layers.InputLayer({ shape: [8, 8, 3] }),
      new layers.Conv2D(4, 3, { activation: 'relu' }),
      new layers.MaxPooling2D(2),
      new layers.Conv2D(4, 2, { padding: 'same' }),
      new layers.ReLU(),
      new layers.Conv2D(2, 2),
    ]);
    await tf.onnx.save(model, at('cnn.onnx'));
    const ops = opsIn(at('cnn.onnx'));
    expect(ops.filter((op) => op === 'Transpose').length).toBe(2);
    expect(ops.filter((op) => op === 'Conv').length).toBe(3);
    // The weights are transposed in the file.
    expect(graphIn(at('cnn.onnx')).initializer?.map((t) => t.dims)).toContainEqual([4, 3, 3, 3]);
  });

  test('composite ops are ops of ONNX', async () => {
    const model = new tf.Sequential([
      new layers.InputLayer({ shape: [5, 4] }),
      new layers.LSTM(3, { returnSequences: true }),
      new layers.GRU(3, { returnSequences: true }),
      new layers.LayerNormalization(),
      new layers.Dense(2, { activation: 'gelu' }),
    ]);
    await tf.onnx.save(model, at('composite.onnx'));
    const ops = opsIn(at('composite.onnx'));
    for (const op of ['LSTM', 'GRU', 'LayerNormalization', 'Gelu']) expect(ops).toContain(op);
    await tf.onnx.save(model, at('composite17.onnx'), { opset: 17 });
    expect(opsIn(at('composite17.onnx'))).not.toContain('Gelu');
  });

  test('names of functions', async () => {
    const f = (x: tf.Tensor, y: tf.Tensor) => ({ sum: x.add(y), product: x.mul(y) });
    const inputSignature = [
      new tf.TensorSpec([null], 'float32', 'a'),
      new tf.TensorSpec([null], 'float32', 'b'),
    ];
    await tf.onnx.save(f, at('named.onnx'), { inputSignature });
    const model = await tf.onnx.load(at('named.onnx'));
    expect(model.inputs.map((i) => i.name)).toEqual(['a', 'b']);
    expect(model.outputs.map((o) => o.name)).toEqual(['product', 'sum']);
    expect(model({ a: [1, 2], b: [3, 4] }).sum.array()).toEqual([4, 6]);
    await tf.onnx.save(f, at('named.onnx'), {
      inputSignature,
      inputNames: ['l', 'r'],
      outputNames: ['p', 's'],
    });
    expect((await tf.onnx.load(at('named.onnx'))).outputs.map((o) => o.name)).toEqual(['p', 's']);
  });

  test('traced and concrete functions', async () => {
    const f = tf.function((x: tf.Tensor) => x.mul(2));
    await tf.onnx.save(f, at('f.onnx'), { inputSignature: [spec(null)] });
    await tf.onnx.save(tf.function((x: tf.Tensor) => x.add(2)).getConcreteFunction(spec(3)), at('c.onnx'));
    expect((await tf.onnx.load(at('f.onnx')))([1, 2]).array()).toEqual([2, 4]);
    expect((await tf.onnx.load(at('c.onnx'))).inputs[0]?.shape).toEqual([3]);
  });

  test('weights in a file beside it', async () => {
    const w = new tf.Variable(tf.random.normal([40, 20]), { name: 'w' });
    const f = (x: tf.Tensor) => x.matmul(w).add(1);
    await tf.onnx.save(f, at('big.onnx'), { inputSignature: [spec(null, 40)], externalData: true });
    const beside = (): string[] => readdirSync(folder).filter((name) => /^big\.onnx\..*data$/.test(name));
    const [data] = beside();
    expect(data).toMatch(/^big\.onnx\.[0-9a-f]{16}\.data$/);
    expect(statSync(at(data!)).size).toBe(40 * 20 * 4);
    expect(statSync(at('big.onnx')).size).toBeLessThan(1500);
    const x = tf.random.normal([2, 40]);
    const y = (await tf.onnx.load(at('big.onnx')))(x) as tf.Tensor;
    expect(y.sub(f(x)).abs().max().item()).toBeLessThan(1e-5);
    // The same weights are the same file; that of other ones goes with the model it was for, as `<file>.data` of other programs does.
    await tf.onnx.save(f, at('big.onnx'), { inputSignature: [spec(null, 40)], externalData: true });
    expect(beside()).toEqual([data]);
    w.assignAdd(tf.ones([40, 20]));
    await tf.onnx.save(f, at('big.onnx'), { inputSignature: [spec(null, 40)], externalData: true });
    expect(beside()).toHaveLength(1);
    expect(beside()).not.toEqual([data]);
    const again = (await tf.onnx.load(at('big.onnx')))(x) as tf.Tensor;
    expect(again.sub(f(x)).abs().max().item()).toBeLessThan(1e-4);
    await tf.onnx.save(f, at('big.onnx'), { inputSignature: [spec(null, 40)] });
    expect(beside()).toEqual([]);
  });

  test('the same model again after it was read', async () => {
    const model = new tf.Sequential([
      new layers.InputLayer({ shape: [3] }),
      new layers.Dense(2, { activation: 'tanh' }),
    ]);
    await tf.onnx.save(model, at('once.onnx'));
    const read = await tf.onnx.load(at('once.onnx'));
    await tf.onnx.save(read, at('twice.onnx'), { opset: 17 });
    const x = tf.random.normal([4, 3]);
    const again = (await tf.onnx.load(at('twice.onnx')))(x) as tf.Tensor;
    expect(again.array()).toEqual((model(x) as tf.Tensor).array());
  });
});

describe('what is refused', () => {
  const matrices: Readonly<Record<string, (x: tf.Tensor) => tf.Tensor>> = {
    Cholesky: (x) => tf.linalg.cholesky(x),
    Qr: (x) => tf.linalg.qr(x)[0],
    MatrixTriangularSolve: (x) => tf.linalg.triangularSolve(x, x),
    Svd: (x) => tf.linalg.svd(x, { computeUV: false }) as unknown as tf.Tensor,
    SelfAdjointEigV2: (x) => tf.linalg.eigh(x)[0],
    Lu: (x) => tf.linalg.lu(x)[0],
  };
  test.each(Object.entries(matrices))('%s, with the name of its layer', async (op, call) => {
    class Factors extends tf.layers.Layer {
      override computeOutputShape(shape: readonly (number | null)[]): readonly (number | null)[] {
        return op === 'Svd' || op === 'SelfAdjointEigV2' ? shape.slice(0, -1) : shape;
      }
      override call(x: tf.Tensor): tf.Tensor {
        return call(x);
      }
    }
    const x = tf.Input([3, 3]);
    const model = new tf.Model(x, new Factors({ name: 'factors' })(x));
    const saved = tf.onnx.save(model, at('never.onnx'));
    await expect(saved).rejects.toThrow(tf.errors.UnimplementedError);
    await expect(saved).rejects.toThrow(
      new RegExp(`ONNX has no form of the node '.*/factors/${op}.*' \\(${op}\\)`),
    );
    expect(existsSync(at('never.onnx'))).toBe(false);
  });

  const save = (f: (...xs: tf.Tensor[]) => unknown, ...specs: tf.TensorSpec[]): Promise<void> =>
    tf.onnx.save(f as never, at('never.onnx'), { inputSignature: specs });

  test('assignments, strings, code of the host, ops without a form', async () => {
    const v = new tf.Variable(0, { name: 'counter' });
    await expect(save((x) => [x, v.assignAdd(1).read()], spec(2))).rejects.toThrow(
      /assigns to the variable 'counter'/,
    );
    await expect(save((x) => tf.cast(x, 'complex64'), spec(2))).rejects.toThrow(tf.errors.UnimplementedError);
    await expect(save((x) => (tf.linalg.svd(x) as unknown as tf.Tensor[])[0], spec(2, 2))).rejects.toThrow(
      /the node 'Svd.*' \(Svd\)/,
    );
    await expect(
      save(
        (x) =>
          tf.experimental.hostFunction((t: tf.Tensor) => t, [x], [{ dtype: 'float32', shape: [2] }]) as never,
        spec(2),
      ),
    ).rejects.toThrow(/is code of this process/);
    await expect(save(() => undefined, spec(2))).rejects.toThrow(/returns no tensor/);
    expect(existsSync(at('never.onnx'))).toBe(false);
    expect(readdirSync(folder).filter((f) => f.includes('never'))).toEqual([]);
  });

  test('arguments', async () => {
    const f = (x: tf.Tensor) => x;
    const inputSignature = [spec(2)];
    const { InvalidArgumentError } = tf.errors;
    await expect(tf.onnx.save(f, at('never.onnx'))).rejects.toThrow(/needs an inputSignature/);
    await expect(tf.onnx.save(f, at('nowhere/f.onnx'), { inputSignature })).rejects.toThrow(
      tf.errors.NotFoundError,
    );
    await expect(tf.onnx.save(f, folder, { inputSignature })).rejects.toThrow(
      tf.errors.FailedPreconditionError,
    );
    await expect(tf.onnx.save(3 as never, at('never.onnx'))).rejects.toThrow(InvalidArgumentError);
    await expect(tf.onnx.save(f, '', { inputSignature })).rejects.toThrow(InvalidArgumentError);
    await expect(tf.onnx.save(f, at('never.onnx'), { inputSignature, opset: 22 })).rejects.toThrow(
      /17 to 21/,
    );
    await expect(
      tf.onnx.save(f, at('never.onnx'), { inputSignature, inputNames: ['a', 'b'] }),
    ).rejects.toThrow(/1 different names/);
    await expect(
      tf.onnx.save(f, at('never.onnx'), { inputSignature, externalData: 1 as never }),
    ).rejects.toThrow(InvalidArgumentError);
    class Own extends tf.Model {
      override call(x: tf.Tensor): tf.Tensor {
        return x;
      }
    }
    await expect(tf.onnx.save(new Own() as never, at('never.onnx'))).rejects.toThrow(/give inputSignature/);
  });
});

describe('what is read', () => {
  test('weights are trained by a tape and an optimizer', async () => {
    const model = new tf.Sequential([
      new layers.InputLayer({ shape: [2] }),
      new layers.Dense(4, { activation: 'tanh' }),
      new layers.Dense(1),
    ]);
    await tf.onnx.save(model, at('train.onnx'));
    const read = await tf.onnx.load(at('train.onnx'));
    expect(read.trainableVariables.length).toBe(4);
    expect([...read.weights.keys()].filter((name) => name.endsWith('/kernel')).length).toBe(2);
    const x = tf.random.normal([64, 2], { seed: 1 });
    const y = x.sum(1, { keepdims: true });
    const optimizer = new tf.optimizers.Adam(0.05);
    const loss = (): tf.Tensor => (read(x) as tf.Tensor).sub(y).square().mean();
    const before = loss().item() as number;
    const step = tf.function(() => {
      const tape = new tf.GradientTape();
      const value = tape.record(loss);
      optimizer.applyGradients(
        tape.gradient(value, read.trainableVariables) as tf.Tensor[],
        read.trainableVariables,
      );
      return value;
    });
    for (let i = 0; i < 40; i++) step();
    expect(loss().item()).toBeLessThan(before / 5);
  });

  test('gradients are those of the model that was exported', async () => {
    const model = new tf.Sequential([
      new layers.InputLayer({ shape: [6, 6, 2] }),
      new layers.Conv2D(3, 3, { activation: 'relu' }),
      new layers.Flatten(),
      new layers.Dense(2),
    ]);
    await tf.onnx.save(model, at('grad.onnx'));
    const read = await tf.onnx.load(at('grad.onnx'));
    const x = tf.random.normal([2, 6, 6, 2]);
    const gradientOf = (f: (x: tf.Tensor) => tf.Tensor): tf.Tensor => {
      const tape = new tf.GradientTape();
      tape.watch(x);
      const y = tape.record(() => f(x).square().sum());
      return tape.gradient(y, x) as tf.Tensor;
    };
    const [a, b] = [gradientOf((t) => model(t) as tf.Tensor), gradientOf((t) => read(t) as tf.Tensor)];
    expect(a.sub(b).abs().max().item()).toBeLessThan(1e-3);
  });

  test('a layer around it is part of a Keras model', async () => {
    await tf.onnx.save((x: tf.Tensor) => x.mul(3), at('triple.onnx'), { inputSignature: [spec(null, 2)] });
    const read = await tf.onnx.load(at('triple.onnx'));
    class Triple extends tf.keras.Layer {
      override call(x: tf.Tensor): tf.Tensor {
        return read(x) as tf.Tensor;
      }
      override computeOutputShape(shape: tf.PartialShape): tf.PartialShape {
        return shape;
      }
    }
    const model = new tf.Sequential([new layers.InputLayer({ shape: [2] }), new Triple()]);
    expect((model(tf.ones([1, 2])) as tf.Tensor).array()).toEqual([[3, 3]]);
  });
});
