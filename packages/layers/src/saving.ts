import {
  DataLossError,
  type DType,
  FailedPreconditionError,
  InvalidArgumentError,
  NotFoundError,
  type TypedArray,
} from '@eagre/core';
import { sameShape, showShape } from '@eagre/core/internal';
import {
  FormatError,
  type NDArray,
  nodeBuiltin,
  readSafetensorsFile,
  writeSafetensorsFile,
} from '@eagre/formats';
import { Layer, type NamedWeight } from './layer.ts';
import type { Model } from './model.ts';

/** Writes every weight under its path (`dense/kernel`), atomically. */
export async function saveWeights(model: Model, path: string): Promise<void> {
  checkPath(path);
  const weights = builtWeights(model, 'saveWeights');
  const arrays = new Map<string, NDArray>();
  for (const { path: name, variable } of weights) {
    arrays.set(name, variable.ndarray());
  }
  await nodeBuiltin('node:fs').promises.mkdir(nodeBuiltin('node:path').dirname(path), { recursive: true });
  await writeSafetensorsFile(path, arrays, { format: 'eagre' });
}

/** Reads and checks everything before the first weight changes. */
export async function loadWeights(model: Model, path: string): Promise<void> {
  checkPath(path);
  const weights = builtWeights(model, 'loadWeights');
  const file = await read(path);
  const missing = weights.filter((w) => !file.has(w.path)).map((w) => w.path);
  const names = new Set(weights.map((w) => w.path));
  const unknown = [...file.keys()].filter((name) => !names.has(name));
  if (missing.length > 0 || unknown.length > 0) {
    throw new InvalidArgumentError(
      `${path} does not fit the model '${model.name}': ${[
        missing.length > 0 ? `the file lacks ${missing.join(', ')}` : '',
        unknown.length > 0 ? `the model lacks ${unknown.join(', ')}` : '',
      ]
        .filter((s) => s !== '')
        .join('; ')}`,
      'loadWeights',
    );
  }
  for (const { path: name, variable } of weights) {
    const array = file.get(name) as NDArray;
    if (!sameShape(array.shape, variable.shape) || array.dtype !== variable.dtype) {
      throw new InvalidArgumentError(
        `${path}: ${name} is ${array.dtype} ${showShape(array.shape)}, the model has ${variable.dtype} ${showShape(variable.shape)}`,
        'loadWeights',
      );
    }
  }
  for (const { path: name, variable } of weights) {
    const { data, shape, dtype } = file.get(name) as NDArray;
    variable.assign({ data: data as TypedArray, shape, dtype: dtype as DType });
  }
}

async function read(path: string): Promise<ReadonlyMap<string, NDArray>> {
  try {
    return (await readSafetensorsFile(path)).tensors;
  } catch (cause) {
    if (cause instanceof FormatError) throw new DataLossError(cause.message, 'loadWeights', { cause });
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') {
      throw new NotFoundError(`there is no file ${path}`, 'loadWeights', { cause });
    }
    throw cause;
  }
}

function checkPath(path: string): void {
  if (!path.endsWith('.safetensors')) {
    throw new InvalidArgumentError(`${path}: weights are kept in files that end in .safetensors`);
  }
}

function builtWeights(model: Model, what: string): NamedWeight[] {
  const missing = unbuilt(model);
  if (missing !== undefined) {
    throw new FailedPreconditionError(
      `'${missing.name}' has no weights yet; call the model on an example or model.build([null, …]) first`,
      what,
    );
  }
  return model.namedWeights;
}

/** @internal The first layer, the model itself included, that will make weights only when it is called. */
export function unbuilt(model: Model): Layer | undefined {
  return [model, ...model.submodules].find(
    (m): m is Layer => m instanceof Layer && (m === model ? !m.built : m.awaitsBuild),
  );
}
