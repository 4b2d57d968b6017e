// String tensors in traced functions: part of the trace where they are known, refused where they are not.
import '@eagre/backend-js';
import { concat, constant, hostFunction, ones, stack, Tensor } from '@eagre/core';
import { expect, test } from 'vitest';
import { cond } from '../control/cond.ts';
import { whileLoop } from '../control/while-loop.ts';
import { tfFunction } from '../function/function.ts';
import { TensorSpec } from '../ir/tensor-spec.ts';

const names = constant(['a', 'b']);
const int = (value: number | number[]): Tensor => constant(value, 'int32');

test('strings are arguments, with a trace for each value, and results', () => {
  const f = tfFunction((labels: Tensor, x: Tensor) => ({ labels, y: x.add(1), kind: constant('kind') }));
  const first = f(names, constant(1));
  expect(first.labels.array()).toEqual(['a', 'b']);
  expect(first.kind.array()).toBe('kind');
  expect(first.y.item()).toBe(2);
  expect(f(constant(['a', 'b']), constant(2)).y.item()).toBe(3);
  expect(f.experimentalGetTracingCount()).toBe(1);
  expect(f(constant(['c', 'b']), constant(2)).labels.array()).toEqual(['c', 'b']);
  expect(f.experimentalGetTracingCount()).toBe(2);
  const only = tfFunction((x: Tensor) => x);
  const own = only(names);
  own.dispose();
  expect(only(names).array()).toEqual(['a', 'b']);
});

test('many strings count as an object', () => {
  const many = constant(Array.from({ length: 1000 }, (_, i) => `word ${i}`));
  const f = tfFunction((labels: Tensor) => labels.gather(int(7)));
  expect(f(many).array()).toBe('word 7');
  expect(f(many).array()).toBe('word 7');
  expect(f.experimentalGetTracingCount()).toBe(1);
  expect(f(constant(many.array() as string[])).array()).toBe('word 7');
  expect(f.experimentalGetTracingCount()).toBe(2);
});

test('what is known is computed while tracing', () => {
  const f = tfFunction((labels: Tensor) => {
    const places = int([1]).sub(int([1]));
    return [stack([labels, labels], 1), concat([labels, labels]).reshape([2, 2]), labels.gather(places)];
  });
  expect(f(names).map((t) => (t as Tensor).array())).toEqual([
    [
      ['a', 'a'],
      ['b', 'b'],
    ],
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
    ['a'],
  ]);
});

test('code of the host gets them', () => {
  const seen: unknown[] = [];
  const f = tfFunction((labels: Tensor, x: Tensor) => {
    hostFunction(
      (a, b, c) => void seen.push([a, b, c].map((t) => t instanceof Tensor && t.array())),
      [x, labels, x],
      [],
    );
    return x;
  });
  f(names, constant(1));
  f(names, constant(2));
  expect(seen).toEqual([
    [1, ['a', 'b'], 1],
    [2, ['a', 'b'], 2],
  ]);
});

test('a signature may hold them', () => {
  const f = tfFunction({ inputSignature: [new TensorSpec([null], 'string'), new TensorSpec([null])] })(
    (labels: Tensor, x: Tensor) => [labels, x.mul(2)],
  );
  expect(f(names, ones([3])).map((t) => (t as Tensor).array())).toEqual([
    ['a', 'b'],
    [2, 2, 2],
  ]);
  expect(f(names, ones([1])).map((t) => (t as Tensor).array())).toEqual([['a', 'b'], [2]]);
  expect(f.experimentalGetTracingCount()).toBe(1);
  expect(
    f
      .getConcreteFunction(names, ones([1]))(names, ones([1]))[0]
      .array(),
  ).toEqual(['a', 'b']);
  // The trace for any strings is one to be written; called, it is the function.
  const any = f.getConcreteFunction();
  expect(any.graph.arguments.map(({ dtype }) => dtype)).toEqual(['string', 'float32']);
  expect(any(names, ones([1]))[0].array()).toEqual(['a', 'b']);
  expect(() => any.specialize(ones([1]))).toThrow('call it with the strings');
  expect(() => f(constant('a'), ones([1]))).toThrow('argument 0 has shape []');
});

test('strings that differ from run to run are refused, with what to do', () => {
  const refused = /compute an index.*, and look (up the string|it up) outside/;
  const looked = tfFunction((labels: Tensor, i: Tensor) => labels.gather(i));
  expect(() => looked(names, int(0))).toThrow(refused);
  const chosen = tfFunction((c: Tensor) =>
    cond(
      c,
      () => constant('yes'),
      () => constant('no'),
    ),
  );
  expect(() => chosen(constant(true))).toThrow(refused);
  const turned = tfFunction((n: Tensor) =>
    whileLoop(
      (i) => i.less(n),
      (i, s) => [i.add(1), s],
      [int(0), constant('s')],
    ),
  );
  expect(() => turned(int(1))).toThrow(refused);
  const given = tfFunction((x: Tensor) =>
    hostFunction(() => constant('s'), [x], { dtype: 'string', shape: [] }),
  );
  expect(() => given(int(1))).toThrow(refused);
});
