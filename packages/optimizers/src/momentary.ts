import { LateNumber, type LateNumbers } from '@eagre/backend';
import type { Tensor, Variable } from '@eagre/core';
import { atRunTime, context, lateScalar, lifted, type Tracer } from '@eagre/core/internal';
import type { Rate } from './rate.ts';

type Compute<N extends string> = (learningRate: number, step: number) => Readonly<Record<N, number>>;

/**
 * Numbers of one update that depend on its step: known now or, while `tf.function` traces, before each run of the function. Where only the
 * run tells the step (in loops and branches, and behind them), the host computes them in the run.
 */
export class Momentary {
  readonly #iterations: Variable;
  readonly #rate: Rate;

  constructor(iterations: Variable, rate: Rate) {
    this.#iterations = iterations;
    this.#rate = rate;
  }

  /** The learning rate of the update at hand. */
  rate(): number | Tensor {
    if (context.tracer === null) return this.#rate.at(this.#iterations);
    return lateScalar(this.#late(context.tracer, (rate) => ({ rate })).rate);
  }

  /** What `compute` makes of the learning rate, which is that of `rate()`, and of the step, from 1 on. */
  values<N extends string>(
    learningRate: number | Tensor,
    compute: Compute<N>,
  ): Readonly<Record<N, number | LateNumber>> {
    return context.tracer === null
      ? compute(learningRate as number, Number(this.#iterations.item()) + 1)
      : this.#late(context.tracer, compute);
  }

  #late<N extends string>(tracer: Tracer, compute: Compute<N>): Readonly<Record<N, LateNumber>> {
    const names = Object.keys(lifted(() => compute(this.#rate.at(0), 1))) as N[];
    const numbers = this.#numbers(tracer, 0, (rate, step) => {
      const values = compute(rate, step);
      return names.map((n) => values[n]);
    });
    return Object.fromEntries(names.map((n, i) => [n, new LateNumber(numbers, i)])) as Readonly<
      Record<N, LateNumber>
    >;
  }

  /** @param more updates that come before this one, of which the tracer does not know. */
  #numbers(
    tracer: Tracer,
    more: number,
    compute: (learningRate: number, step: number) => readonly number[],
  ): LateNumbers {
    const { variable } = this.#rate;
    const ahead = tracer.ahead(this.#iterations);
    if (ahead === null || (variable !== null && tracer.ahead(variable) !== 0))
      return this.#fromHost(more, compute);
    const updates = ahead + more;
    return {
      // The run changes the iterations in place.
      asked: 'before',
      next: () => {
        const at = Number(this.#iterations.item()) + updates;
        return compute(this.#rate.at(at), at + 1);
      },
      again: () => this.#numbers(context.tracer as Tracer, updates, compute),
    };
  }

  #fromHost(more: number, compute: (learningRate: number, step: number) => readonly number[]): LateNumbers {
    const { variable } = this.#rate;
    let values: readonly number[] = [];
    const tell = (iterations: Tensor, rate?: Tensor): void => {
      const at = Number(iterations.item()) + more;
      values = compute(this.#rate.at(at, rate), at + 1);
    };
    const inputs = [this.#iterations, ...(variable === null ? [] : [variable])].map((v) => v.read());
    atRunTime('StepNumbers', tell, inputs, []);
    return { next: () => values, asked: 'during' };
  }
}
