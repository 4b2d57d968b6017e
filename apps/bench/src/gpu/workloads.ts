// What is timed on a GPU. peers/torch_gpu.py has the same in PyTorch, under the same names.
import type * as Eagre from 'eagre';
import { classLabels, values } from '../inputs.ts';

type Tf = typeof Eagre;
type Tensor = Eagre.Tensor;

export interface GpuWorkload {
  readonly name: string;
  /** What is timed, for people. */
  readonly title: string;
  /** How many times the work is done before somebody waits for the GPU: once for each time that is told, unless `parts` says otherwise. */
  readonly repeats: number;
  /** How many equal parts a call does; the time is that of one. */
  readonly parts: number;
  /** Whether the time is what the program takes until it has told the GPU what to do. */
  readonly isHostTime: boolean;
  /** Floating-point operations of a part. */
  readonly flops?: number;
  /** In tf.function; PyTorch's time is that of torch.compile then. */
  readonly isTraced: boolean;
  readonly make: (tf: Tf, isTiny: boolean) => () => unknown;
}

const precisions = ['bf16', 'tf32', 'fp32'] as const;

function matmul(size: number, repeats: number, precision: (typeof precisions)[number]): GpuWorkload {
  return {
    name: `matmul_${size}_${precision}`,
    title: `[${size}, ${size}] · [${size}, ${size}] in ${precision}`,
    repeats,
    parts: 1,
    isHostTime: false,
    flops: 2 * size ** 3,
    isTraced: false,
    make(tf, isTiny) {
      tf.config.experimental.enableTensorFloat32Execution(precision === 'tf32');
      const n = isTiny ? 32 : size;
      const dtype = precision === 'bf16' ? 'bfloat16' : 'float32';
      const matrix = (seed: number): Tensor => tf.random.statelessUniform([n, n], [seed, 0]).cast(dtype);
      const [a, b] = [matrix(1), matrix(2)];
      return () => tf.matmul(a, b);
    },
  };
}

/** Training steps, eagerly and in tf.function. */
function step(
  name: string,
  title: string,
  repeats: number,
  make: (tf: Tf, isTiny: boolean) => () => Tensor,
): readonly GpuWorkload[] {
  return [false, true].map((isTraced) => ({
    name: isTraced ? `${name}_function` : name,
    title: `training step${isTraced ? ' in tf.function' : ''}, ${title}`,
    repeats,
    parts: 1,
    isHostTime: false,
    isTraced,
    make(tf, isTiny) {
      tf.config.experimental.enableTensorFloat32Execution(true);
      const run = make(tf, isTiny);
      return isTraced ? tf.function(run) : run;
    },
  }));
}

type Policy = 'float32' | 'mixed_bfloat16';

/** Layers made under a policy, which is not that of the next workload. */
function under<T>(tf: Tf, policy: Policy, make: () => T): T {
  const before = tf.keras.mixedPrecision.globalPolicy();
  tf.keras.mixedPrecision.setGlobalPolicy(policy);
  try {
    return make();
  } finally {
    tf.keras.mixedPrecision.setGlobalPolicy(before);
  }
}

function trainer(
  tf: Tf,
  variables: () => readonly Eagre.Variable[],
  optimizer: Eagre.optimizers.Optimizer,
  loss: () => Tensor,
): () => Tensor {
  return () => {
    const tape = new tf.GradientTape();
    const value = tape.record(loss);
    const watched = [...variables()];
    optimizer.applyGradients(tape.gradient(value, watched), watched);
    return value;
  };
}

function mlp(tf: Tf, isTiny: boolean): () => Tensor {
  const width = isTiny ? 8 : 784;
  const model = new tf.Sequential([
    new tf.layers.Dense(128, { activation: 'relu', inputShape: [width] }),
    new tf.layers.Dense(64, { activation: 'relu' }),
    new tf.layers.Dense(10),
  ]);
  const x = tf.constant(values(32 * width)).reshape([32, width]);
  const labels = tf.constant(classLabels(32));
  return trainer(
    tf,
    () => model.trainableVariables,
    new tf.optimizers.SGD({ learningRate: 0.01 }),
    () => tf.nn.sparseSoftmaxCrossEntropyWithLogits(labels, model(x, { training: true }) as Tensor).mean(),
  );
}

function lstm(tf: Tf, isTiny: boolean): () => Tensor {
  const [units, batch, steps, features] = isTiny ? [4, 2, 3, 4] : [128, 32, 50, 64];
  const layer = new tf.layers.LSTM(units);
  const x = tf.constant(values(batch * steps * features)).reshape([batch, steps, features]);
  layer(x);
  return trainer(
    tf,
    () => layer.trainableVariables,
    new tf.optimizers.Adam({ learningRate: 1e-3 }),
    () => (layer(x, { training: true }) as Tensor).mean(),
  );
}

/** As ResNet-50: bottlenecks of three convolutions with batch normalization, in four stages. */
function resnet(policy: Policy): (tf: Tf, isTiny: boolean) => () => Tensor {
  return (tf, isTiny) => {
    const { batch, size, width, blocks, classes } = isTiny
      ? { batch: 2, size: 16, width: 2, blocks: [1, 1], classes: 4 }
      : { batch: 64, size: 224, width: 64, blocks: [3, 4, 6, 3], classes: 1000 };
    const model = under(tf, policy, () => {
      const { Conv2D, BatchNormalization, ReLU, Add, MaxPooling2D, GlobalAveragePooling2D, Dense } =
        tf.layers;
      const input = tf.keras.Input({ shape: [size, size, 3] });
      const convolution = (x: Tensor, filters: number, kernel: number, strides: number): Tensor =>
        new BatchNormalization()(
          new Conv2D(filters, kernel, { strides, padding: 'same', useBias: false })(x) as Tensor,
        ) as Tensor;
      const relu = (x: Tensor): Tensor => new ReLU()(x) as Tensor;
      let x = relu(convolution(input as unknown as Tensor, width, 7, 2));
      x = new MaxPooling2D(3, { strides: 2, padding: 'same' })(x) as Tensor;
      blocks.forEach((count, stage) => {
        const filters = width * 2 ** stage;
        for (let i = 0; i < count; i++) {
          const strides = stage > 0 && i === 0 ? 2 : 1;
          const shortcut = i === 0 ? convolution(x, 4 * filters, 1, strides) : x;
          const inner = relu(convolution(relu(convolution(x, filters, 1, 1)), filters, 3, strides));
          x = relu(new Add()([convolution(inner, 4 * filters, 1, 1), shortcut]) as Tensor);
        }
      });
      const output = new Dense(classes, { dtype: 'float32' })(new GlobalAveragePooling2D()(x) as Tensor);
      return new tf.Model({ inputs: input, outputs: output } as never);
    });
    const x = tf.random.statelessUniform([batch, size, size, 3], [1, 0]);
    const labels = tf.constant(Int32Array.from({ length: batch }, (_, i) => i % classes));
    const optimizer = new tf.optimizers.SGD({ learningRate: 0.01, momentum: 0.9 });
    return trainer(
      tf,
      () => model.trainableVariables,
      optimizer,
      () => tf.nn.sparseSoftmaxCrossEntropyWithLogits(labels, model(x, { training: true }) as Tensor).mean(),
    );
  };
}

/** A language model of GPT-2's small shape: 12 blocks, 768 wide, 12 heads. */
function transformer(policy: Policy): (tf: Tf, isTiny: boolean) => () => Tensor {
  return (tf, isTiny) => {
    const { batch, time, width, heads, depth, words } = isTiny
      ? { batch: 2, time: 6, width: 16, heads: 2, depth: 1, words: 11 }
      : { batch: 4, time: 1024, width: 768, heads: 12, depth: 12, words: 50257 };
    const { Dense, LayerNormalization, Embedding } = tf.layers;
    const model = under(tf, policy, () => ({
      words: new Embedding(words, width),
      places: new Embedding(time, width),
      blocks: Array.from({ length: depth }, () => ({
        before: new LayerNormalization({ epsilon: 1e-5 }),
        projections: new Dense(3 * width),
        joined: new Dense(width),
        between: new LayerNormalization({ epsilon: 1e-5 }),
        wide: new Dense(4 * width),
        narrow: new Dense(width),
      })),
      last: new LayerNormalization({ epsilon: 1e-5 }),
      logits: new Dense(words, { useBias: false }),
    }));
    const layers = [
      model.words,
      model.places,
      ...model.blocks.flatMap((block) => Object.values(block)),
      model.last,
      model.logits,
    ];
    const ids = (salt: number): Tensor =>
      tf
        .constant(Int32Array.from({ length: batch * time }, (_, i) => (i * 7919 + salt) % words))
        .reshape([batch, time]);
    const [tokens, targets] = [ids(0), ids(1)];
    const places = tf.range(time, { dtype: 'int32' } as never) as Tensor;
    const call = (layer: (x: Tensor) => unknown, x: Tensor): Tensor => layer(x) as Tensor;
    const loss = (): Tensor => {
      let x = call(model.words, tokens).add(call(model.places, places));
      for (const { before, projections, joined, between, wide, narrow } of model.blocks) {
        const [q, k, v] = tf
          .split(call(projections, call(before, x)), 3, -1)
          .map((part) => part.reshape([batch, time, heads, width / heads])) as [Tensor, Tensor, Tensor];
        const seen = tf.nn.scaledDotProductAttention(q, k, v, { isCausal: true, timeFirst: true });
        x = x.add(call(joined, seen.reshape([batch, time, width])));
        x = x.add(call(narrow, tf.nn.gelu(call(wide, call(between, x)), { approximate: true })));
      }
      const logits = call(model.logits, call(model.last, x)).cast('float32');
      return tf.nn.sparseSoftmaxCrossEntropyWithLogits(targets, logits).mean();
    };
    loss();
    const optimizer = new tf.optimizers.Adam({ learningRate: 1e-4 });
    return trainer(tf, () => layers.flatMap((layer) => layer.trainableVariables), optimizer, loss);
  };
}

/** What a program waits for before it may go on: the GPU works later. */
const hostTimes: readonly GpuWorkload[] = [
  {
    name: 'host_op',
    title: 'time of the host for an eager op: adding vectors of 10',
    repeats: 1,
    parts: 100,
    isHostTime: true,
    isTraced: false,
    make(tf) {
      const [a, b] = [tf.constant(values(10)), tf.constant(values(10, 1))];
      return () => {
        for (let i = 0; i < 100; i++) tf.add(a, b);
      };
    },
  },
  {
    name: 'host_function',
    title: 'time of the host for a call of a tf.function: 100 kernels that are not fused',
    repeats: 1,
    parts: 1,
    isHostTime: true,
    isTraced: true,
    make(tf) {
      const x = tf.constant(values(32 * 32)).reshape([32, 32]);
      return tf.function(() => {
        let y = x;
        for (let i = 0; i < 100; i++) y = tf.matmul(y, x);
        return y;
      });
    },
  },
];

export const gpuWorkloads: readonly GpuWorkload[] = [
  ...precisions.flatMap((precision) => [
    matmul(1000, 200, precision),
    matmul(4096, 10, precision),
    matmul(8192, 3, precision),
  ]),
  ...hostTimes,
  ...step('mlp_step', '784-128-64-10, batch 32, SGD', 20, mlp),
  ...step('lstm_step', 'LSTM 128 over 50 steps of 64 features, batch 32, Adam', 5, lstm),
  ...step(
    'transformer_bf16',
    "GPT-2's small shape, 4 × 1024 tokens, bfloat16, Adam",
    1,
    transformer('mixed_bfloat16'),
  ),
  ...step(
    'resnet50_bf16',
    'as ResNet-50, 64 images of 224 × 224, bfloat16, SGD',
    1,
    resnet('mixed_bfloat16'),
  ),
  ...step('resnet50_tf32', 'as ResNet-50, 64 images of 224 × 224, tf32, SGD', 1, resnet('float32')),
];
