import { FailedPreconditionError, InvalidArgumentError, type PartialShape, type Tensor } from '@eagre/core';
import { isKept } from '@eagre/core/internal';
import { KerasTensor } from './keras-tensor.ts';
import { builtin, type CallOptions, Layer, type LayerInput } from './layer.ts';
import { Model, type ModelOptions } from './model.ts';

/**
 * Layers one after another: `new Sequential([new Dense(64), new Dense(10)])`, or `add` them. With an `inputShape` on the
 * first layer (or a `tf.Input` before it) the weights exist at once, otherwise from the first call on.
 */
export class Sequential extends Model {
  /** @internal */
  declare readonly _sequence: { layers: Layer[]; inputShape: PartialShape | undefined };

  constructor(layers: readonly (Layer | KerasTensor)[] = [], options: ModelOptions = {}) {
    super(options);
    Object.defineProperty(this, '_sequence', { value: { layers: [], inputShape: undefined } });
    for (const layer of layers) this.add(layer);
  }

  /** Appends a layer. @throws InvalidArgumentError for something else, FailedPreconditionError for the same layer again. */
  add(layer: Layer | KerasTensor): void {
    const sequence = this._sequence;
    if (layer instanceof KerasTensor) {
      if (sequence.layers.length > 0) throw new InvalidArgumentError('an Input comes first', 'Sequential');
      sequence.inputShape = layer.shape;
      return;
    }
    if (!(layer instanceof Layer)) {
      throw new InvalidArgumentError(`a Sequential model holds layers, got ${String(layer)}`, 'Sequential');
    }
    if (sequence.layers.includes(layer)) {
      throw new FailedPreconditionError(
        `the layer '${layer.name}' is in the model already; use a functional model to share it`,
        'Sequential',
      );
    }
    if (sequence.layers.length === 0 && layer._inputShape !== undefined)
      sequence.inputShape ??= [null, ...layer._inputShape];
    sequence.layers.push(layer);
    if (sequence.inputShape !== undefined && !layer.built) {
      const shape = this.#outputShape(sequence.inputShape, sequence.layers.slice(0, -1));
      layer.ensureBuilt(shape);
      this._layer.built = true;
    }
  }

  /** Removes the last layer and returns it. */
  pop(): Layer {
    const last = this._sequence.layers.pop();
    if (last === undefined) throw new FailedPreconditionError('there is no layer to remove', 'Sequential');
    return last;
  }

  /** Built layer by layer, since each one's input is the output of the one before. */
  override build(inputShape: PartialShape): void {
    this._sequence.inputShape ??= [null, ...inputShape.slice(1)];
    let shape: PartialShape = inputShape;
    for (const layer of this._sequence.layers) {
      layer.ensureBuilt(shape);
      shape = layer.computeOutputShape(shape);
    }
    this._layer.built = true;
  }

  override call(inputs: LayerInput, options: CallOptions): Tensor {
    let x = inputs as Tensor;
    for (const layer of this._sequence.layers) {
      const y = layer.invoke(x, options);
      // What lies between two layers of ours nobody else has seen (a user's layer keeps what it gets and gives), and a tape that
      // needs it holds it.
      if (x !== inputs && x !== y && !isKept(x)) x.dispose();
      x = y;
    }
    return x;
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return this.#outputShape(inputShape, this._sequence.layers);
  }

  /** @internal */
  override get knownInputShape(): PartialShape | undefined {
    return this._sequence.inputShape;
  }

  override directLayers(): Layer[] {
    return [...this._sequence.layers];
  }

  #outputShape(inputShape: PartialShape, layers: readonly Layer[]): PartialShape {
    return layers.reduce<PartialShape>((shape, layer) => layer.computeOutputShape(shape), inputShape);
  }
}
builtin(Sequential);
