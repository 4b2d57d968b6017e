import '@eagre/backend-js';
import { GradientTape } from '@eagre/autodiff';
import { constant, less, print, random, type Tensor, Variable } from '@eagre/core';
import { describe, expect, test, vi } from 'vitest';
import { tfFunction } from '../function/function.ts';
import { tracedCase } from './case.ts';
import { tracedWhile } from './while.ts';

const values = (x: Tensor): number[] => Array.from(x.data() as Float32Array);
const cond = (p: Tensor, a: () => Tensor, b: () => Tensor): Tensor =>
  tracedCase('If', p, [() => [a()], () => [b()]])[0] as Tensor;

describe('branches', () => {
  test('take what is outside of them, and one runs', () => {
    const w = new Variable(3);
    const f = tfFunction((x: Tensor) => {
      const y = x.mul(2);
      return cond(
        x.greater(0),
        () => y.mul(w),
        () => y.sub(w).square(),
      );
    });
    expect(f(constant(1)).item()).toBe(6);
    expect(f(constant(-1)).item()).toBe(25);
    w.assign(5);
    expect(f(constant(1)).item()).toBe(10);
  });

  test('by number, the last where it is out of range', () => {
    const f = tfFunction(
      (i: Tensor, x: Tensor) =>
        tracedCase('Case', i, [() => [x], () => [x.mul(2)], () => [x.mul(3)]])[0] as Tensor,
    );
    expect([0, 1, 2, 3, -1].map((i) => f(constant(i, 'int32'), constant(7)).item())).toEqual([
      7, 14, 21, 21, 21,
    ]);
  });

  test('change variables and call the host', () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    const v = new Variable([1, 2]);
    const f = tfFunction((x: Tensor) => {
      const old = v.read();
      cond(
        x.greater(0),
        () => {
          v.assignAdd([10, 10]);
          print('up', v);
          return x;
        },
        () => {
          print('same');
          return x;
        },
      );
      return old.add(v);
    });
    expect(values(f(constant(1)))).toEqual([12, 14]);
    expect(values(v.read())).toEqual([11, 12]);
    expect(values(f(constant(-1)))).toEqual([22, 24]);
    expect(log.mock.calls.length).toBe(2);
    log.mockRestore();
  });

  test('have gradients, of second order too', () => {
    const w = new Variable(3);
    const f = tfFunction((x: Tensor) => {
      const outer = new GradientTape();
      outer.watch(x);
      const tape = new GradientTape({ persistent: true });
      tape.watch(x);
      const y = cond(
        x.greater(0),
        () => x.mul(x).mul(w),
        () => x.exp(),
      );
      const [dx, dw] = tape.gradient(y, [x, w]) as [Tensor, Tensor];
      const second = outer.gradient(dx, x) as Tensor;
      return [dx, dw, second];
    });
    expect(f(constant(2)).map((t) => t.item())).toEqual([12, 4, 6]);
    const [dx, dw, second] = f(constant(-1)).map((t) => t.item()) as [number, number, number];
    expect(dx).toBeCloseTo(Math.exp(-1));
    expect(dw).toBe(0);
    expect(second).toBeCloseTo(Math.exp(-1));
  });
});

test('a variable may be assigned to and never read', () => {
  const v = new Variable(3);
  const f = tfFunction((x: Tensor) => {
    v.assign(7);
    return x;
  });
  expect(f(constant(1)).item()).toBe(1);
  expect(v.item()).toBe(7);
});

describe('loops', () => {
  test('carry variables of the loop and of the model', () => {
    const total = new Variable(0);
    const f = tfFunction((n: Tensor) =>
      tracedWhile(
        ([i]) => less(i as Tensor, n),
        ([i, a, b]) => {
          total.assignAdd(1);
          return [(i as Tensor).add(1), b as Tensor, (a as Tensor).add(b as Tensor)];
        },
        [constant(0, 'int32'), constant(0), constant(1)],
      ),
    );
    expect(f(constant(10, 'int32')).map((t) => t.item())).toEqual([10, 55, 89]);
    expect(total.item()).toBe(10);
    expect(f(constant(0, 'int32')).map((t) => t.item())).toEqual([0, 0, 1]);
    expect(total.item()).toBe(10);
  });

  const power = (x: Tensor, w: Tensor | Variable, n: Tensor): Tensor =>
    tracedWhile(
      ([i]) => less(i as Tensor, n),
      ([i, y]) => [(i as Tensor).add(1), (y as Tensor).mul(w).add((y as Tensor).sin())],
      [constant(0, 'int32'), x],
    )[1] as Tensor;
  const powerEagerly = (x: Tensor, w: Tensor | Variable, n: number): Tensor => {
    let y = x;
    for (let i = 0; i < n; i++) y = y.mul(w).add(y.sin());
    return y;
  };

  test('have gradients of every order, whatever the number of turns', () => {
    const w = new Variable(0.7);
    const grads = (x: Tensor, loop: (x: Tensor, w: Variable) => Tensor): Tensor[] => {
      const third = new GradientTape();
      third.watch(x);
      const second = new GradientTape({ persistent: true });
      second.watch(x);
      const first = new GradientTape({ persistent: true });
      first.watch(x);
      const y = loop(x, w);
      const [dx, dw] = first.gradient(y, [x, w]) as [Tensor, Tensor];
      const [dxx, dxw] = second.gradient(dx, [x, w], { unconnectedGradients: 'zero' }) as [Tensor, Tensor];
      const dxxx = third.gradient(dxx, x, { unconnectedGradients: 'zero' }) as Tensor;
      for (const tape of [first, second]) tape.dispose();
      return [y, dx, dw, dxx, dxw, dxxx];
    };
    const f = tfFunction((x: Tensor, n: Tensor) => grads(x, (a, b) => power(a, b, n)));
    for (const n of [3, 1, 0, 6]) {
      const expected = grads(constant(0.3), (a, b) => powerEagerly(a, b, n)).map((t) => t?.item() ?? 0);
      const got = f(constant(0.3), constant(n, 'int32')).map((t) => t.item());
      got.forEach((v, i) => {
        expect(v).toBeCloseTo(expected[i] as number, 4);
      });
    }
    expect(f.experimentalGetTracingCount()).toBe(1);
  });

  test('in loops, in branches', () => {
    const f = tfFunction((x: Tensor) => {
      const tape = new GradientTape();
      tape.watch(x);
      const y = cond(
        x.greater(0),
        () =>
          tracedWhile(
            ([i]) => less(i as Tensor, 3),
            ([i, y]) => [(i as Tensor).add(1), power(y as Tensor, x, (i as Tensor).cast('int32'))],
            [constant(0), x],
          )[1] as Tensor,
        () => x,
      );
      return [y, tape.gradient(y, x) as Tensor];
    });
    const x = constant(0.4);
    const tape = new GradientTape();
    tape.watch(x);
    let y = x;
    for (let i = 0; i < 3; i++) y = powerEagerly(y, x, i);
    const dx = tape.gradient(y, x) as Tensor;
    const [got, grad] = f(x) as [Tensor, Tensor];
    expect(got.item()).toBeCloseTo(y.item());
    expect(grad.item()).toBeCloseTo(dx.item());
    expect(f(constant(-1)).map((t) => t.item())).toEqual([-1, 1]);
  });

  test('draw random numbers as eager loops do, and once, with a gradient', () => {
    const step = (y: Tensor): Tensor => y.mul(random.uniform([3], { minval: 1, maxval: 2 }));
    const f = tfFunction((x: Tensor) => {
      const tape = new GradientTape();
      tape.watch(x);
      const y = tracedWhile(
        ([i]) => less(i as Tensor, 4),
        ([i, y]) => [(i as Tensor).add(1), step(y as Tensor)],
        [constant(0), x],
      )[1] as Tensor;
      return [y, tape.gradient(y, x) as Tensor, random.uniform([2])];
    });
    const x = constant([1, 2, 3]);
    for (const seed of [1, 2]) {
      random.setSeed(seed);
      const [y, dx, after] = f(x) as [Tensor, Tensor, Tensor];
      random.setSeed(seed);
      let eager = x;
      for (let i = 0; i < 4; i++) eager = step(eager);
      expect(values(y)).toEqual(values(eager));
      expect(values(after)).toEqual(values(random.uniform([2])));
      values(dx).forEach((v, i) => {
        expect(v).toBeCloseTo((values(eager)[i] as number) / (i + 1), 4);
      });
    }
  });

  test('are seen by a tape outside of the function, and by functions around it', () => {
    const w = new Variable(0.7);
    const f = tfFunction((x: Tensor, n: Tensor) => power(x, w, n));
    const outer = tfFunction((x: Tensor) => {
      const tape = new GradientTape();
      tape.watch(x);
      const y = f(x, constant(3, 'int32'));
      return tape.gradient(y, [x, w]) as Tensor[];
    });
    const x = constant(0.3);
    const tape = new GradientTape();
    tape.watch(x);
    const expected = tape.gradient(powerEagerly(x, w, 3), [x, w]).map((t) => t?.item() as number);
    const outside = new GradientTape();
    outside.watch(x);
    const got = outside.gradient(f(x, constant(3, 'int32')), [x, w]).map((t) => t?.item());
    got.forEach((v, i) => {
      expect(v).toBeCloseTo(expected[i] as number, 5);
    });
    outer(x).forEach((t, i) => {
      expect(t.item()).toBeCloseTo(expected[i] as number, 5);
    });
  });
});

describe('assignments cut gradients off', () => {
  const eager = (v: Variable, code: (x: Tensor) => Tensor): (number | undefined)[] => {
    const x = constant(0.5);
    v.assign(2);
    const tape = new GradientTape();
    tape.watch(x);
    return tape.gradient(code(x), [x, v]).map((t) => t?.item());
  };
  const traced = (v: Variable, code: (x: Tensor) => Tensor): (number | undefined)[] => {
    v.assign(2);
    const f = tfFunction((x: Tensor) => {
      const tape = new GradientTape();
      tape.watch(x);
      return tape.gradient(code(x), [x, v]);
    });
    return f(constant(0.5)).map((t) => t?.item());
  };

  test('in straight code, in branches and in loops, and what is read later counts for the variable', () => {
    const v = new Variable(2);
    const turn = (x: Tensor): Tensor => {
      const before = x.mul(v);
      v.assign(x.tanh());
      return before.add(x.mul(v).mul(v));
    };
    expect(traced(v, turn)).toEqual(eager(v, turn));
    const branch = (x: Tensor): Tensor =>
      cond(
        x.greater(0),
        () => turn(x),
        () => x,
      );
    expect(traced(v, branch)).toEqual(eager(v, turn));
    const loop = (x: Tensor): Tensor =>
      tracedWhile(
        ([i]) => less(i as Tensor, 3),
        ([i, y]) => [(i as Tensor).add(1), turn(y as Tensor)],
        [constant(0), x],
      )[1] as Tensor;
    const nested = (x: Tensor): Tensor =>
      cond(
        x.greater(-1),
        () => branch(x),
        () => x,
      );
    expect(traced(v, nested)).toEqual(eager(v, turn));
    const expected = eager(v, (x) => turn(turn(turn(x))));
    traced(v, loop).forEach((g, i) => {
      expect(g).toBeCloseTo(expected[i] as number, 5);
    });
    const slope = (code: (x: Tensor) => Tensor): ((x: Tensor) => Tensor) => {
      return (x) => {
        const tape = new GradientTape();
        tape.watch(x);
        const [dx, dv] = tape.gradient(code(x), [x, v], { unconnectedGradients: 'zero' }) as [Tensor, Tensor];
        return dx.add(dv.mul(2));
      };
    };
    const second = eager(
      v,
      slope((x) => turn(turn(turn(x)))),
    );
    traced(v, slope(loop)).forEach((g, i) => {
      expect(g).toBeCloseTo(second[i] as number, 4);
    });
    const f = tfFunction(loop);
    eager(v, f).forEach((g, i) => {
      expect(g).toBeCloseTo(expected[i] as number, 5);
    });
  });
});
