// What of the members of TensorFlow's classes is here, by the types that programs see. The result stands in docs/tensorflow-members.md. Write it
// anew with `vitest -u`; tools/parity/tensorflow_names.py lists TensorFlow's members.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { areaOf, idleReasons, lackingIn, lackingList, leftOutList, tableOf } from './testing/areas.ts';
import { leftOutMembersOfTensorFlow, leftOutOfTensorFlow } from './testing/left-out-of-tensorflow.ts';

const { version, members } = JSON.parse(
  readFileSync(new URL('../golden/tensorflow-names.json', import.meta.url), 'utf8'),
) as {
  readonly version: string;
  readonly members: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
};

const plain = (name: string): string => name.replaceAll('_', '').toLowerCase();

const entry = fileURLToPath(new URL('../src/index.ts', import.meta.url));
const config = fileURLToPath(new URL('../../../tsconfig.base.json', import.meta.url));
const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(config, (path) => readFileSync(path, 'utf8')).config,
  ts.sys,
  fileURLToPath(new URL('../../..', import.meta.url)),
);
const program = ts.createProgram([entry], {
  ...options,
  noEmit: true,
  composite: false,
  incremental: false,
});
const checker = program.getTypeChecker();

const resolved = (symbol: ts.Symbol): ts.Symbol =>
  (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);
const find = (all: readonly ts.Symbol[], name: string): ts.Symbol | undefined =>
  all.find((symbol) => plain(symbol.name) === plain(name));

/** What a module or an object with members exports. */
function exportsOf(path: string): readonly ts.Symbol[] {
  const file = program.getSourceFile(entry) as ts.SourceFile;
  let all = checker.getExportsOfModule(checker.getSymbolAtLocation(file) as ts.Symbol);
  for (const part of path.split('.').filter((p) => p !== '')) {
    const found = find(all, part);
    if (found === undefined) return [];
    const symbol = resolved(found);
    const isModule = (symbol.flags & ts.SymbolFlags.Module) !== 0;
    all = isModule ? checker.getExportsOfModule(symbol) : checker.getTypeOfSymbol(symbol).getProperties();
  }
  return all;
}

/** The members of a class, static ones among them, and of what a function gives that makes objects. */
function membersOf(symbol: ts.Symbol): ReadonlySet<string> {
  const types: ts.Type[] = [];
  if ((symbol.flags & ts.SymbolFlags.Value) !== 0) {
    const type = checker.getTypeOfSymbol(symbol);
    const made = [...type.getConstructSignatures(), ...type.getCallSignatures()];
    types.push(type, ...made.map((signature) => signature.getReturnType()));
  }
  if ((symbol.flags & ts.SymbolFlags.Type) !== 0) types.push(checker.getDeclaredTypeOfSymbol(symbol));
  return new Set(types.flatMap((type) => type.getProperties().map(({ name }) => plain(name))));
}

const areas = Object.entries(members)
  .map(([path, classes]) => {
    const all = exportsOf(path);
    const not: string[] = [];
    let count = 0;
    for (const [name, theirs] of Object.entries(classes)) {
      const found = find(all, name);
      if (found === undefined) continue;
      const here = membersOf(resolved(found));
      count += theirs.length;
      not.push(...theirs.filter((member) => !here.has(plain(member))).map((member) => `${name}.${member}`));
    }
    return areaOf(path, count, not, leftOutMembersOfTensorFlow);
  })
  .filter(({ count }) => count > 0);

test('a class that is not here has a reason', () => {
  const not = Object.entries(members).flatMap(([path, classes]) => {
    const all = exportsOf(path);
    const module = path === '' ? 'tf' : path;
    return Object.keys(classes)
      .filter((name) => find(all, name) === undefined)
      .map((name) => `${module}.${name}`)
      .filter((name) => !leftOutOfTensorFlow.some(({ what }) => what.test(name)));
  });
  expect(not).toEqual([]);
});

test('what is left out lacks indeed', () => {
  expect(idleReasons(areas, leftOutMembersOfTensorFlow)).toEqual([]);
});

test('every member of a class of TensorFlow is here, or has a reason not to be', () => {
  expect(lackingIn(areas)).toEqual([]);
});

/** Many classes have the same members: `graph_parents` of all linear operators. */
function together(names: readonly string[]): string {
  const by = new Map<string, string[]>();
  for (const [name, member] of names.map((whole) => whole.split('.') as [string, string]))
    by.set(member, [...(by.get(member) ?? []), name]);
  const classes = new Set([...by.values()].map((list) => list.join(', ')));
  return [...classes]
    .map((list) => {
      const of = [...by].filter(([, own]) => own.join(', ') === list).map(([member]) => `\`${member}\``);
      return `${of.join(', ')} (${list})`;
    })
    .join('; ');
}

test('the page of what is here', async () => {
  const text = `# Members of TensorFlow's classes that are here

The public members of the classes of TensorFlow ${version} that are here, compared with ours: in camelCase, without regard to case. A class that has
several names is counted once. The names of classes and functions are on [a page of their own](tensorflow-parity.md).
\`packages/eagre/tests/tensorflow-members.deep.test.ts\` compares the members and writes this page.

${tableOf(areas, 'members')}

## Lacking

${lackingList(areas)}

## Left out on purpose

${leftOutList(areas, together)}
`;
  await expect(text).toMatchFileSnapshot('../../../docs/tensorflow-members.md');
});
