// Traces of functions as they are in a SavedModel: each a function of the graph's library with a description of its arguments.
import { tree } from '@eagre/core/internal';
import type { tensorflow } from '@eagre/formats';
import {
  type ConcreteFunction,
  type Graph,
  type SavedFunction,
  type Signature,
  TensorSpec,
} from '@eagre/graph';
import { type Capture, compositionOf, Library, Names, type WrittenGradient } from '@eagre/graph/interchange';
import { type ImportedCapture, type ImportedFunction, type ImportedTrace, InnerTensor } from '../imported.ts';
import { FunctionCopier } from './imported-functions.ts';
import { type Parameter, type ParameterList, parametersOf } from './parameters.ts';
import { dict, encodeStructure, list, NONE, text, tuple } from './structured-value.ts';

type StructuredValue = tensorflow.StructuredValue;

/** A trace that was written. */
export interface WrittenTrace {
  /** Of its function in the library. */
  readonly name: string;
  /** What its function is called in the program. */
  readonly called: string;
  readonly captures: readonly (Capture | ImportedCapture)[];
  /** Its tensors in their order, with the names that they are given by. */
  readonly inputs: readonly { readonly name: string; readonly spec: TensorSpec }[];
  readonly outputs: unknown;
  readonly input_signature: StructuredValue;
  readonly output_signature: StructuredValue;
  /** How it is called by itself; null where the function that it is of says it. */
  readonly spec: tensorflow.FunctionSpec | null;
}

/** A function whose traces were written, and how it is called. */
export interface WrittenFunction {
  readonly traces: readonly WrittenTrace[];
  readonly spec: tensorflow.FunctionSpec;
}

// What functions without a name are called.
const NAMELESS = 'function';

/** Writes traces, each graph once. */
export class FunctionWriter {
  readonly library: Library;
  readonly #written = new Map<Graph | ImportedTrace, WrittenTrace>();
  readonly #copier = new FunctionCopier({
    unique: (called) => this.unique(called),
    push: (fn) => this.library.push(fn),
    gradientType: () => this.library.gradientType(),
  });
  #next = 0;

  /** @param customGradients whether gradients of `tf.customGradient` are written. */
  constructor(customGradients: boolean) {
    this.library = new Library({}, { compose: compositionOf, customGradients });
  }

  /** The gradients of `tf.customGradient`, and those that functions of loaded models have. */
  get gradients(): readonly tensorflow.RegisteredGradient[] {
    return [
      ...this.library.gradients.map(({ type, fn }) => ({ gradient_func: fn, registered_op_type: type })),
      ...this.#copier.gradients.map(({ gradient_func, registered_op_type }) => ({
        gradient_func,
        registered_op_type,
      })),
    ];
  }
  /** The same as traces. */
  readonly gradientTraces: WrittenTrace[] = [];

  /** A name for another function of the library. */
  unique(called: string): string {
    return `__inference_${called.replace(/\W+/g, '_')}_${this.#next++}`;
  }

  /**
   * @throws UnimplementedError for a node that TensorFlow has no ops for, or an argument that no file can hold.
   */
  trace(
    concrete: ConcreteFunction,
    list: ParameterList = parametersOf(concrete.hostFunction),
    attribute?: string,
  ): WrittenTrace {
    const { name, graph, structuredOutputs: outputs } = concrete.saved;
    const called = name === NAMELESS ? (attribute ?? name) : name;
    const known = this.#written.get(graph);
    if (known !== undefined) return known;
    const args = concrete.structuredInputSignature;
    const what = `the function '${called}'`;
    const inputs = namedInputs(args, list);
    const names = new Map(inputs.map(({ spec, name }) => [spec, name]));
    const values = paddedArguments(args, list).map((arg) =>
      isDefault(arg) ? arg.value : encodeStructure(arg, what, (spec) => names.get(spec)),
    );
    const unique = this.unique(called);
    const from = this.library.gradients.length;
    const captures = this.library.add(unique, graph, {
      arguments: inputs.map((input) => input.name),
    });
    this.gradientTraces.push(...this.library.gradients.slice(from).map(gradientTrace));
    const written: WrittenTrace = {
      name: unique,
      called,
      captures,
      inputs,
      outputs,
      input_signature: tuple([tuple(values), dict([])]),
      spec: functionSpec(list, [args], null),
      output_signature: encodeStructure(outputs, what),
    };
    this.#written.set(graph, written);
    return written;
  }

  /** A trace of a loaded model. */
  imported(trace: ImportedTrace, called: string): WrittenTrace {
    let written = this.#written.get(trace);
    if (written === undefined) {
      const { canonicalized_input_signature = NONE, output_signature = NONE } = trace.saved;
      written = {
        name: this.#copier.copy(trace.library, trace.name),
        called,
        captures: trace.importedCaptures(),
        inputs: trace.namedInputs,
        outputs: trace.structuredOutputs,
        input_signature: canonicalized_input_signature,
        output_signature,
        spec: null,
      };
      this.#written.set(trace, written);
      this.#described.add(written.name);
      this.#addGradients(trace);
    }
    return written;
  }

  /** Describes the gradients that came with a trace. */
  #addGradients(trace: ImportedTrace): void {
    for (const { gradient_func: name, from } of this.#copier.gradients.slice(this.#gradientCount))
      this.#describe(trace, from, name);
    this.#gradientCount = this.#copier.gradients.length;
  }
  #gradientCount = 0;

  /** Describes a function beside a trace, and those whose tensors it uses. */
  #describe(trace: ImportedTrace, from: string, name: string): void {
    const saved = this.#described.has(name) ? undefined : trace.described(from);
    if (saved === undefined) return;
    this.#described.add(name);
    const { canonicalized_input_signature = NONE, output_signature = NONE } = saved.saved;
    const captures = saved.importedCaptures().map((capture) => {
      if (!(capture instanceof InnerTensor)) return capture;
      const { name: tensor, concreteFunction } = capture;
      const around = this.#copier.copy(trace.library, concreteFunction);
      this.#describe(trace, concreteFunction, around);
      return new InnerTensor(tensor, around);
    });
    this.gradientTraces.push({
      name,
      called: from,
      captures,
      inputs: [],
      outputs: null,
      input_signature: canonicalized_input_signature,
      output_signature,
      spec: null,
    });
  }
  /** The functions that are described. */
  readonly #described = new Set<string>();

  /** All traces of a function of a loaded model, and how it is called. */
  importedFunction(fn: ImportedFunction, called: string): WrittenFunction {
    const traces = fn.traces.map((trace) => this.imported(trace, called));
    const names = traces[0]?.inputs.map(({ name }) => name) ?? [];
    return { traces, spec: fn.spec ?? positionalSpec(names) };
  }

  /** All traces of a function, and how it is called. */
  function(fn: SavedFunction, called: string): WrittenFunction {
    const list = fn.parameters ?? parametersOf(fn.hostFunction);
    const traces = fn.concreteFunctions.map((concrete) => this.trace(concrete, list, called));
    const calls = fn.concreteFunctions.map((concrete) => concrete.structuredInputSignature);
    return { traces, spec: functionSpec(list, calls, fn.inputSignature) };
  }
}

function gradientTrace({ fn, arguments: args, count, results, captures }: WrittenGradient): WrittenTrace {
  const spec = (value: (typeof args)[number]): StructuredValue => ({ tensor_spec_value: value });
  return {
    name: fn,
    called: fn,
    captures: captures.map((c) => ('tensor' in c ? new InnerTensor(c.tensor, c.fn) : c)),
    inputs: [],
    outputs: null,
    input_signature: tuple([tuple(args.map(spec)), dict([])]),
    output_signature: list([...new Array<StructuredValue>(count).fill(NONE), ...results.map(spec)]),
    spec: null,
  };
}

/** A default value that is put in the place of an argument that was left out. */
class Default {
  readonly value: StructuredValue;
  constructor(value: StructuredValue) {
    this.value = value;
  }
}
const isDefault = (value: unknown): value is Default => value instanceof Default;

const defaultOf = (parameter: Parameter | undefined): StructuredValue =>
  parameter?.default === undefined ? NONE : encodeStructure(parameter.default, 'a default value');

/** The arguments of a trace, with the values of those that the call left out. */
function paddedArguments(args: readonly unknown[], { parameters }: ParameterList): readonly unknown[] {
  const left = parameters.slice(args.length).map((p) => new Default(defaultOf(p)));
  return [
    ...args.map((arg, i) => (arg === undefined ? new Default(defaultOf(parameters[i])) : arg)),
    ...left,
  ];
}

/** The names of the tensors of a call: those of their specs, or of the arguments and what is inside of these. */
export function namedInputs(
  args: readonly unknown[],
  { parameters, rest }: ParameterList,
): WrittenTrace['inputs'] {
  const names = new Names();
  const found: { name: string; spec: TensorSpec }[] = [];
  tree.forEachLeaf(args, 'savedModel.save', (leaf, path) => {
    if (!(leaf instanceof TensorSpec)) return;
    const [at, ...inside] = path as readonly [number, ...unknown[]];
    const own = parameters[at]?.name ?? (rest === null ? `args_${at}` : `${rest}_${at - parameters.length}`);
    const wanted = leaf.name ?? [own, ...inside.map(String)].join('_');
    found.push({ name: names.take(wanted.replace(/\W/g, '_')), spec: leaf });
  });
  return found;
}

/** Python's description of the arguments. */
function functionSpec(
  { parameters, rest }: ParameterList,
  calls: readonly (readonly unknown[])[],
  signature: readonly Signature[] | null,
): tensorflow.FunctionSpec {
  const most =
    rest === null ? Math.max(parameters.length, ...calls.map((args) => args.length)) : parameters.length;
  const all: readonly Parameter[] = Array.from(
    { length: most },
    (_, i) => parameters[i] ?? { name: `args_${i}` },
  );
  const least = Math.min(most, ...calls.map((args) => args.length));
  // Behind an argument that may be left out all may be.
  const given = all.findIndex((p) => p.default !== undefined);
  const from = Math.min(given < 0 ? most : given, least);
  const defaults = all.slice(from);
  return {
    fullargspec: fullArgSpec(
      all.map((p) => p.name),
      { varargs: rest, defaults: defaults.length === 0 ? null : defaults.map(defaultOf) },
    ),
    is_method: false,
    input_signature:
      signature === null ? NONE : tuple(signature.map((s) => encodeStructure(s, 'inputSignature'))),
  };
}

/** The specification of the arguments of a function that is called by names alone. */
export function keywordSpec(names: readonly string[]): tensorflow.FunctionSpec {
  return { fullargspec: fullArgSpec([], { kwonlyargs: names }), input_signature: NONE };
}

/** The specification of the arguments of a function that is called by positions. */
export function positionalSpec(names: readonly string[]): tensorflow.FunctionSpec {
  return { fullargspec: fullArgSpec(names, {}), input_signature: NONE };
}

function fullArgSpec(
  args: readonly string[],
  more: {
    readonly varargs?: string | null;
    readonly defaults?: readonly StructuredValue[] | null;
    readonly kwonlyargs?: readonly string[];
  },
): StructuredValue {
  const fields: Readonly<Record<string, StructuredValue>> = {
    args: list(args.map(text)),
    varargs: more.varargs === null || more.varargs === undefined ? NONE : text(more.varargs),
    varkw: NONE,
    defaults: more.defaults === null || more.defaults === undefined ? NONE : tuple(more.defaults),
    kwonlyargs: list((more.kwonlyargs ?? []).map(text)),
    kwonlydefaults: NONE,
    annotations: dict([]),
  };
  const values = Object.entries(fields).map(([key, value]) => ({ key, value }));
  return { named_tuple_value: { name: 'FullArgSpec', values } };
}
