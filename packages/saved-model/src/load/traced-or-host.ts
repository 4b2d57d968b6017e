// Functions of graphs that run traced where they can be.
import {
  FailedPreconditionError,
  InvalidArgumentError,
  OutOfRangeError,
  type Tensor,
  UnimplementedError,
} from '@eagre/core';
import { context } from '@eagre/core/internal';
import type { ConcreteFunction, TracedFunction } from '@eagre/graph';
import { type Pause, pauses } from '../import/pauses.ts';

type AnyFunction = (...args: never[]) => unknown;

/** How a function runs node by node. */
export interface HostRun {
  now(tensors: readonly Tensor[]): unknown;
  /** With pauses. */
  later(tensors: readonly Tensor[], pause: Pause): Promise<unknown>;
}

/**
 * A function that is traced when it is first called. A few graphs cannot be: branches that give lists of different lengths, for
 * example, or sizes that a branch computes. Those run node by node, with the same results.
 */
export class TracedOrHost {
  readonly #traced: TracedFunction<AnyFunction>;
  readonly #concrete: () => ConcreteFunction;
  readonly #host: HostRun;
  #onHost: boolean;

  /**
   * @param concrete its trace for tensors of any size that the graph permits.
   * @param onHost whether it never is traced: strings are on the host.
   */
  constructor(
    traced: TracedFunction<AnyFunction>,
    concrete: () => ConcreteFunction,
    host: HostRun,
    onHost: boolean,
  ) {
    this.#traced = traced;
    this.#concrete = concrete;
    this.#host = host;
    this.#onHost = onHost;
  }

  /** Calls it. `args` are what the traced function takes, `tensors` those in them. */
  call(args: readonly unknown[], tensors: readonly Tensor[]): unknown {
    if (this.#onHost) return this.#host.now(tensors);
    try {
      return this.#traced(...(args as never[]));
    } catch (error) {
      if (context.tracer !== null || this.#canTrace(tensors, error)) throw error;
      const result = this.#host.now(tensors);
      this.#onHost = true;
      return result;
    }
  }

  /** Calls it off the event loop; what runs node by node lets the process go on between nodes. */
  async callAsync(
    args: readonly unknown[],
    tensors: readonly Tensor[],
    signal?: AbortSignal,
  ): Promise<unknown> {
    const onHost = (): Promise<unknown> => this.#host.later(tensors, pauses(signal));
    if (this.#onHost) return onHost();
    try {
      const given = [
        ...args,
        ...(signal === undefined ? [] : [signal]),
      ] as unknown as Parameters<AnyFunction>;
      return await this.#traced.runAsync(...given);
    } catch (error) {
      if (this.#canTrace(tensors, error)) throw error;
      const result = await onHost();
      this.#onHost = true;
      return result;
    }
  }

  /** Whether there is a trace for the tensors: then what went wrong, `given`, was in the run. */
  #canTrace(tensors: readonly Tensor[], given: unknown): boolean {
    try {
      this.#concrete().specialize(...tensors);
      return true;
    } catch (error) {
      // For any rank there is no trace to look at; runs lack nothing, traces do.
      if (String(error).includes('has no rank')) return !(given instanceof UnimplementedError);
      return !REASONS.some((reason) => error instanceof reason);
    }
  }
}

const REASONS = [FailedPreconditionError, InvalidArgumentError, OutOfRangeError, UnimplementedError];
