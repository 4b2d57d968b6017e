// The state of models in Keras's files: what layers and optimizers save, at their paths, and back.
import {
  constant,
  convertToTensor,
  type DType,
  InvalidArgumentError,
  Tensor,
  type TensorLike,
  UnimplementedError,
  type Variable,
} from '@eagre/core';
import { sameShape, showShape } from '@eagre/core/internal';
import {
  type DTypeName,
  type Hdf5ArraySource,
  type Hdf5Dataset,
  type Hdf5Group,
  Hdf5GroupBuilder,
  hdf5At,
  isHdf5Dataset,
  type NDArray,
} from '@eagre/formats';
import { Optimizer } from '@eagre/optimizers';
import { ownVariables } from '../layer/inside.ts';
import { Layer } from '../layer/layer.ts';
import type { Model } from '../models/model.ts';
import { type Saveable, walkSaveables } from './saveables.ts';

/** An array of a file, of HDF5 or another one. */
export type Dataset = Pick<Hdf5Dataset, 'shape' | 'dtype' | 'type' | 'read'>;

/** What a file keeps of a model beside its configuration. */
export interface SavedState {
  readonly weights: Hdf5GroupBuilder;
  /** What layers keep in files of their own, by path. */
  readonly assets: ReadonlyMap<string, Uint8Array>;
}

const join = (path: string, name: string): string => (path === '' ? name : `${path}/${name}`);
/** How messages call an object. */
const called = (object: Saveable, path: string): string =>
  `'${object.name}'${path === '' ? '' : ` (${path})`}`;

/**
 * The state of a model as it is now: later steps of training do not change it.
 * @throws UnimplementedError for weights in places that the file has no path for
 */
export function saveState(model: Layer): SavedState {
  const weights = new Hdf5GroupBuilder();
  const assets = new Map<string, Uint8Array>();
  const done = new Set<Saveable>();
  const saved = new Set<Variable>();
  walkSaveables(model, (object, path) => {
    if (done.has(object)) return false;
    done.add(object);
    const store: Record<string, TensorLike> = {};
    object.saveOwnVariables(store);
    const group = weights.group(join(path, 'vars'));
    group.attributes.set('name', object.name);
    for (const [key, value] of Object.entries(store))
      group.add(checkKey(key, object), sourceOf(value, object));
    if (object instanceof Layer) {
      for (const variable of ownVariables(object)) saved.add(variable);
      const files: Record<string, Uint8Array | string> = {};
      object.saveAssets(files);
      for (const [name, content] of Object.entries(files))
        assets.set(join(path, checkAssetName(name, object)), bytesOf(content, object));
    }
    return true;
  });
  const lost = model.namedWeights.filter(({ variable }) => !saved.has(variable));
  if (lost.length > 0)
    throw new UnimplementedError(
      `${lost.map((w) => w.path).join(', ')}: Keras's files have no place for it; keep layers as attributes, or in lists and objects, or save the weights as .safetensors`,
      model.name,
    );
  return { weights, assets };
}

function checkKey(key: string, object: Saveable): string {
  if (key !== '' && key !== '.' && !key.includes('/')) return key;
  throw new InvalidArgumentError(
    `saveOwnVariables: the names of values must not be empty or hold '/', got '${key}'`,
    object.name,
  );
}
function checkAssetName(name: string, object: Saveable): string {
  if (isPlainPath(name)) return name;
  throw new InvalidArgumentError(
    `saveAssets: names of files must be relative, without '..', got '${name}'`,
    object.name,
  );
}
/** Whether a path stays inside its folder, on every system. */
export function isPlainPath(path: string): boolean {
  const isOutside = path.startsWith('/') || path.includes('\\') || path.includes(':') || path.includes('\0');
  return (
    !isOutside && path !== '' && !path.split('/').some((part) => part === '..' || part === '.' || part === '')
  );
}
function bytesOf(content: unknown, object: Saveable): Uint8Array {
  if (typeof content === 'string') return new TextEncoder().encode(content);
  if (content instanceof Uint8Array) return content;
  throw new InvalidArgumentError('saveAssets: the content of a file must be text or bytes', object.name);
}

/** A value to write. What is a variable's keeps its value while it is written, also if training goes on. */
export function sourceOf(value: TensorLike, object: { readonly name: string }): Hdf5ArraySource {
  const tensor = value instanceof Tensor ? value : convertToTensor(value);
  const { dtype, shape } = tensor;
  if (dtype === 'string' || dtype.startsWith('complex'))
    throw new UnimplementedError(`Keras's files hold numbers, got ${dtype}`, object.name);
  return { dtype: dtype as DTypeName, shape, read: () => tensor.ndarray() as NDArray };
}

// ---- loading

/** Of loading. */
export interface LoadStateOptions {
  /** The name of the file, for messages. */
  readonly file: string;
  /** Whether objects whose values do not fit are passed over, with a warning. */
  readonly skipMismatch?: boolean;
  readonly skip?: readonly unknown[];
  /** Of an archive; weights alone have none. */
  readonly assets?: ReadonlyMap<string, Uint8Array>;
}

/**
 * Gives a model the state of a file. All of it is read and checked first.
 * @throws InvalidArgumentError where names, numbers or shapes do not fit; the model stays as it was.
 */
export function loadState(model: Layer, root: Hdf5Group, options: LoadStateOptions): void {
  const loading = new Loading(model, root, options);
  loading.find();
  loading.assign();
}

/** The loading of one file. */
class Loading {
  readonly #model: Layer;
  readonly #root: Hdf5Group;
  readonly #options: LoadStateOptions;
  readonly #assets: ReadonlyMap<string, Record<string, Uint8Array>>;
  readonly #done: Set<unknown>;
  // What was found, but does not fit: another way to the object may lead to what does.
  readonly #problems = new Map<Saveable, string>();
  readonly #plans: Plan[] = [];
  readonly #optimizers: (readonly [Optimizer, string, Values])[] = [];

  constructor(model: Layer, root: Hdf5Group, options: LoadStateOptions) {
    this.#model = model;
    this.#root = root;
    this.#options = options;
    this.#assets = assetsByFolder(options.assets);
    this.#done = new Set(options.skip ?? []);
  }

  /** Reads what fits. @throws InvalidArgumentError unless all does */
  find(): void {
    const open = new Set<Saveable>();
    const visit = (object: Saveable, path: string): boolean => {
      if (this.#done.has(object) || open.has(object)) return false;
      const group = groupAt(this.#root, path);
      if (group === undefined) return false;
      const values = valuesIn(group);
      if (object instanceof Optimizer) this.#optimizers.push([object, path, values]);
      else if (!this.#fits(object, path, values)) return true;
      this.#done.add(object);
      this.#problems.delete(object);
      return true;
    };
    walkSaveables(this.#model, visit);
    walkOnce(this.#model, (object) => {
      if (this.#done.has(object) || this.#problems.has(object) || !(object instanceof Layer)) return;
      const expected = object.fileVariables;
      if (expected.length > 0) this.#problems.set(object, `'${object.name}': ${counts(object, expected, 0)}`);
    });
    this.#report();
    for (const [optimizer, path, values] of this.#optimizers) this.#planOptimizer(optimizer, path, values);
    this.#report();
  }

  #report(): void {
    const { file, skipMismatch = false } = this.#options;
    if (this.#problems.size === 0) return;
    const text = `${file} does not match the model: ${[...this.#problems.values()].join('; ')}`;
    if (!skipMismatch) throw new InvalidArgumentError(text, 'loadWeights');
    console.warn(`${text}. These keep their values.`);
    this.#problems.clear();
  }

  /** Plans what a layer gets, if it fits. */
  #fits(layer: Layer, path: string, values: Values): boolean {
    const files = this.#assets.get(path) ?? {};
    const hasAssets = this.#options.assets !== undefined && layer.loadAssets !== Layer.prototype.loadAssets;
    const assets = hasAssets ? [{ object: layer, run: () => layer.loadAssets(files) }] : [];
    if (layer.loadOwnVariables !== Layer.prototype.loadOwnVariables) {
      const store = Object.fromEntries([...values].map(([key, set]) => [key, tensorOf(set.read())]));
      // As in Keras, first the variables and then the assets.
      this.#plans.push({ object: layer, run: () => layer.loadOwnVariables(store) }, ...assets);
      return true;
    }
    this.#plans.push(...assets);
    const problem = this.#plan(layer.fileVariables, layer, path, values);
    if (problem !== undefined) this.#problems.set(layer, `${called(layer, path)}: ${problem}`);
    return problem === undefined;
  }

  /** @returns why values do not fit; undefined where they do */
  #plan(variables: readonly Variable[], object: Saveable, path: string, values: Values): string | undefined {
    if (values.size !== variables.length || variables.some((_, i) => !values.has(`${i}`)))
      return counts(object, variables, values.size);
    const sets = variables.map((_, i) => values.get(`${i}`) as Hdf5Dataset);
    for (const [i, variable] of variables.entries()) {
      const problem = misfit(variable, sets[i] as Hdf5Dataset);
      if (problem !== undefined) return `${join(path, `vars/${i}`)}: ${problem}`;
    }
    this.#plans.push(assignmentOf(object, variables, sets));
    return undefined;
  }

  /** Of another number of values an optimizer keeps its own, as in Keras. */
  #planOptimizer(optimizer: Optimizer, path: string, values: Values): void {
    const isOwn = (this.#model as Partial<Model>).compiled && optimizer === (this.#model as Model).optimizer;
    // One that has not trained yet makes its variables, so that training goes on from the file.
    if (isOwn && !optimizer.built && values.size > optimizer.variables.length)
      optimizer.build(this.#model.trainableVariables);
    const { variables } = optimizer;
    if (values.size === 0) return;
    if (values.size !== variables.length)
      console.warn(
        `${this.#options.file}: the optimizer ${called(optimizer, path)} has ${variables.length} variables and the file ${values.size}, so it keeps its own`,
      );
    else {
      const problem = this.#plan(variables, optimizer, path, values);
      if (problem !== undefined) this.#problems.set(optimizer, `${called(optimizer, path)}: ${problem}`);
    }
  }

  /** Carries the plans out. Code of the user may fail, so it comes first, and what it has changed is undone. */
  assign(): void {
    const before = new Map<Variable, Tensor>();
    const isOurs = ({ assigns }: Plan): boolean => assigns === true;
    try {
      for (const { object, run } of this.#plans.filter((plan) => !isOurs(plan))) {
        for (const variable of object instanceof Layer ? object.weights : [])
          if (!before.has(variable)) before.set(variable, variable.read());
        run();
      }
    } catch (error) {
      for (const [variable, value] of before) variable.assign(value);
      throw error;
    }
    for (const { run } of this.#plans.filter(isOurs)) run();
  }
}

/** What is done once all was read. */
export interface Plan {
  readonly object: { readonly name: string };
  /** Whether it assigns values that were checked, which cannot fail. */
  readonly assigns?: true;
  run(): void;
}
type Values = ReadonlyMap<string, Hdf5Dataset>;

/** Visits each object once. */
function walkOnce(model: Layer, visit: (object: Saveable) => void): void {
  const seen = new Set<Saveable>();
  walkSaveables(model, (object) => {
    if (seen.has(object)) return false;
    seen.add(object);
    visit(object);
    return true;
  });
}

/** Reads the arrays, for variables that they fit. */
export function assignmentOf(
  object: { readonly name: string },
  variables: readonly Variable[],
  sets: readonly Dataset[],
): Plan {
  const values = variables.map((variable, i) => tensorOf((sets[i] as Dataset).read(), variable.dtype));
  const run = (): void => {
    variables.forEach((variable, i) => {
      const value = values[i] as Tensor;
      variable.assign(value);
      value.dispose();
    });
    if (object instanceof Layer) object.finishLoading();
  };
  return { object, assigns: true, run };
}

/** Why an array does not fit a variable; undefined where it does. */
export function misfit(variable: Variable, set: Dataset): string | undefined {
  const { shape, dtype, type } = set;
  const expected = `expected ${variable.dtype} ${showShape(variable.shape)} for ${variable.path}`;
  const fits = sameShape(shape, variable.shape) && dtype !== null && converts(dtype, variable.dtype);
  return fits ? undefined : `${expected}, got ${type} ${showShape(shape)}`;
}
/** Whether values of one dtype may become those of another: floats become no integers. */
function converts(from: DTypeName, to: DType): boolean {
  const isFloat = (dtype: string): boolean => dtype.includes('float');
  return from === to || isFloat(to) || (!isFloat(from) && from !== 'bool' && to !== 'bool');
}

/** A tensor of its own of what a file holds. */
function tensorOf({ data, shape, dtype }: NDArray, as?: DType): Tensor {
  const tensor = constant({ data, shape, dtype } as never);
  return as === undefined || as === dtype ? tensor : tensor.cast(as);
}

function counts(object: Saveable, expected: readonly Variable[], got: number): string {
  const list = expected.map((v) => `${v.path} ${showShape(v.shape)}`).join(', ');
  const advice = object instanceof Layer && !object.built ? '; it is not built, so build it first' : '';
  return `expected ${expected.length} arrays${expected.length > 0 ? ` (${list})` : ''}, got ${got}${advice}`;
}

/** The group of a path. Files of TensorFlow 2.12 to 2.15 have another name for layers. */
function groupAt(root: Hdf5Group, path: string): Hdf5Group | undefined {
  const older = path
    .split('/')
    .map((part) => (part === 'layers' ? '_layer_checkpoint_dependencies' : part))
    .join('/');
  for (const way of path === older ? [path] : [path, older]) {
    const found = hdf5At(root, way);
    if (found !== undefined && !isHdf5Dataset(found)) return found;
  }
  return undefined;
}

/** The arrays of `vars` in a group. */
function valuesIn(group: Hdf5Group): Values {
  const values = new Map<string, Hdf5Dataset>();
  const vars = group.children.get('vars');
  if (vars === undefined || isHdf5Dataset(vars)) return values;
  for (const [key, set] of vars.children) if (isHdf5Dataset(set)) values.set(key, set);
  return values;
}

/** The files of each folder of assets. */
function assetsByFolder(
  assets: ReadonlyMap<string, Uint8Array> = new Map(),
): ReadonlyMap<string, Record<string, Uint8Array>> {
  const folders = new Map<string, Record<string, Uint8Array>>();
  for (const [path, bytes] of assets) {
    // A layer's files may lie in folders inside its own.
    const parts = path.split('/');
    for (let n = 0; n < parts.length; n++) {
      const folder = parts.slice(0, n).join('/');
      const files = folders.get(folder) ?? {};
      files[parts.slice(n).join('/')] = bytes;
      folders.set(folder, files);
    }
  }
  return folders;
}
