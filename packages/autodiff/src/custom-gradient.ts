import {
  InvalidArgumentError,
  keep,
  type NamedFunction,
  Tensor,
  type TensorLike,
  UnimplementedError,
  type Variable,
  zerosLike,
} from '@eagre/core';
import {
  aliasTensor,
  checkFunction,
  checkNoPromise,
  context,
  defineFunction,
  kind,
  Op,
  outsideScopes,
  recordOnTapes,
  sameShape,
  showShape,
  type TapeObserver,
  toOwnTensor,
} from '@eagre/core/internal';

/**
 * What a function with its own gradient returns: the value or a list of values, and how the gradients of them become gradients of the
 * arguments. A value that has none gives zeros.
 */
export type CustomResult<R extends CustomValue = CustomValue> = readonly [
  value: R,
  gradient: (...dys: Tensor[]) => Tensor | null | readonly (Tensor | null)[],
];
type CustomValue = Tensor | readonly Tensor[];
/** The tensors of any value: an array is no tuple unless one says so. */
type Values<R extends CustomValue> = R extends readonly Tensor[]
  ? { -readonly [K in keyof R]: Tensor }
  : Tensor;

const OP = 'customGradient';

/**
 * A function whose gradient is given instead of derived:
 *
 *     const log1pexp = tf.customGradient((x) => {
 *       const e = tf.exp(x);
 *       return [tf.log(e.add(1)), (dy) => dy.mul(tf.sub(1, tf.div(1, e.add(1))))];
 *     });
 *
 * The function may return a list of values; its gradient then takes as many gradients, and the call returns a list. The gradient is made of
 * ordinary ops, so that it has gradients itself.
 * @throws UnimplementedError when `fn` reads a trainable variable: pass its value as an argument instead.
 */
export const customGradient: {
  <A extends readonly TensorLike[], R extends Tensor | readonly Tensor[]>(
    fn: (...args: { [K in keyof A]: Tensor }) => CustomResult<R>,
  ): (...args: A) => Values<R>;
  <A extends readonly TensorLike[], R extends Tensor | readonly Tensor[]>(options: {
    readonly fn: (...args: { [K in keyof A]: Tensor }) => CustomResult<R>;
  }): (...args: A) => Values<R>;
  <A extends readonly TensorLike[], R extends Tensor | readonly Tensor[]>(options: {
    readonly f: (...args: { [K in keyof A]: Tensor }) => CustomResult<R>;
  }): (...args: A) => Values<R>;
} = defineFunction<
  NamedFunction<
    [fn: (...args: Tensor[]) => CustomResult],
    ['fn|f'],
    unknown,
    (...args: TensorLike[]) => CustomValue
  >
>(OP, { 'fn|f': kind.asIs }, {}, (fn) => {
  checkFunction(fn, 'fn', OP);
  return (...args) => {
    const inputs = args.map((a) => toOwnTensor(a));
    const tapes = context.tapes;
    let result: CustomResult;
    // The tapes see the parts too: what the gradient function uses of them matters to the second order.
    context.tapes = tapes.length === 0 ? tapes : [...tapes, refuseVariables];
    try {
      result = outsideScopes(() => fn(...inputs));
    } finally {
      context.tapes = tapes;
    }
    checkNoPromise(result, 'the function', OP);
    const returned: unknown = Array.isArray(result) ? result[0] : undefined;
    const isList = Array.isArray(returned);
    const made = (isList ? returned : [returned]) as readonly Tensor[];
    if (made.length === 0 || !made.every((y) => y instanceof Tensor) || typeof result[1] !== 'function')
      throw new InvalidArgumentError(
        'the function must return [value, gradient function] or [[value, …], gradient function]',
        OP,
      );
    const gradient = result[1];
    // The user's code may keep what it gets or makes, so no scope of ours may give it back.
    const gradients = (...dys: (Tensor | null)[]): readonly (Tensor | null)[] => {
      const given = made.map((y, i) => keep(dys[i] ?? zerosLike(y)));
      const grads = outsideScopes(() => gradient(...given));
      checkNoPromise(grads, 'the gradient function', OP);
      const list = Array.isArray(grads) ? (grads as readonly (Tensor | null)[]) : [grads as Tensor | null];
      if (list.length !== inputs.length)
        throw new InvalidArgumentError(
          `${list.length} gradients were returned for ${inputs.length} arguments`,
          OP,
        );
      list.forEach((dx, i) => checkGradient(dx, inputs[i], i));
      return list;
    };
    let values: readonly Tensor[];
    if (context.tracer !== null) values = context.tracer.withGradient(made, inputs, gradients);
    else {
      // Other tensors, so that the parts' own gradients do not count beside the given one.
      values = made.map((y) => aliasTensor(y, y.shape));
      /** A function with a gradient of its own. */
      const op = new Op(
        {
          name: 'CustomGradient',
          samples: () => [],
          grad: (_, ...dys) => gradients(...dys),
        },
        () => values,
      );
      recordOnTapes(op, inputs, {}, values);
    }
    return isList ? [...values] : (values[0] as Tensor);
  };
}) as never;

function checkGradient(dx: Tensor | null | undefined, x: Tensor, i: number): void {
  if (dx === null || dx === undefined) return;
  if (!(dx instanceof Tensor) || !sameShape(dx.shape, x.shape) || dx.dtype !== x.dtype) {
    const got = dx instanceof Tensor ? `${dx.dtype} ${showShape(dx.shape)}` : typeof dx;
    throw new InvalidArgumentError(
      `gradient ${i} is ${got}, its argument is ${x.dtype} ${showShape(x.shape)}`,
      OP,
    );
  }
}

const refuseVariables: TapeObserver = {
  record: () => undefined,
  variableRead(variable: Variable): void {
    if (variable.trainable) {
      throw new UnimplementedError(
        `the function reads the trainable variable '${variable.path}', but its gradient function does not return a gradient for it; pass the variable as an argument`,
        OP,
      );
    }
  },
};

/**
 * A function whose gradient is that of the identity: what comes to its result goes to its argument as it is, for rounding and the like.
 * @param f of one tensor, with a result of the same shape
 */
export const gradPassThrough: NamedFunction<
  [f: (x: Tensor) => TensorLike],
  ['f'],
  unknown,
  (x: TensorLike) => Tensor
> = /* @__PURE__ */ defineFunction('gradPassThrough', { f: kind.asIs }, {}, (f) => {
  checkFunction(f, 'f', 'gradPassThrough');
  return customGradient((x: Tensor) => {
    const value = toOwnTensor(f(x));
    if (!sameShape(value.shape, x.shape))
      throw new InvalidArgumentError(
        `f returned shape ${showShape(value.shape)}, expected that of its argument, ${showShape(x.shape)}`,
        'gradPassThrough',
      );
    return [value, (dy: Tensor) => dy.cast(x.dtype)];
  }) as (x: TensorLike) => Tensor;
});
