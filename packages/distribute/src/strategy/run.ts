// How the replicas of one call of `strategy.run` meet.
import { FailedPreconditionError, InvalidArgumentError } from '@eagre/backend';
import { type Tensor, zerosLike } from '@eagre/core';
import {
  type Attrs,
  aliasTensor,
  ambient,
  context,
  dims,
  execute,
  Op,
  toShape,
  withoutTapes,
} from '@eagre/core/internal';
import type { Exchange, Give } from '@eagre/graph';

/** One call of `strategy.run`, as its replicas see it. */
export interface Run {
  /** What this replica gets from what all give: at once. @throws FailedPreconditionError where the others have not come so far */
  exchange(exchange: Exchange, values: readonly Tensor[]): readonly Tensor[];
  /** Hands `then` what this replica gets: now, or when all replicas have come to their ends. */
  later(exchange: Exchange, values: readonly Tensor[], then: (results: readonly Tensor[]) => void): void;
  /** Whether something waits until all replicas have come to their ends. */
  readonly waits: boolean;
}

/** The call of `strategy.run` that goes on. */
export const current: { run: Run | null } = ambient({ run: null as Run | null });

type MetAttrs = Attrs & { readonly exchange: Exchange; readonly count: number };

/**
 * What processes get of an exchange, of which `count` are the first inputs, as something that has a gradient: that of the exchange, with respect
 * to what this process gave, the other inputs. Processes meet by code of the host, which has none.
 */
const metOp: Op = /* @__PURE__ */ new Op(
  {
    name: 'Exchange',
    samples: () => [],
    grad: ({ attrs, inputs, outputs }, ...dys) => {
      const { exchange, count } = attrs as MetAttrs;
      const given = inputs.slice(count).map((t) => ({ dtype: t.dtype, shape: dims(t) }));
      const gradients = (exchange.gradient as NonNullable<typeof exchange.gradient>)(
        outputs.map((y, i) => dys[i] ?? zerosLike(y)),
        [given],
        0,
      );
      return [...Array<null>(count).fill(null), ...gradients];
    },
  },
  (inputs, attrs) => inputs.slice(0, (attrs as MetAttrs).count).map((t) => aliasTensor(t, toShape(dims(t)))),
);

/** Of one replica, which meets nobody in this process. */
export const alone: Run = {
  exchange(exchange, values) {
    const isSeen = context.tapes.length > 0 || context.tracer !== null;
    if (!isSeen || exchange.gradient === undefined) return exchange.combine([values])[0];
    const results = withoutTapes(() => exchange.combine([values])[0]);
    return execute(metOp, [...results, ...values], { exchange, count: results.length } satisfies MetAttrs);
  },
  later(exchange, values, then) {
    then(exchange.combine([values])[0]);
  },
  waits: false,
};

/** While an update runs that is the same in all replicas: what it writes is so, too. */
export const updating: Run = {
  exchange: ({ name }) => {
    throw new FailedPreconditionError('replicas cannot meet in an update', name);
  },
  later: ({ name }) => {
    throw new FailedPreconditionError('replicas cannot meet in an update', name);
  },
  waits: false,
};

/** Of replicas whose traces become part of one graph. */
export function traced(give: Give): Run {
  return {
    exchange: give,
    later(exchange, values, then) {
      then(give(exchange, values));
    },
    waits: false,
  };
}

/** What a replica left to be done when all have come to their ends. */
interface Waiting {
  readonly exchange: Exchange;
  readonly values: readonly Tensor[];
  readonly then: (results: readonly Tensor[]) => void;
}

/** Of replicas that run one after another: they meet when the last has come to its end. */
export class SequentialRun implements Run {
  readonly #waiting: Waiting[][] = [];

  /** Runs one replica. */
  replica<T>(fn: () => T): T {
    this.#waiting.push([]);
    return fn();
  }

  get waits(): boolean {
    return (this.#waiting.at(-1)?.length ?? 0) > 0;
  }

  exchange({ name }: Exchange): never {
    throw atOnce(name);
  }

  later(exchange: Exchange, values: readonly Tensor[], then: (results: readonly Tensor[]) => void): void {
    // The trace of a function inside of a replica ends before the other replicas run.
    if (context.tracer !== null) throw atOnce(exchange.name);
    for (const { storage } of values) storage.refs++;
    this.#waiting.at(-1)?.push({ exchange, values, then });
  }

  /** Does what waits, in the order in which the replicas left it. @param within runs code in a replica */
  finish(within: (index: number, fn: () => void) => void): void {
    try {
      const [first, ...others] = this.#waiting;
      for (const [i, other] of others.entries()) checkAlike(first, other, i + 1);
      first.forEach(({ exchange, values }, k) => {
        const all = this.#waiting.map((list) => list[k]);
        all.forEach((one, i) => {
          one.values.forEach((t, at) => {
            if (t.dtype !== values[at].dtype)
              throw new InvalidArgumentError(
                `replica ${i} gives ${t.dtype} and replica 0 ${values[at].dtype}`,
                exchange.name,
              );
          });
        });
        const results = exchange.combine(all.map((one) => one.values));
        all.forEach(({ then }, index) => within(index, () => then(results[index])));
      });
    } finally {
      this.drop();
    }
  }

  /** Lets go of what waits, undone. */
  drop(): void {
    for (const { values } of this.#waiting.flat()) for (const { storage } of values) storage.release();
    this.#waiting.length = 0;
  }
}

function checkAlike(first: readonly Waiting[], other: readonly Waiting[], index: number): void {
  const names = (list: readonly Waiting[]): string =>
    list.map(({ exchange, values }) => `${exchange.name} of ${values.length}`).join(', ');
  if (names(first) !== names(other))
    throw new InvalidArgumentError(
      `all replicas must do the same together, in the same order, but replica 0 does [${names(first)}] and replica ${index} [${names(other)}]`,
      'strategy.run',
    );
}

/** The error where a replica needs at once what only the end of all replicas gives. */
export function atOnce(what: string): FailedPreconditionError {
  return new FailedPreconditionError(
    'outside of tf.function, replicas run one after another, so what they compute together is known only when all have ended; wrap the call ' +
      'in tf.function: tf.function((x) => strategy.run(fn, { args: [x] }))',
    what,
  );
}
