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

// Kept at the nodes themselves: weak maps of so many small things keep the collector busy.
const CHILDREN: unique symbol = Symbol('children');
type Keeper = Node & { [CHILDREN]?: readonly Node[] };

const NO_CHILDREN: readonly Node[] = [];
/** Nodes without code in them. */
export const LEAVES: ReadonlySet<string> = new Set([
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
    const value = (node as unknown as Readonly<Record<string, unknown>>)[keys[k]];
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
  for (let i = 0; i < list.length; i++) walk(list[i], visit);
}
