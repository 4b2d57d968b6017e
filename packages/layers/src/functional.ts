import { type DType, InvalidArgumentError, type PartialShape, type Tensor } from '@eagre/core';
import {
  argumentsOf,
  checkCount,
  checkDTypeName,
  checkText,
  showShape,
  takesArguments,
} from '@eagre/core/internal';
import { KerasTensor, type Producer } from './keras-tensor.ts';
import type { CallOptions, Layer, Specs, TensorSpec } from './layer.ts';
import { checkUniqueNames, uniqueName } from './naming.ts';
import { checkPartialShape } from './specs.ts';

export interface InputOptions {
  /** Without the batch dimension; `null` is unknown. */
  readonly shape: PartialShape;
  /** A fixed batch size. */
  readonly batchSize?: number | null;
  readonly dtype?: DType | null;
  readonly name?: string | null;
}

/** The symbolic input of a functional model: pass it through layers, then `new tf.Model({ inputs, outputs })`. */
export function Input(shape: PartialShape, options?: Omit<InputOptions, 'shape'>): KerasTensor;
export function Input(options: InputOptions): KerasTensor;
export function Input(...args: readonly unknown[]): KerasTensor {
  const options = argumentsOf<InputOptions>(Input, Input, args);
  const { batchSize, dtype, name } = options;
  if (batchSize !== undefined && batchSize !== null) checkCount(batchSize, 'batchSize', 'Input');
  if (dtype !== undefined && dtype !== null) checkDTypeName(dtype, 'Input');
  if (name !== undefined && name !== null) checkText(name, 'name', 'Input');
  const shape = checkPartialShape(options.shape, 'shape', 'Input');
  return new KerasTensor(
    [batchSize ?? null, ...shape],
    dtype ?? 'float32',
    name ?? uniqueName('Input'),
    null,
  );
}
takesArguments<InputOptions>(
  {
    positional: ['shape'],
    names: { shape: true, batchSize: true, dtype: true, name: true },
    isFunction: true,
  },
  Input,
);

/** The calls between the inputs and the outputs of a functional model, in an order in which they can run. */
export class FunctionalGraph {
  readonly inputs: readonly KerasTensor[];
  readonly outputs: readonly KerasTensor[];
  /** Whether the model gives its outputs as an array. */
  readonly many: boolean;
  /** Every layer once, in the order of the calls. */
  readonly layers: readonly Layer[];
  readonly #calls: readonly Producer[];

  constructor(inputs: readonly KerasTensor[], outputs: readonly KerasTensor[], many: boolean) {
    for (const t of [...inputs, ...outputs]) {
      if (!(t instanceof KerasTensor)) {
        throw new InvalidArgumentError(
          'inputs and outputs are symbolic tensors: what tf.Input returned, and what layers made of it',
          'Model',
        );
      }
    }
    if (new Set(inputs).size < inputs.length) {
      throw new InvalidArgumentError('an input is listed twice', 'Model');
    }
    this.inputs = inputs;
    this.outputs = outputs;
    this.many = many;
    this.#calls = callsBetween(inputs, outputs);
    this.layers = [...new Set(this.#calls.map((call) => call.layer))];
    checkUniqueNames(this.layers, 'Model');
  }

  /** The shape of a layer's first output in this model. */
  shapeOf(layer: Layer): PartialShape | undefined {
    return this.#calls.find((call) => call.layer === layer)?.outputs[0]?.shape;
  }

  /** Shapes and dtypes of the outputs for those of the inputs. */
  specs(inputs: readonly TensorSpec[]): Specs {
    this.#checkCount(inputs.length);
    const known = new Map<KerasTensor, TensorSpec>();
    this.inputs.forEach((input, i) => {
      const { shape } = inputs[i] as TensorSpec;
      const adjusted = adjustedShape(shape, input.shape);
      if (adjusted === undefined) unfit(input, shape);
      known.set(input, { shape: adjusted, dtype: input.dtype });
    });
    for (const { layer, inputs: args, many, outputs } of this.#calls) {
      const { list } = layer.computeOutputSpec({ list: args.map((t) => known.get(t) as TensorSpec), many });
      outputs.forEach((t, i) => known.set(t, list[i] as TensorSpec));
    }
    return { list: this.outputs.map((t) => known.get(t) as TensorSpec), many: this.many };
  }

  /** Computes the outputs. Intermediate results are the memory scope's to give back. */
  run(values: readonly Tensor[], options: CallOptions): Tensor[] {
    this.#checkCount(values.length);
    const results = new Map<KerasTensor, Tensor>();
    this.inputs.forEach((input, i) => results.set(input, fitted(input, values[i] as Tensor)));
    const { training } = options;
    for (const { layer, inputs, many, options: own, outputs } of this.#calls) {
      const args = inputs.map((t) => results.get(t) as Tensor);
      // What the layer was called with when the model was described holds, `training: false` too.
      const y: Tensor | readonly Tensor[] = layer.invoke(many ? args : args[0], { training, ...own });
      const list = (Array.isArray(y) ? y : [y]) as readonly Tensor[];
      outputs.forEach((t, i) => results.set(t, list[i] as Tensor));
    }
    return this.outputs.map((t) => results.get(t) as Tensor);
  }

  #checkCount(n: number): void {
    if (n === this.inputs.length) return;
    throw new InvalidArgumentError(
      `${n} inputs for a model of ${this.inputs.length} (${this.inputs.map((t) => t.name).join(', ')})`,
      'Model',
    );
  }
}

/** The calls that the outputs need, each after those that it needs. */
function callsBetween(inputs: readonly KerasTensor[], outputs: readonly KerasTensor[]): Producer[] {
  const given = new Set<KerasTensor>(inputs);
  const calls = new Set<Producer>();
  const visit = (t: KerasTensor): void => {
    if (given.has(t)) return;
    if (t.producer === null) {
      throw new InvalidArgumentError(
        `the outputs depend on the input '${t.name}', which is not among the model's inputs`,
        'Model',
      );
    }
    if (calls.has(t.producer)) return;
    t.producer.inputs.forEach(visit);
    calls.add(t.producer);
  };
  outputs.forEach(visit);
  return [...calls];
}

/** A shape as the input wants it: a last axis of 1 may be missing or superfluous, as in Keras. Undefined if it does not fit. */
function adjustedShape(shape: PartialShape, wanted: PartialShape): PartialShape | undefined {
  let own = shape;
  if (own.length === wanted.length + 1 && own.at(-1) === 1) own = own.slice(0, -1);
  else if (own.length === wanted.length - 1 && wanted.at(-1) === 1) own = [...own, 1];
  const fits =
    own.length === wanted.length && wanted.every((d, i) => d === null || own[i] === null || d === own[i]);
  return fits ? own : undefined;
}

/** A value in the shape and dtype of an input. @throws InvalidArgumentError when it cannot be. */
function fitted(input: KerasTensor, value: Tensor): Tensor {
  const shape = adjustedShape(value.shape, input.shape) as readonly number[] | undefined;
  if (shape === undefined) unfit(input, value.shape);
  const x = shape.length === value.rank ? value : value.reshape(shape);
  if (x.dtype === input.dtype) return x;
  if (x.dtype === 'string' || input.dtype === 'string') {
    throw new InvalidArgumentError(`input '${input.name}' is ${x.dtype}, expected ${input.dtype}`, 'Model');
  }
  return x.cast(input.dtype);
}

function unfit(input: KerasTensor, shape: PartialShape): never {
  throw new InvalidArgumentError(
    `input '${input.name}' is ${showShape(shape)}, expected ${showShape(input.shape)}`,
    'Model',
  );
}
