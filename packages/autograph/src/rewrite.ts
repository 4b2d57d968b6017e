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
  declaredIn,
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
        if (node.operator === 'delete') return this.#delete(node.argument, node);
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
        return this.#update(node.argument, node.operator === '++' ? 'inc' : 'dec', node.prefix, false);
      case 'CallExpression':
        return this.#call(node.callee, node.arguments, node);
      case 'ArrayExpression':
      case 'ObjectExpression':
      case 'NewExpression':
        return code`${ag}.made(${within(node, (child) => this.expression(child))})`;
      case 'SequenceExpression':
        // In the place of an argument it must stay one.
        return code`(${within(node, (child) => this.expression(child))})`;
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
    if (path !== null && !this.#inner.has(path.root)) return asItIs(node);
    return within(to, (child) =>
      child === to.object && child.type !== 'Super' ? this.#owned(to) : this.expression(child),
    );
  }

  #delete(argument: Node, node: Node): Code {
    const to = bare(argument);
    if (to.type !== 'MemberExpression' || isOptional(to))
      return within(node, (child) => this.expression(child));
    const member = within(to, (part) =>
      part === to.object
        ? code`${this.#ag}.own(${this.expression(part)}, true, ${this.#unit.at(node)})`
        : this.expression(part),
    );
    return code`delete ${member}`;
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
    if (isPlace(to))
      return code`${this.#target(left)} = ${ag}.${helper}(${this.#unit.text(left)}, ${this.expression(right)})`;
    return this.#change(to, (value) => code`${ag}.${helper}(${value}, ${this.expression(right)})`, false);
  }

  /** A change of a member whose object or key must be evaluated once. @param after whether the value before is that of the expression. */
  #change(to: Node, next: (value: string) => Code, after: boolean): Code {
    const ag = this.#ag;
    if (to.type !== 'MemberExpression')
      throw new AutographError(this.#unit.site(to), `a ${to.type} cannot be assigned to here`);
    const { object, property, computed } = to;
    const isSuper = object.type === 'Super';
    const key = computed ? this.expression(property) : ['null'];
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
    if (path !== null && !this.#inner.has(path.root)) return this.expression(to.object);
    return code`${this.#ag}.own(${this.expression(to.object)}, ${String(path === null)}, ${this.#unit.at(to)})`;
  }

  #update(argument: Node, op: string, prefix: boolean, statement: boolean): Code {
    const ag = this.#ag;
    const to = bare(argument);
    if (!isPlace(to)) return this.#change(to, (value) => [`${ag}.${op}(${value})`], !prefix && !statement);
    const next = code`${this.#target(argument)} = ${ag}.${op}(${this.#unit.text(argument)})`;
    if (statement) return next;
    return prefix ? code`(${next})` : code`${ag}.before(${this.#unit.text(argument)}, ${next})`;
  }

  #call(callee: Node, args: readonly Node[], node: Node): Code {
    const member = callee.type === 'MemberExpression' && !callee.computed ? callee : null;
    const method = member?.property.type === 'Identifier' ? member.property.name : '';
    if (isOptOut(callee)) return asItIs(node);
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
      if (member !== null && child === callee && MUTATING.has(method)) {
        const helper = pushedName(callee) === null ? ['own', 'true, '] : ['list', ''];
        const { object, property } = member;
        if (object.type === 'Super') return asItIs(member);
        const dot = isOptional(member) ? '?.' : '.';
        return code`${this.#ag}.${helper[0] as string}(${this.expression(object)}, ${helper[1] as string}${this.#unit.at(node)})${dot}${asItIs(property)}`;
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
    /** Whether the object of a member is assigned, too: it may not be there before. */
    const depends = (text: string): boolean => all.some((other) => text.startsWith(`${other}.`));
    const lists = all.flatMap((name, i) => (this.#lists.has(name) ? [i] : []));
    const last = lists.length === 0 ? '' : `, [${lists.join(', ')}]`;
    const reads = all.map((text) => (depends(text) ? text.replaceAll('.', '?.') : text));
    const value = `${this.#ag}v`;
    const later = all.flatMap((text, i) =>
      depends(text) ? [` if (${parentOf(text)} != null) ${text} = ${value}[${i}];`] : [],
    );
    const writes = `[${all.map((text) => (depends(text) ? '' : text)).join(', ')}] = ${value};${later.join('')}`;
    return `[() => [${reads.join(', ')}], (${this.#ag}v) => { ${writes} }, ${JSON.stringify(all)}, ${own.length}${last}]`;
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
          const names = boundNames(pattern);
          const state = this.#stateFrom([assignedIn([body], false)], names);
          const made = this.#body(body, turn);
          // The body may have variables of its own with the loop's names.
          const again =
            body.type === 'BlockStatement' && declaredIn(body.body).some((n) => names.includes(n));
          return code`${ag}.forOf(${over}, (${this.#target(pattern)}) => ${again ? code`{ ${made} }` : made}, ${state}, ${this.#unit.at(s)})`;
        }
        const inside = this.#body(body, turn);
        return code`${ag}.forOf(${over}, (${ag}v) => { ${this.#target(left)} = ${ag}v; return ${ag}.block(() => ${inside}); }, ${this.#state([s], false)}, ${this.#unit.at(s)})`;
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

  #expressionStatement(node: Node): Code {
    if (node.type === 'SequenceExpression') return within(node, (child) => this.#expressionStatement(child));
    if (node.type !== 'UpdateExpression') return this.expression(node);
    const op = node.operator === '++' ? 'inc' : 'dec';
    return madeFrom(node.start, this.#update(node.argument, op, node.prefix, true));
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
        return within(s, (child) => this.#unit.apart(child, this.#expressionStatement(child)));
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
          return this.#catch(child, plain);
        });
      default:
        if (isFunction(s)) return this.expression(s);
        if (s.type === 'VariableDeclaration' && !at.top)
          s.declarations.flatMap((d) => boundNames(d.id)).forEach((n) => this.#inner.add(n));
        return this.#declaration(s);
    }
  }

  /** A `catch`, which does not get what only says that code cannot become a graph, or comes out of a branch that may not be taken. */
  #catch(clause: Node & { type: 'CatchClause' }, at: Position): Code {
    const { param, body } = clause;
    const error = `${this.#ag}v`;
    const declared = param === null ? [] : code`let ${this.#target(param)} = ${error}; `;
    return code`catch (${error}) { ${this.#ag}.caught(${error}); ${declared}${this.#block(body, at)} }`;
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

/** Whether an assignment's left side can be written twice. */
function isPlace(to: Node): boolean {
  if (to.type === 'Identifier') return true;
  if (to.type !== 'MemberExpression' || memberPath(to) === null) return false;
  const { type } = bare(to.object);
  return type === 'Identifier' || type === 'ThisExpression' || type === 'Super';
}

const parentOf = (text: string): string => text.slice(0, text.lastIndexOf('.'));

/** Whether an expression ends early where a part of it is nothing. */
function isOptional(node: Node): boolean {
  if (node.type === 'MemberExpression') return node.optional || isOptional(node.object);
  return node.type === 'CallExpression' && (node.optional || isOptional(node.callee));
}

/** Whether one of some names stands in a node. */
function mentions(node: Node, names: ReadonlySet<string>): boolean {
  return (
    (node.type === 'Identifier' && names.has(node.name)) || children(node).some((c) => mentions(c, names))
  );
}

/** The functions among statements that what stands before them may call. */
function calledEarly(before: Node, statements: readonly Node[]): readonly Node[] {
  let rest = statements.filter((s) => s.type === 'FunctionDeclaration');
  const found: Node[] = [];
  for (let from: readonly Node[] = [before]; from.length > 0; ) {
    const reached = rest.filter((fn) => from.some((node) => mentions(node, new Set(declaredIn([fn])))));
    rest = rest.filter((fn) => !reached.includes(fn));
    found.push(...reached);
    from = reached;
  }
  return found;
}
