// Bodies of functions that become graphs where a tensor decides.

import { Scope } from '../analysis/scope.ts';
import { asItIs, type Unit, within } from '../analysis/source-unit.ts';
import type { Func, Node } from '../analysis/syntax.ts';
import { type Code, code } from './code-fragments.ts';
import { Expressions } from './expressions.ts';
import { Statements, TOP } from './statements.ts';

export class Rewriter {
  readonly #unit: Unit;
  readonly #scope: Scope;
  readonly #outside: (node: Node) => Code;
  readonly #expressions: Expressions;
  readonly #statements: Statements;
  /** The bodies that have been made: the same is needed in a function and in those around it. */
  readonly #bodies: Map<Func, Code> = new Map();

  /** @param outside what becomes of code that is not converted but has functions in it. */
  constructor(unit: Unit, outside: (node: Node) => Code) {
    this.#unit = unit;
    this.#scope = new Scope(unit.ag, (node) => unit.at(node));
    this.#outside = outside;
    this.#expressions = new Expressions(unit, this.#scope, (fn) => this.#function(fn), outside);
    this.#statements = new Statements(unit, this.#scope, this.#expressions);
  }

  /** The body of a function, in braces or as an expression. */
  body(fn: Func): Code {
    let done = this.#bodies.get(fn);
    if (done === undefined) this.#bodies.set(fn, (done = this.#bodyOf(fn)));
    return done;
  }

  #bodyOf(fn: Func): Code {
    const { body } = fn;
    if (body === null) return [];
    return this.#scope.in(fn, () =>
      body.type === 'BlockStatement'
        ? this.#statements.block(body, TOP)
        : code`(${this.#expressions.expression(body)})`,
    );
  }

  /** A parameter of a function, or another part of it that is no body. */
  parameter(fn: Func, part: Node): Code {
    if (part.type === 'Identifier') return asItIs(part);
    return this.#scope.in(fn, () => this.#expressions.expression(part));
  }

  /** A function in a converted one. */
  #function(fn: Func): Code {
    if (fn.async || fn.generator || this.#unit.marks.plain.has(fn)) return this.#outside(fn);
    this.#unit.check(fn);
    const { body } = fn;
    return within(fn, (child) => (child === body ? this.body(fn) : this.parameter(fn, child)));
  }
}
