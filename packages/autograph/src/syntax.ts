// Questions about syntax trees.
import type { ArrowFunctionExpression, Function as FunctionNode, Node } from 'oxc-parser';
import { parser } from './parser.ts';

export type { Node };
/** A function that can be converted: with a body. */
export type Func = FunctionNode | ArrowFunctionExpression;

/** Expressions that only say something about types. */
const TYPED = new Set([
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSNonNullExpression',
  'TSTypeAssertion',
  'TSInstantiationExpression',
]);

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}

/** The nodes in a node that are code, not types, as they follow each other. */
export function children(node: Node): readonly Node[] {
  let found = childrenOf.get(node);
  if (found === undefined) childrenOf.set(node, (found = findChildren(node)));
  return found;
}

// Several questions are asked about the same nodes.
const childrenOf = new WeakMap<Node, readonly Node[]>();

function findChildren(node: Node): readonly Node[] {
  if (node.type === 'Property' && node.shorthand) return [node.value];
  const found: Node[] = [];
  const add = (value: unknown): void => {
    if (isNode(value) && (!value.type.startsWith('TS') || TYPED.has(value.type))) found.push(value);
  };
  for (const key of parser().visitorKeys[node.type] ?? []) {
    const value: unknown = Reflect.get(node, key);
    if (Array.isArray(value)) value.forEach(add);
    else add(value);
  }
  return found;
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
  for (const child of children(node)) walk(child, visit);
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
}

/** The text and the root of a member such as `this.a.b`; null where a part of it is computed. */
export function memberPath(node: Node): { readonly text: string; readonly root: string } | null {
  if (node.type === 'Identifier') return { text: node.name, root: node.name };
  if (node.type === 'ThisExpression') return { text: 'this', root: 'this' };
  if (node.type === 'TSNonNullExpression') return memberPath(node.expression);
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
  const names = new Set<string>();
  const members = new Map<string, { readonly root: string }>();
  const scopes: string[][] = [statements ? declaredIn(nodes) : []];
  const isOwn = (name: string): boolean => scopes.some((s) => s.includes(name));
  const target = (node: Node): void => {
    const to = bare(node);
    if (to.type === 'MemberExpression') {
      const path = memberPath(to);
      if (path !== null && !isOwn(path.root)) members.set(path.text, { root: path.root });
    } else if (to.type === 'Identifier') {
      if (!isOwn(to.name)) names.add(to.name);
    } else if (to.type === 'AssignmentPattern') target(to.left);
    else if (to.type === 'RestElement') target(to.argument);
    else if (to.type === 'Property') target(to.value);
    else if (to.type === 'ArrayPattern' || to.type === 'ObjectPattern') children(to).forEach(target);
  };
  const visit = (node: Node): void => {
    if (node.type === 'AssignmentExpression') target(node.left);
    else if (node.type === 'UpdateExpression') target(node.argument);
    const own = scopeOf(node);
    scopes.push(own);
    if (
      (node.type === 'ForOfStatement' || node.type === 'ForInStatement') &&
      node.left.type !== 'VariableDeclaration'
    )
      target(node.left);
    for (const child of children(node)) visit(child);
    scopes.pop();
  };
  nodes.forEach(visit);
  return { names, members };
}

/** The ways in which control leaves a statement other than at its end. */
export interface Jumps {
  readonly return: boolean;
  readonly break: boolean;
  readonly continue: boolean;
  /** By a label. */
  readonly label: boolean;
}

export function jumpsOf(statement: Node): Jumps {
  let found = jumps.get(statement);
  if (found === undefined) jumps.set(statement, (found = findJumps(statement)));
  return found;
}

const jumps = new WeakMap<Node, Jumps>();

function findJumps(statement: Node): Jumps {
  const found = { return: false, break: false, continue: false, label: false };
  const visit = (node: Node, loop: boolean, breakable: boolean): void => {
    if (isFunction(node) || isClass(node)) return;
    if (node.type === 'ReturnStatement') found.return = true;
    else if (node.type === 'BreakStatement' || node.type === 'ContinueStatement') {
      if (node.label) found.label = true;
      else if (node.type === 'BreakStatement') found.break ||= !breakable;
      else found.continue ||= !loop;
    }
    const isLoop = LOOPS.has(node.type);
    for (const child of children(node))
      visit(child, loop || isLoop, breakable || isLoop || node.type === 'SwitchStatement');
  };
  visit(statement, false, false);
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
