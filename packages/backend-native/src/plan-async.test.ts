import {
  buildScalarProgram,
  CancelledError,
  InternalError,
  InvalidArgumentError,
  type Plan,
  type PlanTensor,
  type Storage,
} from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import { describe, expect, it } from 'vitest';
import { nativeBackend } from './index.ts';
import { CANCELLED, control, errorCodes, loadAddon, STOPPED } from './load.ts';
import { Builder, below, body, planBackends, plus, read, store } from './testing/plans.ts';

const f32 = 'float32';
const add = buildScalarProgram([f32, f32], (s, x, y) => s.add(x, y));
const scale = buildScalarProgram([f32], (s, x) => s.mul(x, 2));
const divide = buildScalarProgram(['int32', 'int32'], (s, x, y) => s.div(x, y));

/** x [n] added up so often, by a loop. */
function adding(turns: number, n: number): Plan {
  const b = new Builder();
  const x = b.input([n]);
  const like = [b.fill(0, [], 'int32'), b.fill(0, [n])];
  const bodies: [Plan, Plan] = [
    body([...like, x], (c, i) => [c.scalar(below(turns), [i], [], 'bool')]),
    body([...like, x], (c, i, sum, y) => [c.scalar(plus(1), [i], []), c.scalar(add, [sum, y], [n])]),
  ];
  return b.plan([b.loop(like, [x], bodies)[1]]);
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
    return undefined;
  } catch (error) {
    return error;
  }
}

describe.each(planBackends(jsBackend))('asynchronous runs on %s', (name, backend, prepare) => {
  const scalarOf = (storage: Storage): number | bigint => read(storage, 1)[0];

  it('give what others give, one at a time', async () => {
    const executable = prepare(adding(100, 4));
    const output = backend.allocator.allocate(16);
    for (let k = 0; k < 5; k++) {
      const input = store(backend, f32, [1, 2, 3, k]);
      const running = executable.runAsync([input], [output]);
      // Elsewhere so short a run has ended before the next line.
      if (name === 'native') {
        expect(() => executable.run([input], [output])).toThrow(/run while it runs/);
        expect(() => executable.dispose()).toThrow(/disposed while it runs/);
        const second = await errorOf(executable.runAsync([input], [output]));
        expect(second).toBeInstanceOf(InternalError);
        expect(String(second)).toMatch(/run while it runs/);
      }
      await running;
      expect(read(output, 4)).toEqual([100, 200, 300, 100 * k]);
      executable.run([input], [output]);
      expect(read(output, 4)).toEqual([100, 200, 300, 100 * k]);
    }
    executable.dispose();
    expect(String(await errorOf(executable.runAsync([output], [output])))).toMatch(
      /after it had been disposed/,
    );
    await prepare(new Builder().plan([])).runAsync([], []);
  });

  it('run code of the host on this thread, in order, and draw on the other', async () => {
    const seen: unknown[] = [];
    const stream = store(backend, 'uint64', [4, 5]);
    const b = new Builder();
    b.host(() => seen.push('first'), []);
    const like = [b.fill(0, [], 'int32'), b.fill(0, [])];
    const bodies: [Plan, Plan] = [
      body(like, (c, i) => [c.scalar(below(3), [i], [], 'bool')]),
      body(like, (c, i, sum) => {
        const [state, drawn] = [c.state(() => stream, [2], 'uint64'), c.value([2], 'uint64')];
        c.call('NextDraw', [state], [drawn, state]);
        c.host(([x]) => seen.push(Number(read(x.storage, 2, 'uint64')[0])), [drawn]);
        const y = c.value([]);
        c.call('Fill', [], [y], { value: 2 });
        return [c.scalar(plus(1), [i], []), c.scalar(add, [sum, y], [])];
      }),
    ];
    const [, sum] = b.loop(like, [], bodies);
    b.host(() => seen.push('last'), []);
    const executable = prepare(b.plan([sum]));
    const output = backend.allocator.allocate(4);
    for (let k = 0; k < 3; k++) {
      seen.length = 0;
      await executable.runAsync([], [output]);
      expect(seen).toEqual(['first', 4 + 3 * k, 5 + 3 * k, 6 + 3 * k, 'last']);
      expect(scalarOf(output)).toBe(6);
    }
  });

  it('end with the error of a call, or of the host, and run again', async () => {
    const b = new Builder();
    const [x, y] = [b.input([], 'int32'), b.input([], 'int32')];
    const quotient = b.value([], 'int32');
    b.call(divide, [x, y], [quotient], {}, 'model/divide');
    b.host(
      ([q]) => {
        if (read(q.storage, 1, 'int32')[0] === 7) throw new RangeError('seven');
      },
      [quotient],
    );
    const twice = b.scalar(divide, [x, y], []);
    const executable = prepare(b.plan([twice]));
    const output = backend.allocator.allocate(4);
    const attempt = (p: number, q: number): Promise<unknown> =>
      errorOf(executable.runAsync([store(backend, 'int32', [p]), store(backend, 'int32', [q])], [output]));
    for (let k = 0; k < 2; k++) {
      const zero = await attempt(1, 0);
      expect(zero).toBeInstanceOf(InvalidArgumentError);
      expect((zero as InvalidArgumentError).op).toBe('model/divide');
      expect(await attempt(14, 2)).toEqual(new RangeError('seven'));
      expect(await attempt(9, 3)).toBe(undefined);
      expect(read(output, 1, 'int32')).toEqual([3]);
    }
    expect(String(await errorOf(executable.runAsync([], [output])))).toMatch(/0 inputs for a plan of 2/);
  });

  it('end early when they are told to, and run again', async () => {
    const source = {};
    const b = new Builder();
    const like = [b.fill(0, [], 'int32')];
    const stack = b.stack(source);
    const limit = b.input([], 'int32');
    const less = buildScalarProgram(['int32', 'int32'], (s, x, y) => s.lt(x, y));
    const bodies: [Plan, Plan] = [
      body([...like, limit], (c, i, n) => [c.scalar(less, [i, n], [], 'bool')]),
      body([...like, limit], (c, i) => {
        const at = c.stack(source);
        c.push(i, at);
        c.push(c.pop(at, [], 'int32'), at);
        return [c.scalar(plus(1), [c.pop(at, [], 'int32')], [])];
      }),
    ];
    const [count] = b.loop(like, [limit], bodies, { read: [stack], written: [stack] });
    const executable = prepare(b.plan([count]));
    const output = backend.allocator.allocate(4);
    const run = (turns: number, signal?: AbortSignal): Promise<void> =>
      executable.runAsync([store(backend, 'int32', [turns])], [output], signal);
    expect(await errorOf(run(3, AbortSignal.abort()))).toBeInstanceOf(CancelledError);
    for (let k = 0; k < 3; k++) {
      const controller = new AbortController();
      const running = errorOf(run(2 ** 31 - 1, controller.signal));
      await wait(k * 10);
      controller.abort();
      expect(await running).toBeInstanceOf(CancelledError);
      await run(100, new AbortController().signal);
      expect(read(output, 1, 'int32')).toEqual([100]);
    }
  });

  it('end early at code of the host', async () => {
    const controller = new AbortController();
    let calls = 0;
    const b = new Builder();
    const x = b.input([2]);
    const y = b.scalar(scale, [x], [2]);
    for (let k = 0; k < 3; k++)
      b.host(() => {
        if (++calls === 2) controller.abort();
      }, [y]);
    const executable = prepare(b.plan([b.scalar(scale, [y], [2])]));
    const [input, output] = [store(backend, f32, [1, 2]), backend.allocator.allocate(8)];
    expect(await errorOf(executable.runAsync([input], [output], controller.signal))).toBeInstanceOf(
      CancelledError,
    );
    expect(calls).toBe(2);
    await executable.runAsync([input], [output]);
    expect(read(output, 2)).toEqual([4, 8]);
  });

  it('keep their memory, whatever is given back meanwhile', async () => {
    const n = 5000;
    let variable = store(backend, f32, Array(n).fill(0));
    const source = (): Storage => variable;
    const b = new Builder();
    const x = b.input([n]);
    const state = b.state(source, [n]);
    const like = [b.fill(0, [], 'int32')];
    const bodies: [Plan, Plan] = [
      body([...like, x], (c, i) => [c.scalar(below(300), [i], [], 'bool')]),
      body([...like, x], (c, i, y) => {
        const inner = c.state(source, [n]);
        c.call(add, [inner, y], [inner]);
        return [c.scalar(plus(1), [i], [])];
      }),
    ];
    b.loop(like, [x], bodies, { read: [state], written: [state] });
    const executable = prepare(b.plan([b.scalar(scale, [x], [n])]));
    const input = store(backend, f32, Array(n).fill(1));
    const output = backend.allocator.allocate(4 * n);
    const held = variable;
    const distinct = (storage: Storage): unknown[] => [...new Set(read(storage, n))];
    const running = executable
      .runAsync([input], [output])
      .then(() => [distinct(held), distinct(output), input.refs, held.refs, output.refs]);
    input.release();
    held.release();
    variable = store(backend, f32, Array(n).fill(7));
    // What is lent now would be theirs.
    let garbage: Storage[] = [];
    for (let k = 0; k < 300; k++) {
      garbage.push(store(backend, f32, Array(n).fill(-1)));
      if (k % 10 === 0) {
        garbage = [];
        await turn();
      }
    }
    expect(await running).toEqual([[300], [2], 0, 0, 1]);
  });
});

describe.runIf(nativeBackend !== undefined)('native runs on another thread', () => {
  const native = nativeBackend!;
  const endless = (b: Builder): readonly PlanTensor[] => {
    const like = [b.fill(0, [], 'int32')];
    const bodies: [Plan, Plan] = [
      body(like, (c, i) => [c.scalar(below(2 ** 31 - 1), [i], [], 'bool')]),
      body(like, (c, i) => [c.scalar(plus(1), [i], [])]),
    ];
    return b.loop(like, [], bodies);
  };

  it('leave the event loop its turns, and other plans theirs', async () => {
    const forever = new Builder();
    const [count] = endless(forever);
    const long = native.prepare(forever.plan([count]));
    const controller = new AbortController();
    let ended = false;
    const running = errorOf(long.runAsync([], [native.allocator.allocate(4)], controller.signal)).finally(
      () => {
        ended = true;
      },
    );
    const n = 100_000;
    const other = native.prepare(adding(20, n));
    const values = Array.from({ length: n }, (_, i) => i % 7);
    const [input, output] = [store(native, f32, values), native.allocator.allocate(4 * n)];
    let ticks = 0;
    const ticking = setInterval(() => ticks++, 1);
    for (let k = 0; k < 15; k++) {
      other.run([input], [output]);
      const found = read(output, n);
      expect(found.findIndex((v, i) => v !== 20 * values[i])).toBe(-1);
      await wait(2);
    }
    clearInterval(ticking);
    expect(ticks).toBeGreaterThan(5);
    expect(ended).toBe(false);
    controller.abort();
    expect(await running).toBeInstanceOf(CancelledError);
  });

  it('may be many, whose kernels share the threads', async () => {
    const n = 70_000;
    const runs = Array.from({ length: 24 }, (_, k) => ({
      executable: native.prepare(adding(5 + k, n)),
      input: store(native, f32, Array(n).fill(k)),
      output: native.allocator.allocate(4 * n),
    }));
    for (let round = 0; round < 2; round++) {
      await Promise.all(runs.map(({ executable, input, output }) => executable.runAsync([input], [output])));
      runs.forEach(({ output }, k) => expect([...new Set(read(output, n))]).toEqual([k * (5 + k)]));
    }
  });

  it('end early also while they wait for a thread', async () => {
    const controllers = Array.from({ length: 10 }, () => new AbortController());
    const running = controllers.map(({ signal }) => {
      const b = new Builder();
      const executable = native.prepare(b.plan(endless(b)));
      return errorOf(executable.runAsync([], [native.allocator.allocate(4)], signal));
    });
    await wait(10);
    // The last ones first: those cannot have started.
    for (const k of controllers.keys()) {
      const last = controllers.length - 1 - k;
      controllers[last].abort();
      expect(await running[last]).toBeInstanceOf(CancelledError);
    }
  });

  it('keep their executable and its memory when nothing else does', async () => {
    const n = 3000;
    const results: Promise<readonly (number | bigint)[]>[] = [];
    const start = (k: number): void => {
      const executable = native.prepare(adding(400, n));
      const output = native.allocator.allocate(4 * n);
      const running = executable.runAsync([store(native, f32, Array(n).fill(k))], [output]);
      results.push(running.then(() => [...new Set(read(output, n))]));
    };
    let bytes = 0;
    for (let k = 0; k < 20; k++) {
      start(k);
      for (let i = 0; i < 40; i++) bytes += native.allocator.allocate(500_000).capacity;
      globalThis.gc?.();
      await turn();
    }
    expect(bytes).toBeGreaterThan(0);
    (await Promise.all(results)).forEach((found, k) => expect(found).toEqual([400 * k]));
  });

  it('are refused by the addon where a plan runs already, and say how they ended', async () => {
    const { addon } = loadAddon();
    if (addon === undefined) throw new Error('no addon');
    const owner = {};
    const started = (plan: number, first: number): Promise<unknown[]> =>
      new Promise((resolve, reject) => {
        const code = addon.startPlan(owner, plan, first, (...told) => resolve(told));
        if (code !== undefined) reject(new Error(`code ${code}`));
      });
    const internal = errorCodes.lastIndexOf('INTERNAL');
    const forever = addon.preparePlan(owner, { numbers: Float64Array.of(control.jump, 0, 1, 0) });
    const running = started(forever, 0);
    for (let k = 0; k < 2; k++) {
      expect(addon.startPlan(owner, forever, 0, () => {})).toBe(internal);
      expect(addon.lastError()).toBe('a plan was run while it runs');
      expect(addon.runPlan(forever, undefined, 0)).toBe(internal);
      expect(() => addon.dropPlan(forever)).toThrow('a plan was dropped while it runs');
      await wait(5);
    }
    addon.cancelPlan(forever);
    addon.cancelPlan(forever);
    expect(await running).toEqual([CANCELLED, 0, '']);
    addon.cancelPlan(forever);

    const fill = addon.kernels.indexOf('Fill');
    const plan = addon.preparePlan(owner, { numbers: Float64Array.of(control.stop, 0, 0, fill, 0, 2, 0, 1) });
    expect(await started(plan, 0)).toEqual([STOPPED, 0, '']);
    expect(await started(plan, 1)).toEqual([internal, 1, expect.stringMatching(/too short/)]);
    expect(await started(plan, 2)).toEqual([undefined, 2, '']);
    addon.dropPlan(plan);
    addon.dropPlan(forever);
    for (const other of [plan, 1e6, -1, undefined, {}])
      expect(addon.startPlan(owner, other as number, 0, () => {})).toBe(internal);
    addon.cancelPlan(undefined as unknown as number);
  });
});
