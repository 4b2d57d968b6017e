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

/** Compares all devices, eagerly and traced. @returns the plan of the GPU as text */
function check(make: Make, off: number): string {
  const { steps: expected } = run(make, false);
  let text = '';
  for (const place of ['/cpu:0', '/gpu:0'])
    for (const isTraced of [false, true]) {
      const made = tf.device(place, () => run(make, isTraced));
      text = made.text;
      made.steps.forEach((results, s) => {
        results.forEach((values, i) => {
          expect(values.length).toBe(expected[s]![i]!.length);
          const wanted = expected[s]![i]!;
          const scale = Math.max(1e-3, ...wanted.map(Math.abs));
          values.forEach((value, k) => {
            if (Object.is(value, wanted[k])) return;
            const where = `${place} ${isTraced} step ${s} result ${i}, ${k}: ${value} for ${wanted[k]}`;
            expect(Math.abs(value - wanted[k]!) / scale, where).toBeLessThanOrEqual(off);
          });
        });
      });
    }
  return text;
}

/** Calls in the text of a plan, by what begins them behind their results. */
const callsOf = (text: string, what: RegExp): string[] =>
  text.split('\n').filter((line) => what.test(line.slice(line.indexOf(' = ') + 3)));

describe.skipIf(!isTested)('plans of the backend of CUDA', () => {
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
});
