// One run of a node: its inputs, its attributes with TensorFlow's defaults, and what it calls.
import { type DType, InvalidArgumentError, Tensor, UnimplementedError } from '@eagre/core';
import { hostDims, knownDim, toShape } from '@eagre/core/internal';
import { dataTypeInfo, type tensorflow } from '@eagre/formats';
import { TensorArray } from '@eagre/graph';
import type { Runtime } from './runtime.ts';
import { QueueHandle, TableHandle, type Value, VariableHandle } from './values.ts';

type AttrValue = tensorflow.AttrValue;

/** A shape as an attribute: null for any rank, and null for unknown sizes. */
export type AttrShape = readonly (number | null)[] | null;

/** A node with the values of its inputs. */
export class OpCall {
  readonly node: tensorflow.NodeDef;
  readonly inputs: readonly Value[];
  readonly runtime: Runtime;

  constructor(node: tensorflow.NodeDef, inputs: readonly Value[], runtime: Runtime) {
    this.node = node;
    this.inputs = inputs;
    this.runtime = runtime;
  }

  get op(): string {
    return this.node.op ?? '';
  }

  // ---- inputs

  /** The tensor that is input `i`. */
  x(i: number = 0): Tensor {
    const value = this.inputs[i];
    if (value instanceof Tensor) return value;
    // TensorFlow 1's variables are references that ops read.
    if (value instanceof VariableHandle) return value.variable.read();
    if (value === undefined) throw this.wrong(`input ${i} is missing`);
    throw this.wrong(`input ${i} is a resource or a list, expected a tensor`);
  }
  /** All inputs from `start` to `end` as tensors. */
  xs(start: number = 0, end: number = this.inputs.length): Tensor[] {
    return Array.from({ length: Math.max(0, end - start) }, (_, i) => this.x(start + i));
  }
  has(i: number): boolean {
    return i < this.inputs.length;
  }
  /** The integers of input `i`, which have to be known, or made of sizes: as numbers. */
  ints(i: number): number[] {
    return hostDims(this.x(i), `input ${i}`, this.op).map(knownDim);
  }
  /** The only integer of input `i`. */
  int(i: number): number {
    const list = this.ints(i);
    if (list.length !== 1) throw this.wrong(`input ${i} has ${list.length} elements, expected 1`);
    return list[0] as number;
  }
  /** The integers of input `i` as a shape, some sizes of which may not be known. */
  shape(i: number): readonly number[] {
    return toShape(hostDims(this.x(i), `input ${i}`, this.op));
  }
  /** The list that is input `i`. */
  list(i: number): TensorArray {
    const value = this.inputs[i];
    if (value instanceof TensorArray) return value;
    throw this.wrong(`input ${i} is no list of tensors`);
  }
  /** The variable whose handle is input `i`. */
  variable(i: number = 0): VariableHandle['variable'] {
    const value = this.inputs[i];
    if (value instanceof VariableHandle) return value.variable;
    throw this.wrong(`input ${i} is no variable`);
  }
  /** The table whose handle is input `i`. */
  table(i: number = 0): TableHandle['table'] {
    return this.tableHandle(i).table;
  }
  tableHandle(i: number = 0): TableHandle {
    const value = this.inputs[i];
    if (value instanceof TableHandle) return value;
    throw this.wrong(`input ${i} is no table`);
  }
  /** The queue whose handle is input `i`. */
  queue(i: number = 0): QueueHandle['queue'] {
    const value = this.inputs[i];
    if (value instanceof QueueHandle) return value.queue;
    throw this.wrong(`input ${i} is no queue`);
  }

  // ---- attributes

  #attr(name: string): AttrValue | undefined {
    return this.node.attr?.get(name);
  }
  #needed<T>(name: string, value: T | undefined, missing: T | undefined, what: string): T {
    if (value !== undefined) return value;
    if (this.#attr(name) !== undefined) throw this.wrong(`attribute '${name}' is no ${what}`);
    if (missing === undefined) throw this.wrong(`attribute '${name}' is missing`);
    return missing;
  }

  intAttr(name: string, missing?: number): number {
    const value = this.#attr(name)?.i;
    return this.#needed(name, value === undefined ? undefined : Number(value), missing, 'integer');
  }
  floatAttr(name: string, missing?: number): number {
    return this.#needed(name, this.#attr(name)?.f, missing, 'float');
  }
  boolAttr(name: string, missing?: boolean): boolean {
    return this.#needed(name, this.#attr(name)?.b, missing, 'bool');
  }
  textAttr(name: string, missing?: string): string {
    const bytes = this.#attr(name)?.s;
    return this.#needed(name, bytes && new TextDecoder().decode(bytes), missing, 'string');
  }
  bytesAttr(name: string): Uint8Array {
    return this.#needed(name, this.#attr(name)?.s, undefined, 'string');
  }
  textsAttr(name: string): string[] {
    const text = new TextDecoder();
    const list = this.#attr(name)?.list;
    return this.#needed(name, list && (list.s ?? []).map((s) => text.decode(s)), [], 'list');
  }
  intsAttr(name: string, missing?: readonly number[]): readonly number[] {
    const list = this.#attr(name)?.list;
    return this.#needed(name, list && (list.i ?? []).map(Number), missing, 'list');
  }
  floatsAttr(name: string): readonly number[] {
    const list = this.#attr(name)?.list;
    return this.#needed(name, list && (list.f ?? []), [], 'list');
  }
  dtypeAttr(name: string, missing?: DType): DType {
    const number = this.#attr(name)?.type;
    return this.#needed(
      name,
      number === undefined ? undefined : dtypeOf(number, this.op),
      missing,
      'data type',
    );
  }
  dtypesAttr(name: string): readonly DType[] {
    const list = this.#attr(name)?.list;
    return this.#needed(name, list && (list.type ?? []).map((t) => dtypeOf(t, this.op)), [], 'list');
  }
  /** How many values a list attribute has. */
  countAttr(name: string): number {
    const list = this.#attr(name)?.list;
    return (list?.type ?? list?.shape ?? list?.i ?? list?.s ?? []).length;
  }
  shapeAttr(name: string): AttrShape {
    return partialShapeOf(this.#attr(name)?.shape);
  }
  shapesAttr(name: string): readonly AttrShape[] {
    return (this.#attr(name)?.list?.shape ?? []).map(partialShapeOf);
  }
  tensorAttr(name: string): tensorflow.TensorProto {
    return this.#needed(name, this.#attr(name)?.tensor, undefined, 'tensor');
  }
  funcAttr(name: string): tensorflow.NameAttrList {
    return this.#needed(name, this.#attr(name)?.func, undefined, 'function');
  }
  funcsAttr(name: string): readonly tensorflow.NameAttrList[] {
    return this.#attr(name)?.list?.func ?? [];
  }

  // ---- errors

  /** An error of the graph. */
  wrong(why: string): InvalidArgumentError {
    return new InvalidArgumentError(`node '${this.node.name ?? ''}' (${this.op}): ${why}`);
  }
  /** An error of what Eagre does not have. */
  lacks(what: string): UnimplementedError {
    return new UnimplementedError(`node '${this.node.name ?? ''}' (${this.op}): ${what}`);
  }
}

/** The dtype with a number of `types.proto`. @throws UnimplementedError for one that tensors here do not have. */
export function dtypeOf(number: number, op: string): DType {
  const name = dataTypeInfo(number % 100)?.name;
  if (name === undefined) throw new InvalidArgumentError(`${number} is the number of no data type`, op);
  if (!DTYPES.has(name)) throw new UnimplementedError(`Eagre has no tensors of the data type ${name}`, op);
  return name as DType;
}

const DTYPES: ReadonlySet<string> = new Set([
  'float32',
  'float64',
  'float16',
  'bfloat16',
  'int8',
  'int16',
  'int32',
  'int64',
  'uint8',
  'uint16',
  'uint32',
  'uint64',
  'bool',
  'string',
  'complex64',
  'complex128',
]);

/** A shape in a message: null for any, with null for each size that is not known. */
export function partialShapeOf(proto: tensorflow.TensorShapeProto | undefined): AttrShape {
  if (proto === undefined || proto.unknown_rank) return null;
  return (proto.dim ?? []).map(({ size = 0 }) => (Number(size) < 0 ? null : Number(size)));
}
