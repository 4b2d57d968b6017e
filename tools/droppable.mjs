// Published modules are made of many files, and a bundler leaves out what a program does not use of them only where it sees that a
// statement has no effect. The files have none beyond their own names (`sideEffects` in package.json), so this says so in the code:
// calls are marked as pure, other expressions become pure calls, and a class takes in the statements that complete it.
import { parseAst } from 'rolldown/parseAst';

// Shorter than the bundler's, for there are thousands.
const PURE = '/*@__PURE__*/';
/** Calls that complete a class: they change nothing but the class, or its prototype. */
const COMPLETING = new Set([
  'takesArguments',
  'defineMethods',
  'showInConsole',
  'showFields',
  'Object.defineProperty',
]);
const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);
/** Members that bundlers know to be read without effects. */
const isKnown = ({ object, property, computed }) =>
  !computed && (object.name === 'Symbol' || (object.name === 'Math' && /^[A-Z\d_]+$/.test(property.name)));

/** Nodes below one, without what functions do when they are called. */
function* evaluated(node) {
  yield node;
  if (FUNCTIONS.has(node.type)) return;
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child?.type !== 'string') continue;
      if (node.type === 'PropertyDefinition' && child === node.value && !node.static) continue;
      yield* evaluated(child);
    }
}

/** Names that are read at once, those of members and keys too, which does no harm. */
const namesIn = (node) =>
  new Set([...evaluated(node)].filter(({ type }) => type === 'Identifier').map(({ name }) => name));

const OPAQUE = new Set([
  'SpreadElement',
  'StaticBlock',
  'AssignmentExpression',
  'UpdateExpression',
  'TaggedTemplateExpression',
]);
const isNumber = ({ type }) => ['Literal', 'BinaryExpression', 'UnaryExpression'].includes(type);

/** Whether an expression needs more than marks at its calls. */
function isOpaque(node) {
  // A mark at a call holds for what is called, too.
  const called = new Set();
  for (const part of evaluated(node)) {
    const { type, callee } = part;
    if (callee?.type === 'MemberExpression' && callee.object.type === 'Identifier') called.add(callee);
    if (type === 'MemberExpression' && !isKnown(part) && !called.has(part)) return true;
    if (type === 'BinaryExpression' && !(isNumber(part.left) && isNumber(part.right))) return true;
    if (type === 'TemplateLiteral' && part.expressions.length > 0) return true;
    if (OPAQUE.has(type)) return true;
  }
  return false;
}

/** The class that a statement completes, by name: `takesArguments(…, X)`, `defineMethods(X.prototype, …)`, `X.prototype.a = …`. */
function completes({ type, expression }, classes) {
  if (type !== 'ExpressionStatement') return undefined;
  if (expression.type === 'AssignmentExpression') {
    const { object } = expression.left;
    const target =
      object?.type === 'MemberExpression' && object.property.name === 'prototype' ? object.object : undefined;
    return classes.has(target?.name) ? target.name : undefined;
  }
  if (expression.type !== 'CallExpression') return undefined;
  const { name = `${expression.callee.object?.name}.${expression.callee.property?.name}` } =
    expression.callee;
  if (!COMPLETING.has(name)) return undefined;
  const named = expression.arguments.flatMap((argument) => {
    const node =
      argument.type === 'MemberExpression' && argument.property.name === 'prototype'
        ? argument.object
        : argument;
    return node.type === 'Identifier' && classes.has(node.name) ? [node.name] : [];
  });
  return named.length === 1 ? named[0] : undefined;
}

/**
 * The code of a module in which bundlers see what has no effects.
 * @param withEffects paths of files, as in the comments that the bundler puts before each, whose statements count even if nobody uses them.
 */
export function droppable(code, withEffects = []) {
  const marks = [...code.matchAll(/^\/\/ (src\/\S+|\\0.*)$/gm)].map(({ index, 1: file }) => ({
    index,
    file,
  }));
  let at = 0;
  const statements = parseAst(code).body.map((node) => {
    while (at < marks.length && marks[at].index < node.start) at++;
    return { node, file: marks[at - 1]?.file ?? '' };
  });
  const effects = statements.filter(({ file }) => withEffects.includes(file));
  // What these use stays anyway.
  const used = new Set(effects.flatMap(({ node }) => [...namesIn(node)]));
  const edits = [];
  const classes = new Map();
  const declaredAt = new Map();
  for (const { node } of statements)
    if (node.type === 'VariableDeclaration')
      for (const { id } of node.declarations)
        if (id.type === 'Identifier') declaredAt.set(id.name, node.start);
  const mark = (node) => {
    for (const part of evaluated(node))
      if (
        (part.type === 'CallExpression' || part.type === 'NewExpression') &&
        !/\/\* ?[@#]__PURE__ ?\*\/\s*$/.test(code.slice(Math.max(0, part.start - 20), part.start))
      )
        edits.push({ at: part.start, text: PURE });
  };
  for (const { node, file } of statements) {
    if (withEffects.includes(file) || !file.startsWith('src/')) continue;
    const owner = completes(node, classes);
    if (owner !== undefined) {
      const held = classes.get(owner);
      const late = [...namesIn(node)].some((name) => declaredAt.get(name) > held.node.start);
      if (!late) held.rest.push(node);
      continue;
    }
    if (node.type !== 'VariableDeclaration' || node.kind === 'let' || node.declarations.length !== 1)
      continue;
    const [{ id, init }] = node.declarations;
    if (init == null || id.type !== 'Identifier') continue;
    if ([...evaluated(init)].some(({ type }) => type === 'AwaitExpression')) continue;
    if (init.type === 'ClassExpression') {
      if (!used.has(id.name)) classes.set(id.name, { node, id, init, rest: [] });
    } else if (isOpaque(init)) wrap(init, `${PURE}(() => (`, '))()');
    else mark(init);
  }
  for (const { node, id, init, rest } of classes.values()) {
    if (rest.length === 0 && !isOpaque(init)) {
      mark(init);
      continue;
    }
    const completed = rest.map(({ start, end }) => `${code.slice(start, end)}\n`).join('');
    // It is named after what it is assigned to.
    edits.push({ at: init.start, text: `${PURE}(() => {\nvar ${id.name} = ` });
    edits.push({ at: node.end, text: `\n${completed}return ${id.name};\n})();` });
    for (const { start, end } of rest) edits.push({ at: start, to: end, text: '' });
  }
  function wrap(node, before, after) {
    edits.push({ at: node.start, text: before }, { at: node.end, text: after });
  }
  let result = '';
  let from = 0;
  for (const { at, to = at, text } of edits.sort((a, b) => a.at - b.at)) {
    result += code.slice(from, at) + text;
    from = to;
  }
  return (result + code.slice(from)).replaceAll('/* @__PURE__ */ ', PURE);
}
