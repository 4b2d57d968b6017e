// Random programs of loops, branches, breaks, continues and early returns mean the same on numbers, on tensors and in graphs.
import '@eagre/backend-js';
import { GradientTape } from '@eagre/autodiff';
import { constant, type Tensor } from '@eagre/core';
import { tfFunction } from '@eagre/graph';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { converted, plain, values } from './testing/functions.ts';

const names = ['a', 'b', 'c', 'd'] as const;

interface Context {
  readonly depth: number;
  readonly inLoop: boolean;
}

const variable = fc.constantFrom(...names);
const small = fc.integer({ min: -4, max: 6 });
const operand = fc.oneof(
  variable,
  small.map((k) => `<${k}>`),
);
// Small numbers stay small, so that float32 holds them.
const value = fc
  .tuple(operand, fc.constantFrom('+', '-', '*'), operand)
  .map(([x, op, y]) => `((${x} ${op} ${y}) % 17)`);
const shrunk = fc.oneof(
  { weight: 5, arbitrary: value },
  value.map((v) => `-${v}`),
  fc.tuple(value, fc.constantFrom(2, 4, 8)).map(([v, n]) => `${v} / ${n}`),
  fc.tuple(value, value).map(([v, w]) => `(${v} * ${w}) % 13`),
);
const comparison = fc
  .tuple(operand, fc.constantFrom('<', '<=', '>', '>=', '===', '!=='), operand)
  .map(([x, op, y]) => `${x} ${op} ${y}`);
const condition = fc.oneof(
  { weight: 4, arbitrary: comparison },
  fc.tuple(comparison, fc.constantFrom('&&', '||'), comparison).map(([x, op, y]) => `${x} ${op} ${y}`),
  comparison.map((c) => `!(${c})`),
  fc.tuple(comparison, comparison, comparison).map(([x, y, z]) => `(${x} ? ${y} : ${z})`),
);
const assignment = fc.oneof(
  fc.tuple(variable, value).map(([x, v]) => `${x} = ${v};`),
  fc.tuple(variable, shrunk).map(([x, v]) => `${x} = ${v};`),
  fc.tuple(variable, fc.constantFrom('+=', '-='), operand).map(([x, op, y]) => `${x} ${op} ${y};`),
  fc.tuple(variable, fc.constantFrom('++', '--')).map(([x, op]) => `${x}${op};`),
  fc.tuple(variable, condition, value, value).map(([x, c, v, w]) => `${x} = ${c} ? ${v} : ${w};`),
);

let loops = 0;

function statement({ depth, inLoop }: Context): fc.Arbitrary<string> {
  const jump = inLoop
    ? fc.oneof(
        fc.constantFrom('break;', 'continue;'),
        value.map((v) => `return ${v};`),
      )
    : value.map((v) => `return ${v};`);
  const guarded = fc.tuple(condition, jump).map(([c, j]) => `if (${c}) ${j}`);
  if (depth === 0) return fc.oneof({ weight: 3, arbitrary: assignment }, guarded);
  const inner = block({ depth: depth - 1, inLoop });
  const turn = block({ depth: depth - 1, inLoop: true });
  const branch = fc.oneof(
    { weight: 4, arbitrary: inner },
    fc.tuple(inner, jump).map(([b, j]) => `${b} ${j}`),
  );
  const count = fc.constantFrom('n', '3');
  return fc.oneof(
    { weight: 3, arbitrary: assignment },
    guarded,
    fc.tuple(condition, branch).map(([c, b]) => `if (${c}) { ${b} }`),
    fc.tuple(condition, branch, branch).map(([c, b, e]) => `if (${c}) { ${b} } else { ${e} }`),
    fc.tuple(count, turn).map(([n, b]) => {
      const i = `i${loops++}`;
      return `for (let ${i} = 0; ${i} < ${n}; ${i}++) { a += ${i}; ${b} }`;
    }),
    fc.tuple(count, turn).map(([n, b]) => {
      const i = `i${loops++}`;
      return `{ let ${i} = 0; while (${i} < ${n}) { ${i}++; ${b} } }`;
    }),
    fc.tuple(condition, turn).map(([c, b]) => {
      const i = `i${loops++}`;
      return `{ let ${i} = 0; do { ${i} += 1; ${b} } while (${i} < 4 && (${c})) }`;
    }),
    turn.map((b) => `for (const e of list) { b += e; ${b} }`),
  );
}

function block(at: Context): fc.Arbitrary<string> {
  return fc.array(statement(at), { minLength: 1, maxLength: 3 }).map((list) => list.join('\n'));
}

/** @param number what a number is written as. */
const program = (number: (k: string) => string): fc.Arbitrary<string> =>
  block({ depth: 2, inLoop: false }).map(
    (body) => `(a, b, n, list, zero) => {
    let c = ${number('1')}, d = c + 1;
    ${body.replace(/<(-?\d+)>/g, (_, k: string) => number(k))}
    return a + 2 * b + 3 * c + 5 * d;
  }`,
  );

const RUNS = Number(process.env['EAGRE_FUZZ_RUNS'] ?? 60);
const turns = fc.integer({ min: 0, max: 4 });

test(`${RUNS} random programs have the same values`, () => {
  fc.assert(
    fc.property(program(String), small, small, turns, (text, a, b, n) => {
      const list = [3, -1, 2];
      const expected = Number(plain(text)(a, b, n, list));
      // Larger numbers are not exact in float32, nor are fractions that were halved often.
      fc.pre(Math.abs(expected) < 2 ** 12 && Number.isInteger(expected * 2 ** 6));
      const eager = converted(text);
      expect(Number(eager(a, b, n, list))).toBe(expected);
      const args = [constant(a), constant(b), constant(n), constant(list)];
      expect(Number(values(eager(...args)))).toBe(expected);
      const graph = tfFunction(eager as (...args: never[]) => unknown);
      expect(Number(values(graph(...(args as never[]))))).toBe(expected);
    }),
    { numRuns: RUNS },
  );
});

test(`${RUNS} random programs have the same gradients`, () => {
  fc.assert(
    fc.property(
      // Bare numbers that meet no tensor are float32: here they meet one of float64.
      program((k) => `(${k} + zero)`),
      small,
      small,
      turns,
      (text, i, j, n) => {
        const list = [3.125, -1.25, 2.375];
        const at = [i + 0.21875, j - 0.390625] as const;
        const host = plain(text);
        const f = (a: number, b: number): number => Number(host(a, b, n, list, 0));
        const slopes = (h: number): readonly number[] => [
          (f(at[0] + h, at[1]) - f(at[0] - h, at[1])) / (2 * h),
          (f(at[0], at[1] + h) - f(at[0], at[1] - h)) / (2 * h),
        ];
        // At kinks and jumps there is no gradient; where the two widths agree there is none near.
        const [expected, wider] = [slopes(1e-5), slopes(1e-3)];
        const size = Math.max(1, ...expected.map(Math.abs));
        fc.pre(size < 1e4 && expected.every((g, k) => Math.abs(g - (wider[k] as number)) < 1e-3 * size));
        const eager = converted(text) as (...args: readonly Tensor[]) => Tensor | number;
        const run = (fn: typeof eager): readonly number[] => {
          const [a, b, ...others] = [...at, n, list, 0].map((v) => constant(v, 'float64')) as [
            Tensor,
            Tensor,
          ];
          const tape = new GradientTape();
          tape.watch([a, b]);
          const y = fn(a, b, ...others);
          const value = Number(values(y));
          const gradient = typeof y === 'number' ? [null, null] : tape.gradient(y, [a, b]);
          return [value, ...gradient.map((g) => (g === null ? 0 : Number(values(g))))];
        };
        const close = (got: readonly number[]): void => {
          const wanted = [f(...at), ...expected];
          for (const [k, g] of got.entries())
            expect(Math.abs(g - (wanted[k] as number)), `${k}: ${got} ${wanted}`).toBeLessThan(2e-3 * size);
        };
        close(run(eager));
        close(run(tfFunction(eager)));
      },
    ),
    { numRuns: RUNS },
  );
});
