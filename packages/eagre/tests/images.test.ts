// Images against TensorFlow's and Keras's: values, dtypes, gradients, eagerly and traced with sizes that are not known.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as tf from '../src/index.ts';

interface Case {
  readonly fn: string;
  readonly image: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly values: readonly number[];
  readonly gradient?: readonly number[];
}
interface Image {
  readonly dtype: tf.DType;
  readonly shape: readonly number[];
  readonly values: number[];
}
const golden = JSON.parse(readFileSync(new URL('../golden/images.json', import.meta.url), 'utf8')) as {
  readonly images: Readonly<Record<string, Image>>;
  readonly cases: readonly Case[];
};
type ImageFunction = (x: tf.Tensor, args: object) => tf.Tensor;
const functions = tf.image as unknown as Readonly<Record<string, ImageFunction>>;

/** How far values may be apart. */
const tolerance = ({ fn }: Case): number => (fn === 'perspectiveTransform' ? 1e-4 : 2e-5);

function near(got: tf.Tensor, { dtype, shape }: Case, wanted: readonly number[], within: number): void {
  expect([got.dtype, [...got.shape]]).toEqual([dtype, shape]);
  const values = Array.from(got.cast('float64').data() as Float64Array);
  const scale = dtype.startsWith('float') ? Math.max(1, ...wanted.map(Math.abs)) : 1;
  const apart = values.map((v, i) => Math.abs(v - wanted[i]));
  expect(Math.max(0, ...apart) / scale).toBeLessThanOrEqual(within);
}
const weighted = (y: tf.Tensor): tf.Tensor =>
  y.mul(tf.range(y.size).cast('float32').cos().reshape(y.shape)).sum();

describe.each(
  golden.cases.map((c, i) => [`${i} ${c.fn} of ${c.image} ${JSON.stringify(c.args)}`, c] as const),
)('%s', (_, c) => {
  const { dtype, shape, values } = golden.images[c.image];
  const image = tf.constant(values, { shape: [...shape], dtype });
  const call = (x: tf.Tensor): tf.Tensor => functions[c.fn](x, c.args);
  const within = tolerance(c);

  it('has the same values and gradients', () => {
    near(call(image), c, c.values, within);
    if (c.gradient === undefined) return;
    const slope = tf.autodiff.grad((x: tf.Tensor) => weighted(call(x)))(image);
    near(slope, { ...c, dtype: 'float32', shape: [...shape] }, c.gradient, 4 * within);
  });
  // Of what is linear in the images, a gradient tells how each image changes the result.
  it.runIf(/Transform$/.test(c.fn) && dtype === 'float32')('has the gradient of a linear function', () => {
    const slope = tf.autodiff.grad((x: tf.Tensor) => weighted(call(x)))(image);
    const other = image.square().add(0.25);
    const change = weighted(call(other))
      .sub(weighted(call(image)))
      .item();
    expect(slope.mul(other.sub(image)).sum().item()).toBeCloseTo(change, 4);
  });
  it('has them traced, for any size', () => {
    const unknown = new tf.TensorSpec(
      shape.map((d, i) => (i === shape.length - 1 ? d : null)),
      dtype,
    );
    const traced = tf.function({ inputSignature: [unknown] })(call);
    near(traced(image), c, c.values, within);
  });
});

it.each(['bilinear', 'nearest', 'bicubic', 'area', 'gaussian'] as const)(
  'images without pixels have no other size: %s',
  (method) => {
    for (const shape of [
      [1, 0, 4, 1],
      [4, 0, 1],
    ])
      expect(() => tf.image.resize(tf.ones(shape), [2, 2], { method })).toThrow(/images without pixels/);
    expect(tf.image.resize(tf.ones([0, 4, 4, 1]), [2, 2], { method }).shape).toEqual([0, 2, 2, 1]);
  },
);
