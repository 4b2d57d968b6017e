// Compares functions with the cases that tools/golden/golden_cases.py has written.
import { readFileSync } from 'node:fs';
import { listBackends } from '@eagre/backend';
import { describe, expect, it } from 'vitest';
import * as tf from '../../src/index.ts';
import { expectNear, type GoldenTensor, tensorOf } from './golden.ts';

/** The values of these files stand under another name. */
type Stored = Omit<GoldenTensor, 'values'> & { readonly data: GoldenTensor['values'] };
const read = ({ data, ...rest }: Stored): GoldenTensor => ({ ...rest, values: data });

interface GoldenCase {
  readonly fn: string;
  readonly inputs: readonly Stored[];
  readonly options: Readonly<Record<string, unknown>>;
  readonly outputs?: readonly Stored[];
  readonly weights?: readonly (Stored | null)[];
  readonly gradients?: readonly (Stored | null)[];
  readonly error?: string;
}
type Options = Readonly<Record<string, never>>;
/** A function of a case: its inputs, and its options. */
export type GoldenFunction = (
  inputs: readonly tf.Tensor[],
  options: Options,
) => tf.Tensor | readonly tf.Tensor[];

const near = (got: tf.Tensor, want: Stored, tolerance: number, where: string): void =>
  expectNear(got, read(want), where, { tolerance, ofLargest: true, looseNaN: true });

const listOf = (y: tf.Tensor | readonly tf.Tensor[]): readonly tf.Tensor[] =>
  y instanceof tf.Tensor ? [y] : y;

function lossOf(outputs: readonly tf.Tensor[], weights: readonly (Stored | null)[]): tf.Tensor {
  return outputs
    .flatMap((y, i) => {
      const w = weights[i];
      return w === null
        ? []
        : [
            tf.math
              .real(y.mul(tensorOf(read(w))))
              .sum()
              .cast('float64'),
          ];
    })
    .reduce((a, b) => a.add(b));
}

/** How results are computed: eagerly, in a trace, in a trace that knows no sizes. */
const ways = {
  eagerly: (fn: (...inputs: tf.Tensor[]) => readonly tf.Tensor[], inputs: readonly tf.Tensor[]) =>
    fn(...inputs),
  traced: (fn: (...inputs: tf.Tensor[]) => readonly tf.Tensor[], inputs: readonly tf.Tensor[]) =>
    (tf.function(fn as never) as unknown as typeof fn)(...inputs),
  'of any sizes': (fn: (...inputs: tf.Tensor[]) => readonly tf.Tensor[], inputs: readonly tf.Tensor[]) =>
    (
      tf.function(
        fn as never,
        {
          inputSignature: inputs.map(
            (x) =>
              new tf.TensorSpec(
                x.shape.map(() => null),
                x.dtype,
              ),
          ),
        } as never,
      ) as unknown as typeof fn
    )(...inputs),
};

/**
 * Declares the tests of a golden file: values and gradients on all backends, eagerly, traced, and with sizes that are not known.
 * @param errors how far results may be off, beside the largest number: by whether they have 24 or 53 bits
 */
export function testGolden(
  file: URL,
  functions: Readonly<Record<string, GoldenFunction>>,
  errors: { readonly float32: number; readonly float64: number },
  values: Readonly<Record<string, (value: never) => unknown>> = {},
): void {
  const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { readonly cases: readonly GoldenCase[] };
  const names = [...new Set(cases.map(({ fn }) => fn))];

  it('has all cases', () => {
    expect(Object.keys(functions).sort()).toEqual(names.sort());
  });

  function check(fn: GoldenFunction, c: GoldenCase, way: keyof typeof ways): void {
    const options = Object.fromEntries(
      Object.entries(c.options).map(([key, value]) => [
        key,
        key in values ? values[key](value as never) : value,
      ]),
    ) as Options;
    const where = `${c.fn} ${JSON.stringify(c.inputs.map(({ dtype, shape }) => [dtype, shape]))} ${JSON.stringify(c.options)} ${way}`;
    const inputs = c.inputs.map((x) => tensorOf(read(x)));
    const compute = (...given: tf.Tensor[]): readonly tf.Tensor[] => listOf(fn(given, options));
    if (c.error !== undefined) {
      // A device that works later tells it to whoever reads the result.
      const read = (): unknown => ways[way](compute, inputs).map((y) => y.data());
      expect(read, where).toThrow(tf.errors.EagreError);
      return;
    }
    const outputs = c.outputs as readonly Stored[];
    const precision = [...c.inputs, ...outputs].some(
      ({ dtype }) => dtype === 'float32' || dtype === 'complex64',
    )
      ? errors.float32
      : errors.float64;
    ways[way](compute, inputs).forEach((y, i) => near(y, outputs[i], precision, `${where}, output ${i}`));
    const { weights, gradients } = c;
    if (gradients === undefined || weights === undefined) return;
    const differentiate = (...given: tf.Tensor[]): readonly tf.Tensor[] => {
      const tape = new tf.GradientTape();
      for (const x of given) if (/float|complex/.test(x.dtype)) tape.watch(x);
      const loss = lossOf(compute(...given), weights);
      return tape.gradient(
        loss,
        given.filter((_, i) => gradients[i] !== null) as never,
      ) as unknown as tf.Tensor[];
    };
    const wanted = gradients.filter((g) => g !== null);
    if (wanted.length === 0) return;
    ways[way](differentiate, inputs).forEach((g, i) =>
      near(g, wanted[i], 4 * precision, `${where}, gradient ${i}`),
    );
  }

  describe.each(listBackends().map(({ name }) => name))('on %s', (backend) => {
    for (const name of names) {
      it(name, () => {
        tf.experimental.withBackend(backend, () => {
          for (const way of Object.keys(ways) as (keyof typeof ways)[]) {
            // The reference has no kernels of its own for traces.
            if (backend === 'js' && way !== 'eagerly') continue;
            const all = cases.filter((c) => c.fn === name);
            const some = way === 'of any sizes' ? all.filter((_, i) => i % 2 === 0) : all;
            for (const c of some) check(functions[name], c, way);
          }
        });
      });
    }
  });
}
