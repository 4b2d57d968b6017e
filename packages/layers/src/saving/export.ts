// Models as SavedModels: with a function that serves them.
import { FailedPreconditionError, InvalidArgumentError, Variable } from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  checkFlag,
  checkFunction,
  checkOneOf,
  checkText,
  defineMethods,
  shown,
  takesArguments,
  tree,
} from '@eagre/core/internal';
import { isTracedFunction, type Signature, savedFunction, TensorSpec, tfFunction } from '@eagre/graph';
import { Layer } from '../layer/layer.ts';
import type { Model } from '../models/model.ts';
import { inputSignatureOf } from './signature.ts';

/** Options of `model.export`. */
export interface ExportOptions {
  /** `tfSavedModel`, a folder that TensorFlow loads, or `onnx`, a file of ONNX; `tfSavedModel` by default. */
  readonly format?: 'tfSavedModel' | 'onnx';
  /** What the model is called with: one spec for each argument, or the structure of several inputs. As the model was built unless given. */
  readonly inputSignature?: readonly Signature[] | null;
  /** Whether the names, shapes and dtypes of what was exported are printed; true by default. */
  readonly verbose?: boolean;
  /** Of `onnx`: the version of ONNX's ops, that of `tf.onnx.save` by default. */
  readonly opsetVersion?: number | null;
}

const SERVE = 'serve';
type Fn = (...args: never[]) => unknown;

/** Writes a model with the endpoint `serve`. */
export async function exportModel(model: Model, filepath: string, options: ExportOptions): Promise<void> {
  const { format = 'tfSavedModel', inputSignature = null, verbose = true, opsetVersion = null } = options;
  checkOneOf(format, ['tfSavedModel', 'onnx'], 'format', 'Model.export');
  if (format === 'onnx') {
    checkFlag(verbose, 'verbose', 'Model.export');
    // A functional model has inputs of its own.
    const signature =
      inputSignature ?? (model.symbolicInputs === null ? inputSignatureOf(model, TensorSpec, true) : null);
    const { save } = await import('@eagre/onnx');
    await save(model as never, filepath, {
      ...(signature === null ? {} : { inputSignature: signature }),
      ...(opsetVersion === null ? {} : { opset: opsetVersion }),
    });
    if (verbose) console.log(`Saved artifact at '${filepath}'.`);
    return;
  }
  if (opsetVersion !== null)
    throw new InvalidArgumentError("opsetVersion is of the format 'onnx' alone", 'Model.export');
  const archive = new ExportArchive();
  archive.trackAndAddEndpoint(SERVE, model, {
    inputSignature: inputSignature ?? inputSignatureOf(model, TensorSpec, true),
  });
  await archive.writeOut(filepath, { verbose });
}

/** Options of an endpoint. */
export interface EndpointOptions {
  /** The specs of the arguments; not needed for a function of `tf.function` that has a trace or a signature. */
  readonly inputSignature?: readonly Signature[] | null;
}

/** Options of `writeOut`. */
export interface WriteOutOptions {
  /** Whether the endpoints are printed; true by default. */
  readonly verbose?: boolean;
}

/**
 * What is exported with a SavedModel: functions by name, with the variables of the layers and models that they use.
 *
 *     const archive = new tf.keras.export.ExportArchive();
 *     archive.track(model);
 *     archive.addEndpoint('serve', (x) => model(x), { inputSignature: [new tf.TensorSpec([null, 3])] });
 *     await archive.writeOut('exported');
 */
export class ExportArchive {
  readonly #tracked: object[] = [];
  readonly #endpoints = new Map<string, Fn>();
  readonly #collections = new Map<string, readonly Variable[]>();

  constructor(...args: []) {
    argumentsOf<Record<never, never>>(ExportArchive, new.target, args);
  }

  /**
   * Keeps the variables of a layer, a model or another object.
   * @throws FailedPreconditionError for a layer that is not built, InvalidArgumentError for what has no variables.
   */
  track(...args: Arguments<[resource: object], ['resource']>): void;
  track(resource: unknown): void {
    if (resource instanceof Layer && !resource.built)
      throw new FailedPreconditionError(
        `the layer '${resource.name}' has no weights yet: call it or build it before it is exported`,
        'ExportArchive.track',
      );
    if ((typeof resource !== 'object' && typeof resource !== 'function') || resource === null)
      throw new InvalidArgumentError(
        `expected a layer, a model, a module or a variable, got ${shown(resource)}`,
        'ExportArchive.track',
      );
    if (!this.#tracked.includes(resource)) this.#tracked.push(resource);
  }

  /**
   * Adds a function, which a loaded model has as an attribute and as a signature.
   * @returns the function as it is written.
   * @throws InvalidArgumentError for a name that is taken, and for a function that has neither a signature nor a trace.
   */
  addEndpoint(
    ...args: Arguments<[name: string, fn: (...args: never[]) => unknown], ['name', 'fn'], EndpointOptions>
  ): (...args: never[]) => unknown;
  addEndpoint(given: unknown, fn?: unknown, more?: unknown): Fn {
    const options = more as EndpointOptions | undefined;
    const op = 'ExportArchive.addEndpoint';
    checkText(given, 'name', op);
    checkFunction(fn, 'fn', op);
    const name = given as string;
    this.#checkName(name, op);
    const inputSignature = options?.inputSignature ?? null;
    let endpoint = fn as Fn;
    if (inputSignature !== null) endpoint = tfFunction(fn as Fn, { inputSignature, name }) as Fn;
    else if (!isTracedFunction(fn))
      throw new InvalidArgumentError(
        `the endpoint '${name}' needs an inputSignature, or a function of tf.function`,
        op,
      );
    else if (savedFunction(fn)?.concreteFunctions.length === 0)
      throw new InvalidArgumentError(
        `the endpoint '${name}' was never traced and has no inputSignature: call it once, or give inputSignature`,
        op,
      );
    this.#endpoints.set(name, endpoint);
    return endpoint;
  }

  /** Tracks a layer or model, and adds an endpoint that calls it. */
  trackAndAddEndpoint(
    ...args: Arguments<[name: string, resource: Layer], ['name', 'resource'], EndpointOptions>
  ): (...args: never[]) => unknown;
  trackAndAddEndpoint(name: unknown, resource?: unknown, options?: unknown): Fn {
    this.track(resource as object);
    if (!(resource instanceof Layer))
      throw new InvalidArgumentError(
        `expected a layer or a model, got ${shown(resource)}`,
        'ExportArchive.trackAndAddEndpoint',
      );
    const call = (args_0: unknown): unknown => (resource as unknown as (x: unknown) => unknown)(args_0);
    return this.addEndpoint(name as string, call as Fn, (options ?? {}) as EndpointOptions);
  }

  /** Adds a list of variables, which a loaded model has under this name. */
  addVariableCollection(
    ...args: Arguments<[name: string, variables: readonly Variable[]], ['name', 'variables']>
  ): void;
  addVariableCollection(name: unknown, variables?: unknown): void {
    const op = 'ExportArchive.addVariableCollection';
    checkText(name, 'name', op);
    if (!Array.isArray(variables) || !variables.every((v) => v instanceof Variable))
      throw new InvalidArgumentError(`expected a list of variables, got ${shown(variables)}`, op);
    this.#checkName(name as string, op);
    this.#collections.set(name as string, [...(variables as Variable[])]);
  }

  /**
   * Writes the SavedModel. The first endpoint is `serving_default`, too.
   * @throws FailedPreconditionError without endpoints; else as `tf.savedModel.save`.
   */
  writeOut(...args: Arguments<[filepath: string], ['filepath'], WriteOutOptions>): Promise<void>;
  async writeOut(filepath: unknown, more?: unknown): Promise<void> {
    const options = more as WriteOutOptions | undefined;
    const op = 'ExportArchive.writeOut';
    const verbose = checkFlag(options?.verbose ?? true, 'verbose', op);
    const [first] = this.#endpoints.values();
    if (first === undefined)
      throw new FailedPreconditionError('there is no endpoint yet: call addEndpoint first', op);
    const variables = [...new Set(this.#tracked.flatMap(variablesOf))];
    const root = {
      ...Object.fromEntries(this.#endpoints),
      ...Object.fromEntries(this.#collections),
      variables,
      trainable_variables: variables.filter((v) => v.trainable),
      non_trainable_variables: variables.filter((v) => !v.trainable),
      _tracked: this.#tracked,
    };
    const signatures = Object.fromEntries(this.#endpoints);
    const { save } = await import('@eagre/saved-model');
    await save(root, filepath as string, {
      signatures: { ...signatures, serving_default: signatures['serving_default'] ?? first },
    });
    if (verbose) console.log(this.#text(filepath as string));
  }

  #checkName(name: string, op: string): void {
    if (this.#endpoints.has(name) || this.#collections.has(name) || RESERVED.has(name))
      throw new InvalidArgumentError(`the name '${name}' is taken`, op);
  }

  /** What was written, for people. */
  #text(filepath: string): string {
    const endpoints = [...this.#endpoints].flatMap(([name, fn]) => {
      const [concrete] = savedFunction(fn)?.concreteFunctions ?? [];
      if (concrete === undefined) return [];
      const args = concrete.structuredInputSignature.map((arg, i) => `  args_${i}: ${showSpecs(arg)}`);
      return [
        `* Endpoint '${name}'`,
        ...args,
        'Output Type:',
        `  ${showSpecs(concrete.saved.structuredOutputs)}`,
      ];
    });
    return [`Saved artifact at '${filepath}'. The following endpoints are available:`, '', ...endpoints].join(
      '\n',
    );
  }
}

const RESERVED: ReadonlySet<string> = new Set([
  'variables',
  'trainable_variables',
  'non_trainable_variables',
  'signatures',
]);

const showSpecs = (value: unknown): string =>
  tree.showStructure(value, (leaf) => (leaf instanceof TensorSpec ? String(leaf) : shown(leaf)));

function variablesOf(resource: object): readonly Variable[] {
  if (resource instanceof Variable) return [resource];
  const { variables } = resource as { readonly variables?: unknown };
  return Array.isArray(variables) ? variables.filter((v): v is Variable => v instanceof Variable) : [];
}

takesArguments<Record<never, never>>({ names: {} }, ExportArchive);
defineMethods(ExportArchive.prototype, 'ExportArchive', {
  track: { positional: ['resource'], objects: ['resource'] },
  addEndpoint: { positional: ['name', 'fn'], options: { inputSignature: true } },
  trackAndAddEndpoint: { positional: ['name', 'resource'], options: { inputSignature: true } },
  addVariableCollection: { positional: ['name', 'variables'] },
  writeOut: { positional: ['filepath'], options: { verbose: true } },
});
