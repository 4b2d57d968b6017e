// Lists that code fills by push while a graph is made of it.
import { constant, type Tensor, unstack } from '@eagre/core';
import { type Dim, knownDim } from '@eagre/core/internal';
import { TensorArray } from '@eagre/graph';
import { AutographError } from '../errors.ts';
import { own } from './frames.ts';
import { decode, encode, type Kind, kindOf, sameKind } from './kinds.ts';

/** What a turn of a loop, or a branch, may change: copies of lists, and what stands for them. */
const changeable = new WeakSet<object>();
const pushed = new WeakMap<object, unknown[]>();

/** A list that is about to be changed. @throws AutographError for one from outside of a branch or loop. */
export function list<T>(value: T, site: string): T {
  return typeof value === 'object' && value !== null && changeable.has(value)
    ? value
    : own(value, true, site);
}

/** The elements that may be read while the graph is made. */
export function elementsIn(value: unknown): unknown {
  return (typeof value === 'object' && value !== null ? pushed.get(value) : undefined) ?? value;
}

/** A copy that a branch may change. */
export function copyOf(value: unknown, name: string, site: string): unknown {
  if (!Array.isArray(value)) return value;
  const items = pushed.get(value);
  if (items !== undefined) return turnOf(name, site, [...items]);
  const copy: unknown[] = [...(value as readonly unknown[])];
  changeable.add(copy);
  return copy;
}

/** Gives a list the elements of a changed copy. @returns the list. */
export function refill(value: unknown, copy: unknown): unknown {
  const items = elementsIn(value);
  const others = elementsIn(copy);
  if (Array.isArray(items) && Array.isArray(others)) items.splice(0, items.length, ...(others as unknown[]));
  return value;
}

/** What stands for a list in one turn of a loop: it takes elements, and cannot be read, since those of other turns are not there. */
export function turnOf(name: string, site: string, items: unknown[] = []): unknown[] {
  const refuse = (what: string): never => {
    throw new AutographError(
      site,
      `${name} is ${what} in the loop over a tensor that fills it: keep what the next turn needs in a variable of its own, or use a tf.TensorArray`,
    );
  };
  const stand = new Proxy<unknown[]>([], {
    get(target, key) {
      if (key === 'push')
        return (...values: unknown[]): void => {
          items.push(...values);
        };
      if (key === 'pop') return (): unknown => (items.length > 0 ? items.pop() : refuse('emptied further'));
      if (key === 'constructor') return Reflect.get(target, key);
      return refuse(`read (${String(key)})`);
    },
    set: () => refuse('changed'),
    has: () => refuse('read'),
    ownKeys: () => refuse('read'),
  });
  changeable.add(stand);
  pushed.set(stand, items);
  return stand;
}

/** What a loop adds to a list in each turn, in arrays of the graph: one for each tensor of each element. */
export class Growth {
  readonly list: unknown;
  readonly #name: string;
  readonly #site: string;
  readonly #turns: Dim | null;
  #kinds: readonly Kind[] = [];
  #stand: unknown[] = [];

  /** @param turns how many there will be; null where the run decides. */
  constructor(value: unknown, name: string, site: string, turns: Dim | null) {
    this.list = value;
    this.#name = name;
    this.#site = site;
    this.#turns = turns;
  }

  /** What the turn that is traced now adds to. */
  begin(): unknown {
    this.#stand = turnOf(this.#name, this.#site);
    return this.#stand;
  }

  /** The arrays before the loop. */
  start(): readonly TensorArray[] {
    const out: (Tensor | TensorArray)[] = [];
    this.#kinds.forEach((kind) => encode(kind, undefined, true, out));
    return out.map((t) => {
      const { dtype, shape } = t as Tensor;
      return new TensorArray(dtype, { size: this.#count(), elementShape: shape });
    });
  }

  /** Whether the turn has added elements of other kinds than it was traced for, which are those of the next try. */
  learns(value: unknown, leaves: boolean): boolean {
    if (value !== this.#stand)
      throw new AutographError(
        this.#site,
        `${this.#name} becomes another list in a loop over a tensor: only push to it`,
      );
    const items = elementsIn(this.#stand) as readonly unknown[];
    if (items.length > 0 && (this.#turns === null || leaves)) {
      throw new AutographError(
        this.#site,
        `${this.#name} grows in a loop whose number of turns depends on the run, and shapes are known in a graph: begin with ${this.#name} = new tf.TensorArray(dtype, { size: the most elements }) and write to it`,
      );
    }
    const kinds = items.map((item, i) =>
      kindOf(item, { site: this.#site, name: `${this.#name}[${i}]`, ways: ['here', 'there'] }),
    );
    for (const kind of kinds)
      if (kind === 'same')
        throw new AutographError(
          this.#site,
          `${this.#name} is given something that is no tensor, number, list or plain object of these in a loop over a tensor`,
        );
    const same =
      kinds.length === this.#kinds.length && kinds.every((kind, i) => sameKind(this.#kinds[i], kind));
    this.#kinds = kinds;
    return !same;
  }

  get grows(): boolean {
    return this.#kinds.length > 0;
  }

  /** A list of the host has a number of elements that is known. */
  #count(): number {
    return knownDim(this.#turns ?? 0);
  }

  /** The arrays behind a turn. */
  write(arrays: readonly TensorArray[], turn: Tensor): readonly TensorArray[] {
    const out: (Tensor | TensorArray)[] = [];
    const items = elementsIn(this.#stand) as readonly unknown[];
    this.#kinds.forEach((kind, i) => encode(kind, items[i], false, out));
    return arrays.map((array, i) => array.write(turn, out[i] as Tensor));
  }

  /** Adds what all turns have given to the list. */
  finish(arrays: readonly TensorArray[]): void {
    const turns = this.#count();
    const rows = arrays.map((array) => (turns === 0 ? [] : unstack(array.stack())));
    const items = elementsIn(this.list);
    if (!Array.isArray(items)) return;
    for (let turn = 0; turn < turns; turn++) {
      let next = 0;
      for (const kind of this.#kinds) items.push(decode(kind, undefined, () => rows[next++]?.[turn]));
    }
  }
}

/** The number of the first turn. */
export function firstTurn(): Tensor {
  return constant(0, 'int32');
}

/** Whether a variable has stayed the same; lists of which elements are assigned come as copies. */
export function unchanged(a: unknown, b: unknown): boolean {
  const [x, y] = [elementsIn(a), elementsIn(b)];
  if (Object.is(x, y) || !Array.isArray(x) || !Array.isArray(y)) return Object.is(x, y);
  return x.length === y.length && x.every((v, i) => Object.is(v, (y as unknown[])[i]));
}
