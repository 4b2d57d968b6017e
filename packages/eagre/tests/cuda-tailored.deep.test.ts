// Traced functions with calls that only the backend of CUDA has, on a fake driver whose kernels run on the processor.
import { describe, expect, it } from 'vitest';
import { fakeCuda, hasFakeCuda } from '../../backend-cuda/src/testing/fake-cuda.ts';
import * as tf from '../src/index.ts';

const { cudaBackend, cudaUnavailable } = await import('@eagre/backend-cuda');
// What nobody places is computed by the processor here, to compare with.
tf.device('/cpu:0');
const isTested = hasFakeCuda && cudaBackend !== undefined;
if (!isTested) console.log(`CUDA is not tested on ${fakeCuda}: ${cudaUnavailable}`);

type Half = 'float16' | 'bfloat16';
const halves: readonly Half[] = ['float16', 'bfloat16'];

/** Quarters between -1 and 1: products of few of them are exact in all dtypes. */
const quarters = (shape: readonly number[], seed = 0): tf.Tensor =>
  tf
    .constant(
      Float32Array.from(
        { length: shape.reduce((a, b) => a * b, 1) },
        (_, i) => (((i + seed) * 7919) % 9) / 4 - 1,
      ),
    )
    .reshape([...shape]);

/** A program makes its variables, and returns a step that is called three times. */
type Make = () => () => readonly tf.Tensor[];

const numbersOf = (results: readonly tf.Tensor[]): number[][] =>
  results.map((x) => [...(x.cast('float32').data() as Float32Array)]);

function run(make: Make, isTraced: boolean): { steps: number[][][]; text: string } {
  const step = make();
  const traced = tf.function(step);
  const steps = [0, 1, 2].map(() => numbersOf((isTraced ? traced : step)() as readonly tf.Tensor[]));
  return { steps, text: isTraced ? traced.getConcreteFunction().planText() : '' };
}

/**
 * Compares all devices, eagerly and traced; what the GPU traces has the bits that it has eagerly, where the kernels are other ones.
 * @param between what may lie between them where sums have another order.
 * @returns the plan of the GPU as text
 */
function check(make: Make, off: number, between = 0): string {
  const { steps: expected } = run(make, false);
  const compare = (made: number[][][], with_: number[][][], what: string, off: number): void =>
    made.forEach((results, s) => {
      results.forEach((values, i) => {
        const wanted = with_[s]![i]!;
        expect(values.length).toBe(wanted.length);
        const scale = Math.max(0.1, ...wanted.map(Math.abs));
        values.forEach((value, k) => {
          if (Object.is(value, wanted[k])) return;
          const where = `${what}, step ${s}, result ${i}, ${k}: ${value} for ${wanted[k]}`;
          expect(Math.abs(value - wanted[k]!) / scale, where).toBeLessThanOrEqual(off);
        });
      });
    });
  compare(run(make, true).steps, expected, 'traced on the CPU', off);
  const eager = tf.device('/gpu:0', () => run(make, false)).steps;
  compare(eager, expected, 'the GPU', off);
  const { steps, text } = tf.device('/gpu:0', () => run(make, true));
  compare(steps, eager, 'traced on the GPU', between);
  return text;
}

/** Calls in the text of a plan, by what begins them behind their results. */
const callsOf = (text: string, what: RegExp): string[] =>
  text.split('\n').filter((line) => what.test(line.slice(line.indexOf(' = ') + 3)));

describe.skipIf(!isTested)('plans of the backend of CUDA', () => {
  it('keep branches for what the host does in them', () =>
    tf.device('/gpu:0', () => {
      const seen: number[] = [];
      const fn = tf.function((x: tf.Tensor) => {
        // Nobody reads its result.
        tf.cond(
          tf.reduceSum(x).greater(0),
          () => {
            tf.debugging.assertLess(x, 10);
            const tell = (v: tf.Tensor): tf.Tensor => {
              seen.push(v.item() as number);
              return v;
            };
            return tf.pyFunction(tell, [tf.reduceSum(x)], 'float32', { shape: [] }) as tf.Tensor;
          },
          () => tf.reduceSum(x),
        );
        return x.mul(2);
      });
      expect(fn(tf.constant([1, 2])).array()).toEqual([2, 4]);
      expect(fn(tf.constant([-1, -2])).array()).toEqual([-2, -4]);
      expect(() => fn(tf.constant([20, 2])).array()).toThrow(tf.errors.InvalidArgumentError);
      expect(seen).toEqual([3]);
    }));

  const optimizers: Readonly<Record<string, () => tf.optimizers.Optimizer>> = {
    SGD: () => new tf.optimizers.SGD({ learningRate: 0.125 }),
    momentum: () => new tf.optimizers.SGD({ learningRate: 0.125, momentum: 0.5, nesterov: true }),
    RMSprop: () => new tf.optimizers.RMSprop({ learningRate: 0.125, centered: true, momentum: 0.5 }),
    Adam: () => new tf.optimizers.Adam({ learningRate: 0.125, amsgrad: true }),
  };

  /** Products with weights of these many columns; a gradient of the last weight is of float32. */
  const products =
    (
      optimizer: () => tf.optimizers.Optimizer,
      dtype: Half,
      columns: readonly number[],
      isSeen: boolean,
    ): Make =>
    () => {
      const weights = columns.map((n, i) => new tf.Variable(quarters([7, n], i)));
      const wide = new tf.Variable(quarters([7], 3));
      const all = [...weights, wide];
      const steps = optimizer();
      const x = quarters([5, 7], 11);
      return () => {
        const tape = new tf.GradientTape();
        const loss = tape.record(() => {
          const parts = weights.map((w, i) =>
            x
              .cast(dtype)
              .matmul(w.cast(dtype))
              .mul(quarters([columns[i]!], i).cast(dtype))
              .cast('float32')
              .sum(),
          );
          return tf.addN([...parts, x.mul(wide).sum()]);
        });
        const gradients = tape.gradient(loss, all) as tf.Tensor[];
        steps.applyGradients(gradients, all);
        return [loss, ...all.map((v) => v.add(0)), ...(isSeen ? gradients.slice(0, 1) : [])];
      };
    };

  for (const [name, optimizer] of Object.entries(optimizers)) {
    it(`${name} reads gradients of 16 bits`, () => {
      for (const dtype of halves) {
        const text = check(products(optimizer, dtype, [3, 1, 8], false), 1e-6);
        const [step] = callsOf(text, /^Apply/);
        expect(step).toContain(`${dtype}[7,3]`);
        expect(step).toContain(`${dtype}[7,1]`);
      }
    });
  }

  it('steps of many variables are few launches, in parts by the bits of the gradients', () => {
    const columns = Array.from({ length: 21 }, (_, i) => (i % 5) + 1);
    const text = check(products(optimizers['Adam']!, 'bfloat16', columns, false), 1e-6);
    expect(callsOf(text, /^ApplyAdam/)[0]?.match(/bfloat16\[7/g)).toHaveLength(21);
  });

  it('a gradient that is a result too is cast for it', () => {
    const text = check(products(optimizers['SGD']!, 'bfloat16', [3, 2], true), 1e-6);
    expect(callsOf(text, /^Apply/)[0]).toContain('bfloat16[7,3]');
    expect(text).toMatch(/float32\[7,3\] = float32\(%/);
  });

  it('casts of many weights are one launch', () => {
    for (const dtype of halves) {
      const columns = Array.from({ length: 18 }, (_, i) => i + 1);
      const text = check(products(optimizers['SGD']!, dtype, columns, false), 1e-6);
      const groups = callsOf(text, /^an elementwise function/);
      const cast = groups.filter((line) => line.includes(`${dtype}[7,1]`) && line.includes(`${dtype}[7,15]`));
      expect(cast, text).toHaveLength(1);
      expect(cast[0]!.split(' = ')[0]!.split(`${dtype}[`)).toHaveLength(17);
    }
  });

  it('alike calls stay in their order where one waits for another, or for a variable', () => {
    const make = (): (() => readonly tf.Tensor[]) => {
      const all = [4, 9, 5, 6].map((n, i) => new tf.Variable(quarters([n], i)));
      const halve = (x: tf.Tensor): tf.Tensor => x.mul(0.5).add(0.25);
      return () => {
        // Each reads what the one before has written.
        const chain: tf.Tensor[] = [quarters([3, 3])];
        for (let i = 0; i < 4; i++) chain.push(tf.matmul(halve(chain[i]!), quarters([3, 3], i)));
        const before = all.map((v) => tf.matmul(halve(v.value()).reshape([1, -1]), tf.eye(v.shape[0]!)));
        for (const v of all) v.assign(halve(v.value()));
        const after = all.map((v) => tf.matmul(halve(v.value()).reshape([1, -1]), tf.eye(v.shape[0]!)));
        return [...chain, ...before, ...after, ...all.map((v) => v.add(0))];
      };
    };
    expect(callsOf(check(make, 1e-6), /^an elementwise function/)).not.toEqual([]);
  });

  it('moving averages of several layers are one launch', () => {
    const make = (): (() => readonly tf.Tensor[]) => {
      const layers = [3, 5, 8, 1].map(() => new tf.layers.BatchNormalization());
      const inputs = [3, 5, 8, 1].map((n, i) => quarters([6, n], i));
      return () => {
        const results = layers.map((layer, i) => layer(inputs[i]!, { training: true }) as tf.Tensor);
        return [...results, ...layers.flatMap((l) => [l.movingMean.add(0), l.movingVariance.add(0)])];
      };
    };
    const groups = callsOf(check(make, 1e-5), /^an elementwise function/);
    expect(groups.length).toBe(1);
  });

  /** The last layer of a language model: features [rows, deep], words of so many classes. */
  const language =
    (
      dtype: Half,
      [rows, deep, classes]: readonly [number, number, number],
      more: (logits: tf.Tensor) => readonly tf.Tensor[] = () => [],
      seen: readonly ('logits' | 'gradient')[] = [],
    ): Make =>
    () => {
      const words = new tf.Variable(quarters([deep, classes], 2));
      const features = new tf.Variable(quarters([rows, deep], 5));
      const labels = tf.constant(Int32Array.from({ length: rows }, (_, i) => (i * 31) % classes));
      const all = [words, features];
      const optimizer = new tf.optimizers.SGD({ learningRate: 0.125 });
      return () => {
        let results: readonly tf.Tensor[] = [];
        const tape = new tf.GradientTape({ persistent: true });
        let logits!: tf.Tensor;
        const loss = tape.record(() => {
          const narrow = features.cast(dtype).matmul(words.cast(dtype));
          logits = narrow.cast('float32');
          results = more(logits);
          return tf.nn.sparseSoftmaxCrossEntropyWithLogits(labels, logits).mean();
        });
        const gradients = tape.gradient(loss, all) as tf.Tensor[];
        if (seen.includes('gradient')) results = [...results, tape.gradient(loss, logits) as tf.Tensor];
        if (seen.includes('logits')) results = [...results, logits];
        optimizer.applyGradients(gradients, all);
        return [loss, ...gradients, ...results];
      };
    };
  const LOSS = /^SparseSoftmaxCrossEntropyWithLogits/;

  it('cross-entropy reads logits of 16 bits and writes their gradients, products take them with a pitch', () => {
    for (const dtype of halves) {
      const text = check(language(dtype, [130, 136, 131]), 0.02);
      expect(callsOf(text, LOSS)[0]).toMatch(
        new RegExp(`, %\\d+ ${dtype}\\[130,131\\] = .*\\(%\\d+ ${dtype}\\[130,131\\]`),
      );
      // Nothing of all logits in float32, and nothing that scales their gradients.
      expect(text).not.toContain('float32[130,131]');
      expect(
        callsOf(text, /^an elementwise function/).filter((line) => line.includes('[136,131]')),
      ).toHaveLength(1);
    }
  });

  it('without a pitch too, of few rows and of many classes', () => {
    for (const [rows, classes] of [
      [5, 7],
      [3, 8209],
      [130, 136],
    ] as const) {
      const text = check(language('bfloat16', [rows, 9, classes]), 0.02);
      expect(text).not.toContain(`float32[${rows},${classes}]`);
    }
  });

  it('logits that something else reads are cast for it', () => {
    const text = check(
      language('bfloat16', [130, 136, 131], (x) => [x.argMax(-1).cast('float32')], ['logits']),
      0.02,
    );
    expect(callsOf(text, LOSS)[0]).toMatch(/\(%\d+ bfloat16\[130,131\]/);
  });

  it('a gradient that is read in float32 is written so', () => {
    const text = check(language('bfloat16', [130, 136, 131], undefined, ['gradient']), 0.02);
    expect(callsOf(text, LOSS)[0]).toMatch(/, %\d+ float32\[130,131\] = .*\(%\d+ bfloat16\[130,131\]/);
  });

  it('a weight of odd width that two products read is copied once', () => {
    const make = (): (() => readonly tf.Tensor[]) => {
      const w = new tf.Variable(quarters([131, 133], 2));
      const x = quarters([130, 131], 4).cast('bfloat16');
      return () => {
        const narrow = w.cast('bfloat16');
        return [
          tf.matmul(x, narrow),
          tf.matmul(narrow, narrow, { transposeB: true }),
          tf.matmul(narrow, x, { transposeA: true, transposeB: true }),
        ];
      };
    };
    check(make, 0.01);
  });

  it('a label out of range is an error at the next read', () => {
    tf.device('/gpu:0', () => {
      const labels = new tf.Variable(tf.constant([1, 2, 0], 'int32'));
      const loss = tf.function((x: tf.Tensor) => {
        const w = tf.eye(3).cast('bfloat16');
        const logits = tf.matmul(x.cast('bfloat16'), w).cast('float32');
        return tf.nn.sparseSoftmaxCrossEntropyWithLogits(labels.value(), logits);
      });
      expect((loss(quarters([3, 3])) as tf.Tensor).data()).toHaveLength(3);
      labels.assign(tf.constant([1, 3, 0], 'int32'));
      const bad = loss(quarters([3, 3])) as tf.Tensor;
      expect(() => bad.data()).toThrow(/a label is out of range/);
    });
  });

  /** Blocks of a normalization and a product, each added to what it is of. */
  const blocks =
    (
      dtype: Half,
      [rows, width]: readonly [number, number],
      more: (x: tf.Tensor, normal: tf.Tensor) => tf.Tensor = (x, normal) => x.add(normal),
    ): Make =>
    () => {
      const policy = `mixed_${dtype}` as const;
      const layers = [0, 1].map((i) => ({
        norm: new tf.layers.LayerNormalization({
          epsilon: 0.25,
          dtype: policy,
          gammaInitializer: tf.initializers.constant(0.5 + i),
        }),
        weight: new tf.Variable(quarters([width, width], i)),
      }));
      const start = new tf.Variable(quarters([rows, width], 7));
      const target = quarters([rows, width], 3);
      const optimizer = new tf.optimizers.SGD({ learningRate: 0.125 });
      const forward = (): tf.Tensor => {
        let x: tf.Tensor = start.cast(dtype);
        for (const { norm, weight } of layers) x = more(x, (norm(x) as tf.Tensor).matmul(weight.cast(dtype)));
        return x.cast('float32').mul(target).sum();
      };
      forward();
      const all = [start, ...layers.flatMap(({ norm, weight }) => [...norm.trainableVariables, weight])];
      return () => {
        const tape = new tf.GradientTape();
        const loss = tape.record(forward);
        const gradients = tape.gradient(loss, all) as tf.Tensor[];
        optimizer.applyGradients(gradients, all);
        return [loss, ...gradients];
      };
    };

  it('layer normalization reads and writes 16 bits, and its gradient adds what is added to it', () => {
    for (const dtype of halves)
      for (const [rows, width] of [
        [5, 7],
        [6, 8],
        [3, 1],
        [2, 300],
      ] as const) {
        const text = check(blocks(dtype, [rows, width]), 0.03, 0.03);
        const norms = callsOf(text, /^LayerNorm\(/);
        expect(norms).toHaveLength(2);
        for (const line of norms)
          expect(line).toMatch(new RegExp(`${dtype}\\[.* = LayerNorm\\(%\\d+ ${dtype}\\[`));
        const [last] = callsOf(text, /^LayerNormGrad/);
        // dy, x and the summand have 16 bits, and so has the result.
        expect(last!.split(`${dtype}[${rows},${width}]`)).toHaveLength(5);
      }
  });

  it('layer normalization makes the sum that it is of, where nobody has read that before', () => {
    const first = (text: string): string[] =>
      callsOf(text, /^LayerNorm\(/).map((line) => String(line.split(' = ')[0]!.split('%').length - 1));
    // The sum, the result, and both statistics.
    for (const dtype of halves)
      for (const [rows, width] of [
        [5, 7],
        [3, 300],
      ] as const)
        expect(first(check(blocks(dtype, [rows, width]), 0.03, 0.03))).toEqual(['3', '4']);
    const more = (x: tf.Tensor, normal: tf.Tensor): tf.Tensor => x.add(normal).mul(0.5);
    expect(first(check(blocks('bfloat16', [5, 8], more), 0.03, 0.03))).toEqual(['3', '3']);
  });

  /** Sums over rows of what `before` makes. */
  const columns =
    (
      dtype: Half | 'float32',
      shape: readonly number[],
      axes: readonly number[],
      before: (x: tf.Tensor, w: tf.Tensor) => tf.Tensor,
    ): Make =>
    () => {
      const start = new tf.Variable(quarters(shape, 3).cast(dtype));
      const weight = quarters(shape, 5).cast(dtype);
      return () => {
        const made = before(start.value(), weight);
        return [made, made.sum([...axes])];
      };
    };

  it('sums of columns are made in the launch that makes these', () => {
    for (const dtype of ['float32', ...halves] as const)
      for (const shape of [
        [40, 3],
        [5, 8, 6],
        [1100, 4],
        [2, 1050, 5],
      ] as const) {
        const axes = shape.slice(1).map((_, i) => i);
        const text = check(
          columns(dtype, shape, axes, (x, w) => tf.nn.gelu(x.mul(w))),
          0.02,
          0.01,
        );
        expect(callsOf(text, /^Sum/), text).toEqual([]);
        const product = check(
          columns(dtype, shape, axes, (x) => tf.matmul(x, quarters([shape.at(-1)!, 3], 1).cast(dtype))),
          0.02,
          0.01,
        );
        expect(callsOf(product, /^Sum/), product).toHaveLength(1);
      }
  });

  it('of few rows, of a vector and along rows they are not', () => {
    const kinds = [
      [[31, 4], [0], (x: tf.Tensor, w: tf.Tensor) => x.mul(w).tanh()],
      [[70, 4], [0], (x: tf.Tensor, w: tf.Tensor) => x.mul(w.max([0])).tanh()],
      [[6, 70], [1], (x: tf.Tensor, w: tf.Tensor) => x.mul(w).tanh()],
      [[6, 7, 8], [1], (x: tf.Tensor, w: tf.Tensor) => x.mul(w).tanh()],
    ] as const;
    for (const dtype of ['float32', 'bfloat16'] as const)
      for (const [shape, axes, before] of kinds) {
        const text = check(columns(dtype, shape, axes, before), 0.02);
        expect(callsOf(text, /^(Sum|MapReduce)/), text).toHaveLength(1);
      }
  });

  it('where its results are used twice, or in float32, it stays as it is', () => {
    const wide = check(
      blocks('bfloat16', [5, 8], (x, y) =>
        x.add(y.cast('float32').mul(0.5).cast('bfloat16')).add(x.mul(0.5)),
      ),
      0.03,
      0.03,
    );
    expect(callsOf(wide, /^LayerNorm\(/)).toHaveLength(2);
    const make = (): (() => readonly tf.Tensor[]) => {
      const norm = new tf.layers.LayerNormalization({ dtype: 'float32' });
      const start = new tf.Variable(quarters([5, 6], 7));
      const forward = (): tf.Tensor[] => {
        const x = start.cast('bfloat16').add(1);
        const y = norm(x.cast('float32')) as tf.Tensor;
        const narrow = y.cast('bfloat16');
        return [
          y,
          narrow,
          x,
          narrow
            .cast('float32')
            .mul(quarters([5, 6]))
            .sum(),
        ];
      };
      forward();
      return () => {
        const tape = new tf.GradientTape();
        const results = tape.record(forward);
        const [gradient] = tape.gradient(results[3]!, [start]) as tf.Tensor[];
        return [...results, gradient!, gradient!.mul(2)];
      };
    };
    expect(callsOf(check(make, 0.03, 0.03), /^LayerNorm\(/)[0]).toContain('= LayerNorm(%');
  });

  interface Windows {
    readonly window: readonly [number, number];
    readonly strides: readonly [number, number];
    readonly padding: 'SAME' | 'VALID';
  }
  /** Max pooling of what `before` makes of a variable, and its gradients. */
  const pooling =
    (
      dtype: Half | 'float32',
      shape: readonly [number, number, number, number],
      { window, strides, padding }: Windows,
      before: (x: tf.Tensor) => tf.Tensor,
      products = 1,
    ): Make =>
    () => {
      const start = new tf.Variable(quarters(shape, 3));
      return () => {
        const tape = new tf.GradientTape();
        let [x, y]: tf.Tensor[] = [];
        const loss = tape.record(() => {
          x = before(start.cast(dtype));
          y = tf.nn.maxPool2d(x, [...window], { strides: [...strides], padding }) as tf.Tensor;
          // Its gradient waits for theirs.
          const rows = y.reshape([-1, shape[3]]);
          const after = Array.from({ length: products }, (_, i) =>
            tf
              .matmul(rows, quarters([shape[3], 3], 5 + i).cast(dtype))
              .cast('float32')
              .square()
              .sum(),
          );
          return tf.addN(after);
        });
        return [loss, y!, ...(tape.gradient(loss, [start, x!]) as tf.Tensor[])];
      };
    };
  /** The dtypes that gradients of max pooling read and write. */
  const pooled = (text: string): readonly string[] =>
    callsOf(text, /^MaxPoolGrad/).map((line) =>
      [...line.matchAll(/%\d+ (\w+)\[/g)].map(([, dtype]) => dtype).join(),
    );
  const thrice: Windows = { window: [3, 3], strides: [2, 2], padding: 'SAME' };

  it('max pooling has gradients of 16 bits, in windows of all kinds', () => {
    const kinds = [
      [[2, 7, 9, 4], thrice],
      [[2, 6, 5, 3], { window: [3, 2], strides: [1, 2], padding: 'VALID' }],
      [[1, 5, 8, 6], { window: [2, 2], strides: [3, 3], padding: 'VALID' }],
      [[1, 1, 700, 8], { window: [1, 4], strides: [1, 1], padding: 'SAME' }],
    ] as const;
    for (const dtype of ['float32', ...halves] as const)
      for (const [shape, windows] of kinds) {
        const text = check(
          pooling(dtype, shape, windows, (x) => tf.nn.relu(x.mul(1.5))),
          0.02,
        );
        expect(pooled(text), text).toEqual([`${dtype},${dtype},int32`]);
      }
  });

  it('it adds two gradients', () => {
    for (const dtype of ['float32', ...halves] as const)
      for (const channels of [3, 4]) {
        const before = (x: tf.Tensor): tf.Tensor => tf.nn.relu(x.mul(1.5));
        const text = check(pooling(dtype, [2, 7, 9, channels], thrice, before, 2), 0.02);
        expect(pooled(text), text).toEqual([`${dtype},${dtype},int32,${dtype}`]);
      }
  });

  it('so it has where the gradient is only cast, and not where more is made of it', () => {
    const shape = [2, 7, 9, 4] as const;
    const cast = check(
      pooling('bfloat16', shape, thrice, (x) => x),
      0.02,
    );
    expect(pooled(cast), cast).toEqual(['bfloat16,bfloat16,int32']);
    const wide = check(
      pooling('float32', shape, thrice, (x) => x.cast('bfloat16').cast('float32').mul(2)),
      0.02,
    );
    expect(pooled(wide), wide).toEqual(['float32,float32,int32']);
  });

  /** Attention of a third each of what a product makes. */
  const attention =
    (
      dtype: Half,
      [batch, time, heads, width]: readonly [number, number, number, number],
      options: {
        readonly isCausal?: boolean;
        readonly hasMask?: boolean;
        readonly order?: readonly number[];
      } = {},
      more: (parts: readonly tf.Tensor[]) => readonly tf.Tensor[] = () => [],
    ): Make =>
    () => {
      const deep = 6;
      const weight = new tf.Variable(quarters([deep, 3 * heads * width], 2).mul(0.25));
      const x = quarters([batch, time, deep], 4).cast(dtype);
      const mask = options.hasMask ? quarters([batch, 1, time, time], 5).greater(-0.75) : undefined;
      const target = quarters([batch, time, heads, width], 1);
      return () => {
        const tape = new tf.GradientTape();
        let results: readonly tf.Tensor[] = [];
        let seen!: tf.Tensor;
        const loss = tape.record(() => {
          const all = tf.split(tf.matmul(x, weight.cast(dtype)), 3, -1) as tf.Tensor[];
          const parts = (options.order ?? [0, 1, 2]).map((i) => all[i]!.reshape([batch, time, heads, width]));
          results = more(parts);
          const [q, k, v] = parts as [tf.Tensor, tf.Tensor, tf.Tensor];
          seen = tf.nn.scaledDotProductAttention(q, k, v, {
            isCausal: options.isCausal ?? false,
            timeFirst: true,
            ...(mask && { mask }),
          });
          return tf.addN([
            seen.cast('float32').mul(target).sum(),
            ...results.map((r) => r.cast('float32').sum()),
          ]);
        });
        return [loss, seen, ...(tape.gradient(loss, [weight]) as tf.Tensor[]), ...results];
      };
    };
  const ATTENTION = /^ScaledDotProductAttention/;
  const MOVES = /^(Slice|Concat)/;

  it('attention reads its thirds where they lie, and writes their gradients where they are read', () => {
    for (const [dtype, sizes, options] of [
      ['bfloat16', [1, 70, 2, 64], { isCausal: true }],
      ['float16', [2, 17, 2, 40], {}],
      ['bfloat16', [2, 19, 3, 16], { isCausal: true }],
      ['float16', [2, 17, 2, 16], { hasMask: true }],
    ] as const) {
      const text = check(attention(dtype, sizes, options), 0.03);
      expect(callsOf(text, ATTENTION), text).toHaveLength(2);
      expect(callsOf(text, MOVES)).toEqual([]);
    }
  });

  it('where they are no thirds in that order, or what has no tensor cores, they are sliced', () => {
    const text = check(attention('bfloat16', [2, 17, 2, 16], { order: [1, 0, 2] }), 0.03);
    expect(callsOf(text, MOVES)).toHaveLength(4);
    expect(callsOf(check(attention('bfloat16', [2, 5, 2, 8]), 0.03), MOVES)).toHaveLength(4);
  });

  it('what else reads a third or its gradient has it', () => {
    const text = check(
      attention('bfloat16', [2, 17, 2, 16], {}, ([q]) => [q!.mul(0.5)]),
      0.03,
    );
    // The gradient of a third is added to before all are joined.
    expect(callsOf(text, /^Slice/)).toHaveLength(1);
    expect(callsOf(text, /^Concat/)).toHaveLength(1);
  });

  /** A convolution of photographs, whose filter has a gradient. */
  const photographs =
    (
      dtype: Half,
      shape: readonly [number, number, number, number],
      more: (x: tf.Tensor) => readonly tf.Tensor[] = () => [],
    ): Make =>
    () => {
      const images = new tf.Variable(quarters(shape, 2));
      const filter = new tf.Variable(quarters([7, 7, shape[3], 16], 1).mul(0.25));
      return () => {
        const tape = new tf.GradientTape();
        let results: readonly tf.Tensor[] = [];
        const loss = tape.record(() => {
          const x = images.cast(dtype);
          results = more(x);
          const y = tf.nn.conv2d(x, filter.cast(dtype), { strides: 2, padding: 'SAME' }) as tf.Tensor;
          return tf
            .matmul(y.reshape([-1, 16]), quarters([16, 3], 5).cast(dtype))
            .cast('float32')
            .square()
            .mean();
        });
        return [loss, ...(tape.gradient(loss, [filter]) as tf.Tensor[]), ...results];
      };
    };

  it('photographs are filled up where they are cast, and not where something else reads them', () => {
    const readBy = (text: string): readonly string[] =>
      callsOf(text, /^Conv2D(BackpropFilter)?\(/).map(
        (line) => / = \w+\(%\d+ \w+\[([\d,]+)\]/.exec(line)![1]!,
      );
    for (const dtype of halves)
      for (const channels of [3, 5]) {
        const shape = [2, 31, 34, channels] as const;
        expect(readBy(check(photographs(dtype, shape), 0.03))).toEqual(['2,31,34,8', '2,31,34,8']);
      }
    const text = check(
      photographs('bfloat16', [2, 31, 34, 3], (x) => [x.sum([1, 2])]),
      0.03,
    );
    expect(readBy(text)).toEqual(['2,31,34,3', '2,31,34,3']);
  });

  /** A product, a batch normalization and relu; then both again, of which `join` makes results that go on to other products. */
  const normalizations =
    (
      dtype: Half | 'float32',
      [rows, width]: readonly [number, number],
      join: (y: tf.Tensor, hidden: tf.Tensor, first: tf.Tensor) => readonly tf.Tensor[],
    ): Make =>
    () => {
      const options = { dtype: dtype === 'float32' ? dtype : (`mixed_${dtype}` as const), epsilon: 0.125 };
      const norms = [0, 1].map(() => new tf.layers.BatchNormalization(options));
      const weights = [5, width].map((n, i) => new tf.Variable(quarters([n, width], i)));
      const start = new tf.Variable(quarters([rows, 5], 3));
      const targets = [0, 1, 2].map((i) => quarters([rows, width], i + 4));
      const narrow = (x: tf.Tensor): tf.Tensor => (dtype === 'float32' ? x : x.cast(dtype));
      const after = narrow(quarters([width, width], 6));
      const forward = (): tf.Tensor => {
        const [w0, w1] = weights.map((w) => narrow(w.value())) as [tf.Tensor, tf.Tensor];
        const first = tf.matmul(narrow(start.value()), w0);
        const hidden = tf.nn.relu(norms[0]!(first, { training: true }) as tf.Tensor);
        const y = norms[1]!(tf.matmul(hidden, w1), { training: true }) as tf.Tensor;
        const losses = join(y, hidden, first).map((result, i) =>
          // Its gradient waits for it.
          tf.matmul(result, after).cast('float32').sub(targets[i]!).square().sum(),
        );
        return tf.addN(losses);
      };
      forward();
      norms.forEach(({ gamma, beta }, i) => {
        gamma!.assign(quarters([width], i).add(1.125));
        beta!.assign(quarters([width], i + 2));
      });
      const all = [start, ...weights, ...norms.flatMap((norm) => norm.trainableVariables)];
      const optimizer = new tf.optimizers.SGD({ learningRate: 2 ** -12 });
      return () => {
        const tape = new tf.GradientTape();
        const loss = tape.record(forward);
        const gradients = tape.gradient(loss, all) as tf.Tensor[];
        optimizer.applyGradients(gradients, all);
        const averages = norms.flatMap((norm) => [norm.movingMean.add(0), norm.movingVariance.add(0)]);
        return [loss, ...gradients, ...averages];
      };
    };
  /** How many inputs the calls have, and the dtype of the last one. */
  const inputsOf = (text: string, what: RegExp): string[] =>
    callsOf(text, what).map((line) => {
      const inputs = line.split(' = ')[1]!.match(/%\d+ \w+\[/g)!;
      return `${inputs.length} ${inputs.at(-1)!.split(' ')[1]}`;
    });
  const NORM = /^FusedBatchNorm\(/;
  const NORM_GRAD = /^FusedBatchNormGrad\(/;
  type Join = Parameters<typeof normalizations>[2];
  const compared = (dtype: Half | 'float32', shape: readonly [number, number], join: Join): string => {
    const off = dtype === 'float32' ? 1e-3 : 0.05;
    return check(normalizations(dtype, shape, join), off, off);
  };

  it('a variable that gets a normalized result is read before as it was', () => {
    const make: Make = () => {
      const norms = [new tf.layers.BatchNormalization(), new tf.layers.LayerNormalization()];
      const kept = [new tf.Variable(tf.zeros([6, 4])), new tf.Variable(tf.zeros([6, 4], 'bfloat16'))];
      const x = [quarters([6, 4]), quarters([6, 4]).cast('bfloat16')];
      return () => {
        const made = norms.map((norm, i) => norm(x[i]!.cast('float32'), { training: true }) as tf.Tensor);
        const before = kept.map((variable) => variable.mul(2).add(1));
        kept[0]!.assign(tf.nn.relu(made[0]!));
        kept[1]!.assign(made[1]!.cast('bfloat16'));
        return before;
      };
    };
    check(make, 2e-2, 2e-2);
  });

  it('batch normalization applies relu, and its gradient passes where that did', () => {
    for (const dtype of ['float32', ...halves] as const)
      for (const shape of [
        [6, 3],
        [9, 4],
        [70, 1],
      ] as const) {
        const text = compared(dtype, shape, (y) => [tf.nn.relu(y)]);
        expect(callsOf(text, /.*max\(/)).toEqual([]);
        // Each gradient computes the result anew, from the offset.
        expect(inputsOf(text, NORM_GRAD)).toEqual(['6 float32[', '6 float32[']);
      }
  });

  it('batch normalization adds what is added to it', () => {
    for (const dtype of ['float32', ...halves] as const) {
      const text = compared(dtype, [9, 4], (y, hidden) => [tf.nn.relu(y.add(hidden))]);
      expect(inputsOf(text, NORM)).toEqual(['3 float32[', `4 ${dtype}[`]);
      expect(
        inputsOf(
          compared(dtype, [7, 3], (y, hidden) => [y.add(hidden)]),
          NORM,
        ),
      ).toEqual(['3 float32[', `4 ${dtype}[`]);
      // The gradient behind the sum looks at the sign of the result.
      const join: Join = (y, _, first) => [tf.nn.relu(tf.stopGradient(first).add(y))];
      expect(inputsOf(compared(dtype, [6, 8], join), NORM_GRAD)).toEqual([`6 ${dtype}[`, '6 float32[']);
    }
  });

  it('the sums of many rows are merged in the launch that makes them', () => {
    for (const dtype of ['float32', 'bfloat16'] as const)
      compared(dtype, [2100, 3], (y, hidden) => [tf.nn.relu(y), y.add(hidden)]);
    check(blocks('bfloat16', [2100, 3]), 0.03, 0.03);
  });

  it('the gradient behind a sum of gradients makes that for those who read it later', () => {
    for (const dtype of ['float32', ...halves] as const)
      for (const shape of [
        [9, 4],
        [70, 3],
      ] as const) {
        const text = compared(dtype, shape, (y, hidden) => {
          const result = tf.nn.relu(y.add(hidden));
          return [result, result];
        });
        expect(inputsOf(text, NORM_GRAD)[0]).toBe(`7 ${dtype}[`);
        // Alone it makes it for itself.
        const alone = compared(dtype, shape, (y) => {
          const result = tf.nn.relu(y);
          return [result, result];
        });
        expect(inputsOf(alone, NORM_GRAD)[0]).toBe(`7 ${dtype}[`);
      }
  });

  it('results that are used twice, and other activations, stay as they are', () => {
    for (const dtype of ['float32', 'bfloat16'] as const) {
      const twice = compared(dtype, [6, 4], (y) => [tf.nn.relu(y), y]);
      expect(inputsOf(twice, NORM)).toEqual(['3 float32[', '3 float32[']);
      expect(
        inputsOf(
          compared(dtype, [6, 4], (y) => [tf.nn.relu6(y)]),
          NORM_GRAD,
        )[0],
      ).toBe('5 float32[');
      compared(dtype, [6, 4], (y) => [tf.nn.relu(y.mul(-1)), tf.maximum(y, -0.25)]);
    }
  });
});
