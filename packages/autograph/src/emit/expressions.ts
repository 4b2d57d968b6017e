// Operators, assignments and calls become calls of the run-time helpers.

import { isOptOut } from '../analysis/directives.ts';
import { isHost } from '../analysis/host-analysis.ts';
import { assignedIn, memberPath, pushedName } from '../analysis/names.ts';
import type { Scope } from '../analysis/scope.ts';
import {
  ASKING,
  asItIs,
  BINARY,
  changesArgument,
  EQUALITIES,
  isBoolean,
  isKeyed,
  MUTATING,
  REARRANGING,
  UNARY,
  type Unit,
  within,
} from '../analysis/source-unit.ts';
import { bare, type Func, isClass, isFunction, type Node } from '../analysis/syntax.ts';
import { AutographError } from '../errors.ts';
import { type Code, code, madeFrom } from './code-fragments.ts';
import { isLength, isOptional, keyOf, lookup, memberOf } from './lookups.ts';

/** Methods that make an array. */
const FRESH = new Set([
  'concat',
  'entries',
  'filter',
  'flat',
  'flatMap',
  'from',
  'keys',
  'map',
  'of',
  'slice',
  'split',
  'toReversed',
  'toSorted',
  'toSpliced',
  'values',
  'with',
]);
/** Expressions of functions that become graphs where a tensor decides. */
export class Expressions {
  readonly #unit: Unit;
  readonly #ag: string;
  readonly #scope: Scope;
  readonly #function: (fn: Func) => Code;
  readonly #outside: (node: Node) => Code;

  /**
   * @param inner what becomes of functions in expressions.
   * @param outside what becomes of code that is not converted but has functions in it.
   */
  constructor(unit: Unit, scope: Scope, inner: (fn: Func) => Code, outside: (node: Node) => Code) {
    this.#unit = unit;
    this.#ag = unit.ag;
    this.#scope = scope;
    this.#function = inner;
    this.#outside = outside;
  }

  /** An expression. */
  expression(node: Node): Code {
    return madeFrom(node.start, this.#expression(node));
  }

  /** An expression of which only the truth counts, or nothing. */
  condition(node: Node): Code {
    const to = bare(node);
    return to.type === 'LogicalExpression' && to.operator !== '??' && !isHost(to.left, this.#scope.hosts)
      ? madeFrom(node.start, this.#logical(to, true))
      : this.expression(node);
  }

  #logical(node: Node & { type: 'LogicalExpression' }, asked: boolean): Code {
    const { left, operator, right } = node;
    const op = operator === '&&' ? 'and' : 'or';
    const side = asked ? this.condition(right) : this.expression(right);
    return code`${this.#ag}.${op}(${this.condition(left)}, () => (${side}), ${this.#state([right], false)}, ${this.#unit.at(node)}${asked ? ', true' : ''})`;
  }

  #expression(node: Node): Code {
    const ag = this.#ag;
    if (isFunction(node)) return this.#function(node);
    if (isClass(node)) return this.#outside(node);
    switch (node.type) {
      case 'BinaryExpression': {
        const op = BINARY[node.operator];
        if (node.operator === 'in')
          return lookup(node, this.#parts) ?? within(node, (child) => this.expression(child));
        const side = (child: Node): Code =>
          EQUALITIES.has(node.operator) ? this.#found(child) : this.expression(child);
        if (op === undefined || isHost(node, this.#scope.hosts)) return within(node, side);
        return code`${ag}.${op}(${side(node.left)}, ${side(node.right)})`;
      }
      case 'UnaryExpression': {
        const op = UNARY.get(node.operator);
        if (node.operator === 'delete') return this.#delete(node.argument, node);
        if (node.operator === 'typeof') return within(node, (child) => this.#found(child));
        if (op === undefined || isHost(node.argument, this.#scope.hosts)) break;
        const { argument } = node;
        return code`${ag}.${op}(${node.operator === '!' ? this.condition(argument) : this.expression(argument)})`;
      }
      case 'LogicalExpression': {
        if (node.operator === '??') return within(node, (child) => this.#found(child));
        if (isHost(node.left, this.#scope.hosts)) break;
        return this.#logical(node, false);
      }
      case 'ConditionalExpression': {
        const { test, consequent, alternate } = node;
        if (isHost(test, this.#scope.hosts)) break;
        return code`${ag}.ifExp(${this.condition(test)}, () => (${this.expression(consequent)}), () => (${this.expression(alternate)}), ${this.#state([consequent, alternate], false)}, ${this.#unit.at(node)})`;
      }
      case 'AssignmentExpression':
        return this.#assignment(node.left, node.operator, node.right, node);
      case 'UpdateExpression':
        return this.#update(node.argument, node.operator === '++' ? 'inc' : 'dec', node.prefix, false);
      case 'CallExpression':
        return this.#call(node.callee, node.arguments, node);
      case 'ObjectExpression':
        return code`${ag}.made(${within(node, (child) =>
          child.type === 'SpreadElement' && !isHost(child.argument, this.#scope.hosts)
            ? code`...${ag}.spread(${this.expression(child.argument)}, ${this.#unit.at(child)})`
            : this.expression(child),
        )})`;
      case 'NewExpression': {
        const done = lookup(node, this.#parts) ?? within(node, (child) => this.expression(child));
        return code`${ag}.made(${done})`;
      }
      case 'TaggedTemplateExpression':
        // The function gets the parts as they are.
        return within(node, (child) =>
          child === node.quasi ? within(child, (part) => this.expression(part)) : this.expression(child),
        );
      case 'MemberExpression':
      case 'TemplateLiteral': {
        const done = lookup(node, this.#parts);
        if (done !== null) return done;
        break;
      }
      case 'ArrayExpression':
        return code`${ag}.made(${within(node, (child) => this.expression(child))})`;
      case 'SequenceExpression':
        // In the place of an argument it must stay one.
        return code`(${within(node, (child) => this.expression(child))})`;
      case 'Property':
        if (node.shorthand && node.value.type === 'Identifier') return asItIs(node);
        if (node.computed)
          return within(node, (child) =>
            child === node.key ? keyOf(child, this.#parts) : this.expression(child),
          );
        break;
      default:
    }
    return within(node, (child) => this.expression(child));
  }

  /** An expression where code may ask whether a member is there: a length that is not is no error. */
  #found(node: Node): Code {
    const to = bare(node);
    return isLength(to) ? memberOf(to, this.#parts) : this.expression(node);
  }

  get #parts(): Parameters<typeof lookup>[1] {
    return {
      unit: this.#unit,
      part: (node) => this.expression(node),
      isHost: (node) => isHost(node, this.#scope.hosts),
      graph: true,
    };
  }

  /** The object of a member that is written, which has to be known where a graph is made. */
  target(node: Node): Code {
    const to = bare(node);
    if (
      to.type === 'ArrayPattern' ||
      to.type === 'ObjectPattern' ||
      to.type === 'AssignmentPattern' ||
      to.type === 'RestElement' ||
      to.type === 'Property'
    )
      return within(to, (child) =>
        to.type === 'AssignmentPattern' && child === to.right
          ? this.expression(child)
          : to.type === 'Property' && to.computed && child === to.key
            ? this.expression(child)
            : this.target(child),
      );
    if (to.type !== 'MemberExpression') return asItIs(node);
    const path = memberPath(to);
    if (path !== null && !this.#scope.inner.has(path.root)) return asItIs(node);
    return memberOf(to, this.#parts, (object) =>
      object.type === 'Super' ? this.expression(object) : this.#owned(to),
    );
  }

  #delete(argument: Node, node: Node): Code {
    const to = bare(argument);
    if (to.type !== 'MemberExpression' || isOptional(to))
      return within(node, (child) => this.expression(child));
    const place = memberOf(
      to,
      this.#parts,
      (object) => code`${this.#ag}.own(${this.expression(object)}, true, ${this.#unit.at(node)})`,
    );
    return code`delete ${place}`;
  }

  #assignment(left: Node, operator: string, right: Node, node: Node): Code {
    const ag = this.#ag;
    if (operator === '=') return code`${this.target(left)} = ${this.expression(right)}`;
    const op = operator.slice(0, -1);
    const to = bare(left);
    if (op === '&&' || op === '||') {
      const name = this.#unit.text(left);
      return code`${name} = ${ag}.${op === '&&' ? 'and' : 'or'}(${name}, () => (${this.expression(right)}), ${this.#state([right], false)}, ${this.#unit.at(node)})`;
    }
    const helper = BINARY[op];
    if (helper === undefined) return within(node, (c) => (c === left ? this.target(c) : this.expression(c)));
    if (isPlace(to))
      return code`${this.target(left)} = ${ag}.${helper}(${this.#unit.text(left)}, ${this.expression(right)})`;
    return this.#change(to, (value) => code`${ag}.${helper}(${value}, ${this.expression(right)})`, false);
  }

  /** A change of a member whose object or key must be evaluated once. @param after whether the value before is that of the expression. */
  #change(to: Node, next: (value: string) => Code, after: boolean): Code {
    const ag = this.#ag;
    if (to.type !== 'MemberExpression')
      throw new AutographError(this.#unit.site(to), `a ${to.type} cannot be assigned to here`);
    const { object, property, computed } = to;
    const isSuper = object.type === 'Super';
    const key = computed ? keyOf(property, this.#parts) : ['null'];
    const from = isSuper ? 'super' : `${ag}o`;
    const place = computed ? [`${from}[${ag}k]`] : code`${from}.${asItIs(property)}`;
    const change = code`${ag}v = ${place}, ${place} = ${next(`${ag}v`)}`;
    const value = after ? code`${change}, ${ag}.before(${ag}v)` : change;
    return code`((${ag}o, ${ag}k, ${ag}v) => (${value}))(${isSuper ? ['null'] : this.#owned(to)}, ${key})`;
  }

  /** The object of a member that is written. */
  #owned(to: Node & { type: 'MemberExpression' }): Code {
    const path = memberPath(to);
    // Members by names are part of the state of what is around them, unless the object is made there.
    if (path !== null && !this.#scope.inner.has(path.root)) return this.expression(to.object);
    // So are elements of lists that keep their length.
    const object = bare(to.object);
    if (to.computed && object.type === 'Identifier' && this.#scope.fixed.has(object.name))
      return this.expression(to.object);
    return code`${this.#ag}.own(${this.expression(to.object)}, ${String(path === null)}, ${this.#unit.at(to)})`;
  }

  #update(argument: Node, op: string, prefix: boolean, statement: boolean): Code {
    const ag = this.#ag;
    const to = bare(argument);
    if (!isPlace(to)) return this.#change(to, (value) => [`${ag}.${op}(${value})`], !prefix && !statement);
    const next = code`${this.target(argument)} = ${ag}.${op}(${this.#unit.text(argument)})`;
    if (statement) return next;
    return prefix ? code`(${next})` : code`${ag}.before(${this.#unit.text(argument)}, ${next})`;
  }

  #call(callee: Node, args: readonly Node[], node: Node): Code {
    const member = callee.type === 'MemberExpression' && !callee.computed ? callee : null;
    const method = member?.property.type === 'Identifier' ? member.property.name : '';
    if (isOptOut(callee)) return asItIs(node);
    const [only] = args;
    if (isBoolean(callee) && only !== undefined && only.type !== 'SpreadElement' && args.length === 1)
      return code`${this.#ag}.bool(${asItIs(callee)}, ${this.condition(only)}, ${this.#unit.at(node)})`;
    const found = lookup(node, this.#parts);
    if (found !== null) return found;
    const asserted = this.#unit.asserts(callee) ? args[0] : undefined;
    const done = this.#callWithin(callee, args, node, method, member, asserted);
    return FRESH.has(method) && !isOptional(callee) ? code`${this.#ag}.fresh(${done})` : done;
  }

  #callWithin(
    callee: Node,
    args: readonly Node[],
    node: Node,
    method: string,
    member: (Node & { type: 'MemberExpression' }) | null,
    asserted: Node | undefined,
  ): Code {
    return within(node, (child) => {
      const isOther = REARRANGING.has(method) || isKeyed(method);
      if (member !== null && child === callee && (MUTATING.has(method) || isOther)) {
        const [helper, strict] = isOther
          ? [isKeyed(method) ? 'ownKeyed' : 'ownArray', '']
          : pushedName(callee) === null
            ? ['own', 'true, ']
            : ['list', ''];
        const { object, property } = member;
        if (object.type === 'Super') return asItIs(member);
        const dot = isOptional(member) ? '?.' : '.';
        return code`${this.#ag}.${helper}(${this.expression(object)}, ${strict}${this.#unit.at(node)})${dot}${asItIs(property)}`;
      }
      const done =
        child === callee && callee.type === 'MemberExpression' && (callee.computed || isLength(callee))
          ? memberOf(callee, this.#parts)
          : this.expression(child);
      if (child === args[0] && child.type !== 'SpreadElement' && changesArgument(callee))
        return code`${this.#ag}.own(${done}, true, ${this.#unit.at(node)})`;
      if (child === asserted && child.type !== 'SpreadElement')
        return code`${this.#ag}.asserted(${done}, ${this.#unit.at(child)}, ${this.#message(args[1])})`;
      return ASKING.has(method) && child === args[0] && child.type !== 'SpreadElement'
        ? code`${this.#ag}.asks(${done}, ${this.#unit.at(child)})`
        : done;
    });
  }

  /** The message of an assertion, where it is a text. */
  #message(node: Node | undefined): string {
    return node?.type === 'Literal' && typeof node.value === 'string'
      ? JSON.stringify(node.value)
      : 'undefined';
  }

  /** What a converted statement assigns to. */
  #state(nodes: readonly Node[], statements: boolean): string {
    return this.#scope.state([assignedIn(nodes, statements)], []);
  }

  effect(node: Node): Code {
    if (node.type === 'SequenceExpression') return within(node, (child) => this.effect(child));
    if (node.type !== 'UpdateExpression') return this.condition(node);
    const op = node.operator === '++' ? 'inc' : 'dec';
    return madeFrom(node.start, this.#update(node.argument, op, node.prefix, true));
  }
  /** What a for…of goes through; `tf.range` there may have bounds that are known at run time only. */
  iterable(right: Node): Code {
    const call = bare(right);
    if (call.type === 'CallExpression') {
      const { callee } = call;
      if (
        callee.type === 'MemberExpression' &&
        !callee.computed &&
        !callee.optional &&
        callee.property.name === 'range' &&
        callee.object.type === 'Identifier' &&
        (this.#unit.marks.library.namespaces.has(callee.object.name) || callee.object.name === 'tf')
      ) {
        const args = call.arguments.flatMap((a): Code => [', ', this.expression(a)]);
        return code`${this.#ag}.range(${asItIs(callee.object)}${args})`;
      }
    }
    return this.expression(right);
  }
}

/** Whether an assignment's left side can be written twice. */
function isPlace(to: Node): boolean {
  if (to.type === 'Identifier') return true;
  if (to.type !== 'MemberExpression' || memberPath(to) === null) return false;
  const { type } = bare(to.object);
  return type === 'Identifier' || type === 'ThisExpression' || type === 'Super';
}
