// What of TensorFlow is here: its public names, and what its functions take, against ours, by module. The result stands in docs/tensorflow-parity.md. Write it anew with
// `vitest -u`; tools/parity/tensorflow_names.py lists TensorFlow's names.
import { readFileSync } from 'node:fs';
import { declared, parametersOf } from '@eagre/core/internal';
import { expect, test } from 'vitest';
import * as tf from '../src/index.ts';
import {
  type Area,
  areaOf,
  idleReasons,
  lackingIn,
  lackingList,
  leftOutList,
  tableOf,
} from './testing/areas.ts';
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
  expect(idleReasons(of, reasons)).toEqual([]);
});

test('every argument of a function of TensorFlow has its name here', () => {
  expect(lackingIn(argumentAreas)).toEqual([]);
});

test('the page of what is here', async () => {
  const text = `# Names of TensorFlow that are here

The public names of TensorFlow ${version}, compared with those here: in camelCase, without regard to case.
Keras has [a page of its own](keras-parity.md), and so have [the members of classes](tensorflow-members.md). \`packages/eagre/tests/tensorflow-parity.test.ts\` compares the names and writes this page.

${tableOf(areas, 'names')}

## Lacking

${lackingList(areas)}

## Left out on purpose

${leftOutList(areas)}

## What functions take

The arguments of the functions that are here, by name. Those of classes are not counted, nor is the name of the op.

${tableOf(argumentAreas, 'arguments')}

### Lacking

${lackingList(argumentAreas)}

### Left out on purpose

${leftOutList(argumentAreas)}
`;
  await expect(text).toMatchFileSnapshot('../../../docs/tensorflow-parity.md');
});
