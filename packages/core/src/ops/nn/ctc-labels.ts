// The labels of sequences, each once.
import { InvalidArgumentError } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { defineOp, execute, type Op } from '../../dispatch/op.ts';
import { values } from '../../dispatch/samples.ts';
import { showShape } from '../../shapes/shape.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import { hostValues, type Tensor } from '../../tensor/tensor.ts';

/** The labels of each row once, and where each stands among these. */
const uniqueLabelsOp: Op = /* @__PURE__ */ defineOp({
  name: 'CtcUniqueLabels',
  infer: ([labels]) => [
    { dtype: 'int64', shape: labels.shape },
    { dtype: 'int32', shape: labels.shape },
  ],
  host: ([labels]) => {
    const [batch, time] = labels.shape as [number, number];
    const all = Array.from(hostValues(labels) as ArrayLike<number | bigint>, BigInt);
    const unique = new BigInt64Array(all.length);
    const places = new Int32Array(all.length);
    for (let b = 0; b < batch; b++) {
      const seen = new Map<bigint, number>();
      for (let t = 0; t < time; t++) {
        const label = all[b * time + t] as bigint;
        const place = seen.get(label) ?? seen.size;
        seen.set(label, place);
        unique[b * time + place] = label;
        places[b * time + t] = place;
      }
    }
    return [
      toTensor({ data: unique, shape: [batch, time] }),
      toTensor({ data: places, shape: [batch, time] }),
    ];
  },
  notDifferentiable: 'labels are integers',
  samples: () => [{ inputs: [values([3, 4, 4, 3, 1, 2, 0, 0], [2, 4], 'int32')] }],
});

/** The labels of each sequence [batch, time] once, int64, with 0 behind them; and for each label its place among these, int32. */
export const ctcUniqueLabels: NamedFunction<
  [labels: TensorLike],
  ['labels'],
  unknown,
  [unique: Tensor, indices: Tensor]
> = /* @__PURE__ */ defineFunction('nn.ctcUniqueLabels', { labels: kind.tensor }, {}, (labels) => {
  const t = toTensor(labels, 'int32');
  checkDType(t.dtype, 'integer', 'labels', 'nn.ctcUniqueLabels');
  if (t.rank !== 2)
    throw new InvalidArgumentError(
      `labels must be [batch, time], got ${showShape(t.shape)}`,
      'nn.ctcUniqueLabels',
    );
  return execute(uniqueLabelsOp, [t]) as unknown as [Tensor, Tensor];
});
