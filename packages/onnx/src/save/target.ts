// What is exported: a model, a function or one of its traces, as a graph with names for its inputs and outputs.
import { InvalidArgumentError } from '@eagre/backend';
import type { DType, PartialShape, Tensor } from '@eagre/core';
import { shown, tree } from '@eagre/core/internal';
import { ConcreteFunction, type Graph, type Signature, TensorSpec, tfFunction } from '@eagre/graph';
import { OnnxModel } from '../load/model.ts';
import type { NamedValues } from './exporter.ts';

const OP = 'tf.onnx.save';

/** A Keras model or layer, as far as it matters here. */
interface ModelLike {
  (inputs: unknown, options: { readonly training: boolean }): unknown;
  readonly inputs?: readonly { readonly shape: PartialShape; readonly dtype: DType; readonly name: string }[];
  readonly inputNames?: readonly string[] | null;
  readonly outputNames?: readonly string[] | null;
  computeOutputSpec(...args: readonly never[]): unknown;
}
interface Traced {
  getConcreteFunction(...args: readonly unknown[]): ConcreteFunction;
}

/** What `tf.onnx.save` takes. */
export type SaveTarget = ConcreteFunction | ((...args: never[]) => unknown);

export interface TargetOptions {
  readonly inputSignature?: readonly Signature[];
  readonly inputNames?: readonly string[];
  readonly outputNames?: readonly string[];
}

/** The graph of what is exported. */
export function graphOf(target: unknown, options: TargetOptions): { graph: Graph; names: NamedValues } {
  const { concrete, inputs, outputs } = traceOf(target, options.inputSignature);
  const { graph } = concrete;
  const { arguments: args } = graph;
  if (graph.outputs.length === 0)
    throw new InvalidArgumentError(
      `the function '${graph.name}' returns no tensor, so there is nothing to export`,
      OP,
    );
  return {
    graph,
    names: {
      inputs: chosen('inputNames', options.inputNames, inputs, args.length, (i) =>
        clean(args[i]?.node.name ?? ''),
      ),
      outputs: chosen(
        'outputNames',
        options.outputNames,
        outputs ?? pathsOf(concrete.structuredOutputs),
        graph.outputs.length,
        (i) => `output_${i}`,
      ),
    },
  };
}

interface Trace {
  readonly concrete: ConcreteFunction;
  readonly inputs: readonly string[] | null;
  readonly outputs: readonly string[] | null;
}

function traceOf(target: unknown, signature: readonly Signature[] | undefined): Trace {
  if (target instanceof ConcreteFunction) {
    if (signature !== undefined)
      throw new InvalidArgumentError(
        'a concrete function has a signature already: leave inputSignature out',
        OP,
      );
    return { concrete: target, inputs: null, outputs: null };
  }
  if (typeof target !== 'function')
    throw new InvalidArgumentError(`expected a model or a function, got ${shown(target)}`, OP);
  if (target instanceof OnnxModel) {
    const specs = signature ?? target.inputs.map(({ name, dtype, shape }) => specOf(name, dtype, shape));
    const concrete = (
      tfFunction(((...xs: Tensor[]) => target(...xs)) as never) as unknown as Traced
    ).getConcreteFunction(...specs);
    return { concrete, inputs: target.inputs.map((i) => i.name), outputs: target.outputs.map((o) => o.name) };
  }
  if ('computeOutputSpec' in target) return traceOfModel(target as unknown as ModelLike, signature);
  const fn = 'getConcreteFunction' in target ? (target as unknown as Traced) : tfFunction(target as never);
  if (!('getConcreteFunction' in target) && signature === undefined)
    throw new InvalidArgumentError(
      'a function needs an inputSignature: save(f, file, { inputSignature: [new tf.TensorSpec([null, 3])] })',
      OP,
    );
  const concrete = concreteOf(target, fn as Traced, signature ?? []);
  return { concrete, inputs: signature === undefined ? null : namesOf(signature), outputs: null };
}

/** The trace of a function for a signature: of a loaded one that has none of its own for it, a new one that calls what serves it. */
function concreteOf(target: unknown, fn: Traced, signature: readonly Signature[]): ConcreteFunction {
  try {
    return fn.getConcreteFunction(...signature);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError) || signature.length === 0 || fn !== target) throw error;
    const call = (...xs: Tensor[]): unknown => (target as (...xs: Tensor[]) => unknown)(...xs);
    return (tfFunction(call as never) as unknown as Traced).getConcreteFunction(...signature);
  }
}

function traceOfModel(model: ModelLike, signature: readonly Signature[] | undefined): Trace {
  const known = signature === undefined ? inputsOf(model) : null;
  const specs: readonly Signature[] =
    signature ??
    (known as NonNullable<typeof known>).map(({ shape, dtype, name }) => new TensorSpec(shape, dtype, name));
  const names = model.inputNames ?? null;
  const call = (...inputs: unknown[]): unknown =>
    model(inputs.length === 1 ? inputs[0] : inputs, { training: false });
  const concrete = (tfFunction(call as never) as unknown as Traced).getConcreteFunction(...specs);
  return { concrete, inputs: names ?? namesOf(specs), outputs: model.outputNames ?? null };
}

function inputsOf(model: ModelLike): NonNullable<ModelLike['inputs']> {
  let inputs: ModelLike['inputs'];
  try {
    inputs = model.inputs;
  } catch (cause) {
    throw new InvalidArgumentError(
      `the inputs of the model are not known: give inputSignature, for example [new tf.TensorSpec([null, 3])] (${(cause as Error).message})`,
      OP,
      { cause },
    );
  }
  if (inputs === undefined)
    throw new InvalidArgumentError('the inputs of the layer are not known: give inputSignature', OP);
  return inputs;
}

/** What a model that was read takes. */
function specOf(name: string, dtype: DType | null, shape: PartialShape | null): TensorSpec {
  if (dtype === null || shape === null)
    throw new InvalidArgumentError(`the input '${name}' has no shape: give inputSignature`, OP);
  return new TensorSpec(shape, dtype, name);
}

/** The names of specs; null where one has none. */
function namesOf(signature: readonly Signature[]): string[] | null {
  const names = tree
    .leavesOf(signature, OP)
    .map((s: unknown) => (s instanceof TensorSpec ? s.name : undefined));
  return names.every((n) => n !== undefined) ? (names as string[]) : null;
}

/** Where the outputs are in the structure: `scores`, `output_0`. */
function pathsOf(structure: unknown): string[] | null {
  const paths: string[] = [];
  tree.forEachLeaf(structure, OP, (_, path) => {
    paths.push(
      path.length === 0
        ? 'output'
        : path.map((p) => (typeof p === 'number' ? `output_${p}` : String(p))).join('.'),
    );
  });
  return paths;
}

function chosen(
  what: string,
  given: readonly string[] | undefined,
  own: readonly string[] | null,
  count: number,
  otherwise: (i: number) => string,
): string[] {
  if (given !== undefined) {
    if (given.length !== count || new Set(given).size !== count)
      throw new InvalidArgumentError(`${what} must be ${count} different names, got ${shown(given)}`, OP);
    return [...given];
  }
  const names =
    own !== null && own.length === count ? own : Array.from({ length: count }, (_, i) => otherwise(i));
  // Each once.
  const seen = new Set<string>();
  return names.map((name) => {
    let unique = name;
    for (let i = 1; seen.has(unique); i++) unique = `${name}_${i}`;
    seen.add(unique);
    return unique;
  });
}

const clean = (name: string): string => (name === '' ? 'input' : name);
