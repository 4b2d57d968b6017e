// What is certain about values before the code runs: which are never tensors.
import type { Node } from 'oxc-parser';
import { bare, boundNames, children, type Func, isClass, isFunction } from './syntax.ts';

/** Names of which it is certain that they never hold tensors. */
export type HostNames = ReadonlySet<string>;

const NONE: HostNames = new Set();
const CONSTANTS = new Set(['undefined', 'NaN', 'Infinity']);
/** Objects of the language whose functions give no tensors. */
const GLOBALS = new Set(['Math', 'Number', 'Date', 'performance']);
const COMPARING = new Set(['==', '!=', '===', '!==']);

/** Whether the value of an expression is certainly no tensor. */
export function isHost(node: Node, names: HostNames): boolean {
  switch (node.type) {
    case 'Literal':
    case 'TemplateLiteral':
    case 'ArrowFunctionExpression':
    case 'FunctionExpression':
    case 'ClassExpression':
    case 'ArrayExpression':
    case 'ObjectExpression':
      return true;
    case 'Identifier':
      return CONSTANTS.has(node.name) || names.has(node.name);
    case 'ParenthesizedExpression':
    case 'TSAsExpression':
    case 'TSSatisfiesExpression':
    case 'TSNonNullExpression':
    case 'TSTypeAssertion':
      return isHost(node.expression, names);
    case 'UnaryExpression':
      return (node.operator !== '-' && node.operator !== '!') || isHost(node.argument, names);
    case 'UpdateExpression':
      return isHost(node.argument, names);
    case 'BinaryExpression':
      if (node.operator === 'in' || node.operator === 'instanceof') return true;
      if (COMPARING.has(node.operator) && (identity(node.left) || identity(node.right))) return true;
      if (node.operator === '+' && (isText(node.left) || isText(node.right))) return true;
      return isHost(node.left, names) && isHost(node.right, names);
    case 'LogicalExpression':
      return isHost(node.left, names) && isHost(node.right, names);
    case 'ConditionalExpression':
      return isHost(node.test, names) && isHost(node.consequent, names) && isHost(node.alternate, names);
    case 'MemberExpression':
      return !node.computed && node.property.type === 'Identifier' && node.property.name === 'length';
    case 'CallExpression': {
      const { callee } = node;
      return (
        callee.type === 'MemberExpression' &&
        !callee.computed &&
        callee.object.type === 'Identifier' &&
        GLOBALS.has(callee.object.name)
      );
    }
    default:
      return false;
  }
}

/** What tensors are compared with as objects only. */
function identity(node: Node): boolean {
  const to = bare(node);
  return (
    isText(to) ||
    (to.type === 'Literal' && to.value === null && !('regex' in to) && !('bigint' in to)) ||
    (to.type === 'Identifier' && to.name === 'undefined') ||
    (to.type === 'UnaryExpression' && to.operator === 'typeof')
  );
}

function isText(node: Node): boolean {
  const to = bare(node);
  return to.type === 'TemplateLiteral' || (to.type === 'Literal' && typeof to.value === 'string');
}

interface Local {
  readonly constant: boolean;
  /** All that it is set to; null where it is something unknown. */
  readonly values: Node[] | null;
}

/**
 * The names of a function's own variables that never hold tensors.
 * @param counters whether variables count that change: in graphs these become tensors.
 */
export function hostNames(fn: Func, counters: boolean, outside: HostNames = NONE): HostNames {
  const locals = new Map<string, Local>();
  const unknown = (name: string): void => {
    locals.set(name, { constant: false, values: null });
  };
  const set = (name: string, value: Node): void => {
    locals.get(name)?.values?.push(value);
  };
  const assign = (node: Node): void => {
    const to = bare(node);
    if (to.type === 'Identifier') unknown(to.name);
    else if (to.type === 'AssignmentPattern') assign(to.left);
    else if (to.type !== 'MemberExpression') children(to).forEach(assign);
  };
  const declared = new Set<string>();
  const declare = (node: Node, own: boolean): void => {
    if (node.type === 'VariableDeclaration') {
      for (const { id, init } of node.declarations) {
        for (const name of boundNames(id)) {
          const again = declared.has(name);
          declared.add(name);
          if (own && !again && id.type === 'Identifier' && init !== null)
            locals.set(name, { constant: node.kind === 'const', values: [init] });
          else unknown(name);
        }
      }
    } else if (isFunction(node)) {
      for (const name of node.params.flatMap((p) => boundNames(p))) {
        declared.add(name);
        unknown(name);
      }
      if (node.id) unknown(node.id.name);
    } else if (node.type === 'CatchClause' && node.param) boundNames(node.param).forEach(unknown);
    else if (node.type === 'ClassDeclaration' && node.id) unknown(node.id.name);
  };
  const first = (node: Node, own: boolean): void => {
    declare(node, own);
    const inside = own && (node === fn || !(isFunction(node) || isClass(node)));
    for (const child of children(node)) first(child, inside);
  };
  first(fn, true);
  const second = (node: Node): void => {
    if (node.type === 'AssignmentExpression') {
      const to = bare(node.left);
      if (to.type === 'Identifier') set(to.name, node.right);
      else assign(to);
    } else if (
      (node.type === 'ForOfStatement' || node.type === 'ForInStatement') &&
      node.left.type !== 'VariableDeclaration'
    )
      assign(node.left);
    for (const child of children(node)) second(child);
  };
  second(fn);
  const names = new Set<string>([...outside].filter((name) => !declared.has(name)));
  for (const [name, { constant, values }] of locals)
    if (values !== null && (constant || counters)) names.add(name);
  for (let changed = true; changed; ) {
    changed = false;
    for (const name of names) {
      if (locals.get(name)?.values?.every((value) => isHost(value, names)) === false) {
        names.delete(name);
        changed = true;
      }
    }
  }
  return names;
}
