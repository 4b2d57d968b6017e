// Serves SavedModels.
import { type DType, dtypeTraits, InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import type { Tensor } from '@eagre/core';
import { tensorflow } from '@eagre/formats';
import { nodeBuiltin } from '@eagre/formats/internal';
import { type LoadedObject, load, type SignatureFunction } from '@eagre/saved-model';
import { functionSignature } from './function-servable.ts';
import { hostTensor, tensorOf } from './host-tensors.ts';
import type { HostTensors, MethodName, Servable, ServableSignature, TensorInfo } from './servable.ts';

/**
 * Loads the SavedModel in a folder. Its signatures are traced at once, so that the first requests need not wait for that.
 *
 * @throws as `tf.savedModel.load` does; InvalidArgumentError for a model without signatures; UnimplementedError where none of these can run
 */
export async function loadServable(path: string): Promise<Servable> {
  const { signatures } = await loaded(path);
  const names = Object.keys(signatures);
  if (names.length === 0)
    throw new InvalidArgumentError(`the SavedModel in ${path} has no signatures`, 'serving');
  const definitions = await signatureDefs(path);
  const runs = names.map((name) => tracedRun(signatures[name]));
  const broken = runs.find((run) => run instanceof Error);
  if (broken !== undefined && runs.every((run) => run instanceof Error)) throw broken;
  return {
    signatures: Object.fromEntries(
      names.map((name, i) => {
        const fn = signatures[name];
        const run = runs[i];
        const byNodes: Run = (inputs, signal) => runNodes(fn, inputs, signal);
        return [
          name,
          { ...infosOf(definitions.get(name) ?? {}, fn), run: typeof run === 'function' ? run : byNodes },
        ];
      }),
    ),
  };
}

/** The model; where it has ops that are unknown here, one that fails where these run, as they need not be in every signature. */
async function loaded(path: string): Promise<LoadedObject> {
  try {
    return await load(path);
  } catch (error) {
    if (!(error instanceof UnimplementedError)) throw error;
    return load(path, { lazy: true });
  }
}

type Run = ServableSignature['run'];

/**
 * What runs the one trace of a signature, off the event loop; why it cannot be traced; undefined where there is no such trace: strings are
 * computed on the host, and inputs of unknown rank have a trace for each rank that comes.
 */
function tracedRun(fn: SignatureFunction): Run | Error | undefined {
  if ([...fn.inputs, ...fn.outputs].some(({ dtype }) => dtype === 'string')) return undefined;
  if (fn.inputs.some(({ shape }) => shape === null)) return undefined;
  try {
    const concrete = fn.getConcreteFunction();
    void concrete.graph;
    return functionSignature(concrete).run;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** The outputs are not disposed: the model may hold them. */
const runNodes = async (
  fn: SignatureFunction,
  values: HostTensors,
  signal: AbortSignal,
): Promise<HostTensors> => hostTensors(await fn.runAsync(tensorsOf(values), signal));

const tensorsOf = (values: HostTensors): Record<string, Tensor> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, tensorOf(value)]));

async function hostTensors(tensors: Readonly<Record<string, Tensor>>): Promise<HostTensors> {
  const read = Object.entries(tensors).map(
    async ([name, tensor]) => [name, await hostTensor(tensor)] as const,
  );
  return Object.fromEntries(await Promise.all(read));
}

/** The signatures as the file has them, which is what the metadata show. */
async function signatureDefs(path: string): Promise<ReadonlyMap<string, tensorflow.SignatureDef>> {
  const file = `${path}/saved_model.pb`;
  const model = tensorflow.SavedModel.decode(await nodeBuiltin('node:fs').promises.readFile(file), { file });
  return model.meta_graphs?.[0]?.signature_def ?? new Map();
}

function infosOf(
  { inputs, outputs, method_name: method }: tensorflow.SignatureDef,
  fn: SignatureFunction,
): Pick<ServableSignature, 'inputs' | 'outputs' | 'methodName'> {
  return {
    inputs: merged(fn.structuredInputSignature[1], inputs),
    outputs: merged(fn.structuredOutputs, outputs),
    ...(method === undefined ? {} : { methodName: method as MethodName }),
  };
}

function merged(
  specs: SignatureFunction['structuredOutputs'],
  infos: ReadonlyMap<string, tensorflow.TensorInfo> = new Map(),
): Readonly<Record<string, TensorInfo>> {
  return Object.fromEntries(
    Object.entries(specs).map(([key, { dtype, shape }]) => {
      const info = infos.get(key);
      const own =
        info === undefined ? { dtype, shape } : { dtype: dtypeOf(info, dtype), shape: shapeOf(info) };
      return [key, { ...own, ...(info?.name === undefined ? {} : { name: info.name }) }];
    }),
  );
}

function dtypeOf({ dtype }: tensorflow.TensorInfo, otherwise: DType): DType {
  const found = Object.values(dtypeTraits).find(({ tensorflow: code }) => code === dtype);
  return found?.name ?? otherwise;
}

function shapeOf({ tensor_shape: shape }: tensorflow.TensorInfo): TensorInfo['shape'] {
  if (shape === undefined || shape.unknown_rank === true) return null;
  return (shape.dim ?? []).map(({ size }) => (size === undefined || size < 0 ? null : Number(size)));
}
