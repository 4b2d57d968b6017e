// Recurrent networks.
import {
  concat,
  gather,
  maximum,
  minimum,
  nn,
  reverse,
  split,
  stack,
  type Tensor,
  transpose,
  unstack,
  where,
  zeros,
} from '@eagre/core';
import { type Dim, dims, iota, toShape } from '@eagre/core/internal';
import type { NodeCall, OpTable, Run } from '../node.ts';

type Activation = (x: Tensor) => Tensor;

/** The activations of one direction, with their numbers. */
function activationsOf(node: NodeCall, direction: number, defaults: readonly string[]): Activation[] {
  const { attrs } = node;
  const names = attrs.texts('activations', []);
  const [alphas, betas] = [
    [...attrs.floats('activation_alpha', [])],
    [...attrs.floats('activation_beta', [])],
  ];
  const all = names.length === 0 ? [...defaults, ...defaults] : names;
  const made = all.map((name): Activation => {
    const next = (list: number[], otherwise: number): number => list.shift() ?? otherwise;
    switch (name.toLowerCase()) {
      case 'sigmoid':
        return (x) => x.sigmoid();
      case 'tanh':
        return (x) => x.tanh();
      case 'relu':
        return (x) => x.relu();
      case 'affine': {
        const [a, b] = [next(alphas, 1), next(betas, 0)];
        return (x) => x.mul(a).add(b);
      }
      case 'leakyrelu': {
        const alpha = next(alphas, 0.01);
        return (x) => nn.leakyRelu(x, { alpha });
      }
      case 'hardsigmoid': {
        const [a, b] = [next(alphas, 0.2), next(betas, 0.5)];
        return (x) => x.mul(a).add(b).clip(0, 1);
      }
      case 'elu': {
        const alpha = next(alphas, 1);
        return (x) => nn.elu(x, { alpha });
      }
      case 'softsign':
        return (x) => nn.softsign(x);
      case 'softplus':
        return (x) => x.softplus();
      default:
        return node.unsupported(`the activation '${name}' is not translated`);
    }
  });
  return made.slice(direction * defaults.length, (direction + 1) * defaults.length);
}

/** What a direction of a network needs: gates by rows, as ONNX has them. */
interface Weights {
  readonly w: Tensor;
  readonly r: Tensor;
  /** Of the inputs and of the states; zeros where there are none. */
  readonly wb: Tensor;
  readonly rb: Tensor;
  readonly peepholes: Tensor | null;
}

interface Network {
  readonly gates: number;
  readonly states: number;
  readonly activations: readonly string[];
  /** One step for [batch, …]. @returns the new states, the first of which is the output. */
  readonly step: (
    node: NodeCall,
    x: Tensor,
    states: readonly Tensor[],
    weights: Weights,
    activations: readonly Activation[],
    clip: Activation,
  ) => Tensor[];
  /** The whole sequence [batch, time, n] by a kernel; null where none does. */
  readonly whole: (
    node: NodeCall,
    x: Tensor,
    states: readonly Tensor[],
    weights: Weights,
  ) => readonly [Tensor, ...Tensor[]] | null;
}

const isPlain = (node: NodeCall): boolean =>
  !node.attrs.has('activations') ||
  node.attrs.texts('activations').every((n, i, all) => isDefault(n, i, all.length));
// The default activations of LSTM (three for each direction) and GRU (two).
const isDefault = (name: string, i: number, count: number): boolean =>
  name.toLowerCase() === ((count % 3 === 0 ? i % 3 : i % 2) === 0 ? 'sigmoid' : 'tanh');

function runNetwork(node: NodeCall, network: Network): Tensor[] {
  const { attrs } = node;
  const layout = attrs.int('layout', 0);
  const x = layout === 1 ? node.x(0) : transpose(node.x(0), [1, 0, 2]);
  const direction = attrs.text('direction', 'forward');
  const count = direction === 'bidirectional' ? 2 : 1;
  const lengths = node.maybe(4);
  const [batch] = dims(x) as readonly [Dim];
  const units = attrs.int('hidden_size', node.x(2).shape.at(-1) as number);
  const given = (i: number, at: number): Tensor | null => {
    const value = node.maybe(i);
    if (value === null) return null;
    return unstack(layout === 1 ? transpose(value, [1, 0, 2]) : value, 0)[at] as Tensor;
  };
  const results = Array.from({ length: count }, (_, at) => {
    const backwards = direction === 'reverse' || at === 1;
    const [w, r] = [unstack(node.x(1), 0)[at] as Tensor, unstack(node.x(2), 0)[at] as Tensor];
    const bias = node.maybe(3);
    const none = (): Tensor => zeros([network.gates * units], { dtype: x.dtype as 'float32' });
    const [wb, rb] =
      bias === null ? [none(), none()] : (split(unstack(bias, 0)[at] as Tensor, 2, 0) as [Tensor, Tensor]);
    const p = node.maybe(7);
    const weights: Weights = { w, r, wb, rb, peepholes: p === null ? null : (unstack(p, 0)[at] as Tensor) };
    const zero = (): Tensor => zeros(toShape([batch, units]), { dtype: x.dtype as 'float32' });
    const states = Array.from({ length: network.states }, (_, s) => given(5 + s, at) ?? zero());
    const turned = (t: Tensor): Tensor =>
      backwards ? (lengths === null ? reverse(t, [1]) : reversedRows(t, lengths)) : t;
    const steps = turned(x);
    const fast =
      lengths === null && attrs.float('clip', 0) === 0 && p === null && isPlain(node)
        ? network.whole(node, steps, states, weights)
        : null;
    const [all, ...last] = fast ?? stepByStep(node, network, steps, states, weights, at, lengths);
    return { all: turned(all as Tensor), last };
  });
  const y = stack(
    results.map((r) => r.all),
    layout === 1 ? 2 : 1,
  );
  const lasts = Array.from({ length: network.states }, (_, s) =>
    stack(
      results.map((r) => r.last[s] as Tensor),
      layout === 1 ? 1 : 0,
    ),
  );
  // [batch, dirs, time, units] as [time, dirs, batch, units]
  return [layout === 1 ? y : transpose(y, [2, 1, 0, 3]), ...lasts];
}

/** Sequences [batch, time, …] backwards, each up to its length. */
function reversedRows(x: Tensor, lengths: Tensor): Tensor {
  const ends = lengths.cast('int64').reshape([-1, 1]);
  const steps = iota(dims(x)[1] as Dim)
    .cast('int64')
    .reshape([1, -1]);
  return gather(x, where(steps.less(ends), ends.sub(1).sub(steps), steps), 1, { batchDims: 1 });
}

function stepByStep(
  node: NodeCall,
  network: Network,
  x: Tensor,
  initial: readonly Tensor[],
  weights: Weights,
  direction: number,
  lengths: Tensor | null,
): Tensor[] {
  const activations = activationsOf(node, direction, network.activations);
  const limit = node.attrs.float('clip', 0);
  const clip: Activation = limit === 0 ? (t) => t : (t) => minimum(maximum(t, -limit), limit);
  let states = [...initial];
  const outputs: Tensor[] = [];
  unstack(x, 1).forEach((at, t) => {
    const next = network.step(node, at, states, weights, activations, clip);
    if (lengths === null) {
      states = next;
      outputs.push(next[0] as Tensor);
      return;
    }
    const inside = lengths.cast('int64').greater(t).reshape([-1, 1]);
    states = next.map((n, i) => where(inside, n, states[i] as Tensor));
    outputs.push(where(inside, next[0] as Tensor, 0));
  });
  return [stack(outputs, 1), ...states];
}

const times = (x: Tensor, w: Tensor): Tensor => x.matmul(w, { transposeB: true });

const lstm: Network = {
  gates: 4,
  states: 2,
  activations: ['Sigmoid', 'Tanh', 'Tanh'],
  step(node, x, [h, c], { w, r, wb, rb, peepholes }, [f, g, out], clip) {
    const all = times(x, w)
      .add(times(h as Tensor, r))
      .add(wb)
      .add(rb);
    const [i, o, forget, cell] = split(all, 4, 1) as [Tensor, Tensor, Tensor, Tensor];
    const [pi, po, pf] = peepholes === null ? [] : split(peepholes, 3, 0);
    const peep = (gate: Tensor, p: Tensor | undefined, state: Tensor): Tensor =>
      p === undefined ? gate : gate.add(p.mul(state));
    const [sigma, tanh, last] = [f, g, out] as [Activation, Activation, Activation];
    const input = sigma(clip(peep(i, pi, c as Tensor)));
    const kept =
      node.attrs.int('input_forget', 0) === 1
        ? input.neg().add(1)
        : sigma(clip(peep(forget, pf, c as Tensor)));
    const next = kept.mul(c as Tensor).add(input.mul(tanh(clip(cell))));
    const output = sigma(clip(peep(o, po, next)));
    return [output.mul(last(next)), next];
  },
  whole(node, x, [h0, c0], { w, r, wb, rb }) {
    if (node.attrs.int('input_forget', 0) === 1) return null;
    // i, o, f, c here; i, f, c, o there.
    const order = (t: Tensor): Tensor => {
      const [i, o, f, c] = split(t, 4, 0) as [Tensor, Tensor, Tensor, Tensor];
      return concat([i, f, c, o], 0);
    };
    const { output, h, c } = nn.lstm(x, order(w).transpose(), order(r).transpose(), order(wb.add(rb)), {
      initialState: [h0 as Tensor, c0 as Tensor],
    });
    return [output, h, c];
  },
};

/** An LSTM whose products see the states as `seen` makes them. */
export function quantizedLstm(node: NodeCall, seen: (h: Tensor) => Tensor): Tensor[] {
  return runNetwork(node, {
    ...lstm,
    step: (at, x, [h, c], weights, activations, clip) =>
      lstm.step(at, x, [seen(h as Tensor), c as Tensor], weights, activations, clip),
    whole: () => null,
  });
}

const gru: Network = {
  gates: 3,
  states: 1,
  activations: ['Sigmoid', 'Tanh'],
  step(node, x, [h], { w, r, wb, rb }, [f, g], clip) {
    const state = h as Tensor;
    const [xz, xr, xh] = split(times(x, w).add(wb), 3, 1) as [Tensor, Tensor, Tensor];
    const [rz, rr, rh] = split(r, 3, 0) as [Tensor, Tensor, Tensor];
    const [bz, br, bh] = split(rb, 3, 0) as [Tensor, Tensor, Tensor];
    const [sigma, tanh] = [f, g] as [Activation, Activation];
    const z = sigma(clip(xz.add(times(state, rz)).add(bz)));
    const reset = sigma(clip(xr.add(times(state, rr)).add(br)));
    const inner =
      node.attrs.int('linear_before_reset', 0) === 0
        ? times(reset.mul(state), rh).add(bh)
        : reset.mul(times(state, rh).add(bh));
    const candidate = tanh(clip(xh.add(inner)));
    return [z.mul(state).add(z.neg().add(1).mul(candidate))];
  },
  whole(node, x, [h0], { w, r, wb, rb }) {
    if (node.attrs.int('linear_before_reset', 0) === 0) return null;
    const { output, h } = nn.gru(x, w.transpose(), r.transpose(), stack([wb, rb]), {
      initialState: h0 as Tensor,
    });
    return [output, h];
  },
};

const simple: Network = {
  gates: 1,
  states: 1,
  activations: ['Tanh'],
  step: (_, x, [h], { w, r, wb, rb }, [f], clip) => [
    (f as Activation)(
      clip(
        times(x, w)
          .add(times(h as Tensor, r))
          .add(wb)
          .add(rb),
      ),
    ),
  ],
  whole: () => null,
};

const run =
  (network: Network): Run =>
  (node) =>
    runNetwork(node, network);

export const recurrent: OpTable = { GRU: run(gru), LSTM: run(lstm), RNN: run(simple) };
