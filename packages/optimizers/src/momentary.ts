import { LateNumber, type LateNumbers } from '@eagre/backend';
import type { Tensor, Variable } from '@eagre/core';
import { context, lateScalar, lifted, type Tracer } from '@eagre/core/internal';
import type { Rate } from './rate.ts';

/** Numbers of one update that depend on its step: known now or, while `tf.function` traces, before each run of the function. */
export class Momentary {
  readonly #iterations: Variable;
  readonly #rate: Rate;
  /** By function being traced: the updates so far in it, which the iterations know nothing of yet. */
  readonly #ahead = new WeakMap<Tracer, number>();

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
    compute: (learningRate: number, step: number) => Readonly<Record<N, number>>,
  ): Readonly<Record<N, number | LateNumber>> {
    return context.tracer === null
      ? compute(learningRate as number, Number(this.#iterations.item()) + 1)
      : this.#late(context.tracer, compute);
  }

  /** The update was made. */
  advance(): void {
    const { tracer } = context;
    if (tracer !== null) this.#ahead.set(tracer, (this.#ahead.get(tracer) ?? 0) + 1);
  }

  #late<N extends string>(
    tracer: Tracer,
    compute: (learningRate: number, step: number) => Readonly<Record<N, number>>,
  ): Readonly<Record<N, LateNumber>> {
    const ahead = this.#ahead.get(tracer) ?? 0;
    const now = (): Readonly<Record<N, number>> => {
      const at = Number(this.#iterations.item()) + ahead;
      return compute(this.#rate.at(at), at + 1);
    };
    const names = Object.keys(lifted(now)) as N[];
    const numbers: LateNumbers = {
      next: () => {
        const values = now();
        return names.map((n) => values[n]);
      },
    };
    return Object.fromEntries(names.map((n, i) => [n, new LateNumber(numbers, i)])) as Readonly<
      Record<N, LateNumber>
    >;
  }
}
