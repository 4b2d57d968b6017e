// What of TensorFlow is here: its public names, and what its functions take, against ours, by module. The result stands in docs/tensorflow-parity.md. Write it anew with
// `vitest -u`; tools/parity/tensorflow_names.py lists TensorFlow's names.
import { readFileSync } from 'node:fs';
import { declared, parametersOf } from '@eagre/core/internal';
import { expect, test } from 'vitest';
import * as tf from '../src/index.ts';
import { leftOutArgumentsOfTensorFlow, leftOutOfTensorFlow } from './testing/left-out-of-tensorflow.ts';

type ByModule<T> = Readonly<Record<string, T>>;
const {
  version,
  names,
  arguments: taken,
} = JSON.parse(readFileSync(new URL('../golden/tensorflow-names.json', import.meta.url), 'utf8')) as {
  readonly version: string;
  readonly names: ByModule<readonly string[]>;
  /** Of functions, by their names; without the name of the op, which nothing here takes. */
  readonly arguments: ByModule<Readonly<Record<string, readonly string[]>>>;
};

/** In camelCase, and without regard to case. */
const plain = (name: string): string => name.replaceAll('_', '').toLowerCase();
function spaceOf(path: string): object {
  let at: unknown = tf;
  for (const part of path.split('.').filter((p) => p !== '')) {
    if (typeof at !== 'object' || at === null) return {};
    at = Object.entries(at).find(([key]) => plain(key) === plain(part))?.[1];
  }
  return typeof at === 'object' && at !== null ? at : {};
}

interface Area {
  readonly title: string;
  readonly count: number;
  readonly lacking: readonly string[];
  readonly leftOut: ReadonlyMap<string, string>;
}
function areaOf(
  path: string,
  count: number,
  not: readonly string[],
  reasons: typeof leftOutOfTensorFlow,
): Area {
  const leftOut = new Map<string, string>();
  for (const name of not) {
    const found = reasons.find(({ what }) => what.test(`${path === '' ? 'tf' : path}.${name}`));
    if (found !== undefined) leftOut.set(name, found.why);
  }
  return {
    title: path === '' ? 'tf' : `tf.${path}`,
    count,
    lacking: not.filter((name) => !leftOut.has(name)),
    leftOut,
  };
}
const areas = Object.entries(names).map(([path, all]): Area => {
  const here = new Set(Object.keys(spaceOf(path)).map(plain));
  return areaOf(
    path,
    all.length,
    all.filter((name) => !here.has(plain(name))),
    leftOutOfTensorFlow,
  );
});

/** What stands under a name of TensorFlow. */
function functionOf(path: string, name: string): object | undefined {
  const exact = name.replace(/_(\w)/g, (_, c: string) => c.toUpperCase());
  const space = Object.entries(spaceOf(path));
  const found = space.find(([key]) => key === exact) ?? space.find(([key]) => plain(key) === plain(name));
  return typeof found?.[1] === 'function' ? (found[1] as object) : undefined;
}

/** Those of TensorFlow's names of arguments that a call may not give, all in one call. */
function refusedBy(fn: object, theirs: readonly string[]): readonly string[] {
  const takes = declared(fn);
  const others = Object.keys(parametersOf(fn)?.names ?? {});
  const any = [
    ...others,
    ...Object.keys(takes?.options ?? {}),

    takes?.rest ?? '',
  ];
  const not = (takes?.signatures ?? [[]]).map((own) => {
    const here = new Set([...own, ...any].map(plain));
    return theirs.filter((name) => !here.has(plain(name)));
  });
  return not.reduce((a, b) => (b.length < a.length ? b : a));
}

const argumentAreas = Object.entries(taken)
  .map(([path, functions]): Area => {
    const not: string[] = [];
    let count = 0;
    for (const [name, theirs] of Object.entries(functions)) {
      const fn = functionOf(path, name);
      if (fn === undefined || (declared(fn) === undefined && parametersOf(fn) === undefined)) continue;
      count += theirs.length;
      not.push(...refusedBy(fn, theirs).map((argument) => `${name}(${argument})`));
    }
    return areaOf(path, count, not, leftOutArgumentsOfTensorFlow);
  })
  .filter(({ count }) => count > 0);

test.each([
  ['names', areas, leftOutOfTensorFlow],
  ['arguments', argumentAreas, leftOutArgumentsOfTensorFlow],
] as const)('what is left out of %s lacks indeed', (_, of, reasons) => {
  const found = of.flatMap(({ title, leftOut }) =>
    [...leftOut.keys()].map((name) => `${title === 'tf' ? 'tf' : title.slice(3)}.${name}`),
  );
  expect(reasons.filter(({ what }) => !found.some((name) => what.test(name)))).toEqual([]);
});

test('every argument of a function of TensorFlow has its name here', () => {
  expect(argumentAreas.flatMap(({ title, lacking }) => lacking.map((name) => `${title}.${name}`))).toEqual(
    [],
  );
});

test('the page of what is here', async () => {
  const row = (title: string, of: readonly Area[]): string => {
    const sum = (count: (area: Area) => number): number => of.reduce((n, area) => n + count(area), 0);
    const [all, out, lacking] = [
      sum((a) => a.count),
      sum((a) => a.leftOut.size),
      sum((a) => a.lacking.length),
    ] as const;
    const here = all - out - lacking;
    return `| ${title} | ${all} | ${here} | ${lacking} | ${out} | ${all === out ? '–' : `${Math.floor((100 * here) / (all - out))} %`} |`;
  };
  const code = (list: readonly string[]): string => list.map((name) => `\`${name}\``).join(', ');
  const lacking = (of: readonly Area[]): string =>
    of
      .filter((area) => area.lacking.length > 0)
      .map((area) => `- ${area.title}: ${code(area.lacking)}`)
      .join('\n') || 'Nothing.';
  const meant = (of: readonly Area[]): string =>
    [...new Set(of.flatMap(({ leftOut }) => [...leftOut.values()]))]
      .map(
        (why) =>
          `- ${why}: ${of
            .map(
              ({ title, leftOut }) =>
                [title, [...leftOut].filter(([, w]) => w === why).map(([n]) => n)] as const,
            )
            .filter(([, list]) => list.length > 0)
            .map(([title, list]) => `${code(list)} of ${title}`)
            .join('; ')}`,
      )
      .join('\n');
  const text = `# Names of TensorFlow that are here

The public names of TensorFlow ${version}, compared with those here: in camelCase, without regard to case.
Keras has [a page of its own](keras-parity.md). \`packages/eagre/tests/tensorflow-parity.test.ts\` compares the names and writes this page.

| module | names | here | lacking | left out | share of what is not left out |
| --- | --- | --- | --- | --- | --- |
${areas.map((area) => row(area.title, [area])).join('\n')}
${row('all', areas)}

## Lacking

${lacking(areas)}

## Left out on purpose

${meant(areas)}

## What functions take

The arguments of the functions that are here, by name. Those of classes are not counted, nor is the name of the op.

| module | arguments | here | lacking | left out | share of what is not left out |
| --- | --- | --- | --- | --- | --- |
${argumentAreas.map((area) => row(area.title, [area])).join('\n')}
${row('all', argumentAreas)}

### Lacking

${lacking(argumentAreas)}

### Left out on purpose

${meant(argumentAreas)}
`;
  await expect(text).toMatchFileSnapshot('../../../docs/tensorflow-parity.md');
});
