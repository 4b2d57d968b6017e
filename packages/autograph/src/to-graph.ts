import { InvalidArgumentError } from '@eagre/backend';
import { withConversion } from '@eagre/graph';
import { convertFunction, helpersName, parse } from './convert.ts';
import { AutographError } from './errors.ts';
import { freeNames } from './free-names.ts';
import * as helpers from './internal.ts';
import { Lines } from './pieces.ts';
import { children, type Func, isFunction } from './syntax.ts';

type AnyFunction = (...args: never[]) => unknown;

export interface ToGraphOptions {
  /** The values of names that the function uses and that are declared outside of it. */
  readonly scope?: Readonly<Record<string, unknown>>;
  /** For messages; the function's name unless given. */
  readonly filename?: string;
}

const plain = new WeakSet<AnyFunction>();

/**
 * A function that runs as it is written, with all that it calls, also where converted code calls it:
 *
 *     const f = tf.autograph.doNotConvert((x) => …);
 *     class Model { @tf.autograph.doNotConvert call(x) { … } }
 *
 * A function of the source that stands in the call is not converted at all; the directive `'no autograph'` says the same of one function, or
 * of a module, without the functions that it calls.
 */
export function doNotConvert<F extends AnyFunction>(fn: F, _decorated?: ClassMethodDecoratorContext): F {
  if (typeof fn !== 'function')
    throw new InvalidArgumentError(`expected a function, got ${typeof fn}`, 'tf.autograph.doNotConvert');
  if (plain.has(fn)) return fn;
  function asItIs(this: unknown, ...args: never[]): unknown {
    return withConversion(false, () => fn.apply(this, args));
  }
  Object.defineProperty(asItIs, 'name', { value: fn.name });
  plain.add(asItIs);
  return asItIs as F;
}

/**
 * The code that a function is converted to.
 * @throws AutographError for what cannot be converted; InvalidArgumentError for functions without a source, such as bound ones.
 */
export function toCode(fn: AnyFunction, options: Pick<ToGraphOptions, 'filename'> = {}): string {
  return converted(fn, options.filename, 'tf.autograph.toCode').text;
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
export function toGraph<F extends AnyFunction>(fn: F, options: ToGraphOptions = {}): F {
  const op = 'tf.autograph.toGraph';
  if (typeof fn === 'function' && plain.has(fn)) return fn;
  const { scope = {} } = options;
  const { text, node, ag, site } = converted(fn, options.filename, op);
  const missing = freeNames(node).filter((name) => !Object.hasOwn(scope, name) && !(name in globalThis));
  if (missing.length > 0) {
    throw new AutographError(
      site,
      `the function uses ${missing.join(', ')} from outside, which its text alone cannot reach: give { scope: { ${missing.join(', ')} } }`,
    );
  }
  const names = Object.keys(scope);
  const make = new Function(ag, ...names, `'use strict'; return (${text}\n);`) as (...values: unknown[]) => F;
  return make(helpers, ...names.map((name) => scope[name]));
}

function converted(
  fn: AnyFunction,
  filename: string | undefined,
  op: string,
): { readonly text: string; readonly node: Func; readonly ag: string; readonly site: string } {
  if (typeof fn !== 'function') throw new InvalidArgumentError(`expected a function, got ${typeof fn}`, op);
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
      `${file} is no function that can be converted; methods and classes are converted where they stand, by the build`,
      op,
    );
  return { text: convertFunction(node, program, source, file, lines, ag), node, ag, site: `${file}:1:1` };
}
