// Which names and members code declares, assigns to and mentions.
import { jumpsOf } from '../emit/jumps.ts';
import { bare, children, isFunction, LEAVES, type Node } from './syntax.ts';

// Kept at the nodes themselves: weak maps of so many small things keep the collector busy.
const ASSIGNED: unique symbol = Symbol('assigned');
type Keeper = Node & { [ASSIGNED]?: Assigned };

/** The names that a pattern declares, or assigns to. */
export function boundNames(pattern: Node): string[] {
  switch (pattern.type) {
    case 'Identifier':
      return [pattern.name];
    case 'AssignmentPattern':
      return boundNames(pattern.left);
    case 'RestElement':
      return boundNames(pattern.argument);
    case 'Property':
      return boundNames(pattern.value);
    case 'TSParameterProperty':
      return boundNames(pattern.parameter);
    case 'ArrayPattern':
    case 'ObjectPattern':
      return children(pattern).flatMap(boundNames);
    default:
      return [];
  }
}

/** The names that statements declare in their own block. */
export function declaredIn(statements: readonly Node[]): string[] {
  return statements.flatMap((s) => {
    if (s.type === 'VariableDeclaration') return s.declarations.flatMap((d) => boundNames(d.id));
    if ((s.type === 'FunctionDeclaration' || s.type === 'ClassDeclaration') && s.id) return [s.id.name];
    return [];
  });
}

/** What a node declares for what is in it. */
function scopeOf(node: Node): string[] {
  if (isFunction(node)) {
    const own = node.type === 'FunctionExpression' && node.id ? [node.id.name] : [];
    return [...own, ...node.params.flatMap((p) => boundNames(p))];
  }
  switch (node.type) {
    case 'BlockStatement':
    case 'StaticBlock':
    case 'TSModuleBlock':
      return declaredIn(node.body);
    case 'ForStatement':
      return node.init === null ? [] : declaredIn([node.init]);
    case 'ForInStatement':
    case 'ForOfStatement':
      return declaredIn([node.left]);
    case 'SwitchStatement':
      return node.cases.flatMap((c) => declaredIn(c.consequent));
    case 'CatchClause':
      return node.param === null ? [] : boundNames(node.param);
    case 'ClassExpression':
      return node.id === null ? [] : [node.id.name];
    default:
      return [];
  }
}

interface Member {
  readonly root: string;
  /** Where it is assigned to. */
  readonly node: Node;
}

/** What is assigned to in a piece of code and declared outside of it. */
export interface Assigned {
  readonly names: ReadonlySet<string>;
  /** Members such as `this.count`, by their text. */
  readonly members: ReadonlyMap<string, Member>;
  /** Names whose `push` or `pop` is called. */
  readonly pushed: ReadonlySet<string>;
  /** Names of which elements are assigned: `name[i] = …`. */
  readonly elements: ReadonlySet<string>;
}

/** The text and the root of a member such as `this.a.b`; null where a part of it is computed. */
export function memberPath(node: Node): { readonly text: string; readonly root: string } | null {
  if (node.type === 'Identifier') return { text: node.name, root: node.name };
  if (node.type === 'ThisExpression') return { text: 'this', root: 'this' };
  if (node.type === 'Super') return { text: 'super', root: 'super' };
  const inside = bare(node);
  if (inside !== node) return memberPath(inside);
  if (node.type !== 'MemberExpression' || node.computed || node.optional) return null;
  const object = memberPath(node.object);
  if (object === null) return null;
  const name =
    node.property.type === 'PrivateIdentifier'
      ? `#${node.property.name}`
      : node.property.type === 'Identifier'
        ? node.property.name
        : null;
  return name === null ? null : { text: `${object.text}.${name}`, root: object.root };
}

/** What code assigns to. @param statements whether it is a list of statements with a scope of its own. */
export function assignedIn(nodes: readonly Node[], statements: boolean): Assigned {
  const found = nothing();
  const own = statements ? declaredIn(nodes) : [];
  for (const node of nodes) take(found, assigned(node), own);
  return found;
}

interface Found extends Assigned {
  readonly names: Set<string>;
  readonly members: Map<string, Member>;
  readonly pushed: Set<string>;
  readonly elements: Set<string>;
}

const nothing = (): Found => ({
  names: new Set(),
  members: new Map(),
  pushed: new Set(),
  elements: new Set(),
});
const NOTHING: Assigned = nothing();

/** The name in `name.push` and `name.pop`. */
export function pushedName(callee: Node): string | null {
  if (callee.type !== 'MemberExpression' || callee.computed || callee.property.type !== 'Identifier')
    return null;
  const { name } = callee.property;
  return (name === 'push' || name === 'pop') && callee.object.type === 'Identifier'
    ? callee.object.name
    : null;
}

/** Adds what is not declared here. */
function take(to: Found, from: Assigned, own: readonly string[]): void {
  for (const name of from.names) if (!own.includes(name)) to.names.add(name);
  for (const [text, member] of from.members) if (!own.includes(member.root)) to.members.set(text, member);
  for (const name of from.pushed) if (!own.includes(name)) to.pushed.add(name);
  for (const name of from.elements) if (!own.includes(name)) to.elements.add(name);
}

/** What a node assigns to and does not declare. */
function assigned(node: Node): Assigned {
  if (LEAVES.has(node.type)) return NOTHING;
  const keeper = node as Keeper;
  const known = keeper[ASSIGNED];
  if (known !== undefined) return known;
  let found: Found | undefined;
  const target = (left: Node): void => {
    const to = bare(left);
    found ??= nothing();
    if (to.type === 'MemberExpression') {
      const path = memberPath(to);
      const object = bare(to.object);
      if (path !== null) found.members.set(path.text, { root: path.root, node: to });
      else if (to.computed && object.type === 'Identifier') found.elements.add(object.name);
    } else if (to.type === 'Identifier') found.names.add(to.name);
    else if (to.type === 'AssignmentPattern') target(to.left);
    else if (to.type === 'RestElement') target(to.argument);
    else if (to.type === 'Property') target(to.value);
    else if (to.type === 'ArrayPattern' || to.type === 'ObjectPattern') children(to).forEach(target);
  };
  if (node.type === 'AssignmentExpression') target(node.left);
  else if (node.type === 'UpdateExpression') target(node.argument);
  else if (
    (node.type === 'ForOfStatement' || node.type === 'ForInStatement') &&
    node.left.type !== 'VariableDeclaration'
  )
    target(node.left);
  else if (node.type === 'CallExpression') {
    const name = pushedName(node.callee);
    if (name !== null) (found ??= nothing()).pushed.add(name);
  }
  let own: readonly string[] | undefined;
  for (const child of children(node)) {
    const inner = assigned(child);
    if (inner === NOTHING) continue;
    found ??= nothing();
    own ??= scopeOf(node);
    take(found, inner, own);
  }
  const done =
    found === undefined ||
    found.names.size + found.members.size + found.pushed.size + found.elements.size === 0
      ? NOTHING
      : found;
  keeper[ASSIGNED] = done;
  return done;
}

/**
 * The names that the body of a loop assigns to in each turn before anything in it could read them.
 * @param ahead what a turn evaluates before the body.
 */
export function assignedFirst(body: Node, ahead: readonly Node[]): ReadonlySet<string> {
  const found = new Set<string>();
  const before: Node[] = [...ahead];
  for (const s of body.type === 'BlockStatement' ? body.body : [body]) {
    const jumps = jumpsOf(s);
    if (jumps.return || jumps.break || jumps.continue || jumps.label) break;
    if (
      s.type === 'ExpressionStatement' &&
      s.expression.type === 'AssignmentExpression' &&
      s.expression.operator === '='
    ) {
      const { left, right } = s.expression;
      for (const name of boundNames(bare(left))) {
        const only = new Set([name]);
        const read =
          left.type === 'Identifier' ? [...before, right] : [...before, right, ...defaultsIn(left)];
        if (!read.some((node) => mentions(node, only))) found.add(name);
      }
    }
    before.push(s);
  }
  return found;
}

/** What a pattern evaluates: defaults and computed keys. */
function defaultsIn(pattern: Node): Node[] {
  if (pattern.type === 'AssignmentPattern') return [pattern.right, ...defaultsIn(pattern.left)];
  if (pattern.type === 'Property')
    return [...(pattern.computed ? [pattern.key] : []), ...defaultsIn(pattern.value)];
  if (pattern.type === 'RestElement') return defaultsIn(pattern.argument);
  return pattern.type === 'ArrayPattern' || pattern.type === 'ObjectPattern'
    ? children(pattern).flatMap(defaultsIn)
    : [];
}

/** Whether one of some names stands in a node. */
export function mentions(node: Node, names: ReadonlySet<string>): boolean {
  return (
    (node.type === 'Identifier' && names.has(node.name)) || children(node).some((c) => mentions(c, names))
  );
}

/** The functions among statements that what stands before them may call. */
export function calledEarly(before: Node, statements: readonly Node[]): readonly Node[] {
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
