// Recurrent cells that are one op, as frozen graphs of TensorFlow 1 have them.

import type { Tensor } from '@eagre/core';
import * as tf from '@eagre/core';
import { type Dim, dims, sizeValue } from '@eagre/core/internal';
import { scan } from '@eagre/graph';
import type { OpCall } from '../op-call.ts';
import { type OpTable, several } from '../op-row.ts';

/** What an LSTM cell gives, in the order of the ops' outputs. */
const LSTM = ['i', 'cs', 'f', 'o', 'ci', 'co', 'h'];
type Gates = [Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor];

/** The parameters behind the state: weights, peepholes for the three gates, biases; `first` is the place of the weights. */
interface Lstm {
  readonly first: number;
  readonly forgetBias: number;
  /** The least and the largest state, where it is positive. */
  readonly clip: number;
  /** Whether the candidate stands before the forget gate among the columns. */
  readonly candidateFirst: boolean;
}

/** One step of an LSTM from x [batch, inputs] and the states [batch, units]. */
function lstmStep(
  c: OpCall,
  { first, forgetBias, clip, candidateFirst }: Lstm,
  x: Tensor,
  [cs, h]: readonly [Tensor, Tensor],
): Gates {
  const [w, wci, wcf, wco, b] = c.xs(first) as [Tensor, Tensor, Tensor, Tensor, Tensor];
  const columns = tf.split(tf.concat([x, h], 1).matmul(w).add(b), 4, 1) as Tensor[];
  let [i, second, third, o] = columns as [Tensor, Tensor, Tensor, Tensor];
  let [candidate, f] = candidateFirst ? [second, third] : [third, second];
  const peeps = c.boolAttr('use_peephole', false);
  if (peeps) [i, f] = [i.add(cs.mul(wci)), f.add(cs.mul(wcf))];
  [i, f, candidate] = [i.sigmoid(), f.add(forgetBias).sigmoid(), candidate.tanh()];
  let state = candidate.mul(i).add(cs.mul(f));
  if (clip > 0) state = tf.clipByValue(state, -clip, clip);
  o = (peeps ? o.add(state.mul(wco)) : o).sigmoid();
  const co = state.tanh();
  return [i, state, f, o, candidate, co, co.mul(o)];
}

/** Steps over the first axis of x [time, batch, inputs]; zeros from the step in input 0 on. */
function blockLstm(c: OpCall, lstm: Lstm): Tensor[] {
  const [length, x, cs, h] = c.xs(0, 4) as [Tensor, Tensor, Tensor, Tensor];
  if (x.rank !== 3) throw c.wrong(`x must be [time, batch, inputs], got rank ${x.rank}`);
  const none = tf.zerosLike(cs);
  const steps = scan({
    fn: (state: readonly Tensor[], now: Tensor) =>
      lstmStep(c, lstm, now, [state[1] as Tensor, state[6] as Tensor]) as Tensor[],
    elems: x,
    initializer: [none, cs, none, none, none, none, h],
  } as never) as unknown as Tensor[];
  const times = tf.range(sizeValue(dims(x)[0] as Dim, 'int32') as never, { dtype: 'int32' });
  const runs = tf.reshape(tf.cast(times, 'int64').less(length), [-1, 1, 1]);
  return steps.map((values) => tf.where(runs, values, tf.zerosLike(values)) as Tensor);
}

export const cells: OpTable = {
  LSTMBlockCell: several(LSTM, (c) =>
    lstmStep(
      c,
      {
        first: 3,
        forgetBias: c.floatAttr('forget_bias', 1),
        clip: c.floatAttr('cell_clip', 3),
        candidateFirst: true,
      },
      c.x(0),
      [c.x(1), c.x(2)],
    ),
  ),
  BlockLSTM: several(LSTM, (c) =>
    blockLstm(c, {
      first: 4,
      forgetBias: c.floatAttr('forget_bias', 1),
      clip: c.floatAttr('cell_clip', 3),
      candidateFirst: true,
    }),
  ),
  BlockLSTMV2: several(LSTM, (c) =>
    blockLstm(c, { first: 4, forgetBias: 0, clip: c.floatAttr('cell_clip', 0), candidateFirst: false }),
  ),
  GRUBlockCell: several(['r', 'u', 'c', 'h'], (c) => {
    const [x, h, gates, weights, gateBias, bias] = c.xs(0, 6) as Gates;
    const both = tf.concat([x, h], 1).matmul(gates).add(gateBias).sigmoid();
    const [r, u] = tf.split(both, 2, 1) as [Tensor, Tensor];
    const candidate = tf
      .concat([x, h.mul(r)], 1)
      .matmul(weights)
      .add(bias)
      .tanh();
    return [r, u, candidate, u.mul(h).add(u.neg().add(1).mul(candidate))];
  }),
};
