// A model in Keras's JSON as a graph: TensorBoard's "conceptual graph". Keras 3 writes nothing else.
import { FormatError } from '@eagre/formats';
import type { GraphNode } from '../api.ts';

// Keras nests a handful of models.
const MOST_NESTED = 64;

type Json = Readonly<Record<string, unknown>>;

/**
 * The layers of a sequential or functional model, also with others inside, as nodes; names of models are scopes.
 * @throws FormatError for what is no model.
 */
export function kerasNodes(json: string): GraphNode[] {
  const nodes: GraphNode[] = [];
  place(parsed(json), '', [], nodes, 0);
  return nodes;
}

function parsed(json: string): Json {
  try {
    const value: unknown = JSON.parse(json);
    if (isObject(value) && isObject(value.config)) return value;
  } catch {
    // Said below.
  }
  throw wrong('a model with a config');
}

const wrong = (expected: string): FormatError =>
  new FormatError({ format: 'Keras model', what: 'JSON', expected });

/** Adds a layer, or those of a model. @returns the names of the nodes that its outputs come from. */
function place(
  layer: Json,
  scope: string,
  inputs: readonly string[],
  nodes: GraphNode[],
  depth: number,
): readonly string[] {
  if (depth > MOST_NESTED) throw wrong(`at most ${MOST_NESTED} models inside of each other`);
  const config = isObject(layer.config) ? layer.config : {};
  const id = scope + nameOf(layer);
  const layers = Array.isArray(config.layers) ? config.layers.filter(isObject) : undefined;
  if (layers === undefined) {
    const op = typeof layer.class_name === 'string' ? layer.class_name : 'Layer';
    nodes.push({ name: id, op, inputs: [...new Set(inputs)], device: '', attributes: attributesOf(config) });
    return [id];
  }
  if (config.input_layers === undefined) {
    let last = inputs;
    for (const inner of layers) last = place(inner, `${id}/`, last, nodes, depth + 1);
    return last;
  }
  const given = sources(config.input_layers);
  const outputs = new Map<string, readonly string[]>();
  const from = ([name, tensor]: Source): string => {
    const list = outputs.get(name) ?? [];
    return list[tensor] ?? list[0] ?? `${id}/${name}`;
  };
  for (const inner of layers) {
    const name = nameOf(inner);
    const at = given.findIndex(([start]) => start === name);
    const outside = inputs[at] ?? [];
    const into = at < 0 ? sources(inner.inbound_nodes).map(from) : [outside].flat();
    outputs.set(name, place(inner, `${id}/`, into, nodes, depth + 1));
  }
  return sources(config.output_layers).map(from);
}

function nameOf(layer: Json): string {
  const { name } = isObject(layer.config) ? layer.config : layer;
  return String(name ?? layer.name ?? layer.class_name ?? 'layer');
}

/** The layer that a tensor comes from, and which of its outputs it is. */
type Source = readonly [layer: string, tensor: number];

/** The tensors named in a piece of JSON: `keras_history` of Keras 3, `["dense", 0, 0, {}]` of those before. */
function sources(value: unknown, depth = 0): readonly Source[] {
  if (depth > MOST_NESTED) throw wrong('less nested calls');
  if (Array.isArray(value)) {
    const [name, node, tensor] = value as readonly unknown[];
    if (typeof name === 'string' && typeof node === 'number' && typeof tensor === 'number')
      return [[name, tensor]];
    return value.flatMap((each) => sources(each, depth + 1));
  }
  return isObject(value) ? Object.values(value).flatMap((each) => sources(each, depth + 1)) : [];
}

/** What is said in few words: numbers, texts, sizes, the dtype. */
function attributesOf(config: Json): Record<string, string> {
  const attributes: Record<string, string> = {};
  for (const [key, value] of Object.entries(config)) {
    if (key === 'name') continue;
    if (key === 'dtype' && isObject(value)) {
      const { name } = isObject(value.config) ? value.config : {};
      if (typeof name === 'string') attributes.dtype = name;
    } else if (Array.isArray(value) ? value.every(isPlain) : value !== null && isPlain(value))
      attributes[key] = (
        Array.isArray(value) ? `[${value.map((v) => v ?? '?').join(', ')}]` : String(value)
      ).slice(0, 200);
  }
  return attributes;
}

const isPlain = (value: unknown): boolean =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value);
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
