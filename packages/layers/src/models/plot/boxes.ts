// What is drawn of a model: a box for each layer, frames around the layers of models inside, and what leads to what.
import { FailedPreconditionError } from '@eagre/core';
import { showShape } from '@eagre/core/internal';
import { activationName } from '../../layer/activation-names.ts';
import type { Layer, Specs, TensorSpec } from '../../layer/layer.ts';
import { inputLayer } from '../functional.ts';
import type { Model } from '../model.ts';
import { Sequential } from '../sequential.ts';
import { classOf, inputsOf } from '../summary.ts';
import type { Drawn } from './options.ts';

/** A text in which a part stands out: `Output shape: [null, 3]`. */
export interface Cell {
  readonly label: string;
  readonly value: string;
  /** What the colour of the cell tells, if anything. */
  readonly trainable?: boolean;
}
export interface Box {
  readonly kind: 'box';
  readonly id: number;
  readonly title: Cell;
  readonly activation: Cell | undefined;
  readonly cells: readonly Cell[];
}
/** A model whose layers are shown. */
export interface Frame {
  readonly kind: 'frame';
  readonly id: number;
  readonly label: string;
  readonly items: readonly Item[];
}
export type Item = Box | Frame;
export interface Edge {
  /** The ids of boxes. */
  readonly from: number;
  readonly to: number;
}
export interface Drawing {
  readonly items: readonly Item[];
  readonly edges: readonly Edge[];
}

/** The boxes of a model. @throws FailedPreconditionError before it is built */
export function drawingOf(model: Model, options: Drawn): Drawing {
  if (!model.built)
    throw new FailedPreconditionError('the model is not built yet; build it or call it first', model.name);
  const drawing = new Drawer(options);
  return isOpen(model)
    ? { items: drawing.inside(model), edges: drawing.edges }
    : { items: [drawing.box(model, model)], edges: [] };
}

/** Whether the calls between the layers of a model are known. */
function isOpen(layer: Layer): layer is Model {
  return layer instanceof Sequential || ('_graph' in layer && layer._graph !== undefined);
}

/** Where the edges of a layer begin and end: for each output and each input of it a box. */
interface Ends {
  readonly inputs: (at: number) => number;
  readonly outputs: (at: number) => number;
}

class Drawer {
  readonly edges: Edge[] = [];
  readonly #options: Drawn;
  #count = 0;

  constructor(options: Drawn) {
    this.#options = options;
  }

  /** What a model is drawn as from the inside. */
  inside(model: Model): Item[] {
    return this.#model(model).items;
  }

  #model(model: Model): { readonly items: Item[]; readonly ends: Ends } {
    const ends = new Map<Layer, Ends>();
    const items = model.operations.map((layer) => {
      const { item, ends: own } = this.#item(layer, model);
      ends.set(layer, own);
      return item;
    });
    const endsOf = (layer: Layer): Ends => ends.get(layer) as Ends;
    if (model instanceof Sequential) {
      const { layers } = model._sequence;
      const shown = layers.filter((layer) => ends.has(layer));
      shown.slice(1).forEach((layer, i) => {
        this.#connect(endsOf(shown[i]).outputs(0), endsOf(layer).inputs(0));
      });
      const outer = {
        inputs: (at: number) => endsOf(shown[0]).inputs(at),
        outputs: (at: number) => endsOf(shown[shown.length - 1]).outputs(at),
      };
      return { items, ends: outer };
    }
    const { calls, inputs, outputs } = model.described;
    const producer = (t: (typeof inputs)[number]): number => {
      if (t.producer === null || inputs.includes(t)) return endsOf(inputLayer(t)).outputs(0);
      return endsOf(t.producer.layer).outputs(t.producer.outputs.indexOf(t));
    };
    for (const call of calls) {
      const { layer } = call;
      inputsOf(call).forEach((t, i) => {
        // A model that begins inside of another one has no box for its inputs.
        if (t.producer === null || !inputs.includes(t)) this.#connect(producer(t), endsOf(layer).inputs(i));
      });
    }
    const outer = {
      inputs: (at: number) => endsOf(inputLayer(inputs[Math.min(at, inputs.length - 1)])).inputs(0),
      outputs: (at: number) => producer(outputs[Math.min(at, outputs.length - 1)]),
    };
    return { items, ends: outer };
  }

  #item(layer: Layer, inside: Model): { readonly item: Item; readonly ends: Ends } {
    if (this.#options.expandNested && isOpen(layer) && layer.built && layer.layers.length > 0) {
      const id = this.#count++;
      const { items, ends } = this.#model(layer);
      return { item: { kind: 'frame', id, label: layer.name, items }, ends };
    }
    const item = this.box(layer, inside);
    return { item, ends: { inputs: () => item.id, outputs: () => item.id } };
  }

  #connect(from: number, to: number): void {
    if (!this.edges.some((edge) => edge.from === from && edge.to === to)) this.edges.push({ from, to });
  }

  box(layer: Layer, inside: Model): Box {
    const { showShapes, showDtype, showLayerNames, showLayerActivations, showTrainable } = this.#options;
    const name = classOf(layer);
    const cells: Cell[] = [];
    const specs = showShapes || showDtype ? specsOfLayer(layer, inside) : undefined;
    if (showShapes) {
      if (name !== 'InputLayer') cells.push({ label: 'Input shape: ', value: shapes(specs?.inputs) });
      cells.push({ label: 'Output shape: ', value: shapes(specs?.outputs) });
    }
    if (showDtype) {
      const dtypes = specs?.outputs.map((spec) => spec.dtype).join(', ');
      cells.push({ label: 'Output dtype: ', value: dtypes ?? '?' });
    }
    if (showTrainable && layer.weights.length > 0)
      cells.push({
        label: '',
        value: layer.trainable ? 'Trainable' : 'Non-trainable',
        trainable: layer.trainable,
      });
    const activation = showLayerActivations ? activationOf(layer) : undefined;
    return {
      kind: 'box',
      id: this.#count++,
      title: showLayerNames ? { label: ` (${name})`, value: layer.name } : { label: '', value: name },
      activation: activation === undefined ? undefined : { label: 'Activation: ', value: activation },
      cells,
    };
  }
}

function shapes(specs: readonly TensorSpec[] | undefined): string {
  return specs === undefined ? '?' : specs.map((spec) => showShape(spec.shape)).join(', ');
}

function activationOf(layer: Layer): string | undefined {
  const { activation } = layer as { activation?: unknown };
  if (activation === undefined || activation === null) return undefined;
  if (typeof activation === 'string') return activation;
  return activationName(activation) ?? (activation as { name?: string }).name ?? '?';
}

interface LayerSpecs {
  readonly inputs: readonly TensorSpec[];
  readonly outputs: readonly TensorSpec[];
}

/** What a layer takes and gives in a model; undefined where that is not known, or differs from call to call. */
function specsOfLayer(layer: Layer, inside: Model): LayerSpecs | undefined {
  if (inside instanceof Sequential) {
    const { layers, inputs } = inside._sequence;
    let given: Specs | undefined = inputs[0];
    for (const one of layers) {
      if (given === undefined) return undefined;
      const gives: Specs = one.computeOutputSpec(given);
      if (one === layer) return { inputs: given.list, outputs: gives.list };
      given = gives;
    }
    return undefined;
  }
  if (inside._graph === undefined) return undefined;
  const { calls, inputs } = inside._graph;
  const input = inputs.find((t) => inputLayer(t) === layer);
  if (input !== undefined) return { inputs: [input], outputs: [input] };
  const [call, ...others] = calls.filter((one) => one.layer === layer);
  return call === undefined || others.length > 0
    ? undefined
    : { inputs: inputsOf(call), outputs: call.outputs };
}
