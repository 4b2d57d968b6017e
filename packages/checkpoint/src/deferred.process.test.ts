import '@eagre/backend-js';
import '@eagre/backend-native';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataLossError, Module, Variable, zeros } from '@eagre/core';
import { context, StreamGenerator } from '@eagre/core/internal';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { openBundle, writeBundle } from './bundle.ts';
import { Checkpoint } from './index.ts';
import { applyPending } from './pending.ts';

const folder = mkdtempSync(join(tmpdir(), 'eagre-deferred-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => {
  // What is still waiting belongs to one test.
  context.restoring = null;
});
let files = 0;
const write = (children: object): string => new Checkpoint(children).write(join(folder, `f${files++}`));

class Net extends Module {
  declare kernel: Variable;
  declare inner: Module;
  layers: Module[] = [];
  table: Map<string, Module> = new Map();
  build(): void {
    this.kernel ??= new Variable(zeros([2]), { name: 'kernel' });
  }
}

test('TensorFlow’s guide: variables attached after the restoration', () => {
  const path = write({
    net: new Checkpoint({ l1: new Checkpoint({ bias: new Variable([1, 2]), kernel: new Variable([[3]]) }) }),
  });
  const bias = new Variable(zeros([2]));
  const layer = new Checkpoint<{ bias: Variable; kernel?: Variable }>({ bias });
  const root = new Checkpoint({ net: new Checkpoint({ l1: layer }) });
  const status = root.read(path);
  expect(bias.array()).toEqual([1, 2]);
  expect(() => status.assertConsumed()).toThrow(/\(root\)\.net\.l1\.kernel/);
  const delayed = new Variable([[0]]);
  expect(delayed.array()).toEqual([[0]]);
  layer.kernel = delayed;
  expect(delayed.array()).toEqual([[3]]);
  status.assertConsumed();
  expect(context.restoring).toBeNull();
  layer.kernel = new Variable([[8]]);
  expect(layer.kernel.array()).toEqual([[8]]);
  expect(Object.keys(layer)).toEqual(['bias', 'kernel']);
});

test('variables that a method makes have the stored value when they are first used', () => {
  const one = new Net();
  one.build();
  one.kernel.assign([5, 6]);
  const path = write({ one });
  for (const use of [
    (v: Variable): unknown => v.array(),
    (v: Variable): unknown => v.mul(1).array(),
    (v: Variable): unknown => v.assignAdd([0, 0]).array(),
    (v: Variable): unknown => Array.from(v.read().data() as Float32Array),
  ]) {
    const two = new Net();
    new Checkpoint({ one: two }).read(path);
    two.build();
    expect(two.kernel.shape).toEqual([2]);
    expect(use(two.kernel)).toEqual([5, 6]);
    two.kernel.assign([7, 7]);
    expect(two.kernel.array()).toEqual([7, 7]);
  }
  const shown = new Net();
  new Checkpoint({ one: shown }).read(path);
  shown.build();
  expect(String(shown.kernel)).toContain('5');
});

test('arrays and maps that grow', () => {
  const make = (k: number): Net => Object.assign(new Net(), { kernel: new Variable([k, k]) });
  const one = new Net();
  one.layers.push(make(1), make(2));
  one.table.set('x', make(3));
  const path = write({ one });
  const two = new Net();
  const status = new Checkpoint({ one: two }).read(path);
  for (let i = 0; i < 2; i++) {
    two.layers.push(new Net());
    (two.layers[i] as Net).build();
  }
  const inner = new Net();
  two.table.set('x', inner);
  inner.build();
  expect((two.layers as Net[]).map((l) => l.kernel.array())).toEqual([
    [1, 1],
    [2, 2],
  ]);
  expect(inner.kernel.array()).toEqual([3, 3]);
  status.assertConsumed();
});

test('variables made before are restored when an attribute takes them', () => {
  const path = write({
    one: Object.assign(new Net(), { inner: Object.assign(new Net(), { kernel: new Variable([4, 4]) }) }),
  });
  const kernel = new Variable(zeros([2]));
  const two = new Net();
  new Checkpoint({ one: two }).read(path);
  const inner = Object.assign(new Net(), { kernel });
  expect(kernel.array()).toEqual([0, 0]);
  two.inner = inner;
  expect(kernel.array()).toEqual([4, 4]);
});

test('a later restoration wins, an earlier one still gives what only it has', () => {
  const early = write({ a: new Variable(1), b: new Variable(1), c: new Variable(1) });
  const late = write({ a: new Variable(2), b: new Variable(2) });
  const checkpoint = new Checkpoint<{ a: Variable; b?: Variable; c?: Variable }>({ a: new Variable(0) });
  checkpoint.read(early);
  checkpoint.read(late).expectPartial();
  checkpoint.b = new Variable(0);
  checkpoint.c = new Variable(0);
  expect([checkpoint.a, checkpoint.b, checkpoint.c].map((v) => v.item())).toEqual([2, 2, 1]);
});

test('what does not fit is an error where it is attached, or first used', () => {
  const path = write({ v: new Variable([1, 2]) });
  const checkpoint = new Checkpoint<{ v?: Variable }>();
  const used = new Variable([1, 2, 3]);
  checkpoint.read(path).expectPartial();
  expect(() => {
    checkpoint.v = used;
  }).toThrow(/Received incompatible tensor with shape \[2\]/);
  const other = new Checkpoint<{ v?: Variable }>();
  other.read(path).expectPartial();
  other.v = new Variable([1, 2, 3]);
  expect(() => other.v?.array()).toThrow(/Received incompatible tensor with shape \[2\]/);
});

test('saving includes what was made and not used yet', () => {
  const one = new Net();
  one.build();
  one.kernel.assign([5, 6]);
  const path = write({ one });
  const two = new Net();
  new Checkpoint({ one: two }).read(path);
  two.build();
  const three = new Net();
  three.build();
  new Checkpoint({ one: three }).read(write({ one: two })).assertConsumed();
  expect(three.kernel.array()).toEqual([5, 6]);
});

test('nothing of a checkpoint is kept once all its values are taken', () => {
  const register = vi.spyOn(FinalizationRegistry.prototype, 'register');
  const checkpoint = new Checkpoint({ v: new Variable(0) });
  const path = write({ v: new Variable(1) });
  checkpoint.read(path).assertConsumed();
  expect(register.mock.calls.some(([object]) => object === checkpoint)).toBe(false);
  checkpoint.read(write({ v: new Variable(1), more: new Variable(2) })).expectPartial();
  expect(register.mock.calls.some(([object]) => object === checkpoint)).toBe(true);
  register.mockRestore();
});

test('nothing waits for objects that are gone, and a warning tells what was not restored', async () => {
  const gc = globalThis.gc as () => void;
  const path = write({ v: new Variable(1), lost: new Variable(2) });
  const warnings: string[] = [];
  const { warn } = console;
  console.warn = (text: string) => warnings.push(text);
  try {
    (() => {
      new Checkpoint({ v: new Variable(0) }).read(path);
      new Checkpoint({ v: new Variable(0) }).read(path).expectPartial();
    })();
    expect(context.restoring).not.toBeNull();
    const told = (): number => {
      gc();
      return warnings.length;
    };
    await expect.poll(told).toBeGreaterThan(0);
    applyPending();
    expect(context.restoring).toBeNull();
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('1 values in the checkpoint were not restored: (root).lost');
  } finally {
    console.warn = warn;
  }
});

describe('a value that cannot be given later', () => {
  /** Two layers of two variables each; one byte of the first one's kernel is flipped. */
  function damaged(): { path: string; mend(): void } {
    const of = (k: number): object => ({ kernel: new Variable([k, k + 1]), bias: new Variable(k) });
    const path = write({ d1: of(1), d2: of(3) });
    const data = `${path}.data-00000-of-00001`;
    const bytes = readFileSync(data);
    const at = bytes.indexOf(new Uint8Array(new Float32Array([1, 2]).buffer));
    const flip = (): void => {
      bytes[at] = (bytes[at] as number) ^ 1;
      writeFileSync(data, bytes);
    };
    flip();
    return { path, mend: flip };
  }
  const built = (): Net & { bias: Variable } =>
    Object.assign(new Net(), { kernel: new Variable(zeros([2])), bias: new Variable(0) });

  test('fails at each use of that variable and at no other, until the file is whole', () => {
    const { path, mend } = damaged();
    const checkpoint = new Checkpoint<{ d1?: Net; d2?: Net }>();
    const status = checkpoint.read(path).expectPartial();
    const bystander = new Variable(7);
    const d1 = built();
    const d2 = built();
    Object.assign(checkpoint, { d1, d2 });
    expect(bystander.item()).toBe(7);
    expect(d2.kernel.array()).toEqual([3, 4]);
    expect(d1.bias.item()).toBe(1);
    for (let i = 0; i < 3; i++) {
      expect(() => d1.kernel.mul(2)).toThrow(DataLossError);
      expect(() => d1.kernel.assignAdd([1, 1])).toThrow(/d1\/kernel/);
      expect(() => status.assertConsumed()).toThrow(DataLossError);
      expect(() => new Checkpoint({ d1 }).write(join(folder, 'never'))).toThrow(DataLossError);
      expect(new Variable(i).item()).toBe(i);
    }
    mend();
    expect(d1.kernel.array()).toEqual([1, 2]);
    status.assertConsumed();
  });

  test('another checkpoint ends it, and so does another variable in its place', () => {
    const { path, mend } = damaged();
    const one = new Checkpoint<{ d1?: Net }>();
    one.read(path).expectPartial();
    const d1 = built();
    one.d1 = d1;
    expect(() => d1.kernel.array()).toThrow(DataLossError);
    const good = write({ layer: { kernel: new Variable([8, 9]) } });
    new Checkpoint({ layer: d1 }).read(good).expectPartial();
    expect(d1.kernel.array()).toEqual([8, 9]);

    const two = new Checkpoint<{ d1?: Net }>();
    two.read(path).expectPartial();
    const other = built();
    two.d1 = other;
    expect(() => other.kernel.array()).toThrow(DataLossError);
    mend();
    other.kernel = new Variable([0, 0]);
    expect(other.kernel.array()).toEqual([1, 2]);
  });

  test('a variable of before that is attached fails there, and at each use', () => {
    const { path } = damaged();
    const used = new Variable([5, 5]);
    expect(used.array()).toEqual([5, 5]);
    const checkpoint = new Checkpoint<{ d1?: object; x?: object }>();
    checkpoint.read(path).expectPartial();
    expect(() => {
      checkpoint.d1 = Object.assign(new Net(), { kernel: used });
    }).toThrow(DataLossError);
    checkpoint.x = new Net();
    for (let i = 0; i < 2; i++) expect(() => used.array()).toThrow(DataLossError);
  });

  test('a restoration at once changes nothing where one value is damaged', () => {
    const { path } = damaged();
    const d1 = built();
    const d2 = built();
    expect(() => new Checkpoint({ d1, d2 }).read(path)).toThrow(DataLossError);
    expect([d1.kernel.array(), d1.bias.item(), d2.kernel.array()]).toEqual([[0, 0], 0, [0, 0]]);
  });

  test('states that are no variables: none changes, and saving says why', () => {
    const path = write({ a: new StreamGenerator(1), b: new StreamGenerator(2) });
    const bad = write({ a: new StreamGenerator(3), b: { STATE: new Variable([1, 2, 3]) } });
    const a = new StreamGenerator(8);
    const drawn = new StreamGenerator(8).normal([2]).array();
    const graph = openBundle(path).graph;
    const state = openBundle(bad);
    const tensors = [
      ['a/.ATTRIBUTES/STATE', openBundle(path).read('a/.ATTRIBUTES/STATE')],
      ['b/.ATTRIBUTES/STATE', state.read(state.keys.find((key) => key.startsWith('b/')) as string)],
    ] as const;
    writeBundle(bad, { graph, tensors });
    const b = new StreamGenerator(9);
    expect(() => new Checkpoint({ a, b }).read(bad)).toThrow(/not a random state/);
    expect(a.normal([2]).array()).toEqual(drawn);
    const later = new Checkpoint<{ a?: object; b?: object }>();
    later.read(bad).expectPartial();
    later.a = a;
    expect(() => {
      later.b = b;
    }).toThrow(/not a random state/);
    expect(new Variable(1).item()).toBe(1);
    expect(() => later.write(join(folder, 'never'))).toThrow(/not a random state/);
  });
});

test('a checkpoint that nobody holds gives its values to objects that somebody holds', async () => {
  const one = new Net();
  one.build();
  one.kernel.assign([5, 6]);
  const path = write({ one });
  const two = new Net();
  (() => void new Checkpoint({ one: two }).read(path))();
  for (let i = 0; i < 5; i++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    (globalThis.gc as () => void)();
  }
  two.build();
  expect(two.kernel.array()).toEqual([5, 6]);
});
