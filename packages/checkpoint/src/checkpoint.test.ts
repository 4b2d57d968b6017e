import { processorTime } from '../../testing/src/processor-time.ts';
import '@eagre/backend-js';
import '@eagre/backend-native';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DataLossError,
  FailedPreconditionError,
  InvalidArgumentError,
  Module,
  NotFoundError,
  ones,
  PermissionDeniedError,
  ResourceExhaustedError,
  random,
  UnimplementedError,
  Variable,
  zeros,
} from '@eagre/core';
import { context } from '@eagre/core/internal';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { openBundle } from './bundle.ts';
import {
  Checkpoint,
  CheckpointOptions,
  latestCheckpoint,
  listVariables,
  loadCheckpoint,
  loadVariable,
} from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'eagre-checkpoint-'));
afterAll(() => rmSync(folder, { recursive: true }));
let paths = 0;
const at = (): string => join(folder, String(paths++), 'ckpt');

class Holder extends Module {
  [name: string]: unknown;
}
const holder = (fields: object): Holder => Object.assign(new Holder(), fields);

describe('save and restore', () => {
  test('one variable', () => {
    const x = new Variable(10);
    const checkpoint = new Checkpoint({ x });
    x.assign(2);
    const prefix = at();
    const path = checkpoint.save(prefix);
    expect(path).toBe(`${prefix}-1`);
    x.assign(11);
    checkpoint.restore(latestCheckpoint(join(prefix, '..'))).assertConsumed();
    expect(x.item()).toBe(2);
    expect(checkpoint.saveCounter.array()).toBe(1n);
    expect(checkpoint.save(prefix)).toBe(`${prefix}-2`);
    expect(readFileSync(join(prefix, '../checkpoint'), 'utf8')).toBe(
      'model_checkpoint_path: "ckpt-2"\nall_model_checkpoint_paths: "ckpt-2"\n',
    );
  });

  test('every kind of container, and names that need escapes', () => {
    const make = (k: number) => {
      const shared = new Variable([k, k]);
      return {
        module: holder({ v: new Variable(k), inner: holder({ v: new Variable([k + 1]) }), shared }),
        array: [new Variable(k + 2), 'no variable', [new Variable(k + 3)], shared],
        map: new Map<string | number, unknown>([
          ['a.b/c', new Variable(k + 4)],
          [7, new Variable(k + 5)],
          ['text', 'nothing'],
        ]),
        object: { deep: { er: new Variable(k % 2 === 0) }, words: new Variable(['ä', `${k}`, '']) },
        set: new Set([new Variable(BigInt(k))]),
        generator: random.Generator.fromSeed(k),
      };
    };
    const [one, two] = [make(0), make(9)];
    const path = new Checkpoint(one).write(at());
    expect(listVariables(path).map(([name]) => name)).toEqual([
      '_CHECKPOINTABLE_OBJECT_GRAPH',
      'array/0/.ATTRIBUTES/VARIABLE_VALUE',
      'array/2/0/.ATTRIBUTES/VARIABLE_VALUE',
      'array/3/.ATTRIBUTES/VARIABLE_VALUE',
      'generator/_state_var/.ATTRIBUTES/VARIABLE_VALUE',
      'map/7/.ATTRIBUTES/VARIABLE_VALUE',
      'map/a..b.Sc/.ATTRIBUTES/VARIABLE_VALUE',
      'module/inner/v/.ATTRIBUTES/VARIABLE_VALUE',
      'module/v/.ATTRIBUTES/VARIABLE_VALUE',
      'object/deep/er/.ATTRIBUTES/VARIABLE_VALUE',
      'object/words/.ATTRIBUTES/VARIABLE_VALUE',
      'set/0/.ATTRIBUTES/VARIABLE_VALUE',
    ]);
    new Checkpoint(two).read(path).assertConsumed();
    const values = (m: ReturnType<typeof make>): unknown => [
      m.module.variables.map((v) => v.array()),
      (m.array[0] as Variable).item(),
      ((m.array[2] as Variable[])[0] as Variable).item(),
      [...m.map.values()].slice(0, 2).map((v) => (v as Variable).item()),
      m.object.deep.er.array(),
      m.object.words.array(),
      [...m.set][0]?.array(),
      m.generator.normal([2]).array(),
    ];
    expect(values(two)).toEqual(values(one));
  });

  test('a root, things attached to it, and checkpoints inside of checkpoints', () => {
    const make = (k: number) => {
      const net = holder({ w: new Variable([k]) });
      return { net, checkpoint: new Checkpoint(net, { step: new Variable(k) }) };
    };
    const [one, two] = [make(1), make(2)];
    const path = one.checkpoint.save(at());
    two.checkpoint.restore(path).assertConsumed();
    expect([two.net['w'] as Variable, two.checkpoint.step].map((v) => v.array())).toEqual([[1], 1]);
    expect(loadVariable(path, 'w').array()).toEqual([1]);
    const plain = new Checkpoint({ w: new Variable([5]), step: new Variable(6) });
    plain.restore(path).assertConsumed();
    expect(plain.step.item()).toBe(1);
    const nested = new Checkpoint({ inner: plain });
    expect(loadVariable(nested.save(at()), 'inner/step').item()).toBe(1);
    expect(() => new Checkpoint(one.net, { w: new Variable(3) })).toThrow(
      /Cannot create a Checkpoint with keyword argument w if root\.w already exists/,
    );
  });

  test('only trackable things', () => {
    expect(() => new Checkpoint({ x: 3 })).toThrow(/was expecting x to be a trackable object/);
    expect(() => new Checkpoint({ save: new Variable(3) })).toThrow(InvalidArgumentError);
    const bad = new Map([[{}, new Variable(1)]]);
    expect(() => new Checkpoint({ bad }).write(at())).toThrow(/neither a string nor a number/);
  });

  test('objects that hold each other, and arrays with holes', () => {
    const make = (k: number) => {
      const [a, b] = [holder({}), holder({ w: new Variable(k) })];
      const list: unknown[] = [a];
      list[2] = new Variable(k + 1);
      list[3] = list;
      return Object.assign(a, { b, list, self: a });
    };
    const two = make(0);
    const path = new Checkpoint(make(3)).write(at());
    new Checkpoint(two).read(path).assertConsumed();
    expect(two.variables.map((v) => v.item())).toEqual([4, 3]);
  });

  test('names that are one', () => {
    const map = new Map<string | number, Variable>([
      [1, new Variable(1)],
      ['1', new Variable(2)],
    ]);
    expect(() => new Checkpoint({ map }).write(at())).toThrow(/under the number 1 and under the string '1'/);
    // @ts-expect-error: no object
    expect(() => new Checkpoint(null)).toThrow(InvalidArgumentError);
  });

  test('a prefix that is a folder', () => {
    const checkpoint = new Checkpoint({ x: new Variable(1) });
    const prefix = `${at()}/`;
    expect(checkpoint.write(prefix)).toBe(prefix);
    checkpoint.read(prefix).assertConsumed();
    expect(checkpoint.save(prefix)).toBe(`${prefix}-1`);
    expect(latestCheckpoint(prefix)).toBe(`${prefix}-1`);
  });

  test('what is no path', async () => {
    const checkpoint = new Checkpoint({ x: new Variable(1) });
    for (const path of [undefined, 3, {}] as unknown as string[]) {
      for (const what of ['save', 'write', 'read', 'restore'] as const)
        expect(() => checkpoint[what](path)).toThrow(/must be (a path|given)/);
      await expect(checkpoint.saveAsync(path)).rejects.toThrow(InvalidArgumentError);
      await expect(checkpoint.writeAsync(path)).rejects.toThrow(InvalidArgumentError);
    }
    expect(checkpoint.saveCounter.array()).toBe(0n);
  });

  test('not while a function is traced', () => {
    const checkpoint = new Checkpoint({ x: new Variable(1) });
    const path = checkpoint.save(at());
    context.tracer = {} as NonNullable<typeof context.tracer>;
    try {
      const actions = [
        () => checkpoint.save(path),
        () => checkpoint.write(path),
        () => checkpoint.read(path),
        () => checkpoint.restore(path),
      ];
      for (const action of actions) expect(action).toThrow(/call it outside tf\.function/);
    } finally {
      context.tracer = null;
    }
    expect(checkpoint.saveCounter.array()).toBe(1n);
  });

  test('values that others hold stay what they are', () => {
    const x = new Variable([1, 2]);
    const path = new Checkpoint({ x }).write(at());
    x.assign([5, 6]);
    const before = x.read();
    new Checkpoint({ x }).read(path);
    expect([before.array(), x.array()]).toEqual([
      [5, 6],
      [1, 2],
    ]);
  });

  test('write counts nothing; restore wants the counter, read does not', () => {
    const checkpoint = new Checkpoint({ x: new Variable(1) });
    const path = at();
    expect(checkpoint.write(path)).toBe(path);
    expect(existsSync(join(path, '../checkpoint'))).toBe(false);
    expect(() => checkpoint.restore(path).assertConsumed()).toThrow(/\(root\)\.save_counter/);
    new Checkpoint({ x: new Variable(3) }).read(path).assertConsumed();
  });

  test('empty tensors and long names', () => {
    const name = 'n'.repeat(5000);
    const make = (k: number) => ({ empty: new Variable(zeros([0, 3])), [name]: new Variable(k) });
    const path = new Checkpoint(make(4)).write(at());
    const two = make(5);
    new Checkpoint(two).read(path).assertConsumed();
    expect((two[name] as Variable).item()).toBe(4);
  });
});

test('options: slots left out, callbacks; the folder of a SavedModel', () => {
  const make = (k: number) => {
    const w = new Variable(k);
    const slot = new Variable(k + 1);
    const optimizer = { trackableView: () => ({ children: [], slots: [{ variable: w, name: 'm', slot }] }) };
    return { w, slot, checkpoint: new Checkpoint({ w, optimizer }) };
  };
  const prefix = at();
  const written: string[] = [];
  const options = new CheckpointOptions({ experimentalWriteCallbacks: [(p) => written.push(p)] });
  const path = make(1).checkpoint.write(join(prefix, 'variables', 'variables'), options);
  expect(written).toEqual([path]);
  expect(listVariables(path).map(([name]) => name)).toContain(
    'w/.OPTIMIZER_SLOT/optimizer/m/.ATTRIBUTES/VARIABLE_VALUE',
  );
  const two = make(5);
  const skip = new CheckpointOptions({ experimentalSkipSlotVariables: true });
  two.checkpoint.read(path, skip).assertConsumed();
  expect([two.w.item(), two.slot.item()]).toEqual([1, 6]);
  writeFileSync(join(prefix, 'saved_model.pb'), '');
  two.checkpoint.restore(prefix).expectPartial();
  expect([two.w.item(), two.slot.item()]).toEqual([1, 2]);
});

describe('what does not fit', () => {
  test('shapes and dtypes: an error, and nothing changes', () => {
    const path = new Checkpoint({ a: new Variable(1), w: new Variable([1, 2]) }).write(at());
    const other = new Checkpoint({ a: new Variable(5), w: new Variable([1, 2, 3]) });
    expect(() => other.read(path)).toThrow(
      /Received incompatible tensor with shape \[2\] when attempting to restore variable with shape \[3\] and name Variable/,
    );
    expect(other.a.item()).toBe(5);
    const another = new Checkpoint({ w: new Variable([1, 2], { dtype: 'float64' }) });
    expect(() => another.read(path)).toThrow(
      /tensor_name = w\/\.ATTRIBUTES\/VARIABLE_VALUE; expected dtype float64 does not equal original dtype float32/,
    );
  });
  test('no files, and damaged ones', () => {
    const checkpoint = new Checkpoint({ x: new Variable(1) });
    expect(() => checkpoint.read(at())).toThrow(NotFoundError);
    expect(() => checkpoint.read(at())).toThrow(/Failed to find any matching files for/);
    expect(() => checkpoint.restore(at())).toThrow(/You may be missing the checkpoint suffix/);
    const path = checkpoint.write(at());
    expect(() => loadCheckpoint(path).getTensor('nothing')).toThrow(/Key nothing not found in checkpoint/);
    rmSync(`${path}.data-00000-of-00001`);
    expect(() => checkpoint.read(path)).toThrow(/data-00000-of-00001/);
  });
  test('bits that changed are found', () => {
    const checkpoint = new Checkpoint({ x: new Variable(ones([100])) });
    const path = checkpoint.write(at());
    const file = `${path}.data-00000-of-00001`;
    const data = readFileSync(file);
    for (let i = 0; i < data.length; i++) data[i] = (data[i] as number) ^ 1;
    writeFileSync(file, data);
    checkpoint.x.assign(zeros([100]));
    expect(() => checkpoint.read(path)).toThrow(DataLossError);
    expect(checkpoint.x.data()[0]).toBe(0);
  });
  test('bits that changed in the last of several: none is restored', () => {
    const checkpoint = new Checkpoint({ a: new Variable(ones([3])), b: new Variable(ones([3])) });
    const path = checkpoint.write(at());
    const file = `${path}.data-00000-of-00001`;
    const data = readFileSync(file);
    data[13] = 7;
    writeFileSync(file, data);
    checkpoint.a.assign([5, 5, 5]);
    expect(() => checkpoint.read(path)).toThrow(/tensor "b\/\.ATTRIBUTES\/VARIABLE_VALUE": checksum/);
    expect(checkpoint.a.array()).toEqual([5, 5, 5]);
  });
});

describe('status', () => {
  const path = (() => {
    const variables = { a: new Variable(1), b: holder({ c: new Variable(2) }) };
    return new Checkpoint(variables).save(at());
  })();
  test('everything matches', () => {
    const checkpoint = new Checkpoint({ a: new Variable(0), b: holder({ c: new Variable(0) }) });
    const status = checkpoint.restore(path);
    expect(status.assertConsumed()).toBe(status);
    expect(status.assertExistingObjectsMatched().assertNontrivialMatch().expectPartial()).toBe(status);
    status.initializeOrRestore();
    expect(context.restoring).toBeNull();
  });
  test('a part of the file', () => {
    const checkpoint = new Checkpoint({ a: new Variable(0) });
    const status = checkpoint.restore(path);
    expect(checkpoint.a.item()).toBe(1);
    status.assertExistingObjectsMatched().assertNontrivialMatch();
    expect(() => status.assertConsumed()).toThrow(/Unresolved object in checkpoint \(root\)\.b\.c/);
    expect(() => status.assertConsumed()).toThrow(FailedPreconditionError);
  });
  test('more in the program', () => {
    const status = new Checkpoint({ a: new Variable(0), extra: new Variable(0) }).restore(path);
    expect(() => status.assertExistingObjectsMatched()).toThrow(
      /Found 1 objects that were not bound to checkpointed values.*\(root\)\.extra/,
    );
    expect(() => status.assertConsumed()).toThrow(/not bound/);
    status.assertNontrivialMatch();
  });
  test('nothing in common', () => {
    const read = new Checkpoint({ other: new Variable(0) }).read(path);
    expect(() => read.assertNontrivialMatch()).toThrow(/Nothing except the root object matched/);
    expect(() => new Checkpoint().read(path).assertNontrivialMatch()).toThrow(/Nothing to load/);
  });
  test('no path', () => {
    const status = new Checkpoint({ a: new Variable(0) }).restore(null);
    expect(() => status.assertConsumed()).toThrow(
      'No checkpoint specified (save_path=None); nothing is being restored.',
    );
    status.initializeOrRestore();
  });
  test('one object here, two there', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const v = new Variable(4);
    const file = new Checkpoint({ p: v, q: v }).write(at());
    const two = new Checkpoint({ p: new Variable(0), q: new Variable(0) });
    two.read(file);
    expect([two.p.item(), two.q.item()]).toEqual([4, 0]);
    expect(warn.mock.calls[0]?.[0]).toMatch(/^Inconsistent references.*\(root\)\.p/);
    warn.mockRestore();
  });
});

describe('async', () => {
  test('the values are those of the call', async () => {
    const x = new Variable(ones([1000]));
    const checkpoint = new Checkpoint({ x });
    const prefix = at();
    const saved = checkpoint.saveAsync(prefix);
    x.assign(zeros([1000]));
    expect(() => checkpoint.read('anything')).toThrow(/await checkpoint\.sync\(\)/);
    const again = checkpoint.saveAsync(prefix);
    x.assignAdd(ones([1000]).mul(5));
    expect(await saved).toBe(`${prefix}-1`);
    expect(await again).toBe(`${prefix}-2`);
    expect(latestCheckpoint(join(prefix, '..'))).toBe(`${prefix}-2`);
    expect([1, 2].map((n) => loadVariable(`${prefix}-${n}`, 'x').data()[999])).toEqual([1, 0]);
    checkpoint.restore(`${prefix}-1`).assertConsumed();
    expect(x.data()[0]).toBe(1);
  });
  test('enableAsync: sync waits, and tells of errors', async () => {
    const checkpoint = new Checkpoint({ x: new Variable(3) });
    const options = new CheckpointOptions({ enableAsync: true });
    const path = checkpoint.save(at(), options);
    expect(existsSync(`${path}.index`)).toBe(false);
    await checkpoint.sync();
    expect(loadVariable(path, 'x').item()).toBe(3);
    checkpoint.save('/dev/null/not/possible', options);
    await expect(checkpoint.sync()).rejects.toThrow();
    await checkpoint.sync();
  });
  test('several shards', () => {
    const make = (k: number) =>
      Object.fromEntries([1, 2, 3, 4, 5].map((i) => [`v${i}`, new Variable(k * i)]));
    const path = new Checkpoint(make(1)).write(at(), new CheckpointOptions({ shards: 3 }));
    expect(readdirSync(join(path, '..')).sort()).toEqual([
      'ckpt.data-00000-of-00003',
      'ckpt.data-00001-of-00003',
      'ckpt.data-00002-of-00003',
      'ckpt.index',
    ]);
    const two = make(0);
    new Checkpoint(two).read(path).assertConsumed();
    expect(Object.values(two).map((v) => v.item())).toEqual([1, 2, 3, 4, 5]);
  });
});

test('a chain of very many modules is saved and restored in linear time', () => {
  class Link extends Module {
    declare next?: Link;
    readonly v: Variable;
    constructor(value: number) {
      super();
      this.v = new Variable(value);
    }
  }
  const chain = (length: number, value: (i: number) => number): Link => {
    let first = new Link(value(length - 1));
    for (let i = length - 2; i >= 0; i--) first = Object.assign(new Link(value(i)), { next: first });
    return first;
  };
  const length = 30_000;
  const one = chain(length, (i) => i);
  expect(one.variables).toHaveLength(length);
  expect(one.submodules).toHaveLength(length - 1);
  const two = chain(length, () => -1);
  let path = '';
  const time = processorTime(() => {
    path = new Checkpoint({ chain: one }).write(join(folder, 'chain'));
    new Checkpoint({ chain: two }).read(path).assertConsumed();
  });
  // Some 2 s.
  expect(time).toBeLessThan(20_000);
  expect(two.variables.every((v, i) => v.item() === i)).toBe(true);
  // Names as TensorFlow's, as far as they are of use.
  expect(openBundle(path).has('chain/next/next/v/.ATTRIBUTES/VARIABLE_VALUE')).toBe(true);
  expect(() => new Checkpoint({ chain: one }).write(join(folder, 'chain.npz'))).toThrow(UnimplementedError);
});

test('what the file system refuses names the file and what to do', async () => {
  const checkpoint = new Checkpoint({ v: new Variable(1) });
  const fs = process.getBuiltinModule('node:fs');
  for (const [code, error, text] of [
    ['ENOSPC', ResourceExhaustedError, /no space is left on the device: free some/],
    ['EACCES', PermissionDeniedError, /permission denied: change the rights/],
  ] as const) {
    const refuse = (): never => {
      throw Object.assign(new Error(code), { code, syscall: 'open' });
    };
    const spy = vi.spyOn(fs, 'openSync').mockImplementation(refuse);
    try {
      expect(() => checkpoint.write(join(folder, 'refused'))).toThrow(error);
      expect(() => checkpoint.write(join(folder, 'refused'))).toThrow(/refused/);
      await expect(checkpoint.writeAsync(join(folder, 'refused'))).rejects.toThrow(text);
    } finally {
      spy.mockRestore();
    }
  }
  execFileSync('mkfifo', [join(folder, 'pipe.npz')]);
  expect(() => checkpoint.write(join(folder, 'pipe.npz'))).toThrow(FailedPreconditionError);
});

test('no more than 16 checkpoints wait to be written, and one that is refused counts for nothing', async () => {
  const v = new Variable(0);
  const checkpoint = new Checkpoint({ v });
  const prefix = join(folder, 'many');
  const saved = Array.from({ length: 16 }, (_, i) => {
    v.assign(i);
    return checkpoint.saveAsync(prefix);
  });
  await expect(checkpoint.saveAsync(prefix)).rejects.toThrow(ResourceExhaustedError);
  expect(Number(checkpoint.saveCounter.item())).toBe(16);
  const paths = await Promise.all(saved);
  expect(await checkpoint.saveAsync(prefix)).toBe(`${prefix}-17`);
  checkpoint.restore(paths[3] as string);
  expect(v.item()).toBe(3);
});
