import { FailedPreconditionError, InvalidArgumentError } from '@eagre/backend';
import { type PartialShape, type Tensor, type TensorLike, Variable } from '@eagre/core';
import { Callable, isCompatible, showFields, toTensor } from '@eagre/core/internal';
import type { Profile, ProfileOptions } from '../inspect/profile.ts';
import type { Graph } from '../ir/graph.ts';
import { changedBy } from '../ir/graph-bodies.ts';
import { TensorSpec } from '../ir/tensor-spec.ts';
import { showArguments, showSignature } from '../tracing/signature.ts';
import { flattenKinds, rebuilder } from '../tracing/structure.ts';
import type { AtomicFunction } from './atomic-function.ts';
import type { SizedTraces } from './sized-traces.ts';

type AnyHostFunction = (...args: never[]) => unknown;

/**
 * One trace of a function, to be called: with arguments as the function takes them, or with its tensors alone, in their order.
 *
 *     const concrete = f.getConcreteFunction(new tf.TensorSpec([null, 3]));
 *     concrete(x);
 *
 * @throws InvalidArgumentError for other dtypes, shapes, structures or host values than it was traced for, with both signatures.
 */
export class ConcreteFunction extends Callable {
  readonly #name: string;
  /** The arguments that the trace is for, with specs in the places of tensors. */
  readonly #args: readonly unknown[];
  readonly #kind: string;
  readonly #specs: readonly TensorSpec[];
  readonly #resolve: (tensors: readonly Tensor[]) => AtomicFunction;
  readonly #sized: SizedTraces | null;
  /** What calls it where it takes strings: these are part of what runs. */
  readonly #ofStrings: ((args: readonly unknown[]) => unknown) | null;
  /** @internal The function that was traced, whose arguments have names. */
  declare readonly hostFunction: AnyHostFunction;

  /** @internal */
  constructor(
    name: string,
    args: readonly unknown[],
    shapes: readonly PartialShape[],
    resolve: (tensors: readonly Tensor[]) => AtomicFunction,
    sized: SizedTraces | null,
    hostFunction: AnyHostFunction,
    ofStrings: ((args: readonly unknown[]) => unknown) | null = null,
  ) {
    super();
    this.#ofStrings = ofStrings;
    Object.defineProperty(this, 'hostFunction', { value: hostFunction });
    this.#name = name;
    const { tensors, key } = flattenKinds(args);
    this.#kind = key;
    this.#specs = tensors.map((t, i) => specOf(t, shapes[i]));
    this.#args = rebuilder(args)(this.#specs) as readonly unknown[];
    this.#resolve = resolve;
    this.#sized = sized;
  }

  /** The graph; sizes that may be any are shown as `?`. */
  get graph(): Graph {
    return this.#sized === null ? this.#resolve([]).graph : this.#sized.graph();
  }

  /**
   * The trace for tensors of known sizes: `concrete.specialize(x).graph.statistics()`.
   * @param inputs tensors of the sizes that are meant.
   */
  specialize(...inputs: readonly Tensor[]): AtomicFunction {
    return this.#resolve(this.#fitting(inputs, inputs));
  }

  /** @internal What is saved of it: the trace for all sizes. */
  get saved(): { readonly name: string; readonly graph: Graph; readonly structuredOutputs: unknown } {
    const { structuredOutputs, graph } = this.#sized?.forAllSizes() ?? this.#resolve([]);
    return { name: this.#name, graph, structuredOutputs };
  }

  /** What it takes: the arguments, with a spec in the place of each tensor. */
  get structuredInputSignature(): readonly unknown[] {
    return this.#args;
  }

  /** What it returns, with a spec in the place of each tensor. */
  get structuredOutputs(): unknown {
    return this.#sized === null ? this.#resolve([]).structuredOutputs : this.#sized.structuredOutputs();
  }

  /** The variables that it reads or changes. */
  get variables(): readonly Variable[] {
    return variablesIn(this.graph);
  }

  /** Those of them that are trainable. */
  get trainableVariables(): readonly Variable[] {
    return this.variables.filter((v) => v.trainable);
  }

  /** `ConcreteFunction power(TensorSpec(shape=[null], dtype=float32), 2) -> TensorSpec(shape=[null], dtype=float32)` */
  override toString(): string {
    const args = this.#args.map(showArguments).join(', ');
    return `ConcreteFunction ${this.#name}(${args}) -> ${showArguments(this.structuredOutputs)}`;
  }

  /** Runs on tensors alone, in their order. */
  call(inputs: readonly Tensor[]): unknown {
    if (this.#ofStrings !== null) return this.#ofStrings(inputs);
    const tensors = this.#fitting(inputs, inputs);
    return this.#resolve(tensors).call(tensors);
  }

  /** See `ConcreteFunction.profile`: a run for each of the tensors' sizes is profiled for itself. */
  profile(...inputs: readonly Tensor[]): Profile;
  profile(options: ProfileOptions, ...inputs: readonly Tensor[]): Profile;
  profile(...args: readonly (Tensor | ProfileOptions)[]): Profile {
    const inputs = args.filter((a): a is Tensor => flattenKinds([a]).tensors[0] === a);
    const concrete = this.#resolve(this.#sized === null ? [] : this.#fitting(inputs, inputs));
    return concrete.profile(...(args as Tensor[]));
  }

  /**
   * The plan that runs, as text: a line for each kernel call, with its values, shapes and scalar program.
   * @param inputs tensors of the sizes that are meant, where sizes may be any.
   */
  planText(...inputs: readonly Tensor[]): string {
    if (this.#sized !== null && inputs.length === 0) {
      throw new FailedPreconditionError(
        'there is one plan per size: call planText with tensors of the sizes you want',
        this.#name,
      );
    }
    return this.#resolve(this.#sized === null ? [] : this.#fitting(inputs, inputs)).planText();
  }

  protected override invoke(...args: readonly never[]): unknown {
    if (this.#ofStrings !== null) return this.#ofStrings(args);
    const { tensors, key } = flattenKinds(args);
    const whole = key === this.#kind && tensors.every((t) => !(t instanceof TensorSpec));
    const inputs = this.#fitting(whole ? tensors : args, args);
    return this.#resolve(inputs).call(inputs);
  }

  #fitting(values: readonly unknown[], args: readonly unknown[]): Tensor[] {
    const fail = (why: string): never => {
      throw new InvalidArgumentError(
        `the arguments do not match the concrete function '${this.#name}': ${why}.\n  signature: ${showArguments(this.#args)}\n  arguments: ${showArguments(args)}`,
        'tf.function',
      );
    };
    if (values.length !== this.#specs.length)
      fail(
        `${values.length} arguments, expected ${this.#args.length}, or ${this.#specs.length} tensors alone`,
      );
    return this.#specs.map((spec, i) => {
      const value = values[i];
      let tensor: Tensor;
      try {
        tensor = toTensor(value instanceof Variable ? value.read() : (value as TensorLike), spec.dtype);
      } catch (error) {
        return fail((error as Error).message);
      }
      if (tensor.dtype !== spec.dtype || !isCompatible(tensor.shape, spec.shape))
        fail(`tensor ${i} is ${showArguments(tensor)}, expected ${showSignature(spec)}`);
      return tensor;
    });
  }
}

/** The spec of an argument, which may have a name. */
export function specOf(t: Tensor | TensorSpec, shape: PartialShape): TensorSpec {
  const { dtype } = t;
  return new TensorSpec(
    t instanceof TensorSpec && t.name !== undefined ? { shape, dtype, name: t.name } : { shape, dtype },
  );
}

function variablesIn(graph: Graph): Variable[] {
  const found = graph.nodes.flatMap((node) =>
    node.what.kind === 'variable' ? [node.what.variable] : changedBy(node),
  );
  return [...new Set([...found, ...graph.assignments.map((a) => a.variable)])];
}

export interface ConcreteFunction {
  // biome-ignore lint/suspicious/noExplicitAny: what comes back is what the function returned
  (...args: readonly unknown[]): any;
}
showFields(ConcreteFunction.prototype, ({ structuredInputSignature, structuredOutputs }) => ({
  structuredInputSignature,
  structuredOutputs,
}));
