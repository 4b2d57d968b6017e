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
  gradient: (...dys: Tensor[]) => Gradients,
];
type Gradients = Tensor | null | readonly (Tensor | null)[];

/** What a gradient function gets behind the gradients of the values. */
export interface CustomGradientOptions {
  /** The trainable variables that the function read, in the order in which it did. */
  readonly variables: readonly Variable[];
}
/** As `CustomResult`, of a function that reads trainable variables, whose gradients come in a second part. */
export type CustomResultWithVariables<R extends CustomValue = CustomValue> = readonly [
  value: R,
  /** Of the gradients of the values, and `CustomGradientOptions`: [those of the arguments, those of the variables]. */
  gradient: (...args: never[]) => readonly Gradients[],
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
 *       return [tf.math.log(e.add(1)), (dy) => dy.mul(tf.subtract(1, tf.divide(1, e.add(1))))];
 *     });
 *
 * The function may return a list of values; its gradient then takes as many gradients, and the call returns a list. The gradient is made of
 * ordinary ops, so that it has gradients itself. Where `fn` reads trainable variables, the gradient function gets them behind the gradients
 * of the values, and returns two parts: the gradients of the arguments, and those of the variables.
 *
 *     const scaled = tf.customGradient((x) => [
 *       x.mul(w),
 *       (dy: tf.Tensor, { variables }: tf.CustomGradientOptions) => [dy.mul(w), [dy.mul(x).sum()]],
 *     ]);
 * @throws UnimplementedError when `fn` reads a trainable variable, and its gradient function takes nothing behind the gradients.
 */
export const customGradient: {
  <A extends readonly TensorLike[], R extends Tensor | readonly Tensor[]>(
    fn: (...args: { [K in keyof A]: Tensor }) => CustomResult<R>,
  ): (...args: A) => Values<R>;
  <A extends readonly TensorLike[], R extends Tensor | readonly Tensor[]>(
    fn: (...args: { [K in keyof A]: Tensor }) => CustomResultWithVariables<R>,
  ): (...args: A) => Values<R>;
  <A extends readonly TensorLike[], R extends Tensor | readonly Tensor[]>(options: {
    /** The function; it gives its result and the gradient of that. */
    readonly fn: (...args: { [K in keyof A]: Tensor }) => CustomResult<R>;
  }): (...args: A) => Values<R>;
  <A extends readonly TensorLike[], R extends Tensor | readonly Tensor[]>(options: {
    /** The function, by TensorFlow's name of the argument. */
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
    const { tapes, tracer } = context;
    const read = new VariablesRead();
    let result: CustomResult;
    // The tapes see the parts too: what the gradient function uses of them matters to the second order.
    context.tapes = tapes.length === 0 && tracer === null ? tapes : [...tapes, read];
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
    const gradient = result[1] as (...args: unknown[]) => unknown;
    const variables = [...read.variables];
    // Of one that takes a list of any length, or looks at no gradient, nobody can tell whether it takes variables.
    if (variables.length > 0 && gradient.length > 0 && gradient.length <= made.length)
      throw new UnimplementedError(
        `the function reads the trainable variable '${variables[0].path}', but its gradient function returns no gradient for it: write (dy, { variables }) => [gradients of the arguments, gradients of the variables], or pass the variable as an argument`,
        OP,
      );
    const takesVariables = variables.length > 0 || gradient.length > made.length;
    const all = [...inputs, ...variables.map((v) => v.taken())];
    // The user's code may keep what it gets or makes, so no scope of ours may give it back.
    const gradients = (...dys: (Tensor | null)[]): readonly (Tensor | null)[] => {
      const given = made.map((y, i) => keep(dys[i] ?? zerosLike(y)));
      const grads = outsideScopes(() =>
        takesVariables ? gradient(...given, { variables }) : gradient(...given),
      );
      checkNoPromise(grads, 'the gradient function', OP);
      const list = takesVariables ? bothParts(grads, variables) : listOf(grads);
      const count = takesVariables ? list.length - variables.length : list.length;
      if (count !== inputs.length)
        throw new InvalidArgumentError(`${count} gradients were returned for ${inputs.length} arguments`, OP);
      list.forEach((dx, i) => checkGradient(dx, all[i], i));
      return list;
    };
    let values: readonly Tensor[];
    if (tracer !== null) values = tracer.withGradient(made, all, gradients);
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
      recordOnTapes(op, all, {}, values);
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

const listOf = (grads: unknown): readonly (Tensor | null)[] =>
  Array.isArray(grads) ? grads : [grads as Tensor | null];

/** The gradients of the arguments, then those of the variables. */
function bothParts(grads: unknown, variables: readonly Variable[]): readonly (Tensor | null)[] {
  if (!Array.isArray(grads) || grads.length !== 2)
    throw new InvalidArgumentError(
      `the function reads variables (${variables.map(({ path }) => path).join(', ')}), so its gradient function must return [gradients of the arguments, gradients of the variables]`,
      OP,
    );
  const [ofArguments, ofVariables] = grads.map(listOf);
  if (ofVariables.length !== variables.length)
    throw new InvalidArgumentError(
      `${ofVariables.length} gradients were returned for ${variables.length} variables`,
      OP,
    );
  return [...ofArguments, ...ofVariables];
}

/** Notes the trainable variables that a function reads. */
class VariablesRead implements TapeObserver {
  readonly variables: Set<Variable> = new Set();
  record(): void {}
  variableRead(variable: Variable): void {
    if (variable.trainable) this.variables.add(variable);
  }
}

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
