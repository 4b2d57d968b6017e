import { describe, expect, it } from 'vitest';
import {
  buildScalarProgram,
  checkPlan,
  InternalError,
  type Plan,
  type PlanCall,
  type PlanTensor,
} from '../index.ts';

function tensor(
  value: number,
  shape: readonly number[] = [4],
  dtype: PlanTensor['dtype'] = 'float32',
): PlanTensor {
  return { value, dtype, shape, size: shape.reduce((a, b) => a * b, 1) };
}

const add = buildScalarProgram(['float32', 'float32'], (s, x, y) => s.add(x, y));
const copy: PlanCall = {
  kernel: 'Copy',
  inputs: [tensor(0)],
  outputs: [tensor(1)],
  attrs: {},
  name: 'first',
};
const sum: PlanCall = {
  kernel: add,
  inputs: [tensor(1), tensor(2, [])],
  outputs: [tensor(3)],
  attrs: {},
  name: 'second',
};
const state = {
  value: 2,
  source: {},
  memory: (): never => {
    throw new Error('not asked');
  },
};
/** With its outputs in these values. */
const nextDraw = (...outputs: number[]): PlanCall => ({
  kernel: 'NextDraw',
  inputs: [tensor(2, [2], 'uint64')],
  outputs: outputs.map((value) => tensor(value, [2], 'uint64')),
  attrs: {},
  name: 'first',
});
const plan: Plan = {
  bytes: [16, 16, 16, 16],
  inputs: [0],
  states: [state],
  calls: [copy, sum],
  outputs: [3],
};

it('accepts what keeps the promises', () => {
  checkPlan(plan);
  checkPlan({ bytes: [], inputs: [], states: [], calls: [], outputs: [] });
  checkPlan({ ...plan, calls: [nextDraw(1, 2)], outputs: [1] });
  // A kernel of a backend's own may write over what it reads.
  const own = { title: 'mine', run: () => {} };
  checkPlan({
    ...plan,
    calls: [{ ...sum, kernel: 'Own', own, inputs: [tensor(2)], outputs: [tensor(2)] }],
    outputs: [],
  });
  const without: PlanCall = { ...copy, kernel: 'Own' };
  expect(() => checkPlan({ ...plan, calls: [without], outputs: [1] })).toThrow(
    'first: a call of a backend without its kernel',
  );
  // A state written in place, by a scalar program and by an optimizer.
  checkPlan({
    ...plan,
    calls: [
      copy,
      { ...sum, inputs: [tensor(1), tensor(2)], outputs: [tensor(2)] },
      {
        kernel: 'ApplyGradientDescent',
        inputs: [tensor(2), tensor(1)],
        outputs: [tensor(2)],
        attrs: { count: 1 },
        name: 'u',
      },
      { ...sum, inputs: [tensor(1), tensor(2, [1, 4])], outputs: [tensor(3, [1, 4])] },
    ],
  });
});

describe('names the call that', () => {
  const broken: readonly (readonly [
    what: string,
    name: string,
    calls: readonly PlanCall[],
    message: RegExp,
  ])[] = [
    ['reads too early', 'second', [sum, copy], /value 1 is read before it is written/],
    ['reads what it writes itself', 'first', [{ ...copy, inputs: [tensor(1)] }], /before it is written/],
    ['writes an input', 'first', [{ ...copy, inputs: [tensor(2)], outputs: [tensor(0)] }], /second time/],
    ['writes again', 'first', [copy, copy], /second time/],
    ['writes twice', 'two', [{ ...copy, outputs: [tensor(1), tensor(1)], name: 'two' }], /second time/],
    ['names no value', 'first', [{ ...copy, inputs: [tensor(4)] }], /value 4 of a plan of 4/],
    ['names half a value', 'first', [{ ...copy, inputs: [tensor(0.5)] }], /value 0\.5/],
    [
      'leaves its memory',
      'first',
      [{ ...copy, inputs: [tensor(0, [5])] }],
      /20 bytes of value 0, which has 16/,
    ],
    ['has a wrong size', 'first', [{ ...copy, inputs: [{ ...tensor(0), size: 3 }] }], /size 3/],
    ['has a negative shape', 'first', [{ ...copy, inputs: [tensor(0, [-1, -4])] }], /a shape with -1/],
    ['has too high a rank', 'first', [{ ...copy, inputs: [tensor(0, Array(9).fill(1))] }], /rank 9/],
    ['takes strings', 'first', [{ ...copy, inputs: [tensor(0, [4], 'string')] }], /strings/],
    ['lacks an attribute', 'first', [{ ...copy, kernel: 'Concat' }], /attribute axis/],
    ['draws over the state', 'first', [nextDraw(2, 1)], /NextDraw cannot write value 2/],
    ['is of no kernel', 'first', [{ ...copy, kernel: 'Nothing' as 'Copy' }], /Nothing/],
    [
      'copies a state to itself',
      'first',
      [{ ...copy, inputs: [tensor(2)], outputs: [tensor(2)] }],
      /cannot write/,
    ],
    [
      'updates what it does not read',
      'first',
      [
        {
          kernel: 'ApplyGradientDescent',
          inputs: [tensor(0), tensor(0)],
          outputs: [tensor(2)],
          attrs: { count: 1 },
          name: 'first',
        },
      ],
      /without reading/,
    ],
    [
      'broadcasts over itself',
      'second',
      [copy, { ...sum, inputs: [tensor(1), tensor(2, [1])], outputs: [tensor(2)] }],
      /another tensor/,
    ],
    [
      'lacks an operand',
      'second',
      [copy, { ...sum, inputs: [tensor(1)] }],
      /1 inputs and 1 outputs for a scalar program of 2 and 1/,
    ],
    ['has no output', 'second', [copy, { ...sum, outputs: [] }], /0 outputs/],
    [
      'has an operand of another dtype',
      'second',
      [copy, { ...sum, inputs: [tensor(1), tensor(2, [4], 'int32')] }],
      /input 1 is int32/,
    ],
    [
      'has a result of another dtype',
      'second',
      [copy, { ...sum, outputs: [tensor(3, [4], 'int32')] }],
      /output 0 is int32/,
    ],
    [
      'does not broadcast',
      'second',
      [copy, { ...sum, inputs: [tensor(1), tensor(2, [3])] }],
      /does not broadcast/,
    ],
    [
      'has too short an output',
      'second',
      [copy, { ...sum, outputs: [tensor(3, [1])] }],
      /does not broadcast/,
    ],
  ];
  it.each(broken)('%s', (_, name, calls, message) => {
    let error: unknown;
    try {
      checkPlan({ ...plan, calls });
    } catch (e) {
      error = e;
    }
    expect(error).toBeInstanceOf(InternalError);
    expect((error as InternalError).op).toBe(name);
    expect((error as InternalError).message).toMatch(message);
  });
});

it('refuses values that are given twice, nowhere, or never written', () => {
  expect(() => checkPlan({ ...plan, inputs: [0, 0] })).toThrow(/input 0 is given twice/);
  expect(() => checkPlan({ ...plan, inputs: [0, 2] })).toThrow(/state 2 is given twice/);
  expect(() => checkPlan({ ...plan, outputs: [3, 3] })).toThrow(/output 3 is given twice/);
  expect(() => checkPlan({ ...plan, outputs: [0] })).toThrow(/output 0 is given twice/);
  expect(() => checkPlan({ ...plan, outputs: [4] })).toThrow(/output 4 of a plan of 4/);
  expect(() => checkPlan({ ...plan, calls: [copy] })).toThrow(/output 3 is the output of no call/);
  expect(() => checkPlan({ ...plan, bytes: [16, 16, 16, -1] })).toThrow(/value 3 has -1 bytes/);
});
