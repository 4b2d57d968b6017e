import '@eagre/backend-js';
import '@eagre/backend-native';
import './remote.ts';
import { customGradient, GradientTape, grad } from '@eagre/autodiff';
import { listBackends } from '@eagre/backend';
import * as core from '@eagre/core';
import { constant, scope, type Tensor, Variable, withBackend } from '@eagre/core';
import { context, findDropped, forEachTensor, hostValues } from '@eagre/core/internal';
import { afterEach, describe, expect, it } from 'vitest';
import { generator } from './values.ts';

// Memory is given back early in many places. Nothing that a user holds may turn invalid by that, or get other values.

/** Takes and overwrites what the pools hold, so that a tensor over memory that was given back shows other values. */
function overwrite(): void {
  for (const size of [1, 2, 4, 16, 100, 300, 5000]) {
    const taken = Array.from({ length: 40 }, () => core.fill([size], -777));
    for (const t of taken) t.dispose();
  }
}

afterEach(() => {
  expect(context.tapes).toEqual([]);
  expect(context.tracker).toBe(null);
});

const backends = listBackends().map((b) => [b.name] as const);

describe.each(backends)('what a user holds, on %s', (backend) => {
  const test = (name: string, fn: () => void): void => it(name, () => withBackend(backend, fn));

  test('a constant is another tensor than equal numbers in the code', () => {
    const x = constant(3);
    expect(constant(3)).not.toBe(x);
    using tape = new GradientTape();
    tape.watch(x);
    expect((tape.gradient(x.mul(3), x) as Tensor).item()).toBe(3);
    expect(grad((t) => t.mul(2))(2).item()).toBe(2);
    expect(grad((t) => customGradient((u) => [u.mul(5), (dy) => dy.mul(5)])(t).mul(5))(5).item()).toBe(25);
  });

  test('the values of a tensor that is garbage, as long as the host reads them', () => {
    const large = [50_000];
    const views = [7, 8].map((value) => hostValues(core.fill(large, value)));
    globalThis.gc?.();
    findDropped();
    const others = [1, 2, 3, 4].map((value) => core.fill(large, value));
    expect(others.length).toBe(4);
    expect(views.map((view) => [...new Set(view as Float32Array)])).toEqual([[7], [8]]);
  });

  test('disposing a constant leaves the number alone', () => {
    for (let i = 0; i < 3; i++) {
      const x = constant(7);
      x.dispose();
      scope(() => constant([1, 2]).mul(7).add(constant(7)));
      overwrite();
      expect(constant([1, 2]).mul(7).array()).toEqual([7, 14]);
      expect(constant(7).item()).toBe(7);
    }
  });

  test('what was read from a variable keeps its values, and disposing it does no harm', () => {
    const v = new Variable([1, 2]);
    const held: Tensor[] = [];
    held.push(
      v.read(),
      v.value(),
      constant(v),
      core.identity(v),
      core.einsum('i->i', v),
      core.cast(v, 'float32'),
    );
    held.push(
      core
        .clipByGlobalNorm([v], 9, { useNorm: new Variable(1) })[1]
        .broadcastTo([2])
        .mul([1, 2]),
    );
    grad((x) => {
      held.push(x);
      return x.sum();
    })(v);
    customGradient((x) => {
      held.push(x);
      return [x.mul(1), (dy) => dy];
    })(v);
    v.assign([8, 9]);
    v.assignAdd([1, 1]);
    v.writable();
    overwrite();
    for (const t of held) expect(t.array()).toEqual([1, 2]);
    for (const t of held) t.dispose();
    overwrite();
    expect(v.array()).toEqual([9, 10]);
  });

  test('a disposed variable says so, whoever still holds its values', () => {
    const v = new Variable([1, 2], { name: 'w' });
    const t = v.read();
    v.dispose();
    for (const fn of [
      () => v.read(),
      () => v.assign([3, 4]),
      () => v.add(1),
      () => v.array(),
      () => v.writable(),
    ])
      expect(fn).toThrow(/'w' was disposed/);
    overwrite();
    expect(t.array()).toEqual([1, 2]);
  });

  test('no function returns one of its arguments', () => {
    const t = constant([
      [1, 2],
      [3, 4],
    ]);
    const v = new Variable(t);
    const rest: Record<string, readonly unknown[]> = {
      reshape: [[2, 2]],
      cast: ['float32'],
      roll: [0, 0],
      tile: [[1, 1]],
      slice: [[0, 0]],
      broadcastTo: [[2, 2]],
      repeat: [1, 0],
      pad: [
        [
          [0, 0],
          [0, 0],
        ],
      ],
      transpose: [[0, 1]],
      swapAxes: [0, 0],
      reverse: [[]],
      sum: [[]],
      mean: [[]],
      max: [[]],
      clipByNorm: [1e9],
      at: [':'],
      expandDims: [[]],
      squeeze: [],
      bandPart: [-1, -1],
      gather: [constant([0, 1], 'int32')],
      split: [1, 0],
      dropout: [{ rate: 0 }],
      checkNumerics: ['x'],
      unstack: [0],
    };
    // `keep`, `constant` and `convertToTensor` hand a tensor on as it is.
    const skipped = /^(keep|constant|convertToTensor|promote|scope|device|withBackend|threads|nameScope)$/;
    let called = 0;
    for (const functions of [core, core.nn, core.debugging, core.random]) {
      for (const [name, fn] of Object.entries(functions)) {
        if (typeof fn !== 'function' || skipped.test(name) || /^class\b/.test(String(fn))) continue;
        for (const x of [t, v]) {
          const own = x instanceof Variable ? x.taken() : x;
          for (const args of [[x, ...(rest[name] ?? [])], [x, x], [x, x, x], [[x]], [[x, x], 0]]) {
            let result: unknown;
            try {
              result = (fn as (...a: unknown[]) => unknown)(...args);
            } catch {
              continue;
            }
            called++;
            forEachTensor(result, (y) => expect(y === own, name).toBe(false));
          }
        }
      }
    }
    expect(called).toBeGreaterThan(200);
  });

  test('a gradient is never what the user gave for the target', () => {
    const given = constant([1, 2]);
    const x = constant([3, 4]);
    const result = scope(() => {
      using tape = new GradientTape();
      tape.watch(x);
      return tape.gradient(core.identity(x), x, { outputGradients: given }) as Tensor;
    });
    expect(result).not.toBe(given);
    result.dispose();
    scope(() => {
      using tape = new GradientTape();
      tape.watch(x);
      tape.gradient(core.identity(x), x, { outputGradients: given });
    });
    overwrite();
    expect(given.array()).toEqual([1, 2]);
    expect(x.array()).toEqual([3, 4]);
  });

  test('two sources get gradients of their own', () => {
    const [a, b] = [constant([1]), constant([2])];
    using tape = new GradientTape();
    tape.watch([a, b]);
    const [da, db] = tape.gradient(a.add(b), [a, b]) as [Tensor, Tensor];
    da.dispose();
    overwrite();
    expect(db.array()).toEqual([1]);
  });

  test('gradients that sources share go on to the second order', () => {
    const [a, b] = [constant([1]), constant([2])];
    using outer = new GradientTape();
    outer.watch([a, b]);
    using inner = new GradientTape();
    inner.watch([a, b]);
    const [, db] = inner.gradient(a.add(b).square(), [a, b]) as [Tensor, Tensor];
    expect((outer.gradient(db, b) as Tensor).array()).toEqual([2]);
  });

  test('what a custom gradient made and kept stays', () => {
    let kept: Tensor[] = [];
    const f = customGradient((x: Tensor) => {
      const y = x.exp();
      kept.push(x, y);
      return [
        y.add(1),
        (dy: Tensor) => {
          const dx = dy.mul(y);
          kept.push(dy, dx);
          return dx;
        },
      ];
    });
    const x = new Variable([0, 0]);
    for (let i = 0; i < 3; i++) {
      kept = [];
      scope(() => {
        using tape = new GradientTape();
        return tape.gradient(f(x.mul(2)).mul(3).sum(), x);
      });
      overwrite();
      expect(kept.slice(1).map((t) => t.array())).toEqual([
        [1, 1],
        [3, 3],
        [3, 3],
      ]);
    }
  });

  test('a function that throws leaves scopes and tapes as they were', () => {
    const outer = constant([5]);
    const boom = customGradient((x: Tensor) => [
      x.mul(2),
      (): Tensor => {
        throw new Error('boom');
      },
    ]);
    const x = constant([1]);
    expect(() =>
      scope(() => {
        scope(() => constant([1]).add(1));
        throw new Error('out');
      }),
    ).toThrow('out');
    const tape = new GradientTape();
    tape.watch(x);
    const y = boom(x.mul(2).exp()).mul(outer).sum();
    expect(() => tape.gradient(y, x)).toThrow('boom');
    // Half of it is used up: a second answer could only be wrong.
    expect(() => tape.gradient(y, x)).toThrow(core.FailedPreconditionError);
    const other = new GradientTape();
    expect(() => other.record(() => core.add([1, 2], [1, 2, 3]))).toThrow(core.InvalidArgumentError);
    overwrite();
    expect([outer.array(), y.array(), x.array()]).toEqual([[5], expect.closeTo(73.89, 1), [1]]);
  });

  test('a tape asked inside stopRecording has ended', () => {
    const v = new Variable([2]);
    const tape = new GradientTape();
    const y = v.mul(3);
    expect((tape.stopRecording(() => tape.gradient(y, v)) as Tensor).array()).toEqual([3]);
    expect(context.tapes).toEqual([]);
  });

  test('a jacobian on a persistent tape does not record itself', () => {
    const v = new Variable([2, 3]);
    using tape = new GradientTape({ persistent: true });
    const y = v.mul(v);
    for (let i = 0; i < 3; i++) {
      expect((tape.jacobian(y, v) as Tensor).array()).toEqual([
        [4, 0],
        [0, 6],
      ]);
      expect((tape.gradient(y, v) as Tensor).array()).toEqual([4, 6]);
    }
    const recorder = context.tapes[0] as unknown as { entries: unknown[] };
    expect(recorder.entries.length).toBe(1);
  });

  test('scopes that end in the wrong order', () => {
    const [first, second] = [scope(), scope()];
    const t = constant([1]);
    first[Symbol.dispose]();
    second[Symbol.dispose]();
    expect(context.tracker).toBe(null);
    expect(t.isDisposed).toBe(true);
    scope(() => void scope());
    expect(context.tracker).toBe(null);
  });

  test('a tensor disposed while a tape needs it', () => {
    const x = constant([2, 3]);
    const tape = new GradientTape();
    tape.watch(x);
    const y = scope(() => x.mul(x).mul(x));
    const z = y.sum();
    x.dispose();
    y.dispose();
    overwrite();
    expect((tape.gradient(z, x) as Tensor).array()).toEqual([12, 27]);
    expect(() => x.add(1)).toThrow(core.FailedPreconditionError);
  });
});

interface Held {
  readonly tensor: Tensor;
  readonly values: readonly number[];
}

interface Cell {
  readonly variable: Variable;
  values: number[];
}

/** Does random things to tensors, and knows from plain arithmetic what each must hold. */
class User {
  readonly #random: () => number;
  readonly held: Held[] = [];
  readonly #variables: Cell[] = [];
  #depth = 0;

  constructor(seed: number) {
    this.#random = generator(seed);
    for (let i = 0; i < 3; i++)
      this.#variables.push({ variable: new Variable([0, 0, 0, 0]), values: [0, 0, 0, 0] });
  }
  #below(n: number): number {
    return Math.floor(this.#random() * n);
  }
  #some(): Held {
    return this.held[this.#below(this.held.length)] ?? this.#make();
  }
  #add(tensor: Tensor, values: readonly number[]): Held {
    const item = { tensor, values };
    this.held.push(item);
    return item;
  }
  #make(): Held {
    const values = Array.from({ length: 4 }, () => this.#below(100));
    return this.#add(constant(values), values);
  }

  act(): void {
    const choice = this.#below(14);
    if (choice === 0) this.#make();
    else if (choice === 1) {
      const [a, b] = [this.#some(), this.#some()];
      this.#add(
        a.tensor.add(b.tensor),
        a.values.map((x, i) => x + (b.values[i] as number)),
      );
    } else if (choice === 2) {
      const a = this.#some();
      this.#add(a.tensor.reshape([2, 2]).reshape([4]), a.values);
    } else if (choice <= 4) {
      const [gone] = this.held.splice(this.#below(this.held.length), 1);
      gone?.tensor.dispose();
    } else if (choice === 5) this.held.splice(this.#below(this.held.length), 1);
    else if (choice === 6 && this.#depth < 3) this.#inScope();
    else if (choice === 7) {
      const { variable, values } = this.#variables[this.#below(3)] as Cell;
      this.#add(variable.read(), [...values]);
    } else if (choice === 8) {
      const v = this.#variables[this.#below(3)] as Cell;
      const a = this.#some();
      v.variable.assign(a.tensor);
      v.values = [...a.values];
    } else if (choice === 9) {
      const v = this.#variables[this.#below(3)] as Cell;
      v.variable.assignAdd(3);
      v.values = v.values.map((x) => x + 3);
    } else if (choice === 10) {
      const a = this.#some();
      this.#add(
        a.tensor.mul(5),
        a.values.map((x) => x * 5),
      );
    } else if (choice >= 11) this.#gradient(choice === 11);
    this.check();
  }

  /** Acts inside of a scope, and returns a part of what it made; sometimes by an error, which returns nothing. */
  #inScope(): void {
    const before = this.held.length;
    const known = new Set(this.held);
    const throws = this.#below(4) === 0;
    this.#depth++;
    let made: Held[] = [];
    try {
      const kept = scope(() => {
        for (let i = this.#below(12); i > 0; i--) this.act();
        made = this.held.filter((h) => !known.has(h));
        if (throws) throw new Error('on purpose');
        made = made.filter(() => this.#below(2) === 0);
        return { list: made.map((h) => h.tensor) };
      });
      expect(kept.list.length).toBe(made.length);
    } catch (error) {
      if (!throws) throw error;
      made = [];
    } finally {
      this.#depth--;
    }
    const left = this.held.filter((h) => known.has(h));
    expect(left.length).toBeLessThanOrEqual(before);
    this.held.splice(0, this.held.length, ...left, ...made);
    overwrite();
  }

  #gradient(persistent: boolean): void {
    const v = this.#variables[this.#below(3)] as Cell;
    const a = this.#some();
    const tape = new GradientTape({ persistent });
    tape.watch(a.tensor);
    const y = v.variable.mul(a.tensor).add(a.tensor);
    const want = (dy: number): [number[], number[]] => [
      a.values.map((x) => x * dy),
      v.values.map((x) => (x + 1) * dy),
    ];
    const expected = want(2);
    if (this.#below(3) === 0) v.variable.assign((v.values = v.values.map((x) => x + 1)));
    if (this.#below(3) === 0) y.dispose();
    else
      this.#add(
        y,
        a.values.map((x, i) => x * ((expected[1][i] as number) / 2)),
      );
    if (this.#below(6) === 0) {
      tape.dispose();
      return;
    }
    const given = constant([2, 2, 2, 2]);
    for (let i = persistent ? 2 : 1; i > 0; i--) {
      const [dv, da] = tape.gradient(y, [v.variable, a.tensor], { outputGradients: given }) as [
        Tensor,
        Tensor,
      ];
      this.#add(dv, expected[0]);
      this.#add(da, expected[1]);
    }
    this.#add(given, [2, 2, 2, 2]);
    if (persistent) tape.dispose();
  }

  check(): void {
    for (const { tensor, values } of this.held) expect([...(tensor.data() as Float32Array)]).toEqual(values);
    for (const { variable, values } of this.#variables) expect(variable.array()).toEqual(values);
  }
}

it.each(backends)('random use of tensors, variables, scopes and tapes on %s', (backend) => {
  withBackend(backend, () => {
    for (let seed = 1; seed <= 60; seed++) {
      const user = new User(seed);
      for (let i = 0; i < 60; i++) {
        // Values stay exact in float32.
        for (let k = user.held.length - 1; k >= 0; k--)
          if (user.held[k]?.values.some((x) => Math.abs(x) > 1e5))
            user.held.splice(k, 1)[0]?.tensor.dispose();
        user.act();
        if (i % 10 === 0) overwrite();
      }
      user.check();
    }
  });
});

describe('tapes in a loop that never pauses', () => {
  const x = (): Variable => new Variable(core.zeros([256, 1024]));
  /** @returns the most that was in array buffers meanwhile, and the most tapes that were open. */
  const steps = (n: number, step: () => void): { bytes: number; tapes: number } => {
    const before = process.memoryUsage().arrayBuffers;
    let [bytes, tapes] = [0, 0];
    for (let i = 0; i < n; i++) {
      step();
      tapes = Math.max(tapes, context.tapes.length);
      if (i % 100 === 0) bytes = Math.max(bytes, process.memoryUsage().arrayBuffers - before);
    }
    return { bytes, tapes };
  };
  const MB = 2 ** 20;

  // A dropped tape would be told of all ops, and hold a megabyte and more each here.
  it('those that a throw left behind are found', () =>
    withBackend('native', () => {
      const v = x();
      const { bytes, tapes } = steps(1500, () => {
        try {
          const tape = new GradientTape();
          const y = v.mul(2).add(1);
          tape.gradient(y.reshape([3]), v);
        } catch {
          // The shape is wrong, and nobody ends the tape.
        }
      });
      // Old objects are collected when 512 MB are lent out.
      expect(bytes).toBeLessThan(800 * MB);
      expect(tapes).toBeLessThan(40);
    }));

  it('persistent ones that nobody disposes are found', () =>
    withBackend('native', () => {
      const v = x();
      const { bytes, tapes } = steps(400, () => {
        const tape = new GradientTape({ persistent: true });
        tape.gradient(v.mul(2), v);
      });
      // Old objects are collected when 512 MB are lent out.
      expect(bytes).toBeLessThan(800 * MB);
      expect(tapes).toBeLessThan(40);
    }));

  it('small ones that are dropped do not slow it down', () =>
    withBackend('native', () => {
      const v = new Variable([1, 2]);
      const { tapes } = steps(20_000, () => {
        new GradientTape();
        v.mul(2);
      });
      expect(tapes).toBeLessThan(100);
    }));

  it.each([[false], [true]])('those that end leave nothing (persistent: %s)', (persistent) =>
    withBackend('native', () => {
      const v = new Variable([1, 2]);
      const run = (n: number): void => {
        for (let i = 0; i < n; i++) {
          const tape = new GradientTape({ persistent });
          tape.gradient(v.mul(2), v);
          tape.dispose();
        }
      };
      run(2000);
      global.gc?.();
      const { heapUsed } = process.memoryUsage();
      run(40_000);
      global.gc?.();
      expect(process.memoryUsage().heapUsed - heapUsed).toBeLessThan(4 * MB);
    }),
  );

  afterEach(async () => {
    global.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 20));
    withBackend('native', findDropped);
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(context.tapes).toEqual([]);
  });
});
