// Functional models as configurations that a file can hold, and back.
import { constant, type DType, InvalidArgumentError, type PartialShape, Tensor, Variable } from '@eagre/core';
import { isPlain } from '@eagre/core/internal';
import { mapSymbolic, symbolicIn } from './call.ts';
import { type FunctionalGraph, Input } from './functional.ts';
import type { KerasTensor } from './keras-tensor.ts';
import type { CallOptions, Layer, Symbolic } from './layer.ts';
import { deserializeLayer, type SerializedLayer, serializeLayer } from './serialization.ts';

/** What a functional model is made of. Symbolic tensors are `{ keras_tensor: [call, output] }`, -1 for the model's inputs. */
export interface GraphConfig {
  readonly inputs: readonly {
    readonly name: string;
    readonly shape: PartialShape;
    readonly dtype: DType;
  }[];
  readonly layers: readonly SerializedLayer[];
  /** In an order in which they can run. */
  readonly calls: readonly { readonly layer: string; readonly args: readonly unknown[] }[];
  /** As they were given: one, several, or by name. */
  readonly structure: { readonly inputs: unknown; readonly outputs: unknown };
}

const INPUTS = -1;

/** @throws InvalidArgumentError for a call with what no file holds */
export function graphConfig(graph: FunctionalGraph): GraphConfig {
  const places = new Map<KerasTensor, readonly [call: number, output: number]>();
  graph.inputs.forEach((t, i) => places.set(t, [INPUTS, i]));
  graph.calls.forEach(({ outputs }, call) => outputs.forEach((t, i) => places.set(t, [call, i])));
  const placed = (value: unknown): unknown => mapSymbolic(value, (t) => ({ keras_tensor: places.get(t) }));
  return {
    inputs: graph.inputs.map(({ name, shape, dtype }) => ({ name, shape, dtype })),
    layers: graph.layers.map(serializeLayer),
    calls: graph.calls.map(({ layer, args }) => ({
      layer: layer.name,
      args: args.map((arg) => plainValue(placed(arg), layer)),
    })),
    structure: { inputs: placed(graph.given.inputs), outputs: placed(graph.given.outputs) },
  };
}

/** The inputs and outputs of a model that is equal to the one of which the configuration is. */
export function graphFromConfig(config: GraphConfig): {
  readonly inputs: Symbolic;
  readonly outputs: Symbolic;
} {
  const layers = new Map<string, Layer>();
  for (const one of config.layers) {
    const layer = deserializeLayer(one);
    layers.set(layer.name, layer);
  }
  const inputs = config.inputs.map(({ name, shape: [batchSize = null, ...shape], dtype }) =>
    Input({ name, shape, batchSize, dtype }),
  );
  const results: (readonly KerasTensor[])[] = [];
  const found = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(found);
    if (!isPlain(value)) return value;
    const place = value['keras_tensor'] as readonly [call: number, output: number] | undefined;
    if (place !== undefined) return (place[0] === INPUTS ? inputs : results[place[0]])?.[place[1]];
    if ('tensor' in value) return tensorOf(value['tensor'] as TensorConfig);
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, found(item)]));
  };
  for (const { layer, args } of config.calls) {
    const [first, ...rest] = args.map(found);
    const called = layers.get(layer);
    if (called === undefined)
      throw new InvalidArgumentError(
        `a call of the layer '${layer}', which is not among the layers`,
        'Model',
      );
    const more = rest.slice(0, -1);
    results.push(symbolicIn(called.symbolic(first, more, rest.at(-1) as CallOptions)));
  }
  const { structure } = config;
  return { inputs: found(structure.inputs) as Symbolic, outputs: found(structure.outputs) as Symbolic };
}

interface TensorConfig {
  readonly dtype: DType;
  readonly shape: readonly number[];
  /** Flat; integers of 64 bits as text. */
  readonly values: readonly (number | boolean | string)[];
}

function tensorOf({ dtype, shape, values }: TensorConfig): Tensor {
  return constant(dtype === 'int64' ? values.map((v) => BigInt(v)) : values, dtype, { shape });
}

/** A value beside the tensors of a call as JSON holds it. */
function plainValue(value: unknown, layer: Layer): unknown {
  if (value instanceof Tensor) {
    const flat = value.dtype === 'string' ? value.strings() : Array.from<number | bigint>(value.data());
    const values = flat.map((v) => (typeof v === 'bigint' ? `${v}` : v));
    return { tensor: { dtype: value.dtype, shape: value.shape, values } };
  }
  if (value instanceof Variable || typeof value === 'function' || typeof value === 'bigint') {
    const what = value instanceof Variable ? 'a variable' : `a ${typeof value}`;
    throw new InvalidArgumentError(
      `was called with ${what}, which no configuration holds: make a layer of it, with its own weights and getConfig`,
      layer.name,
    );
  }
  if (Array.isArray(value)) return value.map((item) => plainValue(item, layer));
  if (isPlain(value))
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainValue(item, layer)]));
  return value;
}
