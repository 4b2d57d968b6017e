import { InvalidArgumentError } from '@eagre/backend';
import {
  checkText,
  declareAs,
  defineFunction,
  isPlain,
  kind,
  type NamedFunction,
  shown,
} from '@eagre/core/internal';
import { withConversion } from '@eagre/graph';
import { freeNames } from './analysis/free-names.ts';
import { children, type Func, isFunction } from './analysis/syntax.ts';
import { convertFunction, helpersName, parse } from './convert.ts';
import { Lines } from './emit/code-fragments.ts';
import { AutographError } from './errors.ts';
import * as helpers from './internal.ts';

type AnyFunction = (...args: never[]) => unknown;

/** Options of `toGraph` and `toCode`. */
export interface ToGraphOptions {
  /** The values of names that the function uses and that are declared outside of it. */
  readonly scope?: Readonly<Record<string, unknown>>;
  /** For messages; the function's name unless given. */
  readonly filename?: string;
}

const plain = new WeakSet<AnyFunction>();

/** Whether a second argument says that a function decorates a method. */
const isDecoration = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'kind' in value && 'addInitializer' in value;

const asWritten = defineFunction<NamedFunction<[func: AnyFunction], ['func'], unknown, AnyFunction>>(
  'autograph.doNotConvert',
  { func: kind.asIs },
  {},
  (func) => {
    if (typeof func !== 'function')
      throw new InvalidArgumentError(`expected a function, got ${typeof func}`, 'tf.autograph.doNotConvert');
    if (plain.has(func)) return func;
    function asItIs(this: unknown, ...args: never[]): unknown {
      return withConversion(false, () => Reflect.apply(func, this, args));
    }
    Object.defineProperty(asItIs, 'name', { value: func.name });
    plain.add(asItIs);
    return asItIs;
  },
);

/** `doNotConvert`, around a function or as a decorator of a method. */
export interface DoNotConvert {
  <F extends AnyFunction>(func: F, decorated?: ClassMethodDecoratorContext): F;
  <F extends AnyFunction>(args: {
    /** The function that stays as it is. */
    readonly func: F;
  }): F;
}

/**
 * A function that runs as it is written, with all that it calls, also where converted code calls it:
 *
 *     const f = tf.autograph.doNotConvert((x) => …);
 *     class Model { @tf.autograph.doNotConvert call(x) { … } }
 *
 * A function of the source that stands in the call is not converted at all; the directive `'no autograph'` says the same of one function, or
 * of a module, without the functions that it calls.
 */
export const doNotConvert: DoNotConvert = declareAs(
  (...args: readonly unknown[]): never =>
    asWritten(...((isDecoration(args[1]) ? [args[0]] : args) as Parameters<typeof asWritten>)) as never,
  asWritten,
);

/**
 * The code that a function is converted to.
 * @throws AutographError for what cannot be converted; InvalidArgumentError for functions without a source, such as bound ones.
 */
export const toCode: NamedFunction<
  [entity: AnyFunction],
  ['entity'],
  Pick<ToGraphOptions, 'filename'>,
  string
> = defineFunction(
  'autograph.toCode',
  { entity: kind.asIs },
  { filename: kind.asIs },
  (entity, { filename }) => converted(entity, filename, 'tf.autograph.toCode').text,
);

/** `toGraph`: another function of the same type. */
export interface ToGraph {
  <F extends AnyFunction>(entity: F, options?: ToGraphOptions | null): F;
  <F extends AnyFunction>(
    args: {
      /** The function that is converted. */
      readonly entity: F;
    } & ToGraphOptions,
  ): F;
}

/**
 * Converts a function at run time, from its own source, to one that `tf.function` makes a graph of and that runs as plain code without.
 *
 *     const f = tf.autograph.toGraph((x) => { if (x > limit) x = x * x; return x; }, { scope: { limit: 3 } });
 *
 * It is another function: names from outside of it are those of `scope`, with their values now, and globals.
 * @throws AutographError for what cannot be converted, and for names that neither it, nor `scope`, nor the globals know; where the page
 * forbids making code from text, EvalError.
 */
export const toGraph: ToGraph = defineFunction<
  NamedFunction<[entity: AnyFunction], ['entity'], ToGraphOptions, AnyFunction>
>(
  'autograph.toGraph',
  { entity: kind.asIs },
  { scope: kind.asIs, filename: kind.asIs },
  (entity, { scope = {}, filename }) => {
    const op = 'tf.autograph.toGraph';
    if (typeof entity === 'function' && plain.has(entity)) return entity;
    if (!isPlain(scope))
      throw new InvalidArgumentError(`scope must be an object of values by name, got ${shown(scope)}`, op);
    const { text, node, ag, site } = converted(entity, filename, op);
    const missing = freeNames(node).filter((name) => !Object.hasOwn(scope, name) && !(name in globalThis));
    if (missing.length > 0) {
      throw new AutographError(
        site,
        `the function uses ${missing.join(', ')} from outside, which its text alone cannot reach: give { scope: { ${missing.join(', ')} } }`,
      );
    }
    const names = Object.keys(scope);
    const make = new Function(ag, ...names, `'use strict'; return (${text}\n);`) as (
      ...values: unknown[]
    ) => AnyFunction;
    return make(helpers, ...names.map((name) => scope[name]));
  },
) as never;

function converted(
  fn: AnyFunction,
  filename: string | undefined,
  op: string,
): { readonly text: string; readonly node: Func; readonly ag: string; readonly site: string } {
  if (typeof fn !== 'function') throw new InvalidArgumentError(`expected a function, got ${typeof fn}`, op);
  if (filename !== undefined) checkText(filename, 'filename', op);
  const original = 'hostFunction' in fn && typeof fn.hostFunction === 'function' ? fn.hostFunction : fn;
  const text = Function.prototype.toString.call(original);
  const file = filename ?? (original.name === '' ? 'function' : original.name);
  if (text.endsWith('{ [native code] }'))
    throw new InvalidArgumentError(`${file} has no source: it is bound or built in`, op);
  const source = `(${text})`;
  const ag = helpersName(source);
  const lines = new Lines(source, 1);
  const program = parse(source, `${file}.js`, lines);
  const [statement] = children(program);
  const inside = statement?.type === 'ExpressionStatement' ? statement.expression : undefined;
  const node = inside?.type === 'ParenthesizedExpression' ? inside.expression : undefined;
  if (node === undefined || !isFunction(node))
    throw new InvalidArgumentError(
      `${file} cannot be converted at run time; methods and classes are converted by the build plugin or the Node hook`,
      op,
    );
  return { text: convertFunction(node, program, source, file, lines, ag), node, ag, site: `${file}:1:1` };
}
