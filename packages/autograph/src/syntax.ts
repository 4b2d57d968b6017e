// Questions about syntax trees.
import type { ArrowFunctionExpression, Function as FunctionNode, Node } from 'oxc-parser';
import { parser } from './parser.ts';

export type { Node };
/** A function that can be converted: with a body. */
export type Func = FunctionNode | ArrowFunctionExpression;

/** What has code in it although it is TypeScript's. */
const TYPED = new Set([
  // Namespaces, and parameters that are members too, are code.
  'TSModuleDeclaration',
  'TSModuleBlock',
  'TSParameterProperty',
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSNonNullExpression',
  'TSTypeAssertion',
  'TSInstantiationExpression',
]);

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}

/** What has been found out about a node; several questions are asked about the same ones. */
interface Known {
  assigned: Assigned | undefined;
  jumps: Jumps | undefined;
}

// Kept at the nodes themselves: weak maps of so many small things keep the collector busy.
const KNOWN: unique symbol = Symbol('what is known');
const CHILDREN: unique symbol = Symbol('children');
type Keeper = Node & { [KNOWN]?: Known; [CHILDREN]?: readonly Node[] };

function knownOf(node: Node): Known {
  const keeper = node as Keeper;
  return (keeper[KNOWN] ??= { assigned: undefined, jumps: undefined });
}

const NO_CHILDREN: readonly Node[] = [];
const LEAVES = new Set([
  'Identifier',
  'Literal',
  'ThisExpression',
  'TemplateElement',
  'PrivateIdentifier',
  'Super',
]);

/** The nodes in a node that are code, not types, as they follow each other. */
export function children(node: Node): readonly Node[] {
  if (LEAVES.has(node.type)) return NO_CHILDREN;
  const keeper = node as Keeper;
  return (keeper[CHILDREN] ??= findChildren(node));
}

function findChildren(node: Node): readonly Node[] {
  if (node.type === 'Property' && node.shorthand) return [node.value];
  // Its texts stand between the expressions, and are listed ahead of them.
  if (node.type === 'TemplateLiteral') return node.expressions;
  const found: Node[] = [];
  const keys = codeKeys(node.type);
  for (let k = 0; k < keys.length; k++) {
    const value = (node as unknown as Readonly<Record<string, unknown>>)[keys[k] as string];
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) if (isCode(value[i])) found.push(value[i] as Node);
    } else if (isCode(value)) found.push(value);
  }
  return found;
}

function isCode(value: unknown): value is Node {
  if (!isNode(value)) return false;
  const { type } = value;
  return type.charCodeAt(0) !== T || type.charCodeAt(1) !== S || TYPED.has(type);
}

/** The letters that the names of types' nodes begin with. */
const [T, S] = [84, 83];
const TYPE_KEYS: ReadonlySet<string> = new Set([
  'typeAnnotation',
  'typeParameters',
  'returnType',
  'typeArguments',
  'superTypeArguments',
  'implements',
]);
const keysOf = new Map<string, readonly string[]>();

/** The keys of nodes of a type under which there can be code. */
function codeKeys(type: string): readonly string[] {
  let keys = keysOf.get(type);
  if (keys === undefined) {
    const all = parser().visitorKeys[type] ?? [];
    // An annotation of `x as T` stands beside the expression, and is skipped as a type.
    keys = all.filter((key) => !TYPE_KEYS.has(key));
    keysOf.set(type, keys);
  }
  return keys;
}

export function isFunction(node: Node): node is Func {
  return (
    node.type === 'ArrowFunctionExpression' ||
    node.type === 'FunctionExpression' ||
    node.type === 'FunctionDeclaration'
  );
}

export function isClass(node: Node): boolean {
  return node.type === 'ClassDeclaration' || node.type === 'ClassExpression';
}

/** The expression without parentheses and types around it. */
export function bare(node: Node): Node {
  return node.type === 'ParenthesizedExpression' ||
    node.type === 'TSAsExpression' ||
    node.type === 'TSSatisfiesExpression' ||
    node.type === 'TSNonNullExpression' ||
    node.type === 'TSTypeAssertion'
    ? bare(node.expression)
    : node;
}

/** Calls `visit` with every node, and goes into those for which it returns true. */
export function walk(node: Node, visit: (node: Node) => boolean): void {
  if (!visit(node)) return;
  const list = children(node);
  for (let i = 0; i < list.length; i++) walk(list[i] as Node, visit);
}

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

/** What is assigned to in a piece of code and declared outside of it. */
export interface Assigned {
  readonly names: ReadonlySet<string>;
  /** Members such as `this.count`, by their text. */
  readonly members: ReadonlyMap<string, { readonly root: string }>;
  /** Names whose `push` or `pop` is called. */
  readonly pushed: ReadonlySet<string>;
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
  readonly members: Map<string, { readonly root: string }>;
  readonly pushed: Set<string>;
}

const nothing = (): Found => ({ names: new Set(), members: new Map(), pushed: new Set() });
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
}

/** What a node assigns to and does not declare. */
function assigned(node: Node): Assigned {
  if (LEAVES.has(node.type)) return NOTHING;
  const known = knownOf(node);
  if (known.assigned !== undefined) return known.assigned;
  let found: Found | undefined;
  const target = (left: Node): void => {
    const to = bare(left);
    found ??= nothing();
    if (to.type === 'MemberExpression') {
      const path = memberPath(to);
      if (path !== null) found.members.set(path.text, { root: path.root });
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
    found === undefined || (found.names.size === 0 && found.members.size === 0 && found.pushed.size === 0)
      ? NOTHING
      : found;
  known.assigned = done;
  return done;
}

/** The ways in which control leaves a statement other than at its end. */
export interface Jumps {
  readonly return: boolean;
  readonly break: boolean;
  readonly continue: boolean;
  /** By a label. */
  readonly label: boolean;
}

const NO_JUMPS: Jumps = { return: false, break: false, continue: false, label: false };
const RETURN: Jumps = { ...NO_JUMPS, return: true };
const BREAK: Jumps = { ...NO_JUMPS, break: true };
const CONTINUE: Jumps = { ...NO_JUMPS, continue: true };
const LABEL: Jumps = { ...NO_JUMPS, label: true };

export function jumpsOf(node: Node): Jumps {
  if (isFunction(node) || isClass(node)) return NO_JUMPS;
  if (node.type === 'BreakStatement') return node.label ? LABEL : BREAK;
  if (node.type === 'ContinueStatement') return node.label ? LABEL : CONTINUE;
  if (!(node.type.endsWith('Statement') || node.type === 'SwitchCase' || node.type === 'CatchClause'))
    return NO_JUMPS;
  const known = knownOf(node);
  if (known.jumps !== undefined) return known.jumps;
  let found = node.type === 'ReturnStatement' ? RETURN : NO_JUMPS;
  for (const child of children(node)) {
    const inner = jumpsOf(child);
    if (inner !== NO_JUMPS)
      found = {
        return: found.return || inner.return,
        break: found.break || inner.break,
        continue: found.continue || inner.continue,
        label: found.label || inner.label,
      };
  }
  if (LOOPS.has(node.type)) found = { ...found, break: false, continue: false };
  else if (node.type === 'SwitchStatement') found = { ...found, break: false };
  known.jumps = found;
  return found;
}

const LOOPS = new Set([
  'WhileStatement',
  'DoWhileStatement',
  'ForStatement',
  'ForOfStatement',
  'ForInStatement',
]);

/** Whether control never reaches what follows a statement, whatever its conditions give. */
export function alwaysJumps(statement: Node | null): boolean {
  if (statement === null) return false;
  switch (statement.type) {
    case 'ReturnStatement':
    case 'ThrowStatement':
    case 'BreakStatement':
    case 'ContinueStatement':
      return true;
    case 'BlockStatement':
      return statement.body.some(alwaysJumps);
    case 'IfStatement':
      return alwaysJumps(statement.consequent) && alwaysJumps(statement.alternate);
    default:
      return false;
  }
}
