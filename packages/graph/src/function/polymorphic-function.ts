import {
  type DType,
  EagreError,
  errorFromCode,
  InvalidArgumentError,
  UnimplementedError,
} from '@eagre/backend';
import { type PartialShape, type Shape, Tensor, identity as tensorIdentity } from '@eagre/core';
import {
  checkFlag,
  checkFunction,
  checkList,
  checkText,
  context,
  type DistributionReplica,
  defineFunction,
  dimsOf,
  distribution,
  kind,
  type NamedFunction,
  type OptionNames,
  RecentMap,
  ShapeEnv,
  sameShape,
  tree,
} from '@eagre/core/internal';
import type { Profile } from '../inspect/profile.ts';
import type { GraphValue } from '../ir/graph.ts';
import { isMeasured } from '../ir/graph-bodies.ts';
import { type Signature, TensorSpec } from '../ir/tensor-spec.ts';
import { conversion, withConversion } from '../tracing/conversion.ts';
import { RetracingWatch } from '../tracing/retracing.ts';
import { checkSignature, conform } from '../tracing/signature.ts';
import { isStrings } from '../tracing/strings.ts';
import {
  flatten,
  flattenForFile,
  flattenKinds,
  flattenShapes,
  holdsStringSpec,
  identity,
  rebuilder,
  results,
} from '../tracing/structure.ts';
import { FunctionTracer, type TracedCall } from '../tracing/tracer.ts';
import { warnOfUnconverted } from '../tracing/unconverted.ts';
import { AtomicFunction } from './atomic-function.ts';
import { ConcreteFunction, specOf } from './concrete-function.ts';
import { MeasuredFunction, runnable, type TraceResult } from './measured.ts';
import { type ArgumentSpec, CapturesOutside, EndlessTrace, SizedTraces } from './sized-traces.ts';

/** Options of `tf.function`. */
export interface FunctionOptions {
  /** What the arguments must be; other ones are refused, and numbers become tensors. One trace serves any size that is null. */
  readonly inputSignature?: readonly Signature[];
  /** After a second trace that differs in sizes only, one trace serves these sizes whatever they are. */
  readonly reduceRetracing?: boolean;
  /** In the graph and in messages; the function's own name unless given. */
  readonly name?: string;
  /** Whether code that `tf.autograph` can convert runs converted in the function; true by default. */
  readonly autograph?: boolean;
}

export const optionNames: OptionNames<FunctionOptions> = {
  inputSignature: true,
  reduceRetracing: true,
  name: true,
  autograph: true,
};

export type AnyFunction = (...args: never[]) => unknown;

/** What the call before was: the next one is likely to be of the same kind. */
interface Last {
  readonly args: readonly unknown[];
  readonly tensorsOnly: boolean;
  readonly concrete: AtomicFunction;
  /** The replica of a distribution strategy that it ran in, which has variables of its own. */
  readonly replica: DistributionReplica | null;
}

// More kinds of arguments than programs have that run for long; a trace for each of ever new shapes would fill the memory.
const TRACES = 1024;

let eagerly = false;

/** With true, functions given to `tf.function` run as plain code: to debug them. */
export const runFunctionsEagerly: NamedFunction<[runEagerly: boolean], ['runEagerly'], unknown, void> =
  defineFunction('config.runFunctionsEagerly', { runEagerly: kind.asIs }, {}, (runEagerly) => {
    eagerly = checkFlag(runEagerly, 'runEagerly', 'config.runFunctionsEagerly');
  });
/** Whether they do. */
export const functionsRunEagerly: NamedFunction<[], [], unknown, boolean> = defineFunction(
  'config.functionsRunEagerly',
  {},
  {},
  () => eagerly,
);

/** What is saved of a traced function. */
export interface SavedFunction {
  readonly name: string;
  readonly hostFunction: AnyFunction;
  readonly inputSignature: readonly Signature[] | null;
  readonly concreteFunctions: readonly ConcreteFunction[];
  /** The names of the arguments, where the source code does not tell them. */
  readonly parameters?: {
    readonly parameters: readonly {
      readonly name: string;
      readonly default?: string | number | boolean | null;
    }[];
    readonly rest: string | null;
  };
}

/**
 * Where a function keeps what is saved of it. No WeakMap: collections of young objects keep what its values hold, and these hold the
 * memory of traces.
 */
const SAVED = Symbol('saved function');

/** Lets a function that is made of traces be saved as those of `tf.function` are. */
export function declareSavedFunction(fn: object, saved: () => SavedFunction): void {
  Object.defineProperty(fn, SAVED, { value: saved });
}

/** What is saved of a function that `tf.function` made; null for anything else. */
export function savedFunction(value: unknown): SavedFunction | null {
  return isTracedFunction(value) ? (value as unknown as { [SAVED](): SavedFunction })[SAVED]() : null;
}

/** Whether `tf.function` made the value. */
export function isTracedFunction(value: unknown): boolean {
  return typeof value === 'function' && Object.hasOwn(value, SAVED);
}

/** The traces of one function. */
export class PolymorphicFunction {
  readonly #fn: AnyFunction;
  readonly #name: string;
  readonly #signature: readonly Signature[] | undefined;
  readonly #reduce: boolean;
  readonly #autograph: boolean;
  /** For arguments of known shapes. */
  readonly #traces = new RecentMap<string, AtomicFunction>(TRACES, (concrete) => concrete.dispose());
  /** Traces that use tensors of a function around this one, by that function's own trace: they are of use in that one only. */
  readonly #inside = new WeakMap<FunctionTracer, Map<string, AtomicFunction>>();
  /** The arguments of these traces, without their tensors. */
  readonly #templates = new WeakMap<AtomicFunction, readonly unknown[]>();
  /** For arguments of which sizes may be any, by their kinds. */
  readonly #sized = new Map<string, SizedTraces[]>();
  /** The shapes that there are traces for, by kinds. */
  readonly #seen = new Map<string, (readonly Shape[])[]>();
  /** Traces for strings that differ from run to run, by their specs. */
  readonly #forFiles = new Map<string, ConcreteFunction>();
  #count = 0;
  #complete = 0;
  /** How many of its traces are being made, in each other. */
  #depth = 0;
  readonly #retracing: RetracingWatch;
  /** Whether the function's text has been looked at. */
  #looked = false;
  #last: Last | undefined;

  /** @throws InvalidArgumentError for what is no function, or no option of one. */
  constructor(fn: AnyFunction, options: FunctionOptions) {
    const op = 'tf.function';
    checkFunction(fn, 'what is traced', op);
    const { name, inputSignature, reduceRetracing, autograph = true } = options;
    if (name !== undefined) checkText(name, 'name', op);
    if (inputSignature !== undefined)
      for (const [i, spec] of checkList(inputSignature, 'inputSignature', op).entries())
        checkSignature(spec, `inputSignature[${i}]`, op);
    this.#fn = fn;
    this.#name = name ?? (fn.name === '' ? 'function' : fn.name);
    this.#signature = inputSignature;
    this.#reduce = checkFlag(reduceRetracing, 'reduceRetracing', op);
    this.#autograph = checkFlag(autograph, 'autograph', op);
    this.#retracing = new RetracingWatch(this.#name);
  }

  callable(self: unknown): AnyFunction {
    const call = (...args: unknown[]): unknown => this.#call(self, args);
    declareSavedFunction(call, () => this.saved(self));
    return Object.assign(call as AnyFunction, {
      getConcreteFunction: (...args: unknown[]) => this.#concreteCall(self, args),
      runAsync: (...args: unknown[]) => this.#callAsync(self, args),
      profile: (...args: unknown[]) => this.#profile(self, args),
      planText: (...args: unknown[]) => this.#planText(self, args),
      experimentalGetTracingCount: () => this.#count,
      hostFunction: this.#fn,
    });
  }

  /** What is saved: all traces, or that of the signature where there are none. */
  saved(self: unknown): SavedFunction {
    const signature = this.#signature;
    if (signature?.some(holdsStringSpec) === true)
      return {
        name: this.#name,
        hostFunction: this.#fn,
        inputSignature: signature,
        concreteFunctions: [this.#forFile(self, signature)],
      };
    const ofStrings = new Set(this.#forFiles.values());
    const ofSizes = [...this.#traces.values()].flatMap((concrete): ConcreteFunction[] => {
      const template = this.#templates.get(concrete);
      if (template === undefined) return [];
      const specs = withStringSpecs(template);
      if (specs !== null) {
        ofStrings.add(this.#forFile(self, specs));
        return [];
      }
      const args = this.#named(template);
      const shapes = flattenKinds(args).tensors.map((t) => t.shape as Shape);
      return [new ConcreteFunction(this.#name, args, shapes, () => concrete, null, this.#fn)];
    });
    const ofAnySize = [...this.#sized.values()].flat().map((sized) => this.#ofSized(sized));
    const concreteFunctions = [...ofAnySize, ...ofSizes, ...ofStrings];
    if (concreteFunctions.length === 0 && this.#signature !== undefined)
      concreteFunctions.push(this.#concreteCall(self, []));
    return {
      name: this.#name,
      hostFunction: this.#fn,
      inputSignature: this.#signature ?? null,
      concreteFunctions,
    };
  }

  /** Arguments with the names that the signature has for them. */
  #named(args: readonly unknown[]): readonly unknown[] {
    if (this.#signature === undefined) return args;
    const names = flattenKinds(this.#signature).tensors.map((t) =>
      t instanceof TensorSpec ? t.name : undefined,
    );
    const specs = flattenKinds(args).tensors.map(({ dtype, shape }, i) => {
      const name = names[i];
      return new TensorSpec(name === undefined ? { shape, dtype } : { shape, dtype, name });
    });
    return rebuilder(args)(specs) as readonly unknown[];
  }

  #ofSized(sized: SizedTraces): ConcreteFunction {
    const resolve = (now: readonly Tensor[]): AtomicFunction =>
      sized.concrete(
        now.map((t) => t.shape),
        context.tracer === null ? now : undefined,
      );
    const shapes = sized.specs.map((s) => s.shape);
    return new ConcreteFunction(this.#name, this.#named(sized.args), shapes, resolve, sized, this.#fn);
  }

  #call(self: unknown, given: readonly unknown[]): unknown {
    if (eagerly) return this.#run(self, given);
    const args = this.#signature === undefined ? given : conform(given, this.#signature);
    // What it does with strings is written into the trace around it.
    if (context.tracer?.forFile === true) return this.#run(self, args);
    const { replica } = distribution;
    // Replicas may meet in it, which they cannot do inside of a graph of its own.
    if (replica !== null && context.tracer !== null) return this.#run(self, args);
    const last = this.#last;
    if (last !== undefined && last.replica === replica && same(args, last.args))
      return last.concrete.call(last.tensorsOnly ? (args as readonly Tensor[]) : args.filter(isTensor));
    const { concrete, tensors } = this.#traceFor(self, args);
    // A function around has sizes of its own that depend on values.
    if (concrete instanceof MeasuredFunction && context.tracer !== null) return this.#run(self, args);
    return concrete.call(tensors);
  }

  #run(self: unknown, args: readonly unknown[]): unknown {
    return withConversion(this.#autograph, () => Reflect.apply(this.#fn, self, args));
  }

  async #callAsync(self: unknown, given: readonly unknown[]): Promise<unknown> {
    const last = given.at(-1);
    const signal = last instanceof AbortSignal ? last : undefined;
    const own = signal === undefined ? given : given.slice(0, -1);
    if (eagerly) return this.#run(self, own);
    const args = this.#signature === undefined ? own : conform(own, this.#signature);
    const { concrete, tensors } = this.#traceFor(self, args);
    return concrete.callAsync(tensors, signal);
  }

  #profile(self: unknown, given: readonly unknown[]): Profile {
    const args = this.#signature === undefined ? given : conform(given, this.#signature);
    const { concrete, tensors } = this.#traceFor(self, args);
    return concrete.profile(...tensors);
  }

  #planText(self: unknown, given: readonly unknown[]): string {
    const args = this.#signature === undefined ? given : conform(given, this.#signature);
    return this.#traceFor(self, args).concrete.planText();
  }

  /** The trace for these arguments, which is then tried first for the next ones. */
  #traceFor(
    self: unknown,
    args: readonly unknown[],
  ): { readonly concrete: AtomicFunction; readonly tensors: readonly Tensor[] } {
    const { tensors, key: ofArguments } = flatten(args);
    const key = inReplica(ofArguments);
    const concrete = this.#concrete(
      self,
      args,
      tensors.map((t) => t.shape),
      key,
      tensors,
    );
    const plain = args.every((a) => (isTensor(a) ? !isStrings(a) : typeof a !== 'object' || a === null));
    // Part of the function around this one where that does not know the sizes of the arguments.
    this.#last =
      plain &&
      !(concrete instanceof MeasuredFunction) &&
      envOf(tensors.map((t) => t.shape)) === null &&
      !concrete.captures
        ? {
            args: args.map((a) => (isTensor(a) ? new Like(a) : a)),
            tensorsOnly: args.every(isTensor),
            concrete,
            replica: distribution.replica,
          }
        : undefined;
    return { concrete, tensors };
  }

  #concrete(
    self: unknown,
    args: readonly unknown[],
    shapes: readonly Shape[],
    shapesKey: string,
    inputs?: readonly Tensor[],
  ): AtomicFunction {
    this.#retracing.called();
    const around = envOf(shapes);
    const key = around === null ? shapesKey : `${shapesKey}@${identity(around)}`;
    const known = this.#knownInside(shapesKey) ?? this.#traces.get(key);
    if (known !== undefined) return known;
    const sized = around === null ? this.#sizedFor(self, args, shapes) : undefined;
    const before = this.#count;
    // Where a function is traced around the call, no values are known.
    const values = context.tracer === null ? inputs : undefined;
    const concrete = this.#ofAnySize(sized, shapes, values) ?? this.#ofSizes(self, args, shapes, values);
    const tracer = currentTracer();
    if (concrete.captures && tracer !== null) {
      const list = this.#inside.get(tracer) ?? new Map<string, AtomicFunction>();
      this.#inside.set(tracer, list.set(shapesKey, concrete));
    } else if (sized === undefined) {
      this.#traces.set(key, concrete);
      if (around === null) this.#templates.set(concrete, templateOf(args, shapes));
    }
    if (this.#count > before) this.#retracing.traced(this.#count, args);
    return concrete;
  }

  #knownInside(key: string): AtomicFunction | undefined {
    for (let tracer = currentTracer(); tracer !== null; tracer = tracer.around) {
      const known = this.#inside.get(tracer)?.get(key);
      if (known !== undefined) return known;
    }
    return undefined;
  }

  /** null where tensors of a function around this one are used: then there is a trace for each size. */
  #ofAnySize(
    sized: SizedTraces | undefined,
    shapes: readonly Shape[],
    inputs: readonly Tensor[] | undefined,
  ): AtomicFunction | null {
    try {
      return sized?.concrete(shapes, inputs) ?? null;
    } catch (error) {
      if (error instanceof CapturesOutside) return null;
      throw error;
    }
  }

  #ofSizes(
    self: unknown,
    args: readonly unknown[],
    shapes: readonly Shape[],
    inputs: readonly Tensor[] | undefined,
  ): AtomicFunction {
    const trace = this.#trace(self, args, shapes, false, inputs);
    if (!isMeasured(trace.concrete.graph)) return trace.concrete;
    const template = templateOf(args, shapes);
    return runnable(trace, (now, measured) => this.#trace(self, template, shapes, false, now, measured));
  }

  /** The traces that serve these arguments whatever some sizes are. */
  #sizedFor(self: unknown, args: readonly unknown[], shapes: readonly Shape[]): SizedTraces | undefined {
    if (this.#signature === undefined && !this.#reduce && this.#sized.size === 0) return undefined;
    const key = inReplica(flattenKinds(args).key);
    const found = (this.#sized.get(key) ?? [])
      .filter(({ specs }) => specs.every(({ shape }, i) => holds(shape, shapes[i])))
      .sort((a, b) => a.unknown - b.unknown)[0];
    if (found !== undefined) return found;
    let wanted: readonly PartialShape[] | undefined;
    if (this.#signature !== undefined) {
      wanted = flattenKinds(this.#signature).tensors.map(
        ({ shape }, i) => shape ?? shapes[i].map(() => null),
      );
    } else if (this.#reduce) {
      const seen = this.#seen.get(key);
      if (seen === undefined) this.#seen.set(key, [shapes]);
      else {
        seen.push(shapes);
        wanted = shapes.map((shape, i) =>
          shape.map((d, axis) => (seen.every((other) => other[i]?.[axis] === d) ? d : null)),
        );
      }
    }
    if (wanted?.every((shape) => !shape.includes(null)) !== false) return undefined;
    return this.#makeSized(self, args, key, wanted);
  }

  #makeSized(
    self: unknown,
    args: readonly unknown[],
    kind: string,
    shapes: readonly PartialShape[],
  ): SizedTraces {
    const { tensors } = flattenKinds(args);
    const specs = tensors.map(({ dtype }, i): ArgumentSpec => ({ dtype, shape: shapes[i] }));
    const template = templateOf(args, shapes);
    const sized = new SizedTraces(this.#name, template, specs, (now, anySize, inputs, measured) =>
      this.#trace(self, template, now, anySize, inputs, measured),
    );
    const list = this.#sized.get(kind);
    if (list === undefined) this.#sized.set(kind, [sized]);
    else list.push(sized);
    return sized;
  }

  #concreteCall(self: unknown, given: readonly unknown[]): ConcreteFunction {
    const signature = this.#signature;
    let args = given;
    if (signature !== undefined) {
      if (given.length === 0) args = signature;
      else if (flattenKinds(given).tensors.every(isTensor)) args = conform(given, signature);
    }
    if (args.some(holdsStringSpec)) return this.#forFile(self, args);
    try {
      return this.#ofSpecs(self, args);
    } catch (error) {
      // Strings that only a run knows may be made inside, which a file can hold.
      if (!(error instanceof UnimplementedError) || !isWritten(args)) throw error;
      try {
        return this.#forFile(self, args);
      } catch {
        throw error;
      }
    }
  }

  #ofSpecs(self: unknown, args: readonly unknown[]): ConcreteFunction {
    const { tensors, key: ofKinds } = flattenKinds(args);
    const key = inReplica(ofKinds);
    const shapes = tensors.map((t): PartialShape => {
      if (t.shape === null) throw noRank(t, this.#name);
      return t.shape;
    });
    const from = (
      of: readonly PartialShape[],
      resolve: (tensors: readonly Tensor[]) => AtomicFunction,
      sized: SizedTraces | null,
    ): ConcreteFunction => new ConcreteFunction(this.#name, args, of, resolve, sized, this.#fn);
    let sized: SizedTraces | undefined;
    if (shapes.some((shape) => shape.includes(null))) {
      const equal = ({ specs }: SizedTraces): boolean =>
        specs.every(({ shape }, i) => String(shape) === String(shapes[i]));
      sized = this.#sized.get(key)?.find(equal) ?? this.#makeSized(self, args, key, shapes);
      try {
        sized.graph();
      } catch (error) {
        const failed = sized;
        const others = this.#sized.get(key)?.filter((other) => other !== failed);
        if (others !== undefined) this.#sized.set(key, others);
        throw error;
      }
    } else sized = this.#sizedFor(self, args, shapes as readonly Shape[]);
    if (sized !== undefined) {
      const { specs } = sized;
      const traces = sized;
      return from(
        specs.map((s) => s.shape),
        (now) =>
          traces.concrete(
            now.map((t) => t.shape),
            context.tracer === null ? now : undefined,
          ),
        sized,
      );
    }
    const concrete = this.#concrete(
      self,
      args,
      shapes as readonly Shape[],
      inReplica(flattenShapes(args).key),
    );
    return from(shapes, () => concrete, null);
  }

  /** The trace for strings that differ from run to run: it can be written, and a call of it traces anew for the strings that come. */
  #forFile(self: unknown, args: readonly unknown[]): ConcreteFunction {
    const { tensors, key: ofSpecs } = flattenForFile(args);
    const key = inReplica(ofSpecs);
    const known = this.#forFiles.get(key);
    if (known !== undefined) return known;
    const specs = tensors.map(({ dtype, shape }, i): ArgumentSpec => {
      if (shape === null) throw noRank(tensors[i], this.#name);
      return { dtype, shape };
    });
    const sized = new SizedTraces(this.#name, args, specs, (now, anySize) =>
      this.#trace(self, args, now, anySize, undefined, undefined, true),
    );
    const shapes = flattenKinds(args).tensors.map((t) => t.shape as PartialShape);
    const call = (given: readonly unknown[]): unknown =>
      this.#call(self, conform(given, args as Signature[]));
    const concrete = new ConcreteFunction(this.#name, args, shapes, noRun, sized, this.#fn, call);
    sized.graph();
    this.#forFiles.set(key, concrete);
    return concrete;
  }

  #trace(
    self: unknown,
    args: readonly unknown[],
    shapes: readonly Shape[],
    anySize: boolean,
    inputs?: readonly Tensor[],
    measured?: ReadonlyMap<number, number>,
    forFile = false,
  ): TraceResult {
    if (!this.#looked && this.#autograph && !conversion.refused) {
      this.#looked = true;
      warnOfUnconverted(this.#fn, this.#name, args);
    }
    const { tensors } = forFile ? flattenForFile(args) : flattenKinds(args);
    const dtypes = tensors.map((t) => t.dtype);
    const once = (mayCreate: boolean): TraceResult & { readonly made: boolean } => {
      const call: TracedCall = {
        sizes: envOf(shapes) ?? new ShapeEnv(),
        late: [],
        guess: {},
        ...(inputs === undefined ? {} : { inputs }),
        ...(measured === undefined ? {} : { measured }),
      };
      try {
        return this.#traceOnce(self, args, dtypes, shapes, anySize, mayCreate, call, forFile);
      } catch (error) {
        throw inputs === undefined ? error : withGuess(error, call);
      }
    };
    const first = once(this.#complete === 0);
    this.#complete++;
    // The trace that made the variables is not the one that runs: it must not make them again.
    return first.made ? once(false) : first;
  }

  #traceOnce(
    self: unknown,
    args: readonly unknown[],
    dtypes: readonly DType[],
    shapes: readonly Shape[],
    anySize: boolean,
    mayCreate: boolean,
    call: TracedCall,
    forFile: boolean,
  ): TraceResult & { readonly made: boolean } {
    const tracer = new FunctionTracer(this.#name, mayCreate, null, null, currentTracer(), call, forFile);
    this.#count++;
    this.#depth++;
    let structure: unknown;
    try {
      structure = tracer.run(() => this.#written(tracer, self, args, dtypes, shapes));
    } catch (error) {
      throw this.#depth > 1 && isOverflow(error) ? new EndlessTrace(this.#name) : error;
    } finally {
      this.#depth--;
      tracer.forgetCall();
      // The sizes of this trace mean nothing outside.
      if (anySize && tracer.outside.length > 0) {
        this.#count--;
        // biome-ignore lint/correctness/noUnsafeFinally: whatever went wrong is nobody's mistake then
        throw new CapturesOutside();
      }
    }
    const captured = tracer.outside.flatMap(({ from }) => (from instanceof Tensor ? [from] : []));
    tracer.graph.arguments.push(...tracer.outside.map((o) => o.argument));
    const concrete = new AtomicFunction(tracer.graph, structure, captured);
    return { concrete, structure, call, made: tracer.made.length > 0 };
  }

  /** Writes down what the function does. @returns what it returned. */
  #written(
    tracer: FunctionTracer,
    self: unknown,
    args: readonly unknown[],
    dtypes: readonly DType[],
    shapes: readonly Shape[],
  ): unknown {
    const places = shapes.map((shape, i) => tracer.argument(dtypes[i], shape, `args_${i}`));
    const rebuild = rebuilder(args, undefined, tracer.forFile);
    const inGraph = (strings: Tensor): Tensor => tracer.lasting(tracer.valueOf(strings));
    const returned = this.#run(self, rebuild(places) as readonly unknown[]);
    const result = results(returned, tracer.forFile ? inGraph : undefined);
    tracer.finish(eachOfItsOwn(tracer, result.tensors));
    return result.structure;
  }
}

const noRank = (t: Tensor | TensorSpec, name: string): InvalidArgumentError =>
  new InvalidArgumentError(`${String(t)} has no rank, but a trace needs one: give the spec a shape`, name);

/** What runs a trace that is made for a file. */
function noRun(): never {
  throw new UnimplementedError(
    'a trace of strings that differ from run to run has no plan: call it with the strings',
    'tf.function',
  );
}

/** Whether the stack of calls was full. */
const isOverflow = (error: unknown): boolean => /call stack|too much recursion/.test(String(error));

/** An error that may come of a size that was guessed. */
function withGuess(error: unknown, { guess: { taken } }: TracedCall): unknown {
  if (taken === undefined || !(error instanceof EagreError) || error instanceof EndlessTrace) return error;
  return errorFromCode(
    error.code,
    `${error.message}. A size here depends on what the host, random draws or a turn of a loop give, which only a run tells; the trace took ` +
      `${taken} for it. Keep what needs the size apart, behind the function`,
    error.op,
  );
}

/** Whether specs alone stand for tensors. */
const isWritten = (args: readonly unknown[]): boolean => !flattenForFile(args).tensors.some(isTensor);

/** Arguments with specs in the places of strings; null where there are none. */
function withStringSpecs(args: readonly unknown[]): readonly unknown[] | null {
  let found = false;
  const specs = tree.mapLeaves(args, 'tf.function', (leaf) => {
    if (!isStrings(leaf)) return leaf;
    found = true;
    return TensorSpec.fromTensor(leaf);
  });
  return found ? (specs as readonly unknown[]) : null;
}

/** Arguments without their tensors, which need not live on. */
function templateOf(args: readonly unknown[], shapes: readonly PartialShape[]): readonly unknown[] {
  const specs = flattenKinds(args).tensors.map((t, i) => specOf(t, shapes[i]));
  return rebuilder(args)(specs) as readonly unknown[];
}

/** The trace whose sizes are in shapes; null where all are known. */
function envOf(shapes: readonly Shape[]): ShapeEnv | null {
  for (const shape of shapes) for (const d of dimsOf(shape)) if (typeof d !== 'number') return d.env;
  return null;
}

/** The function that is being traced around a call. */
function currentTracer(): FunctionTracer | null {
  return context.tracer instanceof FunctionTracer ? context.tracer : null;
}

/** Tensors of which no two are one value, as two reads of a variable are: the caller may dispose one and keep the other. */
function eachOfItsOwn(tracer: FunctionTracer, tensors: readonly Tensor[]): Tensor[] {
  const values = new Set<GraphValue>();
  const own = new Map<Tensor, Tensor>();
  for (const tensor of tensors) {
    if (own.has(tensor)) continue;
    const value = tracer.valueOf(tensor);
    own.set(tensor, values.has(value) ? tensorIdentity(tensor) : tensor);
    values.add(value);
  }
  return tensors.map((t) => own.get(t) as Tensor);
}

/** Whether a shape has the sizes of a partial one. */
function holds(partial: PartialShape, shape: Shape): boolean {
  return partial.length === shape.length && partial.every((d, i) => d === null || d === shape[i]);
}

/** What is remembered of a tensor: not its memory. */
class Like {
  readonly dtype: DType;
  readonly shape: readonly number[];
  constructor({ dtype, shape }: Tensor) {
    this.dtype = dtype;
    this.shape = shape;
  }
}

/** A key of traces for the replica that runs: its variables are others than those of the next one. */
function inReplica(key: string): string {
  const { replica } = distribution;
  return replica === null ? key : `${key}/replica ${identity(replica)}`;
}

const isTensor = (v: unknown): v is Tensor => v instanceof Tensor;

/** Whether a call fits the trace of the one before: told without a key. */
function same(args: readonly unknown[], last: readonly unknown[]): boolean {
  if (args.length !== last.length) return false;
  for (let i = 0; i < args.length; i++) {
    const a = args[i];
    const b = last[i];
    if (a instanceof Tensor) {
      if (
        !(b instanceof Like) ||
        a.dtype !== b.dtype ||
        !(a.shape === b.shape || sameShape(a.shape, b.shape))
      )
        return false;
    } else if ((typeof a === 'object' && a !== null) || !Object.is(a, b)) return false;
  }
  return true;
}
