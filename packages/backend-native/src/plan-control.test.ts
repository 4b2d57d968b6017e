import {
  buildScalarProgram,
  type Executable,
  hostView,
  InvalidArgumentError,
  type Plan,
  type PlanTensor,
  type Storage,
} from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import { describe, expect, it } from 'vitest';
import { Builder, below, body, planBackends, plus, read, store } from './testing/plans.ts';

const f32 = 'float32';
const add = buildScalarProgram([f32, f32], (s, x, y) => s.add(x, y));
const multiply = buildScalarProgram([f32, f32], (s, x, y) => s.mul(x, y));
const half = buildScalarProgram([f32], (s, x) => s.div(x, 2));
const isOdd = buildScalarProgram(['int32'], (s, x) => s.eq(s.mod(x, 2), 1));
const toFloat = buildScalarProgram(['int32'], (s, x) => s.cast(x, f32));
const divide = buildScalarProgram(['int32', 'int32'], (s, x, y) => s.div(x, y));

/** Bodies of a loop whose first carried value counts to n. */
const counting = (
  n: number,
  like: readonly PlanTensor[],
  write: (b: Builder, i: PlanTensor, ...rest: PlanTensor[]) => readonly PlanTensor[],
): [Plan, Plan] => [
  body(like, (b, i) => [b.scalar(below(n), [i], [], 'bool')]),
  body(like, (b, i, ...rest) => {
    const results = write(b, i, ...rest);
    return [b.scalar(plus(1), [i], []), ...results];
  }),
];

describe.each(planBackends(jsBackend))('branches, loops and stacks on %s', (name, backend, prepare) => {
  const run = (executable: Executable, inputs: readonly Storage[], bytes: readonly number[]): Storage[] => {
    const outputs = bytes.map((n) => backend.allocator.allocate(n));
    executable.run(inputs, outputs);
    return outputs;
  };
  const ints = (...values: number[]): Storage => store(backend, 'int32', values);

  it('go through a loop as often as its condition holds', () => {
    for (const turns of [0, 1, 7]) {
      const b = new Builder();
      const x = b.input([3]);
      const step = b.input([3]);
      const i = b.fill(0, [], 'int32');
      const bodies = counting(turns, [i, x, step], (c, _, y, s) => [c.scalar(add, [y, s], [3])]);
      const [count, sum] = b.loop([i, x], [step], bodies);
      const executable = prepare(b.plan([count, sum]));
      for (let k = 0; k < 3; k++) {
        const inputs = [store(backend, f32, [1, 2, k]), store(backend, f32, [1, 0.5, -1])];
        const [n, y] = run(executable, inputs, [4, 12]);
        expect(read(n, 1, 'int32')).toEqual([turns]);
        expect(read(y, 3)).toEqual([1 + turns, 2 + turns / 2, k - turns]);
        expect(read(inputs[0], 3)).toEqual([1, 2, k]);
      }
      executable.dispose();
    }
  });

  it('take one of several bodies', () => {
    const b = new Builder();
    const [i, x] = [b.input([], 'int32'), b.input([2])];
    const scaled = (by: number): Plan => body([x], (c, y) => [c.scalar(multiply, [y, c.fill(by, [2])], [2])]);
    const [chosen] = b.branch(i, [x], [scaled(10), scaled(20), scaled(30)], [x]);
    const odd = b.scalar(isOdd, [i], [], 'bool');
    const [parity] = b.branch(odd, [chosen], [scaled(1), scaled(-1)], [x]);
    const executable = prepare(b.plan([parity]));
    for (const [choice, factor] of [
      [0, -10],
      [1, 20],
      [2, -30],
      [3, 30],
      [-1, 30],
      [-(2 ** 31), -30],
      [2 ** 31 - 1, 30],
    ])
      expect(read(run(executable, [ints(choice), store(backend, f32, [1, 2])], [8])[0], 2)).toEqual([
        factor,
        2 * factor,
      ]);
  });

  it('go through loops in loops and branches in loops', () => {
    // The number of steps of the Collatz sequences from 1 to 20, added up.
    const b = new Builder();
    const [total, start] = [b.fill(0, [], 'int32'), b.fill(1, [], 'int32')];
    const scalar = [start];
    const sum = buildScalarProgram(['int32', 'int32'], (s, x, y) => s.add(x, y));
    const halves = body(scalar, (c, x) => [
      c.scalar(
        buildScalarProgram(['int32'], (s, y) => s.floorDiv(y, 2)),
        [x],
        [],
      ),
    ]);
    const triples = body(scalar, (c, x) => [
      c.scalar(
        buildScalarProgram(['int32'], (s, y) => s.add(s.mul(y, 3), 1)),
        [x],
        [],
      ),
    ]);
    const inner: [Plan, Plan] = [
      body([start, start], (c, x) => [
        c.scalar(
          buildScalarProgram(['int32'], (s, y) => s.gt(y, 1)),
          [x],
          [],
          'bool',
        ),
      ]),
      body([start, start], (c, x, n) => {
        const [next] = c.branch(c.scalar(isOdd, [x], [], 'bool'), [x], [triples, halves], scalar);
        return [next, c.scalar(plus(1), [n], [])];
      }),
    ];
    const outer: [Plan, Plan] = [
      body([start, start], (c, i) => [c.scalar(below(21), [i], [], 'bool')]),
      body([start, start], (c, i, t) => {
        const [, steps] = c.loop([c.scalar(plus(0), [i], []), c.fill(0, [], 'int32')], [], inner);
        return [c.scalar(plus(1), [i], []), c.scalar(sum, [t, steps], [])];
      }),
    ];
    const [, result] = b.loop([start, total], [], outer);
    let expected = 0;
    for (let i = 1; i <= 20; i++) for (let x = i; x > 1; x = x % 2 === 1 ? 3 * x + 1 : x / 2) expected++;
    const executable = prepare(b.plan([result]));
    for (let k = 0; k < 2; k++) expect(read(run(executable, [], [4])[0], 1, 'int32')).toEqual([expected]);
  });

  it('put values of a loop on a stack, and take them off in another', () => {
    const b = new Builder();
    const x = b.input([1000]);
    const source = {};
    const stack = b.stack(source);
    const like = [b.fill(0, [], 'int32'), x];
    const down = counting(50, like, (c, _, y) => {
      c.push(y, c.stack(source));
      return [c.scalar(half, [y], [1000])];
    });
    const [, least] = b.loop(like, [], down, { read: [stack], written: [stack] });
    const again = [b.fill(0, [], 'int32'), least];
    const up = counting(49, again, (c, _, y) => [c.scalar(add, [y, c.pop(c.stack(source), [1000])], [1000])]);
    const [, sum] = b.loop(again, [], up, { read: [stack], written: [stack] });
    const executable = prepare(b.plan([sum]));
    const ones = Array.from({ length: 1000 }, (_, i) => i);
    for (let k = 0; k < 3; k++) {
      // The first of them stays on the stack, which is empty again in the next run.
      const found = read(run(executable, [store(backend, f32, ones)], [4000])[0], 1000);
      found.forEach((v, i) => expect(v).toBeCloseTo(i, 4));
    }
  });

  it('write rows of what a loop carries', () => {
    const b = new Builder();
    const rows = b.input([200, 3]);
    const like = [b.fill(0, [], 'int32'), b.fill(0, [200, 3])];
    const bodies = counting(200, [...like, rows], (c, i, out, from) => {
      const row = c.value([3]);
      c.call('Gather', [from, i], [row], { axis: 0, batchDims: 0 });
      const next = c.value([200, 3]);
      c.call('SetRow', [out, i, c.scalar(half, [row], [3])], [next], { mode: 0 });
      return [next];
    });
    const [, out] = b.loop(like, [rows], bodies);
    const values = Array.from({ length: 600 }, (_, i) => i);
    const [found] = run(prepare(b.plan([out])), [store(backend, f32, values)], [2400]);
    expect(read(found, 600)).toEqual(values.map((v) => v / 2));
  });

  it('change states, wherever they are now', () => {
    let variable = store(backend, f32, [1, 2]);
    const source = (): Storage => variable;
    const b = new Builder();
    const v = b.state(source, [2]);
    const i = b.fill(0, [], 'int32');
    const bodies = counting(5, [i], (c) => {
      const inner = c.state(source, [2]);
      c.call(add, [inner, inner], [inner]);
      return [];
    });
    b.loop([i], [], bodies, { read: [v], written: [v] });
    const executable = prepare(b.plan([b.scalar(half, [v], [2])]));
    expect(read(run(executable, [], [8])[0], 2)).toEqual([16, 32]);
    expect(read(variable, 2)).toEqual([32, 64]);
    variable = store(backend, f32, [-1, 0]);
    expect(read(run(executable, [], [8])[0], 2)).toEqual([-16, 0]);
    expect(read(variable, 2)).toEqual([-32, 0]);
  });

  it('run code of the host at every turn, with the values of the turn', () => {
    const seen: (number | bigint)[] = [];
    const b = new Builder();
    const i = b.fill(0, [], 'int32');
    const x = b.input([2]);
    const bodies = counting(4, [i, x], (c, k, y) => {
      const twice = c.scalar(add, [y, y], [2]);
      const made = c.value([2]);
      c.host(
        ([count, value], [out]) => {
          seen.push(...read(count.storage, 1, 'int32'), ...read(value.storage, 2));
          (hostView(out.storage, 'float32', 2) as Float32Array).set([seen.length, 0.25]);
        },
        [k, twice],
        [made],
      );
      c.host(() => seen.push(-1), []);
      return [c.scalar(add, [made, y], [2])];
    });
    const [, result] = b.loop([i, x], [], bodies);
    const executable = prepare(b.plan([result]));
    for (let turn = 0; turn < 2; turn++) {
      seen.length = 0;
      const [y] = run(executable, [store(backend, f32, [1, 2])], [8]);
      const expected: number[] = [];
      let values = [1, 2];
      for (let k = 0; k < 4; k++) {
        expected.push(k, ...values.map((v) => 2 * v));
        values = [values[0] + expected.length, values[1] + 0.25];
        expected.push(-1);
      }
      expect(seen).toEqual(expected);
      expect(read(y, 2)).toEqual(values);
    }
  });

  it('draw at each turn, from a state that advances', () => {
    const stream = store(backend, 'uint64', [2 ** 32 - 2, 5]);
    const source = (): Storage => stream;
    const words = { k0: 0, k1: 0, counter0: 0, counter1: 0 };
    const b = new Builder();
    const like = [b.fill(0, [], 'int32'), b.fill(0, [4])];
    const bodies = counting(3, like, (c, _, sum) => {
      const [state, draw, y] = [c.state(source, [2], 'uint64'), c.value([2], 'uint64'), c.value([4])];
      c.call('NextDraw', [state], [draw, state]);
      c.call('RandomUniform', [draw], [y], { ...words, low: 0, high: 1 });
      return [c.scalar(add, [sum, y], [4])];
    });
    const [, sum] = b.loop(like, [], bodies);
    const executable = prepare(b.plan([sum]));
    for (const from of [2 ** 32 - 2, 2 ** 32 + 1]) {
      const expected = new Float32Array(4);
      for (let i = from; i < from + 3; i++) {
        const [plain, y] = [new Builder(), store(backend, 'float32', [0, 0, 0, 0])];
        const value = plain.value([4]);
        const counter = { counter0: i >>> 0, counter1: Math.floor(i / 2 ** 32) };
        plain.call('RandomUniform', [], [value], { k0: 5, k1: 0, ...counter, low: 0, high: 1 });
        prepare(plain.plan([value])).run([], [y]);
        read(y, 4).forEach((v, k) => {
          expected[k] += v as number;
        });
      }
      expect(read(run(executable, [], [16])[0], 4)).toEqual([...expected]);
    }
    expect(read(stream, 2, 'uint64')).toEqual([BigInt(2 ** 32 + 4), 5n]);
  });

  it('name the call that fails in a body, and leave nothing on stacks', () => {
    const source = {};
    const b = new Builder();
    const divisors = b.input([5], 'int32');
    const stack = b.stack(source);
    const like = [b.fill(0, [], 'int32'), b.fill(100, [], 'int32')];
    const bodies = counting(5, [...like, divisors], (c, i, x, from) => {
      c.push(x, c.stack(source));
      const by = c.value([], 'int32');
      c.call('Gather', [from, i], [by], { axis: 0, batchDims: 0 });
      const y = c.value([], 'int32');
      c.call(divide, [x, by], [y], {}, 'loop/divide');
      return [y];
    });
    b.loop(like, [divisors], bodies, { read: [stack], written: [stack] });
    const executable = prepare(b.plan([b.pop(stack, [], 'int32')]));
    const attempt = (...by: number[]): unknown => {
      try {
        return read(run(executable, [ints(...by)], [4])[0], 1, 'int32');
      } catch (error) {
        return error;
      }
    };
    for (let k = 0; k < 2; k++) {
      const error = attempt(1, 2, 0, 1, 1);
      expect(error).toBeInstanceOf(InvalidArgumentError);
      expect((error as InvalidArgumentError).op).toBe('loop/divide');
      expect(attempt(1, 2, 5, 2, 7)).toEqual([5]);
    }
    // More is taken off than was put there, and more again than a run before left.
    const bad = new Builder();
    const empty = bad.stack(source);
    const first = bad.pop(empty, [], 'int32');
    expect(() => run(prepare(bad.plan([first])), [], [4])).toThrow(/^pop: /);
  });

  it('leave nothing on stacks when code of the host throws', () => {
    const source = {};
    let fails = true;
    const b = new Builder();
    const stack = b.stack(source);
    const x = b.input([]);
    b.push(x, stack);
    b.host(() => {
      if (fails) throw new RangeError('told so');
    }, []);
    const [one, two] = [b.pop(stack, []), b.pop(stack, [])];
    const executable = prepare(b.plan([one, two]));
    expect(() => run(executable, [store(backend, f32, [1])], [4, 4])).toThrow(RangeError);
    fails = false;
    expect(() => run(executable, [store(backend, f32, [2])], [4, 4])).toThrow(/^pop: /);
  });

  it('add up the times of what lies in a call', () => {
    const b = new Builder();
    const like = [b.fill(0, [], 'int32'), b.fill(0, [])];
    const bodies = counting(300, like, (c, _, x) => {
      const y = c.scalar(add, [x, x], []);
      c.host(() => {
        const end = performance.now() + 0.1;
        while (performance.now() < end);
      }, []);
      return [y];
    });
    const [, y] = b.loop(like, [], bodies);
    const executable = prepare(b.plan([b.scalar(half, [y], [])]));
    const times = new Float64Array(5).fill(-1);
    executable.run([], [backend.allocator.allocate(4)], times);
    for (const seconds of times.subarray(0, 4)) {
      expect(seconds).toBeGreaterThanOrEqual(0);
      expect(seconds).toBeLessThan(20);
    }
    expect(times[2]).toBeGreaterThanOrEqual(300 * 0.0001);
    expect(times[4]).toBe(-1);
  });

  it.runIf(name !== 'js')('count to a million', () => {
    const b = new Builder();
    const like = [b.fill(0, [], 'int32'), b.fill(0, [])];
    const turns = name === 'native' ? 1_000_000 : 10_000;
    const bodies = counting(turns, like, (c, i, x) => [
      c.scalar(add, [c.scalar(toFloat, [i], [], f32), x], []),
    ]);
    const [n] = b.loop(like, [], bodies);
    expect(read(run(prepare(b.plan([n])), [], [4])[0], 1, 'int32')).toEqual([turns]);
  });
});
