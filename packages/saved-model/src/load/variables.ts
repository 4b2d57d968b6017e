// The values of a model's variables, from the checkpoint in its folder.
import { type DType, InvalidArgumentError, NotFoundError, type Tensor, Variable, zeros } from '@eagre/core';
import { isCompatible } from '@eagre/core/internal';
import { BundleReader, tensorflow } from '@eagre/formats';
import { tensorOfValue } from '../import/constants.ts';
import { dtypeOf, partialShapeOf } from '../import/op-call.ts';
import { inside, OP, translatedError } from './files.ts';

/** The checkpoint of a model, whose parts are found by the names between objects. */
export class SavedValues {
  readonly #reader: BundleReader;
  readonly #graph: tensorflow.TrackableObjectGraph | null;

  private constructor(reader: BundleReader, graph: tensorflow.TrackableObjectGraph | null) {
    this.#reader = reader;
    this.#graph = graph;
  }

  /** Opens the checkpoint; null where the model has none. */
  static async open(folder: string): Promise<SavedValues | null> {
    const prefix = inside(folder, 'variables', 'variables');
    try {
      const reader = await BundleReader.open(prefix);
      if (!reader.has(tensorflow.OBJECT_GRAPH_KEY)) return new SavedValues(reader, null);
      const { data } = await reader.readAsync(tensorflow.OBJECT_GRAPH_KEY);
      const [bytes] = data;
      const graph =
        bytes instanceof Uint8Array
          ? tensorflow.TrackableObjectGraph.decode(bytes, { file: `${prefix}.index` })
          : null;
      return new SavedValues(reader, graph);
    } catch (cause) {
      const error = translatedError(cause, prefix);
      if (error instanceof NotFoundError) return null;
      throw error;
    }
  }

  has(key: string): boolean {
    return this.#reader.has(key);
  }

  /** The tensor under a key. */
  async read(key: string): Promise<Tensor> {
    try {
      return tensorOfValue(await this.#reader.readAsync(key));
    } catch (cause) {
      throw translatedError(cause, this.#reader.prefix);
    }
  }
  /** The same, at once. */
  readSync(key: string): Tensor {
    try {
      return tensorOfValue(this.#reader.read(key));
    } catch (cause) {
      throw translatedError(cause, this.#reader.prefix);
    }
  }

  /** The checkpoint's nodes for objects of a model, by the objects' numbers: those that the same names lead to. */
  nodesOf(saved: readonly tensorflow.SavedObject[]): Map<number, tensorflow.TrackableObject> {
    const nodes = this.#graph?.nodes ?? [];
    const found = new Map<number, number>();
    const [root] = nodes;
    if (root === undefined || saved.length === 0) return new Map();
    found.set(0, 0);
    const waiting = [0];
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      const object = saved[id];
      const node = nodes[found.get(id) as number];
      if (object === undefined || node === undefined) continue;
      const pair = (own: number, other: number): void => {
        if (found.has(own) || saved[own] === undefined || nodes[other] === undefined) return;
        found.set(own, other);
        waiting.push(own);
      };
      const others = new Map((node.children ?? []).map((c) => [c.local_name ?? '', c.node_id ?? 0]));
      for (const { local_name: name = '', node_id: child = 0 } of object.children ?? []) {
        const other = others.get(name);
        if (other !== undefined) pair(child, other);
      }
      for (const slot of object.slot_variables ?? []) {
        const original = found.get(slot.original_variable_node_id ?? 0);
        const other = (node.slot_variables ?? []).find(
          (s) => s.slot_name === slot.slot_name && (s.original_variable_node_id ?? 0) === original,
        );
        if (other !== undefined) pair(slot.slot_variable_node_id ?? 0, other.slot_variable_node_id ?? 0);
      }
    }
    return new Map([...found].map(([id, node]) => [id, nodes[node] as tensorflow.TrackableObject]));
  }
}

/** The key of a value of a node. */
export function keyIn(node: tensorflow.TrackableObject | undefined, attribute: string): string | undefined {
  return node?.attributes?.find(({ name }) => name === attribute)?.checkpoint_key;
}

// More than a file says without having it.
const MOST_ELEMENTS = 2 ** 28;

/** A variable with the value that the checkpoint has for it. */
export async function restoredVariable(
  saved: tensorflow.SavedVariable,
  node: tensorflow.TrackableObject | undefined,
  values: SavedValues | null,
  partial: boolean,
): Promise<Variable> {
  const name = saved.name || 'Variable';
  const dtype = dtypeOf(saved.dtype ?? 0, name);
  const shape = partialShapeOf(saved.shape);
  const named = values?.has(name) ? name : undefined;
  const key = keyIn(node, 'VARIABLE_VALUE') ?? named;
  let initial: Tensor;
  if (key !== undefined && values?.has(key)) initial = await values.read(key);
  else if (partial) initial = zerosFor(name, shape, dtype);
  else
    throw new NotFoundError(
      `the model has no value for the variable '${name}': load it with { allowPartialCheckpoint: true } to have zeros there`,
      OP,
    );
  if (initial.dtype !== dtype || !isCompatible(initial.shape, shape))
    throw new InvalidArgumentError(
      `the variable '${name}' is ${dtype} [${shape?.map((d) => d ?? '?') ?? 'any'}], but its value is ${initial.dtype} [${initial.shape}]`,
      OP,
    );
  return new Variable(initial, { name, dtype, trainable: saved.trainable ?? false });
}

/** @throws InvalidArgumentError for sizes that are not known, or make no sense. */
function zerosFor(name: string, shape: readonly (number | null)[] | null, dtype: DType): Tensor {
  if (shape === null || shape.includes(null))
    throw new InvalidArgumentError(`the variable '${name}' has neither a value nor a shape`, OP);
  const sizes = shape as readonly number[];
  if (sizes.reduce((n, d) => n * d, 1) > MOST_ELEMENTS)
    throw new InvalidArgumentError(
      `the variable '${name}' of shape [${sizes}] has no value, and is too large to be made`,
      OP,
    );
  return zeros([...sizes], dtype);
}
