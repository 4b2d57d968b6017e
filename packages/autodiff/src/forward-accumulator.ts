// Directional derivatives. A gradient is linear in the gradient that it starts from, so its derivative by that is the directional derivative:
// two backward passes, which work for every op.
import { InvalidArgumentError } from '@eagre/backend';
import { type Tensor, type TensorLike, zerosLike } from '@eagre/core';
import {
  argumentsOf,
  checkOneOf,
  defineMethods,
  hasGradient,
  naming,
  sameShape,
  showShape,
  takesArguments,
  toTensor,
} from '@eagre/core/internal';
import { flatten, type Nested, rebuild, type Source } from './nest.ts';
import { GradientTape } from './tape.ts';

const OP = 'ForwardAccumulator';

interface AccumulatorArguments {
  /** What is changed: a tensor, a variable, or several in arrays or objects. */
  readonly primals: Nested<Source>;
  /** In which direction each primal moves: one for each, of its dtype and shape. */
  readonly tangents: Nested<TensorLike>;
}
type Unconnected = { readonly unconnectedGradients?: 'none' | 'zero' };

/**
 * Computes Jacobian-vector products: how what is computed while it is open changes when the primals move along the tangents.
 *
 *     using acc = new tf.autodiff.ForwardAccumulator(x, tangent);
 *     const y = f(x);
 *     const derivative = acc.jvp(y);
 *
 * @throws InvalidArgumentError for tangents that do not have the shapes and dtypes of the primals
 */
export class ForwardAccumulator {
  readonly #tape: GradientTape;
  readonly #primals: readonly Source[];
  readonly #tangents: readonly Tensor[];

  constructor(primals: Nested<Source>, tangents: Nested<TensorLike>);
  constructor(options: AccumulatorArguments);
  constructor(...args: never) {
    const { primals, tangents } = argumentsOf<AccumulatorArguments>(ForwardAccumulator, new.target, args);
    this.#primals = flatten(primals, 'primals');
    const given = (
      Array.isArray(primals) ? (tangents as readonly TensorLike[]) : [tangents]
    ) as readonly TensorLike[];
    const list = Array.isArray(given) ? given : flatten(tangents as Nested<Source>, 'tangents');
    if (list.length !== this.#primals.length)
      throw new InvalidArgumentError(`got ${list.length} tangents for ${this.#primals.length} primals`, OP);
    this.#tangents = this.#primals.map((primal, i) => {
      const tangent = naming('tangents', () => toTensor(list[i] as TensorLike, primal.dtype));
      if (tangent.dtype !== primal.dtype || !sameShape(tangent.shape, primal.shape))
        throw new InvalidArgumentError(
          `tangents[${i}] is ${tangent.dtype} ${showShape(tangent.shape)}, expected ${primal.dtype} ${showShape(primal.shape)}`,
          OP,
        );
      return tangent;
    });
    this.#tape = new GradientTape({ persistent: true, watchAccessedVariables: false });
    try {
      this.#tape.watch([...this.#primals]);
    } catch (error) {
      this.#tape.dispose();
      throw error;
    }
  }

  /** The derivatives of targets along the tangents, in their structure; null, or zeros, where a target does not depend on the primals. */
  jvp<T extends Nested<Source>>(
    primals: T,
    options: Unconnected = {},
  ): T extends Source ? Tensor | null : unknown {
    const unconnected = options.unconnectedGradients ?? 'none';
    checkOneOf(unconnected, ['none', 'zero'], 'unconnectedGradients', `${OP}.jvp`);
    const found = flatten(primals, 'primals').map((target) => {
      const along = hasGradient(target.dtype) ? this.#along(toTensor(target)) : null;
      return along === null && unconnected === 'zero' ? zerosLike(toTensor(target)) : along;
    });
    return rebuild(primals, found) as never;
  }

  #along(target: Tensor): Tensor | null {
    const start = zerosLike(target);
    const outer = new GradientTape();
    outer.watch(start);
    const gradients = this.#tape.gradient(target, [...this.#primals], {
      outputGradients: start,
    }) as readonly (Tensor | null)[];
    const terms = gradients.flatMap((g, i) => (g === null ? [] : [g.mul(this.#tangents[i] as Tensor).sum()]));
    if (terms.length === 0) {
      outer.dispose();
      return null;
    }
    return outer.gradient(
      terms.reduce((a, b) => a.add(b)),
      start,
      { unconnectedGradients: 'zero' },
    );
  }

  /** Stops recording and forgets everything. */
  [Symbol.dispose](): void {
    this.#tape.dispose();
  }
  dispose(): void {
    this.#tape.dispose();
  }
}

takesArguments<AccumulatorArguments>(
  {
    positional: ['primals', 'tangents'],
    required: 2,
    objects: ['primals', 'tangents'],
    names: { primals: true, tangents: true },
  },
  ForwardAccumulator,
);
defineMethods(ForwardAccumulator.prototype, OP, {
  jvp: { positional: ['primals'], objects: ['primals'], options: { unconnectedGradients: true } },
  dispose: {},
});
