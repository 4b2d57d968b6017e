// Circles among the files of a package. Files that need each other before either is loaded are never permitted: the edges that stay once
// types are gone. Files whose types name each other are, where one of them says why, in a line that begins so:
const REASON = '// Types in a circle: ';

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';

/** Whether a file, named from the folder of a package's sources, is a test or a helper of tests. */
export const isOfTests = (name) => /\.test\.tsx?$|^testing[/\\]/.test(name);

/** The circles of values among the files of a folder, each a list of their names. Tests are no part of them. */
export function valueCircles(folder) {
  return circles(folder, (statement) => !isOfTypes(statement));
}

/** The circles of types of which no file says why. */
export function typeCircles(folder) {
  const says = (name) =>
    readFileSync(join(folder, name), 'utf8')
      .split('\n')
      .some((line) => line.startsWith(REASON));
  return circles(folder, () => true).filter((names) => !names.some(says));
}

function circles(folder, counts) {
  const edges = new Map();
  for (const name of readdirSync(folder, { recursive: true })) {
    if (!/\.tsx?$/.test(name) || isOfTests(name)) continue;
    const file = join(folder, name);
    edges.set(file, importsOf(file, counts));
  }
  return components(edges).map((files) => files.map((file) => relative(folder, file)).sort());
}

function importsOf(file, counts) {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
  const found = [];
  for (const statement of source.statements) {
    const to = statement.moduleSpecifier?.text;
    if (to?.startsWith('.') && counts(statement)) found.push(join(dirname(file), to));
  }
  return found;
}

/** Whether nothing is left of an import or export once types are gone. */
function isOfTypes(statement) {
  const { importClause, exportClause } = statement;
  if (statement.isTypeOnly || importClause?.isTypeOnly) return true;
  const names = importClause === undefined ? exportClause : importClause.namedBindings;
  if (importClause?.name !== undefined || names?.elements === undefined) return false;
  return names.elements.length > 0 && names.elements.every((e) => e.isTypeOnly);
}

/** The strongly connected components of more than one node. R. Tarjan, "Depth-first search and linear graph algorithms", 1972. */
function components(edges) {
  const order = new Map();
  const lowest = new Map();
  const stack = [];
  const found = [];
  const visit = (node) => {
    order.set(node, order.size);
    lowest.set(node, order.get(node));
    stack.push(node);
    for (const to of edges.get(node)) {
      if (!edges.has(to)) continue;
      if (!order.has(to)) visit(to);
      if (stack.includes(to)) lowest.set(node, Math.min(lowest.get(node), lowest.get(to)));
    }
    if (lowest.get(node) !== order.get(node)) return;
    const component = stack.splice(stack.indexOf(node));
    if (component.length > 1) found.push(component);
  };
  for (const node of edges.keys()) if (!order.has(node)) visit(node);
  return found;
}
