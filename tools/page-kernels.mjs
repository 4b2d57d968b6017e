// Kernels in JavaScript come into a page with the ops that need them. Sources name kernels, and nothing else: `kernel: 'MatMul'` in a declaration or in
// a call of a plan, `kernelFor(backend, 'MatMul', …)`. In the form of packages that pages load this writes a constant there, `bring('MatMul', matmul)`, by
// which whoever has the name holds the kernel, and bundlers leave both out or keep both. Node loads all of them late, and sees nothing of this.
import { readFileSync } from 'node:fs';
import { parseAst } from 'rolldown/parseAst';

/** Functions of which an argument is the name of a kernel. */
const TAKES_KERNEL = /^(call|kernelFor|realKernel|run(Update)?Kernel(OnRows)?)$/;

/** The files of `@eagre/backend-js` whose kernels its `groups.ts` names: name of a kernel → that of its group. */
export function groupsOfKernels(folder) {
  const groups = new Map();
  const parse = (file) => parseAst(readFileSync(`${folder}/${file}`, 'utf8'), { lang: 'ts' }).body;
  for (const { specifiers = [], source } of parse('groups.ts'))
    for (const { exported } of specifiers) {
      const declared = parse(source.value).flatMap(({ declaration }) => declaration?.declarations ?? []);
      const { init } = declared.find(({ id }) => id.name === 'kernels');
      for (const { key } of init.properties) groups.set(key.name, exported.name);
    }
  return groups;
}

/**
 * The source of a module, in TypeScript, with kernels brought where it names them.
 * @param groups the group of each kernel. @returns undefined where it names none.
 */
export function withKernels(code, groups) {
  const edits = [];
  const brought = new Map();
  const bring = (node) => {
    if (node.type === 'ConditionalExpression') [node.consequent, node.alternate].forEach(bring);
    const group = node.type === 'Literal' ? groups.get(node.value) : undefined;
    if (group === undefined) return;
    brought.set(node.value, group);
    edits.push({ ...node, text: `kernel$${node.value}` });
  };
  const visit = (node) => {
    if (Array.isArray(node)) return node.forEach(visit);
    if (typeof node?.type !== 'string') return undefined;
    if (node.type === 'ObjectExpression')
      for (const { key, value } of node.properties) if (key?.name === 'kernel') bring(value);
    if (node.type === 'CallExpression' && TAKES_KERNEL.test(node.callee.property?.name ?? node.callee.name))
      node.arguments.forEach(bring);
    return Object.values(node).forEach(visit);
  };
  visit(parseAst(code, { lang: 'ts' }).body);
  if (edits.length === 0) return undefined;
  let result = code;
  for (const { start, end, text } of edits.sort((a, b) => b.start - a.start))
    result = result.slice(0, start) + text + result.slice(end);
  const names = [...new Set(brought.values())].map((group) => `${group} as ${group}Kernels`);
  const constants = [...brought].map(
    ([name, group]) => `const kernel$${name} = bringKernel('${name}', ${group}Kernels);\n`,
  );
  return `import { bring as bringKernel, ${names.join(', ')} } from '@eagre/backend-js/kernels';\n${constants.join('')}${result}`;
}
