// Which body of a function runs when. Converted functions have one for graphs and one for known values; others keep their own text, and have
// one for graphs in front of it, which runs when the function is called by converted code or in a trace.
import type { Node } from 'oxc-parser';
import { isOptOut } from '../analysis/directives.ts';
import { type HostNames, hostNames, isConvertible, numbersOf } from '../analysis/host-analysis.ts';
import { boundNames } from '../analysis/names.ts';
import { asItIs, type Unit, within } from '../analysis/source-unit.ts';
import { children, type Func, isClass, isFunction } from '../analysis/syntax.ts';
import { type Code, code, madeFrom, type Piece, span } from './code-fragments.ts';
import { Light } from './light.ts';
import { Rewriter } from './rewrite.ts';

const NONE: HostNames = new Set();

export class Functions {
  readonly #unit: Unit;
  readonly #full: Rewriter;
  #count = 0;

  constructor(unit: Unit) {
    this.#unit = unit;
    this.#full = new Rewriter(unit, (node) => this.outside(node));
  }

  /** How many functions have been given a body. */
  get count(): number {
    return this.#count;
  }

  /** Code whose functions are given the bodies that they need. */
  outside(node: Node): Code {
    if (!isFunction(node)) {
      if (node.type === 'CallExpression' && isOptOut(node.callee)) return asItIs(node);
      return within(node, (child) => this.outside(child));
    }
    const { marks } = this.#unit;
    if (marks.asked.has(node)) {
      this.#unit.check(node);
      return this.#converted(node, NONE, true);
    }
    if (marks.plain.has(node)) return asItIs(node);
    if (marks.constructors.has(node) || this.#unit.obstacle(node) !== null || node.body === null)
      return this.#within(node);
    if (marks.called.has(node)) return this.#converted(node, NONE, true);
    return marks.others && isConvertible(node) ? this.#twofold(node) : this.#within(node);
  }

  /** A function of which only those in it are given bodies. */
  #within(fn: Func): Code {
    return within(fn, (child) => this.outside(child));
  }

  /** A converted function. @param entry whether what it calls has to be told to run converted. */
  #converted(fn: Func, around: HostNames, entry: boolean): Code {
    const { ag } = this.#unit;
    const light = new Light(
      this.#unit,
      hostNames(fn, 'variables', around),
      (inner, names) => this.#inside(inner, names),
      (node) => this.outside(node),
    );
    const graph = code`if (${ag}.tracing()) return ${this.#call(fn)};`;
    const enter = entry ? `const ${ag}on = ${ag}.enterConversion(); try { ` : '';
    const leave = entry ? ` } finally { ${ag}.leaveConversion(${ag}on); }` : '';
    const numbers = numbersOf(fn)?.map((name) => `typeof ${name} === 'number'`);
    return this.#withBody(
      fn,
      (parts) => {
        const fast = numbers === undefined ? [] : code`if (${numbers.join(' && ')}) {${parts(asItIs)}} else `;
        const body = parts((child) => light.node(child));
        const slow = code`${enter}${graph} ${light.places}${body}${leave}`;
        return numbers === undefined ? slow : code`${fast}{ ${slow} }`;
      },
      (body) => {
        const fast = numbers === undefined ? [] : code`if (${numbers.join(' && ')}) return ${asItIs(body)}; `;
        const value = light.node(body);
        return code`{ ${fast}${enter}${graph} ${light.places} return ${value};${leave} }`;
      },
    );
  }

  /** A function in one that is converted. */
  #inside(fn: Func, names: HostNames): Code {
    const { plain, asked } = this.#unit.marks;
    if (plain.has(fn) || asked.has(fn) || fn.async || fn.generator || fn.body === null)
      return this.outside(fn);
    this.#unit.check(fn);
    return isConvertible(fn) ? this.#converted(fn, names, false) : this.#plainInside(fn, names);
  }

  /** A function without anything to convert but in the functions in it. */
  #plainInside(fn: Func, names: HostNames): Code {
    const own = hostNames(fn, 'variables', names);
    const visit = (node: Node): Code =>
      isFunction(node) ? this.#inside(node, own) : isClass(node) ? this.outside(node) : within(node, visit);
    return within(fn, visit);
  }

  /** A function that keeps its text. */
  #twofold(fn: Func): Code {
    const numbers = numbersOf(fn)?.map((name) => `typeof ${name} !== 'number'`);
    const others = numbers === undefined ? '' : `(${numbers.join(' || ')}) && `;
    const converting = `${others}${this.#unit.ag}.conversion.on`;
    return this.#withBody(
      fn,
      (parts) => code`if (${converting}) return ${this.#call(fn)};${parts((child) => this.outside(child))}`,
      (body) => code`(${converting} ? ${this.#call(fn)} : ${this.outside(body)})`,
    );
  }

  /**
   * A function with another body.
   * @param block what a body in braces holds behind its directives. @param value what an expression becomes.
   */
  #withBody(
    fn: Func,
    block: (statements: (part: (child: Node) => Code) => Code) => Code,
    value: (body: Node) => Code,
  ): Code {
    this.#count++;
    const { body } = fn;
    const done = within(fn, (child) => {
      if (child !== body) return this.#full.parameter(fn, child);
      if (child.type !== 'BlockStatement') return value(child);
      const list = child.body;
      let directives = 0;
      let from = child.start + 1;
      for (const s of list) {
        if (s.type !== 'ExpressionStatement' || typeof s.directive !== 'string') break;
        directives++;
        from = s.end;
      }
      const statements = (part: (node: Node) => Code): Code => {
        const pieces: Piece[] = [];
        let at = from;
        for (const s of list.slice(directives)) {
          if (at < s.start) pieces.push(span(at, s.start));
          pieces.push(part(s));
          at = s.end;
        }
        if (at < child.end - 1) pieces.push(span(at, child.end - 1));
        return pieces;
      };
      const end = directives > 0 && this.#unit.source[from - 1] !== ';' ? ';' : '';
      return code`${[span(child.start, from)]}${end} ${block(statements)}}`;
    });
    return madeFrom(fn.start, done);
  }

  /** A call of the function that a graph is made of, with the parameters of the one around it, which it does not keep alive. */
  #call(fn: Func): Code {
    // Functions among the defaults keep the parameters themselves.
    const names = fn.params.some(keeps)
      ? ''
      : fn.params
          .flatMap((p) => boundNames(p))
          .filter((name) => name !== 'this')
          .join(', ');
    const own = fn.type === 'ArrowFunctionExpression' ? null : ownThis(fn);
    const body = this.#full.body(fn);
    if (own === 'this' && names === '') return code`(function () ${body}).call(this)`;
    if (own === 'this') return code`(function (${names}) ${body}).call(this, ${names})`;
    return code`((${names}) => ${body})(${names})`;
  }
}

/** Whether there are functions in a part of a function, which can keep its variables. */
function keeps(node: Node): boolean {
  return isFunction(node) || isClass(node) || children(node).some(keeps);
}

/** What a function uses that every function has: only `this`, or more, which only arrow functions see from inside. */
function ownThis(fn: Func): 'this' | 'more' | null {
  let found: 'this' | 'more' | null = null;
  const visit = (node: Node): void => {
    if (node !== fn && isFunction(node) && node.type !== 'ArrowFunctionExpression') return;
    if (node.type === 'ThisExpression') found ??= 'this';
    else if (
      node.type === 'Super' ||
      node.type === 'MetaProperty' ||
      (node.type === 'Identifier' && node.name === 'arguments')
    )
      found = 'more';
    for (const child of children(node)) visit(child);
  };
  visit(fn);
  return found;
}
