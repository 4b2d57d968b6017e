// Functions that branch on tensors without being converted: there a tensor is an object, which counts as true.
import { flattenKinds } from './structure.ts';

/** A condition that a method decides which has a tensor as its value: what it is asked of, and the method. */
const ASKED =
  /\b(?:if|while)\s*\(\s*!?\s*((?<root>[\w$]+)(?:\.[\w$]+|\((?:[^()]|\([^()]*\))*\))*\.(?<method>greater|greaterEqual|less|lessEqual|equal|notEqual|logicalAnd|logicalOr|logicalNot)\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)(?:\.(?:all|any)\(\))?)\s*(?:\)|&&|\|\|)/g;
/** A condition that is a name alone. */
const BARE = /\b(?:if|while)\s*\(\s*!?\s*(?<root>[\w$]+)\s*(?:\)|&&|\|\|)/g;
// Bundlers give names of their own to what converted code calls, but leave the places in the source, `file:line:column`, as they are.
const MEANT = /\bag\$+\.(?:tracing|conversion)\b|:\d+:\d+["'`]|["'](?:no|use) autograph["']/;
/** The names that a function begins with: `(x, y`, `x =>`, `async function name(x`. */
const HEAD = /^\s*(?:async\s+)?(?:(?:function\b\s*)?(?:#?[\w$]+\s*)?\(([^()]*)\)(?:\s*=>)?|([\w$]+)\s*=>)/;

/** Texts and comments become spaces, so that lines keep their numbers. */
const blank = (text: string): string =>
  text.replace(
    /\/\*[\s\S]*?\*\/|\/\/.*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`/g,
    (t) => t.replace(/[^\n]/g, ' '),
  );

/** Where a function's text asks a tensor in a condition. */
export interface Asked {
  /** Of the function's text. */
  readonly line: number;
  readonly text: string;
}

/**
 * The first condition of a function that asks a tensor; undefined where there is none that surely does, or where the code is converted or
 * says that it must not be.
 * @param args those of the trace.
 */
export function askedOfTensors(
  fn: (...args: never[]) => unknown,
  args: readonly unknown[],
): Asked | undefined {
  const source = Function.prototype.toString.call(fn);
  if (MEANT.test(source)) return undefined;
  const text = blank(source);
  const [head = '', list, single] = HEAD.exec(text) ?? [];
  const names = (list ?? single ?? '').split(',').map((p) => /^\s*([\w$]+)/.exec(p)?.[1]);
  const found = [...text.matchAll(ASKED), ...text.matchAll(BARE)]
    .sort((a, b) => a.index - b.index)
    .find(({ groups, index }) => {
      const { root = '', method } = groups ?? {};
      const at = names.indexOf(root);
      const tensors = at < 0 ? [] : flattenKinds([args[at]]).tensors;
      // Other things than tensors have an `equal`.
      if (method !== undefined)
        return at < 0 ? root === 'tf' || !/^(?:not)?equal$/i.test(method) : tensors.length > 0;
      // A name alone also asks whether something was given. Nobody asks that of a single truth.
      const before = text.slice(head.length, index);
      const isArgument = !new RegExp(`=>|\\bfunction\\b|(?<![\\w$.])${escaped(root)}\\s*=(?!=)`).test(before);
      const [given, ...more] = tensors;
      return isArgument && more.length === 0 && given?.dtype === 'bool' && given.shape?.length === 0;
    });
  if (found === undefined) return undefined;
  const { index, 0: all } = found;
  return {
    line: source.slice(0, index).split('\n').length,
    text: source.slice(index, index + all.length).trim(),
  };
}

const escaped = (name: string): string => name.replaceAll('$', '\\$');

/** Warns of a function that is about to be traced for the first time. */
export function warnOfUnconverted(
  fn: (...args: never[]) => unknown,
  name: string,
  args: readonly unknown[],
): void {
  const asked = askedOfTensors(fn, args);
  if (asked === undefined) return;
  console.warn(
    `tf.function: '${name}' is not converted, and line ${asked.line} of it asks a tensor: ${asked.text} …. A tensor is an object there, which always counts as true. ` +
      'Run Node with --import eagre/register, build with eagre/plugin, or write tf.cond and tf.whileLoop; { autograph: false } says that it is meant.',
  );
}
