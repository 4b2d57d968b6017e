// The signatures of a SavedModel: functions that servers call, with names for what they take and give.
import { InvalidArgumentError } from '@eagre/core';
import { isPlain, shown } from '@eagre/core/internal';
import { ConcreteFunction, savedFunction, TensorSpec, tfFunction } from '@eagre/graph';
import { type ImportedTrace, importedOf } from '../imported.ts';
import { look } from './objects.ts';

const OP = 'savedModel.save';
/** The name that servers look for. */
export const SERVING_DEFAULT = 'serving_default';
// TensorFlow keeps the node of what initializes the model under it.
const RESERVED = '__saved_model_init_op';

/** What the caller gives: one function, or several by name. */
export type Signatures = object | Readonly<Record<string, unknown>>;

/** What a signature calls: a trace, of this program or of a loaded model. */
export type SignatureTrace = ConcreteFunction | ImportedTrace;

/** An object that has a signature of its own, as Keras models have. */
interface HasSignature {
  defaultSaveSignature(made: { tfFunction: typeof tfFunction; TensorSpec: typeof TensorSpec }): unknown;
}

/**
 * The traces for signatures, by name. Unless given: the object's own, or its only function with one trace and a signature.
 * @throws InvalidArgumentError for what is no traced function, or one with several traces.
 */
export function signaturesOf(
  root: object,
  given: Signatures | null | undefined,
): ReadonlyMap<string, SignatureTrace> {
  if (given === null || given === undefined) return defaultSignature(root);
  if (typeof given === 'function' || !isPlain(given))
    return new Map([[SERVING_DEFAULT, concreteOf(given, SERVING_DEFAULT)]]);
  return new Map(
    Object.entries(given).map(([name, fn]) => {
      if (name === '' || name === RESERVED)
        throw new InvalidArgumentError(`a signature cannot have the name ${shown(name)}`, OP);
      return [name, concreteOf(fn, name)];
    }),
  );
}

/**
 * The one function of what is saved as a graph by itself.
 * @throws InvalidArgumentError where there is none, or are several
 */
export function onlySignature(root: object, given: Signatures | null | undefined): ConcreteFunction {
  const ofLoaded = (root as { readonly signatures?: unknown }).signatures;
  const loaded = isPlain(ofLoaded) ? ofLoaded : undefined;
  const wanted = given ?? loaded;
  const all: readonly (readonly [string, unknown])[] =
    wanted !== undefined && typeof wanted !== 'function' && isPlain(wanted)
      ? Object.entries(wanted)
      : wanted === undefined
        ? [...signaturesOf(root, undefined)]
        : [[SERVING_DEFAULT, wanted]];
  const [name, fn] = (all.length === 1 ? all[0] : all.find(([key]) => key === SERVING_DEFAULT)) ?? [];
  if (name === undefined || fn === undefined)
    throw new InvalidArgumentError(
      all.length === 0
        ? 'a graph for TensorFlow.js is one function: give { signatures: fn }, a function of tf.function with an inputSignature'
        : `a graph for TensorFlow.js has one signature, got ${all.map(([key]) => key).join(', ')}: give { signatures: fn }`,
      OP,
    );
  // What is loaded is traced again: files of TensorFlow hold ops that TensorFlow.js lacks.
  const traced = fn as { readonly getConcreteFunction?: () => unknown };
  const trace =
    importedOf(fn) !== null && typeof traced.getConcreteFunction === 'function'
      ? traced.getConcreteFunction()
      : fn;
  const concrete = trace instanceof ConcreteFunction ? trace : concreteOf(trace, name);
  if (concrete instanceof ConcreteFunction) return concrete;
  throw new InvalidArgumentError(
    `the signature '${name}' has no trace of its own: give { signatures: fn }`,
    OP,
  );
}

function defaultSignature(root: object): ReadonlyMap<string, SignatureTrace> {
  const own = (root as Partial<HasSignature>).defaultSaveSignature;
  if (typeof own === 'function') {
    const fn = own.call(root, { tfFunction, TensorSpec });
    return fn === null ? new Map() : new Map([[SERVING_DEFAULT, concreteOf(fn, SERVING_DEFAULT)]]);
  }
  const functions = [...look(root).children.map(([, child]) => child), root]
    .filter((value) => (savedFunction(value)?.inputSignature ?? null) !== null)
    .map(tracesOf)
    .filter((traces) => traces.length === 1);
  const [only] = functions;
  if (functions.length !== 1 || only === undefined) return new Map();
  const [trace] = only as readonly [SignatureTrace];
  // What servers cannot call is no signature; the function is saved all the same.
  return canServe(trace) ? new Map([[SERVING_DEFAULT, trace]]) : new Map();
}

const tracesOf = (fn: unknown): readonly SignatureTrace[] =>
  importedOf(fn)?.traces ?? savedFunction(fn)?.concreteFunctions ?? [];

function concreteOf(fn: unknown, name: string): SignatureTrace {
  if (fn instanceof ConcreteFunction) return fn;
  const saved = savedFunction(fn);
  if (saved === null)
    throw new InvalidArgumentError(
      `the signature '${name}' is ${shown(fn)}, expected a function of tf.function or what its getConcreteFunction gives`,
      OP,
    );
  const traces = tracesOf(fn);
  const [only, ...others] = traces;
  if (only !== undefined && others.length === 0) return only;
  throw new InvalidArgumentError(
    `the signature '${name}' is a function with ${traces.length} traces, expected one: give ${saved.name}.getConcreteFunction(new tf.TensorSpec(…)), or give the function an inputSignature`,
    OP,
  );
}

function canServe(trace: SignatureTrace): boolean {
  try {
    outputNames(
      trace instanceof ConcreteFunction ? trace.saved.structuredOutputs : trace.structuredOutputs,
      '',
    );
    return true;
  } catch (error) {
    if (error instanceof InvalidArgumentError) return false;
    throw error;
  }
}

/**
 * The names of what a signature gives, with the places of the tensors among the results of its function: `output_0`, …, or the keys.
 * @throws InvalidArgumentError for anything but one tensor, a list of them, or tensors by name.
 */
export function outputNames(
  outputs: unknown,
  signature: string,
): readonly { readonly name: string; readonly spec: TensorSpec }[] {
  const refuse = (got: string): never => {
    throw new InvalidArgumentError(
      `the function of the signature '${signature}' returns ${got}, expected one tensor, a list of tensors, or an object with tensors as its values`,
      OP,
    );
  };
  const fail = (): never => refuse(shown(outputs));
  const tensor = (spec: unknown, at: string | number): TensorSpec => {
    if (spec instanceof TensorSpec) return spec;
    if (!Array.isArray(spec) && !(spec instanceof Map) && !isPlain(spec)) return fail();
    return refuse(
      `a structure inside its results, ${Array.isArray(spec) ? 'a list' : 'an object'} at ${shown(at)}`,
    );
  };
  if (outputs === undefined || outputs === null) return [];
  if (outputs instanceof TensorSpec) return [{ name: 'output_0', spec: outputs }];
  if (Array.isArray(outputs))
    return outputs.map((spec, i) => ({ name: `output_${i}`, spec: tensor(spec, i) }));
  const entries: [unknown, unknown][] =
    outputs instanceof Map ? [...outputs] : isPlain(outputs) ? Object.entries(outputs) : fail();
  // As the results of the function: by their keys.
  return entries
    .map(([key, spec]) => {
      const name = typeof key === 'string' ? key : fail();
      return { name, spec: tensor(spec, name) };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
