import { describe, expect, it } from 'vitest';
import {
  buildScalarProgram,
  checkPlan,
  InternalError,
  type Plan,
  type PlanCall,
  type PlanTensor,
  type Storage,
} from '../index.ts';
import { PlanWriter } from '../testing/plans.ts';

const add = buildScalarProgram(['float32', 'float32'], (s, x, y) => s.add(x, y));
const less = buildScalarProgram(['float32', 'float32'], (s, x, y) => s.lt(x, y));
const noMemory = (): Storage => {
  throw new Error('not asked');
};
const [variable, stack] = [{}, {}];

/** x + y, which is also added to a variable and put on a stack. */
function summing(): Plan {
  const b = new PlanWriter();
  const [x, y] = [b.input(), b.input()];
  const v = b.state(variable, noMemory);
  const sum = b.make(add, [x, y], {}, {}, 'sum');
  b.call(add, [v, sum], [v]);
  b.push(sum, b.stack(stack));
  return b.plan([sum]);
}

function comparing(): Plan {
  const b = new PlanWriter();
  return b.plan([b.make(less, [b.input(), b.input()], { dtype: 'bool' })]);
}

/** A branch, a loop and a pop. */
function whole(): Plan {
  const w = new PlanWriter();
  const [x, y] = [w.input(), w.input()];
  w.state(variable, noMemory);
  const s = w.stack(stack);
  const [a] = w.branch(w.make(less, [x, y], { dtype: 'bool' }), [x, y], [summing(), summing()], [x]);
  const [b] = w.branch(w.fill(0, [], 'int32'), [x, y], [summing(), summing(), summing()], [x]);
  const [c] = w.loop([a], [b], comparing(), summing());
  return w.plan([w.make(add, [c, w.pop(s)])]);
}

it('accepts branches, loops and stacks', () => {
  checkPlan(whole());
  // A result may be a state that no body touches, or a state that a body is given too.
  const w = new PlanWriter();
  const [x, other] = [w.input(), w.state({}, noMemory)];
  const v = w.state(variable, noMemory);
  w.stack(stack);
  w.loop([v], [v], comparing(), summing());
  w.loop([x], [v], comparing(), summing());
  const plan = w.plan();
  const [first, last] = plan.calls;
  checkPlan({ ...plan, calls: [first, { ...last, outputs: [other, ...last.outputs.slice(1)] }] });
});

/** The whole plan with a call changed. */
function changed(kernel: PlanCall['kernel'], change: (call: PlanCall) => PlanCall): Plan {
  const plan = whole();
  const at = plan.calls.findIndex((call) => call.kernel === kernel);
  return { ...plan, calls: plan.calls.map((call, i) => (i === at ? change(call) : call)) };
}

const scalar = (value: number, dtype: PlanTensor['dtype'] = 'float32'): PlanTensor => ({
  value,
  dtype,
  shape: [],
  size: 1,
});
const write = (...outputs: PlanTensor[]): PlanCall => ({
  kernel: 'Fill',
  inputs: [],
  outputs,
  attrs: { value: 0 },
  name: 'fill',
});
const empty: Plan = { bytes: [], inputs: [], states: [], calls: [], outputs: [] };
const body = (change: Partial<Plan>): Plan => ({ ...summing(), ...change });

describe('names the call that', () => {
  const broken: readonly (readonly [
    what: string,
    kernel: PlanCall['kernel'],
    change: (call: PlanCall) => Partial<PlanCall>,
    message: RegExp,
  ])[] = [
    ['has no bodies', 'Case', () => ({ bodies: [] }), /without bodies/],
    ['has bodies and no use', 'Pop', () => ({ bodies: [empty] }), /no Case or While/],
    [
      'has bodies of different inputs',
      'Case',
      () => ({ bodies: [summing(), { ...empty, bytes: [4], inputs: [0] }] }),
      /body 1 has 1 inputs and 0 outputs, body 0 has 2 and 1/,
    ],
    ['has one body for a bool', 'Case', () => ({ bodies: [summing()] }), /a bool selects one of 1/],
    [
      'selects by a float',
      'Case',
      ({ inputs }) => ({ inputs: [inputs[1], ...inputs.slice(1)] }),
      /selected by float32 of shape \[\]/,
    ],
    [
      'selects by a vector',
      'Case',
      ({ inputs }) => ({ inputs: [{ ...inputs[0], shape: [1] }, ...inputs.slice(1)] }),
      /selected by bool of shape \[1\]/,
    ],
    ['lacks inputs', 'Case', ({ inputs }) => ({ inputs: inputs.slice(0, 2) }), /2 inputs and 3 outputs/],
    ['lacks outputs', 'Case', () => ({ outputs: [] }), /0 outputs where the bodies want 3 and 1/],
    [
      'gives too little',
      'Case',
      ({ inputs }) => ({ inputs: [inputs[0], inputs[1], inputs[0], ...inputs.slice(3)] }),
      /1 bytes for input 1 of body 0, which has 4/,
    ],
    [
      'takes another size',
      'Case',
      () => ({ bodies: [body({ bytes: [4, 4, 4, 8, 0] }), summing()] }),
      /4 bytes for output 0 of body 0, which has 8/,
    ],
    [
      'gives a stack',
      'Case',
      ({ inputs, bodies = [] }) => ({
        inputs: [inputs[0], { ...scalar(3), shape: [0], size: 0 }, ...inputs.slice(2)],
        bodies: bodies.map((b) => ({ ...b, bytes: [0, 4, 4, 4, 0], calls: [write(scalar(3))] })),
      }),
      /given the stack 3/,
    ],
    [
      'lists no state that it reads',
      'Case',
      ({ inputs }) => ({ inputs: inputs.slice(0, 3) }),
      /touches state 2, which is not among the inputs/,
    ],
    [
      'lists no state that it writes',
      'While',
      ({ outputs }) => ({ outputs: outputs.slice(0, 1) }),
      /writes state 2, which is not among the outputs/,
    ],
    [
      'lists what is no state',
      'While',
      ({ inputs }) => ({ inputs: [...inputs, inputs[0]] }),
      /is for no body, and no state/,
    ],
    [
      'has a result where a body writes',
      'While',
      ({ outputs }) => ({ outputs: [scalar(2), ...outputs.slice(2)] }),
      /not among the outputs/,
    ],
    [
      'has a result where a body reads',
      'While',
      ({ outputs, bodies = [] }) => ({
        outputs: [scalar(2), ...outputs.slice(2)],
        bodies: [bodies[0], body({ calls: summing().calls.filter((_, i) => i !== 1) })],
      }),
      /While cannot write value 2, which it reads/,
    ],
    ['has three bodies', 'While', ({ bodies = [] }) => ({ bodies: [...bodies, empty] }), /with 3 bodies/],
    ['has a body alone', 'While', () => ({ bodies: [summing()] }), /with 1 bodies/],
    [
      'has a condition of other inputs',
      'While',
      () => ({ bodies: [{ ...comparing(), inputs: [0], calls: [write(scalar(2, 'bool'))] }, summing()] }),
      /1 and 2 inputs of condition and body/,
    ],
    [
      'has a condition that is no bool',
      'While',
      () => ({ bodies: [summing(), summing()] }),
      /a condition that is float32 of shape \[\]/,
    ],
    [
      'has a condition of no scalar',
      'While',
      () => ({
        bodies: [
          { ...comparing(), calls: [write({ value: 2, dtype: 'bool', shape: [1], size: 1 })] },
          summing(),
        ],
      }),
      /a condition that is bool of shape \[1\]/,
    ],
    [
      'has two conditions',
      'While',
      () => ({
        bodies: [
          {
            ...comparing(),
            bytes: [4, 4, 1, 1],
            calls: [write(scalar(2, 'bool')), write(scalar(3, 'bool'))],
            outputs: [2, 3],
          },
          summing(),
        ],
      }),
      /a condition of 2 outputs/,
    ],
    [
      'carries more than it is given',
      'While',
      () => ({
        bodies: [
          { ...comparing(), inputs: [], calls: [write(scalar(2, 'bool'))] },
          body({ inputs: [], calls: [write(scalar(3))], states: [] }),
        ],
      }),
      /1 of 0 values are carried/,
    ],
    [
      'pops what is no stack',
      'Pop',
      ({ outputs }) => ({ inputs: [scalar(0)], outputs }),
      /value 0 is no stack/,
    ],
    ['pops twice', 'Pop', ({ inputs }) => ({ inputs: [...inputs, ...inputs] }), /2 inputs and 2 outputs/],
    ['pops into a stack', 'Pop', ({ outputs: [, s] }) => ({ outputs: [s, scalar(0)] }), /second time/],
    ['pops nothing', 'Pop', ({ outputs }) => ({ outputs: outputs.slice(1) }), /1 inputs and 1 outputs/],
  ];
  it.each(broken)('%s', (_, kernel, change, message) => {
    const call = whole().calls.find((c) => c.kernel === kernel)!;
    let error: unknown;
    try {
      checkPlan(changed(kernel, (c) => ({ ...c, ...change(c) })));
    } catch (e) {
      error = e;
    }
    expect(error).toBeInstanceOf(InternalError);
    expect((error as InternalError).message).toMatch(message);
    expect((error as InternalError).op).toBe(call.name);
  });

  it('is wrong inside of a body, or else the call of the body', () => {
    const wrong = (plan: Plan): Plan =>
      changed('While', (call) => ({ ...call, bodies: [comparing(), plan] }));
    const { calls } = summing();
    expect(() => checkPlan(wrong(body({ calls: calls.slice(1) })))).toThrow(/^map: value 3 is read before/);
    expect(() => checkPlan(wrong(body({ calls: [] })))).toThrow(/^While: output 3 is the output of no call/);
    expect(() => checkPlan(wrong(body({ inputs: [0, 0] })))).toThrow(/^While: input 0 is given twice/);
  });
});

it('refuses stacks elsewhere, and states that are not one thing', () => {
  const w = new PlanWriter();
  const s = w.stack(stack);
  w.call('Copy', [s], [w.value([0])]);
  expect(() => checkPlan(w.plan())).toThrow(/^Copy: the stack 0 is no tensor/);

  const plan = whole();
  const [v, t] = plan.states;
  const large = plan.bytes.map((bytes, value) => (value === t.value ? 4 : bytes));
  expect(() => checkPlan({ ...plan, bytes: large })).toThrow(/the stack 3 has 4 bytes/);
  expect(() => checkPlan({ ...plan, states: [v, { ...t, source: variable }] })).toThrow(
    /state 3 has the source of another/,
  );
  const inner = (change: Partial<Plan>): Plan =>
    changed('While', (call) => ({ ...call, bodies: [comparing(), body(change)] }));
  const wide = { bytes: [4, 4, 8, 4, 0] };
  expect(() => checkPlan(inner(wide))).toThrow(/^While: state 2 of a body has 8 bytes in one place and 4/);
  const states = summing().states.map((state) => ({ ...state, memory: noMemory }));
  const calls = summing().calls.slice(0, 2);
  expect(() => checkPlan(inner({ states, calls }))).toThrow(/^While: state 4 of a body is a stack in one/);
});
