import {
  type Backend,
  copyStorage,
  type DType,
  FailedPreconditionError,
  InvalidArgumentError,
  type Storage,
  UnimplementedError,
} from '@eagre/backend';
import { checkOneOf, checkText, isClass, naming } from '../arguments/checks.ts';
import { argumentsOf, type Parameters } from '../arguments/class-arguments.ts';
import { context, currentBackend, inInitScope } from '../dispatch/context.ts';
import {
  type DistributionStrategy,
  distribution,
  VariableAggregation,
  type VariableHome,
  VariableSynchronization,
} from '../dispatch/distribution.ts';
import { copyTo, kernelFor } from '../dispatch/op.ts';
import { symbolic } from '../dispatch/symbolic.ts';
import type { Dims } from '../shapes/dim.ts';
import { dims, dimsOf } from '../shapes/dims.ts';
import {
  checkFlag,
  checkPartialShape,
  isCompatible,
  type PartialShape,
  type Shape,
  sameShape,
  showShape,
} from '../shapes/shape.ts';
import { joining, type TensorLike, toTensor } from './convert.ts';
import { hasGradient } from './dtypes.ts';
import { formatTensor, showInConsole } from './format.ts';
import type { OpMethods } from './methods.ts';
import { noValue, UNKNOWN_VALUE } from './no-value.ts';
import { aliasTensor, checkAlive, type HostArray, type NestedArray, type Scalar, Tensor } from './tensor.ts';
import { VariableBase } from './variable-base.ts';

/** Options of `Variable`. */
export interface VariableOptions {
  /** Watched by gradient tapes and listed in `trainableVariables`; true by default. */
  readonly trainable?: boolean;
  /** In messages, graphs and summaries; `'Variable'` by default. */
  readonly name?: string;
  /** That of the first value by default. */
  readonly dtype?: DType;
  /**
   * Under a distribution strategy, when the copies of the replicas become equal: `'ON_WRITE'`, or `'ON_READ'` for sums that each replica
   * counts on its own. `'AUTO'` by default, which is `'ON_WRITE'`.
   */
  readonly synchronization?: VariableSynchronization;
  /** Under a distribution strategy, how values of several replicas become one; `'NONE'` by default. */
  readonly aggregation?: VariableAggregation;
  /**
   * The shapes that values may have: null stands for sizes that may change, and as a whole for any shape. That of the first value by default,
   * which then never changes. In a function of `tf.function` the sizes that may change are those of each run; one that asks for the rank of a
   * variable of any shape is traced anew for another rank.
   */
  readonly shape?: PartialShape | null;
}

/** All that a variable is made from. */
interface VariableArguments extends VariableOptions {
  readonly initialValue: TensorLike | (() => TensorLike);
}

/** @internal */
export const variableArguments: Parameters<VariableArguments> = {
  positional: ['initialValue'],
  names: {
    initialValue: true,
    trainable: true,
    name: true,
    dtype: true,
    synchronization: true,
    aggregation: true,
    shape: true,
  },
};

/** @internal A first value that the next variable takes over, as nobody else holds it. */
export const adopted: { value: Tensor | null } = { value: null };
/** Rows of a tensor: `tf.IndexedSlices`. */
export interface SparseDelta {
  /** The rows, [n, …]. */
  readonly values: Tensor;
  /** Which rows of the whole they are: int32 or int64 [n]. */
  readonly indices: Tensor;
}

const scatters = {
  scatterUpdate: { mode: 0, method: 'tensorScatterNdUpdate' },
  scatterAdd: { mode: 1, method: 'tensorScatterNdAdd' },
  scatterSub: { mode: 2, method: 'tensorScatterNdSub' },
  scatterMax: { mode: 3, method: 'tensorScatterNdMax' },
  scatterMin: { mode: 4, method: 'tensorScatterNdMin' },
} as const;

// A sum or a first value of so many bytes becomes the value, instead of being copied into it. Smaller ones may be parts of memory that many
// tensors share, which a variable would hold for long.
const TAKEN_OVER = 64 * 1024;

/** What the methods `scatterNd…` take by name. */
interface SliceUpdates {
  readonly indices: TensorLike;
  readonly updates: TensorLike;
}

function slicesOf(given: unknown, op: string): SparseDelta {
  const { values, indices } = (given ?? {}) as SparseDelta;
  if (!(values instanceof Tensor && indices instanceof Tensor))
    throw new InvalidArgumentError('expected tf.IndexedSlices', `Variable.${op}`);
  return { values, indices };
}

/** @internal Rows of a value times others, or divided by them. */
export function scaledRows(value: Tensor, at: Tensor, by: Tensor, op: 'scatterMul' | 'scatterDiv'): Tensor {
  const indices = at.reshape([-1]);
  const rest = dims(value).slice(1);
  const ones = rest.map(() => 1);
  const all = by.reshape([-1, ...rest] as number[]);
  // Rows that stand several times get the product of all factors each time.
  const same = indices.expandDims(1).equal(indices.expandDims(0));
  const count = dims(indices)[0] as number;
  // What is to the power of 0 is 1, whatever it is.
  const factors = all
    .expandDims(0)
    .pow(same.reshape([count, count, ...ones]).cast(by.dtype as 'float32'))
    .prod(1);
  const rows = value.gather(indices);
  const next =
    op === 'scatterMul'
      ? rows.mul(factors)
      : hasGradient(value.dtype)
        ? rows.div(factors)
        : cutOff(rows, factors);
  return value.tensorScatterNdUpdate(indices.expandDims(1), next);
}

/** Integers divided, and cut off towards 0. */
const cutOff = (a: Tensor, b: Tensor): Tensor => a.abs().floorDiv(b.abs()).mul(a.sign().mul(b.sign()));

let nextVariable = 1;

/**
 * A value that changes in place: the parameters of a model. Ops take it like a tensor, with all methods of one. Tensors read
 * from it keep the value that they had.
 */
export class Variable extends VariableBase {
  /** Another one for each variable of the process. */
  readonly id: number;
  /** The name that it was given, or one of its own: part of its name in graphs and files. */
  readonly name: string;
  /** Keras's path: the name behind those of all layers around. `name` for a variable that no layer, metric or optimizer made. */
  readonly path: string;
  /** Of its values, which does not change. */
  override readonly dtype: DType;
  /** That of the value now. It never changes, unless the option `shape` leaves sizes open; in a traced function, these are not known then. */
  override readonly shape: Shape;
  /** @internal The shapes that values may have: null for sizes that may change, and as a whole for any shape. */
  readonly openShape: PartialShape | null;
  /** Watched by gradient tapes, and listed in `trainableVariables`. */
  readonly trainable: boolean;
  /** When the copies of the replicas of a distribution strategy become equal. */
  readonly synchronization: VariableSynchronization;
  /** How values of several replicas become one. */
  readonly aggregation: VariableAggregation;
  #value: Tensor;
  /** The first value, while it may turn out that a checkpoint holds another one: until the first use, `#value` is a released tensor. */
  #initial: Tensor | null = null;

  /** @param initialValue the first value, or a function that gives it; the variable owns a copy. */
  constructor(initialValue: TensorLike | (() => TensorLike), options?: VariableOptions | null);
  constructor(
    options: {
      /** The first value, or a function that makes it. */
      readonly initialValue: TensorLike | (() => TensorLike);
    } & VariableOptions,
  );
  constructor(...args: readonly unknown[]) {
    super();
    const options = argumentsOf<VariableArguments>(Variable, new.target, args);
    const { initialValue: initial } = options;
    if (typeof (options.name ?? '') !== 'string') checkText(options.name, 'name', 'Variable');
    const synchronization = options.synchronization ?? 'AUTO';
    const aggregation = options.aggregation ?? 'NONE';
    checkOneOf(synchronization, Object.values(VariableSynchronization), 'synchronization', 'Variable');
    checkOneOf(aggregation, Object.values(VariableAggregation), 'aggregation', 'Variable');
    if (synchronization === 'ON_READ' && options.trainable === true)
      throw new InvalidArgumentError(
        "a variable with synchronization 'ON_READ' cannot be trainable: its copies differ",
        'Variable',
      );
    const strategy = new.target === Variable ? distribution.strategy : null;
    if (strategy === null) (context.tracer ?? context.lifting)?.created(this);
    const source = inInitScope(() => {
      const isMade = typeof initial === 'function' && !(initial instanceof Tensor) && !isClass(initial);
      const value = isMade ? initial() : initial;
      const tensor = naming('initialValue', () =>
        toTensor(value instanceof Tensor ? first(value) : (value as TensorLike), options.dtype, true),
      );
      // It is made where ops run now, and not where its value comes from; a strategy says where.
      const isHere = strategy !== null || tensor.dtype === 'string' || tensor.backend === currentBackend();
      return isHere ? tensor : copyTo(tensor, currentBackend());
    });
    const openShape = options.shape === undefined ? source.shape : options.shape;
    if (openShape !== null) checkPartialShape(openShape, 'Variable');
    if (!isCompatible(source.shape, openShape))
      throw new InvalidArgumentError(
        `the first value has shape ${showShape(source.shape)}, which is none of shape ${showPartialShape(openShape)}`,
        'Variable',
      );
    if (strategy !== null && !isFixed(openShape))
      throw new UnimplementedError('a distribution strategy needs variables of one shape', 'Variable');
    const trainable = checkFlag(options.trainable ?? synchronization !== 'ON_READ', 'trainable', 'Variable');
    this.synchronization = synchronization;
    this.aggregation = aggregation;
    this.id = nextVariable++;
    this.name = this.path = context.nameScope + (options.name ?? 'Variable');
    this.dtype = source.dtype;
    this.shape = source.shape;
    this.openShape = openShape;
    this.trainable = trainable;
    if (!this.hasOneShape) Object.defineProperty(this, 'shape', { get: () => this.#now().shape });
    const isAdopted = strategy === null && source === adopted.value;
    this.#value = isAdopted ? source : keptValue(source);
    if (strategy !== null) {
      const value = this.#value;
      const name = options.name ?? 'Variable';
      try {
        // biome-ignore lint/correctness/noConstructorReturn: the strategy makes the variable, with a copy for each replica
        return strategy.createVariable({ value, trainable, name, synchronization, aggregation });
      } finally {
        value.dispose();
      }
    }
    if (context.restoring !== null) this.awaitUse();
  }

  /** The number of elements. */
  get size(): number {
    return this.#now().size;
  }
  /** How many axes it has. */
  get rank(): number {
    return this.shape.length;
  }
  /** Where its value lies: `/job:localhost/replica:0/task:0/device:CPU:0`. */
  get device(): string {
    return this.#value.device;
  }

  /** The value now, as a tensor that later assignments do not change. */
  override read(): Tensor {
    const value = this.taken();
    // A tensor of its own: it holds the memory, so that updates in place copy first, and is disposed without harm.
    const read = aliasTensor(value, value.shape);
    this.#tell(read);
    return read;
  }
  /** TensorFlow's name for `read`. */
  value(): Tensor {
    return this.read();
  }
  /** TensorFlow's other name for `read`. */
  readValue(): Tensor {
    return this.read();
  }

  /**
   * Replaces the value. Dtypes must match, bare numbers adapt.
   * @throws InvalidArgumentError for another shape than that of the variable, or than its option `shape` allows
   */
  assign(value: TensorLike): this;
  assign(args: {
    /** The new value, of the variable's dtype and shape. */
    readonly value: TensorLike;
  }): this;
  assign(value: unknown): this {
    const next = toTensor(value as TensorLike, this.dtype);
    if (next.dtype !== this.dtype || !isCompatible(next.shape, this.openShape)) {
      throw new InvalidArgumentError(
        `cannot assign ${next.dtype} ${showShape(next.shape)} to the variable '${this.path}' of ${this.dtype} ${showPartialShape(this.openShape)}`,
        'assign',
      );
    }
    return this.#store(next);
  }
  /**
   * Adds to the value. A delta is broadcast to the variable's shape, as by Keras's variables; those of TensorFlow take one of equal shape alone.
   * @throws InvalidArgumentError for another dtype, or a result of another shape
   */
  assignAdd(delta: TensorLike): this;
  assignAdd(args: {
    /** What is added, of the variable's dtype; broadcast to its shape. */
    readonly delta: TensorLike;
  }): this;
  assignAdd(delta: unknown): this {
    return this.#update(this.taken().add(toTensor(delta as TensorLike, this.dtype)), 'assignAdd');
  }
  /**
   * Subtracts from the value. A delta is broadcast to the variable's shape, as by Keras's variables; those of TensorFlow take one of equal shape alone.
   * @throws InvalidArgumentError for another dtype, or a result of another shape
   */
  assignSub(delta: TensorLike): this;
  assignSub(args: {
    /** What is subtracted, of the variable's dtype; broadcast to its shape. */
    readonly delta: TensorLike;
  }): this;
  assignSub(delta: unknown): this {
    return this.#update(this.taken().sub(toTensor(delta as TensorLike, this.dtype)), 'assignSub');
  }

  /** Adds rows to the value: `values[i]` to row `indices[i]`. The other rows are not touched. @throws OutOfRangeError for a row that is not there. */
  scatterAdd(sparseDelta: SparseDelta): this;
  scatterAdd(args: {
    /** The rows that are added, and where. */
    readonly sparseDelta: SparseDelta;
  }): this;
  scatterAdd(sparseDelta: unknown): this {
    return this.#scatter(sparseDelta, 'scatterAdd');
  }
  /** Subtracts rows from the value, as `scatterAdd` adds them. */
  scatterSub(sparseDelta: SparseDelta): this;
  scatterSub(args: {
    /** The rows that are subtracted, and where. */
    readonly sparseDelta: SparseDelta;
  }): this;
  scatterSub(sparseDelta: unknown): this {
    return this.#scatter(sparseDelta, 'scatterSub');
  }
  /** Replaces rows of the value. */
  scatterUpdate(sparseDelta: SparseDelta): this;
  scatterUpdate(args: {
    /** The new rows, and where they go. */
    readonly sparseDelta: SparseDelta;
  }): this;
  scatterUpdate(sparseDelta: unknown): this {
    return this.#scatter(sparseDelta, 'scatterUpdate');
  }
  /** Keeps the larger of both values in rows. */
  scatterMax(sparseDelta: SparseDelta): this;
  scatterMax(args: {
    /** The rows that are compared, and with which. */
    readonly sparseDelta: SparseDelta;
  }): this;
  scatterMax(sparseDelta: unknown): this {
    return this.#scatter(sparseDelta, 'scatterMax');
  }
  /** Keeps the smaller of both values in rows. */
  scatterMin(sparseDelta: SparseDelta): this;
  scatterMin(args: {
    /** The rows that are compared, and with which. */
    readonly sparseDelta: SparseDelta;
  }): this;
  scatterMin(sparseDelta: unknown): this {
    return this.#scatter(sparseDelta, 'scatterMin');
  }

  /** Multiplies rows of the value: row `indices[i]` by `values[i]`, by all of them where an index stands twice. */
  scatterMul(sparseDelta: SparseDelta): this;
  scatterMul(args: {
    /** The factors of rows, and which rows. */
    readonly sparseDelta: SparseDelta;
  }): this;
  scatterMul(sparseDelta: unknown): this {
    return this.#scale(sparseDelta, 'scatterMul');
  }
  /** Divides rows of the value, as `scatterMul` multiplies them; integers are cut off towards 0. @throws InvalidArgumentError for an integer divided by 0 */
  scatterDiv(sparseDelta: SparseDelta): this;
  scatterDiv(args: {
    /** The divisors of rows, and which rows. */
    readonly sparseDelta: SparseDelta;
  }): this;
  scatterDiv(sparseDelta: unknown): this {
    return this.#scale(sparseDelta, 'scatterDiv');
  }
  /**
   * Replaces rows in each of many parts of the value: the leading axes of `indices` [...batch, n], of `values` [...batch, n, ...rest] and of the
   * variable [...batch, rows, ...rest] are the same. As `tf.IndexedSlices` have one axis of indices, those of more are given by name:
   * `v.batchScatterUpdate({ sparseDelta: { values, indices } })`.
   */
  batchScatterUpdate(sparseDelta: SparseDelta): this;
  batchScatterUpdate(args: {
    /** The new rows of each part, and where they go. */
    readonly sparseDelta: SparseDelta;
  }): this;
  batchScatterUpdate(sparseDelta: unknown): this {
    const op = 'batchScatterUpdate';
    const { values, indices } = slicesOf(sparseDelta, op);
    const batch = dims(indices).slice(0, -1);
    if (indices.rank === 0 || !sameShape(batch, dimsOf(this.shape).slice(0, batch.length)))
      throw new InvalidArgumentError(
        `indices ${showShape(indices.shape)} do not begin with the axes of ${showShape(this.shape)}`,
        `Variable.${op}`,
      );
    // The place along each of the axes in front.
    const places = batch.map((_, axis) => indices.mul(0).add(1).cumsum(axis).sub(1));
    const axes = batch.map((_, axis) => axis + 1);
    const tuples = (joining.stack as (list: readonly Tensor[]) => Tensor)([...places, indices]).transpose([
      ...axes,
      axes.length + 1,
      0,
    ]);
    return this.#scatterNd(tuples, values, 'scatterUpdate', op);
  }

  /**
   * Adds slices to the value: `updates` [..., ...rest] at the tuples in the last axis of `indices` [..., k], each for the first k axes of the variable.
   * What stands twice is added twice.
   * @throws OutOfRangeError for a tuple that is outside; nothing is changed then.
   */
  scatterNdAdd(indices: TensorLike, updates: TensorLike): this;
  scatterNdAdd(args: SliceUpdates): this;
  scatterNdAdd(indices: unknown, updates?: unknown): this {
    return this.#scatterNd(indices, updates, 'scatterAdd', 'scatterNdAdd');
  }
  /** Subtracts slices from the value, as `scatterNdAdd` adds them. */
  scatterNdSub(indices: TensorLike, updates: TensorLike): this;
  scatterNdSub(args: SliceUpdates): this;
  scatterNdSub(indices: unknown, updates?: unknown): this {
    return this.#scatterNd(indices, updates, 'scatterSub', 'scatterNdSub');
  }
  /** Replaces slices of the value, as `scatterNdAdd` adds them; where a tuple stands twice the last one wins. */
  scatterNdUpdate(indices: TensorLike, updates: TensorLike): this;
  scatterNdUpdate(args: SliceUpdates): this;
  scatterNdUpdate(indices: unknown, updates?: unknown): this {
    return this.#scatterNd(indices, updates, 'scatterUpdate', 'scatterNdUpdate');
  }

  /** Rows of the value, as `gather` takes them. Their gradient for the variable is of these rows alone. @throws OutOfRangeError for a row that is not there */
  sparseRead(indices: TensorLike): Tensor;
  sparseRead(args: {
    /** The numbers of the rows, int32 or int64. */
    readonly indices: TensorLike;
  }): Tensor;
  sparseRead(indices: unknown): Tensor {
    return this.gather(indices as TensorLike);
  }

  /**
   * @internal Replaces the value by what is made of it.
   * @param op the method that does so.
   */
  rewrite(_op: string, next: (value: Tensor) => Tensor): this {
    return this.#store(next(this.taken()));
  }

  #scatter(given: unknown, name: keyof typeof scatters): this {
    const { values, indices } = slicesOf(given, name);
    this.checkUpdates(values, [...dims(indices), ...dimsOf(this.shape).slice(1)], name);
    return this.#put(indices.reshape([-1, 1]), values, name, name);
  }

  #scatterNd(given: unknown, updates: unknown, name: keyof typeof scatters, op: string): this {
    const [indices, values] = this.checkSlices(given, updates, op);
    return this.#put(indices, values, name, op);
  }

  /** @internal The tuples and slices of an update. @throws InvalidArgumentError where they do not fit */
  checkSlices(given: unknown, updates: unknown, op: string): readonly [indices: Tensor, values: Tensor] {
    const indices = toTensor(given as TensorLike, given instanceof Tensor ? undefined : 'int32');
    const values = toTensor(updates as TensorLike, this.dtype);
    const depth = dims(indices).at(-1);
    if (typeof depth !== 'number' || depth > this.rank)
      throw new InvalidArgumentError(
        `the last axis of indices ${showShape(indices.shape)} holds tuples for at most the axes of ${showShape(this.shape)}`,
        `Variable.${op}`,
      );
    this.checkUpdates(values, [...dims(indices).slice(0, -1), ...dimsOf(this.shape).slice(depth)], op);
    return [indices, values];
  }

  /** @internal @throws InvalidArgumentError for values of another dtype or shape than an update needs */
  checkUpdates(values: Tensor, expected: Dims, op: string): void {
    if (values.dtype !== this.dtype || this.rank === 0 || !sameShape(dims(values), expected))
      throw new InvalidArgumentError(
        `values are ${values.dtype} ${showShape(values.shape)}, expected ${this.dtype} ${showShape(expected)}`,
        `Variable.${op}`,
      );
    if ((this.dtype === 'bool' || this.dtype === 'string') && !op.endsWith('Update'))
      throw new InvalidArgumentError(`a variable of ${this.dtype} has no numbers`, `Variable.${op}`);
  }

  #put(at: Tensor, values: Tensor, name: keyof typeof scatters, op: string): this {
    const { mode, method } = scatters[name];
    const isHere = context.tracer === null && this.whole === this && this.copies[0] === this;
    const target = isHere && this.dtype !== 'string' ? this.writable() : null;
    if (target === null || values.backend !== target.backend || at.backend !== target.backend)
      return this.rewrite(op, (value) => value[method](at, values));
    // In the memory there is: the rows alone.
    const rows = values.storage === target.storage ? copyTensor(values) : values;
    kernelFor(target.backend, 'ScatterNd', [target, at, rows])([target, at, rows], [target], { mode });
    return this;
  }

  #scale(given: unknown, op: 'scatterMul' | 'scatterDiv'): this {
    const { values, indices } = slicesOf(given, op);
    this.checkUpdates(values, [...dims(indices), ...dimsOf(this.shape).slice(1)], op);
    return this.rewrite(op, (value) => scaledRows(value, indices, values, op));
  }

  /** A copy of the values now, flat and row-major: as {@link Tensor.data}. */
  data(): ReturnType<Tensor['data']> {
    return this.#known().data();
  }
  /** The values now as `{ data, shape, dtype }`. */
  ndarray(): HostArray {
    return this.#known().ndarray();
  }
  /** The values now as nested arrays: as {@link Tensor.array}. */
  array<T extends NestedArray<Scalar> = NestedArray<Scalar>>(): T {
    return this.#known().array();
  }
  /** The one value now, of a variable with one element: as {@link Tensor.item}. */
  item(): number;
  item(
    as:
      | 'bigint'
      | {
          /** `'bigint'`: any integer, also one that no number holds exactly, as a bigint. */
          readonly as: 'bigint';
        },
  ): bigint;
  item<T extends number | boolean | string>(): T;
  item(as?: unknown): Scalar {
    const value = this.#known();
    return as === undefined ? value.item() : value.item(as as 'bigint');
  }

  /** @internal The value for an op: tapes are told, nobody else keeps it. */
  override taken(): Tensor {
    const { tracer } = context;
    const value = tracer === null ? this.#alive() : tracer.read(this);
    this.#tell(value);
    return value;
  }

  /**
   * @internal The variables that hold the value here: itself. Of one that a distribution strategy made, the copy of the replica that runs
   * or, outside of replicas, all copies, of which the first is read.
   */
  get copies(): readonly [Variable, ...Variable[]] {
    return [this];
  }
  /** @internal The distribution strategy that made it; null for none. */
  get distributedBy(): DistributionStrategy | null {
    return null;
  }
  /** @internal What takes a new value as bytes, which `assign` then gives the whole. */
  get fillable(): Variable {
    return this.copies[0];
  }
  /** @internal What changes it in the process where it lives; null for a variable of this process. */
  get home(): VariableHome | null {
    return null;
  }
  /** @internal The variables that hold its parts along the first axis: itself, where it is not divided. */
  get shards(): readonly Variable[] {
    return [this];
  }
  /** @internal The variable that programs know: itself, or the one of which this is a replica's copy. */
  get whole(): Variable {
    return this;
  }

  /** @internal What made that memory. */
  get backend(): Backend {
    return this.#alive().backend;
  }

  /** @internal The memory of the value now. */
  get storage(): Storage {
    return this.#alive().storage;
  }

  /** The value for the host, which has none while a function is traced. */
  #known(): Tensor {
    if (context.tracer !== null) throw new FailedPreconditionError(UNKNOWN_VALUE);
    return this.#alive();
  }

  /** What its shape is read of: in a traced function that of the value there, of which sizes may not be known. */
  #now(): Tensor {
    const { tracer } = context;
    return tracer === null || this.hasOneShape ? this.#value : tracer.read(this);
  }

  #alive(): Tensor {
    return this.#value.released ? this.#firstUse() : this.#value;
  }

  /** @internal Whether it still takes the value of a checkpoint by itself, at its first use. */
  get awaitsUse(): boolean {
    return this.#initial !== null;
  }

  /** @internal Has checkpoints asked for another value before the next use. */
  awaitUse(): void {
    if (this.#initial !== null || this.#value.released) return;
    this.#initial = this.#value;
    this.#value = aliasTensor(this.#initial, this.shape);
    this.#value.dispose();
  }

  #firstUse(): Tensor {
    if (this.#initial === null)
      throw new FailedPreconditionError(`the variable '${this.path}' was disposed, so its value is gone`);
    this.#value = this.#initial;
    this.#initial = null;
    try {
      context.restoring?.(this);
    } catch (error) {
      // The value of now is not the one to be used.
      this.awaitUse();
      throw error;
    }
    return this.#value;
  }

  /** The value to be shown, of a variable that was disposed too. */
  #shown(): Tensor {
    return this.#initial === null ? this.#value : this.#alive();
  }

  #tell(value: Tensor): void {
    const tapes = context.tapes;
    for (let i = 0; i < tapes.length; i++) tapes[i].variableRead(this, value);
  }

  /**
   * @internal The value's tensor for a kernel that writes into it. Copied first when a tape, a tensor that was read, or a
   * reshaped view still needs the old values.
   */
  writable(): Tensor {
    if (this.#alive().storage.refs > 1) this.#replace(copyTensor(this.#value));
    return this.#value;
  }

  /**
   * @internal Holds another tensor as its value from now on, of its own dtype and shape, that nobody else holds.
   * @returns the one before, which is the caller's now.
   */
  exchange(value: Tensor): Tensor {
    const before = this.#alive();
    this.#value = value;
    return before;
  }

  /** Gives the memory back; the variable cannot be used afterwards. */
  dispose(): void {
    this.#initial?.dispose();
    this.#initial = null;
    this.#value.dispose();
  }
  [Symbol.dispose](): void {
    this.dispose();
  }

  override toString(): string {
    return this.#shown().toString();
  }
  [Symbol.toPrimitive](hint: string): string | number | bigint | boolean {
    return this.#shown()[Symbol.toPrimitive](hint);
  }
  /** What the console shows: `tf.Variable 'w' (2., shape=[], dtype=float32)`. */
  describe(): string {
    return formatTensor(this.#shown()).replace(/^tf\.Tensor/, `tf.Variable '${this.path}' `);
  }

  #update(sum: Tensor, op: string): this {
    if (!sameShape(sum.shape, this.shape) || sum.dtype !== this.dtype) {
      const got = `${sum.dtype} ${showShape(sum.shape)}`;
      sum.dispose();
      throw new InvalidArgumentError(
        `the result ${got} does not match the variable '${this.path}' of ${this.dtype} ${showShape(this.shape)}`,
        op,
      );
    }
    const { storage, backend } = sum;
    const takesOver = context.tracer === null && backend === this.#alive().backend;
    let result = this;
    if (takesOver && storage.refs === 1 && storage.capacity >= TAKEN_OVER) {
      storage.refs++;
      this.#replace(new Tensor(storage, sum.dtype, this.shape, sum.size, backend));
    } else result = this.#store(sum);
    sum.dispose();
    return result;
  }

  /** Takes over values: into the memory there is, unless someone still needs the old ones. */
  #store(next: Tensor): this {
    checkAlive(next);
    const { tracer } = context;
    const { storage, backend, dtype } = this.#alive();
    if (tracer !== null) {
      return tracer.assign(this, next) as this;
    }
    if (next.backend.name === 'symbolic') throw noValue(next);
    // It stays on its device.
    const keepsShape = sameShape(next.shape, this.shape);
    if (storage.refs === 1 && dtype !== 'string' && keepsShape) copyBytes(next.storage, storage);
    else if (next.backend === backend || dtype === 'string') this.#replace(copyTensor(next));
    else this.#replace(copyTensor(copyTo(next, backend)));
    return this;
  }

  /** @internal Whether all values have one shape. */
  get hasOneShape(): boolean {
    return isFixed(this.openShape);
  }

  /** @internal Takes its values to another backend. */
  moveTo(backend: Backend): void {
    const { storage, dtype, shape, size } = this.#alive();
    if (dtype === 'string') return;
    const there = backend.allocator.allocateAlone(storage.capacity);
    copyBytes(storage, there);
    this.#replace(new Tensor(there, dtype, shape, size, backend));
  }

  #replace(value: Tensor): void {
    const old = this.#value;
    this.#value = value;
    old.dispose();
  }
}
export interface Variable extends OpMethods {}

showInConsole(Variable.prototype, (v) => v.describe());

/** Whether all sizes are known. */
const isFixed = (shape: PartialShape | null): boolean => shape !== null && !shape.includes(null as never);

const showPartialShape = (shape: PartialShape | null): string =>
  shape === null ? 'any shape' : `[${shape.map((size) => size ?? 'null').join(', ')}]`;

/** An initial value; computed now if it was traced. */
function first(value: Tensor): Tensor {
  if (value.backend !== symbolic) return value;
  const known = context.lifting?.constant(value, true) ?? null;
  if (known !== null) return known;
  throw new InvalidArgumentError(
    "the initial value of a variable cannot depend on a traced function's arguments: create the variable outside, or assign to it",
  );
}

/**
 * A first value as a tensor of the variable. Large ones share the memory: `writable` copies if somebody else still has it then, and what an
 * initializer made nobody has.
 */
function keptValue(source: Tensor): Tensor {
  checkAlive(source);
  const { storage, dtype, shape, size, backend } = source;
  if (storage.capacity < TAKEN_OVER) return copyTensor(source);
  storage.refs++;
  return new Tensor(storage, dtype, shape, size, backend);
}

/** @internal A copy in memory of its own, outside of any memory scope: variables live long and are written in place. */
export function copyTensor(source: Tensor): Tensor {
  checkAlive(source);
  const { allocator } = source.backend;
  if (source.dtype === 'string') {
    source.storage.refs++;
    return new Tensor(source.storage, source.dtype, source.shape, source.size, source.backend);
  }
  const bytes = source.storage.capacity;
  const storage = allocator.allocateAlone(bytes);
  copyBytes(source.storage, storage);
  return new Tensor(storage, source.dtype, source.shape, source.size, source.backend);
}

/** @internal Copies as many bytes as both have. */
export function copyBytes(from: Storage, to: Storage): void {
  copyStorage(from, to, Math.min(from.capacity, to.capacity));
}

/**
 * @internal A variable named as Keras names those of layers, optimizers and metrics: its path begins with that of its owner, its name is its own
 * alone. The scopes that are open do not matter.
 */
export function variableIn(owner: string, name: string, make: () => Variable): Variable {
  const before = context.nameScope;
  context.nameScope = `${owner}/`;
  try {
    const variable = make();
    (variable as { name: string }).name = name;
    return variable;
  } finally {
    context.nameScope = before;
  }
}
