// Weights in files of Hugging Face: names and layouts are those of another library, and large models are in several files.
import { fileError } from '@eagre/backend';
import {
  constant,
  type DType,
  InvalidArgumentError,
  scope,
  Tensor,
  type TypedArray,
  UnavailableError,
  UnimplementedError,
  type Variable,
  zeros,
} from '@eagre/core';
import {
  checkPath,
  defineFunction,
  isPlain,
  kind,
  type NamedFunction,
  sameShape,
  shown,
  showShape,
} from '@eagre/core/internal';
import {
  type DTypeName,
  FormatError,
  type NDArray,
  SafetensorsModel,
  type SafetensorsModelEntry,
  safetensorsKind,
  shardBytes,
  type TensorSource,
  UnsupportedFormatError,
  writeSafetensorsModel,
  writeSafetensorsTensors,
} from '@eagre/formats';
import type { NamedWeight } from '../layer/layer.ts';
import { Model } from '../models/model.ts';
import { readError } from './read-error.ts';
import { builtWeights } from './saving.ts';
import {
  listed,
  matcher,
  type ResolvedSource,
  resolveWeightNames,
  type WeightNames,
} from './weight-names.ts';

export type { WeightNames, WeightSource } from './weight-names.ts';

const LOAD = 'keras.saving.loadSafetensors';
const SAVE = 'keras.saving.saveSafetensors';
const FLOATS: ReadonlySet<string> = new Set(['float16', 'bfloat16', 'float32', 'float64']);

/** Options of `loadSafetensors`. */
export interface LoadSafetensorsOptions {
  /** Which tensors become which weights; the names of the weights themselves unless given. */
  readonly names?: WeightNames | null;
  /** Tensors of the file that are not needed, by name; `{i}` stands for a whole number. */
  readonly ignore?: readonly string[] | null;
  /** Whether it is an error if a weight has no tensor, or a tensor is not used; true by default. */
  readonly strict?: boolean;
}

/** What did not fit, where `strict` is false. */
export interface LoadedSafetensors {
  /** The weights without a tensor, which keep their values. */
  readonly missing: readonly string[];
  /** The tensors that became no weight and were not to be ignored. */
  readonly unused: readonly string[];
}

/**
 * Sets the weights of a model to those of a `.safetensors` file, or of several with an index: `path` is a file, an index
 * (`model.safetensors.index.json`), or a folder with one of them.
 *
 *     await tf.keras.saving.loadSafetensors(model, 'gpt2', {
 *       names: {
 *         'embedding/embeddings': 'wte.weight',
 *         'block_{i}/dense/kernel': { from: 'h.{i}.mlp.weight', convert: (w) => w.transpose() },
 *       },
 *       ignore: ['h.{i}.attn.bias'],
 *     });
 *
 * Names, shapes and dtypes are checked before the first weight changes. Then tensors are read one by one, so that little memory is needed besides
 * that of the weights. Floats are cast to the dtype of the weight.
 *
 * @throws InvalidArgumentError where names, shapes or dtypes do not fit, DataLossError for damaged files, NotFoundError for files that are not
 * there, UnimplementedError for dtypes that Eagre lacks; the model is then as it was. UnavailableError if the disk fails, or a file changes,
 * while weights are read: some of them then have new values.
 */
export const loadSafetensors: NamedFunction<
  [model: Model, path: string],
  ['model', 'path'],
  LoadSafetensorsOptions,
  Promise<LoadedSafetensors>
> = defineFunction(
  LOAD,
  { model: kind.asIs, path: kind.asIs },
  { names: { plain: true }, ignore: kind.asIs, strict: kind.asIs },
  async (
    model: Model,
    path: string,
    { names = null, ignore = null, strict = true }: LoadSafetensorsOptions,
  ) => {
    const weights = weightsOf(model, LOAD);
    checkPath(path, 'the path of the weights', LOAD);
    if (typeof strict !== 'boolean')
      throw new InvalidArgumentError(`strict must be true or false, got ${shown(strict)}`, LOAD);
    const sources = resolveWeightNames(
      names,
      weights.map((w) => w.path),
      LOAD,
    );
    const file = await opened(path);
    try {
      const { loads, ...report } = matched(weights, sources, file, ignoredBy(ignore));
      if (strict) refuseUnmatched(report, model, path);
      for (const load of loads) checkLoad(load, file);
      await run(loads, file);
      return report;
    } finally {
      await file.close();
    }
  },
);

/** Options of `saveSafetensors`. */
export interface SaveSafetensorsOptions {
  /** The name of each weight in the file; that of the weight itself unless given. `{i}` stands for a whole number. */
  readonly names?: Readonly<Record<string, string>> | ((weight: string) => string) | null;
  /**
   * In a folder, the most bytes of weights in a file: a number, or a text such as '5GB' or '200MB' (powers of 1000, as Hugging Face's libraries
   * count). All weights are in one file unless given.
   */
  readonly maxShardSize?: number | string | null;
  /** What the files say of themselves: `{ format: 'pt' }` is what PyTorch's loaders expect. */
  readonly metadata?: Readonly<Record<string, string>> | null;
}

/**
 * Writes the weights of a model, whole or not at all: to one file if the path ends in `.safetensors`, otherwise into a folder as a model of
 * Hugging Face, where `maxShardSize` spreads them over several files with an index.
 *
 * @returns the paths of the files.
 * @throws FailedPreconditionError before the model is built, InvalidArgumentError for names that are not distinct.
 */
export const saveSafetensors: NamedFunction<
  [model: Model, path: string],
  ['model', 'path'],
  SaveSafetensorsOptions,
  Promise<string[]>
> = defineFunction(
  SAVE,
  { model: kind.asIs, path: kind.asIs },
  { names: { plain: true }, maxShardSize: kind.asIs, metadata: { plain: true } },
  async (model: Model, path: string, options: SaveSafetensorsOptions) => {
    const { names = null, maxShardSize = null, metadata } = options;
    const weights = weightsOf(model, SAVE);
    checkPath(path, 'the path of the weights', SAVE);
    const tensors = savedAs(weights, names);
    const isFile = /\.safetensors$/i.test(path);
    if (isFile && maxShardSize !== null)
      throw new InvalidArgumentError('maxShardSize needs the path of a folder, not of a file', SAVE);
    const most = maxShardSize === null ? undefined : bytesOf(maxShardSize);
    const about = metadata ?? { format: 'eagre' };
    try {
      if (!isFile) {
        const written = await writeSafetensorsModel(path, tensors, { maxShardSize: most, metadata: about });
        return written.map((name) => `${path.replace(/\/$/, '')}/${name}`);
      }
      await writeSafetensorsTensors(path, tensors, about);
      return [path];
    } catch (cause) {
      if (cause instanceof FormatError) throw new InvalidArgumentError(cause.message, SAVE, { cause });
      throw fileError(cause, path, SAVE);
    }
  },
);

function weightsOf(model: Model, op: string): NamedWeight[] {
  if (!(model instanceof Model)) throw new InvalidArgumentError(`expected a model, got ${shown(model)}`, op);
  return builtWeights(model, op);
}

// ---- loading

/** One weight, and the tensors that it is made of. */
interface Load {
  readonly weight: string;
  readonly variable: Variable;
  readonly source: ResolvedSource;
}

async function opened(path: string): Promise<SafetensorsModel> {
  try {
    return await SafetensorsModel.open(path);
  } catch (cause) {
    throw loadError(cause, path);
  }
}

function loadError(cause: unknown, path: string): unknown {
  if (cause instanceof UnsupportedFormatError) return new UnimplementedError(cause.message, LOAD, { cause });
  return readError(cause, (cause as NodeJS.ErrnoException).path ?? path, LOAD);
}

function ignoredBy(ignore: unknown): (name: string) => boolean {
  if (ignore === null) return () => false;
  if (!Array.isArray(ignore) || !ignore.every((name) => typeof name === 'string'))
    throw new InvalidArgumentError(`ignore must be a list of names, got ${shown(ignore)}`, LOAD);
  const fits = (ignore as readonly string[]).map(matcher);
  return (name) => fits.some((fit) => fit(name) !== undefined);
}

/** What is to be read, in the order of the files, and what does not fit. */
function matched(
  weights: readonly NamedWeight[],
  sources: ReadonlyMap<string, ResolvedSource>,
  file: SafetensorsModel,
  isIgnored: (name: string) => boolean,
): LoadedSafetensors & { readonly loads: readonly Load[] } {
  const loads: Load[] = [];
  const missing: string[] = [];
  const used = new Set<string>();
  for (const { path, variable } of weights) {
    const source = sources.get(path);
    if (source?.from.every((name) => file.entries.has(name)) === true) {
      loads.push({ weight: path, variable, source });
      for (const name of source.from) used.add(name);
    } else missing.push(source === undefined ? path : `${path} (${source.from.join(', ')})`);
  }
  const unused = [...file.entries.keys()].filter((name) => !used.has(name) && !isIgnored(name));
  const order = new Map([...file.entries.keys()].map((name, i) => [name, i]));
  const first = ({ source }: Load): number => order.get(source.from[0] as string) as number;
  return { loads: loads.sort((a, b) => first(a) - first(b)), missing, unused };
}

function refuseUnmatched({ missing, unused }: LoadedSafetensors, model: Model, path: string): void {
  if (missing.length === 0 && unused.length === 0) return;
  const parts = [
    missing.length > 0 ? `these weights have no tensor: ${listed(missing)}` : '',
    unused.length > 0 ? `these tensors are not used: ${listed(unused)}` : '',
  ].filter((part) => part !== '');
  throw new InvalidArgumentError(
    `${path} does not match the model '${model.name}': ${parts.join('; ')}. Correct names, list what is not needed in ignore, or pass strict: false`,
    LOAD,
  );
}

/** @throws InvalidArgumentError unless the tensors give a value of the weight's shape and dtype. */
function checkLoad({ weight, variable, source }: Load, file: SafetensorsModel): void {
  const entries = source.from.map((name) => file.entries.get(name) as SafetensorsModelEntry);
  const dtypes = source.from.map((name, i) => {
    const { dtype, file: path } = entries[i] as SafetensorsModelEntry;
    try {
      return safetensorsKind(name, dtype, path);
    } catch (cause) {
      throw loadError(cause, path);
    }
  });
  scope(() => {
    // Without a conversion there is nothing to try out, and no need of memory.
    const given = (): Tensor[] =>
      entries.map(({ shape }, i) => zeros(shape, castTo(dtypes[i] as DTypeName, variable)));
    const value =
      source.convert === undefined
        ? {
            shape: (entries[0] as SafetensorsModelEntry).shape,
            dtype: castTo(dtypes[0] as DTypeName, variable),
          }
        : converted(source, given(), weight);
    if (source.convert === undefined && entries.length > 1)
      throw new InvalidArgumentError(
        `${weight} is made of several tensors: names needs a convert for it`,
        LOAD,
      );
    if (sameShape(value.shape, variable.shape) && value.dtype === variable.dtype) return;
    throw new InvalidArgumentError(
      `${file.path}: ${source.from.join(', ')} gives ${value.dtype} ${showShape(value.shape)}, the weight ${weight} is ${variable.dtype} ${showShape(variable.shape)}`,
      LOAD,
    );
  });
}

/** The dtype in which a tensor of the file comes: floats in that of the weight. */
function castTo(dtype: DTypeName, { dtype: own }: Variable): DType {
  return FLOATS.has(dtype) && FLOATS.has(own) ? own : dtype;
}

function converted({ convert, from }: ResolvedSource, tensors: Tensor[], weight: string): Tensor {
  if (convert === undefined) return tensors[0] as Tensor;
  let value: unknown;
  try {
    value = convert(...tensors);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new InvalidArgumentError(`${weight}: convert failed on ${from.join(', ')}: ${message}`, LOAD, {
      cause,
    });
  }
  if (value instanceof Tensor) return value;
  throw new InvalidArgumentError(`${weight}: convert must return a tensor, got ${shown(value)}`, LOAD);
}

/** Reads and assigns. A tensor that several weights need is read once, and let go after the last of them. */
async function run(loads: readonly Load[], file: SafetensorsModel): Promise<void> {
  const uses = new Map<string, number>();
  for (const { source } of loads) for (const name of source.from) uses.set(name, (uses.get(name) ?? 0) + 1);
  const arrays = new Map<string, NDArray>();
  let done = 0;
  for (const { weight, variable, source } of loads) {
    try {
      for (const name of source.from) if (!arrays.has(name)) arrays.set(name, await file.read(name));
    } catch (cause) {
      if (done === 0) throw loadError(cause, file.path);
      const message = cause instanceof Error ? cause.message : String(cause);
      throw new UnavailableError(
        `${message}; ${done} of ${loads.length} weights have new values, ${weight} and those behind it do not: load them again`,
        LOAD,
        { cause },
      );
    }
    scope(() => {
      const tensors = source.from.map((name) => tensorOf(arrays.get(name) as NDArray, variable));
      variable.assign(converted(source, tensors, weight));
    });
    for (const name of source.from) {
      const left = (uses.get(name) as number) - 1;
      uses.set(name, left);
      if (left === 0) arrays.delete(name);
    }
    done++;
  }
}

function tensorOf({ data, shape, dtype }: NDArray, variable: Variable): Tensor {
  // The values of floats of 16 bits are there as float32.
  const held = dtype === 'float16' || dtype === 'bfloat16' ? 'float32' : dtype;
  const value = constant({ data: data as TypedArray, shape, dtype: held as DType });
  return value.cast(castTo(dtype, variable));
}

// ---- saving

function savedAs(weights: readonly NamedWeight[], names: SaveSafetensorsOptions['names']): TensorSource[] {
  const paths = weights.map((w) => w.path);
  if (names !== null && names !== undefined && typeof names !== 'function' && !isPlain(names))
    throw new InvalidArgumentError(`names must be an object or a function, got ${shown(names)}`, SAVE);
  const sources = resolveWeightNames(names ?? null, paths, SAVE);
  const by = new Map<string, string>();
  return weights.map(({ path, variable }) => {
    const { from, convert } = sources.get(path) ?? { from: [], convert: undefined };
    if (from.length !== 1 || convert !== undefined)
      throw new InvalidArgumentError(`names must give the weight ${path} one name`, SAVE);
    const name = from[0] as string;
    if (by.has(name))
      throw new InvalidArgumentError(`${by.get(name)} and ${path} both have the name ${name}`, SAVE);
    by.set(name, path);
    return {
      name,
      dtype: variable.dtype as DTypeName,
      shape: variable.shape,
      read: () => variable.ndarray() as NDArray,
    };
  });
}

function bytesOf(size: number | string): number {
  try {
    return shardBytes(size);
  } catch (cause) {
    throw new InvalidArgumentError(`maxShardSize: ${(cause as Error).message}`, SAVE, { cause });
  }
}
