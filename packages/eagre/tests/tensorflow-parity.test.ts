// What of TensorFlow is here: its public names against ours, by module. The result stands in docs/tensorflow-parity.md. Write it anew with
// `vitest -u`; tools/parity/tensorflow_names.py lists TensorFlow's names.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as tf from '../src/index.ts';
import { leftOutOfTensorFlow } from './testing/left-out-of-tensorflow.ts';

const { version, names } = JSON.parse(
  readFileSync(new URL('../golden/tensorflow-names.json', import.meta.url), 'utf8'),
) as { readonly version: string; readonly names: Readonly<Record<string, readonly string[]>> };

/** In camelCase, and without regard to case. */
const plain = (name: string): string => name.replaceAll('_', '').toLowerCase();
/** Modules that have another name here. */
const renamed: Readonly<Record<string, string>> = {
  'experimental.numpy': 'numpy',
  'experimental.numpy.random': 'numpy.random',
};

function spaceOf(path: string): object {
  let at: unknown = tf;
  for (const part of (renamed[path] ?? path).split('.').filter((p) => p !== '')) {
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
const areas = Object.entries(names).map(([path, all]): Area => {
  const here = new Set(Object.keys(spaceOf(path)).map(plain));
  const not = all.filter((name) => !here.has(plain(name)));
  const leftOut = new Map<string, string>();
  for (const name of not) {
    const found = leftOutOfTensorFlow.find(({ what }) => what.test(`${path === '' ? 'tf' : path}.${name}`));
    if (found !== undefined) leftOut.set(name, found.why);
  }
  return {
    title: path === '' ? 'tf' : `tf.${path}`,
    count: all.length,
    lacking: not.filter((name) => !leftOut.has(name)),
    leftOut,
  };
});

test('what is left out lacks indeed', () => {
  const found = areas.flatMap(({ title, leftOut }) =>
    [...leftOut.keys()].map((name) => `${title === 'tf' ? 'tf' : title.slice(3)}.${name}`),
  );
  expect(leftOutOfTensorFlow.filter(({ what }) => !found.some((name) => what.test(name)))).toEqual([]);
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
  const reasons = [...new Set(areas.flatMap(({ leftOut }) => [...leftOut.values()]))];
  const text = `# Names of TensorFlow that are here

The public names of TensorFlow ${version}, compared with those here: in camelCase, without regard to case. \`tf.experimental.numpy\` is \`tf.numpy\`
here. Keras has [a page of its own](keras-parity.md). \`packages/eagre/tests/tensorflow-parity.test.ts\` compares the names and writes this page.

| module | names | here | lacking | left out | share of what is not left out |
| --- | --- | --- | --- | --- | --- |
${areas.map((area) => row(area.title, [area])).join('\n')}
${row('all', areas)}

## Lacking

${areas
  .filter(({ lacking }) => lacking.length > 0)
  .map(({ title, lacking }) => `- ${title}: ${code(lacking)}`)
  .join('\n')}

## Left out on purpose

${reasons
  .map(
    (why) =>
      `- ${why}: ${areas
        .map(
          ({ title, leftOut }) => [title, [...leftOut].filter(([, w]) => w === why).map(([n]) => n)] as const,
        )
        .filter(([, list]) => list.length > 0)
        .map(([title, list]) => `${code(list)} of ${title}`)
        .join('; ')}`,
  )
  .join('\n')}
`;
  await expect(text).toMatchFileSnapshot('../../../docs/tensorflow-parity.md');
});
