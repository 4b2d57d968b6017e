import { expect, it } from 'vitest';
import { processorTime } from '../../../testing/src/processor-time.ts';
import {
  buildScalarProgram,
  type FlatPlan,
  flattenPlan,
  type Plan,
  type PlanCall,
  type PlanMemory,
  type PlanTensor,
  planMemory,
} from '../index.ts';
import { PlanWriter } from '../testing/plans.ts';

/** Whole numbers below n, the same each time. */
function numbers(seed: number): (n: number) => number {
  let state = seed >>> 0;
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

const sum = buildScalarProgram(['float32', 'float32'], (s, x, y) => s.add(x, y));
const twice = buildScalarProgram(['float32', 'float32'], (s, x, y) => [s.add(x, y), s.mul(x, y)]);

const packed = (plan: Plan): PlanMemory => planMemory(flattenPlan(plan));

function tensor(value: number, shape: readonly number[]): PlanTensor {
  return { value, dtype: 'float32', shape, size: shape.reduce((a, b) => a * b, 1) };
}

/** A plan of calls that read a few values, mostly young ones, and write one or two. */
function randomPlan(seed: number, count: number): Plan {
  const below = numbers(seed);
  const sizes = [0, 1, 16, 17, 100, 100, 1000];
  const bytes: number[] = [];
  const shapes: (readonly number[])[] = [];
  const value = (shape: readonly number[]): PlanTensor => {
    const made = tensor(bytes.length, shape);
    bytes.push(made.size * 4);
    shapes.push(shape);
    return made;
  };
  const inputs = [value([100]).value, value([16]).value];
  const states = [value([100])].map(({ value }) => ({ value, source: {}, memory: () => ({}) as never }));
  const calls: PlanCall[] = [];
  for (let i = 0; i < count; i++) {
    const read = (): PlanTensor => {
      const at = below(3) === 0 ? below(bytes.length) : Math.max(0, bytes.length - 1 - below(6));
      return tensor(at, shapes[at]);
    };
    const [a, b] = [read(), read()];
    const scalar = below(2) === 0 && (a.size === b.size || b.size === 1);
    const kernel = scalar ? (below(2) === 0 ? sum : twice) : 'Concat';
    const shape = scalar ? a.shape : [sizes[below(sizes.length)]];
    const outputs = [value(shape)];
    if (kernel === twice) outputs.push(value(shape));
    calls.push({ kernel, inputs: [a, b], outputs, attrs: { axis: 0 }, name: `call ${i}` });
  }
  const last = calls[calls.length - 1];
  return { bytes, inputs, states, calls, outputs: [last.outputs[0].value] };
}

/** Runs a plan on memory that says whose it is: every read must find what was written. */
function replay(plan: Plan): void {
  const { offsets, bytes } = packed(plan);
  const owner = new Int32Array(bytes).fill(-1);
  const inArena = (value: number): boolean => offsets[value] >= 0;
  const range = (value: number): Int32Array =>
    owner.subarray(offsets[value], offsets[value] + plan.bytes[value]);
  for (const call of plan.calls) {
    for (const { value } of call.inputs) {
      if (inArena(value)) expect(range(value).every((o) => o === value)).toBe(true);
    }
    for (const { value } of call.outputs) {
      if (!inArena(value)) continue;
      expect(offsets[value] % 64).toBe(0);
      expect(offsets[value] + plan.bytes[value]).toBeLessThanOrEqual(bytes);
      // Over what it reads only in place, and then exactly.
      for (const input of call.inputs) {
        if (!inArena(input.value)) continue;
        const apart =
          offsets[value] + plan.bytes[value] <= offsets[input.value] ||
          offsets[input.value] + plan.bytes[input.value] <= offsets[value];
        const inPlace = typeof call.kernel !== 'string' && offsets[value] === offsets[input.value];
        expect(apart || (inPlace && plan.bytes[value] === plan.bytes[input.value])).toBe(true);
      }
    }
    for (const { value } of call.outputs) if (inArena(value)) range(value).fill(value);
    // Two outputs never share.
    for (const { value } of call.outputs)
      if (inArena(value)) expect(range(value).every((o) => o === value)).toBe(true);
  }
  plan.inputs
    .concat(
      plan.outputs,
      plan.states.map(({ value }) => value),
    )
    .forEach((value) => {
      expect(offsets[value]).toBe(-1);
    });
}

it('never gives the bytes of a value away before its last reader', () => {
  for (let seed = 0; seed < 300; seed++) replay(randomPlan(seed, 1 + (seed % 60)));
});

it('needs little more than the largest sum of values that live at one time', () => {
  let needed = 0;
  let taken = 0;
  for (let seed = 0; seed < 50; seed++) {
    const plan = randomPlan(1000 + seed, 100);
    const { offsets, bytes } = packed(plan);
    const last = new Map<number, number>();
    plan.calls.forEach(({ inputs, outputs }, i) => {
      for (const { value } of [...outputs, ...inputs]) if (offsets[value] >= 0) last.set(value, i);
    });
    let live = 0;
    let most = 0;
    plan.calls.forEach(({ outputs }, i) => {
      for (const { value } of outputs) if (offsets[value] >= 0) live += plan.bytes[value];
      most = Math.max(most, live);
      for (const [value, end] of last) if (end === i) live -= plan.bytes[value];
    });
    needed += most;
    taken += bytes;
  }
  expect(taken).toBeLessThan(needed * 1.05);
});

/** A chain that begins at an input and goes through `length` calls. */
function chain(kernel: PlanCall['kernel'], length: number, shape: readonly number[] = [1000]): Plan {
  const calls = Array.from({ length }, (_, i): PlanCall => {
    const x = tensor(i, shape);
    return {
      kernel,
      inputs: typeof kernel === 'string' ? [x] : [x, x],
      outputs: [tensor(i + 1, shape)],
      attrs: {},
      name: `call ${i}`,
    };
  });
  return {
    bytes: Array.from({ length: length + 1 }, () => tensor(0, shape).size * 4),
    inputs: [0],
    states: [],
    calls,
    outputs: [length],
  };
}

it('lets a chain of scalar programs work in place, and one of kernels in two halves', () => {
  expect(packed(chain(sum, 100)).bytes).toBe(4032);
  expect(packed(chain('Copy', 100)).bytes).toBe(8064);
  expect(packed(chain(sum, 1)).bytes).toBe(0);
});

it('keeps apart what is read in another shape or dtype than it is written', () => {
  const wide = buildScalarProgram(['float32', 'float32'], (s, x, y) => [s.add(x, y), s.cast(x, 'int32')]);
  const first = chain(sum, 3, [2, 2]);
  const [a, b, c] = first.calls;
  const square = tensor(1, [2, 2]);
  const column = (inputs: readonly PlanTensor[]): Plan => ({
    ...first,
    calls: [a, { ...b, inputs }, c],
  });
  const apart = (plan: Plan): boolean => {
    const { offsets } = packed(plan);
    return offsets[1] !== offsets[2];
  };
  expect(apart(column([square, square]))).toBe(false);
  expect(apart(column([square, tensor(1, [1, 2, 2])]))).toBe(true);
  expect(apart(column([{ ...square, dtype: 'int32' }, square]))).toBe(true);
  const both: Plan = {
    bytes: [16, 16, 16, 16, 4],
    inputs: [0],
    states: [],
    calls: [
      a,
      {
        kernel: wide,
        inputs: [square, square],
        outputs: [{ ...tensor(2, [2, 2]) }, { ...tensor(3, [2, 2]), dtype: 'int32' }],
        attrs: {},
        name: 'both',
      },
      {
        kernel: 'Sum',
        inputs: [tensor(2, [2, 2])],
        outputs: [tensor(4, [])],
        attrs: { axes: [0, 1] },
        name: 'sum',
      },
    ],
    outputs: [4],
  };
  const { offsets } = packed(both);
  expect(offsets[2]).toBe(offsets[1]);
  expect(offsets[3]).not.toBe(offsets[1]);
});

const less = buildScalarProgram(['float32', 'float32'], (s, x, y) => s.lt(x, y));

/** A body of inputs of one shape; it returns its outputs. */
function body(
  inputs: number,
  shape: readonly number[],
  write: (w: PlanWriter, ...inputs: PlanTensor[]) => PlanTensor[],
): Plan {
  const w = new PlanWriter();
  return w.plan(write(w, ...Array.from({ length: inputs }, () => w.input(shape))));
}

/** By step, what it reads and writes of the arena. */
function placesUsed(flat: FlatPlan, { offsets }: PlanMemory): Map<number, number[]> {
  const found = new Map<number, number[]>();
  flat.steps.forEach((step, i) => {
    if (step.kind !== 'call') return;
    for (const { value } of [...step.call.inputs, ...step.call.outputs])
      if (offsets[value] >= 0) found.set(value, [...(found.get(value) ?? []), i]);
  });
  return found;
}

it('lets the values of two branches share their places', () => {
  const shape = [1000];
  const w = new PlanWriter();
  const [c, x] = [w.input([], 'bool'), w.input(shape)];
  const branch = body(1, shape, (b, y) => [b.make('Copy', [b.make('Copy', [b.make('Copy', [y])])])]);
  const [y] = w.branch(c, [x], [branch, branch], [x]);
  expect(packed(w.plan([y])).bytes).toBe(2 * 4032);
});

it('keeps what was made before a loop to its end, and what one turn makes no longer than that turn', () => {
  const shape = [1000];
  const w = new PlanWriter();
  const [limit, first] = [w.input(shape), w.input(shape)];
  // Read at the start of each turn only, so that its place looks free behind.
  const kept = w.make('Copy', [first]);
  const turn = body(3, shape, (b, x, k) => {
    const early = b.make('Copy', [k]);
    const late = b.make('Copy', [b.make('Copy', [early])]);
    return [b.make(sum, [x, late])];
  });
  const condition = body(3, shape, (b, x, _, n) => [
    b.make(
      less,
      [
        { ...x, shape: [], size: 1 },
        { ...n, shape: [], size: 1 },
      ],
      { shape: [], dtype: 'bool' },
    ),
  ]);
  const [y] = w.loop([first], [kept, limit], condition, turn);
  const flat = flattenPlan(w.plan([w.make(sum, [y, y])]));
  const memory = planMemory(flat);
  // What it carries, what is kept, two of the three values of a turn at a time, and the condition.
  expect(memory.bytes).toBeLessThanOrEqual(4 * 4032 + 64);
  const places = placesUsed(flat, memory);
  const of = (value: number): number => memory.offsets[value];
  const inTurn = [...places.keys()].filter((value) => value >= w.plan().bytes.length);
  for (const value of inTurn) for (const held of [kept.value, y.value]) expect(of(value)).not.toBe(of(held));
});

it('keeps what was made before a loop that a flag ends', () => {
  const w = new PlanWriter();
  const [holds, first] = [w.input([], 'bool'), w.input([1000])];
  const kept = w.make('Copy', [first]);
  const condition = new PlanWriter();
  const flag = condition.input([], 'bool');
  condition.input([1000]);
  condition.input([1000]);
  const turn = new PlanWriter();
  const [b, x, k] = [turn.input([], 'bool'), turn.input([1000]), turn.input([1000])];
  const late = turn.make('Copy', [turn.make('Copy', [turn.make('Copy', [k])])]);
  const next = turn.plan([turn.make('Copy', [b]), turn.make(sum, [x, late])]);
  const [, y] = w.loop([holds, first], [kept], condition.plan([condition.make('Copy', [flag])]), next);
  const flat = flattenPlan(w.plan([w.make(sum, [y, y])]));
  const memory = planMemory(flat);
  const inTurn = [...placesUsed(flat, memory).keys()].filter((value) => value >= w.plan().bytes.length);
  expect(inTurn.length).toBeGreaterThan(2);
  for (const value of inTurn) expect(memory.offsets[value]).not.toBe(memory.offsets[kept.value]);
});

it('lets SetRow write over what it changes, if that dies, and not over the row', () => {
  const w = new PlanWriter();
  const index = w.input([], 'int32');
  const x = w.make('Copy', [w.input([1, 100])]);
  const row = w.make('Copy', [w.input([100])]);
  const y = w.make('SetRow', [x, index, row], {}, { mode: 0 });
  const z = w.make('SetRow', [y, index, row], {}, { mode: 0 });
  w.make('Copy', [z]);
  const { offsets } = packed(w.plan([w.make('SetRow', [y, index, row], {}, { mode: 1 })]));
  expect(offsets[y.value]).toBe(offsets[x.value]);
  expect(offsets[z.value]).not.toBe(offsets[y.value]);
  expect(offsets[z.value]).not.toBe(offsets[row.value]);
});

it('plans thousands of calls at once', () => {
  const plan = randomPlan(7, 5000);
  // Some 15 ms.
  expect(processorTime(() => packed(plan))).toBeLessThan(1000);
});

it('takes hundreds of loops in one another and in a row apart at once', () => {
  const condition = body(2, [], (b, x, n) => [b.make(less, [x, n], { dtype: 'bool' })]);
  const step = body(2, [], (b, x, n) => [b.make(sum, [x, n])]);
  let turn = step;
  for (let depth = 0; depth < 200; depth++) {
    const inner = turn;
    turn = body(2, [], (b, x, n) => [b.make(sum, [b.loop([x], [n], condition, inner)[0], n])]);
  }
  const plan = body(2, [], (b, x, n) => {
    let y = x;
    for (let i = 0; i < 1000; i++) [y] = b.loop([y], [n], condition, i === 500 ? turn : step);
    return [b.make(sum, [y, n])];
  });
  expect(processorTime(() => packed(plan))).toBeLessThan(1000);
});
