// Functions of graphs that run traced where they can be.
import { InvalidArgumentError, OutOfRangeError, type Tensor, UnimplementedError } from '@eagre/core';
import { context } from '@eagre/core/internal';
import type { ConcreteFunction, TracedFunction } from '@eagre/graph';

type AnyFunction = (...args: never[]) => unknown;

/**
 * A function that is traced when it is first called. A few graphs cannot be: branches that give lists of different lengths, for
 * example, or sizes that a branch computes. Those run node by node, with the same results.
 */
export class TracedOrHost {
  readonly #traced: TracedFunction<AnyFunction>;
  readonly #concrete: () => ConcreteFunction;
  readonly #host: (tensors: readonly Tensor[]) => unknown;
  #onHost: boolean;

  /**
   * @param concrete its trace for tensors of any size that the graph permits.
   * @param onHost whether it never is traced: strings are on the host.
   */
  constructor(
    traced: TracedFunction<AnyFunction>,
    concrete: () => ConcreteFunction,
    host: (tensors: readonly Tensor[]) => unknown,
    onHost: boolean,
  ) {
    this.#traced = traced;
    this.#concrete = concrete;
    this.#host = host;
    this.#onHost = onHost;
  }

  /** Calls it. `args` are what the traced function takes, `tensors` those in them. */
  call(args: readonly unknown[], tensors: readonly Tensor[]): unknown {
    if (this.#onHost) return this.#host(tensors);
    try {
      return this.#traced(...(args as never[]));
    } catch (error) {
      if (context.tracer !== null || this.#canTrace(tensors)) throw error;
      const result = this.#host(tensors);
      this.#onHost = true;
      return result;
    }
  }

  /** Whether there is a trace for the tensors: then what went wrong was in the run. */
  #canTrace(tensors: readonly Tensor[]): boolean {
    try {
      this.#concrete().specialize(...tensors);
      return true;
    } catch (error) {
      return !REASONS.some((reason) => error instanceof reason) || String(error).includes('has no rank');
    }
  }
}

const REASONS = [InvalidArgumentError, OutOfRangeError, UnimplementedError];
