// What is certain about values before the code runs: which are never tensors.
import type { Node } from 'oxc-parser';
import { boundNames } from './names.ts';
import {
  ASKING,
  BINARY,
  changesArgument,
  isBoolean,
  isKeyed,
  MUTATING,
  REARRANGING,
  UNARY,
} from './source-unit.ts';
import { bare, children, type Func, isClass, isFunction } from './syntax.ts';

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
      return !UNARY.has(node.operator) || isHost(node.argument, names);
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

/** All that a variable of a function is set to; a parameter, behind the call. */
interface Local {
  readonly kind: 'parameter' | 'variable' | 'constant';
  readonly values: Node[];
}

/** What a function declares and assigns, those in it included. */
interface Variables {
  /** Its own variables, by names; null for names that are set to something unknown, or are several variables. */
  readonly locals: ReadonlyMap<string, Local | null>;
  readonly declared: ReadonlySet<string>;
  /** Of these, what the function declares itself. */
  readonly own: ReadonlySet<string>;
}

const variables = new WeakMap<Func, Variables>();

function variablesOf(fn: Func): Variables {
  const before = variables.get(fn);
  if (before !== undefined) return before;
  const locals = new Map<string, Local | null>();
  const declared = new Set<string>();
  const own = new Set<string>();
  const values: [name: string, value: Node][] = [];
  const unknown = (name: string): void => {
    locals.set(name, null);
  };
  const target = (node: Node): void => {
    const to = bare(node);
    if (to.type === 'Identifier') unknown(to.name);
    else if (to.type === 'AssignmentPattern') target(to.left);
    else if (to.type !== 'MemberExpression') children(to).forEach(target);
  };
  const declare = (name: string, inside: boolean): void => {
    declared.add(name);
    if (inside) own.add(name);
    unknown(name);
  };
  const visit = (node: Node, inside: boolean): void => {
    let within = inside;
    switch (node.type) {
      case 'VariableDeclaration':
        for (const { id, init } of node.declarations) {
          if (id.type !== 'Identifier') {
            for (const name of boundNames(id)) declare(name, inside);
            continue;
          }
          const { name } = id;
          const again = declared.has(name) || locals.has(name);
          declare(name, inside);
          if (inside && !again && init !== null)
            locals.set(name, { kind: node.kind === 'const' ? 'constant' : 'variable', values: [init] });
        }
        break;
      case 'AssignmentExpression': {
        const to = bare(node.left);
        if (to.type === 'Identifier') values.push([to.name, node.right]);
        else if (to.type !== 'MemberExpression') target(to);
        break;
      }
      case 'ForOfStatement':
      case 'ForInStatement':
        if (node.left.type !== 'VariableDeclaration') target(node.left);
        break;
      case 'CatchClause':
        if (node.param !== null) for (const name of boundNames(node.param)) declare(name, false);
        break;
      case 'ClassDeclaration':
      case 'ClassExpression':
        if (node.id !== null) declare(node.id.name, false);
        within = false;
        break;
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ArrowFunctionExpression':
        if (node.id && node !== fn) declare(node.id.name, inside && node.type === 'FunctionDeclaration');
        within = node === fn;
        for (const param of node.params) {
          for (const name of boundNames(param)) declare(name, within);
          if (within && param.type === 'Identifier')
            locals.set(param.name, { kind: 'parameter', values: [] });
        }
        break;
      default:
    }
    const list = children(node);
    for (let i = 0; i < list.length; i++) visit(list[i], within);
  };
  visit(fn, true);
  for (const [name, value] of values) locals.get(name)?.values.push(value);
  const found = { locals, declared, own };
  variables.set(fn, found);
  return found;
}

/** The names that a function declares itself. */
export function ownNames(fn: Func): ReadonlySet<string> {
  return variablesOf(fn).own;
}

/** Methods, and functions of the library, that make a list. */
const MAKING = new Set([
  'unstack',
  'split',
  'from',
  'of',
  'map',
  'filter',
  'slice',
  'concat',
  'toSorted',
  'toReversed',
  'flat',
  'flatMap',
]);

/** Whether an expression makes a list, where it makes one that code assigns elements of. */
function makesList(value: Node): boolean {
  if (value.type === 'ArrayExpression') return true;
  return (
    value.type === 'CallExpression' &&
    value.callee.type === 'MemberExpression' &&
    !value.callee.computed &&
    value.callee.property.type === 'Identifier' &&
    MAKING.has(value.callee.property.name)
  );
}

/** The names of a function's own variables that are lists made where they are declared. */
export function listNames(fn: Func): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [name, local] of variablesOf(fn).locals) {
    const [only, ...others] = local?.values ?? [];
    const value = only === undefined ? undefined : bare(only);
    // What a parameter is before is not known.
    const declared = local?.kind !== 'parameter' && others.length === 0;
    if (declared && value !== undefined && makesList(value)) names.add(name);
  }
  return names;
}

/**
 * The names of a function's own variables that never hold tensors.
 * @param which constants; variables that change too, which become tensors in graphs; or parameters as well, if these hold none in a call.
 */
export function hostNames(
  fn: Func,
  which: 'constants' | 'variables' | 'parameters',
  outside: HostNames = NONE,
): HostNames {
  const { locals, declared } = variablesOf(fn);
  const names = new Set<string>();
  for (const name of outside) if (!declared.has(name) && locals.get(name) !== null) names.add(name);
  for (const [name, local] of locals) {
    if (local === null || (local.kind === 'parameter' && which !== 'parameters')) continue;
    if (local.kind === 'constant' || which !== 'constants') names.add(name);
  }
  for (let changed = true; changed; ) {
    changed = false;
    for (const name of names) {
      if (locals.get(name)?.values.every((value) => isHost(value, names)) === false) {
        names.delete(name);
        changed = true;
      }
    }
  }
  return names;
}

/**
 * The parameters of a function that, called with numbers, does nothing that is different for tensors, and calls nothing but the language's
 * own functions of numbers; null for others.
 */
export function numbersOf(fn: Func): readonly string[] | null {
  const names: string[] = [];
  for (const param of fn.params) {
    if (param.type !== 'Identifier' || param.name === 'this') return null;
    names.push(param.name);
  }
  if (names.length === 0) return null;
  const calls = (node: Node): boolean =>
    (isFunction(node) && node !== fn) ||
    isClass(node) ||
    node.type === 'NewExpression' ||
    node.type === 'TaggedTemplateExpression' ||
    (node.type === 'CallExpression' && !isHost(node, NONE)) ||
    children(node).some(calls);
  return calls(fn) || isConvertible(fn, hostNames(fn, 'parameters')) ? null : names;
}

/** Whether a function itself, without those in it, does something that is different for tensors. */
export function isConvertible(fn: Func, names: HostNames = hostNames(fn, 'variables')): boolean {
  const host = (node: Node): boolean => isHost(node, names);
  const visit = (node: Node): boolean => {
    if ((isFunction(node) && node !== fn) || isClass(node)) return false;
    switch (node.type) {
      case 'IfStatement':
      case 'ConditionalExpression':
      case 'WhileStatement':
      case 'DoWhileStatement':
        if (!host(node.test)) return true;
        break;
      case 'ForStatement':
        if (node.test !== null && !host(node.test)) return true;
        break;
      case 'ForOfStatement':
        if (!node.await && !host(node.right)) return true;
        break;
      case 'SwitchStatement':
        if (!host(node.discriminant) || node.cases.some((c) => c.test !== null && !host(c.test))) return true;
        break;
      case 'BinaryExpression':
        if (BINARY[node.operator] !== undefined && !host(node)) return true;
        break;
      case 'LogicalExpression':
        if (node.operator !== '??' && !host(node.left)) return true;
        break;
      case 'UnaryExpression':
      case 'UpdateExpression':
        if (!host(node)) return true;
        break;
      case 'AssignmentExpression':
        if (node.operator !== '=' && node.operator !== '??=' && !(host(node.left) && host(node.right)))
          return true;
        break;
      case 'ObjectExpression':
        if (node.properties.some((p) => p.type === 'SpreadElement' && !host(p.argument))) return true;
        break;
      case 'ExpressionStatement': {
        // A tensor's add and set give a value, which would be lost.
        const { expression } = node;
        const name = expression.type === 'CallExpression' ? methodOf(expression.callee) : null;
        if (name !== null && isKeyed(name)) return true;
        break;
      }
      case 'NewExpression':
        if (isBoolean(node.callee)) return true;
        break;
      case 'CallExpression': {
        const { callee } = node;
        if (isBoolean(callee) || changesArgument(callee)) return true;
        const method = methodOf(callee);
        if (method === null) break;
        if (MUTATING.has(method) || REARRANGING.has(method) || ASKING.has(method) || method === 'assert')
          return true;
        break;
      }
      default:
    }
    return children(node).some(visit);
  };
  return visit(fn);
}

/** The name of the method that is called. */
function methodOf(callee: Node): string | null {
  return callee.type === 'MemberExpression' && !callee.computed && callee.property.type === 'Identifier'
    ? callee.property.name
    : null;
}
