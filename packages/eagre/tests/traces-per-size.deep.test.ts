// Whatever is public runs in functions whose arguments may be of any size: once traced, it should serve all of them. What asks for the
// number of a size, and is traced for each, stands in docs/traces-per-size.md. Write it anew with `vitest -u`.
import { readFileSync } from 'node:fs';
import { execute, listOps, ShapeEnv } from '@eagre/core/internal';
import { materialize } from '@eagre/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import * as tf from '../src/index.ts';
import {
  type Fn,
  inputsOf,
  layerCases,
  publicClasses,
  type Sizes,
  type Subject,
  subjects,
  uniform,
  withGradients,
} from './testing/subjects.ts';

const HEAD = `# What is traced for each size

One trace of a function serves all unknown sizes, see [function.md](function.md#unknown-sizes). The library functions below read a
size as a number, so a function that uses them is traced once per size. \`packages/eagre/tests/traces-per-size.deep.test.ts\` tries all
public functions and writes this list. Each line names the file that reads the size ("asks").

What is here has to be: \`unstack\` gives as many tensors as an axis is long, the last axis of \`gatherNd\`'s indices decides which rank
the result has, and fractional pools draw as many cuts as an axis has of them.
`;

// ---- what was asked, and where

const asked = new Set<string>();
const warnings: string[] = [];
beforeEach(() => {
  asked.clear();
  warnings.length = 0;
  const { guard } = ShapeEnv.prototype;
  vi.spyOn(ShapeEnv.prototype, 'guard').mockImplementation(function (this: ShapeEnv, what) {
    if (what.asked !== undefined) asked.add(fileOf(what.asked.stack ?? ''));
    guard.call(this, what);
  });
  vi.spyOn(console, 'warn').mockImplementation((text) => {
    if (String(text).includes('for each size')) warnings.push(String(text));
  });
});
afterEach(() => vi.restoreAllMocks());

/** The source of a line of a stack. In the bundle of the tests, the sources stand behind their names. */
function sourceOf(frame: string): string | undefined {
  const [, bundle, at] = /(\/\S+\/@eagre\/\S+\.js):(\d+)/.exec(frame) ?? [];
  if (bundle === undefined) return /packages\/(\S+?\.ts):/.exec(frame)?.[1];
  return sourcesOf(bundle)[Number(at) - 1];
}
const sources = new Map<string, readonly (string | undefined)[]>();
/** The source that each line of a bundle is from. */
function sourcesOf(bundle: string): readonly (string | undefined)[] {
  let found = sources.get(bundle);
  if (found === undefined) {
    let source: string | undefined;
    found = readFileSync(bundle, 'utf8')
      .split('\n')
      .map((line) => (source = /^\/\/ packages\/(\S+\.ts)$/.exec(line)?.[1] ?? source));
    sources.set(bundle, found);
  }
  return found;
}
/** The file of ours that asked: `core/src/ops/array/slicing.ts`. */
function fileOf(stack: string): string {
  const files = stack.split('\n').flatMap((line) => sourceOf(line) ?? []);
  return (
    files.find((file) => !file.startsWith('core/src/shapes/') && file !== 'core/src/shapes/shape.ts') ?? '?'
  );
}

// ---- one function for all sizes

function* variations(shapes: readonly Sizes[]): Generator<readonly Sizes[]> {
  const groups: (readonly [number, number][])[] = [];
  const places = shapes.flatMap((s, i) => s.map((size, axis) => ({ i, axis, size })));
  for (const size of new Set(places.map((p) => p.size)))
    groups.push(places.filter((p) => p.size === size).map(({ i, axis }) => [i, axis]));
  for (const { i, axis } of places) groups.push([[i, axis]]);
  for (const group of groups) {
    const [[i, axis]] = group as [[number, number]];
    const size = (shapes[i] as Sizes)[axis] as number;
    for (const other of size === 1 ? [2, 3] : [size + 1, size + 2, 2 * size, 3 * size])
      yield shapes.map((s, k) => s.map((d, a) => (group.some(([j, b]) => j === k && b === a) ? other : d)));
  }
}

interface Numbers {
  readonly shape: Sizes;
  readonly values: readonly number[];
}
function numbers(fn: (...xs: tf.Tensor[]) => tf.Tensor[], xs: readonly tf.Tensor[]): Numbers[] {
  tf.random.setSeed(4);
  return fn(...xs).map((t) => ({
    shape: t.shape,
    values: t.dtype === 'string' ? [] : Array.from(t.data() as Float32Array, Number),
  }));
}

/** Runs the function for all sizes that it takes, in one `tf.function`. @returns what asked for a number. */
function scan(subject: Subject): readonly string[] {
  const { inputs, varies = false } = subject;
  const whole = withGradients(subject);
  const shapes = inputs.map((input) => input.shape);
  const attempt = (of: readonly Sizes[]): Numbers[] | null => {
    try {
      return numbers(whole, inputsOf(inputs, of));
    } catch {
      return null;
    }
  };
  const first = attempt(shapes);
  expect(first, 'the sample itself').not.toBe(null);
  const accepted = [{ of: shapes as readonly Sizes[], expected: first as Numbers[] }];
  for (const of of variations(shapes)) {
    const expected = attempt(of);
    if (expected !== null) accepted.push({ of, expected });
  }
  const signature = shapes.map((shape, i) =>
    shape.map((d, axis) => (accepted.some(({ of }) => of[i]?.[axis] !== d) ? null : d)),
  );
  const known = inputsOf(inputs, shapes);
  try {
    numbers(tf.function(whole), known);
  } catch {
    // Code that no traced function takes, whatever its sizes.
    return [];
  }
  asked.clear();
  const sized = tf.function({
    inputSignature: signature.map((s, i) => new tf.TensorSpec(s, (known[i] as tf.Tensor).dtype)),
  })(whole);
  for (const { of, expected } of accepted) {
    const got = numbers(sized, inputsOf(inputs, of));
    const where = JSON.stringify(of);
    expect(
      got.map((g) => g.shape),
      where,
    ).toEqual(expected.map((e) => e.shape));
    if (varies) continue;
    const off = got.flatMap((g, i) =>
      g.values.flatMap((v, k) => {
        const e = expected[i]?.values[k] as number;
        return Object.is(v, e) || Math.abs(v - e) <= 2e-4 * (1 + Math.abs(e)) ? [] : [[i, k, v, e]];
      }),
    );
    expect(off, where).toEqual([]);
  }
  const untraced = warnings.flatMap((text) => {
    const why = text.split('once for all: ')[1] as string;
    return why.startsWith('it asks for a size') ? [] : [`cannot be traced: ${why.split(/[,:] /)[0]}`];
  });
  return [...new Set([...[...asked].map((file) => `${file} asks`), ...untraced])];
}

// ---- what is walked

const found = new Map<string, Set<string>>();
function walk(title: string, subjects: readonly Subject[]): void {
  describe(title, () => {
    test.each(subjects.map((s) => [s.name, s] as const))('%s', (name, subject) => {
      const reasons = scan(subject);
      const line = `${title}: ${name}`;
      if (reasons.length > 0) found.set(line, new Set([...(found.get(line) ?? []), ...reasons]));
    });
  });
}

walk(
  'ops',
  [...listOps().values()].flatMap((op) =>
    op
      .samples()
      .filter((sample) => !materialize(sample, 'float32').some((x) => x.dtype === 'string'))
      .map((sample) => ({
        name: op.name,
        inputs: sample.inputs,
        fn: (...xs: tf.Tensor[]) => execute(op, xs, sample.attrs ?? {}),
      })),
  ),
);

const matrix = uniform([4, 3]);
walk('calls', [
  { name: 'repeat by a list', inputs: [matrix], fn: (x) => tf.repeat(x as tf.Tensor, [1, 2, 0], 1) },
  { name: 'split by sizes', inputs: [matrix], fn: (x) => tf.split(x as tf.Tensor, [1, -1]) },
  { name: 'unstack', inputs: [matrix], fn: (x) => tf.unstack(x as tf.Tensor) },
  { name: 'the rows of a tensor', inputs: [matrix], fn: (x) => [...(x as tf.Tensor)] },
  { name: 'at', inputs: [matrix], fn: (x) => (x as tf.Tensor).at('1:', -1) },
]);

const row = (s: tf.Tensor, e: tf.Tensor): tf.Tensor => s.mul(0.5).add(e);
const twice =
  (f: (x: tf.Tensor) => tf.Tensor): Fn =>
  (x) => {
    const tape = new tf.GradientTape();
    tape.watch(x as tf.Tensor);
    return tape.jacobian(f(x as tf.Tensor), x as tf.Tensor);
  };
walk('control', [
  {
    name: 'cond',
    inputs: [matrix],
    fn: (x) =>
      tf.cond(
        (x as tf.Tensor).sum().greater(2),
        () => (x as tf.Tensor).mul(2),
        () => (x as tf.Tensor).neg(),
      ),
  },
  {
    name: 'switchCase',
    inputs: [matrix],
    fn: (x) =>
      tf.switchCase((x as tf.Tensor).sum().cast('int32').mod(2), [
        () => (x as tf.Tensor).mul(2),
        () => (x as tf.Tensor).neg(),
      ]),
  },
  {
    name: 'case',
    inputs: [matrix],
    fn: (x) =>
      tf.case([[(x as tf.Tensor).sum().greater(2), () => (x as tf.Tensor).mul(2)]], {
        default: () => (x as tf.Tensor).neg(),
      }),
  },
  {
    name: 'whileLoop',
    inputs: [matrix],
    fn: (x) =>
      tf.whileLoop(
        (i: tf.Tensor) => i.less(3),
        (i: tf.Tensor, y: tf.Tensor) => [i.add(1), y.mul(y.mean())],
        [tf.constant(0, 'int32'), x as tf.Tensor],
      ),
  },
  { name: 'mapFn', inputs: [matrix], fn: (x) => tf.mapFn((r: tf.Tensor) => r.mul(r.sum()), x as tf.Tensor) },
  {
    name: 'vectorizedMap',
    inputs: [matrix],
    fn: (x) => tf.vectorizedMap((r: tf.Tensor) => r.mul(r.sum()), x as tf.Tensor),
  },
  { name: 'scan', inputs: [matrix], fn: (x) => tf.scan(row, x as tf.Tensor) },
  { name: 'foldl', inputs: [matrix], fn: (x) => tf.foldl(row, x as tf.Tensor) },
  { name: 'foldr', inputs: [matrix], fn: (x) => tf.foldr(row, x as tf.Tensor) },
  {
    name: 'TensorArray',
    inputs: [matrix],
    fn: (x) => new tf.TensorArray('float32', { size: 0, dynamicSize: true }).unstack(x as tf.Tensor).stack(),
  },
  {
    name: 'jacobian through a branch',
    inputs: [uniform([3])],
    fn: twice((x) =>
      tf.cond(
        x.sum().greater(1),
        () => x.square(),
        () => x.neg(),
      ),
    ),
  },
  {
    name: 'jacobian through a loop',
    inputs: [uniform([3])],
    fn: twice(
      (x) =>
        tf.whileLoop(
          (i: tf.Tensor) => i.less(3),
          (i: tf.Tensor, y: tf.Tensor) => [i.add(1), y.mul(x)],
          [tf.constant(0, 'int32'), x],
        )[1] as tf.Tensor,
    ),
  },
  { name: 'jacobian', inputs: [matrix], fn: twice((x) => x.square().sum(1)) },
  {
    name: 'batchJacobian',
    inputs: [matrix],
    fn: (x) => {
      const tape = new tf.GradientTape();
      tape.watch(x as tf.Tensor);
      return tape.batchJacobian((x as tf.Tensor).square(), x as tf.Tensor);
    },
  },
]);

for (const [title, list] of Object.entries(subjects)) walk(title, list);

test('every layer has a case', () => {
  const names = Object.keys(layerCases);
  const covered = new Set<unknown>(names.map((name) => tf.layers[name as 'Dense']));
  const all = publicClasses(tf.layers, ['Layer', 'InputSpec', 'TFSMLayer']);
  expect(all.filter(([, Class]) => !covered.has(Class)).map(([name]) => name)).toEqual([]);
});

test('the list of what is traced for each size', async () => {
  const lines = [...found]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([line, reasons]) => `- ${line}: ${[...reasons].sort().join('; ')}`);
  const text = `${HEAD}\n${lines.length === 0 ? 'Nothing.' : lines.join('\n')}\n`;
  await expect(text).toMatchFileSnapshot('../../../docs/traces-per-size.md');
});
