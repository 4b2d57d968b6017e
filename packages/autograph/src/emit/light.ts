// Code for values that are known: JavaScript's own control flow, and operators that take tensors too. Numbers pass by the checks that the
// compiler of the engine removes.

import { isOptOut } from '../analysis/directives.ts';
import { type HostNames, isHost } from '../analysis/host-analysis.ts';
import {
  ASKING,
  asItIs,
  BINARY,
  EQUALITIES,
  hasBigCase,
  isBoolean,
  UNARY,
  type Unit,
  within,
} from '../analysis/source-unit.ts';
import { bare, type Func, isClass, isFunction, type Node } from '../analysis/syntax.ts';
import { AutographError } from '../errors.ts';
import { type Code, code, madeFrom } from './code-fragments.ts';
import { keyOf, lookup, memberOf } from './lookups.ts';

const COMPARISONS = new Set([...EQUALITIES, '<', '<=', '>', '>=']);

/** An operand that is read as often as needed: a name, a literal, or a place that holds its value. */
interface Operand {
  /** What puts the value into its place; null where it has none. */
  readonly first: Code | null;
  readonly text: string;
  readonly host: boolean;
}

export class Light {
  readonly #unit: Unit;
  readonly #ag: string;
  readonly #names: HostNames;
  readonly #nested: (fn: Func, names: HostNames) => Code;
  readonly #classes: (node: Node) => Code;
  /** Places that hold values between the parts of an expression: how many are in use, and the most that there were. */
  #used = 0;
  #most = 0;

  constructor(
    unit: Unit,
    names: HostNames,
    nested: (fn: Func, names: HostNames) => Code,
    classes: (node: Node) => Code,
  ) {
    this.#unit = unit;
    this.#ag = unit.ag;
    this.#names = names;
    this.#nested = nested;
    this.#classes = classes;
  }

  /** The declaration of the places that were needed. */
  get places(): string {
    const names = Array.from({ length: this.#most }, (_, i) => `${this.#ag}${i}`);
    return names.length === 0 ? '' : `let ${names.join(', ')};`;
  }

  /** Code with what is in it converted. */
  node(node: Node): Code {
    return madeFrom(node.start, this.#node(node));
  }

  #node(node: Node): Code {
    const ag = this.#ag;
    if (isFunction(node)) return this.#nested(node, this.#names);
    if (isClass(node)) return this.#classes(node);
    switch (node.type) {
      case 'IfStatement':
      case 'WhileStatement':
      case 'DoWhileStatement':
      case 'ForStatement':
      case 'ConditionalExpression': {
        const { test } = node;
        return within(node, (child) =>
          child === test
            ? this.condition(child)
            : node.type === 'ForStatement' && child === node.update
              ? this.#effect(child)
              : this.node(child),
        );
      }
      case 'ExpressionStatement':
        return within(node, (child) => this.#unit.apart(child, this.#effect(child)));
      case 'SequenceExpression':
        // In the place of an argument it must stay one.
        return code`(${within(node, (child) => this.node(child))})`;
      case 'ForOfStatement': {
        const { right } = node;
        if (node.await || isHost(right, this.#names)) break;
        return within(node, (child) =>
          child === right ? code`${ag}.items(${this.node(child)}, ${this.#unit.at(node)})` : this.node(child),
        );
      }
      case 'SwitchStatement': {
        const big = hasBigCase(node);
        const part = (child: Node): Code =>
          isHost(child, this.#names)
            ? this.node(child)
            : code`${ag}.hostValue(${this.node(child)}, ${this.#unit.at(child)}${big})`;
        return within(node, (child) =>
          child === node.discriminant
            ? part(child)
            : child.type === 'SwitchCase'
              ? within(child, (c) => (c === child.test ? part(c) : this.node(c)))
              : this.node(child),
        );
      }
      case 'NewExpression':
      case 'MemberExpression': {
        const done = lookup(node, this.#parts);
        if (done !== null) return done;
        break;
      }
      case 'BinaryExpression':
        if (node.operator === 'in') {
          const done = lookup(node, this.#parts);
          if (done !== null) return done;
        }
        return this.#binary(node.left, node.operator, node.right, node, false);
      case 'UnaryExpression':
        return this.#unary(node);
      case 'LogicalExpression':
        if (node.operator === '??' || isHost(node.left, this.#names)) break;
        return this.#logical(node.left, node.operator, node.right);
      case 'AssignmentExpression':
        return this.#assignment(node);
      case 'UpdateExpression':
        return this.#update(node, false);
      case 'ObjectExpression':
        return within(node, (child) =>
          child.type === 'SpreadElement' && !isHost(child.argument, this.#names)
            ? code`...${ag}.spread(${this.node(child.argument)}, ${this.#unit.at(child)})`
            : this.node(child),
        );
      case 'CallExpression':
        return this.#call(node);
      case 'Property':
        if (node.shorthand && node.value.type === 'Identifier') return asItIs(node);
        if (node.computed)
          return within(node, (child) => (child === node.key ? keyOf(child, this.#parts) : this.node(child)));
        break;
      default:
    }
    return within(node, (child) => this.node(child));
  }

  get #parts(): Parameters<typeof lookup>[1] {
    return {
      unit: this.#unit,
      part: (node) => this.node(node),
      isHost: (node) => isHost(node, this.#names),
      graph: false,
    };
  }

  /** An expression of which only what it does counts. */
  #effect(node: Node): Code {
    return node.type === 'UpdateExpression'
      ? madeFrom(node.start, this.#update(node, true))
      : this.node(node);
  }

  /** An expression as a condition. */
  condition(node: Node): Code {
    return madeFrom(node.start, this.#condition(node));
  }

  #condition(node: Node): Code {
    const ag = this.#ag;
    const to = bare(node);
    if (isHost(to, this.#names)) return this.node(node);
    if (to.type === 'UnaryExpression' && to.operator === '!') return code`!(${this.condition(to.argument)})`;
    if (to.type === 'LogicalExpression' && to.operator !== '??')
      return code`((${this.condition(to.left)}) ${to.operator} (${this.condition(to.right)}))`;
    if (to.type === 'BinaryExpression' && COMPARISONS.has(to.operator))
      return this.#binary(to.left, to.operator, to.right, to, true);
    if (to.type === 'Identifier')
      return [
        `(typeof ${to.name} === 'object' ? ${ag}.host(${to.name}, ${this.#unit.at(node)}) : ${to.name})`,
      ];
    return code`${ag}.is(${this.node(node)}, ${this.#unit.at(node)})`;
  }

  #place(): string {
    const name = `${this.#ag}${this.#used++}`;
    this.#most = Math.max(this.#most, this.#used);
    return name;
  }

  /** @param kept whether code that runs before it is read could change it. */
  #operand(node: Node, kept: boolean): Operand {
    const to = bare(node);
    const host = isHost(to, this.#names);
    if (to.type === 'Literal') return { first: null, text: this.#unit.text(to), host };
    if (to.type === 'Identifier' && !kept) return { first: null, text: to.name, host };
    const text = this.#place();
    return { first: code`${text} = ${this.node(node)}`, text, host };
  }

  #binary(left: Node, operator: string, right: Node, node: Node, condition: boolean): Code {
    const names = this.#names;
    const [x, y] = [isHost(left, names), isHost(right, names)];
    const plain = node.type === 'BinaryExpression' && isHost(node, names);
    // (#x in o has a left side that is no expression.)
    if (BINARY[operator] === undefined || (x && y) || plain) {
      if (node.type === 'BinaryExpression') return within(node, (child) => this.node(child));
      return code`${this.node(left)} ${operator} (${this.node(right)})`;
    }
    const used = this.#used;
    const a = this.#operand(left, !isSimple(right));
    const done = this.#operation(a, operator, this.#operand(right, false), node, condition);
    this.#used = used;
    return done;
  }

  #operation(a: Operand, operator: string, b: Operand, node: Node, condition: boolean): Code {
    const ag = this.#ag;
    const type = EQUALITIES.has(operator) ? `!== 'object'` : `=== 'number'`;
    const test = [a, b].filter((o) => !o.host).map((o) => `typeof ${o.text} ${type}`);
    const slow = `${ag}.${BINARY[operator]}(${a.text}, ${b.text})`;
    const otherwise = condition ? `${ag}.host(${slow}, ${this.#unit.at(node)})` : slow;
    const value = `${test.join(' && ')} ? ${a.text} ${operator} ${b.text} : ${otherwise}`;
    const parts = [a.first, b.first].filter((p) => p !== null).map((p) => code`${p}, `);
    return code`(${parts}${value})`;
  }

  #unary(node: Node & { type: 'UnaryExpression' }): Code {
    const { operator, argument } = node;
    const op = UNARY.get(operator);
    if (op === undefined || isHost(argument, this.#names)) return within(node, (child) => this.node(child));
    const used = this.#used;
    const { first, text } = this.#operand(argument, false);
    this.#used = used;
    const fast = operator === '!' ? `typeof ${text} !== 'object'` : `typeof ${text} === 'number'`;
    const set = first === null ? [] : code`${first}, `;
    return code`(${set}${fast} ? ${operator}${text} : ${this.#ag}.${op}(${text}))`;
  }

  #logical(left: Node, operator: string, right: Node): Code {
    const used = this.#used;
    const place = this.#place();
    const a = this.node(left);
    this.#used = used;
    const test = `typeof ${place} === 'object' ? ${this.#ag}.host(${place}, ${this.#unit.at(left)}) : ${place}`;
    // The place is free once the condition is known, but for the way that gives its value, which evaluates nothing else.
    return operator === '&&'
      ? code`((${place} = ${a}, ${test}) ? (${this.node(right)}) : ${place})`
      : code`((${place} = ${a}, ${test}) ? ${place} : (${this.node(right)}))`;
  }

  #assignment(node: Node & { type: 'AssignmentExpression' }): Code {
    const { left, operator, right } = node;
    const op = operator.slice(0, -1);
    if (operator === '=' || (op !== '&&' && op !== '||' && BINARY[op] === undefined))
      return within(node, (child) => (child === left ? this.#target(child) : this.node(child)));
    const to = bare(left);
    const text = this.#unit.text(left);
    if (op === '&&' || op === '||') return code`${text} = ${this.#logical(left, op, right)}`;
    if (to.type === 'Identifier') {
      if (isHost(to, this.#names) && isHost(right, this.#names))
        return within(node, (child) => (child === left ? asItIs(child) : this.node(child)));
      return code`${text} = ${this.#binary(left, op, right, node, false)}`;
    }
    const used = this.#used;
    const { first, place } = this.#reference(to);
    const value = this.#place();
    const done = this.#operation(
      { first: code`${value} = ${place}`, text: value, host: false },
      op,
      this.#operand(right, false),
      node,
      false,
    );
    this.#used = used;
    return code`(${first}${place} = ${done})`;
  }

  /** A member whose object and key are evaluated once: what puts them into places, and how it is read and written then. */
  #reference(to: Node): { readonly first: Code; readonly place: Code } {
    if (to.type !== 'MemberExpression')
      throw new AutographError(this.#unit.site(to), `a ${to.type} cannot be assigned to here`);
    const { object, property, computed } = to;
    const known = bare(object).type;
    const isStatic = !computed || bare(property).type === 'Literal';
    const stays = known === 'ThisExpression' || known === 'Super' || (isStatic && known === 'Identifier');
    const from = stays ? this.#unit.text(object) : this.#place();
    const first = stays ? [] : code`${from} = ${this.node(object)}, `;
    if (!computed) return { first, place: code`${from}.${asItIs(property)}` };
    if (isStatic) return { first, place: code`${from}[${asItIs(property)}]` };
    const at = this.#place();
    return { first: code`${first}${at} = ${keyOf(property, this.#parts)}, `, place: [`${from}[${at}]`] };
  }

  /** What is assigned to, with the parts that are evaluated converted. */
  #target(node: Node): Code {
    const to = bare(node);
    if (to.type === 'Identifier') return asItIs(node);
    if (to.type === 'MemberExpression') return memberOf(to, this.#parts);
    return within(to, (child) =>
      (to.type === 'AssignmentPattern' && child === to.right) ||
      (to.type === 'Property' && to.computed && child === to.key)
        ? this.node(child)
        : this.#target(child),
    );
  }

  #update(node: Node & { type: 'UpdateExpression' }, effect: boolean): Code {
    const ag = this.#ag;
    const { operator, prefix } = node;
    const to = bare(node.argument);
    const op = operator === '++' ? 'inc' : 'dec';
    if (isHost(to, this.#names)) return asItIs(node);
    if (to.type === 'Identifier') {
      const text = this.#unit.text(node.argument);
      const slow =
        effect || prefix
          ? `(${text} = ${ag}.${op}(${text}))`
          : `${ag}.before(${text}, ${text} = ${ag}.${op}(${text}))`;
      return [
        `(typeof ${text} === 'number' ? ${prefix ? operator : ''}${text}${prefix ? '' : operator} : ${slow})`,
      ];
    }
    const used = this.#used;
    const { first, place } = this.#reference(to);
    const value = this.#place();
    this.#used = used;
    const next = code`${value} = ${place}, ${place} = typeof ${value} === 'number' ? ${value} ${operator[0]} 1 : ${ag}.${op}(${value})`;
    return effect || prefix ? code`(${first}${next})` : code`(${first}${next}, ${ag}.before(${value}))`;
  }

  #call(node: Node & { type: 'CallExpression' }): Code {
    const { callee } = node;
    if (isOptOut(callee)) return asItIs(node);
    const [first] = node.arguments;
    if (
      isBoolean(callee) &&
      node.arguments.length === 1 &&
      first !== undefined &&
      first.type !== 'SpreadElement'
    )
      return code`${this.#ag}.bool(${asItIs(callee)}, ${this.node(first)}, ${this.#unit.at(node)})`;
    const found = lookup(node, this.#parts);
    if (found !== null) return found;
    const method =
      callee.type === 'MemberExpression' && !callee.computed && callee.property.type === 'Identifier'
        ? callee.property.name
        : '';
    if (first !== undefined && first.type !== 'SpreadElement' && this.#unit.asserts(callee))
      return within(node, (child) => (child === first ? this.condition(child) : this.node(child)));
    return within(node, (child) =>
      child === first && ASKING.has(method) && child.type !== 'SpreadElement'
        ? code`${this.#ag}.asks(${this.node(child)}, ${this.#unit.at(child)})`
        : this.node(child),
    );
  }
}

/** Whether evaluating an expression does nothing but give a value. */
function isSimple(node: Node): boolean {
  const to = bare(node);
  return to.type === 'Literal' || to.type === 'Identifier';
}
