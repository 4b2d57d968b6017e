// Keras's editor of files of weights: what is in a `.keras` or `.weights.h5` file, and how it differs from a model.
import {
  constant,
  convertToTensor,
  DataLossError,
  InvalidArgumentError,
  type Tensor,
  type TensorLike,
} from '@eagre/core';
import {
  type Arguments,
  checkText,
  defineMethods,
  isPlain,
  shown,
  takesArguments,
} from '@eagre/core/internal';
import type { DTypeName, Hdf5Group, Hdf5GroupBuilder, NDArray } from '@eagre/formats';
import { Model } from '../models/model.ts';
import type { SavedState } from './keras-state.ts';
import { readError } from './read-error.ts';

const OP = 'KerasFileEditor';
const VARS = 'vars';

/** Weights by name, in objects by name. */
export interface WeightsDict {
  readonly [name: string]: Tensor | WeightsDict;
}
type Weights = Map<string, Tensor | Weights>;
type NamedWeights = Readonly<Record<string, TensorLike>>;

/** What {@link KerasFileEditor.compare} has found. */
export interface Comparison {
  readonly status: 'success' | 'error';
  /** How many objects and weights lack, or have another shape. */
  readonly errorCount: number;
  /** How many weights are in both, with the same shape. */
  readonly matchCount: number;
}

/** What a file holds. */
interface Contents {
  readonly filepath: string;
  /** Of `.keras` files. */
  readonly config: Readonly<Record<string, unknown>> | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly weights: Weights;
  /** What a model keeps in files: its code comes with the first file. */
  readonly saveState: (model: Model) => SavedState;
}

/**
 * Looks at the weights of a `.keras` or `.weights.h5` file, and changes them: for a model that is no longer what it was when the file was
 * written.
 *
 *     const editor = await tf.keras.saving.KerasFileEditor.open('old.weights.h5');
 *     editor.summary();
 *     editor.compare(model); // what lacks, and what has another shape
 *     editor.renameObject('dense_2', 'dense_3');
 *     editor.deleteObject('layers/dense_4');
 *     await editor.save('new.weights.h5');
 *
 * Objects are given by their name, if only one has it, or by their path, such as `layers/dense`. The file that was opened stays as it is. What
 * is printed is what Keras prints; counts are those of what is printed, while Keras counts some weights several times.
 */
export class KerasFileEditor {
  readonly filepath: string;
  /** The configuration of the model in a `.keras` file; null of weights alone. */
  readonly config: Readonly<Record<string, unknown>> | null;
  /** `keras_version` and `date_saved` of a `.keras` file; null of weights alone. */
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly #weights: Weights;
  readonly #saveState: Contents['saveState'];

  /** Editors are made by {@link open}, as files are read in the background. */
  constructor(contents: unknown) {
    if (!isContents(contents))
      throw new InvalidArgumentError('open a file: await KerasFileEditor.open(path)', OP);
    this.filepath = contents.filepath;
    this.config = contents.config;
    this.metadata = contents.metadata;
    this.#weights = contents.weights;
    this.#saveState = contents.saveState;
  }

  /**
   * Opens a `.keras` or `.weights.h5` file, and prints what it is.
   * @throws (the promise) NotFoundError where there is none, DataLossError where it is damaged, InvalidArgumentError for other names.
   */
  static async open(...args: Arguments<[filepath: string], ['filepath']>): Promise<KerasFileEditor>;
  static async open(filepath: unknown): Promise<KerasFileEditor> {
    checkText(filepath, 'filepath', OP);
    const contents = await contentsOf(filepath as string);
    opened.add(contents);
    const editor = new KerasFileEditor(contents);
    console.log(`Keras model file '${filepath}'`);
    const { keras_version: version, date_saved: date } = editor.metadata ?? {};
    if (editor.metadata !== null) console.log(`Saved with Keras ${version} - date: ${date}`);
    return editor;
  }

  /** The weights as they are now, in objects by name. */
  get weightsDict(): WeightsDict {
    return asDict(this.#weights);
  }

  /** Prints which objects and weights there are. */
  summary(): void {
    console.log('Weights structure');
    for (const line of structureLines(this.#weights)) console.log(line);
  }

  /** Prints what a model has that the file has not, and the reverse, and which shapes differ. */
  compare(...args: Arguments<[referenceModel: Model], ['referenceModel']>): Comparison;
  compare(referenceModel: unknown): Comparison {
    if (!(referenceModel instanceof Model))
      throw new InvalidArgumentError(`referenceModel must be a model, got ${shown(referenceModel)}`, OP);
    console.log('Running comparison');
    const comparing = new Comparing();
    const spec = shapesIn(this.#saveState(referenceModel).weights);
    comparing.compare(this.#weights, spec, 'saved file', 'reference model');
    const { matches } = comparing;
    comparing.compare(spec, this.#weights, 'reference model', 'saved file');
    const { errors } = comparing;
    console.log('─────────────────────');
    const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
    if (errors === 0) {
      console.log('Comparison successful: saved file is compatible with the reference model');
      console.log(`    Found ${count(matches, 'matching weight')}`);
    } else
      console.log(`Found ${count(errors, 'error')}: saved file is not compatible with the reference model`);
    return { status: errors === 0 ? 'success' : 'error', errorCount: errors, matchCount: matches };
  }

  /** Gives an object another name; its place stays. @throws InvalidArgumentError for an object that is not there, and a name that is taken. */
  renameObject(...args: Arguments<[objectName: string, newName: string], ['objectName', 'newName']>): void;
  renameObject(objectName: unknown, newName?: unknown): void {
    const target = checkName(newName, 'newName');
    const { inside, name } = this.#find(objectName);
    if (inside.has(target))
      throw new InvalidArgumentError(`there is a '${target}' beside '${name}' already`, OP);
    const value = inside.get(name) as Tensor | Weights;
    inside.delete(name);
    inside.set(target, value);
  }

  /** Takes an object out, with all that is in it. */
  deleteObject(...args: Arguments<[objectName: string], ['objectName']>): void;
  deleteObject(objectName: unknown): void {
    const { inside, name } = this.#find(objectName);
    inside.delete(name);
  }

  /**
   * Adds an object at a path, or replaces the one there.
   * @param weights values by name: `{ 0: kernel, 1: bias }`.
   */
  addObject(...args: Arguments<[objectPath: string, weights: NamedWeights], ['objectPath', 'weights']>): void;
  addObject(objectPath: unknown, weights?: unknown): void {
    checkText(objectPath, 'objectPath', OP);
    const added = weightsIn(weights);
    const names = (objectPath as string).split('/');
    const last = checkName(names.pop(), 'objectPath');
    this.#inside(names, objectPath as string).set(last, added);
  }

  /** Takes a weight out of an object. */
  deleteWeight(
    ...args: Arguments<[objectName: string, weightName: string], ['objectName', 'weightName']>
  ): void;
  deleteWeight(objectName: unknown, weightName?: unknown): void {
    const name = checkName(weightName, 'weightName');
    const object = this.#object(objectName);
    if (!object.delete(name))
      throw new InvalidArgumentError(
        `Weight ${name} not found in object ${String(objectName)}. Weights found: ${[...object.keys()].join(', ') || 'none'}`,
        OP,
      );
  }

  /** Adds weights to an object; those of the same names are replaced. */
  addWeights(
    ...args: Arguments<[objectName: string, weights: NamedWeights], ['objectName', 'weights']>
  ): void;
  addWeights(objectName: unknown, weights?: unknown): void {
    const added = weightsIn(weights);
    const object = this.#object(objectName);
    for (const [name, value] of added) object.set(name, value);
  }

  /**
   * Writes the weights as they are now into a `.weights.h5` file, whole or not at all.
   * @throws (the promise) InvalidArgumentError for other names.
   */
  async save(...args: Arguments<[filepath: string], ['filepath']>): Promise<void>;
  async save(filepath: unknown): Promise<void> {
    checkText(filepath, 'filepath', OP);
    const path = filepath as string;
    if (!path.endsWith('.weights.h5'))
      throw new InvalidArgumentError(`the path must end in .weights.h5, got ${path}`, OP);
    const { encodeHdf5, Hdf5GroupBuilder } = await import('./hdf5-formats.ts');
    const { writeWhole } = await import('./keras-files.ts');
    const root = new Hdf5GroupBuilder();
    build(this.#weights, root, '');
    await writeWhole(path, encodeHdf5(root), OP);
  }

  /** {@link save}. */
  async resaveWeights(...args: Arguments<[filepath: string], ['filepath']>): Promise<void>;
  async resaveWeights(filepath: unknown): Promise<void> {
    await this.save(filepath as string);
  }

  /** The object with a name or a path, and what it lies in. */
  #find(objectName: unknown): { readonly inside: Weights; readonly name: string } {
    checkText(objectName, 'objectName', OP);
    const names = (objectName as string).split('/');
    const name = names.pop() as string;
    if (names.length > 0) {
      const inside = this.#inside(names, objectName as string);
      if (!inside.has(name)) throw new InvalidArgumentError(`Path '${objectName}' not found in model.`, OP);
      return { inside, name };
    }
    const places = placesOf(this.#weights, name);
    const [place, ...others] = places;
    if (place === undefined)
      throw new InvalidArgumentError(
        `the name '${name}' does not appear in the file: editor.summary() lists all objects`,
        OP,
      );
    if (others.length > 0)
      throw new InvalidArgumentError(
        `Name '${name}' occurs more than once in the model; try passing a complete path`,
        OP,
      );
    return { inside: place, name };
  }

  #inside(names: readonly string[], path: string): Weights {
    let at = this.#weights;
    for (const name of names) {
      const next = at.get(name);
      if (!(next instanceof Map)) throw new InvalidArgumentError(`Path '${path}' not found in model.`, OP);
      at = next;
    }
    return at;
  }

  #object(objectName: unknown): Weights {
    const { inside, name } = this.#find(objectName);
    const object = inside.get(name);
    if (!(object instanceof Map))
      throw new InvalidArgumentError(`'${String(objectName)}' is a weight, and no object`, OP);
    return object;
  }
}
takesArguments<{ contents: unknown }>(
  { positional: ['contents'], names: { contents: true } },
  KerasFileEditor,
);
defineMethods(KerasFileEditor, OP, { open: { positional: ['filepath'] } });
defineMethods(KerasFileEditor.prototype, OP, {
  summary: {},
  compare: { positional: ['referenceModel'], objects: ['referenceModel'] },
  renameObject: { positional: ['objectName', 'newName'] },
  deleteObject: { positional: ['objectName'] },
  addObject: { positional: ['objectPath', 'weights'], objects: ['weights'] },
  deleteWeight: { positional: ['objectName', 'weightName'] },
  addWeights: { positional: ['objectName', 'weights'], objects: ['weights'] },
  save: { positional: ['filepath'] },
  resaveWeights: { positional: ['filepath'] },
});

const opened = new WeakSet<object>();
const isContents = (value: unknown): value is Contents =>
  typeof value === 'object' && value !== null && opened.has(value);

function checkName(value: unknown, what: string): string {
  if (typeof value === 'string' && value !== '' && value !== '.' && !value.includes('/')) return value;
  throw new InvalidArgumentError(`${what} must be a name, and not a path, got ${shown(value)}`, OP);
}

function weightsIn(weights: unknown): Weights {
  if (!isPlain(weights) || Array.isArray(weights))
    throw new InvalidArgumentError(
      `weights must be an object of values by name, such as { 0: kernel, 1: bias }, got ${shown(weights)}`,
      OP,
    );
  return new Map(
    Object.entries(weights as Readonly<Record<string, TensorLike>>).map(([name, value]) => [
      checkName(name, 'the name of a weight'),
      numbersOf(value),
    ]),
  );
}

/** A copy of a value, which later assignments to a variable do not change. */
function numbersOf(value: TensorLike): Tensor {
  const tensor = convertToTensor(value);
  if (tensor.dtype === 'string' || tensor.dtype.startsWith('complex'))
    throw new InvalidArgumentError(`Keras's files hold numbers, got ${tensor.dtype}`, OP);
  return tensor;
}

/** All groups that have something of a name. */
function placesOf(weights: Weights, name: string): Weights[] {
  const inner = [...weights.values()].flatMap((value) => (value instanceof Map ? placesOf(value, name) : []));
  return weights.has(name) ? [weights, ...inner] : inner;
}

const asDict = (weights: Weights): WeightsDict =>
  Object.fromEntries(
    [...weights].map(([name, value]) => [name, value instanceof Map ? asDict(value) : value]),
  );

/** A shape as Python shows it. */
const tuple = (shape: readonly number[]): string => `(${shape.join(', ')}${shape.length === 1 ? ',' : ''})`;

function* structureLines(weights: Weights, prefix = '  ', isRoot = true): Generator<string> {
  let left = weights.size;
  for (const [name, value] of weights) {
    const isLast = --left === 0;
    const isFirst = isRoot && left === weights.size - 1;
    const connector = isFirst ? '> ' : isLast ? '└─ ' : '├─ ';
    if (value instanceof Map) {
      yield `${prefix}${connector}${name}`;
      yield* structureLines(value, prefix + (isLast ? '    ' : '│   '), false);
    } else yield `${prefix}${connector}${name}: shape=${tuple(value.shape)}, dtype=${value.dtype}`;
  }
}

/** A comparison in both directions. What was found in one is not told again in the other. */
class Comparing {
  errors = 0;
  matches = 0;
  readonly #told = new Set<string>();

  compare(target: Shapes, reference: Shapes, targetName: string, referenceName: string, path = ''): void {
    for (const [name, wanted] of reference) {
      const inner = `${path}/${name}`;
      if (this.#told.has(inner)) continue;
      const found = target.get(name);
      const tell = (...lines: string[]): void => {
        this.#told.add(inner);
        this.errors++;
        for (const line of lines) console.log(line);
      };
      const kind = (value: unknown): string => (value instanceof Map ? 'Object' : 'Weight');
      if (found === undefined || kind(found) !== kind(wanted)) {
        const lacks = `...${kind(wanted)} ${inner} present in ${referenceName}, missing from ${targetName}`;
        const keys = wanted instanceof Map ? [...wanted.keys()].map((key) => `'${key}'`).join(', ') : '';
        tell(
          lacks,
          ...(wanted instanceof Map
            ? [`    In ${referenceName}, ${inner} contains the following keys: [${keys}]`]
            : []),
        );
      } else if (wanted instanceof Map)
        this.compare(found as Shapes, wanted, targetName, referenceName, inner);
      else if (tuple((found as Shaped).shape) !== tuple((wanted as Shaped).shape))
        tell(
          `...Weight shape mismatch for ${inner}`,
          `    In ${referenceName}: shape=${tuple((wanted as Shaped).shape)}`,
          `    In ${targetName}: shape=${tuple((found as Shaped).shape)}`,
        );
      else this.matches++;
    }
  }
}
interface Shaped {
  readonly shape: readonly number[];
}
type Shapes = ReadonlyMap<string, Shaped | Shapes>;

/** The objects of a group that have weights, which lie in a group of their own in it, in the order of their names. */
function shapesIn(group: Hdf5GroupBuilder): Shapes {
  const found = new Map<string, Shaped | Shapes>();
  const own = group.children.get(VARS);
  if (own !== undefined && !('shape' in own))
    for (const [name, value] of [...own.children].sort(([a], [b]) => (a < b ? -1 : 1)))
      if ('shape' in value) found.set(name, value);
  for (const [name, child] of group.children) {
    if (name === VARS || 'shape' in child) continue;
    const inner = shapesIn(child);
    if (inner.size > 0) found.set(name, inner);
  }
  return found;
}

/** The weights of a group, and of those in it that have some. */
function weightsOf(group: Hdf5Group, depth = 0): Weights {
  // Groups may be inside themselves.
  if (depth > DEEPEST) throw new InvalidArgumentError(`objects are nested more than ${DEEPEST} deep`, OP);
  const found: Weights = new Map();
  const own = group.children.get(VARS);
  for (const [name, value] of own !== undefined && !('shape' in own) ? own.children : [])
    if ('shape' in value) found.set(name, tensorOf(value.read()));
  for (const [name, child] of group.children) {
    if (child === own) continue;
    if ('shape' in child) {
      found.set(name, tensorOf(child.read()));
      continue;
    }
    const inner = weightsOf(child, depth + 1);
    if (inner.size > 0) found.set(name, inner);
  }
  return found;
}
const DEEPEST = 64;

const tensorOf = ({ data, shape, dtype }: NDArray): Tensor => constant({ data, shape, dtype } as never);

/** Writes objects where Keras looks for them. */
function build(weights: Weights, root: Hdf5GroupBuilder, path: string): void {
  const inner = (name: string): string => (path === '' ? name : `${path}/${name}`);
  for (const [name, value] of weights) {
    if (value instanceof Map) build(value, root, inner(name));
    else
      root.add(inner(`${VARS}/${name}`), {
        dtype: value.dtype as DTypeName,
        shape: value.shape,
        read: () => value.ndarray() as NDArray,
      });
  }
}

async function contentsOf(filepath: string): Promise<Contents> {
  const isArchive = filepath.endsWith('.keras');
  if (!isArchive && !filepath.endsWith('.weights.h5'))
    throw new InvalidArgumentError(`expected a file that ends in .keras or .weights.h5, got ${filepath}`, OP);
  const { readFileBytes, readHdf5, readHdf5File } = await import('./hdf5-formats.ts');
  const { saveState } = await import('./keras-state.ts');
  const { jsonIn, CONFIG, METADATA, readArchive, WEIGHTS } = await import('./keras-archive.ts');
  try {
    if (!isArchive)
      return {
        filepath,
        config: null,
        metadata: null,
        saveState,
        weights: await readHdf5File(filepath, (root) => weightsOf(root)),
      };
    const files = readArchive(await readFileBytes(filepath), filepath);
    const [config, metadata] = [CONFIG, METADATA].map((name) => jsonIn(files, name, filepath));
    const bytes = files.get(WEIGHTS);
    if (bytes === undefined) throw new DataLossError(`${filepath}: there is no ${WEIGHTS} in it`, OP);
    const weights = await readHdf5(bytes, (root) => weightsOf(root), { file: `${filepath}/${WEIGHTS}` });
    return { filepath, config: config ?? null, metadata: metadata ?? null, weights, saveState };
  } catch (cause) {
    throw readError(cause, filepath, OP);
  }
}
