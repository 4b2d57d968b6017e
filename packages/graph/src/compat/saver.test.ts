import '@eagre/backend-js';
import '@eagre/backend-native';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Checkpoint, latestCheckpoint, listVariables } from '@eagre/checkpoint';
import { InvalidArgumentError, NotFoundError, Variable } from '@eagre/core';
import { afterAll, expect, test } from 'vitest';
import * as v1 from './v1.ts';

const folder = mkdtempSync(join(tmpdir(), 'eagre-saver-'));
afterAll(() => rmSync(folder, { recursive: true }));

function program(w: number[], b: number) {
  const graph = new v1.Graph();
  return graph.asDefault(() => {
    const v = { w: new Variable([w], { name: 'w' }), b: new Variable(b, { name: 'scope/b' }) };
    const add = v1.assignAdd(v.w, [[1, 1]]);
    return { ...v, graph, add, init: v1.globalVariablesInitializer(), saver: new v1.train.Saver() };
  });
}

test('a session saves, another one restores', () => {
  const one = program([1, 2], 3);
  const session = new v1.Session({ graph: one.graph });
  session.run(one.init);
  session.run(one.add);
  const path = one.saver.save(session, join(folder, 'a/model'), { globalStep: 7 });
  expect(path).toBe(join(folder, 'a/model-7'));
  expect(latestCheckpoint(join(folder, 'a'))).toBe(path);
  expect(listVariables(path)).toEqual([
    ['scope/b', []],
    ['w', [1, 2]],
  ]);
  const two = program([0, 0], 0);
  const other = new v1.Session({ graph: two.graph });
  two.saver.restore(other, path);
  expect(other.run([two.w, two.b]).map((t) => t.array())).toEqual([[[2, 3]], 3]);
  // A variable of the graph has no value outside of sessions but its first.
  expect(two.w.array()).toEqual([[0, 0]]);
});

test('objects that eager mode saved, and the other way', () => {
  const eager = new Checkpoint({
    model: { kernel: new Variable([[5, 6]], { name: 'w' }), bias: new Variable(7, { name: 'scope/b' }) },
  });
  const path = eager.save(join(folder, 'b/ckpt'));
  const one = program([0, 0], 0);
  const session = new v1.Session({ graph: one.graph });
  one.saver.restore(session, path);
  session.run(one.add);
  expect(session.run([one.w, one.b]).map((t) => t.array())).toEqual([[[6, 7]], 7]);
  eager.restore(one.saver.save(session, join(folder, 'b/session'))).assertConsumed();
  expect(eager.model.kernel.array()).toEqual([[6, 7]]);
});

test('what TensorFlow 1 saved; names of one’s own; variables of eager mode', () => {
  const golden = fileURLToPath(new URL('../../../checkpoint/golden/names-5', import.meta.url));
  const one = program([0, 0], 0);
  const session = new v1.Session({ graph: one.graph });
  one.saver.restore(session, golden);
  expect(session.run([one.w, one.b]).map((t) => t.array())).toEqual([[[1, 2]], 3]);
  const shared = new Variable(0);
  new v1.train.Saver({ 'scope/b': shared, w: one.w }).restore(session, golden);
  expect(shared.item()).toBe(3);
});

test('old ones are deleted; what does not fit changes nothing', () => {
  const one = program([1, 2], 3);
  const session = new v1.Session({ graph: one.graph });
  session.run(one.init);
  const saver = one.graph.asDefault(() => new v1.train.Saver(undefined, { maxToKeep: 2 }));
  const paths = [1, 2, 3].map((globalStep) => saver.save(session, join(folder, 'c/m'), { globalStep }));
  expect(saver.lastCheckpoints).toEqual(paths.slice(1));
  expect(paths.map((p) => existsSync(`${p}.index`))).toEqual([false, true, true]);
  const path = paths[2] as string;
  expect(() => new v1.train.Saver({ other: one.b }).restore(session, path)).toThrow(NotFoundError);
  expect(() => new v1.train.Saver({ 'scope/b': one.b, w: one.b }).restore(session, path)).toThrow(
    InvalidArgumentError,
  );
  expect(session.run(one.b).item()).toBe(3);
  expect(() => new v1.train.Saver([])).toThrow(/No variables to save/);
  expect(() => new v1.train.Saver([new Variable(1), new Variable(2)])).toThrow(/same name: Variable/);
});
