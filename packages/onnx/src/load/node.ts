// A node while it runs: what the ops of `ops/` are written with.
import {
  type DType,
  EagreError,
  InvalidArgumentError,
  ResourceExhaustedError,
  UnimplementedError,
} from '@eagre/backend';
import { Tensor } from '@eagre/core';
import { context, type Dim, hostDims, inInitScope, viewOf } from '@eagre/core/internal';
import type { Attributes } from './attributes.ts';

/** A record of a value for each class: what `ZipMap` makes. */
export type ClassMap = ReadonlyMap<string | number, number>;
/** A map that a model takes. */
export interface TypedMap {
  /** By keys as text. */
  readonly values: ReadonlyMap<string, number | bigint | string>;
  readonly key: 'string' | 'int64';
  readonly value: DType;
}
/** What a name stands for: a tensor, a sequence, a map, or nothing. */
export type Value = Tensor | readonly (Tensor | ClassMap)[] | TypedMap | null;

/** A graph inside of a node. */
export interface Body {
  /** Runs on values for its inputs, and sees those of the graphs around it. */
  readonly run: (inputs: readonly Value[]) => readonly Value[];
  /** The dtypes of its outputs, null where it does not say. */
  readonly outputTypes: readonly (DType | null)[];
}

/** A node of the model as an op sees it. */
export class NodeCall {
  /** `Conv 'conv1'`. */
  readonly where: string;
  /** The version of the op's domain. */
  readonly opset: number;
  readonly attrs: Attributes;
  readonly inputs: readonly Value[];
  /** The names of its outputs; empty for those that nobody wants. */
  readonly outputs: readonly string[];
  readonly #bodies: ReadonlyMap<string, Body>;

  constructor(
    where: string,
    opset: number,
    attrs: Attributes,
    inputs: readonly Value[],
    outputs: readonly string[],
    bodies: ReadonlyMap<string, Body>,
  ) {
    this.where = where;
    this.opset = opset;
    this.attrs = attrs;
    this.inputs = inputs;
    this.outputs = outputs;
    this.#bodies = bodies;
  }

  /** The tensor that an input is. */
  x(i = 0): Tensor {
    const value = this.inputs[i];
    if (value instanceof Tensor) return value;
    return this.fail(`input ${i} is ${value === undefined || value === null ? 'missing' : 'no tensor'}`);
  }

  map(i = 0): TypedMap {
    const value = this.inputs[i] ?? null;
    if (value === null || value instanceof Tensor || !('values' in value && 'key' in value))
      this.fail(`input ${i} is no map`);
    return value as TypedMap;
  }

  /** The tensor of an input that may be left out. */
  maybe(i: number): Tensor | null {
    const value = this.inputs[i];
    return value === undefined || value === null ? null : this.x(i);
  }

  /** All inputs, each a tensor. */
  all(): Tensor[] {
    return this.inputs.map((_, i) => this.x(i));
  }

  sequence(i = 0): readonly (Tensor | ClassMap)[] {
    const value = this.inputs[i];
    if (!Array.isArray(value)) this.fail(`input ${i} is not a sequence`);
    return value as readonly (Tensor | ClassMap)[];
  }

  /** The integers of an input: sizes, axes. While a function is traced they may be expressions of sizes. */
  sizes(i: number): Dim[] {
    return hostDims(this.x(i), `input ${i} of ${this.where}`, OP);
  }

  /** The integers of an input that have to be known. */
  ints(i: number): number[] {
    return this.sizes(i).map((d) =>
      typeof d === 'number'
        ? d
        : this.unsupported(`input ${i} depends on sizes that are not known while it is traced`),
    );
  }

  /** The first integer of an input that has to be known. */
  int(i: number): number {
    return this.ints(i)[0] ?? this.fail(`input ${i} is empty`);
  }

  /** The first number of an input that has to be known. */
  number(i: number): number {
    return this.numbers(i)[0] ?? this.fail(`input ${i} is empty`);
  }

  /** The numbers of an input that have to be known. */
  numbers(i: number): number[] {
    const x = this.x(i);
    const known = context.tracer === null ? x : context.tracer.constant(x);
    if (known === null)
      this.unsupported(
        `input ${i} has to be a constant while the model is traced: call the model under tf.config.runFunctionsEagerly(true)`,
      );
    return inInitScope(() => Array.from(known.cast('float64').data() as Float64Array));
  }

  /** The axes of an attribute or, from an opset on, an input; null where there are none. */
  axes(input: number, since: number): number[] | null {
    if (this.opset >= since) return this.maybe(input) === null ? null : this.ints(input);
    return this.attrs.has('axes') ? this.attrs.ints('axes') : null;
  }

  /** An axis that counts from the front. */
  axis(axis: number, rank: number): number {
    const from = axis < 0 ? axis + rank : axis;
    if (!Number.isInteger(axis) || from < 0 || from >= rank)
      this.fail(`axis ${axis} is not one of a tensor of rank ${rank}`);
    return from;
  }

  body(name: string): Body {
    return this.#bodies.get(name) ?? this.fail(`there is no graph '${name}'`);
  }

  /** Whether somebody uses an output. */
  wants(i: number): boolean {
    return (this.outputs[i] ?? '') !== '';
  }

  fail(why: string): never {
    throw new InvalidArgumentError(`${this.where}: ${why}`, OP);
  }
  unsupported(why: string): never {
    throw new UnimplementedError(`${this.where}: ${why}`, OP);
  }
}

const OP = 'tf.onnx.load';

/** What an op does. @returns its output, a list of its outputs, or `Results` where a sequence is among them. */
export type Run = (node: NodeCall) => Tensor | null | readonly (Tensor | null)[] | Results;
/** Outputs of which some are sequences. */
export class Results {
  readonly list: readonly Value[];
  constructor(...list: readonly Value[]) {
    this.list = list;
  }
}

/** An op of ONNX. */
export interface OnnxOp {
  readonly run: Run;
  /**
   * Inputs whose numbers have to be known: initializers there stay constants, and a model where they depend on the values of its inputs is
   * not traced.
   */
  readonly hosts?: readonly number[];
  /** Inputs where initializers stay constants, as more is known of a graph then; other numbers are those of the run. */
  readonly constants?: readonly number[];
  /** Whether it needs the values of the run, or strings, so that the model cannot be traced; it may depend on the attributes. */
  readonly eager?: boolean | ((attrs: Attributes) => boolean);
  /** Imports what it runs with, for models that have it. */
  readonly prepare?: () => Promise<void>;
}

/** Ops by name; a function alone needs nothing else. */
export type OpTable = Readonly<Record<string, Run | OnnxOp>>;

/** The elements of a tensor as numbers or bigints; eagerly. */
export const elements = (x: Tensor): ArrayLike<number | bigint> => viewOf(x) as ArrayLike<number | bigint>;

/** An error of an op with the node where it happened. */
export function atNode(error: unknown, where: string): unknown {
  // Lists and buffers that JavaScript refuses for their size.
  if (error instanceof RangeError)
    return new ResourceExhaustedError(`${where}: ${error.message}`, OP, { cause: error });
  if (!(error instanceof EagreError) || error.message.includes(where)) return error;
  const Class = error.constructor as new (message: string, op?: string, options?: ErrorOptions) => EagreError;
  return new Class(`${where}: ${error.message}`, error.op, { cause: error });
}

/** Whether a dtype is one of floats. */
export const floating = (dtype: DType): boolean => dtype.includes('float');
