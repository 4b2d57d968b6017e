// The names of a function's arguments, which TensorFlow's functions are called by.

/** An argument of a function. */
export interface Parameter {
  readonly name: string;
  /** What it is unless given, where the source code says so in a word; undefined otherwise. */
  readonly default?: string | number | boolean | null;
}

/** The arguments of a function, by its source code. */
export interface ParameterList {
  readonly parameters: readonly Parameter[];
  /** The name of those behind them, `...rest`; null for none. */
  readonly rest: string | null;
}

type HostFunction = (...args: never[]) => unknown;

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/** Reads the arguments of a function. One that is taken apart, `{ a, b }`, is called by its place. */
export function parametersOf(fn: HostFunction): ParameterList {
  const parameters: Parameter[] = [];
  let rest: string | null = null;
  for (const [i, part] of partsOf(
    parameterText(withoutComments(Function.prototype.toString.call(fn))),
  ).entries()) {
    const [target = '', given] = splitDefault(part);
    const isRest = target.startsWith('...');
    const wanted = isRest ? target.slice(3).trim() : target;
    const name = IDENTIFIER.test(wanted) ? pythonName(wanted) : `args_${i}`;
    if (isRest) rest = name;
    else parameters.push(given === undefined ? { name } : { name, ...literal(given) });
  }
  return { parameters, rest };
}

/** A name that Python accepts. */
function pythonName(name: string): string {
  return name.replace(/[^\p{ID_Continue}]/gu, '_');
}

/** The text between the brackets of the arguments, or the one argument of `x => …`. */
function parameterText(source: string): string {
  const arrow = /^(?:async\s+)?([\p{ID_Start}$_][\p{ID_Continue}$]*)\s*=>/u.exec(source);
  if (arrow !== null) return arrow[1] as string;
  const open = source.indexOf('(');
  return open < 0 ? '' : source.slice(open + 1, closing(source, open));
}

function withoutComments(source: string): string {
  return source
    .replace(/("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`)|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, '$1')
    .trim();
}

/** Where the bracket at a place is closed. */
function closing(source: string, open: number): number {
  let depth = 0;
  for (const [at, sign] of signsOf(source, open)) {
    if ('([{'.includes(sign)) depth++;
    else if (')]}'.includes(sign) && --depth === 0) return at;
  }
  return source.length;
}

/** The signs of a text that are not in strings. */
function* signsOf(source: string, from: number): Generator<readonly [at: number, sign: string]> {
  let quote = '';
  for (let i = from; i < source.length; i++) {
    const sign = source[i] as string;
    if (quote !== '') {
      if (sign === '\\') i++;
      else if (sign === quote) quote = '';
    } else if (`'"\``.includes(sign)) quote = sign;
    else yield [i, sign];
  }
}

/** Arguments, at the commas that are in no bracket. */
function partsOf(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (const [at, sign] of signsOf(text, 0)) {
    if ('([{'.includes(sign)) depth++;
    else if (')]}'.includes(sign)) depth--;
    else if (sign === ',' && depth === 0) {
      parts.push(text.slice(from, at).trim());
      from = at + 1;
    }
  }
  parts.push(text.slice(from).trim());
  return parts.filter((part) => part !== '');
}

function splitDefault(part: string): [target: string, given?: string] {
  let depth = 0;
  for (const [at, sign] of signsOf(part, 0)) {
    if ('([{'.includes(sign)) depth++;
    else if (')]}'.includes(sign)) depth--;
    else if (sign === '=' && depth === 0) return [part.slice(0, at).trim(), part.slice(at + 1).trim()];
  }
  return [part];
}

function literal(text: string): Pick<Parameter, 'default'> {
  if (text === 'null' || text === 'undefined') return { default: null };
  if (/^(true|!0)$/.test(text)) return { default: true };
  if (/^(false|!1)$/.test(text)) return { default: false };
  if (text !== '' && Number.isFinite(Number(text))) return { default: Number(text) };
  if (/^'[^'\\]*'$|^"[^"\\]*"$/.test(text)) return { default: text.slice(1, -1) };
  return {};
}

/** Values that the default of an argument may be. */
export type DefaultValue = NonNullable<Parameter['default']> | null;
