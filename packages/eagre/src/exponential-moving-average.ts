// `tf.train.ExponentialMovingAverage`: averages of variables over the steps of a training.
import { InvalidArgumentError, type Tensor, type TensorLike, Variable } from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  checkText,
  defineMethods,
  inInitScope,
  isFloating,
  shown,
  takesArguments,
  toTensor,
} from '@eagre/core/internal';

const OP = 'ExponentialMovingAverage';

interface AverageArguments {
  readonly decay: TensorLike;
  readonly numUpdates?: TensorLike | null;
  readonly name?: string;
}

/**
 * Averages of variables: `apply` moves each by `average -= (1 - decay) * (average - variable)`. An average begins at the variable's value.
 *
 *     const ema = new tf.train.ExponentialMovingAverage(0.999);
 *     // after each step of an optimizer
 *     ema.apply(model.trainableVariables);
 *     ema.average(kernel); // a variable, which is not trained
 *
 * Averages are in no checkpoint by themselves: give them to one, `new tf.train.Checkpoint({ averages: variables.map((v) => ema.average(v)) })`.
 */
export class ExponentialMovingAverage {
  readonly name: string;
  readonly #decay: TensorLike;
  readonly #numUpdates: TensorLike | null;
  readonly #averages = new WeakMap<Variable, Variable>();

  /**
   * @param decay how much of the average stays at each step: 0.99 or more. A number, or a variable that changes.
   * @param numUpdates how many steps were made: the decay is at most `(1 + numUpdates) / (10 + numUpdates)`, so that the first steps count more.
   */
  constructor(
    ...args: Arguments<
      [decay: TensorLike, numUpdates?: TensorLike | null],
      ['decay', 'numUpdates'],
      {
        /** Part of the names of the averages; the class's name by default. */
        readonly name?: string;
      }
    >
  ) {
    const {
      decay,
      numUpdates = null,
      name = OP,
    } = argumentsOf<AverageArguments>(ExponentialMovingAverage, new.target, args);
    checkText(name, 'name', OP);
    for (const [what, value] of Object.entries({ decay, numUpdates: numUpdates ?? 0 })) {
      const t = toTensor(value);
      if (t.rank !== 0 || t.dtype === 'string')
        throw new InvalidArgumentError(`${what} must be a scalar, got ${shown(value)}`, OP);
    }
    this.name = name;
    this.#decay = decay;
    this.#numUpdates = numUpdates;
  }

  /** Moves the averages of these variables; what it sees for the first time begins at its value. @throws InvalidArgumentError for what is no variable of floats */
  apply(...args: Arguments<[varList: readonly Variable[]], ['varList']>): void;
  apply(varList: readonly Variable[]): void {
    const op = `${OP}.apply`;
    if (!Array.isArray(varList))
      throw new InvalidArgumentError(`expected a list of variables, got ${shown(varList)}`, op);
    for (const v of varList) {
      if (!(v instanceof Variable) || !isFloating(v.dtype))
        throw new InvalidArgumentError(`averages are of variables of floats, got ${shown(v)}`, op);
    }
    const share = toTensor(1).sub(this.#currentDecay());
    for (const v of varList as readonly Variable[]) {
      const average = this.#averageOf(v);
      const value = v.read();
      average.assignSub(average.read().sub(value).mul(share.cast(v.dtype)));
    }
  }

  /** The average of a variable; null where `apply` has not seen it. */
  average(...args: Arguments<[variable: Variable], ['variable']>): Variable | null;
  average(variable: Variable): Variable | null {
    return this.#averages.get(variable) ?? null;
  }

  /** The name under which the average of a variable is: `kernel/ExponentialMovingAverage`. */
  averageName(...args: Arguments<[variable: Variable], ['variable']>): string;
  averageName(variable: Variable): string {
    if (!(variable instanceof Variable))
      throw new InvalidArgumentError(`expected a variable, got ${shown(variable)}`, `${OP}.averageName`);
    return `${variable.path}/${this.name}`;
  }

  #currentDecay(): Tensor {
    const decay = toTensor(this.#decay).cast('float32');
    if (this.#numUpdates === null) return decay;
    const n = toTensor(this.#numUpdates).cast('float32');
    return decay.minimum(n.add(1).div(n.add(10)));
  }

  #averageOf(variable: Variable): Variable {
    let average = this.#averages.get(variable);
    if (average === undefined) {
      average = inInitScope(
        () => new Variable(variable.read(), { trainable: false, name: this.averageName(variable) }),
      );
      this.#averages.set(variable, average);
    }
    return average;
  }
}

takesArguments<AverageArguments>(
  {
    positional: ['decay', 'numUpdates'],
    required: 1,
    names: { decay: true, numUpdates: true, name: true },
  },
  ExponentialMovingAverage,
);
defineMethods(ExponentialMovingAverage.prototype, OP, {
  apply: { positional: ['varList'] },
  average: { positional: ['variable'] },
  averageName: { positional: ['variable'] },
});
