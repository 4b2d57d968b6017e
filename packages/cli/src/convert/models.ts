// Models of Keras's files, ONNX files and SavedModels. What reads and writes them is loaded when it is needed.
import { type Module, type Tensor, UnimplementedError } from '@eagre/core';
import type { DTypeName, NDArray } from '@eagre/formats';
import type { TracedFunction } from '@eagre/graph';
import type { Model } from '@eagre/layers';
import type { ArraySource } from './array-source.ts';

type Served = TracedFunction<(...args: never[]) => unknown>;

/** A model: layers of Keras, or a function with what belongs to it. */
export type ModelSource =
  | { readonly kind: 'keras'; readonly model: Model }
  | {
      readonly kind: 'function';
      readonly module: Module;
      /** What the model computes, with a signature. */
      readonly serve: Served;
      /** The names of its inputs and outputs, in the order of its graph. */
      readonly names: { readonly inputNames: readonly string[]; readonly outputNames: readonly string[] };
    };

export async function loadKeras(path: string): Promise<ModelSource> {
  const { loadModel } = await import('@eagre/layers');
  return { kind: 'keras', model: await loadModel(path, { compile: false }) };
}

export async function saveKeras(path: string, source: ModelSource): Promise<void> {
  if (source.kind !== 'keras')
    throw new UnimplementedError(
      `${path}: a model without layers of Keras cannot become one of Keras`,
      'convert',
    );
  await source.model.save(path);
}

/** The weights of a model of Keras, by the names that they have in safetensors files. */
export async function openWeights(path: string): Promise<ArraySource> {
  const { model } = (await loadKeras(path)) as Extract<ModelSource, { kind: 'keras' }>;
  const arrays = model.namedWeights.map(({ path: name, variable }) => ({
    name,
    dtype: variable.dtype as DTypeName,
    shape: variable.shape,
    read: () => variable.ndarray() as NDArray,
  }));
  return { arrays, close: async () => {} };
}

export async function loadOnnx(path: string): Promise<ModelSource> {
  const [{ load }, { TensorSpec, tfFunction }] = await Promise.all([
    import('@eagre/onnx'),
    import('@eagre/graph'),
  ]);
  const model = await load(path);
  const specs = model.inputs.map(({ name, dtype, shape }) => {
    if (dtype !== null && shape !== null) return new TensorSpec(shape, dtype, name);
    throw new UnimplementedError(
      `${path}: the dtype or the rank of the input '${name}' is not known`,
      'convert',
    );
  });
  const outputNames = model.outputs.map(({ name }) => name);
  // By name, as servers call it.
  const serve = tfFunction(
    (...inputs: never[]) => {
      const result = model(...(inputs as unknown as Tensor[]));
      const list = (Array.isArray(result) ? result : [result]) as unknown[];
      return Object.fromEntries(outputNames.map((name, i) => [name, list[i]]));
    },
    { inputSignature: specs },
  ) as Served;
  const inputNames = model.inputs.map(({ name }) => name);
  return { kind: 'function', module: model, serve, names: { inputNames, outputNames } };
}

export async function saveOnnx(path: string, source: ModelSource): Promise<void> {
  const { save } = await import('@eagre/onnx');
  if (source.kind === 'keras') await save(source.model as never, path);
  else await save(source.serve.getConcreteFunction(), path, source.names);
}

export async function loadSavedModel(path: string): Promise<ModelSource> {
  const { load } = await import('@eagre/saved-model');
  const module = await load(path);
  const { signatures } = module;
  const serve = signatures['serving_default'];
  if (serve !== undefined) {
    // In the order of the graph's arguments and results.
    const inputNames = Object.keys(serve.structuredInputSignature[1]).sort();
    const outputNames = Object.keys(serve.structuredOutputs).sort();
    return { kind: 'function', module, serve: serve as never, names: { inputNames, outputNames } };
  }
  const names = Object.keys(signatures).join(', ') || 'none';
  throw new UnimplementedError(
    `${path}: only the signature serving_default can be converted, and the model has ${names}`,
    'convert',
  );
}

export async function saveSavedModel(path: string, source: ModelSource): Promise<void> {
  const { save } = await import('@eagre/saved-model');
  if (source.kind === 'keras')
    return path.endsWith('.json')
      ? await save(source.model, path)
      : await source.model.export(path, { verbose: false });
  const { Module } = await import('@eagre/core');
  // A module of both: signatures may use only what is inside of the object that is saved.
  const root = Object.assign(new Module(), { model: source.module, serve: source.serve });
  await save(root, path, { signatures: source.serve as never });
}
