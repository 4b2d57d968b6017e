import '@eagre/backend-js';
import { GradientTape } from '@eagre/autodiff';
import { constant, random, relu, type Tensor, topK, Variable } from '@eagre/core';
import { context, defineOp, execute1 } from '@eagre/core/internal';
import { describe, expect, test } from 'vitest';
import { cond, TensorSpec, tfFunction } from '../index.ts';

/** Has attributes of all kinds. */
const spied = defineOp({
  name: 'TextTest',
  compose: ([x]) => x.add(1),
  grad: (_, dy) => dy,
  samples: () => [],
});

describe('the text of a graph', () => {
  test('has the arguments, a line for each node, assignments and results', () => {
    const [w, b] = [new Variable([[1, 2, 3]], { name: 'dense/kernel' }), new Variable([0, 0, 0])];
    const again = new Variable([5, 6, 7]);
    const step = tfFunction(function dense(x: Tensor) {
      const y = relu(x.matmul(w).add(b));
      again.assign(b);
      b.assignAdd([0.1, 1e-8, -0]);
      x.mul(3);
      const { values, indices } = topK(y, 2);
      return [values, indices, x];
    });
    const { graph } = step.getConcreteFunction(constant([[1], [2]]));
    expect(graph.toString()).toMatchInlineSnapshot(`
      "dense(%args_0: float32[2,1]) {
        %dense/kernel/Read: float32[1,3] = ReadVariableOp('dense/kernel')
        %MatMul: float32[2,3] = MatMul(%args_0, %dense/kernel/Read) {transposeA: false, transposeB: false}
        %Variable/Read: float32[3] = ReadVariableOp('Variable')
        %AddV2: float32[2,3] = AddV2(%MatMul, %Variable/Read)
        %Relu: float32[2,3] = Relu(%AddV2)
        %Variable/Read_1: float32[3] = ReadVariableOp('Variable'#2)  # unused
        %Const: float32[3] = Const() {value: [0.1, 1e-8, -0]}
        %AddV2_1: float32[3] = AddV2(%Variable/Read, %Const)
        %Const_1: float32[] = Const() {value: 3}  # unused
        %Mul: float32[2,1] = Mul(%args_0, %Const_1)  # unused
        %TopKV2:0: float32[2,2], %TopKV2:1: int32[2,2] = TopKV2(%Relu) {k: 2}
        AssignVariableOp('Variable', %AddV2_1)
        AssignVariableOp('Variable'#2, %Variable/Read)
        return %TopKV2:0, %TopKV2:1, %args_0
      }"
    `);
    expect(String(graph)).toBe(graph.toString());
    expect(step.getConcreteFunction(constant([[5], [6]])).graph.toString()).toBe(graph.toString());
  });

  test('shortens constants, and shows every dtype', () => {
    const f = tfFunction(
      function constants(x: Tensor) {
        const long = constant(Array.from({ length: 20 }, (_, i) => i));
        return [
          x.add(long.sum()),
          x.cast('int64').add(constant([1n, -2n])),
          constant([true, false]),
          x.mul(0.1),
        ];
      },
      { name: 'named' },
    );
    expect(f.getConcreteFunction(constant([1, 2])).graph.toString()).toMatchInlineSnapshot(`
      "named(%args_0: float32[2]) {
        %Const: float32[20] = Const() {value: [0, 1, 2, 3, 4, 5, 6, 7, …]}
        %Sum: float32[] = Sum(%Const) {axes: [0], keepdims: false}
        %AddV2: float32[2] = AddV2(%args_0, %Sum)
        %Cast: int64[2] = Cast(%args_0) {dtype: "int64"}
        %Const_1: int64[2] = Const() {value: [1, -2]}
        %AddV2_1: int64[2] = AddV2(%Cast, %Const_1)
        %Const_2: float32[] = Const() {value: 0.1}
        %Mul: float32[2] = Mul(%args_0, %Const_2)
        %Const_3: bool[2] = Const() {value: [true, false]}
        return %AddV2, %AddV2_1, %Const_3, %Mul
      }"
    `);
  });

  test('shows functions and objects in short', () => {
    class Thing {}
    const w = new Variable([1, 2], { name: 'w' });
    const deep = { a: { b: { c: { d: 1 } } } };
    const f = tfFunction(function odd(x: Tensor) {
      const attrs = {
        call: function named(): void {},
        arrow: [() => 1],
        thing: new Thing(),
        bare: Object.create(null) as object,
        tensor: w.read(),
        variable: w,
        deep,
        list: [[[[1]]]],
        long: new Float32Array(12),
        text: 'a "b"',
        big: 5n,
        none: null,
        missing: undefined,
        minus: -0,
      };
      return execute1(spied, [x.add(random.uniform([2]))], attrs);
    });
    expect(f.getConcreteFunction(constant([1, 2])).graph.toString()).toMatchInlineSnapshot(`
      "odd(%args_0: float32[2]) {
        %w/Read: float32[2] = ReadVariableOp('w')  # unused
        %RandomUniform: float32[2] = RandomUniform() {shape: [2], dtype: "float32", low: 0, high: 1, source: <Stream>}
        %AddV2: float32[2] = AddV2(%args_0, %RandomUniform)
        %TextTest: float32[2] = TextTest(%AddV2) {call: <function named>, arrow: [<function>], thing: <Thing>, bare: {}, tensor: <float32[2]>, variable: 'w', deep: {a: {b: {c: {…}}}}, list: [[[[…]]]], long: [0, 0, 0, 0, 0, 0, 0, 0, …], text: "a \\"b\\"", big: 5n, none: null, minus: -0}
        return %TextTest
      }"
    `);
  });

  test('shows updates of variables, with those that they write', () => {
    const [w, m] = [new Variable([1, 2], { name: 'w' }), new Variable([0, 0], { name: 'm' })];
    const f = tfFunction(function step(gradient: Tensor) {
      const rate = constant(0.1, 'float64');
      const inputs = [w.read(), m.read(), gradient.neg(), rate];
      const attrs = { count: 1, momentum: 0.9, nesterov: true };
      context.tracer?.update('ApplyMomentum', inputs, [w, m], [0, 1], attrs);
    });
    expect(f.getConcreteFunction(constant([1, 2])).graph.toString()).toMatchInlineSnapshot(`
      "step(%args_0: float32[2]) {
        %w/Read: float32[2] = ReadVariableOp('w')
        %m/Read: float32[2] = ReadVariableOp('m')
        %Neg: float32[2] = Neg(%args_0)
        %Const: float64[] = Const() {value: 0.1}
        %ResourceApplyMomentum:0: float32[2], %ResourceApplyMomentum:1: float32[2] = ResourceApplyMomentum(%w/Read, %m/Read, %Neg, %Const) {writes: ['w', 'm'], count: 1, momentum: 0.9, nesterov: true}
        AssignVariableOp('w', %ResourceApplyMomentum:0)
        AssignVariableOp('m', %ResourceApplyMomentum:1)
        return
      }"
    `);
  });

  test('shows what stands for an unknown size as ?, in constants as well', () => {
    const f = tfFunction({ inputSignature: [new TensorSpec([null])] })((x: Tensor) => {
      using tape = new GradientTape();
      tape.watch(x);
      return tape.gradient(x.mean(), x);
    });
    const text = f.getConcreteFunction().graph.toString();
    expect(text).toContain('{value: ?}');
    expect(text).toContain('{shape: [?]}');
    expect(text).not.toMatch(/\d{7}/);
  });

  test('of a function without arguments, results or nodes', () => {
    const f = tfFunction(function nothing() {});
    expect(f.getConcreteFunction().graph.toString()).toBe('nothing() {\n  return\n}');
  });
});

test('the bodies of branches and loops stand behind their nodes', () => {
  const v = new Variable(1, { name: 'v' });
  const f = tfFunction((x: Tensor) =>
    cond(
      x.greater(0),
      () => v.assignAdd(x).read(),
      () => x.neg(),
    ),
  );
  const { graph } = f.getConcreteFunction(constant(2));
  expect(String(graph)).toMatchInlineSnapshot(`
    "function(%args_0: float32[]) {
      %Const: float32[] = Const() {value: 0}
      %Greater: bool[] = Greater(%args_0, %Const)
      %v/Read: float32[] = ReadVariableOp('v')
      %If:0: float32[], %If:1: float32[] = If(%Greater, %v/Read, %args_0) {written: ['v']}
        if_branch_0(%v: float32[], %outside: float32[]) {
          %AddV2: float32[] = AddV2(%v, %outside)
          %AssignedVariable: float32[] = AssignedVariable(%AddV2) {variable: 'v'}
          return %AssignedVariable, %AssignedVariable
        }
        if_branch_1(%v: float32[], %outside: float32[]) {
          %Neg: float32[] = Neg(%outside)
          return %Neg, %v
        }
      AssignVariableOp('v', %If:1)
      return %If:0
    }"
  `);
  expect(graph.statistics().nodesByType).toMatchObject({ If: 1, Neg: 1, AddV2: 1 });
});
