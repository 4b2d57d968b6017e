// The values of a model's variables, from the checkpoint in its folder.
import { dtypeTraits, nextTurn } from '@eagre/backend';
import {
  type DType,
  InvalidArgumentError,
  NotFoundError,
  type Shape,
  type Tensor,
  Variable,
  zeros,
} from '@eagre/core';
import {
  adopt,
  eagerBackend,
  inInitScope,
  isCompatible,
  UnfilledValues,
  type VariableSpec,
} from '@eagre/core/internal';
import { type BundleEntry, BundleReader, type BundleReading, tensorflow } from '@eagre/formats';
import { tensorOfValue } from '../import/constants.ts';
import { dtypeOf, partialShapeOf } from '../import/op-call.ts';
import { inside, OP, translatedError } from './files.ts';

// More is read when it is known who needs it.
const MOST_EARLY = 2 ** 29;

/** The checkpoint of a model, whose parts are found by the names between objects. */
export class SavedValues {
  readonly #reader: BundleReader;
  #graph: tensorflow.TrackableObjectGraph | null = null;

  private constructor(reader: BundleReader) {
    this.#reader = reader;
  }

  /**
   * Opens the checkpoint, and begins to read its values on another thread where native code does that: until `close`. Null where the model has
   * none.
   */
  static async open(folder: string): Promise<SavedValues | null> {
    const prefix = inside(folder, 'variables', 'variables');
    let values: SavedValues | null = null;
    try {
      const reader = await BundleReader.open(prefix);
      values = new SavedValues(reader);
      values.#begin();
      if (!reader.has(tensorflow.OBJECT_GRAPH_KEY)) return values;
      const { data } = await reader.readAsync(tensorflow.OBJECT_GRAPH_KEY);
      const [bytes] = data;
      if (bytes instanceof Uint8Array)
        values.#graph = tensorflow.TrackableObjectGraph.decode(bytes, { file: `${prefix}.index` });
      return values;
    } catch (cause) {
      values?.close();
      const error = translatedError(cause, prefix);
      if (error instanceof NotFoundError) return null;
      throw error;
    }
  }

  has(key: string): boolean {
    return this.#reader.has(key);
  }

  #begin(): void {
    const { allocator } = inInitScope(eagerBackend);
    if (!allocator.isHost) return;
    const wanted: (readonly [key: string, spec: { readonly dtype: DType; readonly shape: Shape }])[] = [];
    let bytes = 0;
    for (const [key, { dtype, shape, bytes: own, parts }] of this.#reader.entries()) {
      if (dtype === 'string' || !Object.hasOwn(dtypeTraits, dtype) || parts.length > 0) continue;
      if ((bytes += own) > MOST_EARLY) break;
      wanted.push([key, { dtype: dtype as DType, shape }]);
    }
    let values: UnfilledValues | undefined;
    try {
      // Nothing is taken for bytes that are not there.
      this.#reader.checkSizes(wanted.map(([key]) => key));
      values = new UnfilledValues(wanted.map(([, spec]) => spec));
      const targets = values.bytes;
      const reading = this.#reader.begin(wanted.map(([key], i) => [key, targets[i] as Uint8Array]));
      if (reading === undefined) values.dispose();
      else this.#early = { keys: wanted.map(([key]) => key), values, reading };
    } catch {
      // Whoever reads the values meets the same error.
      values?.dispose();
    }
  }
  #early: {
    readonly keys: readonly string[];
    readonly values: UnfilledValues;
    readonly reading: BundleReading;
  } | null = null;
  readonly #read = new Map<string, Tensor>();

  /** A value that was begun, which the caller keeps; undefined for another one. */
  take(key: string): Tensor | undefined {
    if (this.#early !== null) {
      const { keys, values, reading } = this.#early;
      this.#early = null;
      const whole = reading.finish();
      values.filled().forEach((value, i) => {
        const own = keys[i] as string;
        if (whole.has(own)) this.#read.set(own, value);
        else value.dispose();
      });
    }
    const value = this.#read.get(key);
    this.#read.delete(key);
    return value;
  }

  /** Ends what was begun, and gives back what nobody took. */
  close(): void {
    this.#early?.reading.stop();
    this.#early?.values.dispose();
    this.#early = null;
    for (const value of this.#read.values()) value.dispose();
    this.#read.clear();
  }

  /** What the checkpoint tells of the tensor under a key. */
  entry(key: string): BundleEntry | undefined {
    return this.#reader.entries().get(key);
  }

  /** Checks that there are as many bytes as these tensors have. @throws DataLossError */
  checkSizes(keys: readonly string[]): void {
    this.#translated(() => this.#reader.checkSizes(keys));
  }

  /** Reads the bytes of tensors, of any dtype but string, into memory of their sizes. @throws DataLossError */
  readInto(values: readonly (readonly [key: string, target: Uint8Array])[]): void {
    this.#translated(() => this.#reader.readAllInto(values));
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
    return this.#translated(() => tensorOfValue(this.#reader.read(key)));
  }

  #translated<T>(read: () => T): T {
    try {
      return read();
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

/** A variable of a model, and the key of its value in the checkpoint, which is its name unless given. */
export interface SavedVariableNode {
  readonly saved: tensorflow.SavedVariable;
  readonly key: string | undefined;
}

/** A variable whose value is the bytes under a key. */
interface InFile {
  readonly at: number;
  readonly key: string;
  readonly spec: VariableSpec;
  readonly bytes: number;
}

/**
 * Variables with the values that the checkpoint has for them, in the given order. Values are read into the memory of the variables, many at
 * once.
 */
export async function restoredVariables(
  nodes: readonly SavedVariableNode[],
  values: SavedValues | null,
  partial: boolean,
): Promise<Variable[]> {
  const variables = new Array<Variable>(nodes.length);
  const inFile: InFile[] = [];
  for (const [at, { saved, key: given }] of nodes.entries()) {
    const name = saved.name || 'Variable';
    const dtype = dtypeOf(saved.dtype ?? 0, name);
    const shape = partialShapeOf(saved.shape);
    const trainable = saved.trainable ?? false;
    const key = given ?? name;
    const entry = values?.entry(key);
    if (values === null || entry === undefined) {
      if (!partial)
        throw new NotFoundError(
          `the model has no value for the variable '${name}': load it with { allowPartialCheckpoint: true } to have zeros there`,
          OP,
        );
      variables[at] = new Variable(zerosFor(name, shape, dtype), { name, dtype, trainable });
      continue;
    }
    if (entry.dtype !== dtype || !isCompatible(entry.shape, shape))
      throw new InvalidArgumentError(
        `the variable '${name}' is ${dtype} [${shape?.map((d) => d ?? '?') ?? 'any'}], but its value is ${entry.dtype} [${entry.shape}]`,
        OP,
      );
    const isOpen = shape === null || shape.includes(null);
    if (dtype === 'string' || isOpen)
      variables[at] = new Variable(await values.read(key), { name, dtype, trainable, shape });
    else inFile.push({ at, key, spec: { name, dtype, shape: entry.shape, trainable }, bytes: entry.bytes });
  }
  values?.checkSizes(inFile.map(({ key }) => key));
  const late = inFile.filter(({ at, key, spec }) => {
    const value = values?.take(key);
    if (value !== undefined) variables[at] = adopt(value, spec);
    return value === undefined;
  });
  for (const group of groupsOf(late)) {
    const unfilled = new UnfilledValues(group.map(({ spec }) => spec));
    try {
      values?.readInto(group.map(({ key }, i) => [key, unfilled.bytes[i] as Uint8Array]));
    } catch (error) {
      unfilled.dispose();
      throw error;
    }
    const made = unfilled.filled();
    group.forEach(({ at, spec }, i) => {
      variables[at] = adopt(made[i] as Tensor, spec);
    });
    // Whatever else the process does goes on between groups.
    await nextTurn();
  }
  return variables;
}

// As much is read at once: a few hundredths of a second, in which nothing else runs.
const GROUP_BYTES = 2 ** 28;

/** Values in the order given, about as many bytes at once. */
function* groupsOf(inFile: readonly InFile[]): Generator<InFile[]> {
  let group: InFile[] = [];
  let bytes = 0;
  for (const value of inFile) {
    if (group.length > 0 && bytes + value.bytes > GROUP_BYTES) {
      yield group;
      [group, bytes] = [[], 0];
    }
    group.push(value);
    bytes += value.bytes;
  }
  if (group.length > 0) yield group;
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
