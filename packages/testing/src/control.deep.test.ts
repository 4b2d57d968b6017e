import '@eagre/backend-js';
import '@eagre/backend-native';
import './remote.ts';
import { GradientTape } from '@eagre/autodiff';
import { constant, logicalAnd, random, type Tensor, Variable, where, withBackend } from '@eagre/core';
import { cond, foldl, mapFn, scan, switchCase, TensorArray, tfFunction, whileLoop } from '@eagre/graph';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { generator } from './values.ts';

// Random programs of branches, loops, arrays and variables: traced they compute what they compute eagerly.

/** A statement makes a value from the values before it; `a`, `b` and `n` choose which, and how. */
interface Statement {
  readonly kind: number;
  readonly a: number;
  readonly b: number;
  readonly n: number;
  readonly blocks: readonly Block[];
}
type Block = readonly Statement[];

interface Program {
  readonly main: Block;
  readonly seed: number;
}

const int = (n: number): Tensor => constant(n, 'int32');
const pick = <T>(list: readonly T[], n: number): T => list[n % list.length] as T;

/** What a program may do beside computing: nothing, assign to a variable, and draw random numbers as well. */
type Effects = 'none' | 'assign' | 'draw';

/** Values are float64 [2], and bounded, so that loops neither overflow nor lose all digits. */
class Machine {
  readonly variable: Variable;
  readonly effects: Effects;
  readonly #seeds = new Map<readonly Block[], number>();

  constructor(program: Program, variable: Variable, effects: Effects) {
    this.variable = variable;
    this.effects = effects;
    const number = (block: Block): void => {
      for (const { blocks } of block) {
        this.#seeds.set(blocks, this.#seeds.size);
        blocks.forEach(number);
      }
    };
    number(program.main);
  }

  /** With a stream for each statement: in graphs a draw that nobody needs is not made. */
  draw(blocks: readonly Block[]): Tensor {
    const seed = this.#seeds.get(blocks) as number;
    return random.normal([2], { dtype: 'float64', seed });
  }

  block(block: Block, before: readonly Tensor[]): Tensor {
    const values = [...before];
    for (const statement of block) values.push(this.statement(statement, values));
    return values.at(-1) as Tensor;
  }

  statement({ kind, a, b, n, blocks }: Statement, values: readonly Tensor[]): Tensor {
    const x = pick(values, a);
    const y = pick(values, b);
    const inner = (i: number, ...more: readonly Tensor[]): Tensor =>
      this.block(pick(blocks, i), [...values, ...more]);
    const simple: readonly (() => Tensor)[] = [
      () => x.add(y).mul(0.5),
      () => x.mul(y).sub(0.1 * n),
      () => x.sin().add(y.tanh()),
      () => where(x.greater(y), x.mul(0.9), y.mul(y).mul(0.25)),
      () => x.reverse(0).mul(this.variable).tanh(),
      () => x.square().add(1).sqrt().sub(y.mul(0.3)),
    ];
    if (kind < 6) return (simple[kind] as () => Tensor)();
    if (blocks.length === 0) return x.cos();
    const compound: readonly (() => Tensor)[] = [
      () =>
        cond(
          x.sum().greater(y.sum().add(n - 4)),
          () => inner(0),
          () => inner(1),
        ),
      () => switchCase(x.sum().mul(2).cast('int32').mod(3), [() => inner(0), () => inner(1), () => inner(2)]),
      // So many turns, known or not.
      () => {
        const [, p] = whileLoop(
          (i) => i.less(n % 4),
          (i, p, q) => [i.add(1), q.add(p).mul(0.4), inner(0, p, q)],
          [int(0), x, y],
        );
        return p;
      },
      () => {
        const [, , q] = whileLoop(
          (i, p) =>
            logicalAnd(
              i.less(5),
              p
                .abs()
                .sum()
                .less(0.5 * n),
            ),
          (i, p, q) => [i.add(1), inner(0, q).add(p.mul(1.1)), p.sin()],
          [int(0), x, y],
          { maximumIterations: 4 },
        );
        return q;
      },
      () => {
        const [, last, all] = whileLoop(
          (i) => i.less(3),
          (i, p, all) => [i.add(1), inner(0, p).mul(0.8), all.write(i, p)],
          [int(0), x, new TensorArray('float64', { size: 3 })],
        );
        return all
          .read(int(n % 3))
          .add(all.stack().mean(0))
          .mul(0.5)
          .sub(last.mul(0.1));
      },
      () => mapFn((e) => inner(0, e.add(y)).sum().mul(0.3), x),
      () => scan((s, e) => inner(0, s).mul(0.5).add(e), x.reshape([2, 1]).add(y), { initializer: x }).mean(0),
      () =>
        foldl((s, e) => inner(0, s.add(y)).sum().mul(0.2).add(e), x, {
          initializer: constant(0, 'float64'),
        }).add(y),
      () => {
        if (this.effects === 'none') return inner(0).exp().mul(0.1);
        this.variable.assign(inner(0).tanh());
        return x.add(this.variable).mul(0.5);
      },
      () => (this.effects === 'draw' ? inner(0).add(this.draw(blocks).mul(0.1)) : inner(1)),
    ];
    return (compound[kind - 6] as () => Tensor)();
  }
}

/** What a program gives, twice: its last value, the gradients of its sum; and what the variable is in the end. */
function outcome(program: Program, effects: Effects, order: 0 | 1 | 2, wrap: boolean): number[][] {
  const uniform = generator(program.seed);
  const vector = (): Tensor => constant([uniform() * 2 - 1, uniform() * 2 - 1], 'float64');
  const [p, q] = [vector(), vector()];
  const variable = new Variable(vector());
  const machine = new Machine(program, variable, effects);
  const run = (x: Tensor, y: Tensor): Tensor[] => {
    if (order === 0) return [machine.block(program.main, [x, y])];
    const outer = new GradientTape();
    outer.watch([x, y]);
    const tape = new GradientTape();
    tape.watch([x, y]);
    const value = machine.block(program.main, [x, y]);
    const sources = [x, y, variable];
    const first = tape.gradient(value.sum(), sources, { unconnectedGradients: 'zero' });
    if (order === 1) {
      outer.dispose();
      return [value, ...first];
    }
    const slope = first.map((g, i) => g.mul(i + 1).sum()).reduce((s, g) => s.add(g));
    return [value, ...first, ...outer.gradient(slope, [x, y], { unconnectedGradients: 'zero' })];
  };
  const f = wrap ? tfFunction(run) : run;
  random.setSeed(program.seed);
  return [...f(p, q), ...f(p, q), variable.read()].map((t) => Array.from(t.data(), Number));
}

const statement = (depth: number): fc.Arbitrary<Statement> =>
  fc.record({
    kind: depth === 0 ? fc.nat(5) : fc.oneof(fc.nat(5), fc.integer({ min: 6, max: 15 })),
    a: fc.nat(99),
    b: fc.nat(99),
    n: fc.nat(8),
    blocks: depth === 0 ? fc.constant([]) : fc.array(block(depth - 1), { minLength: 3, maxLength: 3 }),
  });
function block(depth: number): fc.Arbitrary<Block> {
  return fc.array(statement(depth), { minLength: 1, maxLength: depth === 0 ? 2 : 3 });
}
const programs: fc.Arbitrary<Program> = fc.record({ main: block(3), seed: fc.nat(99_999) });

const settings = {
  numRuns: Number(process.env.EAGRE_PROGRAMS ?? 60),
  ...(process.env.EAGRE_SEED === undefined ? {} : { seed: Number(process.env.EAGRE_SEED) }),
} as const;

let ran = 0;
afterAll(() => {
  console.info(`${ran} random programs with control flow ran, eagerly and traced`);
  expect(ran).toBeGreaterThan(50);
});

/** Sums of gradients may be added in another order. */
function expectClose(got: readonly number[][], expected: readonly number[][], tolerance: number): void {
  expect(got.map((g) => g.length)).toEqual(expected.map((e) => e.length));
  got.forEach((list, i) => {
    const reference = expected[i] as number[];
    const scale = Math.max(1, ...reference.map(Math.abs));
    list.forEach((v, k) => {
      const difference = Math.abs(v - (reference[k] as number)) / scale;
      if (!(difference <= tolerance)) expect.fail(`output ${i}[${k}] is ${v}, expected ${reference[k]}`);
    });
  });
}

describe.each(['js', 'native', 'remote'])('random programs on %s: traced equals eager', (backend) => {
  it.each([
    ['to the first order', 'none', 1],
    ['to the second order', 'none', 2],
    ['to the first order, with assignments', 'assign', 1],
    // No gradient passes through draws in branches and loops that lie in others.
    ['values, with assignments and random draws', 'draw', 0],
  ] as const)('%s', (_, effects, order) => {
    fc.assert(
      fc.property(programs, (program) => {
        withBackend(backend, () => {
          const expected = outcome(program, effects, order, false);
          const got = outcome(program, effects, order, true);
          const values = (list: readonly number[][]): unknown => [
            list[0],
            list[list.length / 2],
            list.at(-1),
          ];
          if (backend === 'js') expect(values(got)).toEqual(values(expected));
          expectClose(got, expected, 1e-9);
          ran++;
        });
      }),
      settings,
    );
  });
});
