// TensorFlow's values and gradients of the programs in tools/golden/control_flow.py.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { readFileSync } from 'node:fs';
import { listBackends } from '@eagre/backend';
import { constant, stack, type Tensor, withBackend, zerosLike } from '@eagre/core';
import { describe, expect, test } from 'vitest';
import { tfFunction } from '../function/function.ts';
import { orders } from '../testing/gradients.ts';
import { caseOf, cond, switchCase } from './cond.ts';
import { foldl, foldr, mapFn, scan } from './elements.ts';
import { TensorArray } from './tensor-array.ts';
import { whileLoop } from './while-loop.ts';

type Values = number | readonly number[];
interface Golden {
  readonly cases: readonly {
    readonly name: string;
    readonly calls: readonly {
      readonly x: Values;
      readonly y: number;
      readonly first: Values;
      readonly second: Values;
    }[];
  }[];
}

const int = (n: number): Tensor => constant(n, 'int32');
const float = (x: Values): Tensor => constant(x as number, 'float64');
const array = (size: number): TensorArray => new TensorArray('float64', { size });

/** The loop of a counter with a state, `n` times. */
function times(n: number, body: (y: Tensor, i: Tensor) => Tensor, x: Tensor): Tensor {
  return whileLoop(
    (i) => i.less(n),
    (i, y) => [i.add(1), body(y, i)],
    [int(0), x],
  )[1];
}

const programs: Readonly<Record<string, (x: Tensor) => Tensor>> = {
  cond: (x) =>
    cond(
      x.sum().greater(0),
      () => x.pow(3).sum(),
      () => x.sin().sum(),
    ),
  condNested: (x) =>
    cond(
      x.greater(0),
      () =>
        cond(
          x.greater(10),
          () => x.log(),
          () => x.mul(x),
        ),
      () =>
        cond(
          x.less(-10),
          () => x.neg(),
          () => x.exp(),
        ),
    ),
  condStructure: (x) => {
    const [p, q] = [x.at(0), x.at(1)];
    const { a, b } = cond(
      p.greater(q),
      () => ({ a: x.mul(2), b: [p, q.square()] as const }),
      () => ({ a: x.tanh(), b: [q, p] as const }),
    );
    return a.sum().mul(b[0]).add(b[1]);
  },
  switchCase: (x) => switchCase(x.at(0).cast('int32'), [() => x.sum(), () => x.prod(), () => x.exp().sum()]),
  switchDefault: (x) =>
    switchCase(x.at(0).cast('int32'), [() => x.sum(), () => x.prod()], {
      default: () => x.square().sum().sqrt(),
    }),
  case: (x) =>
    caseOf(
      [
        [x.less(0), () => x.neg().mul(x)],
        [x.less(2), () => x.pow(3)],
      ],
      { default: () => x.sqrt() },
    ),
  power: (x) =>
    whileLoop(
      (y) => y.less(100),
      (y) => y.mul(y),
      x,
    ),
  newton: (x) =>
    whileLoop(
      (_, y) => y.mul(y).sub(x).abs().greater(1e-9),
      (i, y) => [i.add(1), y.add(x.div(y)).mul(0.5)],
      [int(0), float(1)],
    )[1],
  captured: (x) => times(4, (y) => y.sin().mul(x).add(x), zerosLike(x)).sum(),
  maximumIterations: (x) =>
    whileLoop(
      (y) => y.less(1e6),
      (y) => y.mul(x),
      x,
      { maximumIterations: 3 },
    ),
  nestedLoops: (x) =>
    times(
      3,
      (y, i) =>
        whileLoop(
          (k) => k.lessEqual(i),
          (k, z) => [k.add(1), z.mul(x).add(y)],
          [int(0), y],
        )[1].mul(0.5),
      x,
    ),
  loopInCondInLoop: (x) =>
    times(
      4,
      (y) =>
        cond(
          y.greater(2),
          () =>
            whileLoop(
              (z) => z.greater(1),
              (z) => z.mul(0.4).mul(x.add(0.2)),
              y,
            ),
          () => y.add(x.mul(x)),
        ),
      x,
    ),
  collatz: (x) => {
    const [, steps, total] = whileLoop(
      (n) => n.notEqual(1),
      (n, steps, total) => {
        const next = cond(
          n.mod(2).equal(0),
          () => n.floorDiv(2),
          () => n.mul(3).add(1),
        );
        return [next, steps.add(1), total.mul(0.9).add(x.mul(next.mod(7).cast('float64')))];
      },
      [int(27), int(0), x],
    );
    return total.add(steps.cast('float64').mul(x));
  },
  arrayStates: (x) => {
    const [, , states] = whileLoop(
      (i) => i.less(5),
      (i, y, states) => [i.add(1), y.mul(x).add(0.1), states.write(i, y)],
      [int(0), x, array(5)],
    );
    return states
      .stack()
      .mul(float([1, -2, 3, -4, 5]))
      .sum();
  },
  arrayFibonacci: (x) => {
    const start = new TensorArray('float64', { size: 8, elementShape: [] }).write(0, x).write(1, x.mul(x));
    const [, all] = whileLoop(
      (i) => i.less(8),
      (i, all) => [i.add(1), all.write(i, all.read(i.sub(1)).add(all.read(i.sub(2)).mul(0.5).mul(x)))],
      [int(2), start],
    );
    return all.read(7).add(all.read(3));
  },
  arrayGatherScatter: (x) =>
    array(4)
      .unstack(stack([x, x.mul(2), x.mul(3), x.square()]))
      .scatter([3, 1], stack([x.pow(3), x.sin()]))
      .gather([3, 2, 0, 1])
      .mul(float([1, 2, 3, 4]))
      .sum(),
  arraySplitConcat: (x) => {
    const pieces = new TensorArray('float64', { size: 2, inferShape: false }).split(x, [1, 2]);
    return pieces.concat().square().sum().mul(pieces.read(0).at(0));
  },
  arrayUnwritten: (x) =>
    whileLoop(
      (i) => i.less(4),
      (i, all) => [i.add(2), all.write(i, x.mul(i.add(1).cast('float64')))],
      [int(0), array(4)],
    )[1]
      .stack()
      .square()
      .sum(),
  mapFn: (x) => mapFn((e) => e.pow(3).add(x.prod()), x).sum(),
  mapStructure: (x) => {
    const [lows, sums] = mapFn(([p, q]) => [p.mul(q), p.add(x.at(0))] as const, [x, x.square()] as const, {
      fnOutputSignature: ['float64', 'float64'],
    });
    return lows.mul(sums).sum();
  },
  mapCond: (x) =>
    mapFn(
      (e) =>
        cond(
          e.greater(0),
          () => e.mul(e).mul(x.at(1)),
          () => e.exp(),
        ),
      x,
    ).sum(),
  scan: (x) =>
    scan((a, e) => a.mul(e).add(e.sin()), x)
      .mul(float([1, 2, 3]))
      .sum(),
  scanReverse: (x) => {
    const [p, q] = scan(([a, b], e) => [a.mul(0.5).add(e), b.mul(a)], x, {
      initializer: [x.at(0), x.at(1)] as const,
      reverse: true,
    });
    return p.sum().add(q.mul(float([3, 2, 1])).sum());
  },
  foldl: (x) => foldl((a, e) => a.mul(e).add(e), x, { initializer: float(0.5) }),
  foldr: (x) => foldr((a, e) => a.sin().mul(e).add(a), x),
  foldRows: (x) => foldl((a, e) => a.mul(e).add(x), stack([x, x.mul(2), x.cos()])).sum(),
};

const { cases } = JSON.parse(
  readFileSync(new URL('../../golden/control-flow.json', import.meta.url), 'utf8'),
) as Golden;

function near(got: Tensor, expected: Values, what: string): void {
  const list = typeof expected === 'number' ? [expected] : expected;
  const values = Array.from(got.data(), Number);
  expect(values.length, what).toBe(list.length);
  list.forEach((e, i) => {
    const difference = Math.abs((values[i] as number) - e) / Math.max(1, Math.abs(e));
    if (!(difference <= 1e-10)) expect.fail(`${what}[${i}] is ${values[i]}, expected ${e}`);
  });
}

test('every golden program is here', () => {
  expect(Object.keys(programs)).toEqual(cases.map((c) => c.name));
});

const modes = [
  ['eager', <F>(f: F): F => f],
  ['traced', (f: (x: Tensor) => readonly Tensor[]) => tfFunction(f)],
] as const;
for (const { name: backend } of listBackends()) {
  describe.each(modes)(`control flow as in TensorFlow, %s, ${backend}`, (_, wrap) => {
    test.each(cases.map((c) => [c.name, c.calls] as const))('%s', (name, calls) => {
      withBackend(backend, () => {
        const f = wrap(orders(programs[name] as (x: Tensor) => Tensor));
        for (const { x, y, first, second } of calls) {
          const got = f(constant(x as number, 'float64')) as readonly [Tensor, Tensor, Tensor];
          near(got[0], y, `value at ${x}`);
          near(got[1], first, `first order at ${x}`);
          near(got[2], second, `second order at ${x}`);
        }
      });
    });
  });
}
