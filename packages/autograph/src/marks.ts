// Which functions of a module are converted.
import type { Node } from 'oxc-parser';
import { bare, children, type Func, isFunction, walk } from './syntax.ts';

/** Modules whose `function` is `tf.function`. */
const LIBRARIES: readonly string[] = ['eagre', '@eagre/graph', '@eagre/autograph'];
const DIRECTIVE = 'use autograph';

/** Names under which a module knows the library. */
export interface Library {
  readonly namespaces: ReadonlySet<string>;
  readonly functions: ReadonlySet<string>;
}

export interface Marks {
  /** Functions that the user has marked; what cannot be converted in them is refused. */
  readonly asked: ReadonlySet<Func>;
  /** Functions of the module that those call, which are converted where they can be. */
  readonly called: ReadonlySet<Func>;
  readonly library: Library;
}

/** The names by which a module imports the library. */
function libraryOf(program: Node): Library {
  const namespaces = new Set<string>();
  const functions = new Set<string>();
  for (const node of children(program)) {
    if (node.type !== 'ImportDeclaration' || !LIBRARIES.includes(node.source.value)) continue;
    for (const specifier of node.specifiers) {
      if (specifier.type !== 'ImportSpecifier') namespaces.add(specifier.local.name);
      else {
        const { imported } = specifier;
        const name = imported.type === 'Literal' ? imported.value : imported.name;
        if (name === 'function' || name === 'tfFunction') functions.add(specifier.local.name);
      }
    }
  }
  return { namespaces, functions };
}

function isDirective(statement: Node | undefined): boolean {
  return statement?.type === 'ExpressionStatement' && statement.directive === DIRECTIVE;
}

/** Whether a function says 'use autograph' itself. */
export function saysSo(fn: Func): boolean {
  return fn.body?.type === 'BlockStatement' && fn.body.body.some(isDirective);
}

/** `tf.function`, or `tf.function(options)`. */
function isMark(node: Node, library: Library): boolean {
  const to = bare(node);
  if (to.type === 'Identifier') return library.functions.has(to.name);
  if (to.type === 'CallExpression') return isMark(to.callee, library);
  return (
    to.type === 'MemberExpression' &&
    !to.computed &&
    to.property.name === 'function' &&
    to.object.type === 'Identifier' &&
    library.namespaces.has(to.object.name)
  );
}

export function marksOf(program: Node): Marks {
  const library = libraryOf(program);
  const asked = new Set<Func>();
  const named = new Map<string, Func | null>();
  const all = program.type === 'Program' && program.body.some(isDirective);
  const name = (id: string, fn: Func): void => {
    // Of two functions of one name it is not known which is called.
    named.set(id, named.has(id) ? null : fn);
  };
  walk(program, (node) => {
    if (node.type === 'FunctionDeclaration' && node.id) name(node.id.name, node);
    if (node.type === 'VariableDeclarator' && node.id.type === 'Identifier' && node.init) {
      const init = bare(node.init);
      if (isFunction(init)) name(node.id.name, init);
    }
    return true;
  });
  walk(program, (node) => {
    if (isFunction(node) && (all || saysSo(node))) asked.add(node);
    if (node.type === 'CallExpression' && isMark(node.callee, library)) {
      const [first] = node.arguments;
      const fn = first === undefined ? undefined : bare(first);
      if (fn !== undefined && isFunction(fn)) asked.add(fn);
      else if (fn?.type === 'Identifier') {
        const found = named.get(fn.name);
        if (found) asked.add(found);
      }
    }
    if (
      node.type === 'MethodDefinition' &&
      node.value.type === 'FunctionExpression' &&
      node.decorators.some((d) => isMark(d.expression, library))
    )
      asked.add(node.value);
    return true;
  });
  const called = new Set<Func>();
  const follow = (fn: Func): void =>
    walk(fn, (node) => {
      const to =
        node.type === 'CallExpression'
          ? named.get(node.callee.type === 'Identifier' ? node.callee.name : '')
          : undefined;
      if (to && !asked.has(to) && !called.has(to)) {
        called.add(to);
        follow(to);
      }
      return true;
    });
  for (const fn of asked) follow(fn);
  return { asked, called, library };
}
