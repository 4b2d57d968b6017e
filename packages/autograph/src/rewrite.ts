// Control flow and operators become calls of the run-time helpers.
import { AutographError } from './errors.ts';
import { type HostNames, hostNames, isHost, listNames, ownNames } from './facts.ts';
import { isOptOut } from './marks.ts';
import { type Code, code, madeFrom, type Piece, span } from './pieces.ts';
import {
  type Assigned,
  alwaysJumps,
  assignedIn,
  bare,
  boundNames,
  children,
  type Func,
  isClass,
  isFunction,
  type Jumps,
  jumpsOf,
  memberPath,
  type Node,
  pushedName,
} from './syntax.ts';
import { ASKING, asItIs, BINARY, type Unit, within } from './unit.ts';

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
const TOP: Position = { told: NO_JUMPS, handsOn: { ...NO_JUMPS, return: true }, top: true };

/** Methods that change an array. */
const MUTATING = new Set([
  'push',
  'pop',
  'shift',
  'unshift',
  'splice',
  'fill',
  'sort',
  'reverse',
  'copyWithin',
]);
const LOOPS = new Set(['WhileStatement', 'DoWhileStatement', 'ForStatement', 'ForOfStatement']);

/** Makes bodies of functions that become graphs where a tensor decides. */
export class Rewriter {
  readonly #unit: Unit;
  readonly #ag: string;
  readonly #outside: (node: Node) => Code;
  /** The bodies that have been made: the same is needed in a function and in those around it. */
  readonly #bodies: Map<Func, Code> = new Map();
  /** The names that the function being converted declares. */
  #locals: ReadonlySet<string> = new Set();
  /** Those of them that are declared in converted statements. */
  #inner: Set<string> = new Set();
  /** Names of values that never become tensors. */
  #hosts: HostNames = new Set();
  /** Names of lists that `push` may fill in loops of a graph. */
  #lists: ReadonlySet<string> = new Set();

  /** @param outside what becomes of code that is not converted but has functions in it. */
  constructor(unit: Unit, outside: (node: Node) => Code) {
    this.#unit = unit;
    this.#ag = unit.ag;
    this.#outside = outside;
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
    return this.#in(fn, () =>
      body.type === 'BlockStatement' ? this.#block(body, TOP) : code`(${this.expression(body)})`,
    );
  }

  /** A parameter of a function, or another part of it that is no body. */
  parameter(fn: Func, part: Node): Code {
    if (part.type === 'Identifier') return asItIs(part);
    return this.#in(fn, () => this.expression(part));
  }

  #in(fn: Func, make: () => Code): Code {
    const [around, inner, hosts, lists] = [this.#locals, this.#inner, this.#hosts, this.#lists];
    this.#inner = new Set();
    this.#locals = ownNames(fn);
    this.#hosts = hostNames(fn, 'constants');
    this.#lists = listNames(fn);
    const done = make();
    this.#locals = around;
    this.#inner = inner;
    this.#hosts = hosts;
    this.#lists = lists;
    return done;
  }

  /** A function in a converted one. */
  #function(fn: Func): Code {
    if (fn.async || fn.generator || this.#unit.marks.plain.has(fn)) return this.#outside(fn);
    this.#unit.check(fn);
    const { body } = fn;
    return within(fn, (child) => (child === body ? this.body(fn) : this.parameter(fn, child)));
  }

  // ---- expressions

  expression(node: Node): Code {
    return madeFrom(node.start, this.#expression(node));
  }

  #expression(node: Node): Code {
    const ag = this.#ag;
    if (isFunction(node)) return this.#function(node);
    if (isClass(node)) return this.#outside(node);
    switch (node.type) {
      case 'BinaryExpression': {
        const op = BINARY[node.operator];
        if (op === undefined || isHost(node, this.#hosts)) break;
        return code`${ag}.${op}(${this.expression(node.left)}, ${this.expression(node.right)})`;
      }
      case 'UnaryExpression': {
        const op = node.operator === '-' ? 'neg' : node.operator === '!' ? 'not' : undefined;
        if (op === undefined || isHost(node.argument, this.#hosts)) break;
        return code`${ag}.${op}(${this.expression(node.argument)})`;
      }
      case 'LogicalExpression': {
        if (node.operator === '??' || isHost(node.left, this.#hosts)) break;
        const op = node.operator === '&&' ? 'and' : 'or';
        return code`${ag}.${op}(${this.expression(node.left)}, () => (${this.expression(node.right)}), ${this.#state([node.right], false)}, ${this.#unit.at(node)})`;
      }
      case 'ConditionalExpression': {
        const { test, consequent, alternate } = node;
        if (isHost(test, this.#hosts)) break;
        return code`${ag}.ifExp(${this.expression(test)}, () => (${this.expression(consequent)}), () => (${this.expression(alternate)}), ${this.#state([consequent, alternate], false)}, ${this.#unit.at(node)})`;
      }
      case 'AssignmentExpression':
        return this.#assignment(node.left, node.operator, node.right, node);
      case 'UpdateExpression':
        return this.#update(node.argument, node.operator === '++' ? 'inc' : 'dec', node.prefix, node, false);
      case 'CallExpression':
        return this.#call(node.callee, node.arguments, node);
      case 'ArrayExpression':
      case 'ObjectExpression':
        return code`${ag}.made(${within(node, (child) => this.expression(child))})`;
      case 'Property':
        if (node.shorthand && node.value.type === 'Identifier') return asItIs(node);
        break;
      default:
    }
    return within(node, (child) => this.expression(child));
  }

  /** The object of a member that is written, which has to be known where a graph is made. */
  #target(node: Node): Code {
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
            : this.#target(child),
      );
    if (to.type !== 'MemberExpression') return asItIs(node);
    const path = memberPath(to);
    // Members by names are part of the state of what is around them, unless the object is made there.
    if (path !== null && !this.#inner.has(path.root)) return asItIs(node);
    const strict = path === null;
    return within(to, (child) =>
      child === to.object
        ? code`${this.#ag}.own(${this.expression(child)}, ${String(strict)}, ${this.#unit.at(node)})`
        : this.expression(child),
    );
  }

  #assignment(left: Node, operator: string, right: Node, node: Node): Code {
    const ag = this.#ag;
    if (operator === '=') return code`${this.#target(left)} = ${this.expression(right)}`;
    const op = operator.slice(0, -1);
    const to = bare(left);
    if (op === '&&' || op === '||') {
      const name = this.#unit.text(left);
      return code`${name} = ${ag}.${op === '&&' ? 'and' : 'or'}(${name}, () => (${this.expression(right)}), ${this.#state([right], false)}, ${this.#unit.at(node)})`;
    }
    const helper = BINARY[op];
    if (helper === undefined) return within(node, (c) => (c === left ? this.#target(c) : this.expression(c)));
    const path = memberPath(to);
    if (path !== null)
      return code`${this.#target(left)} = ${ag}.${helper}(${this.#unit.text(left)}, ${this.expression(right)})`;
    return this.#change(to, code`(v$) => ${ag}.${helper}(v$, ${this.expression(right)})`, 'change', node);
  }

  /** A change of a member whose object or key must be evaluated once. */
  #change(to: Node, fn: Code, helper: string, node: Node): Code {
    if (to.type !== 'MemberExpression' || to.property.type === 'PrivateIdentifier')
      throw new AutographError(
        this.#unit.site(node),
        'this assignment cannot be converted: take the object into a const first',
      );
    const key = to.computed ? this.expression(to.property) : [JSON.stringify(this.#unit.text(to.property))];
    return code`${this.#ag}.${helper}(${this.#ag}.own(${this.expression(to.object)}, true, ${this.#unit.at(node)}), ${key}, ${fn})`;
  }

  #update(argument: Node, op: string, prefix: boolean, node: Node, statement: boolean): Code {
    const ag = this.#ag;
    const to = bare(argument);
    if (memberPath(to) === null)
      return this.#change(to, [`${ag}.${op}`], prefix ? 'change' : 'changeAfter', node);
    const next = code`${this.#target(argument)} = ${ag}.${op}(${this.#unit.text(argument)})`;
    if (statement) return next;
    return prefix ? code`(${next})` : code`${ag}.before(${this.#unit.text(argument)}, ${next})`;
  }

  #call(callee: Node, args: readonly Node[], node: Node): Code {
    const member = callee.type === 'MemberExpression' && !callee.computed ? callee : null;
    const method = member?.property.type === 'Identifier' ? member.property.name : '';
    if (isOptOut(callee)) return asItIs(node);
    const asserted = this.#unit.asserts(callee) ? args[0] : undefined;
    return within(node, (child) => {
      if (member !== null && child === callee && MUTATING.has(method)) {
        const helper = pushedName(callee) === null ? ['own', 'true, '] : ['list', ''];
        return within(member, (part) =>
          part === member.object
            ? code`${this.#ag}.${helper[0] as string}(${this.expression(part)}, ${helper[1] as string}${this.#unit.at(node)})`
            : asItIs(part),
        );
      }
      const done = this.expression(child);
      if (child === asserted && child.type !== 'SpreadElement')
        return code`${this.#ag}.asserted(${done}, ${this.#unit.at(child)}, ${this.#message(args[1])})`;
      return ASKING.has(method) && child === args[0] && isFunction(child)
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
    return this.#stateFrom([assignedIn(nodes, statements)], []);
  }

  /** Code for the state of a statement: how to read and write it, its names, how many of them end with the function, and which are lists. */
  #stateFrom(parts: readonly Assigned[], declared: readonly string[]): string {
    const names = new Set<string>();
    const members = new Set<string>();
    for (const part of parts) {
      for (const name of part.names) if (!declared.includes(name)) names.add(name);
      for (const name of part.pushed) if (this.#lists.has(name) && !declared.includes(name)) names.add(name);
      for (const [text, { root }] of part.members) if (!declared.includes(root)) members.add(text);
    }
    const own = [...names].filter((n) => this.#locals.has(n));
    const all = [...own, ...[...names].filter((n) => !this.#locals.has(n)), ...members];
    if (all.length === 0) return 'null';
    const lists = all.flatMap((name, i) => (this.#lists.has(name) ? [i] : []));
    const last = lists.length === 0 ? '' : `, [${lists.join(', ')}]`;
    return `[() => [${all.join(', ')}], (v$) => { [${all.join(', ')}] = v$; }, ${JSON.stringify(all)}, ${own.length}${last}]`;
  }

  // ---- statements

  /** A block in braces, which stand for themselves. */
  #block(node: Node, at: Position): Code {
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
      const following = list.slice(i + 1);
      const hoisted = following.filter((s) => s.type === 'FunctionDeclaration');
      const rest = following.filter((s) => s.type !== 'FunctionDeclaration' && s.type !== 'EmptyStatement');
      for (const fn of hoisted) out.push(this.#statement(fn, at), '\n');
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
      return !isHost(s.test, this.#hosts) || jumps.return || jumps.break || jumps.continue;
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
      for (const child of children(node)) visit(child, inside || isFunction(child));
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
      return Array.isArray(first) ? code`{ ${this.#statements(first, at)} }` : this.#block(first, at);
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
    return code`${this.#ag}.ifStmt(${this.expression(test)}, () => ${yes}, () => ${no}, ${state}, ${this.#unit.at(s)})`;
  }

  /** The state of branches, and of lists of statements behind them. */
  #stateOf(branches: readonly Node[], ...rests: readonly (readonly Node[])[]): string {
    return this.#stateFrom([assignedIn(branches, false), ...rests.map((r) => assignedIn(r, true))], []);
  }

  #helper(s: Node, at: Position): Code {
    const ag = this.#ag;
    switch (s.type) {
      case 'IfStatement':
        return this.#if(s, at, [], []);
      case 'BlockStatement':
        return code`${ag}.block(() => ${this.#block(s, this.#callback(at))})`;
      case 'WhileStatement':
      case 'DoWhileStatement': {
        const name = s.type === 'WhileStatement' ? 'whileStmt' : 'doStmt';
        return code`${ag}.${name}(() => (${this.expression(s.test)}), () => ${this.#body(s.body, this.#turn(at))}, null, ${this.#state([s.test, s.body], false)}, ${this.#unit.at(s)})`;
      }
      case 'ForStatement': {
        const test = s.test === null ? ['true'] : this.expression(s.test);
        const update = s.update === null ? ['null'] : code`() => { ${this.#expressionStatement(s.update)}; }`;
        const nodes = [s.test, s.update, s.body].filter((n): n is NonNullable<typeof n> => n !== null);
        const loop = code`${ag}.whileStmt(() => (${test}), () => ${this.#body(s.body, this.#turn(at))}, ${update}, ${this.#state(nodes, false)}, ${this.#unit.at(s)})`;
        if (s.init === null) return loop;
        const init =
          s.init.type === 'VariableDeclaration'
            ? this.#statement(s.init, at)
            : this.#expressionStatement(s.init);
        return code`${ag}.block(() => { ${init}; return ${loop}; })`;
      }
      case 'ForOfStatement': {
        const { left, right, body } = s;
        const turn = this.#turn(at);
        const over = this.#iterable(right);
        if (left.type === 'VariableDeclaration') {
          const pattern = left.declarations[0]?.id;
          if (pattern === undefined) break;
          boundNames(pattern).forEach((n) => this.#inner.add(n));
          const state = this.#stateFrom([assignedIn([body], false)], boundNames(pattern));
          return code`${ag}.forOf(${over}, (${this.#target(pattern)}) => ${this.#body(body, turn)}, ${state}, ${this.#unit.at(s)})`;
        }
        const inside = this.#body(body, turn);
        return code`${ag}.forOf(${over}, (t$) => { ${this.#target(left)} = t$; return ${ag}.block(() => ${inside}); }, ${this.#state([s], false)}, ${this.#unit.at(s)})`;
      }
      default:
    }
    throw new AutographError(this.#unit.site(s), `a ${s.type} cannot be converted`);
  }

  /** What a for…of goes through; `tf.range` there may have bounds that are known at run time only. */
  #iterable(right: Node): Code {
    const call = bare(right);
    if (call.type === 'CallExpression') {
      const { callee } = call;
      if (
        callee.type === 'MemberExpression' &&
        !callee.computed &&
        callee.property.name === 'range' &&
        callee.object.type === 'Identifier' &&
        (this.#unit.marks.library.namespaces.has(callee.object.name) || callee.object.name === 'tf')
      ) {
        const args = call.arguments.flatMap((a): Code => [', ', this.expression(a)]);
        return code`${this.#ag}.range(${asItIs(callee)}${args})`;
      }
    }
    return this.expression(right);
  }

  #expressionStatement(node: Node): Code {
    if (node.type !== 'UpdateExpression') return this.expression(node);
    const op = node.operator === '++' ? 'inc' : 'dec';
    return madeFrom(node.start, this.#update(node.argument, op, node.prefix, node, true));
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
        const value = s.argument === null ? [] : this.expression(s.argument);
        if (at.told.return) return code`return ${ag}.returned(${value});`;
        return s.argument === null ? asItIs(s) : code`return (${value});`;
      }
      case 'BreakStatement':
        return at.told.break && !s.label ? code`return ${ag}.BREAK;` : asItIs(s);
      case 'ContinueStatement':
        return at.told.continue && !s.label ? code`return ${ag}.CONTINUE;` : asItIs(s);
      case 'ThrowStatement':
        return code`throw ${ag}.thrown(${this.expression(s.argument)}, ${this.#unit.at(s)});`;
      case 'ExpressionStatement':
        if (s.directive !== null && s.directive !== undefined) return asItIs(s);
        return within(s, (child) => this.#expressionStatement(child));
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
        return within(s, (child) => {
          if (child === body) return part(child, turn);
          if ('test' in s && child === s.test) return this.#host(child);
          if ('left' in s && child === s.left)
            return child.type === 'VariableDeclaration' ? asItIs(child) : this.#target(child);
          if ('right' in s && child === s.right)
            return code`${ag}.hostIterable(${this.expression(child)}, ${this.#unit.at(s)})`;
          if (child.type === 'VariableDeclaration') return within(child, (c) => this.expression(c));
          return this.#expressionStatement(child);
        });
      }
      case 'SwitchStatement': {
        const inside: Position = { ...plain, told: { ...plain.told, break: false } };
        return within(s, (child) => {
          if (child === s.discriminant)
            return code`${ag}.hostValue(${this.expression(child)}, ${this.#unit.at(s)})`;
          if (child.type !== 'SwitchCase') return this.expression(child);
          return within(child, (c) => (c === child.test ? this.expression(c) : this.#statement(c, inside)));
        });
      }
      case 'BlockStatement':
        return this.#block(s, plain);
      case 'LabeledStatement':
        return within(s, (child) => (child === s.label ? asItIs(child) : this.#statement(child, plain)));
      case 'TryStatement':
        return within(s, (child) => {
          if (child.type !== 'CatchClause') return this.#block(child, plain);
          return within(child, (c) => (c === child.body ? this.#block(c, plain) : this.#target(c)));
        });
      default:
        if (isFunction(s)) return this.expression(s);
        if (s.type === 'VariableDeclaration' && !at.top)
          s.declarations.flatMap((d) => boundNames(d.id)).forEach((n) => this.#inner.add(n));
        return this.#declaration(s);
    }
  }

  #declaration(s: Node): Code {
    const done = within(s, (child) =>
      child.type === 'VariableDeclarator'
        ? within(child, (c) => (c === child.id ? this.#pattern(c) : this.expression(c)))
        : this.expression(child),
    );
    const [first, ...rest] = done;
    const isList =
      s.type === 'VariableDeclaration' &&
      s.kind === 'const' &&
      s.declarations.some(({ id }) => id.type === 'Identifier' && this.#lists.has(id.name));
    if (!isList || typeof first !== 'object' || !('end' in first)) return done;
    // Something else stands for the list while a turn of a loop is traced.
    return ['let', span(s.start + 'const'.length, first.end), ...rest];
  }

  /** A pattern that declares names, with its defaults converted. */
  #pattern(node: Node): Code {
    return node.type === 'Identifier' ? asItIs(node) : this.#target(node);
  }

  #plainPart(node: Node, at: Position): Code {
    return node.type === 'BlockStatement' ? this.#block(node, at) : code`{ ${this.#statement(node, at)} }`;
  }

  /** A condition that has to be known where a graph is made. */
  #host(test: Node): Code {
    return code`${this.#ag}.host(${this.expression(test)}, ${this.#unit.at(test)})`;
  }
}
