// Control flow becomes calls of the run-time helpers.

import { isHost } from '../analysis/host-analysis.ts';
import {
  assignedFirst,
  assignedIn,
  boundNames,
  calledEarly,
  declaredIn,
  mentions,
} from '../analysis/names.ts';
import type { Scope } from '../analysis/scope.ts';
import { asItIs, hasBigCase, type Unit, within } from '../analysis/source-unit.ts';
import { bare, children, isClass, isFunction, type Node } from '../analysis/syntax.ts';
import { AutographError } from '../errors.ts';
import { type Code, code, madeFrom, type Piece, span } from './code-fragments.ts';
import type { Expressions } from './expressions.ts';
import { alwaysJumps, type Jumps, jumpsOf } from './jumps.ts';

type Way = 'return' | 'break' | 'continue';

/** Where a statement stands. */
interface Position {
  /** Which jumps have to be told to the helper around the function that the statement is in; others are plain. */
  readonly told: Readonly<Record<Way, boolean>>;
  /** Which jumps out of a converted statement here can be handed on to where they go. */
  readonly handsOn: Readonly<Record<Way, boolean>>;
  /** Whether it is in the converted function itself, not in a helper's callback. */
  readonly top: boolean;
}

const NO_JUMPS = { return: false, break: false, continue: false };
/** In the converted function itself. */
export const TOP: Position = { told: NO_JUMPS, handsOn: { ...NO_JUMPS, return: true }, top: true };
const LOOPS = new Set(['WhileStatement', 'DoWhileStatement', 'ForStatement', 'ForOfStatement']);

/** Statements of functions that become graphs where a tensor decides. */
export class Statements {
  readonly #unit: Unit;
  readonly #ag: string;
  readonly #scope: Scope;
  readonly #expressions: Expressions;
  /** Statements that say how the loop around them runs. */
  readonly #options: Set<Node> = new Set();

  constructor(unit: Unit, scope: Scope, expressions: Expressions) {
    this.#unit = unit;
    this.#ag = unit.ag;
    this.#scope = scope;
    this.#expressions = expressions;
  }

  /** A block in braces, which stand for themselves. */
  block(node: Node, at: Position): Code {
    if (node.type !== 'BlockStatement') return code`{ ${this.#statements([node], at)} }`;
    const first = node.body[0];
    const last = node.body.at(-1);
    if (first === undefined || last === undefined) return asItIs(node);
    return [span(node.start, first.start), ...this.#statements(node.body, at), span(last.end, node.end)];
  }

  #statements(list: readonly Node[], at: Position): Code {
    const out: Piece[] = [];
    const gap = (i: number): void => {
      const [before, next] = [list[i - 1], list[i]];
      if (before === undefined || next === undefined) return;
      // Statements that did not follow each other have other ones between them.
      const between = span(before.end, next.start);
      out.push(this.#unit.source.slice(between.start, between.end).trim() === '' ? between : '\n');
    };
    for (const [i, statement] of list.entries()) {
      gap(i);
      if (!this.#handsOn(statement, at)) {
        out.push(this.#statement(statement, at));
        continue;
      }
      // What follows must not run after a jump, so it becomes a function. Functions declared there are known before.
      const following = list.slice(i + 1).filter((s) => s.type !== 'EmptyStatement');
      const early = calledEarly(statement, following);
      const stay = new Set(declaredIn(following.filter((s) => s.type !== 'FunctionDeclaration')));
      // Those that know variables of what follows stay with these as well.
      const rest = following.filter((s) => !early.includes(s) || mentions(s, stay));
      for (const fn of early) out.push(this.#statement(fn, at), '\n');
      const signal = this.#converted(statement, at, rest);
      const result = at.top ? code`${this.#ag}.value(${signal}, ${this.#unit.at(statement)})` : signal;
      out.push(madeFrom(statement.start, code`return ${result};`));
      return out;
    }
    return out;
  }

  /** Whether a statement is one that is converted and that control may leave other than at its end. */
  #handsOn(statement: Node, at: Position): boolean {
    const jumps = jumpsOf(statement);
    return (jumps.return || jumps.break || jumps.continue) && this.#converts(statement, jumps, at);
  }

  /** Whether a statement becomes a call of a helper. */
  #converts(s: Node, jumps: Jumps, at: Position): boolean {
    const can =
      !jumps.label &&
      (!jumps.return || at.handsOn.return) &&
      (!jumps.break || at.handsOn.break) &&
      (!jumps.continue || at.handsOn.continue);
    if (!can) return false;
    if (s.type === 'IfStatement')
      return !isHost(s.test, this.#scope.hosts) || jumps.return || jumps.break || jumps.continue;
    if (s.type === 'BlockStatement') return jumps.return || jumps.break || jumps.continue;
    if (!LOOPS.has(s.type)) return false;
    if (s.type === 'ForOfStatement') return !s.await;
    return s.type !== 'ForStatement' || !this.#keeps(s.init, s);
  }

  /** Whether functions in a loop keep its variables, of which each turn has its own. */
  #keeps(init: Node | null, loop: Node): boolean {
    if (init?.type !== 'VariableDeclaration') return false;
    const names = init.declarations.flatMap((d) => boundNames(d.id));
    let found = false;
    const visit = (node: Node, inside: boolean): void => {
      if (inside && node.type === 'Identifier' && names.includes(node.name)) found = true;
      for (const child of children(node)) visit(child, inside || isFunction(child) || isClass(child));
    };
    visit(loop, false);
    return found;
  }

  /** In a callback of a helper that is called from here. */
  #callback(at: Position): Position {
    return { told: { return: true, break: true, continue: true }, handsOn: at.handsOn, top: false };
  }

  #turn(at: Position): Position {
    return {
      told: { return: true, break: true, continue: true },
      handsOn: { return: at.handsOn.return, break: true, continue: true },
      top: false,
    };
  }

  /** A callback's body: a statement, and what follows it. */
  #body(node: Node | null, at: Position, rest: readonly Node[] = []): Code {
    const first = node === null ? [] : node.type === 'BlockStatement' ? node : [node];
    if (rest.length === 0)
      return Array.isArray(first) ? code`{ ${this.#statements(first, at)} }` : this.block(first, at);
    if (node === null || (node.type === 'BlockStatement' && node.body.length === 0))
      return code`{ ${this.#statements(rest, at)} }`;
    // The block keeps its names for itself.
    return code`{ ${this.#statements([node, ...rest], at)} }`;
  }

  /** A call of a helper, whose value says whether control goes on behind the statement. */
  #converted(s: Node, at: Position, rest: readonly Node[]): Code {
    const ag = this.#ag;
    if (s.type === 'IfStatement' && rest.length > 0 && alwaysJumps(s.consequent))
      return this.#if(s, at, [], rest);
    if (s.type === 'IfStatement' && rest.length > 0 && alwaysJumps(s.alternate))
      return this.#if(s, at, rest, []);
    const call = this.#helper(s, at);
    if (rest.length === 0) return call;
    return code`${ag}.afterJump(${call}, () => { ${this.#statements(rest, this.#callback(at))} }, ${this.#state(rest, true)}, ${this.#unit.at(s)})`;
  }

  #if(
    s: Node & { type: 'IfStatement' },
    at: Position,
    then: readonly Node[],
    otherwise: readonly Node[],
  ): Code {
    const inside = this.#callback(at);
    const { test, consequent, alternate } = s;
    const yes = this.#body(consequent, inside, then);
    const no = this.#body(alternate, inside, otherwise);
    const branches = alternate === null ? [consequent] : [consequent, alternate];
    const state = this.#stateOf(branches, then, otherwise);
    return code`${this.#ag}.ifStmt(${this.#expressions.condition(test)}, () => ${yes}, () => ${no}, ${state}, ${this.#unit.at(s)})`;
  }

  /** What a statement assigns to. @param first what a loop assigns to ahead of all else in each turn. */
  #state(nodes: readonly Node[], statements: boolean, first?: ReadonlySet<string>): string {
    return this.#scope.state([assignedIn(nodes, statements)], [], first);
  }

  /** The state of branches, and of lists of statements behind them. */
  #stateOf(branches: readonly Node[], ...rests: readonly (readonly Node[])[]): string {
    return this.#scope.state([assignedIn(branches, false), ...rests.map((r) => assignedIn(r, true))], []);
  }

  #helper(s: Node, at: Position): Code {
    const ag = this.#ag;
    const options = 'body' in s && LOOPS.has(s.type) ? this.#loopOptions(s.body as Node) : [];
    switch (s.type) {
      case 'IfStatement':
        return this.#if(s, at, [], []);
      case 'BlockStatement':
        return code`${ag}.block(() => ${this.block(s, this.#callback(at))})`;
      case 'WhileStatement':
      case 'DoWhileStatement': {
        const name = s.type === 'WhileStatement' ? 'whileStmt' : 'doStmt';
        return code`${ag}.${name}(() => (${this.#expressions.condition(s.test)}), () => ${this.#body(s.body, this.#turn(at))}, null, ${this.#state([s.test, s.body], false, assignedFirst(s.body, [s.test]))}, ${this.#unit.at(s)}${options})`;
      }
      case 'ForStatement': {
        const test = s.test === null ? ['true'] : this.#expressions.condition(s.test);
        const update = s.update === null ? ['null'] : code`() => { ${this.#expressions.effect(s.update)}; }`;
        const nodes = [s.test, s.update, s.body].filter((n): n is NonNullable<typeof n> => n !== null);
        const loop = code`${ag}.whileStmt(() => (${test}), () => ${this.#body(s.body, this.#turn(at))}, ${update}, ${this.#state(nodes, false, assignedFirst(s.body, s.test === null ? [] : [s.test]))}, ${this.#unit.at(s)}${options})`;
        if (s.init === null) return loop;
        const init =
          s.init.type === 'VariableDeclaration'
            ? this.#statement(s.init, at)
            : this.#expressions.effect(s.init);
        return code`${ag}.block(() => { ${init}; return ${loop}; })`;
      }
      case 'ForOfStatement': {
        const { left, right, body } = s;
        const turn = this.#turn(at);
        const over = this.#expressions.iterable(right);
        if (left.type === 'VariableDeclaration') {
          const pattern = left.declarations[0]?.id;
          if (pattern === undefined) break;
          boundNames(pattern).forEach((n) => this.#scope.inner.add(n));
          const names = boundNames(pattern);
          const state = this.#scope.state([assignedIn([body], false)], names, assignedFirst(body, [pattern]));
          const made = this.#body(body, turn);
          // The body may have variables of its own with the loop's names.
          const again =
            body.type === 'BlockStatement' && declaredIn(body.body).some((n) => names.includes(n));
          return code`${ag}.forOf(${over}, (${this.#expressions.target(pattern)}) => ${again ? code`{ ${made} }` : made}, ${state}, ${this.#unit.at(s)}${options})`;
        }
        const inside = this.#body(body, turn);
        return code`${ag}.forOf(${over}, (${ag}v) => { ${this.#expressions.target(left)} = ${ag}v; return ${ag}.block(() => ${inside}); }, ${this.#state([s], false, new Set(boundNames(bare(left))))}, ${this.#unit.at(s)}${options})`;
      }
      default:
    }
    throw new AutographError(this.#unit.site(s), `a ${s.type} cannot be converted`);
  }

  /** What the first statement of a loop's body says about the loop: what `setLoopOptions` is given, if it is that function. */
  #loopOptions(body: Node): Code {
    const first = body.type === 'BlockStatement' ? body.body[0] : body;
    if (first?.type !== 'ExpressionStatement' || first.expression.type !== 'CallExpression') return [];
    const { callee, arguments: args } = first.expression;
    const name = callee.type === 'MemberExpression' && !callee.computed ? callee.property : callee;
    if (name.type !== 'Identifier' || name.name !== 'setLoopOptions') return [];
    this.#options.add(first);
    const given = args.flatMap((arg): Code => [...this.#expressions.expression(arg), ', ']);
    return code`, () => ${this.#ag}.areLoopOptions(${asItIs(callee)}) ? [${given}] : null`;
  }

  #statement(s: Node, at: Position): Code {
    return madeFrom(s.start, this.#statementIn(s, at));
  }

  #statementIn(s: Node, at: Position): Code {
    const ag = this.#ag;
    const jumps = jumpsOf(s);
    if (s.type !== 'BlockStatement' && this.#converts(s, jumps, at)) return code`;${this.#helper(s, at)};`;
    // In what stays plain, jumps cannot be handed on from one statement to the next.
    const plain: Position = { ...at, handsOn: NO_JUMPS };
    const part = (child: Node, position: Position = plain): Code => this.#plainPart(child, position);
    switch (s.type) {
      case 'ReturnStatement': {
        const value = s.argument === null ? [] : this.#expressions.expression(s.argument);
        if (at.told.return) return code`return ${ag}.returned(${value});`;
        return s.argument === null ? asItIs(s) : code`return (${value});`;
      }
      case 'BreakStatement':
        return at.told.break && !s.label ? code`return ${ag}.BREAK;` : asItIs(s);
      case 'ContinueStatement':
        return at.told.continue && !s.label ? code`return ${ag}.CONTINUE;` : asItIs(s);
      case 'ThrowStatement':
        return code`throw ${ag}.thrown(${this.#expressions.expression(s.argument)}, ${this.#unit.at(s)});`;
      case 'ExpressionStatement':
        if (s.directive !== null && s.directive !== undefined) return asItIs(s);
        if (this.#options.has(s) && s.expression.type === 'CallExpression')
          return code`${ag}.areLoopOptions(${asItIs(s.expression.callee)}) || ${this.#expressions.effect(s.expression)};`;
        return within(s, (child) => this.#unit.apart(child, this.#expressions.effect(child)));
      case 'IfStatement': {
        const no = s.alternate === null ? [] : code` else ${part(s.alternate)}`;
        return code`if (${this.#host(s.test)}) ${part(s.consequent)}${no}`;
      }
      case 'WhileStatement':
      case 'DoWhileStatement':
      case 'ForStatement':
      case 'ForInStatement':
      case 'ForOfStatement': {
        const turn: Position = { ...plain, told: { ...plain.told, break: false, continue: false } };
        const { body } = s;
        this.#loopOptions(body);
        return within(s, (child) => {
          if (child === body) return part(child, turn);
          if ('test' in s && child === s.test) return this.#host(child);
          if ('left' in s && child === s.left)
            return child.type === 'VariableDeclaration' ? asItIs(child) : this.#expressions.target(child);
          if ('right' in s && child === s.right)
            return code`${ag}.hostIterable(${this.#expressions.expression(child)}, ${this.#unit.at(s)})`;
          if (child.type === 'VariableDeclaration')
            return within(child, (c) => this.#expressions.expression(c));
          return this.#expressions.effect(child);
        });
      }
      case 'SwitchStatement': {
        const inside: Position = { ...plain, told: { ...plain.told, break: false } };
        const big = hasBigCase(s);
        return within(s, (child) => {
          if (child === s.discriminant)
            return code`${ag}.hostValue(${this.#expressions.expression(child)}, ${this.#unit.at(s)}${big})`;
          if (child.type !== 'SwitchCase') return this.#expressions.expression(child);
          return within(child, (c) => {
            if (c !== child.test) return this.#statement(c, inside);
            const done = this.#expressions.expression(c);
            return isHost(c, this.#scope.hosts)
              ? done
              : code`${ag}.hostValue(${done}, ${this.#unit.at(c)}${big})`;
          });
        });
      }
      case 'BlockStatement':
        return this.block(s, plain);
      case 'LabeledStatement':
        return within(s, (child) => (child === s.label ? asItIs(child) : this.#statement(child, plain)));
      case 'TryStatement':
        return within(s, (child) => {
          if (child.type !== 'CatchClause') return this.block(child, plain);
          return this.#catch(child, plain);
        });
      default:
        if (isFunction(s)) return this.#expressions.expression(s);
        if (s.type === 'VariableDeclaration' && !at.top)
          s.declarations.flatMap((d) => boundNames(d.id)).forEach((n) => this.#scope.inner.add(n));
        return this.#declaration(s);
    }
  }

  /** A `catch`, which does not get what only says that code cannot become a graph, or comes out of a branch that may not be taken. */
  #catch(clause: Node & { type: 'CatchClause' }, at: Position): Code {
    const { param, body } = clause;
    const error = `${this.#ag}v`;
    const declared = param === null ? [] : code`let ${this.#expressions.target(param)} = ${error}; `;
    return code`catch (${error}) { ${this.#ag}.caught(${error}); ${declared}${this.block(body, at)} }`;
  }

  #declaration(s: Node): Code {
    const done = within(s, (child) =>
      child.type === 'VariableDeclarator'
        ? within(child, (c) => (c === child.id ? this.#pattern(c) : this.#expressions.expression(c)))
        : this.#expressions.expression(child),
    );
    const [first, ...rest] = done;
    const isList =
      s.type === 'VariableDeclaration' &&
      s.kind === 'const' &&
      s.declarations.some(({ id }) => id.type === 'Identifier' && this.#scope.lists.has(id.name));
    if (!isList || typeof first !== 'object' || !('end' in first)) return done;
    // Something else stands for the list while a turn of a loop is traced.
    return ['let', span(s.start + 'const'.length, first.end), ...rest];
  }

  /** A pattern that declares names, with its defaults converted. */
  #pattern(node: Node): Code {
    return node.type === 'Identifier' ? asItIs(node) : this.#expressions.target(node);
  }

  #plainPart(node: Node, at: Position): Code {
    return node.type === 'BlockStatement' ? this.block(node, at) : code`{ ${this.#statement(node, at)} }`;
  }

  /** A condition that has to be known where a graph is made. */
  #host(test: Node): Code {
    return code`${this.#ag}.host(${this.#expressions.condition(test)}, ${this.#unit.at(test)})`;
  }
}
