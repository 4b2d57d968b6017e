// Which functions of a module are converted.
import type { Node } from 'oxc-parser';
import { boundNames } from './names.ts';
import { bare, children, type Func, isFunction, walk } from './syntax.ts';

/** Modules whose `function` is `tf.function`. */
const LIBRARIES: readonly string[] = ['eagre', '@eagre/graph', '@eagre/autograph'];
const DIRECTIVE = 'use autograph';
const ASSERTS: ReadonlySet<string> = new Set([
  'assert',
  'node:assert',
  'assert/strict',
  'node:assert/strict',
]);
const OPT_OUT = 'no autograph';

/** Names under which a module knows the library. */
export interface Library {
  readonly namespaces: ReadonlySet<string>;
  readonly functions: ReadonlySet<string>;
  /** Functions of Node's `assert`. */
  readonly asserts: ReadonlySet<string>;
  /** Whether anything of the library is imported, types too. */
  readonly imported: boolean;
}

export interface Marks {
  /** Functions that the user has marked; what cannot be converted in them is refused. */
  readonly asked: ReadonlySet<Func>;
  /** Functions of the module that those call, which are converted where they can be. */
  readonly called: ReadonlySet<Func>;
  /** Whether other functions get a converted body beside their own. */
  readonly others: boolean;
  /** Functions that stay as they are. */
  readonly plain: ReadonlySet<Func>;
  /** Of classes; they stay as they are, but for the functions in them. */
  readonly constructors: ReadonlySet<Func>;
  readonly library: Library;
}

/** Whether an import is one of the user's own modules: by a path, or an alias of one. Other packages have a `tf` of their own. */
const isOwnModule = (from: string): boolean => /^(?:[./#~]|@\/)/.test(from);

/** The names by which a module imports the library. */
function libraryOf(program: Node): Library {
  const namespaces = new Set<string>();
  const functions = new Set<string>();
  const asserts = new Set<string>();
  let imported = false;
  for (const node of children(program)) {
    if (
      node.type !== 'ImportDeclaration' &&
      node.type !== 'ExportAllDeclaration' &&
      node.type !== 'ExportNamedDeclaration'
    )
      continue;
    const from = node.source?.value ?? '';
    if (from === 'eagre' || from.startsWith('eagre/') || from.startsWith('@eagre/')) imported = true;
    if (node.type !== 'ImportDeclaration') continue;
    // What another module hands on is told by its name.
    const handedOn = isOwnModule(from) && node.specifiers.some((s) => s.local.name === 'tf');
    if (handedOn) {
      namespaces.add('tf');
      imported = true;
    }
    const known = LIBRARIES.includes(from);
    const assertion = ASSERTS.has(from);
    if (!known && !assertion) continue;
    for (const specifier of node.specifiers) {
      if (specifier.type !== 'ImportSpecifier') {
        (assertion ? asserts : namespaces).add(specifier.local.name);
        continue;
      }
      const { imported: original } = specifier;
      const name = original.type === 'Literal' ? original.value : original.name;
      if (assertion && (name === 'ok' || name === 'default' || name === 'strict'))
        asserts.add(specifier.local.name);
      else if (known && (name === 'function' || name === 'tfFunction')) functions.add(specifier.local.name);
    }
  }
  walk(program, (node) => {
    if (node.type !== 'VariableDeclarator' || !node.init) return true;
    const init = bare(node.init);
    const call = init.type === 'AwaitExpression' ? bare(init.argument) : init;
    if (call.type !== 'ImportExpression') return true;
    const from = call.source.type === 'Literal' ? String(call.source.value) : '';
    const [known, own] = [LIBRARIES.includes(from), isOwnModule(from)];
    if (node.id.type === 'Identifier') {
      if (known || (own && node.id.name === 'tf')) namespaces.add(node.id.name);
      imported ||= known || (own && node.id.name === 'tf') || from.startsWith('@eagre/');
    } else if (node.id.type === 'ObjectPattern')
      for (const p of node.id.properties) {
        const [name] = boundNames(p);
        if (name === undefined) continue;
        const key = p.type === 'Property' && p.key.type === 'Identifier' ? p.key.name : '';
        if (known && (key === 'function' || key === 'tfFunction')) functions.add(name);
        else if ((own && name === 'tf') || (known && key === 'default')) namespaces.add(name);
        imported ||= known || (own && name === 'tf') || from.startsWith('@eagre/');
      }
    return true;
  });
  return { namespaces, functions, asserts, imported };
}

function isDirective(statement: Node, text: string): boolean {
  return statement.type === 'ExpressionStatement' && statement.directive === text;
}

/** Whether a function begins with a directive. */
function says(fn: Func, text: string): boolean {
  if (fn.body?.type !== 'BlockStatement') return false;
  for (const statement of fn.body.body) {
    if (statement.type !== 'ExpressionStatement' || typeof statement.directive !== 'string') return false;
    if (statement.directive === text) return true;
  }
  return false;
}

/** Whether a call is `doNotConvert(…)`, whose argument stays as it is. */
export function isOptOut(callee: Node): boolean {
  if (callee.type === 'MemberExpression' && !callee.computed)
    return callee.property.type === 'Identifier' && callee.property.name === 'doNotConvert';
  return callee.type === 'Identifier' && callee.name === 'doNotConvert';
}

/** Whether `tf.function` is told to leave the code as it is, by `{ autograph: false }`. */
function refuses(args: readonly Node[]): boolean {
  return args.some(
    (arg) =>
      arg.type === 'ObjectExpression' &&
      arg.properties.some(
        (p) =>
          p.type === 'Property' &&
          p.key.type === 'Identifier' &&
          p.key.name === 'autograph' &&
          p.value.type === 'Literal' &&
          p.value.value === false,
      ),
  );
}

/** The function that a call is given: by position, or by the name `func`. */
function givenTo({ arguments: [first] }: { readonly arguments: readonly Node[] }): Node | undefined {
  if (first?.type !== 'ObjectExpression') return first;
  for (const p of first.properties)
    if (p.type === 'Property' && p.key.type === 'Identifier' && p.key.name === 'func') return p.value;
  return undefined;
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
  const plain = new Set<Func>();
  const constructors = new Set<Func>();
  const named = new Map<string, Func | null>();
  const given: Node[] = [];
  const statements = program.type === 'Program' ? program.body : [];
  const all = statements.some((s) => isDirective(s, DIRECTIVE));
  const none = statements.some((s) => isDirective(s, OPT_OUT));
  const name = (id: string, fn: Func): void => {
    // Of two functions of one name it is not known which is called.
    named.set(id, named.has(id) ? null : fn);
  };
  const take = (node: Node): void => {
    const fn = bare(node);
    if (isFunction(fn)) asked.add(fn);
    else if (fn.type === 'Identifier') given.push(fn);
  };
  const leave = (node: Node): void => {
    const fn = bare(node);
    if (isFunction(fn)) plain.add(fn);
  };
  walk(program, (node) => {
    if (node.type === 'FunctionDeclaration' && node.id) name(node.id.name, node);
    else if (node.type === 'VariableDeclarator') {
      if (node.id.type === 'Identifier' && node.init) {
        const init = bare(node.init);
        if (isFunction(init)) name(node.id.name, init);
      }
    } else if (node.type === 'CallExpression') {
      const fn = givenTo(node);
      if (fn !== undefined && isOptOut(node.callee)) leave(fn);
      else if (fn !== undefined && isMark(node.callee, library)) {
        const { callee } = node;
        const options = callee.type === 'CallExpression' ? callee.arguments : node.arguments;
        if (refuses(options)) leave(fn);
        else take(fn);
      }
    } else if (node.type === 'MethodDefinition' && node.value.type === 'FunctionExpression') {
      const fn = node.value;
      if (node.kind === 'constructor') constructors.add(fn);
      // Parsers of JavaScript alone have no such list.
      for (const { expression } of node.decorators ?? []) {
        if (expression.type === 'CallExpression' && refuses(expression.arguments)) plain.add(fn);
        else if (isMark(expression, library)) asked.add(fn);
        else if (isOptOut(expression)) plain.add(fn);
      }
    }
    if (isFunction(node)) {
      // A directive of the module is for those that can be converted at all.
      if ((all && !node.async && !node.generator) || says(node, DIRECTIVE)) asked.add(node);
      if (says(node, OPT_OUT)) plain.add(node);
    }
    return true;
  });
  for (const node of given) {
    const fn = node.type === 'Identifier' ? named.get(node.name) : undefined;
    if (fn) asked.add(fn);
  }
  for (const fn of [...plain, ...constructors]) asked.delete(fn);
  const called = new Set<Func>();
  const follow = (fn: Func): void =>
    walk(fn, (node) => {
      const to =
        node.type === 'CallExpression' && node.callee.type === 'Identifier'
          ? named.get(node.callee.name)
          : undefined;
      if (to && !asked.has(to) && !called.has(to) && !plain.has(to)) {
        called.add(to);
        follow(to);
      }
      return true;
    });
  for (const fn of asked) follow(fn);
  return {
    asked,
    called,
    others: !none && (all || library.imported || asked.size > 0),
    plain,
    constructors,
    library,
  };
}
