import {
  type Backend,
  buildScalarProgram,
  type Executable,
  hostView,
  InternalError,
  InvalidArgumentError,
  OutOfRangeError,
  type Plan,
  type PlanTensor,
  type Storage,
  useInterpreter,
} from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import { describe, expect, it } from 'vitest';
import { nativeBackend } from './index.ts';
import { control, errorCodes, loadAddon } from './load.ts';
import { Builder, look, planBackends, read, sizeOf, store } from './testing/plans.ts';

const ramp = (n: number, scale = 0.1): number[] =>
  Array.from({ length: n }, (_, i) => ((i * 7) % 23) * scale - 1);

const f32 = 'float32';
const add = buildScalarProgram([f32, f32], (s, x, y) => s.add(x, y));
const fused = buildScalarProgram([f32, f32, f32], (s, x, y, z) => s.mul(s.tanh(s.add(x, y)), z));
const both = buildScalarProgram([f32, f32], (s, x, y) => [s.add(x, y), s.sub(x, y)]);
const divide = buildScalarProgram(['int32', 'int32'], (s, x, y) => s.div(x, y));
const scale = buildScalarProgram([f32], (s, x) => s.mul(x, 2));

describe.each(planBackends(jsBackend))('plans on %s', (_, backend, prepare) => {
  const run = (executable: Executable, inputs: readonly Storage[], bytes: readonly number[]): Storage[] => {
    const outputs = bytes.map((n) => backend.allocator.allocate(n));
    executable.run(inputs, outputs);
    return outputs;
  };

  it('compute products, broadcasts, reductions and views of one value', () => {
    const b = new Builder();
    const x = b.input([6, 8]);
    const w = b.state(() => weights, [8, 10]);
    const bias = b.state(() => offsets, [10]);
    const weights = store(backend, f32, ramp(80));
    const offsets = store(backend, f32, ramp(10));
    const h = b.value([6, 10]);
    b.call('MatMul', [x, w], [h], { transposeA: false, transposeB: false, activation: 0 });
    const a = b.scalar(fused, [h, bias, look(h, [6, 10])], [6, 10]);
    // Another look at the same value, whose life it prolongs.
    const flat = look(a, [2, 30]);
    const [plus, minus] = [b.value([2, 30]), b.value([2, 30])];
    b.call(both, [flat, look(h, [2, 30])], [plus, minus]);
    const rows = b.value([2]);
    b.call('Sum', [plus], [rows], { axes: [1] });
    const total = b.value([]);
    b.call('Mean', [minus], [total], { axes: [0, 1] });
    const result = b.scalar(add, [look(rows, [2, 1]), total], [2, 1]);
    const executable = prepare(b.plan([result, total]));
    expect(executable.arenaBytes).toBeLessThan(b.bytes.reduce((p, q) => p + q));

    const xs = ramp(48);
    const outputs = run(executable, [store(backend, f32, xs)], [8, 4]);
    const hs = Array.from({ length: 60 }, (_, i) => {
      let sum = 0;
      for (let k = 0; k < 8; k++) sum += xs[Math.floor(i / 10) * 8 + k] * ramp(80)[k * 10 + (i % 10)];
      return sum;
    });
    const as = hs.map((v, i) => Math.tanh(v + ramp(10)[i % 10]) * v);
    const mean = as.reduce((sum, v, i) => sum + v - hs[i], 0) / 60;
    const sums = [0, 1].map((r) => as.reduce((sum, v, i) => sum + (i < 30 === (r === 0) ? v + hs[i] : 0), 0));
    expect(read(outputs[1], 1)[0]).toBeCloseTo(mean, 4);
    read(outputs[0], 2).forEach((v, r) => expect(v).toBeCloseTo(sums[r] + mean, 4));
    executable.dispose();
  });

  it('read and write memory that changes from run to run', () => {
    const b = new Builder();
    const [x, y] = [b.input([3]), b.input([])];
    const sum = b.scalar(add, [x, y], [3]);
    const wide = b.scalar(scale, [sum], [3]);
    const copy = b.value([3]);
    b.call('Copy', [wide], [copy]);
    const executable = prepare(b.plan([copy, sum]));
    const kept: Storage[] = [];
    for (let i = 0; i < 20; i++) {
      const inputs = [store(backend, f32, [1, 2, i]), store(backend, f32, [i])];
      if (i % 3 === 0) kept.push(...inputs);
      const [twice, once] = run(executable, inputs, [12, 12]);
      expect(read(once, 3)).toEqual([1 + i, 2 + i, 2 * i]);
      expect(read(twice, 3)).toEqual([2 + 2 * i, 4 + 2 * i, 4 * i]);
    }
  });

  it('update states in place, wherever they are now', () => {
    let variable = store(backend, f32, [1, 2, 3]);
    const slot = store(backend, f32, [0, 0, 0]);
    const step = store(backend, 'int64', [0]);
    const b = new Builder();
    const grad = b.input([3]);
    const v = b.state(() => variable, [3]);
    const m = b.state(() => slot, [3]);
    const counter = b.state(() => step, [], 'int64');
    b.call(
      buildScalarProgram(['int64'], (s, x) => s.add(x, 1)),
      [counter],
      [counter],
    );
    const lr = b.value([], 'float64');
    b.call('Fill', [], [lr], { value: 0.5 });
    b.call('ApplyMomentum', [v, m, grad, lr], [v, m], {
      count: 1,
      momentum: 0.5,
      nesterov: false,
    });
    const seen = b.scalar(scale, [v], [3]);
    const executable = prepare(b.plan([seen]));
    expect(executable.arenaBytes).toBe(64);
    const ones = store(backend, f32, [1, 1, 1]);
    expect(read(run(executable, [ones], [12])[0], 3)).toEqual([1, 3, 5]);
    expect(read(variable, 3)).toEqual([0.5, 1.5, 2.5]);
    expect(read(slot, 3)).toEqual([-0.5, -0.5, -0.5]);
    const old = variable;
    variable = store(backend, f32, [10, 20, 30]);
    run(executable, [ones], [12]);
    expect(read(variable, 3)).toEqual([9.25, 19.25, 29.25]);
    expect(read(old, 3)).toEqual([0.5, 1.5, 2.5]);
    expect(read(step, 1, 'int64')).toEqual([2n]);
  });

  it('name the call that fails, and run again afterwards', () => {
    const b = new Builder();
    const [x, y] = [b.input([4], 'int32'), b.input([4], 'int32')];
    const table = b.input([3, 2]);
    const quotient = b.value([4], 'int32');
    b.call(divide, [x, y], [quotient], {}, 'model/divide');
    const rows = b.value([4, 2]);
    b.call('Gather', [table, quotient], [rows], { axis: 0, batchDims: 0 }, 'model/lookup');
    const executable = prepare(b.plan([rows]));
    const ints = (...values: number[]): Storage => store(backend, 'int32', values);
    const rest = store(backend, f32, [0, 1, 2, 3, 4, 5]);
    const attempt = (divisor: Storage): unknown => {
      try {
        run(executable, [ints(0, 2, 4, 2), divisor, rest], [32]);
        return undefined;
      } catch (error) {
        return error;
      }
    };
    for (let i = 0; i < 2; i++) {
      const zero = attempt(ints(1, 1, 0, 1));
      expect(zero).toBeInstanceOf(InvalidArgumentError);
      expect((zero as InvalidArgumentError).op).toBe('model/divide');
      expect((zero as InvalidArgumentError).message).toMatch(/^model\/divide: .*zero/);
      const range = attempt(ints(2, 2, 1, 2));
      expect(range).toBeInstanceOf(OutOfRangeError);
      expect((range as OutOfRangeError).op).toBe('model/lookup');
      expect((range as OutOfRangeError).message).toMatch(/^model\/lookup: (?!.*: )/);
      expect(read(run(executable, [ints(0, 2, 4, 2), ints(2, 2, 2, 2), rest], [32])[0], 8)).toEqual([
        0, 1, 2, 3, 4, 5, 2, 3,
      ]);
    }
  });

  it('say how long each call took', () => {
    const b = new Builder();
    const x = b.input([64, 64]);
    const y = b.value([64, 64]);
    b.call('MatMul', [x, x], [y], { transposeA: false, transposeB: false, activation: 0 });
    const z = b.scalar(scale, [y], [64, 64]);
    const executable = prepare(b.plan([z]));
    const times = new Float64Array(3).fill(-1);
    const input = store(backend, f32, ramp(4096));
    executable.run([input], [backend.allocator.allocate(4096 * 4)], times);
    expect(times[0]).toBeGreaterThan(0);
    expect(times[1]).toBeGreaterThanOrEqual(0);
    expect(times[0] + times[1]).toBeLessThan(10);
    expect(times[2]).toBe(-1);
    expect(() => executable.run([input], [input], new Float64Array(1))).toThrow(InternalError);
  });

  it('refuse what does not fit, runs within runs, and any after disposal', () => {
    let inner: (() => void) | undefined;
    const b = new Builder();
    const x = b.input([4]);
    const y = b.value([4]);
    b.host(
      (_, [to]) => {
        inner?.();
        (hostView(to.storage, 'float32', 4) as Float32Array).fill(3);
      },
      [],
      [y],
    );
    const z = b.scalar(add, [x, y], [4]);
    const executable = prepare(b.plan([z]));
    const input = store(backend, f32, [1, 2, 3, 4]);
    const output = backend.allocator.allocate(16);
    expect(() => executable.run([], [output])).toThrow(/0 inputs for a plan of 1/);
    expect(() => executable.run([input], [])).toThrow(/0 outputs for a plan of 1/);
    inner = () => executable.run([input], [output]);
    expect(() => executable.run([input], [output])).toThrow(/run while it runs/);
    inner = () => executable.dispose();
    expect(() => executable.run([input], [output])).toThrow(/disposed while it runs/);
    inner = undefined;
    executable.run([input], [output]);
    expect(read(output, 4)).toEqual([4, 5, 6, 7]);
    executable.dispose();
    executable.dispose();
    expect(() => executable.run([input], [output])).toThrow(/after it had been disposed/);

    const large = new Builder();
    const wide = large.input([100]);
    const plan = large.plan([large.scalar(scale, [wide], [100])]);
    expect(() => prepare(plan).run([input], [output])).toThrow(/bytes for input 0 of 400 bytes/);
    const wrong = { ...plan, calls: [{ ...plan.calls[0], inputs: [] }] };
    expect(() => prepare(wrong)).toThrow(/^call 0: 0 inputs/);
  });

  it('run with nothing in them, and on empty tensors', () => {
    prepare(new Builder().plan([])).run([], []);
    const b = new Builder();
    const x = b.input([0, 3]);
    const y = b.scalar(scale, [x], [0, 3]);
    const z = b.scalar(add, [y, look(y, [0, 1])], [0, 3]);
    const sum = b.value([]);
    b.call('Sum', [z], [sum], { axes: [0, 1] });
    expect(read(run(prepare(b.plan([sum])), [backend.allocator.allocate(0)], [4])[0], 1)).toEqual([0]);
  });
});

/** Calls chosen by the seed, on values of a few shapes that broadcast to one another. */
function randomPlan(backend: Backend, seed: number): { plan: Plan; inputs: Storage[]; states: Storage[] } {
  let state = seed * 2654435761;
  const below = (n: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  const b = new Builder();
  const shapes = [[], [5], [4, 5], [4, 1], [300, 4, 5], [20]];
  const inputs = shapes.map((shape) => store(backend, f32, ramp(sizeOf(shape))));
  const states = [store(backend, f32, ramp(20)), store(backend, f32, ramp(6000))];
  const values = shapes.map((shape) => b.input(shape));
  const held = [b.state(() => states[0], [4, 5]), b.state(() => states[1], [300, 4, 5])];
  values.push(...held);
  const fits = (x: PlanTensor, y: PlanTensor): boolean => {
    const skip = y.shape.length - x.shape.length;
    return skip >= 0 && x.shape.every((dim, axis) => dim === 1 || dim === y.shape[skip + axis]);
  };
  for (let i = 0; i < 30; i++) {
    const x = values[Math.max(0, values.length - 1 - below(8))];
    const others = values.filter((value) => fits(value, x));
    const y = others[below(others.length)];
    const choice = below(8);
    const made = b.value(x.shape);
    if (choice < 3) b.call(fused, [x, y, x], [made]);
    else if (choice === 3) {
      values.push(b.value(x.shape));
      b.call(both, [y, x], [made, values[values.length - 1]]);
    } else if (choice === 4) b.call('Copy', [x], [made]);
    else if (choice === 5 && x.size === 20) {
      b.call('Copy', [x], [made]);
      values.push(look(made, [20]), look(made, [4, 5]));
      continue;
    } else if (choice === 6) {
      const target = held[below(2)];
      const shape = fits(x, target) ? x : target;
      b.call(fused, [target, shape, shape], [target]);
      b.call(scale, [x], [made]);
    } else b.call(fused, [y, x, y], [made]);
    values.push(made);
  }
  const output = values.findLast(({ value }) => value >= shapes.length + held.length);
  return { plan: b.plan(output === undefined ? [] : [output]), inputs, states };
}

describe.runIf(nativeBackend !== undefined)('native plans', () => {
  it('agree with the reference', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const results = [jsBackend, nativeBackend!].map((backend) => {
        const { plan, inputs, states } = randomPlan(backend, seed);
        const size = plan.bytes[plan.outputs[0]] / 4;
        useInterpreter();
        const executable = backend.prepare(plan);
        return [1, 2].map(() => {
          const output = backend.allocator.allocate(size * 4);
          executable.run(inputs, [output]);
          return [...read(output, size), ...read(states[0], 20), ...read(states[1], 6000)].map(Number);
        });
      });
      results[0].forEach((expected, i) => {
        const found = results[1][i];
        expect(found.length).toBe(expected.length);
        const off = expected.findIndex((v, k) => Math.abs(v - found[k]) > 1e-4 * (1 + Math.abs(v)));
        expect(off, `seed ${seed}, run ${i}: ${expected[off]} and ${found[off]}`).toBe(-1);
      });
    }
  });

  it('give their memory back when they are merely dropped', () => {
    const b = new Builder();
    const x = b.input([1 << 18]);
    const y = b.value([1 << 18]);
    b.call('Copy', [x], [y]);
    const plan = b.plan([b.scalar(scale, [y], [1 << 18])]);
    const { allocator } = nativeBackend!;
    const before = allocator.info().bytesTaken;
    // A megabyte each. How many a collection finds depends on which of them V8 has moved to its old objects by then.
    for (let i = 0; i < 600; i++) nativeBackend!.prepare(plan);
    expect(allocator.info().bytesTaken - before).toBeLessThan(200 << 20);
  });

  it('give back their scalar programs, but not those that somebody else uses', () => {
    const { addon } = loadAddon();
    if (addon === undefined) throw new Error('no addon');
    const times = (factor: number) => buildScalarProgram([f32], (s, x) => s.mul(x, factor));
    const prepare = (factor: number) => {
      const b = new Builder();
      return nativeBackend!.prepare(b.plan([b.scalar(times(factor), [b.input([2])], [2])]));
    };
    // Programs of which there are no others have numbers that were free.
    const numberOf = (code: number) =>
      addon.compileProgram(Float64Array.of(1, 0, 1, 0, 0, -1, -1, -1, code, 1, 1));
    const before = numberOf(8191);
    for (let i = 0; i < 300; i++) prepare(4096 + i).dispose();
    expect(numberOf(8192)).toBeLessThan(before + 20);

    const triple = nativeBackend!.elementwise(times(3.125));
    prepare(3.125).dispose();
    const [x, y] = [store(nativeBackend!, f32, [1, 2]), nativeBackend!.allocator.allocate(8)];
    const ref = (storage: Storage) => ({ storage, dtype: f32, shape: [2], size: 2 }) as const;
    triple([ref(x)], [ref(y)], {});
    expect(read(y, 2)).toEqual([3.125, 6.25]);
  });

  it('are refused by the addon where they are malformed, dropped, or something else', () => {
    const { addon } = loadAddon();
    if (addon === undefined) throw new Error('no addon');
    const fill = addon.kernels.indexOf('Fill');
    const { length } = addon.kernels;
    const owner = {};
    for (const block of [[fill], [-6, 0, 0], [length, 0, 0], [Number.NaN, 0, 0], [fill, 0, 1], [fill, 0, -1]])
      expect(() => addon.preparePlan(owner, { numbers: Float64Array.from(block) })).toThrow(
        /step 0 of a plan/,
      );
    expect(() => addon.preparePlan(owner, { numbers: Float64Array.of(control.jump, 0, 1, 2) })).toThrow(
      /goes to 2 of 1/,
    );
    for (const block of [undefined, {}, new Float32Array(2)])
      expect(() => addon.preparePlan(owner, { numbers: block as Float64Array })).toThrow(
        /a plan is a Float64Array/,
      );
    for (const other of [undefined, 1, 'owner'])
      expect(() => addon.preparePlan(other as unknown as object, { numbers: new Float64Array(0) })).toThrow(
        /is an object/,
      );
    const internal = errorCodes.lastIndexOf('INTERNAL');
    const plan = addon.preparePlan(owner, { numbers: Float64Array.of(fill, 0, 2, 0, 1) });
    expect(addon.runPlan(plan, undefined, 0)).toBe(internal);
    expect(addon.lastError()).toMatch(/too short/);
    expect(addon.runPlan(plan, new Float64Array(0), 0)).toBe(internal);
    expect(addon.runPlan(plan, new Float32Array(1) as unknown as Float64Array, 0)).toBe(internal);
    expect(addon.lastError()).toMatch(/no room for the times of 1 calls/);
    addon.dropPlan(plan);
    addon.dropPlan(plan);
    for (const other of [plan, undefined, null, 1e6, -1, {}, addon]) {
      expect(addon.runPlan(other as number, undefined, 0)).toBe(internal);
      expect(addon.lastError()).toBe('no plan');
    }
  });
});
