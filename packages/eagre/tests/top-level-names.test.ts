// What `tf` has at its top: TensorFlow's names, and few of ours. The guide says where others are.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const { names } = JSON.parse(
  readFileSync(new URL('../golden/tensorflow-names.json', import.meta.url), 'utf8'),
) as { readonly names: Readonly<Record<string, readonly string[]>> };
const camel = (name: string): string => name.replace(/_([a-z0-9])/g, (_, c: string) => c.toUpperCase());

/** TensorFlow's functions and classes, its modules, and those that it loads of Keras. */
const theirs = new Set([
  ...(names[''] as readonly string[]).map(camel),
  ...Object.keys(names).map((path) => camel(path.split('.')[0] as string)),
  ...['keras', 'losses', 'metrics', 'optimizers', 'initializers'],
]);
/** Of ours, each with its reason. */
const ours: Readonly<Record<string, string>> = {
  layers:
    'beside losses, metrics, optimizers and initializers, which TensorFlow has: a model is made of them',
  Sequential: 'the first model of the README',
  Model: 'models of several inputs',
  Input: 'what these begin with',
  ready: 'what a page waits for, before it computes',
  browser: 'pixels of pages, as in TensorFlow.js',
  onnx: 'a package of its own, which no module of TensorFlow has',
  serving: 'a package of its own, as TensorFlow Serving is',
};

test('the top has TensorFlow’s names, and few of ours', () => {
  expect(Object.keys(tf).filter((name) => !theirs.has(name) && !(name in ours))).toEqual([]);
  expect(Object.keys(ours).filter((name) => !(name in tf) || theirs.has(name))).toEqual([]);
});

const guide = readFileSync(new URL('../../../docs/from-tensorflow.md', import.meta.url), 'utf8');
const [table = ''] = /^## Names at the top\n[\s\S]*?(?=^## )/m.exec(guide) ?? [];
const paths = (cell: string): string[] =>
  [...cell.matchAll(/`tf\.([\w.]+)`/g)].map(([, path]) => path as string);
const moved = [...table.matchAll(/^\| (`.*) \| (.*) \|$/gm)].flatMap(([, old = '', to = '']) => {
  const [space] = to.startsWith('the same in') ? paths(to) : [];
  return paths(old).map((name, i): [string, string | undefined] => {
    if (to.startsWith('methods of tensors')) return [name, `Tensor.prototype.${name}`];
    return [name, space === undefined ? paths(to)[i] : `${space}.${name}`];
  });
});
const valueOf = (path: string): unknown =>
  path.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], tf);

test('the guide says where names are that are not at the top', () => {
  expect(moved.length).toBeGreaterThan(150);
  expect(moved.filter(([old, to]) => old in tf || to === undefined || valueOf(to) === undefined)).toEqual([]);
});
