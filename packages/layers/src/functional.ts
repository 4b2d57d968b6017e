import { type DType, InvalidArgumentError, type PartialShape, type Tensor } from '@eagre/core';
import { showShape } from '@eagre/core/internal';
import { KerasTensor } from './keras-tensor.ts';
import type { CallOptions, Layer } from './layer.ts';
import { uniqueName } from './naming.ts';

export interface InputOptions {
  /** Without the batch dimension; `null` is unknown. */
  readonly shape: PartialShape;
  /** A fixed batch size. */
  readonly batchSize?: number;
  readonly dtype?: DType;
  readonly name?: string;
}

/** The symbolic input of a functional model: pass it through layers, then `new tf.Model({ inputs, outputs })`. */
export function Input(options: InputOptions): KerasTensor {
  const { shape, batchSize = null, dtype = 'float32', name = uniqueName('Input') } = options;
  return new KerasTensor([batchSize, ...shape], dtype, name, null);
}

/** The calls between the inputs and the outputs of a functional model, in an order in which they can run. */
export class FunctionalGraph {
  readonly inputs: readonly KerasTensor[];
  readonly outputs: readonly KerasTensor[];
  /** Every layer once, in the order of the calls. */
  readonly layers: readonly Layer[];
  readonly #calls: readonly KerasTensor[];

  constructor(inputs: readonly KerasTensor[], outputs: readonly KerasTensor[]) {
    this.inputs = inputs;
    this.outputs = outputs;
    const known = new Set<KerasTensor>(inputs);
    const calls: KerasTensor[] = [];
    const visit = (t: KerasTensor): void => {
      if (known.has(t)) return;
      known.add(t);
      if (t.producer === null) {
        throw new InvalidArgumentError(
          `the outputs depend on the input '${t.name}', which is not among the model's inputs`,
          'Model',
        );
      }
      t.producer.inputs.forEach(visit);
      calls.push(t);
    };
    outputs.forEach(visit);
    this.#calls = calls;
    this.layers = [...new Set(calls.map((t) => (t.producer as NonNullable<KerasTensor['producer']>).layer))];
  }

  /** The shape of a layer's first output in this model. */
  shapeOf(layer: Layer): PartialShape | undefined {
    return this.#calls.find((t) => t.producer?.layer === layer)?.shape;
  }

  /** Computes the outputs. Intermediate results are the memory scope's to give back. */
  run(values: readonly Tensor[], options: CallOptions): Tensor[] {
    if (values.length !== this.inputs.length) {
      throw new InvalidArgumentError(`${values.length} inputs for a model of ${this.inputs.length}`, 'Model');
    }
    const results = new Map<KerasTensor, Tensor>();
    this.inputs.forEach((input, i) => {
      const value = values[i] as Tensor;
      const fits =
        value.rank === input.shape.length && input.shape.every((d, k) => d === null || d === value.shape[k]);
      if (!fits) {
        throw new InvalidArgumentError(
          `input '${input.name}' is ${showShape(value.shape)}, expected ${showShape(input.shape)}`,
          'Model',
        );
      }
      results.set(input, value);
    });
    for (const call of this.#calls) {
      const { layer, inputs, many, options: own } = call.producer as NonNullable<KerasTensor['producer']>;
      const args = inputs.map((t) => results.get(t) as Tensor);
      results.set(call, layer.invoke(many ? args : args[0], { ...own, ...options }));
    }
    return this.outputs.map((t) => results.get(t) as Tensor);
  }
}
