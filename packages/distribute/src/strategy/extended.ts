// Types in a circle: what a strategy offers beyond its everyday methods works on that strategy.
import { FailedPreconditionError, InvalidArgumentError } from '@eagre/backend';
import { device, identity, Tensor, type TensorLike, Variable } from '@eagre/core';
import {
  argumentsOf,
  checkFunction,
  defineMethods,
  distribution,
  scoped,
  shown,
  takesArguments,
  toTensor,
} from '@eagre/core/internal';
import { CommunicationOptions } from './communication-options.ts';
import { devicesNamed } from './devices.ts';
import { MirroredVariable } from './mirrored-variable.ts';
import { type ReduceOp, reduceOpOf } from './reduce-op.ts';
import type { Strategy } from './strategy.ts';
import { DistributedValues, Mirrored, ofReplica } from './values.ts';

/** Where a value goes: to the devices of a variable's copies or of distributed values, or to one device by its name. */
export type Destinations = Variable | DistributedValues | Tensor | string;

/** Options of `StrategyExtended.update`. */
export interface UpdateOptions<A extends readonly unknown[] = readonly unknown[]> {
  /** What the function gets behind the copy. Each copy gets its replica's of what is a `DistributedValues`. */
  readonly args?: { readonly [K in keyof A]: A[K] | DistributedValues<A[K]> };
  /** Whether the results become one value of the strategy; with false they come as a list. True by default. */
  readonly group?: boolean;
}

/** Options of `reduceTo` and `batchReduceTo`. */
export interface ReduceToOptions {
  /** How to carry it out; those of the strategy by default. */
  readonly options?: CommunicationOptions | null;
}

interface ExtendedArguments {
  /** The strategy that this is a part of. */
  readonly containerStrategy: Strategy;
}

/**
 * What optimizers and libraries ask of a strategy, in a strategy's scope or in `ReplicaContext.mergeCall`: updates of copies one by one, and sums
 * of values at the places where they are needed. As `strategy.extended` in TensorFlow.
 */
export class StrategyExtended {
  readonly #strategy: Strategy;

  /** Strategies make them: `strategy.extended`. @throws InvalidArgumentError for anything but a strategy */
  constructor(...args: [containerStrategy: Strategy | ExtendedArguments, options?: ExtendedArguments]) {
    const { containerStrategy } = argumentsOf<ExtendedArguments>(StrategyExtended, new.target, args);
    if (
      !((containerStrategy as unknown) instanceof Object) ||
      !Array.isArray(containerStrategy.replicaDevices)
    )
      throw new InvalidArgumentError(
        `containerStrategy must be a strategy, got ${shown(containerStrategy)}`,
        'StrategyExtended',
      );
    this.#strategy = containerStrategy;
  }

  /** The devices of this process's replicas. */
  get workerDevices(): readonly string[] {
    return this.#strategy.replicaDevices;
  }
  /** The devices of variables: those of the replicas, or the one of a strategy that has one copy. */
  get parameterDevices(): readonly string[] {
    return this.#strategy.variableDevices;
  }
  /** Whether all batches must have one size; never here. */
  get experimentalRequireStaticShapes(): boolean {
    return false;
  }

  /**
   * Calls `fn(copy, ...args)` for each copy of a variable in this process, on its device.
   *
   *     strategy.extended.update(v, (copy, x) => copy.assignAdd(x), { args: [sums] });
   *
   * @returns what the calls returned, as one value with one for each copy
   * @throws InvalidArgumentError for a variable of another strategy, FailedPreconditionError in a replica
   */
  update<A extends readonly unknown[], R>(
    variable: Variable,
    fn: (copy: Variable, ...args: A) => R,
    options?: UpdateOptions<A> | null,
  ): unknown;
  update(variable: unknown, fn: unknown, given?: unknown): unknown {
    const op = 'StrategyExtended.update';
    this.#checkCross(op);
    const copies = this.#own(variable, op).values;
    checkFunction(fn as () => unknown, 'fn', op);
    const call = fn as (copy: Variable, ...args: readonly unknown[]) => unknown;
    const results = this.#eachOf(copies.length, given, op, (index, args) =>
      device(copies[index].device, () => call(copies[index], ...args)),
    );
    return results;
  }

  /**
   * Calls `fn(...args)` on each device of variables that have no copies: as `update` does.
   * @param colocateWith devices, such as `nonSlotDevices` gives
   */
  updateNonSlot<A extends readonly unknown[], R>(
    colocateWith: readonly string[],
    fn: (...args: A) => R,
    options?: UpdateOptions<A> | null,
  ): unknown;
  updateNonSlot(colocateWith: unknown, fn: unknown, given?: unknown): unknown {
    const op = 'StrategyExtended.updateNonSlot';
    this.#checkCross(op);
    const names = devicesNamed(colocateWith as readonly string[], op);
    checkFunction(fn as () => unknown, 'fn', op);
    const call = fn as (...args: readonly unknown[]) => unknown;
    return this.#eachOf(names.length, given, op, (index, args) => device(names[index], () => call(...args)));
  }

  #eachOf(
    count: number,
    given: unknown,
    op: string,
    call: (index: number, args: readonly unknown[]) => unknown,
  ): unknown {
    const { args, group } = (given ?? {}) as { readonly args?: unknown; readonly group?: unknown };
    if (args !== undefined && args !== null && !Array.isArray(args))
      throw new InvalidArgumentError(`args must be a list of arguments, got ${shown(args)}`, op);
    if (group !== undefined && group !== null && typeof group !== 'boolean')
      throw new InvalidArgumentError(`group must be true or false, got ${shown(group)}`, op);
    const all = (args ?? []) as readonly unknown[];
    const results = Array.from({ length: count }, (_, index) =>
      call(
        index,
        all.map((arg) => ofReplica(arg, index, op)),
      ),
    );
    if (group === false) return results;
    return count === 1 ? results[0] : new Mirrored(results);
  }

  /** The devices on which to keep what belongs to variables and is no variable of the strategy. */
  nonSlotDevices(varList: readonly Variable[]): readonly string[];
  nonSlotDevices(varList: unknown): readonly string[] {
    const op = 'StrategyExtended.nonSlotDevices';
    if (!Array.isArray(varList) || !varList.every((v) => v instanceof Variable))
      throw new InvalidArgumentError(`varList must be a list of variables, got ${shown(varList)}`, op);
    return this.parameterDevices;
  }

  /**
   * The sum or mean of a value over all replicas, where it is needed: one value for each device of a variable's copies, or one on a device.
   * @throws InvalidArgumentError for replicas' values of different shapes
   */
  reduceTo(
    reduceOp: ReduceOp | Lowercase<ReduceOp>,
    value: unknown,
    destinations: Destinations,
    options?: ReduceToOptions | null,
  ): Mirrored<Tensor> | Tensor;
  reduceTo(reduceOp: unknown, value: unknown, destinations: unknown, given?: unknown): unknown {
    return this.#reduceTo(reduceOp, [[value, destinations]], given, 'StrategyExtended.reduceTo')[0];
  }

  /** `reduceTo` for several pairs of a value and its destinations, which travel together. */
  batchReduceTo(
    reduceOp: ReduceOp | Lowercase<ReduceOp>,
    valueDestinationPairs: readonly (readonly [value: unknown, destinations: Destinations])[],
    options?: ReduceToOptions | null,
  ): readonly (Mirrored<Tensor> | Tensor)[];
  batchReduceTo(reduceOp: unknown, pairs: unknown, given?: unknown): readonly unknown[] {
    const op = 'StrategyExtended.batchReduceTo';
    if (!Array.isArray(pairs) || !pairs.every((pair) => Array.isArray(pair) && pair.length === 2))
      throw new InvalidArgumentError(
        `valueDestinationPairs must be a list of [value, destinations], got ${shown(pairs)}`,
        op,
      );
    return this.#reduceTo(reduceOp, pairs as [unknown, unknown][], given, op);
  }

  #reduceTo(
    reduceOp: unknown,
    pairs: readonly (readonly [unknown, unknown])[],
    given: unknown,
    op: string,
  ): unknown[] {
    this.#checkCross(op);
    const { options = null } = (given ?? {}) as { readonly options?: unknown };
    if (options !== null && !(options instanceof CommunicationOptions))
      throw new InvalidArgumentError(`options must be a CommunicationOptions, got ${shown(options)}`, op);
    const how = reduceOpOf(reduceOp, op);
    const places = pairs.map(([, destinations]) => this.#devicesOf(destinations, op));
    const sums = this.#strategy.reduceAll(
      how,
      pairs.map(([value]) => value),
      options,
    );
    return sums.map((sum, i) => placed(sum, places[i]));
  }

  /** A tensor at several places. */
  broadcastTo(tensor: TensorLike, destinations: Destinations): Mirrored<Tensor> | Tensor;
  broadcastTo(tensor: unknown, destinations: unknown): unknown {
    const op = 'StrategyExtended.broadcastTo';
    this.#checkCross(op);
    return placed(toTensor(tensor as TensorLike), this.#devicesOf(destinations, op));
  }

  #devicesOf(destinations: unknown, op: string): readonly string[] {
    if (typeof destinations === 'string') return devicesNamed([destinations], op);
    if (destinations instanceof MirroredVariable) return destinations.values.map((copy) => copy.device);
    if (destinations instanceof DistributedValues)
      return destinations.values.map((value) =>
        value instanceof Tensor || value instanceof Variable ? value.device : '',
      );
    if (destinations instanceof Variable || destinations instanceof Tensor) return [destinations.device];
    throw new InvalidArgumentError(
      `destinations must be a variable, a value or the name of a device, got ${shown(destinations)}`,
      op,
    );
  }

  /** What a variable holds: as code outside of replicas reads it. */
  readVar(v: Variable): Tensor;
  readVar(v: unknown): Tensor {
    return this.#own(v, 'StrategyExtended.readVar').read();
  }

  /** The variable of which this is a replica's copy; the variable itself where it is none. */
  valueContainer(value: Variable): Variable;
  valueContainer(value: unknown): unknown {
    return value instanceof Variable ? value.whole : value;
  }

  /** Whether a variable was made in the scope of this strategy. */
  variableCreatedInScope(v: Variable): boolean;
  variableCreatedInScope(v: unknown): boolean {
    return (
      v instanceof Variable && v.whole instanceof MirroredVariable && v.whole.strategy === this.#strategy
    );
  }

  /**
   * Makes variables beside another one, as slots of optimizers are. All variables of a strategy are on the same devices, so that is where they
   * come anyway. With a function it returns what that returns; otherwise it holds until the end of a block (`using`).
   * @throws InvalidArgumentError for a variable that was not made in the strategy's scope
   */
  colocateVarsWith<T>(colocateWithVariable: Variable, fn: () => T): T;
  colocateVarsWith(colocateWithVariable: Variable): Disposable;
  colocateVarsWith(variable: unknown, fn?: () => unknown): unknown {
    const op = 'StrategyExtended.colocateVarsWith';
    this.#own(variable, op);
    return scoped(() => () => {}, op, fn);
  }

  #own(variable: unknown, op: string): MirroredVariable {
    const whole = variable instanceof Variable ? variable.whole : null;
    if (whole instanceof MirroredVariable && whole.strategy === this.#strategy) return whole;
    throw new InvalidArgumentError(
      `it takes a variable that was made in the strategy's scope, got ${whole === null ? shown(variable) : `'${whole.path}'`}`,
      op,
    );
  }

  #checkCross(op: string): void {
    if (distribution.replica === null) return;
    throw new FailedPreconditionError(
      'a replica cannot do it alone: call it in the function of ReplicaContext.mergeCall, or outside of strategy.run',
      op,
    );
  }
}
takesArguments<ExtendedArguments>(
  { positional: ['containerStrategy'], names: { containerStrategy: true } },
  StrategyExtended,
);
defineMethods(StrategyExtended.prototype, 'StrategyExtended', {
  update: { positional: ['variable', 'fn'], options: { args: true, group: true } },
  updateNonSlot: { positional: ['colocateWith', 'fn'], options: { args: true, group: true } },
  nonSlotDevices: { positional: ['varList'] },
  reduceTo: {
    positional: ['reduceOp', 'value', 'destinations'],
    objects: ['value', 'destinations'],
    options: { options: true },
  },
  batchReduceTo: { positional: ['reduceOp', 'valueDestinationPairs'], options: { options: true } },
  broadcastTo: { positional: ['tensor', 'destinations'], objects: ['tensor', 'destinations'] },
  readVar: { positional: ['v'] },
  valueContainer: { positional: ['value'] },
  variableCreatedInScope: { positional: ['v'] },
  colocateVarsWith: { positional: ['colocateWithVariable', 'fn'], required: 1 },
});

/** A tensor on devices. */
function placed(value: Tensor, devices: readonly string[]): unknown {
  const copies = devices.map((name) => device(name, () => identity(value)));
  return copies.length === 1 ? copies[0] : new Mirrored(copies);
}
