import { afterEach, describe, expect, it, vi } from 'vitest';
import { hostView, sameBytes } from '../buffer/storage.ts';
import {
  buildScalarProgram,
  CancelledError,
  type Executable,
  InternalError,
  InvalidArgumentError,
  OutOfRangeError,
  type Plan,
  type PlanTensor,
  type Storage,
} from '../index.ts';
import { PlanWriter } from '../testing/plans.ts';
import { read, store, toyBackend } from '../testing/toy-backend.ts';

const f32 = 'float32';
const add = buildScalarProgram([f32, f32], (s, x, y) => s.add(x, y));
const mul = buildScalarProgram([f32, f32], (s, x, y) => s.mul(x, y));
const less = buildScalarProgram([f32, f32], (s, x, y) => s.lt(x, y));
const odd = buildScalarProgram([f32], (s, x) => s.eq(s.mod(x, 2), 1));
const next = buildScalarProgram([f32], (s, x) => s.add(x, 1));
const divide = buildScalarProgram([f32, f32], (s, x, y) => s.div(x, y));
const toInt = buildScalarProgram([f32], (s, x) => s.cast(x, 'int32'));

type Write = (w: PlanWriter, ...inputs: PlanTensor[]) => readonly PlanTensor[];

/** A plan of scalar inputs. */
function planOf(inputs: number, write: Write): Plan {
  const w = new PlanWriter();
  return w.plan(write(w, ...Array.from({ length: inputs }, () => w.input())));
}

/** Whether the first of some inputs is less than the last. */
const below = (inputs: number): Plan =>
  planOf(inputs, (w, ...x) => [w.make(less, [x[0], x[inputs - 1]], { dtype: 'bool' })]);

/** Runs `turn` while its first input, which it is given back with one added, is less than `limit`. */
function count(
  w: PlanWriter,
  limit: PlanTensor,
  carried: readonly PlanTensor[],
  turn: Write,
  from = 0,
): PlanTensor[] {
  const body = planOf(carried.length + 2, (b, i, ...rest) => [b.make(next, [i]), ...turn(b, i, ...rest)]);
  return w.loop([w.fill(from), ...carried], [limit], below(carried.length + 2), body).slice(1);
}

function run(executable: Executable, inputs: readonly number[], outputs: number): number[] {
  const results = Array.from({ length: outputs }, () => store([Number.NaN]));
  executable.run(
    inputs.map((x) => store([x])),
    results,
  );
  return results.map((storage) => read(storage)[0]);
}

/** Keeps the thread for so many milliseconds. */
function spin(milliseconds: number): void {
  for (const end = performance.now() + milliseconds; performance.now() < end; );
}

const prepare = (plan: Plan): Executable => toyBackend.prepare(plan);

describe('loops', () => {
  it('carry values that change places', () => {
    const swap: Write = (b, _, x, y) => [b.make('Copy', [y]), b.make('Copy', [x])];
    const swaps = prepare(planOf(3, (w, n, x, y) => count(w, n, [x, y], swap)));
    for (const n of [0, 1, 2, 5]) expect(run(swaps, [n, 10, 20], 2)).toEqual(n % 2 ? [20, 10] : [10, 20]);

    const both = buildScalarProgram([f32, f32], (s, x, y) => [y, s.add(x, y)]);
    const fibonacci = prepare(
      planOf(1, (w, n) => {
        const [x] = count(w, n, [w.fill(0), w.fill(1)], (b, _, x, y) => {
          const results = [b.value(), b.value()];
          b.call(both, [x, y], results);
          return results;
        });
        return [x];
      }),
    );
    expect([0, 1, 2, 3, 10, 30].map((n) => run(fibonacci, [n], 1)[0])).toEqual([0, 1, 1, 2, 55, 832040]);
    expect(fibonacci.arenaBytes).toBeLessThanOrEqual(5 * 64);
  });

  it('may lie in branches in loops', () => {
    // Σ over i < n: if i is odd, Σ over j < i of j · k; otherwise k.
    const nested = prepare(
      planOf(2, (w, n, k) =>
        count(w, n, [w.fill(0), w.make('Copy', [k])], (b, i, sum, factor) => {
          const inner = planOf(2, (c, m, f) =>
            count(c, m, [c.fill(0)], (d, j, s) => {
              const product = d.make(mul, [j, d.fill(1)]);
              return [d.make(add, [product, s])];
            }).map((t) => c.make(mul, [t, f])),
          );
          const same = planOf(2, (c, _, f) => [c.make('Copy', [f])]);
          const [term] = b.branch(b.make(odd, [i], { dtype: 'bool' }), [i, factor], [inner, same], [sum]);
          return [b.make(add, [term, sum]), b.make('Copy', [factor])];
        }).slice(0, 1),
      ),
    );
    const expected = (n: number, k: number): number => {
      let sum = 0;
      for (let i = 0; i < n; i++) sum += i % 2 === 1 ? (k * i * (i - 1)) / 2 : k;
      return sum;
    };
    for (const n of [0, 1, 2, 9, 20]) expect(run(nested, [n, 3], 1)).toEqual([expected(n, 3)]);
  });

  it('set rows in place', () => {
    const w = new PlanWriter();
    const n = w.input();
    const x = w.fill(-1, [100, 10]);
    const body = new PlanWriter();
    const [i, y, limit] = [body.input(), body.input([100, 10]), body.input()];
    const row = body.make(add, [body.fill(0, [10]), i]);
    const set = body.make('SetRow', [y, body.make(toInt, [i], { dtype: 'int32' }), row], {}, { mode: 0 });
    body.make(add, [i, limit]);
    const turn = body.plan([body.make(next, [i]), set]);
    const condition = new PlanWriter();
    const [j, , end] = [condition.input(), condition.input([100, 10]), condition.input()];
    const holds = condition.plan([condition.make(less, [j, end], { dtype: 'bool' })]);
    const result = w.loop([w.fill(0), x], [n], holds, turn);
    const executable = prepare(w.plan([w.make(add, [result[1], w.fill(0.5)])]));
    expect(executable.arenaBytes).toBeLessThan(5000);
    const output = toyBackend.allocator.allocate(4000);
    executable.run([store([40])], [output]);
    const rows = Array.from({ length: 1000 }, (_, k) => (k < 400 ? Math.floor(k / 10) : -1) + 0.5);
    expect(read(output, 1000)).toEqual(rows);
    expect(() => executable.run([store([101])], [output])).toThrow(OutOfRangeError);
  });

  it('read and write the states around them', () => {
    const variable = {};
    let memory = store([1]);
    const turn = planOf(3, (b, i, before) => {
      const v = b.state(variable, () => memory);
      b.call(add, [v, i], [v]);
      return [b.make(next, [i]), b.make(add, [before, v])];
    });
    const w = new PlanWriter();
    const n = w.input();
    const v = w.state(variable, () => memory);
    const [, seen] = w.loop([w.fill(0), v], [n], below(3), turn);
    const executable = prepare(w.plan([seen, w.make(next, [v])]));
    expect(run(executable, [4], 2)).toEqual([1 + 1 + 2 + 4 + 7, 8]);
    expect(read(memory)).toEqual([7]);
    memory = store([10]);
    expect(run(executable, [0], 2)).toEqual([10, 11]);
    // A body is given the state's value before it writes.
    const branch = new PlanWriter();
    const s = branch.state(variable, () => memory);
    const writes = planOf(1, (b, x) => {
      const inner = b.state(variable, () => memory);
      b.call(add, [inner, x], [inner]);
      return [b.make(add, [inner, x])];
    });
    const [y] = branch.branch(branch.fill(1, [], 'bool'), [s], [writes, writes], [s]);
    expect(run(prepare(branch.plan([y])), [], 1)).toEqual([30]);
    expect(read(memory)).toEqual([20]);
  });
});

it('select by number, and take the last body for what is out of range', () => {
  const executable = prepare(
    planOf(1, (w, x) => {
      const bodies = [0, 1, 2].map((i) => planOf(0, (b) => [b.fill(i * 10)]));
      return w.branch(w.make(toInt, [x], { dtype: 'int32' }), [], bodies, [x]);
    }),
  );
  expect([0, 1, 2, 3, -1].map((i) => run(executable, [i], 1)[0])).toEqual([0, 10, 20, 20, 20]);
});

it('code of the host runs among the turns of a loop', () => {
  const seen: number[] = [];
  const executable = prepare(
    planOf(1, (w, n) =>
      count(w, n, [w.fill(1)], (b, _, x) => {
        const y = b.value();
        b.host(
          ([from], [to]) => {
            const [value] = read(from.storage);
            seen.push(value);
            hostView(to.storage, 'float32', 1)[0] = value * 3;
          },
          [x],
          [y],
        );
        return [y];
      }),
    ),
  );
  expect(run(executable, [4], 1)).toEqual([81]);
  expect(seen).toEqual([1, 3, 9, 27]);
});

describe('stacks', () => {
  /** Pushes 0 … n − 1, each by itself and as a row of three; then takes m of each off again: a · 2 + b for each. */
  const reversing = (): Plan => {
    const [scalars, rows] = [{}, {}];
    return planOf(2, (w, n, m) => {
      const [a, b] = [w.stack(scalars), w.stack(rows)];
      count(w, n, [], (c, i) => {
        c.push(i, c.stack(scalars));
        c.push(c.make(add, [c.fill(0, [3]), i]), c.stack(rows));
        c.push(c.fill(0, [0, 2]), c.stack(rows));
        return [];
      });
      const [result] = count(w, m, [w.fill(0)], (c, _, sum) => {
        c.pop(c.stack(rows), [0, 2]);
        const row = c.pop(c.stack(rows), [3]);
        const x = c.make(add, [sum, { ...row, shape: [], size: 1 }]);
        const twice = c.make(add, [sum, x]);
        return [c.make(add, [twice, c.pop(c.stack(scalars))])];
      });
      expect([a.size, b.size]).toEqual([0, 0]);
      return [result];
    });
  };

  it('are filled in one loop and emptied in another', () => {
    const executable = prepare(reversing());
    const expected = (n: number, m: number): number => {
      let sum = 0;
      for (let i = n - 1; i >= n - m; i--) sum = sum * 2 + 2 * i;
      return sum;
    };
    for (const [n, m] of [
      [0, 0],
      [5, 5],
      [20, 8],
      [3, 3],
    ] as const)
      expect(run(executable, [n, m], 1)).toEqual([expected(n, m)]);
  });

  it('are empty after each run, also one that fails, and give their memory back', () => {
    const executable = prepare(reversing());
    run(executable, [500, 3], 1);
    const { bytesTaken } = toyBackend.allocator.info();
    for (let i = 0; i < 20; i++) {
      run(executable, [500, 3], 1);
      expect(() => run(executable, [4, 5], 1)).toThrow(/^While: the stack is empty/);
    }
    expect(toyBackend.allocator.info().bytesTaken - bytesTaken).toBeLessThan(300_000);
    expect(run(executable, [2, 2], 1)).toEqual([4]);
  });

  it('refuse to give another size than they were given', () => {
    const stack = {};
    const plan = planOf(0, (w) => {
      const s = w.stack(stack);
      w.push(w.fill(1, [2]), s);
      return [w.pop(s, [3])];
    });
    expect(() => prepare(plan).run([], [toyBackend.allocator.allocate(12)])).toThrow(
      'Pop: the stack has 8 bytes where 12 are wanted',
    );
  });
});

it('errors in bodies name their call, and a run can follow', () => {
  const executable = prepare(
    planOf(2, (w, n, x) =>
      count(w, n, [w.fill(1)], (b, i, y) => {
        const rest = b.make(add, [i, b.fill(-3)]);
        const z = b.make(divide, [y, rest], {}, {}, 'model/divide');
        return [b.make(mul, [z, b.fill(2)])];
      }).map((y) => w.make(add, [x, y])),
    ),
  );
  for (let i = 0; i < 2; i++) {
    let error: unknown;
    try {
      run(executable, [5, 1], 1);
    } catch (e) {
      error = e;
    }
    expect(error).toBeInstanceOf(InvalidArgumentError);
    expect((error as InvalidArgumentError).op).toBe('model/divide');
    expect((error as InvalidArgumentError).message).toBe('model/divide: division by zero');
    expect(run(executable, [2, 1], 1)[0]).toBeCloseTo(1 + 4 / 6, 6);
  }
});

it('times of bodies count for the call that they are of', () => {
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  const executable = prepare(
    planOf(2, (w, n, x) => {
      const y = w.make(next, [x]);
      count(w, n, [], (b) => {
        b.host(() => (now += 5), []);
        return [];
      });
      return [y];
    }),
  );
  const times = new Float64Array(4).fill(-1);
  const results = [store([0])];
  executable.run([store([3]), store([1])], results, times);
  expect(times).toEqual(new Float64Array([0, 0, 0.015, -1]));
  executable.run([store([0]), store([1])], results, times);
  expect(times[2]).toBe(0);
  clock.mockRestore();
});

describe('asynchronous runs', () => {
  /** Goes round until the limit, a millisecond each time, counts in a state, and puts something on a stack. */
  const slow = (state: () => Storage): Executable => {
    const [variable, stack] = [{}, {}];
    return prepare(
      planOf(1, (w, n) => {
        w.state(variable, state);
        w.stack(stack);
        return count(w, n, [w.fill(0, [])], (b, i, x) => {
          const v = b.state(variable, state);
          b.call(next, [v], [v]);
          b.push(b.fill(0, [1000]), b.stack(stack));
          b.host(() => spin(1), []);
          return [b.make(add, [i, x])];
        });
      }),
    );
  };
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.resetModules();
  });

  it('let other work have its turn, and allow no second run meanwhile', async () => {
    const memory = store([0]);
    const executable = slow(() => memory);
    const output = store([0]);
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    const running = executable.runAsync([store([60])], [output]);
    expect(read(memory)).toEqual([0]);
    expect(() => executable.run([store([1])], [store([0])])).toThrow(/run while it runs/);
    await expect(executable.runAsync([store([1])], [store([0])])).rejects.toThrow(/run while it runs/);
    expect(() => executable.dispose()).toThrow(InternalError);
    await running;
    clearInterval(timer);
    expect(turns).toBeGreaterThanOrEqual(3);
    expect(read(output)).toEqual([1770]);
    expect(read(memory)).toEqual([60]);
    executable.run([store([2])], [output]);
    expect(read(output)).toEqual([1]);
  });

  it('hold the memory that they were given until they end', async () => {
    const memory = store([0]);
    const executable = slow(() => memory);
    const [input, output] = [store([40]), store([0])];
    const running = executable.runAsync([input], [output]);
    expect([input, output, memory].map(({ refs }) => refs)).toEqual([2, 2, 2]);
    // What somebody else gives back is lent to nobody until then.
    input.release();
    const others = Array.from({ length: 50 }, () => store([-1]));
    expect(others.some((o) => sameBytes(o, input))).toBe(false);
    await running;
    expect(read(output)).toEqual([780]);
    expect([input, output, memory].map(({ refs }) => refs)).toEqual([0, 1, 1]);
  });

  it('end early when they are told to', async () => {
    const memory = store([0]);
    const executable = slow(() => memory);
    const given = store([Number.POSITIVE_INFINITY]);
    const before = AbortSignal.abort();
    await expect(executable.runAsync([given], [store([0])], before)).rejects.toThrow(CancelledError);
    expect(read(memory)).toEqual([0]);
    const controller = new AbortController();
    const running = executable.runAsync([given], [store([0])], controller.signal).catch((e: unknown) => e);
    await expect.poll(() => read(memory)[0]).toBeGreaterThan(2);
    controller.abort();
    const error = await running;
    expect(error).toBeInstanceOf(CancelledError);
    expect((error as CancelledError).message).toBe('the run was cancelled');
    expect([given.refs, memory.refs]).toEqual([1, 1]);
    const output = store([0]);
    await executable.runAsync([store([3])], [output], new AbortController().signal);
    expect(read(output)).toEqual([3]);
    executable.dispose();
    await expect(executable.runAsync([given], [output])).rejects.toThrow(/after it had been disposed/);
  });

  it('fail as other runs do, and leave nothing behind', async () => {
    const stack = {};
    const executable = prepare(
      planOf(1, (w, n) =>
        count(w, n, [w.fill(1)], (b, i, y) => {
          b.push(y, b.stack(stack));
          return [b.make(divide, [y, b.make(add, [i, b.fill(-2)])], {}, {}, 'divide')];
        }),
      ),
    );
    const input = store([4]);
    await expect(executable.runAsync([input], [store([0])])).rejects.toThrow('divide: division by zero');
    expect(input.refs).toBe(1);
    expect(run(executable, [2], 1)).toEqual([0.5]);
  });

  it('wait by messages where there is no setImmediate', async () => {
    vi.stubGlobal('setImmediate', undefined);
    vi.resetModules();
    const { nextTurn } = await import('../next-turn.ts');
    let turned = false;
    const timer = new Promise<void>((resolve) => {
      setTimeout(() => {
        turned = true;
        resolve();
      }, 0);
    });
    for (let i = 0; i < 1e6 && !turned; i++) await nextTurn();
    expect(turned).toBe(true);
    await timer;
  });
});
