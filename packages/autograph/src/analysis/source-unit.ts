// What is known of the source that is being converted, and code that stays as it is.
import type { Node } from 'oxc-parser';
import { type Code, code, type Lines, type Piece, span } from '../emit/code-fragments.ts';
import { AutographError } from '../errors.ts';
import type { Marks } from './directives.ts';
import { bare, children, type Func, isClass, isFunction, walk } from './syntax.ts';

/** JavaScript's operators, and the helpers that do them for tensors. */
export const BINARY: Readonly<Record<string, string>> = {
  '+': 'add',
  '-': 'sub',
  '*': 'mul',
  '/': 'div',
  '%': 'rem',
  '**': 'pow',
  '<': 'lt',
  '<=': 'le',
  '>': 'gt',
  '>=': 'ge',
  '==': 'looseEq',
  '!=': 'looseNe',
  '===': 'eq',
  '!==': 'ne',
  '&': 'bitAnd',
  '|': 'bitOr',
  '^': 'bitXor',
  '<<': 'shiftLeft',
  '>>': 'shiftRight',
  '>>>': 'shiftUnsigned',
};
/** Those that ask whether two values are the same. */
export const EQUALITIES: ReadonlySet<string> = new Set(['==', '!=', '===', '!==']);
/** Those of one operand. */
export const UNARY: ReadonlyMap<string, string> = new Map([
  ['-', 'neg'],
  ['!', 'not'],
  ['+', 'plus'],
  ['~', 'bitNot'],
]);
/** Methods of arrays that take a predicate. */
export const ASKING: ReadonlySet<string> = new Set([
  'filter',
  'some',
  'every',
  'find',
  'findIndex',
  'findLast',
  'findLastIndex',
]);

/** Methods that change an array. */
export const MUTATING: ReadonlySet<string> = new Set(['push', 'pop', 'shift', 'unshift', 'splice']);
/** Others that do, under names that tensors and `tf` have as well: tf.sort(x), x.reverse(0). */
export const REARRANGING: ReadonlySet<string> = new Set(['fill', 'sort', 'reverse', 'copyWithin']);
const KEYED = new Set(['set', 'add', 'delete', 'clear', 'getOrInsert', 'getOrInsertComputed', 'next']);

/** Whether a method of a map, a set, an array of numbers, a date or an iterator may change it. */
export const isKeyed = (method: string): boolean => KEYED.has(method) || /^set[A-Z]/.test(method);

const CHANGING: Readonly<Record<string, RegExp>> = {
  Object: /^(?:assign|defineProperty|defineProperties|setPrototypeOf|freeze|seal|preventExtensions)$/,
  Reflect: /^(?:set|defineProperty|deleteProperty|setPrototypeOf|preventExtensions)$/,
  Atomics: /^(?:add|and|compareExchange|exchange|or|store|sub|xor)$/,
};

/** Whether a function of the language changes its first argument. */
export function changesArgument(callee: Node): boolean {
  if (callee.type !== 'MemberExpression' || callee.computed || callee.object.type !== 'Identifier')
    return false;
  const names = Object.hasOwn(CHANGING, callee.object.name) ? CHANGING[callee.object.name] : undefined;
  return callee.property.type === 'Identifier' && names?.test(callee.property.name) === true;
}

/** What tells a switch that a case of it is a BigInt. */
export function hasBigCase(node: Node & { type: 'SwitchStatement' }): string {
  return node.cases.some(({ test }) => test?.type === 'Literal' && 'bigint' in test) ? ', true' : '';
}

/** Whether a call asks for the truth of its argument. */
export const isBoolean = (callee: Node): boolean => callee.type === 'Identifier' && callee.name === 'Boolean';

const PARENTHESIS = 40;

interface Obstacle {
  readonly node: Node;
  readonly message: string;
}

export class Unit {
  readonly source: string;
  readonly file: string;
  readonly lines: Lines;
  readonly marks: Marks;
  /** What the helpers are called; no name in the source begins so. */
  readonly ag: string;

  constructor(source: string, file: string, lines: Lines, marks: Marks, ag: string) {
    this.source = source;
    this.file = file;
    this.lines = lines;
    this.marks = marks;
    this.ag = ag;
  }

  text({ start, end }: Node): string {
    return this.source.slice(start, end);
  }

  /** Where a node stands, as `file:line:column`. */
  site(node: Node): string {
    const { line, column } = this.lines.at(node.start);
    return `${this.file}:${line + 1}:${column + 1}`;
  }

  /** The same as a literal. */
  at(node: Node): string {
    return JSON.stringify(this.site(node));
  }

  /** The expression of a statement, as code that does not become a call of the line before, where that ends without a semicolon. */
  apart(node: Node, done: Code): Code {
    return this.source.charCodeAt(node.start) !== PARENTHESIS && this.#begins(done) === PARENTHESIS
      ? code`void (${done})`
      : done;
  }

  /** The first character of code. */
  #begins(done: Code): number | undefined {
    for (const piece of done) {
      const first =
        typeof piece === 'string'
          ? piece.charCodeAt(0)
          : 'end' in piece
            ? piece.code === null
              ? this.source.charCodeAt(piece.start)
              : this.#begins(piece.code)
            : this.#begins(piece);
      if (first !== undefined && !Number.isNaN(first)) return first;
    }
    return undefined;
  }

  /** @throws AutographError for what a function that is asked for cannot be or hold. */
  check(fn: Func): void {
    const obstacle = this.obstacle(fn);
    if (obstacle !== null) throw new AutographError(this.site(obstacle.node), obstacle.message);
  }

  /** What keeps a function from being converted. */
  obstacle(fn: Func): Obstacle | null {
    let found = obstacles.get(fn);
    if (found === undefined) obstacles.set(fn, (found = obstacleOf(fn)));
    return found;
  }

  /** Whether a call is an assertion of its first argument. */
  asserts(callee: Node): boolean {
    const { asserts } = this.marks.library;
    if (callee.type === 'Identifier') return asserts.has(callee.name);
    if (callee.type !== 'MemberExpression' || callee.computed || callee.object.type !== 'Identifier')
      return false;
    const name = callee.property.type === 'Identifier' ? callee.property.name : '';
    return callee.object.name === 'console'
      ? name === 'assert'
      : asserts.has(callee.object.name) && name === 'ok';
  }
}

const obstacles = new WeakMap<Func, Obstacle | null>();

function obstacleOf(fn: Func): Obstacle | null {
  if (fn.async)
    return {
      node: fn,
      message: 'an async function cannot become a graph: await what it needs outside of it',
    };
  if (fn.generator)
    return {
      node: fn,
      message: 'a generator cannot become a graph: return a list, or a tensor of all values',
    };
  let found: Obstacle | null = null;
  walk(fn, (node) => {
    if (found !== null) return false;
    if (node !== fn && (isFunction(node) || isClass(node))) return false;
    if (node.type === 'VariableDeclaration' && node.kind === 'var')
      found = {
        node,
        message: 'var belongs to the whole function, whatever block it stands in: write let or const',
      };
    else if (node.type === 'WithStatement')
      found = { node, message: 'with: names in it cannot be told apart; name the object' };
    else if (
      node.type === 'CallExpression' &&
      node.callee.type === 'Identifier' &&
      node.callee.name === 'eval'
    )
      found = { node, message: 'eval: what it runs is not known; call a function' };
    else if (
      node.type === 'AssignmentExpression' &&
      (node.operator === '&&=' || node.operator === '||=') &&
      bare(node.left).type !== 'Identifier'
    )
      found = { node, message: `${node.operator} on a member: write an if` };
    return true;
  });
  return found;
}

export function asItIs({ start, end }: Node): Code {
  return [span(start, end)];
}

/** A node's text with other code in the place of its parts. */
export function within(node: Node, part: (child: Node) => Code): Code {
  const pieces: Piece[] = [];
  let from = node.start;
  for (const child of children(node)) {
    if (child.start < from) continue;
    const done = part(child);
    const only = done.length === 1 ? done[0] : undefined;
    if (
      typeof only === 'object' &&
      'end' in only &&
      only.code === null &&
      only.start === child.start &&
      only.end === child.end
    )
      continue;
    if (from < child.start) pieces.push(span(from, child.start));
    pieces.push(done);
    from = child.end;
  }
  if (from < node.end) pieces.push(span(from, node.end));
  return pieces;
}
