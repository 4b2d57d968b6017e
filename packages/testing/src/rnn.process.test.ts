import '@eagre/backend-js';
import '@eagre/backend-native';
import './remote.ts';
import { GradientTape } from '@eagre/autodiff';
import { listBackends } from '@eagre/backend';
import {
  constant,
  InvalidArgumentError,
  nn,
  ones,
  random,
  type Tensor,
  withBackend,
  zeros,
} from '@eagre/core';
import { describe, expect, test } from 'vitest';

const generator = random.Generator.fromSeed(4);
const normal = (...shape: number[]): Tensor => generator.normal(shape, { stddev: 0.5, dtype: 'float64' });
const b = 3;
const time = 4;
const f = 2;
const u = 5;

/** The same by public ops, a step at a time. */
function lstmByHand([x, h0, c0, w, r, bias]: readonly Tensor[]): Tensor[] {
  let h = h0;
  let c = c0;
  const all = x.unstack(1).map((step) => {
    const [i, forget, g, o] = step.matmul(w).add(h.matmul(r)).add(bias).split(4, 1);
    c = forget.sigmoid().mul(c).add(i.sigmoid().mul(g.tanh()));
    h = o.sigmoid().mul(c.tanh());
    return h;
  });
  return [all, h, c].flat().slice(-time - 2);
}
function gruByHand([x, h0, w, r, bias]: readonly Tensor[]): Tensor[] {
  let h = h0;
  const [ofX, ofH] = bias.unstack(0);
  const all = x.unstack(1).map((step) => {
    const [za, ra, ga] = step.matmul(w).add(ofX).split(3, 1);
    const [zs, rs, gs] = h.matmul(r).add(ofH).split(3, 1);
    const z = za.add(zs).sigmoid();
    const g = ga.add(ra.add(rs).sigmoid().mul(gs)).tanh();
    h = z.mul(h).add(z.neg().add(1).mul(g));
    return h;
  });
  return [...all, h];
}
function lstm([x, h0, c0, w, r, bias]: readonly Tensor[]): Tensor[] {
  const { output, h, c } = nn.lstm(x, w, r, bias, { initialState: [h0, c0] });
  return [...output.unstack(1), h, c];
}
function gru([x, h0, w, r, bias]: readonly Tensor[]): Tensor[] {
  const { output, h } = nn.gru(x, w, r, bias, { initialState: h0 });
  return [...output.unstack(1), h];
}

function close(got: readonly Tensor[], expected: readonly Tensor[]): void {
  expect(got.length).toBe(expected.length);
  got.forEach((t, i) => {
    const other = expected[i] as Tensor;
    expect(t.shape).toEqual(other.shape);
    expect(t.sub(other).abs().max().item()).toBeLessThan(1e-11);
  });
}

type Cell = (inputs: readonly Tensor[]) => Tensor[];
const cases: [string, Cell, Cell, Tensor[]][] = [
  [
    'lstm',
    lstm,
    lstmByHand,
    [normal(b, time, f), normal(b, u), normal(b, u), normal(f, 4 * u), normal(u, 4 * u), normal(4 * u)],
  ],
  [
    'gru',
    gru,
    gruByHand,
    [normal(b, time, f), normal(b, u), normal(f, 3 * u), normal(u, 3 * u), normal(2, 3 * u)],
  ],
];

describe.each(listBackends().map((backend) => backend.name))('on %s', (backend) => {
  describe.each(cases)('%s', (_, fused, byHand, inputs) => {
    const weights = byHand(inputs).map((t) => normal(...t.shape));
    const first = (cell: Cell): Tensor[] => {
      const tape = new GradientTape();
      tape.watch(inputs);
      const loss = cell(inputs)
        .map((t, i) => t.mul(weights[i] as Tensor).sum())
        .reduce((x, y) => x.add(y));
      return tape.gradient(loss, inputs) as Tensor[];
    };
    const second = (cell: Cell): Tensor[] => {
      const tape = new GradientTape();
      tape.watch(inputs);
      const sum = first(cell)
        .map((t) => t.square().sum())
        .reduce((x, y) => x.add(y));
      return tape.gradient(sum, inputs) as Tensor[];
    };

    test('computes what the formulas say', () => {
      withBackend(backend, () => close(fused(inputs), byHand(inputs)));
    });
    test('has the gradient of the formulas', () => {
      withBackend(backend, () => close(first(fused), first(byHand)));
    });
    test('has the second gradient of the formulas', () => {
      withBackend(backend, () => close(second(fused), second(byHand)));
    });
    test('leaves the gradient of x out where nobody asks', () => {
      withBackend(backend, () => {
        const tape = new GradientTape();
        const w = inputs[inputs.length - 3] as Tensor;
        tape.watch(w);
        const [g] = tape.gradient(fused(inputs)[0] as Tensor, [w]);
        expect((g as Tensor).shape).toEqual(w.shape);
      });
    });
  });
});

test('states and the bias are zeros unless given', () => {
  const x = ones([1, 2, 3]);
  const w = constant(
    Array.from({ length: 12 }, (_, i) => i / 10),
    'float32',
    { shape: [3, 4] },
  );
  const r = ones([1, 4]);
  const given = nn.lstm(x, w, r, zeros([4]), { initialState: [zeros([1, 1]), zeros([1, 1])] });
  expect(nn.lstm(x, w, r).output.array()).toEqual(given.output.array());
});

test('an empty batch has weights with a gradient of zero', () => {
  const w = ones([2, 12]);
  const tape = new GradientTape();
  tape.watch(w);
  const { output } = nn.gru(zeros([0, 3, 2]), w, ones([4, 12]));
  expect(output.shape).toEqual([0, 3, 4]);
  expect((tape.gradient(output, [w])[0] as Tensor).abs().sum().item()).toBe(0);
});

test('refuses what does not fit', () => {
  const x = ones([2, 3, 4]);
  expect(() => nn.lstm(ones([2, 4]), ones([4, 8]), ones([2, 8]))).toThrow(InvalidArgumentError);
  expect(() => nn.lstm(x, ones([4, 7]), ones([2, 8]))).toThrow('expected float32 [4, 4 · units]');
  expect(() => nn.lstm(x, ones([4, 8]), ones([3, 8]))).toThrow(
    'the recurrent kernel is float32 [3, 8], expected float32 [2, 8]',
  );
  expect(() => nn.lstm(x, ones([4, 8]), ones([2, 8]), ones([2]))).toThrow('the bias is float32 [2]');
  expect(() => nn.gru(x, ones([4, 6]), ones([2, 6]), ones([6]))).toThrow('expected float32 [2, 6]');
  expect(() => nn.gru(x, ones([4, 6]), ones([2, 6]), null, { initialState: ones([2]) })).toThrow(
    'the initial state is float32 [2], expected float32 [2, 2]',
  );
  expect(() => nn.gru(ones([2, 0, 4]), ones([4, 6]), ones([2, 6]))).toThrow('at least one step');
});
