// Models and functions that are exported to ONNX: for tests, and for tools/interop/onnx_exports.py.
import * as tf from '../../src/index.ts';

export interface Exported {
  readonly target: tf.onnx.SaveTarget;
  readonly options?: { readonly inputSignature?: readonly tf.TensorSpec[] };
  /** What it is called with, more than once where sizes may be any. */
  readonly inputs: readonly (readonly tf.Tensor[])[];
  /** What it gives for them. */
  readonly call: (inputs: readonly tf.Tensor[]) => unknown;
}

const { layers } = tf;

/** A model of one input with random numbers, for these batch sizes. */
function model(m: tf.Model, shape: readonly number[], batches: readonly number[] = [1, 3]): Exported {
  return {
    target: m,
    inputs: batches.map((n) => [tf.random.normal([n, ...shape], { seed: 7 })]),
    call: ([x]) => m(x as tf.Tensor, { training: false }),
  };
}
const sequential = (shape: readonly (number | null)[], ...list: tf.keras.Layer[]): tf.Model =>
  new tf.Sequential([new layers.InputLayer({ shape: [...shape] }), ...list]);
/** Gives weights that start with zeros or ones other values. */
function shaken(m: tf.Model): tf.Model {
  m.variables.forEach((v, i) => {
    if (v.dtype === 'float32')
      v.assign(v.read().add(tf.random.uniform(v.shape, { minval: 0.05, maxval: 0.3, seed: 11 + i })));
  });
  return m;
}
const fn = (
  f: (...xs: tf.Tensor[]) => unknown,
  specs: readonly tf.TensorSpec[],
  ...inputs: readonly (readonly tf.Tensor[])[]
): Exported => ({ target: f, options: { inputSignature: specs }, inputs, call: (xs) => f(...xs) });
const spec = (shape: readonly (number | null)[], dtype: tf.DType = 'float32'): tf.TensorSpec =>
  new tf.TensorSpec([...shape], dtype);
const normal = (...shape: number[]): tf.Tensor => tf.random.normal(shape, { seed: 5 });

/** One layer for each of many kinds, on inputs of a shape without the batch; a pair of inputs where it says so. */
const single: Readonly<
  Record<string, readonly [make: () => tf.keras.Layer, shape: readonly number[], pair?: true]>
> = {
  AdaptiveAveragePooling2D: [() => new layers.AdaptiveAveragePooling2D([2, 3]), [6, 7, 2]],
  AdditiveAttention: [() => new layers.AdditiveAttention(), [5, 8], true],
  Attention: [() => new layers.Attention(), [5, 8], true],
  'BatchNormalization of another axis': [() => new layers.BatchNormalization({ axis: 1 }), [4, 3]],
  CenterCrop: [() => new layers.CenterCrop(4, 4), [6, 7, 3]],
  'Conv2D with dilations': [() => new layers.Conv2D(3, 3, { dilationRate: 2 }), [8, 8, 4]],
  'Conv2D in groups': [() => new layers.Conv2D(4, 3, { groups: 2 }), [8, 8, 4]],
  Conv3DTranspose: [() => new layers.Conv3DTranspose(2, 2, { strides: 2 }), [2, 3, 2, 2]],
  ConvLSTM2D: [() => new layers.ConvLSTM2D(2, 3), [3, 6, 6, 2]],
  Discretization: [() => new layers.Discretization({ binBoundaries: [0, 0.5, 1] }), [4]],
  Dot: [() => new layers.Dot(-1), [5, 8], true],
  EinsumDense: [
    () => new layers.EinsumDense('abc,cd->abd', { outputShape: [null, 6], biasAxes: 'd' }),
    [4, 3],
  ],
  'GRU that resets before': [() => new layers.GRU(3, { resetAfter: false }), [5, 3]],
  'LSTM backwards': [() => new layers.LSTM(3, { goBackwards: true }), [5, 3]],
  'LSTM with another activation': [() => new layers.LSTM(3, { activation: 'relu' }), [5, 3]],
  'LayerNormalization of two axes': [() => new layers.LayerNormalization({ axis: [1, 2] }), [4, 3]],
  'LSTM with a mask': [() => sequential([5, 3], new layers.Masking(), new layers.LSTM(4)), [5, 3]],
  Normalization: [() => new layers.Normalization({ mean: 1, variance: 2 }), [4]],
  PReLU: [() => new layers.PReLU({ alphaInitializer: 'randomNormal' }), [4, 2]],
  'RNN of several cells': [
    () => new layers.RNN(new layers.StackedRNNCells([new layers.LSTMCell(3), new layers.GRUCell(2)])),
    [5, 3],
  ],
  'Resizing with bicubic': [() => new layers.Resizing(5, 9, { interpolation: 'bicubic' }), [6, 7, 2]],
  SpectralNormalization: [() => new layers.SpectralNormalization(new layers.Dense(3)), [4]],
  TimeDistributed: [() => new layers.TimeDistributed(new layers.Dense(3)), [5, 4]],
  UpSampling3D: [() => new layers.UpSampling3D(2), [3, 3, 3, 2]],
};

function ofLayer([make, shape, pair]: (typeof single)[string]): Exported {
  const layer = make();
  const call = (...xs: tf.Tensor[]): unknown => layer((pair === true ? xs : xs[0]) as tf.Tensor);
  const inputs = (n: number): tf.Tensor[] => [
    normal(n, ...shape),
    ...(pair === true ? [normal(n, ...shape).mul(0.5)] : []),
  ];
  // Weights are made by the first call.
  call(...inputs(1));
  const specs = inputs(1).map(() => spec([null, ...shape]));
  return fn(call, specs, inputs(1), inputs(3));
}

export const exported: Readonly<Record<string, () => Exported>> = {
  dense: () =>
    model(
      sequential(
        [4],
        new layers.Dense(8, { activation: 'relu' }),
        new layers.Dense(3, { activation: 'softmax' }),
      ),
      [4],
    ),
  activations: () =>
    model(
      sequential(
        [5],
        ...[
          'elu',
          'selu',
          'gelu',
          'silu',
          'tanh',
          'sigmoid',
          'softplus',
          'softsign',
          'hardSigmoid',
          'mish',
          'relu6',
          'leakyRelu',
          'logSoftmax',
        ].map((activation) => new layers.Dense(5, { activation: activation as 'elu' })),
      ),
      [5],
    ),
  conv1d: () =>
    model(
      shaken(
        sequential(
          [9, 3],
          new layers.Conv1D(4, 3, { padding: 'same', strides: 2 }),
          new layers.Conv1D(2, 2, { padding: 'causal' }),
        ),
      ),
      [9, 3],
    ),
  conv2d: () =>
    model(
      shaken(
        sequential(
          [8, 7, 3],
          new layers.Conv2D(4, 3, { activation: 'relu', padding: 'same' }),
          new layers.MaxPooling2D(2),
          new layers.Conv2D(5, [2, 3], { strides: 2, padding: 'same' }),
          new layers.BatchNormalization(),
          new layers.ReLU(),
          new layers.GlobalAveragePooling2D(),
          new layers.Dense(2),
        ),
      ),
      [8, 7, 3],
    ),
  convUnknownSizes: () => {
    const m = shaken(
      sequential(
        [null, null, 2],
        new layers.Conv2D(3, 3, { padding: 'same', strides: 2 }),
        new layers.GlobalMaxPooling2D(),
      ),
    );
    return { ...model(m, [8, 6, 2]), inputs: [[normal(2, 8, 6, 2)], [normal(1, 5, 9, 2)]] };
  },
  conv3d: () =>
    model(
      shaken(
        sequential([5, 6, 4, 2], new layers.Conv3D(3, 2, { padding: 'same' }), new layers.MaxPooling3D(2)),
      ),
      [5, 6, 4, 2],
    ),
  depthwise: () =>
    model(
      shaken(sequential([6, 6, 3], new layers.DepthwiseConv2D(3, { depthMultiplier: 2, padding: 'same' }))),
      [6, 6, 3],
    ),
  separable: () =>
    model(
      shaken(
        sequential(
          [6, 6, 3],
          new layers.SeparableConv2D(4, 3),
          new layers.SeparableConv2D(2, 2, { padding: 'same' }),
        ),
      ),
      [6, 6, 3],
    ),
  transposed: () =>
    model(
      shaken(
        sequential(
          [4, 5, 2],
          new layers.Conv2DTranspose(3, 3, { strides: 2, padding: 'same' }),
          new layers.Conv2DTranspose(2, 2, { strides: 2 }),
        ),
      ),
      [4, 5, 2],
    ),
  transposed1d: () =>
    model(
      shaken(sequential([6, 2], new layers.Conv1DTranspose(3, 3, { strides: 2, padding: 'same' }))),
      [6, 2],
    ),
  pools: () =>
    model(
      sequential(
        [9, 8, 2],
        new layers.AveragePooling2D([3, 2], { strides: 2, padding: 'same' }),
        new layers.MaxPooling2D(3, { strides: 1, padding: 'same' }),
        new layers.GlobalMaxPooling2D({ keepdims: true }),
      ),
      [9, 8, 2],
    ),
  pools1d: () =>
    model(
      sequential(
        [8, 2],
        new layers.MaxPooling1D(2),
        new layers.AveragePooling1D(2),
        new layers.GlobalAveragePooling1D(),
      ),
      [8, 2],
    ),
  normalization: () =>
    model(
      shaken(
        sequential(
          [6, 8],
          new layers.LayerNormalization(),
          new layers.BatchNormalization(),
          new layers.GroupNormalization(4),
          new layers.UnitNormalization(),
        ),
      ),
      [6, 8],
    ),
  rmsNormalization: () => model(shaken(sequential([6, 8], new layers.RMSNormalization())), [6, 8]),
  lstm: () =>
    model(
      shaken(sequential([5, 3], new layers.LSTM(4, { returnSequences: true }), new layers.LSTM(2))),
      [5, 3],
    ),
  gru: () =>
    model(
      shaken(sequential([5, 3], new layers.GRU(4, { returnSequences: true }), new layers.GRU(2))),
      [5, 3],
    ),
  lstmUnknownLength: () => {
    const m = shaken(sequential([null, 3], new layers.LSTM(4, { returnSequences: true })));
    return { ...model(m, [5, 3]), inputs: [[normal(2, 5, 3)], [normal(1, 7, 3)]] };
  },
  simpleRnn: () => model(shaken(sequential([4, 3], new layers.SimpleRNN(4))), [4, 3]),
  bidirectional: () =>
    model(
      shaken(
        sequential(
          [5, 3],
          new layers.Bidirectional(new layers.LSTM(4, { returnSequences: true })),
          new layers.Bidirectional(new layers.GRU(3)),
        ),
      ),
      [5, 3],
    ),
  embedding: () => {
    const m = shaken(sequential([6], new layers.Embedding(10, 4), new layers.Flatten(), new layers.Dense(2)));
    const ids = (n: number): tf.Tensor =>
      tf.random.uniform([n, 6], { minval: 0, maxval: 10, dtype: 'int32', seed: 3 });
    return {
      target: m,
      options: { inputSignature: [spec([null, 6], 'int32')] },
      inputs: [[ids(1)], [ids(4)]],
      call: ([x]) => m(x as tf.Tensor),
    };
  },
  attention: () => {
    const x = tf.Input([5, 8]);
    const y = new layers.MultiHeadAttention(2, 4)(x, x);
    const causal = new layers.MultiHeadAttention(2, 4)(y, y, { useCausalMask: true });
    return model(shaken(new tf.Model(x, causal)), [5, 8]);
  },
  nested: () => {
    const inner = sequential([4], new layers.Dense(6, { activation: 'tanh' }), new layers.Dropout(0.5));
    const x = tf.Input([4]);
    const y = new layers.Add()([new layers.Dense(6)(x), inner(x)]);
    return model(new tf.Model(x, new layers.Dense(2)(y)), [4]);
  },
  severalInputsAndOutputs: () => {
    const [a, b] = [tf.Input([3], { name: 'left' }), tf.Input([4], { name: 'right' })];
    const joined = new layers.Concatenate()([a, b]);
    const m = new tf.Model(
      [a, b],
      [new layers.Dense(2, { name: 'sum' })(joined), new layers.Multiply()([new layers.Dense(3)(b), a])],
    );
    return {
      target: m,
      inputs: [
        [normal(2, 3), normal(2, 4)],
        [normal(1, 3), normal(1, 4)],
      ],
      call: (xs) => m([...xs]),
    };
  },
  upsampling: () =>
    model(
      sequential(
        [4, 3, 2],
        new layers.UpSampling2D(2),
        new layers.UpSampling2D([2, 3], { interpolation: 'bilinear' }),
        new layers.ZeroPadding2D(1),
        new layers.Cropping2D([1, 2]),
      ),
      [4, 3, 2],
    ),
  resizing: () =>
    model(
      sequential(
        [6, 5, 2],
        new layers.Resizing(4, 8),
        new layers.Resizing(9, 3, { interpolation: 'nearest' }),
        new layers.Rescaling(0.5, { offset: 1 }),
      ),
      [6, 5, 2],
    ),
  reshaping: () =>
    model(
      sequential(
        [2, 6],
        new layers.Reshape([3, 4]),
        new layers.Permute([2, 1]),
        new layers.Flatten(),
        new layers.RepeatVector(2),
      ),
      [2, 6],
    ),
  condition: () =>
    fn(
      (x) =>
        tf.cond(
          x.sum().greater(0),
          () => x.mul(2),
          () => x.sub(1),
        ),
      [spec([null, 3])],
      [tf.ones([2, 3])],
      [tf.ones([1, 3]).neg()],
    ),
  switchCase: () =>
    fn(
      (i, x) => tf.switchCase(i, [() => x.add(1), () => x.mul(2), () => x.neg()]),
      [spec([], 'int32'), spec([null])],
      ...[0, 1, 2, 5].map((i) => [tf.constant(i, 'int32'), normal(3)]),
    ),
  loop: () =>
    fn(
      (n, x) => {
        const [, y] = tf.whileLoop(
          (i) => i.less(n as tf.Tensor),
          (i, v) => [i.add(1), v.mul(0.5).add(x as tf.Tensor)],
          [tf.constant(0, 'int32'), x as tf.Tensor],
        );
        return y;
      },
      [spec([], 'int32'), spec([null, 2])],
      [tf.constant(3, 'int32'), normal(2, 2)],
      [tf.constant(0, 'int32'), normal(4, 2)],
    ),
  mapped: () =>
    fn(
      (x) => tf.mapFn((row: tf.Tensor) => row.mul(row.sum()), x as tf.Tensor),
      [spec([null, 3])],
      [normal(4, 3)],
      [normal(2, 3)],
    ),
  math: () =>
    fn(
      (x, y) => ({
        a: x.floorDiv(y).add(x.mod(y)).add(x.abs().pow(y.abs())),
        b: x.maximum(y).minimum(1).add(x.divNoNan(y)).sub(x.squaredDifference(y)),
        c: tf.where(x.greater(y), x.square(), y.abs().sqrt()),
        d: x
          .exp()
          .sub(1)
          .log1p()
          .add(y.expm1())
          .add(x.erf())
          .add(tf.math.rsqrt(y.abs().add(1))),
      }),
      [spec([null, 3]), spec([3])],
      [normal(2, 3), tf.constant([0.5, -2, 1.5])],
    ),
  'types that ONNX Runtime has fewer kernels of': () =>
    fn(
      (x, b) => {
        const small = x.cast('int16');
        return [
          tf.where(x.greater(1), b, tf.logicalNot(b)),
          tf.where(b, small, small.neg()),
          tf.maximum(small, small.neg()),
          tf.oneHot(x.argMax(1), 4, { dtype: 'int32' }),
          tf.oneHot(x.argMax(1), 4, { onValue: false, offValue: true, dtype: 'bool' }),
          tf.oneHot(x.argMax(1), 4, { onValue: 0.1, dtype: 'float64' }),
        ];
      },
      [spec([null, 4]), spec([null, 4], 'bool')],
      [normal(2, 4).mul(3), normal(2, 4).greater(0)],
      [normal(3, 4).mul(3), normal(3, 4).less(0)],
    ),
  shapes: () =>
    fn(
      (x) => {
        const n = tf.shape(x).gather(0);
        return [
          x.at('::-1', '1:3'),
          tf.concat([x, x.mul(2)], 1).split(4, 1)[1],
          tf.stack([x, x.neg()], 1),
          x.transpose().tile([1, 2]),
          x.reshape([-1]),
          tf.zeros(tf.stack([n, tf.constant(2, 'int32')])),
          tf.range(n),
          x.gather([2, 0], 1),
          tf.oneHot(x.argMax(1), 4),
          tf.math.topK(x, 2).values,
          x.pad([
            [1, 0],
            [0, 2],
          ]),
          x.cumsum(1),
          tf.sort(x, 1),
          x.expandDims(0).broadcastTo(tf.stack([tf.constant(2, 'int32'), n, tf.constant(4, 'int32')])),
        ];
      },
      [spec([null, 4])],
      [normal(3, 4)],
      [normal(5, 4)],
    ),
  reductions: () =>
    fn(
      (x) => [
        x.sum(1),
        x.mean([0, 2]),
        x.max(),
        x.prod(-1, { keepdims: true }),
        x.logSumExp(1),
        x.greater(0).any(1),
        x.greater(0).all(),
        x.std(1),
        tf.math.reduceVariance(x),
      ],
      [spec([null, 3, 2])],
      [normal(2, 3, 2)],
    ),
  products: () =>
    fn(
      (a, b) => [
        a.matmul(b, { transposeB: true }),
        tf.einsum('bij,bkj->bik', a, b),
        tf.linalg.tensordot(a, b, [[2], [2]]),
      ],
      [spec([2, 3, 4]), spec([2, 5, 4])],
      [normal(2, 3, 4), normal(2, 5, 4)],
    ),
  specials: () =>
    fn(
      (x) => [
        tf.math.lgamma(x),
        tf.math.erfc(x),
        tf.math.erf(x.cast('float64')),
        tf.math.erfinv(x.tanh().mul(0.9).cast('float64')),
        tf.math.digamma(x),
        tf.math.erfinv(x.tanh().mul(0.999)),
        tf.math.ndtri(x.tanh().mul(0.49).add(0.5)),
        tf.math.besselI0(x),
        tf.math.special.dawsn(x),
      ],
      [spec([null, 3])],
      [normal(4, 3)],
      [normal(2, 3).mul(8)],
      [tf.constant([[-0.5, 1, 2]])],
    ),
  equations: () =>
    fn(
      (a, b) => [tf.linalg.inv(a), tf.linalg.solve(a, b, { adjoint: true })],
      [spec([null, 4, 4]), spec([null, 4, null])],
      [normal(2, 4, 4), normal(2, 4, 3)],
    ),
  // The first pivot is 0.
  pivots: () =>
    fn(
      (a) => tf.linalg.inv(a),
      [spec([3, 3])],
      [
        tf.constant([
          [0, 2, 1],
          [1, 0, 0],
          [3, 1, 0],
        ]),
      ],
    ),
  shifts: () =>
    fn(
      (x) => [
        tf.bitwise.rightShift(x, tf.constant([1, 2, 31], 'int32')),
        tf.bitwise.leftShift(x, tf.constant([1, 2, 3], 'int32')),
      ],
      [spec([null, 3], 'int32')],
      [tf.constant([[-1, -9, -2147483648]], 'int32')],
      [
        tf.constant(
          [
            [7, 1000, 2147483647],
            [-7, -1000, 0],
          ],
          'int32',
        ),
      ],
    ),
  boxes: () =>
    fn(
      (boxes, scores) =>
        tf.image.nonMaxSuppression(boxes, scores, 3, { iouThreshold: 0.4, scoreThreshold: 0.1 }),
      [spec([null, 4]), spec([null])],
      [
        tf.constant([
          [0, 0, 1, 1],
          [0, 0.1, 1, 1.1],
          [0, 2, 1, 3],
          [5, 5, 6, 6],
        ]),
        tf.constant([0.6, 0.9, 0.5, 0.05]),
      ],
    ),
  halfWeights: () => {
    const w = new tf.Variable(normal(3, 2).cast('float16'));
    return fn((x) => x.cast('float16').matmul(w).cast('float32'), [spec([null, 3])], [normal(2, 3)]);
  },
  ...Object.fromEntries(
    Object.entries(single).map(([name, one]) => [`layer ${name}`.replaceAll(' ', '-'), () => ofLayer(one)]),
  ),
};
