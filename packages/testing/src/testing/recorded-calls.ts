// Calls of kernels for GPUs that a recorder notes: those of all ops' samples, larger ones, and those that tensor cores make. Tests run them, and the tool that
// compiles kernels for the package compiles their programs.
import { GradientTape } from '@eagre/autodiff';
import {
  buildScalarProgram,
  dtypeOfValue,
  type NumericDType,
  product,
  registerBackend,
  type TensorRef,
} from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import * as core from '@eagre/core';
import { constant, type Tensor, withBackend } from '@eagre/core';
import { execute, listOps, type Op } from '@eagre/core/internal';
import { tensor } from '../../../backend-js/src/testing/kernels.ts';
import { Recorder } from '../../../gpu-kernels/src/testing/recorder.ts';
import { generator, hasFloats, materialize } from '../values.ts';

/** The calls that the samples of all ops make, in float32 and in 16 bits. */
export function recordCalls(): Recorder {
  const recorder = new Recorder(jsBackend);
  registerBackend(recorder, -1);
  for (const op of listOps().values()) {
    recorder.ulp = op.ulp;
    for (const [index, sample] of op.samples().entries()) {
      for (const float of ['float32', 'float16', 'bfloat16'] as const) {
        if (float !== 'float32' && !hasFloats(sample)) continue;
        recorder.label = `${op.name}, sample ${index}, ${float}`;
        withBackend('recorder', () => execute(op, materialize(sample, float, index + 1), sample.attrs ?? {}));
      }
    }
  }
  recordLarge(recorder);
  recordWide(recorder);
  return recorder;
}

/** A tensor of one value. */
const filled = (dtype: NumericDType, value: number, ...shape: readonly number[]): TensorRef =>
  tensor(dtype, shape, Array(product(shape)).fill(value) as number[]);

/** Programs that move and cast single numbers of 64 bits, and make others of them. */
export function recordWide(recorder: Recorder = new Recorder(jsBackend)): Recorder {
  Object.assign(recorder, { label: 'numbers of 64 bits', ulp: 0 });
  const counts = buildScalarProgram(['int64', 'float64', 'bool', 'float32', 'int32'], (s, n, x, is, f, i) => [
    s.select(is, s.cast(s.add(s.cast(n, 'int32'), 1), 'int64'), n),
    s.cast(f, 'float64'),
    s.select(is, x, 0.1),
    s.cast(s.neg(i), 'int64'),
    s.mul(s.cast(x, 'float32'), f),
    s.not(is),
  ]);
  const run = recorder.elementwise(counts);
  for (const count of [0, 7, -1, 2 ** 31 - 1, -(2 ** 31)])
    for (const x of [0, -0, 1, 0.1, -1e30, Number.NaN, Number.POSITIVE_INFINITY, 1.5 * 2 ** -126])
      for (const is of [0, 1])
        run(
          [
            filled('int64', count),
            filled('float64', x, 1),
            filled('bool', is),
            filled('float32', x),
            filled('int32', count),
          ],
          (['int64', 'float64', 'float64', 'int64', 'float32', 'bool'] as const).map((dtype) =>
            filled(dtype, 1, 1),
          ),
          {},
        );
  const rows = recorder.elementwise(
    buildScalarProgram(['float32', 'float64', 'bfloat16', 'int64'], (s, x, rate, y, n) => [
      s.mul(x, s.cast(rate, 'float32')),
      s.cast(s.add(s.cast(y, 'float32'), s.cast(rate, 'float32')), 'bfloat16'),
      s.lt(s.cast(n, 'int32'), 3),
    ]),
  );
  for (const shape of [[], [1], [7], [3, 5], [2, 300]])
    rows(
      [
        filled('float32', 3, ...shape),
        filled('float64', 0.3),
        filled('bfloat16', 2, ...shape.slice(-1)),
        filled('int64', 3, 1),
      ],
      (['float32', 'bfloat16', 'bool'] as const).map((dtype) => filled(dtype, 1, ...shape)),
      {},
    );
  recordLongs(recorder);
  return recorder;
}

/** Programs of many integers of 64 bits: all that is computed with them, and casts of all dtypes. */
function recordLongs(recorder: Recorder): void {
  const random = generator(64);
  const edges = [
    0,
    1,
    -1,
    255,
    256,
    -256,
    32768,
    2 ** 31 - 1,
    -(2 ** 31),
    2 ** 32,
    -(2 ** 32) - 1,
    2 ** 53,
    -(2 ** 53),
  ];
  const whole = (bits: number): number => Math.trunc((random() - 0.5) * 2 ** bits);
  const longs = (...shape: number[]): TensorRef =>
    tensor(
      'int64',
      shape,
      Array.from({ length: product(shape) }, (_, i) => (i < edges.length ? edges[i] : whole(i % 54))),
    );
  const record = (
    label: string,
    inputs: readonly TensorRef[],
    shape: readonly number[],
    build: Parameters<typeof buildScalarProgram>[1],
  ): void => {
    Object.assign(recorder, { label, ulp: 0 });
    const program = buildScalarProgram(
      inputs.map(({ dtype }) => dtype as NumericDType),
      build,
    );
    const outputs = program.outputs.map((id) => filled(dtypeOfValue(program, id), 1, ...shape));
    recorder.elementwise(program)(inputs, outputs, {});
  };
  const pairs: readonly (readonly [x: number[], y: number[], shape: number[]])[] = [
    [[37], [37], [37]],
    [[37], [], [37]],
    [[6, 5], [5], [6, 5]],
    [
      [3, 1, 7],
      [4, 1],
      [3, 4, 7],
    ],
    [[1], [1], [1]],
  ];
  for (const [x, y, shape] of pairs) {
    const inputs = [longs(...x), longs(...y)];
    record('arithmetic', inputs, shape, (s, a, b) => [s.add(a, b), s.sub(a, b), s.mul(a, b), s.neg(a)]);
    record('sizes', inputs, shape, (s, a, b) => [s.abs(a), s.sign(a), s.min(a, b), s.max(a, b)]);
    record('comparisons', inputs, shape, (s, a, b) => [s.lt(a, b), s.le(a, b), s.eq(a, b), s.ne(a, b)]);
    record('one to a word', inputs, shape, (s, a, b) => [s.gt(a, b), s.add(a, 2 ** 40)]);
    record('two to a word', inputs, shape, (s, a, b) => [s.cast(a, 'int16'), s.ge(s.mul(a, 3), b)]);
  }
  const numbers = Array.from({ length: 41 }, (_, i) => edges[i] ?? (random() - 0.5) * 2 ** (i * 2 - 14));
  const special = [
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    -0,
    0.5,
    -1.5,
    2 ** 63,
    -(2 ** 63),
  ];
  for (const dtype of ['float32', 'int32', 'uint8', 'bool', 'int8', 'int16', 'uint16', 'uint32'] as const) {
    const as = (x: number): number =>
      dtype === 'float32' ? x : dtype === 'bool' ? Number(x > 1) : Math.trunc(x) || 0;
    const from = tensor(dtype, [49], [...numbers, ...special].map(as));
    record(`${dtype} to int64`, [from], [49], (s, x) => [s.cast(x, 'int64')]);
    record(`int64 to ${dtype}`, [longs(49)], [49], (s, x) => [s.cast(x, dtype)]);
  }
}

/** Calls that take several tiles or passes, with ends that fill none, which samples are too small for. */
function recordLarge(recorder: Recorder): void {
  const random = generator(7);
  const record = (label: string, ulp: number, run: () => unknown): void => {
    Object.assign(recorder, { label, ulp });
    withBackend('recorder', run);
  };
  const numbers = (shape: readonly number[], of: () => number, dtype: NumericDType = 'float32'): Tensor =>
    constant(Array.from({ length: shape.reduce((a, b) => a * b, 1) }, of), dtype).reshape(shape);
  const special = [
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    0,
    -0,
    1,
    -1,
    1e-40,
    -1e-40,
  ];
  const few = (): number => special[Math.floor(random() * special.length)];
  for (const dtype of ['float32', 'float64'] as const)
    record(`sort of ${dtype}`, 0, () => {
      for (const direction of ['ASCENDING', 'DESCENDING'] as const) {
        core.argsort(numbers([3, 70], few, dtype), { direction });
        core.argsort(
          numbers([2, 3500], () => (random() < 0.1 ? few() : random() - 0.5), dtype),
          { direction },
        );
      }
    });
  for (const dtype of ['int8', 'int16', 'uint8', 'uint16', 'int32', 'uint32', 'int64', 'uint64'] as const)
    record(`topK of ${dtype}`, 0, () => {
      const low = dtype.startsWith('u') ? 0 : -90;
      const some = (): number => low + Math.floor(random() * 120);
      core.topK(numbers([2100], some, dtype), 5);
      core.topK(numbers([5, 1], some, dtype), 1);
    });
  record('topK of a long row', 0, () => {
    const x = numbers([9000], () => Math.floor(random() * 2000));
    for (const k of [1, 1500]) core.topK(x, k);
  });
  for (const dtype of ['float32', 'bfloat16'] as const)
    record(`images of ${dtype}`, dtype === 'float32' ? 256 : 4, () => {
      const image = numbers([2, 17, 9, 3], () => random() - 0.5, dtype);
      for (const size of [
        [5, 40],
        [34, 3],
        [1, 1],
      ] as const)
        execute(listOps().get('ResizeBilinear') as Op, [image], { size });
      execute(listOps().get('MirrorPadGrad') as Op, [image], {
        before: [0, 4, 1, 1],
        after: [0, 3, 3, 0],
        mode: 2,
      });
      execute(listOps().get('MirrorPadGrad') as Op, [image], {
        before: [0, 3, 2, 0],
        after: [0, 5, 3, 0],
        mode: 1,
      });
    });
  for (const dtype of ['float32', 'float64', 'float16', 'bool', 'int8', 'int64'] as const)
    record(`places of ${dtype}`, 0, () => {
      const some = (): number =>
        random() < 0.4 ? 0 : dtype === 'bool' ? 1 : dtype.startsWith('f') ? few() : 3;
      core.nonzero(numbers([3, 7, 1100], some, dtype));
      core.nonzero(numbers([130], some, dtype));
    });
  for (const dtype of ['float16', 'bfloat16'] as const)
    record(`batch normalization of ${dtype}`, 4000, () => {
      const floats = (...shape: number[]): Tensor => numbers(shape, () => random() - 0.5, dtype);
      const batch = [floats(9, 5, 6, 7), floats(7), floats(7)];
      const run = (name: string, inputs: Tensor[]): readonly Tensor[] =>
        execute(listOps().get(name) as Op, inputs, { epsilon: 0.001 });
      const [y, mean, variance] = run('FusedBatchNormV3', batch);
      run('FusedBatchNormGradV3', [y, batch[0], batch[1], mean, variance]);
      // Statistics of float32.
      const wide = batch.map((t, i) => (i === 0 ? t : t.cast('float32')));
      const [z, ...statistics] = run('FusedBatchNormV3', wide);
      run('FusedBatchNormGradV3', [z, wide[0], wide[1], ...statistics]);
    });
  // So many that a thread has several words, with ends that fill none; rows that are whole words, and others; rows of one element.
  for (const dtype of ['float32', 'bfloat16', 'int32', 'uint8'] as const)
    record(`elementwise functions of rows of ${dtype}`, 4, () => {
      const some = (...shape: number[]): Tensor => numbers(shape, () => 1 + Math.floor(random() * 9), dtype);
      const many = dtype === 'uint8' ? 4 : dtype === 'bfloat16' ? 2 : 1;
      for (const [a, b] of [
        [[many * 140_001 + 1], [many * 140_001 + 1]],
        [[330 * many, 420], [420]],
        [[420], [331 * many, 1]],
        [[325, many, 421], [421]],
        [
          [30, 1, 76],
          [many, 1, 64, 1],
        ],
        [[5, 3, 8], [8]],
        [
          [3, 1, 4],
          [1, 6, 4],
        ],
        [
          [3, 1, 5],
          [2, 1, 6, 5],
        ],
        [
          [7, 1],
          [1, 6],
        ],
      ]) {
        const [x, y] = [some(...a), some(...b)];
        core.maximum(x, y);
        core.less(x, y);
        if (dtype === 'int32') core.floorDiv(x, y);
        if (dtype === 'float32') core.where(core.less(some(...b), constant(4, dtype)), x, y);
      }
    });
  const ends = new Set(['float32 bfloat16', 'float32 bool', 'bfloat16 float32', 'uint8 float32']);
  for (const size of [1, 7, 36, 280_003])
    record(`casts of ${size}`, 0, () => {
      for (const from of ['float32', 'bfloat16', 'float16', 'bool', 'uint8', 'int8', 'int32'] as const)
        for (const to of ['float32', 'bfloat16', 'bool', 'uint8', 'int16', 'int32'] as const)
          if (from !== to && (size < 100 || ends.has(`${from} ${to}`)))
            core.cast(
              numbers([size], () => Math.floor(random() * (from === 'bool' ? 2 : 3)), from),
              to,
            );
    });
  for (const dtype of ['float32', 'bfloat16'] as const)
    record(`columns of ${dtype}`, 20_000, () => {
      const floats = (...shape: number[]): Tensor =>
        numbers(shape, () => 3 + (random() - 0.5) * (random() < 0.01 ? 100 : 1), dtype);
      const run = (name: string, inputs: Tensor[], attrs = {}): readonly Tensor[] =>
        execute(listOps().get(name) as Op, inputs, attrs);
      for (const shape of [
        [600, 5],
        [2, 150, 70],
      ]) {
        const x = floats(...shape);
        const channels = shape[shape.length - 1];
        const image = x.reshape([1, -1, 1, channels]);
        const [, mean, variance] = run('FusedBatchNormV3', [image, floats(channels), floats(channels)], {
          epsilon: 0.001,
        });
        run('FusedBatchNormGradV3', [floats(...image.shape), image, floats(channels), mean, variance], {
          epsilon: 0.001,
        });
        core.nn.moments(x, shape.length - 2);
        core.sum(x, shape.length - 2);
        core.mean(x, 0);
        core.max(x, shape.length - 2);
      }
      core.nn.moments(floats(0, 40), 0);
      run('FusedBatchNormV3', [floats(0, 1, 1, 40), floats(40), floats(40)], { epsilon: 0.001 });
      const tape = new GradientTape();
      const parameters = [floats(150, 70), floats(70), floats(70)];
      for (const watched of parameters) tape.watch(watched);
      const y = tape.record(() =>
        core.nn.layerNormalization(parameters[0], { scale: parameters[1], offset: parameters[2] }),
      );
      tape.gradient(y, parameters, { outputGradients: floats(150, 70) });
    });
  // Some weights become nearly 0.
  recorder.ulp = 4000;
  for (const dtype of ['float32', 'bfloat16'] as const)
    for (const [name, slots, scalars, attrs] of [
      ['ApplyGradientDescent', 0, 1, {}],
      ['ApplyMomentum', 1, 1, { momentum: 0.9, nesterov: true }],
      ['ApplyRMSProp', 3, 1, { rho: 0.9, momentum: 0.5, epsilon: 4, centered: true }],
      ['ApplyAdam', 3, 2, { beta1: 0.9, beta2: 0.99, epsilon: 1e-3, weightDecay: 0.1, amsgrad: true }],
    ] as const) {
      recorder.label = `${name} of ${dtype}`;
      const of = (size: number): TensorRef =>
        tensor(
          dtype,
          [size],
          Array.from({ length: size }, () => 0.5 + random()),
        );
      // With GPUs of NVIDIA several at once, and what is left.
      recorder.capability = dtype === 'float32' ? 80 : 0;
      const variables = [3, 0, 2100, 1, 5, 1024, 2, 1025, 7, 256, 9].map((size) =>
        Array.from({ length: slots + 2 }, () => of(size)),
      );
      const rates = Array.from({ length: scalars }, () => tensor('float64', [], [random()]));
      const kernel = recorder.kernel(name, [dtype]);
      kernel?.(
        [...variables.flat(), ...rates],
        variables.flatMap((all) => all.slice(0, -1)),
        {
          count: variables.length,
          ...attrs,
        },
      );
    }
  // Differences of weights and labels: off by few units of the largest.
  for (const dtype of ['float32', 'bfloat16'] as const)
    record(`long rows of ${dtype}`, 4000, () => {
      const rows = numbers([3, 700], () => (random() < 0.1 ? Number.NEGATIVE_INFINITY : random() * 9), dtype);
      core.nn.softmax(rows);
      core.nn.logSoftmax(rows);
      const logits = numbers([9, 300], () => random() * 20 - 10, dtype);
      const labels = numbers([9], () => Math.floor(random() * 300), 'int32');
      core.nn.sparseSoftmaxCrossEntropyWithLogits(labels, logits);
      core.nn.softmaxCrossEntropyWithLogits(core.nn.softmax(logits.mul(0.5)), logits);
    });
  // GPUs of NVIDIA have larger workgroups for these.
  recorder.capability = 80;
  record('longer rows', 4000, () => {
    const logits = numbers([2, 9001], () => random() * 20 - 10);
    core.nn.sparseSoftmaxCrossEntropyWithLogits(
      numbers([2], () => 9000, 'int32'),
      logits,
    );
    core.nn.softmax(logits);
  });
  recorder.capability = 0;
  record('gradients of gathers', 16, () => {
    const gradient = (x: Tensor, y: () => Tensor): void => {
      const tape = new GradientTape();
      tape.watch(x);
      const made = tape.record(y);
      tape.gradient(made, x, { outputGradients: numbers(made.shape, () => Math.round(random() * 16) / 8) });
    };
    const x = numbers([2, 9, 5], random);
    for (const dtype of ['int32', 'int64'] as const) {
      const indices = (...shape: number[]): Tensor =>
        numbers(shape, () => Math.floor(random() * random() * 9), dtype);
      gradient(x, () => core.gather(x, indices(50), { axis: 1 }));
      gradient(x, () => core.gather(x, indices(2, 35), { axis: 1, batchDims: 1 }));
    }
    const table = numbers([40, 3], random);
    gradient(table, () =>
      core.gather(
        table,
        numbers([1100], () => Math.floor(random() * random() * 40), 'int32'),
      ),
    );
    const image = numbers([2, 13, 9, 3], random);
    gradient(image, () => core.nn.maxPool(image, { ksize: 3, strides: 2, padding: 'SAME' }));
    gradient(image, () => core.nn.maxPool(image, { ksize: [4, 2], strides: [1, 3] }));
  });
  record('columns of integers and bools', 0, () => {
    const x = numbers([2, 600, 6], () => Math.floor(random() * 200) - 100, 'int32');
    core.sum(x, 1);
    core.min(x, 1);
    const b = numbers([1100, 3], () => (random() < 0.001 ? 1 : 0), 'bool');
    core.any(b, 0);
    core.all(core.logicalNot(b), 0);
  });
  // Chunks of 8 bytes, of 4, of 2, and single elements; tiles with ends; so many that a thread has several words.
  for (const dtype of ['float32', 'bfloat16', 'bool', 'int64'] as const)
    record(`moves of rows of ${dtype}`, 0, () => {
      const some = (...shape: number[]): Tensor =>
        numbers(shape, () => Math.floor(random() * (dtype === 'bool' ? 2 : 250)), dtype);
      const many = { float32: 1, bfloat16: 2, bool: 4, int64: 1 }[dtype];
      for (const [shape, perm] of [
        [
          [2, 40, 36],
          [0, 2, 1],
        ],
        [
          [33, 2, 71],
          [2, 1, 0],
        ],
        [
          [3, 4, 6, 8],
          [0, 2, 1, 3],
        ],
        [
          [3, 5, 2, 6],
          [2, 0, 1, 3],
        ],
        [
          [2, 5, 7],
          [2, 0, 1],
        ],
        [
          [71 * many, 12, 170],
          [1, 0, 2],
        ],
        [
          [67 * many, 13, 171],
          [1, 0, 2],
        ],
      ])
        core.transpose(some(...shape), perm);
      for (const widths of [[8, 16, 4], [6, 10], [3, 5, 1], [7]])
        core.concat(
          widths.map((width) => some(9, width)),
          1,
        );
      core.concat([some(5), some(300), some(6)], 0);
      core.concat([some(170 * many, 440), some(170 * many, 436)], 1);
      const x = some(20, 24);
      for (const [begin, size] of [
        [
          [3, 8],
          [9, 8],
        ],
        [
          [1, 6],
          [19, 10],
        ],
        [
          [0, 5],
          [20, 7],
        ],
      ]) {
        core.slice(x, begin, size);
        const dy = some(...size);
        execute(listOps().get('StridedSliceGrad') as Op, [dy], { begin, strides: [1, 1], shape: [20, 24] });
      }
      core.reverse(some(9, 4, 8), [0]);
      core.reverse(some(9, 4, 8), [1, 2]);
      core.tile(some(3, 8), [5, 2]);
      core.tile(some(3, 5), [2, 3]);
      core.tile(some(40, 1), [1, 36]);
      for (const padding of [
        [
          [1, 2],
          [3, 0],
          [0, 0],
        ],
        [
          [0, 0],
          [1, 1],
          [4, 8],
        ],
        [
          [2, 0],
          [0, 0],
          [1, 0],
        ],
      ] as const)
        core.pad(some(3, 5, 8), padding, { constantValues: 1 });
      core.identity(some(7));
      core.fill([5, 7], 1, { dtype });
      core.fill([many * 140_003], 1, { dtype });
    });
  // Near 0 a normal number is the cosine of an angle near a quarter of a turn.
  record('normal numbers', 64, () => {
    for (const seed of [1, 2]) {
      core.random.statelessNormal([3001], [seed, 7]);
      core.random.statelessTruncatedNormal([3001], [seed, 7], { mean: 0.25, stddev: 3 });
    }
  });
  // Sums of both signs: off by a few units of the largest result's last place, which are many of the smallest ones'.
  record('attention', 4000, () => {
    const floats = (...shape: number[]): Tensor => numbers(shape, () => random() - 0.5);
    const bools = numbers([2, 1, 37, 1], () => (random() < 0.8 ? 1 : 0), 'bool');
    for (const [mask, isCausal, timeFirst] of [
      [undefined, true, false],
      [bools, false, false],
      [floats(1, 2, 1, 70), true, true],
    ] as const) {
      const shape = (time: number, width: number): number[] =>
        timeFirst ? [2, time, 2, width] : [2, 2, time, width];
      const inputs = [floats(...shape(37, 35)), floats(...shape(70, 35)), floats(...shape(70, 66))] as const;
      const tape = new GradientTape();
      for (const x of inputs) tape.watch(x);
      const y = tape.record(() =>
        core.nn.scaledDotProductAttention(...inputs, { mask, isCausal, timeFirst }),
      );
      tape.gradient(y, inputs, { outputGradients: floats(...shape(37, 66)) });
    }
  });
  for (const dtype of ['float16', 'bfloat16'] as const)
    record(`products and sums of ${dtype}`, 4000, () => {
      const floats = (...shape: number[]): Tensor => numbers(shape, () => random() - 0.5, dtype);
      const [a, b] = [floats(2, 37, 70), floats(70, 45)];
      core.matmul(a, b);
      core.matmul(a, floats(2, 45, 70), { transposeB: true });
      core.sum(floats(20_000));
      core.mean(floats(300, 5), 0);
      const [q, k, v] = [floats(1, 2, 37, 35), floats(1, 2, 70, 35), floats(1, 2, 70, 66)];
      core.nn.scaledDotProductAttention(q, k, v, { mask: floats(1, 1, 1, 70), isCausal: true });
    });
  recordRecurrentInto(recorder, RECURRENT, 4000);
}

/** Batch, time, features and units: parts of the depth, several sequences of a workgroup, ends that fill none, no steps, and units that are too many for one dispatch. */
const RECURRENT = [
  [18, 3, 5, 20],
  [2, 0, 3, 2],
  [3, 4, 2, 70],
  [2, 2, 1, 128],
  [17, 2, 1, 131],
  [130, 2, 1, 33],
  [258, 1, 1, 66],
] as const;

/**
 * Those whose weights stay in the registers and the memory of multiprocessors. None has both 16 units and 16 steps in all, whose products would be made of
 * TensorFloat-32.
 */
const FAST_RECURRENT = [
  [3, 4, 2, 70],
  [1, 2, 1, 128],
  [5, 2, 3, 33],
  [1, 1, 1, 1],
  [130, 2, 1, 9],
  [258, 2, 1, 5],
] as const;

/** Those whose products over all steps are made of TensorFloat-32. */
const CORE_RECURRENT = [
  [7, 3, 16, 17],
  [5, 8, 20, 16],
  [2, 0, 16, 16],
] as const;

/** @param ulp how far results may be off. */
function recordRecurrentInto(recorder: Recorder, sizes: readonly (readonly number[])[], ulp: number): void {
  const random = generator(23);
  const floats = (...shape: number[]): Tensor =>
    constant(
      Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => random() - 0.5),
      'float32',
    ).reshape(shape);
  const execOp = (name: string, inputs: Tensor[], attrs = {}): readonly Tensor[] =>
    execute(listOps().get(name) as Op, inputs, attrs);
  recorder.ulp = ulp;
  for (const [batch, time, features, units] of sizes) {
    recorder.label = `recurrent network of ${batch} × ${time} × ${features}, ${units} units`;
    withBackend('recorder', () => {
      const [x, dh] = [floats(batch, time, features), floats(batch, time, units)];
      const [h0, c0, dH, dC] = Array.from({ length: 4 }, () => floats(batch, units));
      const weights = (gates: number): [Tensor, Tensor] => [
        floats(features, gates * units),
        floats(units, gates * units),
      ];
      const lstm = [x, h0, c0, ...weights(4)];
      const [h, , , reserve] = execOp('LSTM', [...lstm, floats(4 * units)]);
      execOp('LSTMGrad', [...lstm, h, reserve, dh, dH, dC], { inputGradient: true });
      const gru = [x, h0, ...weights(3)];
      const [h2, , reserve2] = execOp('GRU', [...gru, floats(2, 3 * units)]);
      execOp('GRUGrad', [...gru, h2, reserve2, dh, dH], { inputGradient: true });
    });
  }
}

/** Recurrent networks whose weights are read once. */
export function recordRecurrent(): Recorder {
  const recorder = new Recorder(jsBackend);
  recorder.capability = 90;
  registerBackend(recorder, -1);
  recordRecurrentInto(recorder, FAST_RECURRENT, 64);
  recordRecurrentInto(recorder, CORE_RECURRENT, 2 ** 13);
  return recorder;
}

/** Rows, depth and columns: whole tiles, ends of tiles, rows that begin at no multiple of 16 bytes. */
const PRODUCTS = [
  [128, 32, 128],
  [136, 104, 48],
  [33, 17, 131],
] as const;
/** So deep that Hopper's cores use each place for a tile several times. */
export const DEEP_PRODUCT = [72, 472, 72] as const;
/** So large that factors whose lines begin at no multiple of 16 bytes are copied before, both of them in one case. */
const PADDED_PRODUCTS = [
  [136, 130, 133, false, false],
  [130, 129, 128, true, true],
  [128, 131, 130, false, true],
  // Cut into parts, too.
  [128, 1030, 129, false, false],
] as const;
/** So deep that it is cut into parts, with batches. */
const CUT_PRODUCT = [2, 20, 1100, 18] as const;
/** So many tiles that these cores make wide ones. */
const MANY_TILES = [120, 16, 20, 132] as const;

/** Products that tensor cores make: edges, transposes, batches, rows that begin at no multiple of 16 bytes, biases. */
export function recordProducts(capability = 80): Recorder {
  const recorder = new Recorder(jsBackend);
  recorder.capability = capability;
  recorder.hasTensorMaps = false;
  registerBackend(recorder, -1);
  const random = generator(11);
  const matmul = listOps().get('_FusedMatMul') as Op;
  for (const dtype of ['float32', 'float16', 'bfloat16'] as const) {
    const of = (...shape: number[]): Tensor =>
      constant(
        // Eighths have few bits, so that TensorFloat-32 has all of them.
        Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => Math.round(random() * 16 - 8) / 8),
        dtype,
      ).reshape(shape);
    recorder.ulp = 8;
    for (const [transposeA, transposeB] of [
      [false, false],
      [true, false],
      [false, true],
      [true, true],
    ] as const)
      for (const [m, k, n] of capability === 90 ? [...PRODUCTS.slice(1), DEEP_PRODUCT] : PRODUCTS) {
        recorder.label = `${dtype} ${m} · ${k} · ${n}, ${transposeA}, ${transposeB}`;
        const a = transposeA ? of(k, m) : of(m, k);
        const b = transposeB ? of(n, k) : of(k, n);
        withBackend('recorder', () => core.matmul(a, b, { transposeA, transposeB }));
      }
    recorder.label = `${dtype}, batches`;
    withBackend('recorder', () => core.matmul(of(2, 1, 24, 40), of(3, 40, 16)));
    for (const [m, k, n, transposeA, transposeB] of PADDED_PRODUCTS) {
      recorder.label = `${dtype}, padded ${m} · ${k} · ${n}`;
      const a = transposeA ? of(k, m) : of(m, k);
      const b = transposeB ? of(n, k) : of(k, n);
      withBackend('recorder', () =>
        execute(matmul, [a, b, of(n)], { transposeA, transposeB, activation: 1 }),
      );
    }
    recorder.label = `${dtype}, parts`;
    withBackend('recorder', () => {
      const [batches, m, k, n] = CUT_PRODUCT;
      const [a, b] = [of(batches, m, k), of(batches, k, n)];
      core.matmul(a, b);
      execute(matmul, [a, b, of(n)], { transposeA: false, transposeB: false, activation: 1 });
    });
    if (capability === 90) {
      recorder.label = `${dtype}, many tiles`;
      const [batches, m, k, n] = MANY_TILES;
      withBackend('recorder', () => core.matmul(of(batches, m, k), of(k, n)));
    }
    recorder.label = `${dtype}, bias`;
    for (const activation of [0, 1])
      withBackend('recorder', () =>
        execute(matmul, [of(40, 48), of(48, 24), of(24)], {
          transposeA: false,
          transposeB: false,
          activation,
        }),
      );
  }
  return recorder;
}

/** Rows, depth and columns of products whose tiles TMA brings. Each place for a tile is used several times, and so are workgroups. */
export const BROUGHT_PRODUCT = [72, 456, 264] as const;

/** Products of plain matrices on Hopper whose tiles TMA brings: transposes, batches that repeat, parts of the depth, biases, factors that are copied before. */
export function recordBroughtProducts(): Recorder {
  const recorder = new Recorder(jsBackend);
  recorder.capability = 90;
  registerBackend(recorder, -1);
  const random = generator(29);
  const matmul = listOps().get('_FusedMatMul') as Op;
  for (const dtype of ['float32', 'float16', 'bfloat16'] as const) {
    const of = (...shape: number[]): Tensor =>
      constant(
        Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => Math.round(random() * 16 - 8) / 8),
        dtype,
      ).reshape(shape);
    recorder.ulp = 8;
    const multiply = (
      label: string,
      [a, b, bias]: readonly (readonly number[])[],
      transposeA: boolean,
      transposeB: boolean,
      activation = 0,
    ): void => {
      recorder.label = `${dtype}, ${label}`;
      const inputs = [of(...a), of(...b), ...(bias === undefined ? [] : [of(...bias)])];
      withBackend('recorder', () => execute(matmul, inputs, { transposeA, transposeB, activation }));
    };
    for (const [transposeA, transposeB] of [
      [false, true],
      ...(dtype === 'float32' ? [] : ([[false, false]] as const)),
      ...(dtype !== 'bfloat16'
        ? []
        : ([
            [true, false],
            [true, true],
          ] as const)),
    ] as const)
      for (const [m, k, n] of [BROUGHT_PRODUCT, [136, 72, 200]])
        multiply(
          `${m} · ${k} · ${n}, ${transposeA}, ${transposeB}`,
          [transposeA ? [k, m] : [m, k], transposeB ? [n, k] : [k, n]],
          transposeA,
          transposeB,
        );
    if (dtype === 'float32') {
      // They are rounded to TensorFloat-32.
      recorder.ulp = 2 ** 22;
      recorder.label = 'float32, all bits';
      const floats = (...shape: number[]): Tensor =>
        constant(
          Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => random() - 0.5),
          dtype,
        ).reshape(shape);
      withBackend('recorder', () => core.matmul(floats(64, 72), floats(64, 72), { transposeB: true }));
      recorder.ulp = 8;
    }
    for (const activation of [0, 1])
      multiply('ends of rows', [[130, 72], [67, 72], [67]], false, true, activation);
    multiply('bias', [[64, 72], [64, 72], [64]], false, true, 1);
    multiply(
      'relu',
      [
        [64, 72],
        [64, 72],
      ],
      false,
      true,
      1,
    );
    const isWide = dtype !== 'float32';
    multiply('batches', [[2, 1, 72, 80], isWide ? [3, 80, 64] : [3, 64, 80]], false, !isWide);
    multiply('batches of rows', [[2, 72, 80], isWide ? [80, 64] : [64, 80]], false, !isWide);
    multiply(
      'batches of columns',
      [
        [72, 80],
        [2, 1, 64, 80],
      ],
      false,
      true,
    );
    for (const bias of [[], [[65]]])
      multiply('parts', [[2, 66, 1104], [2, 65, 1104], ...bias], false, true, 1);
    for (const [m, k, n, transposeA, transposeB] of PADDED_PRODUCTS)
      if (isWide || (!transposeA && transposeB))
        multiply(
          `copied ${m} · ${k} · ${n}`,
          [transposeA ? [k, m] : [m, k], transposeB ? [n, k] : [k, n], [n]],
          transposeA,
          transposeB,
          1,
        );
    if (dtype !== 'bfloat16') continue;
    multiply(
      'wide tiles',
      [
        [120, 64, 64],
        [132, 64],
      ],
      false,
      true,
    );
    // More rows of tiles than are made together.
    multiply(
      'many rows',
      [
        [1030, 64],
        [136, 64],
      ],
      false,
      true,
    );
  }
  return recorder;
}

/** Convolutions that tensor cores make: strides, dilations, padding, groups, channels that are whole chunks of 16 bytes and others, depths that are cut. */
export function recordConvolutions(capability = 80): Recorder {
  const recorder = new Recorder(jsBackend);
  recorder.capability = capability;
  registerBackend(recorder, -1);
  const random = generator(13);
  const op = (name: string): Op => listOps().get(name) as Op;
  for (const dtype of ['float32', 'float16', 'bfloat16'] as const) {
    const of = (...shape: number[]): Tensor =>
      constant(
        Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => Math.round(random() * 16 - 8) / 8),
        dtype,
      ).reshape(shape);
    recorder.ulp = 8;
    for (const [x, filter, attrs] of [
      [[2, 9, 8, 16], [3, 3, 16, 24], {}],
      [[1, 13, 12, 16], [3, 2, 16, 72], { strides: [2, 3], padding: [1, 1, 0, 1] }],
      [[1, 9, 12, 32], [3, 3, 16, 32], { dilations: [2, 1], padding: [2, 2, 1, 1], groups: 2 }],
      [[2, 11, 7, 3], [3, 3, 3, 17], { strides: [2, 2], padding: [1, 1, 1, 1] }],
      [[2, 24, 24, 16], [1, 1, 16, 16], {}],
      // Pixels that see other taps than their neighbours, or none.
      ...(dtype === 'bfloat16'
        ? ([
            [[2, 11, 10, 16], [1, 1, 16, 24], { strides: [2, 2] }],
            [
              [1, 13, 15, 32],
              [3, 3, 16, 32],
              { strides: [2, 2], dilations: [2, 1], padding: [1, 2, 1, 0], groups: 2 },
            ],
            [[1, 19, 17, 16], [4, 3, 16, 16], { strides: [4, 3], dilations: [2, 2], padding: [3, 2, 0, 1] }],
            [[2, 13, 12, 16], [3, 3, 16, 17], { strides: [3, 1], dilations: [4, 1], padding: [0, 0, 1, 1] }],
          ] as const)
        : []),
      // So many numbers of images of odd channels that these are filled up first, beside the parts of a filter's gradient.
      ...(capability === 80 || dtype === 'bfloat16'
        ? ([
            [[1, 34, 32, 6], [6, 4, 6, 24], { padding: [2, 3, 2, 1] }],
            [[1, 24, 22, 130], [1, 1, 130, 16], {}],
          ] as const)
        : []),
    ] as const) {
      const geometry = {
        strides: [1, 1],
        dilations: [1, 1],
        padding: [0, 0, 0, 0],
        groups: 1,
        ...attrs,
      } satisfies Record<string, number | readonly number[]>;
      const {
        strides: [down, right],
        dilations: [farDown, farRight],
        padding: [top, bottom, left, side],
      } = geometry;
      const out = [
        x[0],
        Math.floor((x[1] + top + bottom - (filter[0] - 1) * farDown - 1) / down) + 1,
        Math.floor((x[2] + left + side - (filter[1] - 1) * farRight - 1) / right) + 1,
        filter[3],
      ];
      recorder.label = `${dtype} ${x} * ${filter}, ${JSON.stringify(attrs)}`;
      const [image, weights, dy] = [of(...x), of(...filter), of(...out)];
      withBackend('recorder', () => {
        execute(op('Conv2D'), [image, weights], geometry);
        execute(op('_FusedConv2D'), [image, weights, of(filter[3])], { ...geometry, activation: 1 });
        execute(op('Conv2DBackpropInput'), [weights, dy], { ...geometry, shape: x });
        execute(op('Conv2DBackpropFilter'), [image, dy], { ...geometry, shape: filter });
      });
    }
  }
  return recorder;
}

/** Attention that tensor cores make, with its gradients: masks, widths that are whole chunks of 16 bytes and others, ends that fill no tile. */
export function recordAttention(capability = 80): Recorder {
  const recorder = new Recorder(jsBackend);
  recorder.capability = capability;
  registerBackend(recorder, -1);
  const random = generator(17);
  for (const dtype of ['float32', 'float16', 'bfloat16'] as const) {
    // Weights and slopes of scores are rounded to 16 bits, or to the 11 of TensorFloat-32, before they are multiplied.
    recorder.ulp = dtype === 'float32' ? 4 * 2 ** 13 : 4;
    const of = (...shape: number[]): Tensor =>
      constant(
        Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => random() - 0.5),
        dtype,
      ).reshape(shape);
    const seen = constant(
      Array.from({ length: 150 }, () => random() < 0.8),
      'bool',
    );
    type Sizes = readonly [queries: number, keys: number, width: number, values: number, heads?: number];
    type Case = readonly [mask: Tensor | undefined, isCausal: boolean, timeFirst: boolean, ...Sizes];
    const byWarps: readonly Case[] = [
      [undefined, true, false, 70, 70, 32, 32],
      [undefined, false, false, 90, 75, 48, 20],
      [seen.reshape([2, 1, 75, 1]), false, false, 75, 90, 16, 40],
      [of(1, 2, 1, 130), true, true, 37, 130, 35, 66],
      [of(2, 1, 66, 20), false, true, 66, 20, dtype === 'float32' ? 64 : 128, dtype === 'float32' ? 52 : 128],
      // Workgroups of 128 rows, which take many heads.
      ...(dtype === 'bfloat16'
        ? ([
            [undefined, true, true, 66, 70, 16, 16, 60],
            [undefined, false, false, 66, 40, 72, 16, 60],
          ] as const)
        : []),
      ...(dtype === 'float32' ? ([[undefined, true, false, 66, 66, 16, 19, 60]] as const) : []),
    ];
    // More tiles than there are at once, of queries and of keys; heads that fill no line; two warpgroups, of which one sees fewer tiles.
    const byWarpgroups: readonly Case[] = [
      [undefined, true, false, 129, 129, 64, 64, 1],
      [undefined, false, true, 17, 270, 40, 128, 1],
      ...(dtype === 'bfloat16'
        ? ([
            [undefined, true, true, 270, 65, 64, 48, 1],
            [undefined, true, false, 200, 64, 128, 128, 1],
            [seen.reshape([2, 1, 75, 1]), false, false, 75, 90, 64, 128],
            [of(1, 2, 1, 130), true, true, 37, 130, 128, 72],
            [undefined, true, false, 70, 70, 64, 64, 60],
            [undefined, false, true, 66, 17, 128, 80, 60],
            [undefined, true, true, 17, 66, 80, 128, 60],
          ] as const)
        : []),
    ];
    if (capability === 90 && dtype === 'float32') continue;
    for (const [mask, isCausal, timeFirst, queries, keys, width, values, heads = 2] of capability === 90
      ? byWarpgroups
      : byWarps) {
      const shape = (time: number, size: number): number[] =>
        timeFirst ? [2, time, heads, size] : [2, heads, time, size];
      recorder.label = `${dtype}, ${queries} · ${keys}, ${width}, ${values}`;
      const inputs = [
        of(...shape(queries, width)),
        of(...shape(keys, width)),
        of(...shape(keys, values)),
      ] as const;
      const tape = new GradientTape();
      for (const x of inputs) tape.watch(x);
      withBackend('recorder', () => {
        const y = tape.record(() =>
          core.nn.scaledDotProductAttention(...inputs, { mask, isCausal, timeFirst }),
        );
        // Those of wide heads are made by workgroups of 64.
        if (width !== 72) tape.gradient(y, inputs, { outputGradients: of(...shape(queries, values)) });
      });
    }
  }
  // No function has such a scale, but the kernel has: the largest score is that of the smallest product. Later tiles have much larger ones.
  if (capability === 90)
    withBackend('recorder', () => {
      const of = (time: number): Tensor =>
        constant(
          Array.from({ length: time * 64 }, () => random() - 0.5),
          'bfloat16',
        ).reshape([1, 1, time, 64]);
      const attrs = { timeFirst: false, scale: -30, causal: false };
      recorder.label = 'a negative scale, and scores of some size';
      recorder.ulp = 4;
      execute(listOps().get('ScaledDotProductAttention') as Op, [of(17), of(270), of(270)], attrs);
    });
  return recorder;
}
