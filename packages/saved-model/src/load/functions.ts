// Functions of a loaded model: traces of TensorFlow, found by their arguments.
import {
  FailedPreconditionError,
  InvalidArgumentError,
  Tensor,
  UnimplementedError,
  type Variable,
} from '@eagre/core';
import { isPlain } from '@eagre/core/internal';
import type { tensorflow } from '@eagre/formats';
import {
  type ConcreteFunction,
  declareSavedFunction,
  type SavedFunction,
  type Signature,
  TensorSpec,
  type TracedFunction,
  tfFunction,
} from '@eagre/graph';
import { dtypeOf, partialShapeOf } from '../import/op-call.ts';
import type { Pause } from '../import/pauses.ts';
import type { Runtime } from '../import/runtime.ts';
import { type Value, VariableHandle } from '../import/values.ts';
import {
  declareImported,
  type ImportedCapture,
  type ImportedFunction,
  type ImportedLibrary,
  type ImportedTrace,
} from '../imported.ts';
import {
  argumentsIn,
  checkCallable,
  fit,
  fitsTensor,
  isSignature,
  objectOf,
  packed,
  type Structure,
  show,
  specsIn,
  structureOf,
  valueOf,
} from './structure.ts';
import { TracedOrHost } from './traced-or-host.ts';

type AnyFunction = (...args: never[]) => unknown;

/** One trace of a function. */
export class SavedTrace implements ImportedTrace {
  readonly name: string;
  readonly args: readonly Structure[];
  readonly named: Extract<Structure, { kind: 'dict' }>;
  readonly outputs: Structure;
  readonly saved: tensorflow.SavedConcreteFunction;
  readonly #runtime: Runtime;
  readonly #captures: () => readonly Value[];
  readonly #imported: () => readonly ImportedCapture[];
  readonly described: ImportedTrace['described'];
  #traced: TracedFunction<AnyFunction> | undefined;

  /**
   * @param captures what it uses beside its arguments, and `imported` the same as it is saved again
   * @throws InvalidArgumentError where arguments and captures are not those of the function in the graph.
   */
  constructor(
    name: string,
    runtime: Runtime,
    saved: tensorflow.SavedConcreteFunction,
    captures: () => readonly Value[],
    imported: () => readonly ImportedCapture[],
    described: ImportedTrace['described'],
  ) {
    this.name = name;
    this.saved = saved;
    this.#runtime = runtime;
    this.#captures = captures;
    this.#imported = imported;
    this.described = described;
    const { body, outputs, def } = runtime.function(name);
    const { canonicalized_input_signature: proto, bound_inputs: bound = [] } = saved;
    const { args, named } =
      proto?.none_value === undefined
        ? argumentsIn(structureOf(proto, name), name)
        : flatArguments(def, body.arguments.length - bound.length);
    this.args = args;
    this.named = named;
    this.#structures = args.length === 0 && named.keys.length > 0 ? [named] : [...args, ...named.items];
    this.#takesTensors = this.#structures.every(({ kind }) => kind === 'tensor');
    this.#counts = this.#structures.map((structure) => specsIn(structure).length);
    this.outputs = structureOf(saved.output_signature, name);
    const wanted = this.inputs.length + bound.length;
    if (wanted !== body.arguments.length)
      throw new InvalidArgumentError(
        `the function '${name}' takes ${body.arguments.length} arguments, but the model gives it ${wanted}`,
      );
    if (specsIn(this.outputs).length !== outputs.length)
      throw new InvalidArgumentError(
        `the function '${name}' gives ${outputs.length} results, but the model says ${specsIn(this.outputs).length}`,
      );
  }

  get inputs(): readonly TensorSpec[] {
    return [...this.args.flatMap(specsIn), ...specsIn(this.named)];
  }

  get library(): ImportedLibrary {
    return this.#runtime;
  }
  importedCaptures(): readonly ImportedCapture[] {
    return this.#imported();
  }
  get structuredOutputs(): unknown {
    return valueOf(this.outputs);
  }
  /** Arguments by name have theirs in the file, others those that they have in the graph. */
  get namedInputs(): ImportedTrace['namedInputs'] {
    const { body } = this.#runtime.function(this.name);
    const byName = this.named.keys.flatMap((key, i) =>
      specsIn(this.named.items[i] as Structure).map((_, at, all) =>
        all.length === 1 ? key : `${key}_${at}`,
      ),
    );
    const count = this.inputs.length - byName.length;
    return this.inputs.map((spec, i) => ({
      name: byName[i - count] ?? (body.defs[body.arguments[i] as number]?.name as string),
      spec,
    }));
  }

  /** Strings are on the host: what takes or gives them runs node by node. */
  get #onHost(): boolean {
    return [...this.inputs, ...specsIn(this.outputs)].some(({ dtype }) => dtype === 'string');
  }

  /** The arguments of a call: those by name come last, or, where there are no others, in one object. */
  readonly #structures: readonly Structure[];
  /** How many tensors each of them has. */
  readonly #counts: readonly number[];
  /** Whether all of them are tensors. */
  readonly #takesTensors: boolean;
  /** The names of the arguments behind those by position. */
  get namesBehind(): readonly string[] {
    return this.args.length === 0 && this.named.keys.length > 0 ? ['options'] : this.named.keys;
  }

  /** Whether all arguments are tensors, in structures that `tf.function` knows. */
  get isPlain(): boolean {
    return this.#structures.every(isSignature);
  }
  get signature(): readonly Signature[] {
    return this.#structures.map(valueOf) as readonly Signature[];
  }

  /** The trace as a `tf.function` of the same arguments. Those that are no tensors are what they are in the file. */
  get traced(): TracedFunction<AnyFunction> {
    if (this.#traced === undefined) {
      const structure: Structure = { kind: 'list', items: this.#structures };
      const run = (...given: readonly unknown[]): unknown => {
        const tensors = fit(structure, given, false, 'arguments');
        if (typeof tensors === 'string') throw new InvalidArgumentError(tensors, this.name);
        return this.run(tensors);
      };
      const plain = this.isPlain;
      this.#traced = tfFunction(run as never, {
        ...(plain ? { inputSignature: this.signature } : {}),
        name: shortName(this.name),
        autograph: false,
      }) as unknown as TracedFunction<AnyFunction>;
      // One trace serves all sizes that the file leaves open.
      const ranked = this.inputs.every(({ shape }) => shape !== null);
      if (!plain && ranked && !this.#onHost) this.concrete();
    }
    return this.#traced;
  }

  /** The arguments of a call by position, where the trace takes tensors alone, and these fit; undefined for any other call. */
  inPlace(given: readonly unknown[]): readonly Tensor[] | undefined {
    if (this.named.keys.length > 0 || given.length !== this.args.length) return undefined;
    for (let i = 0; i < given.length; i++)
      if (!fitsTensor(this.args[i] as Structure, given[i])) return undefined;
    return given as readonly Tensor[];
  }

  /** The variables that it holds. */
  get variables(): readonly Variable[] {
    return this.#captures().flatMap((value) => (value instanceof VariableHandle ? [value.variable] : []));
  }

  /** The trace by itself. @throws UnimplementedError for a function of strings, which are on the host. */
  concrete(): ConcreteFunction {
    if (this.#onHost)
      throw new UnimplementedError(
        'it takes or gives strings, which are on the host: it is called node by node, and has no trace to look at',
        shortName(this.name),
      );
    return this.traced.getConcreteFunction(...this.signature);
  }

  /** Runs the nodes on tensors for the specs: at once, or into the graph of a function that is traced. */
  run(tensors: readonly Tensor[]): unknown {
    return this.#packed(this.#runtime.call(this.name, [...tensors, ...this.#captures()]));
  }
  async #runLater(tensors: readonly Tensor[], pause: Pause): Promise<unknown> {
    return this.#packed(await this.#runtime.callAsync(this.name, [...tensors, ...this.#captures()], pause));
  }
  #packed(results: readonly Value[]): unknown {
    const wrong = results.find((result) => !(result instanceof Tensor));
    if (wrong !== undefined)
      throw new UnimplementedError('it gives a list or a resource, which is no value here', this.name);
    return packed(this.outputs, results);
  }

  /** Calls it with tensors for the specs. */
  call(tensors: readonly Tensor[]): unknown {
    checkCallable(this.outputs);
    return this.#runs.call(this.#argumentsOf(tensors), tensors);
  }
  /** The same off the event loop. */
  callAsync(tensors: readonly Tensor[], signal?: AbortSignal): Promise<unknown> {
    checkCallable(this.outputs);
    return this.#runs.callAsync(this.#argumentsOf(tensors), tensors, signal);
  }
  get #runs(): TracedOrHost {
    this.#calls ??= new TracedOrHost(
      this.traced,
      () => this.concrete(),
      { now: (given) => this.run(given), later: (given, pause) => this.#runLater(given, pause) },
      this.#onHost,
    );
    return this.#calls;
  }
  #argumentsOf(tensors: readonly Tensor[]): readonly unknown[] {
    if (this.#takesTensors) return tensors;
    let next = 0;
    return this.#structures.map((structure, i) => {
      const at = next;
      next += this.#counts[i] as number;
      return structure.kind === 'tensor' ? tensors[at] : packed(structure, tensors.slice(at, next));
    });
  }
  #calls: TracedOrHost | undefined;

  toString(): string {
    const named = this.named.keys.map(
      (key, i) => `${key}: ${show(valueOf(this.named.items[i] as Structure))}`,
    );
    return `(${[...this.args.map((arg) => show(valueOf(arg))), ...named].join(', ')}) -> ${show(valueOf(this.outputs))}`;
  }
}

/** The arguments of a function that has none but tensors, such as a part of a graph: as the graph has them. */
function flatArguments(
  { signature, arg_attr: attrs = [] }: tensorflow.FunctionDef,
  count: number,
): Pick<SavedTrace, 'args' | 'named'> {
  const args = (signature?.input_arg ?? [])
    .slice(0, Math.max(0, count))
    .map(({ name = '', type = 0 }, i): Structure => {
      const attr = attrs.find(({ key = 0 }) => key === i)?.value?.attr;
      const shape = attr?.get('_output_shapes')?.list?.shape?.[0];
      const sizes = shape === undefined ? null : partialShapeOf(shape);
      return { kind: 'tensor', spec: new TensorSpec(sizes, dtypeOf(type, name), name) };
    });
  return { args, named: { kind: 'dict', keys: [], items: [] } };
}

/** `__inference_f_123` is `f`. */
export function shortName(name: string): string {
  return /^__inference_(?:signature_wrapper_)?(.*?)(?:_\d+)?$/.exec(name)?.[1] || name;
}

/** The arguments of the Python function: names and defaults. */
export interface PythonArguments {
  /** In order, without `self`. */
  readonly args: readonly string[];
  /** The values of arguments that are left out. */
  readonly defaults: ReadonlyMap<string, unknown>;
  readonly keywordOnly: readonly string[];
}

/** The arguments that a file tells; those that it does not are known by position only. */
export function pythonArguments(spec: tensorflow.FunctionSpec | undefined): PythonArguments {
  const full =
    spec?.fullargspec === undefined ? undefined : valueOf(structureOf(spec.fullargspec, 'fullargspec'));
  const fields = (typeof full === 'object' && full !== null ? full : {}) as Record<string, unknown>;
  const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
  const all = list(fields['args']).map(String);
  const values = list(fields['defaults']);
  const defaults = new Map<string, unknown>();
  values.forEach((value, i) => {
    const name = all[all.length - values.length + i];
    if (name !== undefined) defaults.set(name, value);
  });
  for (const [name, value] of Object.entries((fields['kwonlydefaults'] as object | null) ?? {}))
    defaults.set(name, value);
  const args = spec?.is_method || all[0] === 'self' ? all.slice(1) : all;
  return { args, defaults, keywordOnly: list(fields['kwonlyargs']).map(String) };
}

/** A function of a loaded model. */
export interface LoadedFunction {
  /** Calls the trace that fits the arguments. Those by name come in an object at the end. */
  // biome-ignore lint/suspicious/noExplicitAny: what comes back is what the function returned in Python
  (...args: readonly unknown[]): any;
  /**
   * Calls it off the event loop. An AbortSignal may come last. A function of strings runs on this thread, node by node, and lets the process
   * go on between nodes.
   */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  runAsync(...args: readonly unknown[]): Promise<any>;
  /** The trace for arguments like these, which may be specs; the only one where none are given. */
  getConcreteFunction(...args: readonly unknown[]): ConcreteFunction;
  /** Each trace that the file has, as a function with an input signature. */
  readonly traces: readonly TracedFunction<AnyFunction>[];
}

const camelCase = (name: string): string =>
  name.replace(/(?<=.)_+([a-z\d])/g, (_, c: string) => c.toUpperCase());

/** Its traces here, with the names that the arguments have in Python. */
function savedAs(name: string, traces: readonly SavedTrace[], python: PythonArguments): SavedFunction {
  const count = Math.max(0, ...traces.map((trace) => trace.args.length));
  const isPrimitive = (value: unknown): value is string | number | boolean | null =>
    value === null || ['string', 'number', 'boolean'].includes(typeof value);
  const behind = [...new Set(traces.flatMap((trace) => trace.namesBehind))];
  const parameters = Array.from({ length: count + behind.length }, (_, i) => {
    const own = (i < count ? python.args[i] : behind[i - count]) ?? `args_${i}`;
    const given = python.defaults.get(own);
    return python.defaults.has(own) && isPrimitive(given) ? { name: own, default: given } : { name: own };
  });
  const [first, ...others] = traces;
  return {
    name,
    hostFunction: (first?.traced.hostFunction ?? (() => undefined)) as AnyFunction,
    inputSignature: first !== undefined && others.length === 0 && first.isPlain ? first.signature : null,
    get concreteFunctions() {
      return traces.map((trace) => trace.concrete());
    },
    parameters: { parameters, rest: null },
  };
}

/** A function with its traces. */
export function loadedFunction(
  name: string,
  traces: readonly SavedTrace[],
  spec: tensorflow.FunctionSpec | undefined,
): LoadedFunction {
  const python = pythonArguments(spec);
  const fits: Fits = (trace, given, converts) =>
    trace.inPlace(given) ?? fitting(trace, given, python, converts);
  return callable(name, traces, python, fits, { traces, spec });
}

/** The tensors of a call that fits a trace; why it does not otherwise. `converts`: whether numbers and arrays may become tensors. */
type Fits = (trace: SavedTrace, given: readonly unknown[], converts: boolean) => readonly Tensor[] | string;

function callable(
  name: string,
  traces: readonly SavedTrace[],
  python: PythonArguments,
  fits: Fits,
  imported: ImportedFunction,
): LoadedFunction {
  const fail = (args: readonly unknown[], why: readonly string[]): never => {
    if (traces.length === 0)
      throw new FailedPreconditionError(
        'the file has no trace of it: it was never called before the model was saved, and has no input signature',
        name,
      );
    throw new InvalidArgumentError(
      `no trace fits the arguments (${args.map((arg) => show(arg)).join(', ')}). The file has:\n${traces
        .map((trace, i) => `  ${String(trace)}${why[i] === undefined ? '' : `: ${why[i]}`}`)
        .join('\n')}`,
      name,
    );
  };
  const chosen = (given: readonly unknown[]): { trace: SavedTrace; tensors: readonly Tensor[] } => {
    const why: string[] = [];
    for (const converts of [false, true])
      for (let i = 0; i < traces.length; i++) {
        const trace = traces[i] as SavedTrace;
        const tensors = fits(trace, given, converts);
        if (typeof tensors !== 'string') return { trace, tensors };
        why[i] = tensors;
      }
    return fail(given, why);
  };
  const call = (...args: readonly unknown[]): unknown => {
    const { trace, tensors } = chosen(args);
    return trace.call(tensors);
  };
  const members = {
    traces: undefined as unknown,
    runAsync: async (...args: readonly unknown[]): Promise<unknown> => {
      const [given, signal] = withoutSignal(args);
      const { trace, tensors } = chosen(given);
      return trace.callAsync(tensors, signal);
    },
    getConcreteFunction: (...args: readonly unknown[]): ConcreteFunction => {
      const [first] = traces;
      if (args.length === 0 && traces.length === 1) return (first as SavedTrace).concrete();
      const { trace } = chosen(args);
      return trace.concrete();
    },
  };
  const fn = Object.assign(call, members) as unknown as LoadedFunction;
  Object.defineProperty(fn, 'traces', { get: () => traces.map((trace) => trace.traced), enumerable: true });
  Object.defineProperty(fn, 'name', { value: name });
  declareSavedFunction(fn, () => savedAs(name, traces, python));
  declareImported(fn, imported);
  return fn;
}

/** What a function of one trace says of itself. */
export interface TraceFacts {
  readonly inputs: readonly TensorSpec[];
  readonly outputs: readonly TensorSpec[];
  /** The variables that it reads or changes. */
  readonly variables: readonly Variable[];
}

/** A trace of a loaded model by itself: what `get_concrete_function` gave in Python. */
export interface LoadedConcreteFunction extends LoadedFunction, TraceFacts {
  /** Its arguments by position, and those by name. */
  readonly structuredInputSignature: readonly [
    args: readonly unknown[],
    named: Readonly<Record<string, unknown>>,
  ];
  /** Specs in the places of the results. */
  readonly structuredOutputs: unknown;
}

/** Adds what a trace says of itself. */
function withFacts<T extends object>(fn: T, trace: SavedTrace): T {
  Object.assign(fn, {
    structuredInputSignature: [trace.args.map(valueOf), valueOf(trace.named)],
    structuredOutputs: valueOf(trace.outputs),
    inputs: trace.inputs,
    outputs: specsIn(trace.outputs),
  });
  return Object.defineProperty(fn, 'variables', { get: () => trace.variables });
}

/**
 * A trace as an attribute of an object. It is called as the function that it is of, with the values that it was made for where
 * arguments are left out; or as TensorFlow's flat form has it: its tensors in their order, or by the names that the file has for them.
 */
export function loadedConcreteFunction(
  name: string,
  trace: SavedTrace,
  bare: tensorflow.SavedBareConcreteFunction,
): LoadedConcreteFunction {
  const python = argumentsOfTrace(trace, pythonArguments(bare.function_spec));
  const fits: Fits = (_, given, converts) => {
    const structured = trace.inPlace(given) ?? fitting(trace, given, python, converts);
    if (typeof structured !== 'string') return structured;
    const flat = fitFlat(trace, given, bare, converts);
    return typeof flat === 'string' ? structured : flat;
  };
  const fn = callable(name, [trace], python, fits, { traces: [trace], spec: bare.function_spec, bare });
  return withFacts(fn, trace) as LoadedConcreteFunction;
}

/** The arguments of a function as one of its traces has them: values of the trace are its defaults. */
function argumentsOfTrace(trace: SavedTrace, { args, keywordOnly }: PythonArguments): PythonArguments {
  const defaults = new Map<string, unknown>();
  const add = (name: string | undefined, structure: Structure): void => {
    if (name !== undefined && specsIn(structure).length === 0) defaults.set(name, valueOf(structure));
  };
  trace.args.forEach((structure, i) => {
    add(args[i], structure);
  });
  trace.named.keys.forEach((key, i) => {
    add(key, trace.named.items[i] as Structure);
  });
  return { args, defaults, keywordOnly };
}

/** The tensors of a call with tensors alone: some by position, others by name. */
function fitFlat(
  trace: SavedTrace,
  given: readonly unknown[],
  {
    argument_keywords: names = [],
    allowed_positional_arguments: most = 0,
  }: tensorflow.SavedBareConcreteFunction,
  converts: boolean,
): Tensor[] | string {
  const { inputs } = trace;
  if (names.length !== inputs.length) return 'its tensors have no names';
  const last = given.at(-1);
  const options = isPlain(last) && !Array.isArray(last) ? (last as Record<string, unknown>) : {};
  const placed = options === last ? given.slice(0, -1) : given;
  if (placed.length > most) return `it takes ${most} tensors by position, but got ${placed.length}`;
  const rest = names.slice(placed.length);
  const unknown = Object.keys(options).find((key) => !rest.includes(key));
  if (unknown !== undefined) return `it takes no argument '${unknown}'`;
  const missing = rest.find((key) => !Object.hasOwn(options, key));
  if (missing !== undefined) return `argument '${missing}' is missing`;
  const structure: Structure = { kind: 'list', items: inputs.map((spec) => ({ kind: 'tensor', spec })) };
  return fit(structure, [...placed, ...rest.map((key) => options[key])], converts, 'tensors');
}

/** The tensors of a call that fits a trace; why it does not otherwise. */
function fitting(
  trace: SavedTrace,
  given: readonly unknown[],
  python: PythonArguments,
  converts: boolean,
): Tensor[] | string {
  const direct = fitArguments(trace, given, {}, python, converts);
  const last = given.at(-1);
  if (typeof direct !== 'string' || !isPlain(last) || Array.isArray(last)) return direct;
  // The object at the end may be arguments by name.
  const byName = fitArguments(trace, given.slice(0, -1), last as Record<string, unknown>, python, converts);
  if (typeof byName !== 'string') return byName;
  const names = new Set([...python.args, ...trace.named.keys].flatMap((name) => [name, camelCase(name)]));
  const place = trace.args[given.length - 1];
  const meant = place?.kind !== 'dict' || Object.keys(last as object).some((key) => names.has(key));
  return meant ? byName : direct;
}

function fitArguments(
  trace: SavedTrace,
  given: readonly unknown[],
  options: Record<string, unknown>,
  python: PythonArguments,
  converts: boolean,
): Tensor[] | string {
  const { args, named } = trace;
  if (given.length > args.length)
    return `it takes ${args.length} arguments by position, but got ${given.length}`;
  const names = args.map((_, i) => python.args[i]);
  const used = new Set<string>();
  const find = (name: string | undefined): { readonly value: unknown } | undefined => {
    if (name === undefined) return undefined;
    const key = Object.hasOwn(options, name) ? name : camelCase(name);
    if (Object.hasOwn(options, key)) {
      used.add(key);
      return { value: options[key] };
    }
    return python.defaults.has(name) ? { value: python.defaults.get(name) } : undefined;
  };
  const positional: unknown[] = [...given];
  for (let i = given.length; i < args.length; i++) {
    const own = find(names[i]);
    const structure = args[i] as Structure;
    if (own === undefined && !(structure.kind === 'value' && structure.value === null))
      return `argument ${i}${names[i] === undefined ? '' : ` (${names[i]})`} is missing`;
    positional.push(own?.value);
  }
  const byName = named.keys.map((key): readonly [string, unknown] => [key, find(key)?.value]);
  const unknown = Object.keys(options).find((key) => !used.has(key));
  if (unknown !== undefined) return `it takes no argument '${unknown}'`;
  const label = (i: number): string => `argument ${i}${names[i] === undefined ? '' : ` (${names[i]})`}`;
  const found: Tensor[] = [];
  for (const [i, structure] of args.entries()) {
    const tensors = fit(structure, positional[i], converts, label(i));
    if (typeof tensors === 'string') return tensors;
    found.push(...tensors);
  }
  const rest = fit(named, objectOf(byName.filter(([, value]) => value !== undefined)), converts, 'arguments');
  if (typeof rest === 'string') return rest;
  return [...found, ...rest];
}

/** Arguments, and the signal behind them. */
export function withoutSignal(args: readonly unknown[]): readonly [unknown[], AbortSignal | undefined] {
  const last = args.at(-1);
  return last instanceof AbortSignal ? [args.slice(0, -1), last] : [[...args], undefined];
}

/** A signature of a model: it takes tensors by name and gives tensors by name. */
export interface SignatureFunction extends TraceFacts {
  (inputs?: Readonly<Record<string, unknown>>): Record<string, Tensor>;
  /** Calls it off the event loop, as `runAsync` of other functions. */
  runAsync(inputs?: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<Record<string, Tensor>>;
  /** The function as `tf.function` made it. */
  getConcreteFunction(): ConcreteFunction;
  /** `[[], { x: TensorSpec }]`: positional arguments, and those by name. */
  readonly structuredInputSignature: readonly [
    args: readonly [],
    named: Readonly<Record<string, TensorSpec>>,
  ];
  readonly structuredOutputs: Readonly<Record<string, TensorSpec>>;
  readonly traces: readonly TracedFunction<AnyFunction>[];
}

/** A signature that runs one trace, whose only arguments are tensors by name. */
export function signatureFunction(name: string, trace: SavedTrace): SignatureFunction {
  const python = pythonArguments(undefined);
  const { keys, items } = trace.named;
  const fits: Fits = (_, given, converts) => {
    if (given.length !== 1 || trace.args.length > 0) return fitting(trace, given, python, converts);
    const [first] = given;
    // A single input may be given by itself, as TensorFlow permits.
    const byItself = keys.length === 1 && first instanceof Tensor;
    if (byItself && fitsTensor(items[0] as Structure, first)) return [first];
    const named = byItself ? { [keys[0] as string]: first } : first;
    // Nearly every call has all names as the file has them.
    const tensors = fit(trace.named, named, converts, 'arguments');
    return typeof tensors === 'string' ? fitting(trace, [named], python, converts) : tensors;
  };
  const fn = callable(name, [trace], python, fits, { traces: [trace], spec: undefined });
  return withFacts(fn, trace) as unknown as SignatureFunction;
}
