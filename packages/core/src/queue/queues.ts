// Queues of tensors.
import {
  CancelledError,
  type DType,
  FailedPreconditionError,
  InvalidArgumentError,
  OutOfRangeError,
  UnavailableError,
} from '@eagre/backend';
import { type Arguments, defineMethods } from '../arguments/arguments.ts';
import { checkCount, checkText } from '../arguments/checks.ts';
import { argumentsOf, takesArguments } from '../arguments/class-arguments.ts';
import { isPlain } from '../arguments/plain.ts';
import { context, withoutTapes } from '../dispatch/context.ts';
import { blanks } from '../ops/array/blanks.ts';
import { concat, stack } from '../ops/array/join.ts';
import { pad } from '../ops/array/shaping.ts';
import { checkFlag, checkList, isCompatible, type PartialShape, showShape } from '../shapes/shape.ts';
import { constant } from '../tensor/constant.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import { checkDTypeName } from '../tensor/dtypes.ts';
import type { Tensor } from '../tensor/tensor.ts';

/** The components of an element. */
type Element = readonly Tensor[];
/** An element as it is given: one tensor, a list of the components, or these by name. */
export type QueueValue = TensorLike | readonly TensorLike[] | Readonly<Record<string, TensorLike>>;
/** An element as it is taken. */
export type QueueElement = Tensor | readonly Tensor[] | Readonly<Record<string, Tensor>>;

export interface QueueArguments {
  /** How many elements there may be; any number for -1. */
  readonly capacity: number;
  /** The dtype of each component of an element. */
  readonly dtypes: DType | readonly DType[];
  /** The shape of each component; any unless given, and then only single elements can be taken. */
  readonly shapes?: readonly PartialShape[] | null;
  /** Names of the components, for elements that are objects. */
  readonly names?: string | readonly string[] | null;
  /** Of the queue in messages. */
  readonly name?: string;
}

interface Waiting {
  readonly attempt: () => boolean;
  readonly fail: (error: unknown) => void;
}

/** What all queues do. */
export abstract class QueueBase {
  readonly name: string;
  readonly dtypes: readonly DType[];
  /** The shape of each component. */
  readonly shapes: readonly PartialShape[] | null;
  /** Names of the components, for elements that are objects. */
  readonly names: readonly string[] | null;
  /** How many elements there may be; any number for -1. */
  readonly capacity: number;
  #closed = false;
  #cancelled = false;
  readonly #waiting: Waiting[] = [];

  protected constructor({ capacity, dtypes, shapes, names, name }: QueueArguments, what: string) {
    checkCount(capacity, 'capacity', what, -1);
    this.name = name ?? what;
    checkText(this.name, 'name', what);
    this.capacity = capacity < 0 ? Number.POSITIVE_INFINITY : capacity;
    this.dtypes = typeof dtypes === 'string' ? [dtypes] : [...checkList(dtypes, 'dtypes', what)];
    for (const dtype of this.dtypes) checkDTypeName(dtype);
    this.shapes = shapes == null ? null : checkList(shapes, 'shapes', what).map((shape) => [...shape]);
    this.names =
      names == null ? null : typeof names === 'string' ? [names] : [...checkList(names, 'names', what)];
    if (this.dtypes.length === 0) throw new InvalidArgumentError('dtypes is empty', what);
    const open = this.shapes?.find((shape) => shape.includes(null));
    if (open !== undefined && !this.pads)
      throw new InvalidArgumentError(
        `shapes has ${showShape(open)}, which must be known; a PaddingFIFOQueue takes sizes that differ`,
        what,
      );
    for (const [key, list] of [
      ['shapes', this.shapes],
      ['names', this.names],
    ] as const)
      if (list !== null && list.length !== this.dtypes.length)
        throw new InvalidArgumentError(
          `${key} has ${list.length} for ${this.dtypes.length} components`,
          what,
        );
  }

  /**
   * The queue at a place of a list, as `queues[index]`; the elements of all have one structure.
   * @throws InvalidArgumentError for no queues, an index outside of the list, or queues of other dtypes, shapes or names
   */
  static fromList(index: number, queues: readonly QueueBase[]): QueueBase {
    const op = 'QueueBase.fromList';
    const list = checkList(queues, 'queues', op);
    if (list.length === 0 || !list.every((queue) => queue instanceof QueueBase))
      throw new InvalidArgumentError('queues must be a list of queues', op);
    const kinds = list.map(({ dtypes, names, shapes }) => JSON.stringify([dtypes, names, shapes]));
    if (kinds.some((kind) => kind !== kinds[0]))
      throw new InvalidArgumentError('queues have elements of different dtypes, names or shapes', op);
    checkCount(index, 'index', op);
    const queue = list[index];
    if (queue === undefined)
      throw new InvalidArgumentError(`index is ${index}, and there are ${list.length} queues`, op);
    return queue;
  }

  /** @internal Whether shapes may have sizes that differ. */
  protected get pads(): boolean {
    return false;
  }
  /** @internal How many elements there are. */
  protected abstract get count(): number;
  /** @internal Takes an element in. */
  protected abstract put(element: Element): void;
  /** @internal Takes an element out; there is one. */
  protected abstract take(): Element;
  /** @internal How many of the elements may be taken out. */
  protected get available(): number {
    return this.count;
  }

  // ---- values

  #elementOf(value: unknown, many: boolean): Element {
    const what = this.name;
    let list: readonly unknown[];
    if (this.names !== null) {
      const keys = isPlain(value) ? Object.keys(value) : null;
      if (
        keys === null ||
        keys.length !== this.names.length ||
        !this.names.every((name) => keys.includes(name))
      )
        throw new InvalidArgumentError(`expected an object of ${this.names.join(', ')}`, what);
      list = this.names.map((name) => (value as Record<string, unknown>)[name]);
    } else
      list =
        this.dtypes.length === 1 && !isOneTuple(value)
          ? [value]
          : checkList(value as readonly unknown[], 'vals', what);
    if (list.length !== this.dtypes.length)
      throw new InvalidArgumentError(`expected ${this.dtypes.length} components, got ${list.length}`, what);
    return list.map((one, i) => {
      const x = toTensor(one as TensorLike, this.dtypes[i] as DType, true);
      const shape = many ? x.shape.slice(1) : x.shape;
      const wanted = this.shapes?.[i];
      if ((many && x.rank === 0) || (wanted !== undefined && !isCompatible(shape, wanted)))
        throw new InvalidArgumentError(
          `component ${i} has shape ${showShape(shape)}, expected ${showShape(wanted ?? [])}`,
          what,
        );
      return x;
    });
  }
  #given(element: Element): QueueElement {
    if (this.names !== null)
      return Object.fromEntries(this.names.map((name, i) => [name, element[i] as Tensor]));
    return element.length === 1 ? (element[0] as Tensor) : element;
  }
  #eager(method: string): void {
    if (context.tracer !== null)
      throw new FailedPreconditionError(
        'queues are for eager code: a traced function would use the queue once, while it is traced',
        `${this.name}.${method}`,
      );
  }

  // ---- in

  /** Whether there was room. Those that waited when the queue was closed are still let in, unless that was refused. */
  #enqueueAll(elements: readonly Element[], waited: boolean = false): boolean {
    if (waited ? this.#cancelled : this.#closed) throw new CancelledError('the queue is closed', this.name);
    if (this.count + elements.length > this.capacity) return false;
    for (const element of elements) this.put(element);
    this.#wake();
    return true;
  }
  #rowsOf(vals: unknown): Element[] {
    const parts = this.#elementOf(vals, true);
    const sizes = parts.map(({ shape }) => shape[0] as number);
    if (sizes.some((size) => size !== sizes[0]))
      throw new InvalidArgumentError(`components have ${sizes.join(', ')} rows`, this.name);
    return Array.from({ length: sizes[0] ?? 0 }, (_, i) => parts.map((part) => part.at(i)));
  }
  #full(): UnavailableError {
    return new UnavailableError(
      `the queue of ${this.capacity} is full, and JavaScript cannot wait: dequeue first, or await whenEnqueued`,
      this.name,
    );
  }
  /** Takes an element in. @throws UnavailableError where the queue is full, CancelledError where it is closed */
  enqueue(vals: QueueValue): void {
    this.#eager('enqueue');
    const element = this.#elementOf(vals, false);
    if (!this.#enqueueAll([element])) throw this.#full();
  }
  /** Takes the rows of tensors in, each as an element: all or none. */
  enqueueMany(vals: QueueValue): void {
    this.#eager('enqueueMany');
    if (!withoutTapes(() => this.#enqueueAll(this.#rowsOf(vals)))) throw this.#full();
  }
  /** Takes an element in as soon as there is room. */
  whenEnqueued(vals: QueueValue): Promise<void> {
    let waited = false;
    return this.#later(() => {
      this.#eager('whenEnqueued');
      const entered = this.#enqueueAll([this.#elementOf(vals, false)], waited);
      waited = true;
      return entered ? { value: undefined } : null;
    });
  }

  // ---- out

  #short(n: number): OutOfRangeError {
    return new OutOfRangeError(
      `the queue is closed and has ${this.available} elements where ${n} are wanted`,
      this.name,
    );
  }
  /** So many elements; null where they may still come. */
  #taken(n: number, fewer: boolean): Element[] | null {
    const closed = this.#closed;
    const ready = closed ? this.count : this.available;
    if (ready < n && (!closed || !fewer || ready === 0)) {
      if (closed && n > 0) throw this.#short(n);
      return n === 0 ? [] : null;
    }
    const elements = Array.from({ length: Math.min(n, ready) }, () => this.take());
    this.#wake();
    return elements;
  }
  #empty(n: number): UnavailableError {
    return new UnavailableError(
      `the queue has ${this.available} elements where ${n} are wanted, and JavaScript cannot wait: enqueue first, or await whenDequeued`,
      this.name,
    );
  }
  /** Takes an element out. @throws UnavailableError where there is none, OutOfRangeError where none will come */
  dequeue(): QueueElement {
    this.#eager('dequeue');
    const elements = this.#taken(1, false);
    if (elements === null) throw this.#empty(1);
    return this.#given(elements[0] as Element);
  }
  /** Takes `n` elements out, one behind the other along a first axis. */
  dequeueMany(n: number): QueueElement {
    return this.#batch(n, false, 'dequeueMany');
  }
  /** As `dequeueMany`; of a closed queue as many as there are. */
  dequeueUpTo(n: number): QueueElement {
    return this.#batch(n, true, 'dequeueUpTo');
  }
  #batch(n: number, fewer: boolean, method: string): QueueElement {
    this.#eager(method);
    checkCount(n, 'n', `${this.name}.${method}`);
    if (this.shapes === null)
      throw new InvalidArgumentError('several elements can be taken where shapes are given', this.name);
    const elements = this.#taken(n, fewer);
    if (elements === null) throw this.#empty(n);
    return withoutTapes(() =>
      this.#given(
        this.dtypes.map((dtype, i) =>
          this.together(
            elements.map((own) => own[i] as Tensor),
            dtype,
            i,
          ),
        ),
      ),
    );
  }
  /** @internal Components of several elements as one tensor. */
  protected together(list: readonly Tensor[], dtype: DType, component: number): Tensor {
    if (list.length > 0) return stack(list, 0);
    const shape = (this.shapes?.[component] ?? []).map((size) => size ?? 0);
    return constant([], dtype, { shape: [0, ...shape] });
  }
  /** Takes an element out as soon as there is one. */
  whenDequeued(): Promise<QueueElement> {
    return this.#later(() => {
      this.#eager('whenDequeued');
      const elements = this.#taken(1, false);
      return elements === null ? null : { value: this.#given(elements[0] as Element) };
    });
  }

  // ---- waiting

  /** What an attempt gives, as soon as it succeeds: in the order in which they came. */
  #later<T>(attempt: () => { readonly value: T } | null): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        attempt: () => {
          const result = attempt();
          if (result !== null) resolve(result.value);
          return result !== null;
        },
        fail: reject,
      };
      if (!settle(waiting)) this.#waiting.push(waiting);
    });
  }
  #wake(): void {
    for (let i = 0; i < this.#waiting.length; ) {
      const waiting = this.#waiting[i] as Waiting;
      // It leaves the list first: what it does may wake others.
      this.#waiting.splice(i, 1);
      if (settle(waiting)) i = 0;
      else this.#waiting.splice(i++, 0, waiting);
    }
  }

  /** How many elements there are (int32). */
  size(): Tensor {
    return constant(this.count, 'int32');
  }
  /** Lets nothing more in. What is in can still be taken out. @param cancelPendingEnqueues whether those that wait to be let in are refused */
  close(cancelPendingEnqueues: boolean = false): void {
    checkFlag(cancelPendingEnqueues, 'cancelPendingEnqueues', this.name);
    this.#cancelled ||= cancelPendingEnqueues;
    this.#closed = true;
    this.#wake();
  }
  /** Whether it is closed (bool). */
  isClosed(): Tensor {
    return constant(this.#closed, 'bool');
  }
}

/** Tries; an error ends the waiting too. */
function settle({ attempt, fail }: Waiting): boolean {
  try {
    return attempt();
  } catch (error) {
    fail(error);
    return true;
  }
}

/** A list that holds the only component. */
const isOneTuple = (value: unknown): boolean =>
  Array.isArray(value) && value.length === 1 && typeof value[0] === 'object' && !Array.isArray(value[0]);

type QueueParameters<O> = Arguments<
  [
    capacity: number,
    dtypes: DType | readonly DType[],
    shapes?: readonly PartialShape[] | null,
    names?: string | readonly string[] | null,
  ],
  ['capacity', 'dtypes', 'shapes', 'names'],
  O
>;

/** A queue that gives elements in the order in which they came. */
export class FIFOQueue extends QueueBase {
  readonly #elements: Element[] = [];
  constructor(
    ...args: QueueParameters<{
      /** Of the queue in messages. */
      readonly name?: string;
    }>
  ) {
    super(argumentsOf<QueueArguments>(FIFOQueue, new.target, args), 'FIFOQueue');
  }
  protected override get count(): number {
    return this.#elements.length;
  }
  protected override put(element: Element): void {
    this.#elements.push(element);
  }
  protected override take(): Element {
    return this.#elements.shift() as Element;
  }
}

/** A `FIFOQueue` whose components may have sizes that differ, null in the shapes: several elements are padded with zeros. */
export class PaddingFIFOQueue extends FIFOQueue {
  constructor(
    ...args: QueueParameters<{
      /** Of the queue in messages. */
      readonly name?: string;
    }>
  ) {
    const given = argumentsOf<QueueArguments>(PaddingFIFOQueue, new.target, args);
    if (given.shapes == null) throw new InvalidArgumentError('shapes must be given', 'PaddingFIFOQueue');
    super({ ...given, name: given.name ?? 'PaddingFIFOQueue' } as never);
  }
  protected override get pads(): boolean {
    return true;
  }
  protected override together(list: readonly Tensor[], dtype: DType, component: number): Tensor {
    const sizes =
      list[0]?.shape.map((_, axis) => Math.max(...list.map(({ shape }) => shape[axis] as number))) ?? [];
    const padded = list.map((x) => {
      const after = sizes.map((size, axis): [number, number] => [0, size - (x.shape[axis] as number)]);
      if (after.every(([, n]) => n === 0)) return x;
      if (dtype !== 'string') return pad(x, after);
      // Texts are padded with empty ones, one axis after the other.
      return after.reduce(
        (y, [, n], axis) =>
          concat(
            [
              y,
              blanks(
                y.shape.map((size, i) => (i === axis ? n : size)),
                dtype,
              ),
            ],
            axis,
          ),
        x,
      );
    });
    return super.together(padded, dtype, component);
  }
}

/** A queue that gives the elements of the smallest priority first: their first component, int64, which is not part of the shapes and dtypes. */
export class PriorityQueue extends QueueBase {
  readonly #elements: Element[] = [];
  constructor(
    ...args: QueueParameters<{
      /** Of the queue in messages. */
      readonly name?: string;
    }>
  ) {
    const given = argumentsOf<QueueArguments>(PriorityQueue, new.target, args);
    const { dtypes, shapes } = given;
    const list = typeof dtypes === 'string' ? [dtypes] : checkList(dtypes, 'dtypes', 'PriorityQueue');
    super(
      {
        ...given,
        dtypes: ['int64', ...list],
        shapes: shapes == null ? null : [[], ...checkList(shapes, 'shapes', 'PriorityQueue')],
      },
      'PriorityQueue',
    );
  }
  protected override get count(): number {
    return this.#elements.length;
  }
  protected override put(element: Element): void {
    const priority = priorityOf(element);
    // Behind those of the same priority.
    let at = this.#elements.length;
    while (at > 0 && priorityOf(this.#elements[at - 1] as Element) > priority) at--;
    this.#elements.splice(at, 0, element);
  }
  protected override take(): Element {
    return this.#elements.shift() as Element;
  }
}
const priorityOf = ([priority]: Element): bigint => BigInt((priority as Tensor).item() as never);

interface ShuffleArguments extends QueueArguments {
  readonly minAfterDequeue: number;
  readonly seed?: number | null;
}

/** A queue that gives elements in a random order, and keeps at least `minAfterDequeue` of them until it is closed. */
export class RandomShuffleQueue extends QueueBase {
  readonly #elements: Element[] = [];
  readonly #least: number;
  #state: number;
  constructor(
    ...args: Arguments<
      [
        capacity: number,
        minAfterDequeue: number,
        dtypes: DType | readonly DType[],
        shapes?: readonly PartialShape[] | null,
        names?: string | readonly string[] | null,
      ],
      ['capacity', 'minAfterDequeue', 'dtypes', 'shapes', 'names'],
      {
        /** Makes the order the same in each run of the program; drawn anew unless given. */
        readonly seed?: number | null;
        /** Of the queue in messages. */
        readonly name?: string;
      }
    >
  ) {
    const given = argumentsOf<ShuffleArguments>(RandomShuffleQueue, new.target, args);
    super(given, 'RandomShuffleQueue');
    checkCount(given.minAfterDequeue, 'minAfterDequeue', this.name);
    if (given.seed != null) checkCount(given.seed, 'seed', this.name, Number.MIN_SAFE_INTEGER);
    if (given.minAfterDequeue >= this.capacity)
      throw new InvalidArgumentError(
        `minAfterDequeue is ${given.minAfterDequeue}, which must be less than the capacity, ${this.capacity}`,
        this.name,
      );
    this.#least = given.minAfterDequeue;
    this.#state = given.seed ?? Math.floor(Math.random() * 2 ** 32);
  }
  protected override get count(): number {
    return this.#elements.length;
  }
  protected override get available(): number {
    return Math.max(0, this.#elements.length - this.#least);
  }
  protected override put(element: Element): void {
    this.#elements.push(element);
  }
  protected override take(): Element {
    // mulberry32; the order is not that of TensorFlow.
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let bits = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    const at = ((bits ^ (bits >>> 14)) >>> 0) % this.#elements.length;
    const [element] = this.#elements.splice(at, 1);
    return element as Element;
  }
}

const names = { capacity: true, dtypes: true, shapes: true, names: true, name: true } as const;
takesArguments<QueueArguments>(
  { positional: ['capacity', 'dtypes', 'shapes', 'names'], required: 2, names },
  FIFOQueue,
  PaddingFIFOQueue,
  PriorityQueue,
);
takesArguments<ShuffleArguments>(
  {
    positional: ['capacity', 'minAfterDequeue', 'dtypes', 'shapes', 'names'],
    required: 3,
    names: { ...names, minAfterDequeue: true, seed: true },
  },
  RandomShuffleQueue,
);
defineMethods(QueueBase.prototype, 'QueueBase', {
  enqueue: { positional: ['vals'], objects: ['vals'] },
  enqueueMany: { positional: ['vals'], objects: ['vals'] },
  whenEnqueued: { positional: ['vals'], objects: ['vals'] },
  dequeue: {},
  dequeueMany: { positional: ['n'] },
  dequeueUpTo: { positional: ['n'] },
  whenDequeued: {},
  size: {},
  close: { positional: ['cancelPendingEnqueues'], required: 0 },
  isClosed: {},
});
