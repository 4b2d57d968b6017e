// What tf has beside ops: dtypes and shapes as objects, effects, code of the host, directional derivatives.
import { describe, expect, it } from 'vitest';
import * as tf from '../src/index.ts';

describe('dtypes as objects', () => {
  it('tell what is known of them', () => {
    const f = tf.asDtype('float32');
    expect([f.name, f.size, f.isFloating, f.isNumeric, f.isInteger]).toEqual([
      'float32',
      4,
      true,
      true,
      false,
    ]);
    expect([tf.asDtype('half').name, tf.asDtype('double').name, tf.asDtype(3).name]).toEqual([
      'float16',
      'float64',
      'int32',
    ]);
    expect(String(tf.asDtype('int8'))).toBe("<dtype: 'int8'>");
    expect([tf.asDtype('int8').min, tf.asDtype('int8').max, tf.asDtype('uint64').max]).toEqual([
      -128,
      127,
      2n ** 64n - 1n,
    ]);
    expect(tf.asDtype('uint8').limits()).toEqual([0, 255]);
    expect(tf.asDtype('float32').max).toBe(3.4028234663852886e38);
    expect(tf.asDtype('complex64').realDtype.name).toBe('float32');
    expect(f.equals('float32')).toBe(true);
    expect([tf.half, tf.double, tf.dtypes.float32]).toEqual(['float16', 'float64', 'float32']);
    expect(() => tf.asDtype('flout' as 'float')).toThrow(tf.errors.InvalidArgumentError);
    expect(() => tf.asDtype('string').max).toThrow(tf.errors.InvalidArgumentError);
    expect(() => tf.asDtype(77)).toThrow(tf.errors.InvalidArgumentError);
  });
});

describe('shapes as objects', () => {
  it('say what is known and what fits', () => {
    const s = new tf.TensorShape([null, 3]);
    expect([s.rank, s.asList(), s.isFullyDefined(), s.numElements()]).toEqual([2, [null, 3], false, null]);
    expect(String(s)).toBe('(None, 3)');
    expect(String(new tf.TensorShape([2]))).toBe('(2,)');
    expect(String(new tf.TensorShape(null))).toBe('<unknown>');
    expect(s.isCompatibleWith([7, 3])).toBe(true);
    expect(s.isCompatibleWith([7, 4])).toBe(false);
    expect(s.mergeWith([5, null]).asList()).toEqual([5, 3]);
    expect(s.concatenate([4]).asList()).toEqual([null, 3, 4]);
    expect(s.mostSpecificCompatibleShape([2, 4]).asList()).toEqual([null, null]);
    expect([...s]).toEqual([null, 3]);
    expect(s.at(-1)).toBe(3);
    expect(new tf.TensorShape([2, 3]).isSubtypeOf(s)).toBe(true);
    expect(() => s.mergeWith([5, 4])).toThrow(tf.errors.InvalidArgumentError);
    expect(() => s.assertHasRank(3)).toThrow(tf.errors.InvalidArgumentError);
    expect(() => s.assertIsFullyDefined()).toThrow(tf.errors.InvalidArgumentError);
    expect(() => new tf.TensorShape(null).asList()).toThrow(tf.errors.InvalidArgumentError);
    expect(() => new tf.TensorShape([-2])).toThrow(tf.errors.InvalidArgumentError);
    expect(tf.broadcastStaticShape([null, 1, 3], [4, 1]).asList()).toEqual([null, 4, 3]);
    expect(() => tf.broadcastStaticShape([2], [3])).toThrow(tf.errors.InvalidArgumentError);
  });
});

describe('initializers', () => {
  it('are functions of shapes', () => {
    expect(tf.zerosInitializer()([2]).array()).toEqual([0, 0]);
    expect(tf.onesInitializer()([1], 'int32').dtype).toBe('int32');
    expect(tf.constantInitializer(3)([2]).array()).toEqual([3, 3]);
    expect(tf.randomNormalInitializer({ stddev: 0 })([2]).array()).toEqual([0, 0]);
    expect(tf.randomUniformInitializer({ minval: 2, maxval: 2 })([1]).array()).toEqual([2]);
  });
});

describe('effects', () => {
  it('happen in the order of the code', () => {
    const v = new tf.Variable(1);
    const seen = tf.controlDependencies([v.assignAdd(2)], () => v.read().item());
    expect(seen).toBe(3);
    expect(tf.group(v.assignAdd(1), v.assignAdd(1))).toBeNull();
    expect(v.read().item()).toBe(5);
    expect(tf.noOp()).toBeNull();
    const [a, none] = tf.tuple([tf.constant(2), null]);
    expect([a?.item(), none]).toEqual([2, null]);
    const step = tf.function(() => tf.controlDependencies([v.assignAdd(10)], () => v.read().mul(2)));
    expect(step().item()).toBe(30);
    expect(() => tf.controlDependencies([], 3 as never)).toThrow(tf.errors.InvalidArgumentError);
    expect(() => tf.tuple([null])).toThrow(tf.errors.InvalidArgumentError);
  });
  it('are operations in graphs of sessions', () => {
    const graph = new tf.compat.v1.Graph();
    const { sum, all } = graph.asDefault(() => {
      const x = tf.compat.v1.placeholder('float32', []);
      const [g] = tf.gradients(x.mul(x), x);
      const [h] = tf.hessians(x.mul(x).mul(x), x);
      return { sum: [x, g, h] as tf.Tensor[], all: tf.group() };
    });
    expect(all).not.toBeNull();
    const session = new tf.compat.v1.Session({ graph });
    const [g, h] = session.run([sum[1], sum[2]], {
      feedDict: new Map([[sum[0], tf.constant(3)]]),
    }) as tf.Tensor[];
    expect([g.item(), h.item()]).toEqual([6, 18]);
    // As TensorFlow's.
    const of = new tf.compat.v1.Graph();
    const found = of.asDefault(() => {
      const x = tf.constant([1, 2]);
      const y = x.mul(x);
      const [z, w] = [y.mul(x), y.add(1)];
      const weights = tf.constant([1, 10]);
      expect(tf.gradients(z, x, { stopGradients: z })).toEqual([null]);
      expect(() => tf.gradients(z, x, { gradYs: [x, x] })).toThrow('2 output gradients for 1 targets');
      expect(() => tf.gradients(z, x, { gradYs: 3 as never })).toThrow(tf.errors.InvalidArgumentError);
      expect(() => tf.gradients(z, x, { stopGradients: 3 as never })).toThrow(tf.errors.InvalidArgumentError);
      return [
        ...tf.gradients([z, w], [x, y], { stopGradients: [y] }),
        ...tf.gradients(z, x, { gradYs: weights }),
        ...tf.gradients([z, w], x, { gradYs: [null, tf.constant([3, 3])] }),
        ...tf.gradients(z, x, { stopGradients: x }),
      ] as tf.Tensor[];
    });
    const values = new tf.compat.v1.Session({ graph: of }).run(found) as tf.Tensor[];
    expect(values.map((t) => t.array())).toEqual([
      [1, 4],
      [2, 3],
      [3, 120],
      [9, 24],
      [3, 12],
    ]);
    expect(() => tf.gradients(tf.constant(1), tf.constant(1))).toThrow(/not compatible with eager execution/);
    expect(() => tf.hessians(tf.constant(1), tf.constant(1))).toThrow(/not compatible with eager execution/);
  });
});

describe('what is traced', () => {
  it('can be told', () => {
    const inside: unknown[] = [];
    const f = tf.function((x: tf.Tensor) => {
      inside.push(tf.insideFunction(), tf.isSymbolicTensor(x), tf.getStaticValue(x));
      inside.push(tf.getStaticValue(tf.constant([1, 2]).add(1))?.array());
      inside.push(tf.initScope(() => tf.constant(2).add(1).item()));
      return tf.ensureShape(x, [null, 2]);
    });
    f(tf.ones([3, 2]));
    expect(inside).toEqual([true, true, null, [2, 3], 3]);
    expect([tf.insideFunction(), tf.isSymbolicTensor(tf.ones([1]))]).toEqual([false, false]);
    const before = Date.now() / 1000;
    const now = tf.function(() => tf.timestamp());
    expect(now().item()).toBeGreaterThanOrEqual(before - 1);
    expect(now().dtype).toBe('float64');
  });
  it('asserts in each run', () => {
    const f = tf.function((x: tf.Tensor) => {
      tf.Assert(x.sum().greater(0), [x]);
      return x.add(1);
    });
    expect(f(tf.constant([1, 2])).array()).toEqual([2, 3]);
    expect(() => f(tf.constant([-1, -2]))).toThrow(/assertion failed: \[-1 -2\]/);
    expect(() => tf.Assert(tf.constant(1), [])).toThrow(tf.errors.InvalidArgumentError);
    tf.assertEqual([1], [1]);
    tf.assertRank(tf.ones([2]), 1);
    expect(() => tf.assertLess(2, 1)).toThrow(tf.errors.InvalidArgumentError);
    expect(() => tf.debugging.assertProperIterable(tf.ones([2]))).toThrow(tf.errors.InvalidArgumentError);
    tf.debugging.assertProperIterable([1]);
    expect([tf.debugging.isNumericTensor(tf.ones([1])), tf.debugging.isNumericTensor('x')]).toEqual([
      true,
      false,
    ]);
  });
});

describe('code of the host', () => {
  it('runs now or in each run', () => {
    const sorted = (x: { data: ArrayLike<number> }): number[] => Array.from(x.data).sort((a, b) => a - b);
    expect(
      (tf.numpyFunction(sorted as never, [tf.constant([3, 1])], 'float32') as tf.Tensor).array(),
    ).toEqual([1, 3]);
    const f = tf.function(
      (x: tf.Tensor) => tf.numpyFunction(sorted as never, [x], 'float32', { shape: [2] }) as tf.Tensor,
    );
    expect(f(tf.constant([5, 2])).array()).toEqual([2, 5]);
    const open = tf.function(
      (x: tf.Tensor) => tf.numpyFunction(sorted as never, [x], 'float32') as tf.Tensor,
    );
    expect(() => open(tf.constant([5, 2]))).toThrow(tf.errors.UnimplementedError);
    expect(() => tf.numpyFunction((() => [1, 2]) as never, [], ['float32'])).toThrow(
      tf.errors.InvalidArgumentError,
    );
  });
  it('has a gradient while nothing is traced', () => {
    const x = tf.constant(3);
    const tape = new tf.GradientTape();
    tape.watch(x);
    const y = tf.pyFunction((v) => v.mul(v), [x], 'float32') as tf.Tensor;
    expect(tape.gradient(y, x)?.item()).toBe(6);
  });
});

describe('gradients', () => {
  it('pass through', () => {
    const round = tf.gradPassThrough((x) => tf.round(x));
    const x = tf.constant([0.6, 1.2]);
    const tape = new tf.GradientTape();
    tape.watch(x);
    const y = round(x);
    expect(y.array()).toEqual([1, 1]);
    expect(tape.gradient(y.mul(3), x)?.array()).toEqual([3, 3]);
  });
  it('are those along a direction', () => {
    const x = tf.constant([2, 3]);
    const v = new tf.Variable(4);
    using acc = new tf.autodiff.ForwardAccumulator([x, v], [tf.constant([1, 0]), tf.constant(2)]);
    const y = x.square().mul(v);
    const derivative = acc.jvp(y) as tf.Tensor;
    // 2 x · 4 · dx + x² · dv
    expect(derivative.array()).toEqual([24, 18]);
    expect(acc.jvp(tf.constant(1))).toBeNull();
    expect((acc.jvp(tf.constant(1), { unconnectedGradients: 'zero' }) as tf.Tensor).item()).toBe(0);
    expect((acc.jvp([y, y]) as tf.Tensor[]).length).toBe(2);
  });
  it('along a direction work over a tape: products with the Hessian', () => {
    const x = tf.constant([1, 2]);
    using acc = new tf.autodiff.ForwardAccumulator(x, tf.constant([1, 1]));
    const tape = new tf.GradientTape();
    tape.watch(x);
    const loss = x.pow(3).sum();
    const g = tape.gradient(loss, x) as tf.Tensor;
    expect((acc.jvp(g) as tf.Tensor).array()).toEqual([6, 12]);
  });
  it('along a direction are those of matrix products, in traced functions too', () => {
    const w = tf.constant([
      [1, 2],
      [3, 4],
    ]);
    const f = tf.function((x: tf.Tensor, t: tf.Tensor) => {
      using acc = new tf.autodiff.ForwardAccumulator(x, t);
      return acc.jvp(tf.matmul(x, w).sigmoid()) as tf.Tensor;
    });
    const [x, t] = [tf.constant([[0.1, 0.2]]), tf.constant([[1, -1]])];
    const y = tf.matmul(x, w).sigmoid();
    const expected = y.mul(tf.subtract(1, y)).mul(tf.matmul(t, w));
    tf.debugging.assertNear(f(x, t), expected);
  });
  it('refuses tangents that do not fit', () => {
    const x = tf.constant([2, 3]);
    expect(() => new tf.autodiff.ForwardAccumulator(x, tf.constant([1]))).toThrow(
      tf.errors.InvalidArgumentError,
    );
    expect(() => new tf.autodiff.ForwardAccumulator([x], [])).toThrow(tf.errors.InvalidArgumentError);
    expect(
      () => new tf.autodiff.ForwardAccumulator(tf.constant([1], 'int32'), tf.constant([1], 'int32')),
    ).toThrow(tf.errors.InvalidArgumentError);
  });
});

describe('messages and texts', () => {
  it('of tensors come back', () => {
    const tensors: tf.Tensor[] = [
      tf.constant([[1, 2.5]]),
      tf.constant(['a', 'ä'] as never),
      tf.constant([true]),
      tf.constant(3, 'int64'),
    ];
    for (const x of tensors) {
      const back = tf.makeNdarray(tf.makeTensorProto(x));
      expect([back.dtype, back.shape, back.array()]).toEqual([x.dtype, x.shape, x.array()]);
    }
    expect(tf.makeTensorProto([1, 2, 3, 4], { dtype: 'int32', shape: [2, 2] }).dtype).toBe(3);
    const content = { dtype: 7, tensor_shape: { dim: [{ size: 2 }] } };
    expect(tf.makeNdarray({ ...content, tensor_content: Uint8Array.of(1, 2, 97, 98, 99) }).array()).toEqual([
      'a',
      'bc',
    ]);
    expect(() => tf.makeNdarray({ ...content, tensor_content: Uint8Array.of(1, 9, 97) })).toThrow(
      tf.errors.InvalidArgumentError,
    );
    expect(() => tf.makeNdarray({ dtype: 77 })).toThrow(tf.errors.InvalidArgumentError);
  });
  it('are bytes or strings', () => {
    const bytes = tf.compat.asBytes('ä');
    expect([...bytes]).toEqual([0xc3, 0xa4]);
    expect([tf.compat.asText(bytes), tf.compat.asStr('x'), tf.compat.asStrAny(bytes)]).toEqual([
      'ä',
      'x',
      'ä',
    ]);
    expect(tf.compat.dimensionAtIndex([null, 3], 1)).toBe(3);
    expect(tf.compat.dimensionValue(null)).toBeNull();
    expect(tf.compat.pathToStr('a/b')).toBe('a/b');
    expect(() => tf.compat.asText(new Uint8Array([0xff]))).toThrow(tf.errors.InvalidArgumentError);
  });
});
