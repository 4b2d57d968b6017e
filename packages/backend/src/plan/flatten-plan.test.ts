import { describe, expect, it } from 'vitest';
import {
  buildScalarProgram,
  checkPlan,
  type FlatPlan,
  flattenPlan,
  type Plan,
  type PlanTensor,
  type Storage,
} from '../index.ts';
import { PlanWriter, showSteps } from '../testing/plans.ts';

const add = buildScalarProgram(['float32', 'float32'], (s, x, y) => s.add(x, y));
const double = buildScalarProgram(['float32'], (s, x) => s.mul(x, 2));
const less = buildScalarProgram(['float32', 'float32'], (s, x, y) => s.lt(x, y));
const noMemory = (): Storage => {
  throw new Error('not asked');
};

const flat = (plan: Plan): FlatPlan => {
  checkPlan(plan);
  return flattenPlan(plan);
};

/** A body: its inputs come as scalars, and it returns its outputs. */
function body(inputs: number, write: (w: PlanWriter, ...inputs: PlanTensor[]) => PlanTensor[]): Plan {
  const w = new PlanWriter();
  return w.plan(write(w, ...Array.from({ length: inputs }, () => w.input())));
}

/** That the first of two inputs, or of more, is less than the second. */
const below = (inputs: number): Plan => body(inputs, (w, x, y) => [w.make(less, [x, y], { dtype: 'bool' })]);

const showLoop = (inputs: number, turn: Plan, condition = below(inputs)): string[] => {
  const w = new PlanWriter();
  const given = Array.from({ length: inputs }, () => w.input());
  const carried = turn.outputs.length;
  return showSteps(flat(w.plan(w.loop(given.slice(0, carried), given.slice(carried), condition, turn))));
};

it('leaves a plan without bodies as it is', () => {
  const w = new PlanWriter();
  const x = w.input();
  const state = w.state({}, noMemory);
  w.call(add, [x, state], [state]);
  const y = w.make('Fill', [], { shape: [], dtype: 'float32' }, { value: 1 });
  const plan = w.plan([w.make(add, [x, y])]);
  const { steps, ...rest } = flat(plan);
  expect(rest).toEqual({
    bytes: plan.bytes,
    inputs: [0],
    states: plan.states,
    stacks: 0,
    outputs: [3],
  });
  expect(steps).toEqual(plan.calls.map((call, owner) => ({ kind: 'call', call, owner })));
});

describe('a branch', () => {
  it('writes its results straight to those of the call, and jumps over the other bodies', () => {
    const w = new PlanWriter();
    const [c, x] = [w.input([], 'bool'), w.input()];
    const twice = body(1, (b, y) => [b.make(double, [b.make(double, [y])])]);
    const same = body(1, (b, y) => [b.make('Copy', [y])]);
    const [y] = w.branch(c, [x], [twice, same], [x]);
    const flattened = flat(w.plan([w.make(double, [y])]));
    expect(showSteps(flattened)).toEqual([
      'switch 0: 1 4',
      'map 1 -> 4',
      'map 4 -> 2',
      'jump 5',
      'Copy 1 -> 2',
      'map 2 -> 3',
    ]);
    expect(flattened.steps.map(({ owner }) => owner)).toEqual([0, 0, 0, 0, 0, 1]);
    expect(flattened.bytes).toEqual([1, 4, 4, 4, 4]);
  });

  it('may have many bodies, or one, with nothing in them', () => {
    const w = new PlanWriter();
    const s = w.input([], 'int32');
    const none = body(0, () => []);
    w.branch(s, [], [none, none, none], []);
    w.branch(s, [], [none], []);
    expect(showSteps(flat(w.plan()))).toEqual(['switch 0: 1 2 3', 'jump 3', 'jump 3', 'switch 0: 4']);
  });

  it('is given a copy of a state that it writes', () => {
    const w = new PlanWriter();
    const source = {};
    const [c, state, other] = [w.input([], 'bool'), w.state(source, noMemory), w.state({}, noMemory)];
    const writes = body(2, (b, x, y) => {
      const inner = b.state(source, noMemory);
      b.call(add, [inner, x], [inner]);
      return [b.make(add, [x, y])];
    });
    const reads = body(2, (b, x, y) => [b.make(add, [x, y])]);
    const [y] = w.branch(c, [state, other], [writes, reads], [state]);
    const flattened = flat(w.plan([y]));
    expect(showSteps(flattened)).toEqual([
      'Copy 1 -> 4',
      'switch 0: 2 5',
      'map 1 4 -> 1',
      'map 4 2 -> 3',
      'jump 6',
      'map 4 2 -> 3',
    ]);
    expect(flattened.states.map(({ value }) => value)).toEqual([1, 2]);
  });
});

describe('a loop', () => {
  it('writes what it carries in place where nothing reads it any more', () => {
    const turn = body(2, (b, x, n) => {
      const t = b.make(add, [x, n]);
      return [b.make(add, [t, x]), b.make('Copy', [n])];
    });
    expect(showLoop(2, turn)).toEqual([
      'Copy 0 -> 2',
      'Copy 1 -> 3',
      'map 2 3 -> 4',
      'switch 4: 4 7',
      'map 2 3 -> 5',
      'map 5 2 -> 2',
      'jump 2',
    ]);
  });

  it('goes on by a flag that its condition only passes on, with one program for all next values', () => {
    const inputs = (w: PlanWriter): [PlanTensor, PlanTensor, PlanTensor] => [
      w.input([], 'bool'),
      w.input(),
      w.input(),
    ];
    const condition = new PlanWriter();
    const [flag] = inputs(condition);
    const turn = new PlanWriter();
    const [, x, limit] = inputs(turn);
    const next = [turn.value([], 'bool'), turn.value([])];
    const program = buildScalarProgram(['float32', 'float32'], (s, v, n) => [s.lt(v, n), s.add(v, n)]);
    turn.call(program, [x, limit], next);
    const w = new PlanWriter();
    const [first, y, n] = inputs(w);
    w.loop([first, y], [n], condition.plan([condition.make('Copy', [flag])]), turn.plan(next));
    expect(showSteps(flat(w.plan()))).toEqual([
      'Copy 0 -> 3',
      'Copy 1 -> 4',
      'switch 3: 3 5',
      'map 4 2 -> 3 4',
      'switch 3: 3 5',
    ]);
  });

  it('copies at the end what is read after its successor is written', () => {
    const swap = body(2, (b, x, y) => [b.make('Copy', [y]), b.make('Copy', [x])]);
    expect(showLoop(2, swap).slice(4)).toEqual(['Copy 3 -> 5', 'Copy 2 -> 3', 'Copy 5 -> 2', 'jump 2']);
    const fibonacci = body(3, (b, x, _, n) => {
      const sum = b.make(add, [x, n]);
      return [b.make('Copy', [n]), b.make('Copy', [x]), sum];
    });
    expect(showLoop(3, fibonacci).slice(5)).toEqual([
      'map 3 5 -> 7',
      'Copy 5 -> 8',
      'Copy 3 -> 4',
      'Copy 8 -> 3',
      'Copy 7 -> 5',
      'jump 3',
    ]);
  });

  it('does not write in place over another look, or over an operand that SetRow does not keep', () => {
    const w = new PlanWriter();
    const [n, limit, x] = [w.input(), w.input(), w.input([4])];
    const condition = new PlanWriter();
    const [a, b] = [condition.input(), condition.input([4]), condition.input()];
    const holds = condition.plan([
      condition.make(less, [a, { ...b, shape: [], size: 1 }], { dtype: 'bool' }),
    ]);
    const turn = new PlanWriter();
    const [m, y] = [turn.input(), turn.input([4]), turn.input()];
    const look = { ...y, shape: [2, 2] };
    const index = turn.fill(0, [], 'int32');
    const z = turn.make(add, [look, { ...m, shape: [] }], { shape: [2, 2] });
    const set = turn.make('SetRow', [{ ...z, shape: [4] }, index, m], {}, { mode: 0 });
    const rows = turn.make('SetRow', [{ ...m, shape: [1] }, index, m], {}, { mode: 0 });
    w.loop([n, x], [limit], holds, turn.plan([{ ...rows, shape: [] }, set]));
    expect(showSteps(flat(w.plan())).slice(4)).toEqual([
      'Fill -> 6',
      'map 4 3 -> 4',
      'SetRow 4 6 3 -> 4',
      'SetRow 3 6 3 -> 7',
      'Copy 7 -> 3',
      'jump 2',
    ]);
  });

  it('makes what it carries in several steps in place, in branches too', () => {
    const row = (b: PlanWriter, x: PlanTensor, n: PlanTensor): PlanTensor => {
      const index = b.fill(0, [], 'int32');
      return b.make('SetRow', [x, index, n], {}, { mode: 1 });
    };
    const w = new PlanWriter();
    const [n, limit, flag, x] = [w.input(), w.input(), w.input([], 'bool'), w.input([4])];
    const condition = new PlanWriter();
    const [a, , b] = [condition.input(), condition.input([4]), condition.input()];
    condition.input([], 'bool');
    const holds = condition.plan([condition.make(less, [a, b], { dtype: 'bool' })]);
    const adds = new PlanWriter();
    const [p, q] = [adds.input([4]), adds.input()];
    const leaves = new PlanWriter();
    const r = leaves.input([4]);
    leaves.input();
    const turn = new PlanWriter();
    const [m, y, , c] = [turn.input(), turn.input([4]), turn.input(), turn.input([], 'bool')];
    const first = row(turn, y, m);
    const second = row(turn, first, m);
    const [chosen] = turn.branch(
      c,
      [second, m],
      [adds.plan([row(adds, p, q)]), leaves.plan([leaves.make('Copy', [r])])],
      [second],
    );
    w.loop([n, x], [limit, flag], holds, turn.plan([turn.make('Copy', [m]), chosen]));
    expect(showSteps(flat(w.plan())).slice(4)).toEqual([
      'Fill -> 7',
      'SetRow 5 7 4 -> 5',
      'Fill -> 8',
      'SetRow 5 8 4 -> 5',
      'switch 2: 9 12',
      'Fill -> 9',
      'SetRow 5 9 4 -> 5',
      'jump 12',
      'jump 2',
    ]);
  });

  it('begins in place with a temporary that nothing else reads', () => {
    const w = new PlanWriter();
    const limit = w.input();
    const turn = body(2, (b, x) => [b.make(double, [x])]);
    const first = w.loop([w.fill(1)], [limit], below(2), turn);
    const second = w.loop(first, [limit], below(2), turn);
    const kept = w.fill(2);
    const third = w.loop([kept], [limit], below(2), turn);
    const fourth = w.loop([w.fill(3)], [kept], below(2), turn);
    expect(showSteps(flat(w.plan([...second, ...third, ...fourth])))).toEqual([
      'Fill -> 3',
      'map 3 0 -> 8',
      'switch 8: 3 5',
      'map 3 -> 3',
      'jump 1',
      'map 3 0 -> 9',
      'switch 9: 7 9',
      'map 3 -> 3',
      'jump 5',
      'Fill -> 4',
      'Copy 4 -> 5',
      'map 5 0 -> 10',
      'switch 10: 13 15',
      'map 5 -> 5',
      'jump 11',
      'Fill -> 7',
      'map 7 4 -> 11',
      'switch 11: 18 20',
      'map 7 -> 7',
      'jump 16',
    ]);
  });

  it('writes in place through branches and loops within', () => {
    const inner = body(2, (b, x) => [b.make(double, [x])]);
    const turn = body(2, (b, x, n) => {
      const c = b.make(less, [x, n], { dtype: 'bool' });
      const results = b.branch(
        c,
        [x, n],
        [
          body(2, (d, y, m) => d.loop([y], [m], below(2), inner)),
          body(2, (d, y, m) => {
            const t = d.make(add, [y, m]);
            return [d.make(add, [t, y])];
          }),
        ],
        [x],
      );
      return results;
    });
    expect(showLoop(2, turn)).toEqual([
      'Copy 0 -> 2',
      'map 2 1 -> 3',
      'switch 3: 3 13',
      'map 2 1 -> 4',
      'switch 4: 5 10',
      'map 2 1 -> 5',
      'switch 5: 7 9',
      'map 2 -> 2',
      'jump 5',
      'jump 12',
      'map 2 1 -> 6',
      'map 6 2 -> 2',
      'jump 1',
    ]);
    const late = body(2, (b, x, n) => {
      const c = b.make(less, [x, n], { dtype: 'bool' });
      const early = body(2, (d, y, m) => {
        const result = d.make(add, [m, m]);
        d.make(add, [y, m]);
        return [result];
      });
      return b.branch(c, [x, n], [early, early], [x]);
    });
    expect(showLoop(2, late).at(-2)).toBe('Copy 5 -> 2');
  });
});

it('copies what a loop begins with if the loop has another use of it', () => {
  const w = new PlanWriter();
  const limit = w.input();
  const turn = body(3, (b, x, n) => [b.make(add, [x, n])]);
  const x = w.fill(1);
  w.loop([x], [x, limit], below(3), turn);
  const y = w.fill(1);
  w.loop(
    [y, y],
    [limit],
    below(3),
    body(3, (b, p, q) => [b.make(double, [p]), b.make(double, [q])]),
  );
  const steps = showSteps(flat(w.plan()));
  expect(steps.filter((step) => step.startsWith('Copy'))).toEqual([
    'Copy 1 -> 2',
    'Copy 3 -> 4',
    'Copy 3 -> 5',
  ]);
});

it('gives a loop within a loop its first values in place only where it carries the same on', () => {
  // Of x and n, the inner loop carries the first two on.
  const inner = (carried: 1 | 2): Plan =>
    body(3, (b, x, y) => [b.make(double, [y]), b.make(double, [x])].slice(0, carried));
  const last = (turn: Plan): string | undefined => showLoop(2, turn).at(-2);
  const sameWay = body(2, (b, x, n) => b.loop([x], [n, n], below(3), inner(1)));
  expect(last(sameWay)).not.toMatch(/^Copy/);
  const crossed = body(2, (b, x, n) => [b.loop([b.make(double, [n]), x], [n], below(3), inner(2))[0]]);
  expect(last(crossed)).toMatch(/^Copy \d+ -> 2$/);
  const constant = body(2, (b, x, n) => b.loop([b.make(double, [n])], [x, n], below(3), inner(1)));
  expect(last(constant)).toMatch(/^Copy \d+ -> 2$/);
  // The inner loop's first value would be written before x is read for the last time.
  const early = body(2, (b, x, n) => {
    const first = b.fill(1);
    return b.loop([first], [b.make(add, [x, n]), n], below(3), inner(1));
  });
  expect(last(early)).toMatch(/^Copy \d+ -> 2$/);
  const twice = body(2, (b, x, n) => [b.loop([x, x], [n], below(3), inner(2))[0]]);
  expect(last(twice)).toMatch(/^Copy \d+ -> 2$/);
});

it('keeps a state that a loop writes its result to as it is until then', () => {
  const w = new PlanWriter();
  const [n, state] = [w.input(), w.state({}, noMemory)];
  const first = w.make(double, [n]);
  const seen = w.make(double, [state]);
  w.loop(
    [first],
    [n],
    below(2),
    body(2, (b, x) => [b.make(double, [x])]),
  );
  const { calls, ...plan } = w.plan([seen]);
  const loop = { ...calls[2], outputs: [state] };
  expect(showSteps(flat({ ...plan, calls: [...calls.slice(0, 2), loop] })).slice(0, 4)).toEqual([
    'map 0 -> 2',
    'map 1 -> 3',
    'Copy 2 -> 1',
    'map 1 0 -> 5',
  ]);
});

it('knows states and stacks by what they are, at any depth', () => {
  const [variable, hidden, stack, other] = [{}, {}, {}, {}];
  const inner = body(1, (b, x) => {
    const [v, h] = [b.state(variable, noMemory), b.state(hidden, noMemory)];
    b.push(x, b.stack(other));
    b.push(v, b.stack(stack));
    b.call(add, [h, x], [h]);
    return [];
  });
  const nested = body(1, (b, x) => b.branch(b.fill(1, [], 'bool'), [x], [inner, inner], []));
  const w = new PlanWriter();
  const c = w.input([], 'bool');
  const v = w.state(variable, noMemory);
  const s = w.stack(stack);
  w.branch(c, [v], [inner, nested], []);
  const y = w.pop(s);
  const flattened = flat(w.plan([y]));
  expect(flattened.states.map(({ value, source }) => [value, source])).toEqual([
    [1, variable],
    [4, hidden],
  ]);
  expect(flattened.stacks).toBe(2);
  expect(showSteps(flattened)).toEqual([
    'switch 0: 1 5',
    'push 1 on 1',
    'push 1 on 0',
    'map 4 1 -> 4',
    'jump 14',
    'Fill -> 5',
    'switch 5: 7 11',
    'push 1 on 1',
    'push 1 on 0',
    'map 4 1 -> 4',
    'jump 14',
    'push 1 on 1',
    'push 1 on 0',
    'map 4 1 -> 4',
    'pop 3 off 0',
  ]);
});
