// A model in Keras's JSON, as far as TensorBoard draws it: layers, their names, and what goes into what.
import type { KerasTensor, Producer } from '../keras-tensor.ts';
import type { Layer } from '../layer.ts';
import { Model } from '../model.ts';
import { Sequential } from '../sequential.ts';

interface Outline {
  readonly class_name: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly name?: string;
  readonly inbound_nodes?: readonly unknown[];
}

/** Of a sequential or functional model; null for others, whose layers are not known to be in any order. */
export function kerasOutline(model: Model): Outline | null {
  if (model instanceof Sequential) {
    const layers = model.layers.map((layer) => layerOutline(layer));
    return { class_name: 'Sequential', config: { name: model.name, layers } };
  }
  if (model._graph === undefined) return null;
  const { inputs, outputs } = model._graph;
  const given = new Set(inputs);
  const calls = new Map<Layer, Producer[]>();
  const visited = new Set<KerasTensor>();
  // A list and not recursion: long chains of layers are no reason to fail.
  const left = [...outputs];
  for (let t = left.pop(); t !== undefined; t = left.pop()) {
    if (visited.has(t) || given.has(t) || t.producer === null) continue;
    visited.add(t);
    const known = calls.get(t.producer.layer);
    if (known === undefined) calls.set(t.producer.layer, [t.producer]);
    else if (!known.includes(t.producer)) known.push(t.producer);
    left.push(...t.producer.inputs);
  }
  const history = (t: KerasTensor): [string, number, number] => {
    const { producer } = t;
    return producer === null
      ? [t.name, 0, 0]
      : [producer.layer.name, calls.get(producer.layer)?.indexOf(producer) ?? 0, producer.outputs.indexOf(t)];
  };
  const node = ({ inputs: from }: Producer): unknown => ({
    args: [from.map((t) => ({ class_name: '__keras_tensor__', config: { keras_history: history(t) } }))],
    kwargs: {},
  });
  const layers = [
    ...inputs.map((t) => ({
      class_name: 'InputLayer',
      name: t.name,
      config: { name: t.name, dtype: t.dtype, batch_shape: t.shape },
      inbound_nodes: [],
    })),
    ...model._graph.layers.map((layer) => ({
      ...layerOutline(layer),
      name: layer.name,
      inbound_nodes: (calls.get(layer) ?? []).map(node),
    })),
  ];
  const ends = (list: readonly KerasTensor[]): unknown[] => list.map((t) => history(t));
  return {
    class_name: 'Functional',
    config: {
      name: model.name,
      layers,
      input_layers: ends(inputs),
      output_layers: ends(outputs),
    },
  };
}

function layerOutline(layer: Layer): Outline {
  const inner = layer instanceof Model ? kerasOutline(layer) : null;
  return inner ?? { class_name: layer.constructor.name, config: { name: layer.name, dtype: layer.dtype } };
}
