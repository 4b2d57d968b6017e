// Random programs of loops, branches, breaks, continues and early returns mean the same on numbers, on tensors and in graphs.
import '@eagre/backend-js';
import { constant } from '@eagre/core';
import { tfFunction } from '@eagre/graph';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { converted, plain, values } from './fixture.ts';

const names = ['a', 'b', 'c', 'd'] as const;

interface Context {
  readonly depth: number;
  readonly inLoop: boolean;
}

const variable = fc.constantFrom(...names);
const small = fc.integer({ min: -4, max: 6 });
const operand = fc.oneof(variable, small.map(String));
// Small numbers stay small, so that float32 holds them.
const value = fc
  .tuple(operand, fc.constantFrom('+', '-', '*'), operand)
  .map(([x, op, y]) => `((${x} ${op} ${y}) % 17)`);
const comparison = fc
  .tuple(operand, fc.constantFrom('<', '<=', '>', '>=', '===', '!=='), operand)
  .map(([x, op, y]) => `${x} ${op} ${y}`);
const condition = fc.oneof(
  { weight: 4, arbitrary: comparison },
  fc.tuple(comparison, fc.constantFrom('&&', '||'), comparison).map(([x, op, y]) => `${x} ${op} ${y}`),
  comparison.map((c) => `!(${c})`),
);
const assignment = fc.oneof(
  fc.tuple(variable, value).map(([x, v]) => `${x} = ${v};`),
  fc.tuple(variable, fc.constantFrom('+=', '-='), operand).map(([x, op, y]) => `${x} ${op} ${y};`),
  variable.map((x) => `${x}++;`),
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

const program = block({ depth: 2, inLoop: false }).map(
  (body) => `(a, b, n, list) => {
    let c = 1, d = 2;
    ${body}
    return a + 2 * b + 3 * c + 5 * d;
  }`,
);

const RUNS = Number(process.env['EAGRE_FUZZ'] ?? 60);

test('random programs', () => {
  fc.assert(
    fc.property(program, small, small, fc.integer({ min: 0, max: 4 }), (text, a, b, n) => {
      const list = [3, -1, 2];
      const expected = plain(text)(a, b, n, list);
      // Larger numbers are not exact in float32.
      fc.pre(Math.abs(Number(expected)) < 2 ** 20);
      const eager = converted(text);
      expect(Number(eager(a, b, n, list))).toBe(Number(expected));
      const args = [constant(a), constant(b), constant(n), constant(list)];
      expect(Number(values(eager(...args)))).toBe(Number(expected));
      const graph = tfFunction(eager as (...args: never[]) => unknown);
      expect(Number(values(graph(...(args as never[]))))).toBe(Number(expected));
    }),
    { numRuns: RUNS },
  );
}, 300_000);
