import { InvalidArgumentError } from '@eagre/backend';
import type { Tensor } from '@eagre/core';
import type { onnx } from '@eagre/formats';
import { tensorOf, textOf } from '../tensors.ts';

/** The attributes of a node, read by name; what is not set has the default that is given, or is an error. */
export class Attributes {
  readonly #where: string;
  readonly #known: ReadonlyMap<string, onnx.AttributeProto>;

  constructor(where: string, list: readonly onnx.AttributeProto[]) {
    this.#where = where;
    this.#known = new Map(list.map((a) => [a.name ?? '', a]));
  }

  get names(): readonly string[] {
    return [...this.#known.keys()];
  }
  has(name: string): boolean {
    return this.#known.has(name);
  }

  int(name: string, otherwise?: number): number {
    return Number(this.#get(name, 'i', otherwise));
  }
  bigint(name: string): bigint {
    return BigInt(this.#get(name, 'i') as number | bigint);
  }
  float(name: string, otherwise?: number): number {
    return this.#get(name, 'f', otherwise) as number;
  }
  text(name: string, otherwise?: string): string {
    const s = this.#get(name, 's', otherwise);
    return typeof s === 'string' ? s : textOf(s as Uint8Array);
  }
  ints(name: string, otherwise?: readonly number[]): number[] {
    return (this.#list(name, 'ints', otherwise) as readonly (number | bigint)[]).map(Number);
  }
  /** Integers of 64 bits. */
  bigints(name: string, otherwise?: readonly bigint[]): bigint[] {
    return (this.#list(name, 'ints', otherwise) as readonly (number | bigint)[]).map(BigInt);
  }
  floats(name: string, otherwise?: readonly number[]): readonly number[] {
    return this.#list(name, 'floats', otherwise) as readonly number[];
  }
  texts(name: string, otherwise?: readonly string[]): string[] {
    const list = this.#list(name, 'strings', otherwise) as readonly (string | Uint8Array)[];
    return list.map((s) => (typeof s === 'string' ? s : textOf(s)));
  }
  tensor(name: string): Tensor {
    return tensorOf(this.#get(name, 't') as onnx.TensorProto);
  }

  #get(name: string, field: 'i' | 'f' | 's' | 't', otherwise?: unknown): unknown {
    const attribute = this.#known.get(name);
    // A scalar of value 0 may be left out of the bytes.
    const value = attribute === undefined ? otherwise : (attribute[field] ?? ZERO[field]);
    if (value === undefined) this.#lacks(name);
    return value;
  }

  #list(name: string, field: 'ints' | 'floats' | 'strings', otherwise?: unknown): unknown {
    const attribute = this.#known.get(name);
    const value = attribute === undefined ? otherwise : (attribute[field] ?? []);
    if (value === undefined) this.#lacks(name);
    return value;
  }

  #lacks(name: string): never {
    throw new InvalidArgumentError(`${this.#where} has no attribute '${name}'`, 'tf.onnx.load');
  }
}

const ZERO: Readonly<Record<string, unknown>> = { i: 0, f: 0, s: new Uint8Array(0) };
