// What tools/golden/keras_model_files.py made: files of real Keras, and the classes of its models.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { constant, type Tensor, type TensorLike, type Variable } from '@eagre/core';
import { registerKerasSerializable } from '@eagre/core/internal';
import { layers, Model, Sequential } from '../index.ts';
import type { LayerOptions } from '../layer/layer.ts';

export const folder: string = fileURLToPath(new URL('../../golden/keras-files/', import.meta.url));

/** Values as the list holds them. */
export interface GoldenArray {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data: readonly (number | string)[];
}
export type GoldenValues = GoldenArray | readonly GoldenValues[] | { readonly [name: string]: GoldenValues };
/** A model: what it was given, gave and lost in three more steps of training. */
export interface GoldenCase {
  readonly x: GoldenValues;
  readonly y: GoldenValues | null;
  readonly outputs: GoldenValues;
  readonly losses?: readonly number[];
}
export const golden: {
  readonly cases: Readonly<Record<string, GoldenCase>>;
  readonly paths: Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>;
} = JSON.parse(readFileSync(`${folder}models.json`, 'utf8'));

const isArray = (values: GoldenValues): values is GoldenArray => 'dtype' in values && 'data' in values;
/** Golden values as tensors. */
export function tensorsOf(values: GoldenValues): unknown {
  if (isArray(values)) {
    const { dtype, shape, data } = values;
    const items = dtype.endsWith('64') && dtype.includes('int') ? data.map((v) => BigInt(v)) : data;
    return constant(items as never, (dtype === 'float64' ? 'float32' : dtype) as never, {
      shape: [...shape],
    });
  }
  if (Array.isArray(values)) return values.map(tensorsOf);
  return Object.fromEntries(
    Object.entries(values).map(([name, one]) => [name, tensorsOf(one as GoldenValues)]),
  );
}
/** All numbers, by sorted names. */
export function flat(values: unknown): number[] {
  if (Array.isArray(values)) return values.flatMap(flat);
  const { data, dtype } = values as Partial<GoldenArray> & { readonly data?: unknown };
  if (typeof data === 'function') return Array.from((values as Tensor).data() as Float32Array, Number);
  if (dtype !== undefined) return (data as number[]).map(Number);
  return Object.keys(values as object)
    .sort()
    .flatMap((name) => flat((values as Record<string, unknown>)[name]));
}

/** The losses of steps of training, each by itself. */
export function lossesOf(model: Model, { x, y, losses = [] }: GoldenCase): number[] {
  return losses.map(() => {
    model.resetMetrics();
    return model.trainOnBatch(tensorsOf(x) as never, tensorsOf(y as GoldenValues) as never)['loss'] as number;
  });
}

export class Scale extends layers.Layer {
  readonly by: number;
  w!: Variable;
  calls!: Variable;
  constructor({ by = 2, ...options }: LayerOptions & { readonly by?: number } = {}) {
    super(options);
    this.by = by;
  }
  override build(inputShape: readonly (number | null)[]): void {
    this.w = this.addWeight({ name: 'w', shape: [inputShape.at(-1)], initializer: 'ones' });
    this.calls = this.addWeight({ name: 'calls', shape: [], initializer: 'zeros', trainable: false });
  }
  override call(x: Tensor): Tensor {
    return x.mul(this.w).mul(this.by);
  }
  override getConfig(): Record<string, unknown> {
    return { ...super.getConfig(), by: this.by };
  }
}

export class Blocks extends Model {
  readonly units: number;
  readonly b: layers.Dense;
  readonly a: layers.Dense;
  readonly _p: layers.Dense;
  readonly blocks: readonly unknown[];
  readonly head: Sequential;
  bias!: Variable;
  constructor({ units = 3, ...options }: LayerOptions & { readonly units?: number } = {}) {
    super(options);
    this.units = units;
    this.b = new layers.Dense(units, { activation: 'tanh' });
    this.a = new layers.Dense(units);
    this._p = new layers.Dense(units);
    const inner = [new layers.Dense(units), this.b];
    this.blocks = [new layers.Dense(units), inner, { z: new layers.Dense(units), a: new Scale() }];
    this.head = new Sequential([new layers.Dense(units), new layers.Dense(1)]);
  }
  override build(): void {
    this.bias = this.addWeight({ name: 'bias', shape: [1], initializer: 'zeros' });
  }
  override call(given: Tensor): Tensor {
    let x = this._p(this.a(given).add(this.b(given)));
    const [first, [second], { z, a }] = this.blocks as [
      layers.Dense,
      [layers.Dense],
      Record<string, layers.Dense>,
    ];
    for (const layer of [first, second, z, a]) x = (layer as layers.Dense)(x);
    return this.head(x).add(this.bias);
  }
  override getConfig(): Record<string, unknown> {
    return { ...super.getConfig(), units: this.units };
  }
}
export function squash(x: Tensor): TensorLike {
  return x.div(x.abs().add(1));
}
for (const object of [Scale, Blocks, squash]) registerKerasSerializable(object, { package: 'files' });
