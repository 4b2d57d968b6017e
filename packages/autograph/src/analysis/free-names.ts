import { boundNames, declaredIn } from './names.ts';
import { children, type Func, isFunction, type Node } from './syntax.ts';

/** The names that a function uses and does not declare. */
export function freeNames(fn: Func): string[] {
  const free = new Set<string>();
  const visit = (node: Node, known: ReadonlySet<string>): void => {
    let inside = known;
    const declare = (names: readonly string[]): void => {
      if (names.length > 0) inside = new Set([...inside, ...names]);
    };
    if (isFunction(node)) {
      declare(node.params.flatMap((p) => boundNames(p)));
      declare(['arguments']);
      if (node.id) declare([node.id.name]);
    } else if (node.type === 'BlockStatement' || node.type === 'StaticBlock') declare(declaredIn(node.body));
    else if (node.type === 'ForStatement') declare(node.init === null ? [] : declaredIn([node.init]));
    else if (node.type === 'ForOfStatement' || node.type === 'ForInStatement')
      declare(declaredIn([node.left]));
    else if (node.type === 'SwitchStatement') declare(node.cases.flatMap((c) => declaredIn(c.consequent)));
    else if (node.type === 'CatchClause') declare(node.param === null ? [] : boundNames(node.param));
    else if (node.type === 'ClassExpression' && node.id) declare([node.id.name]);
    if (node.type === 'Identifier') {
      if (node.name !== 'undefined' && !inside.has(node.name)) free.add(node.name);
      return;
    }
    for (const child of children(node)) {
      const named =
        (node.type === 'MemberExpression' && !node.computed && child === node.property) ||
        ((node.type === 'Property' ||
          node.type === 'MethodDefinition' ||
          node.type === 'PropertyDefinition') &&
          !node.computed &&
          child === node.key &&
          child !== node.value) ||
        node.type === 'BreakStatement' ||
        node.type === 'ContinueStatement' ||
        (node.type === 'LabeledStatement' && child === node.label) ||
        node.type === 'MetaProperty';
      if (!named) visit(child, inside);
    }
  };
  visit(fn, new Set());
  return [...free];
}
