import { InvalidArgumentError, scope, Tensor, type TensorLike } from '@eagre/core';
import { toTensor } from '@eagre/core/internal';
import { type Batch, type FitData, inputTensors, isBatchSource } from './data-adapter.ts';

/** Examples with targets and weights, as users give them. */
export interface Examples {
  readonly x: FitData;
  readonly y: TensorLike | undefined;
  readonly weight: TensorLike | undefined;
}
/** Examples held back, as `validationData` takes them. */
export type HeldBack = readonly [x: Tensor | readonly Tensor[], y: Tensor, sampleWeight?: Tensor];

/** Splits the last part of the examples off, as `validationSplit` says. */
export function holdBack(examples: Examples, share: number): [Examples, HeldBack] {
  if (!(share > 0 && share < 1)) {
    throw new InvalidArgumentError(`validationSplit must be in (0, 1), got ${share}`, 'fit');
  }
  const { x, y, weight } = examples;
  if (isBatchSource(x) || y === undefined)
    throw new InvalidArgumentError('validationSplit needs x and y as arrays; pass validationData', 'fit');
  const inputs = inputTensors(x);
  const n = (inputs instanceof Tensor ? inputs : (inputs[0] as Tensor)).shape[0] ?? 0;
  const at = Math.floor(n * (1 - share));
  if (at === 0 || at === n) {
    throw new InvalidArgumentError(
      `validationSplit ${share} leaves nothing on one side of ${n} examples`,
      'fit',
    );
  }
  const cut =
    (from: number, to: number) =>
    (t: Tensor): Tensor => {
      if (t.shape[0] !== n) {
        throw new InvalidArgumentError(
          `x has ${n} examples, beside it there are ${t.shape[0] ?? 'no'}`,
          'fit',
        );
      }
      const rest = t.shape.slice(1);
      return t.slice([from, ...rest.map(() => 0)], [to - from, ...rest]);
    };
  const part = (from: number, to: number): HeldBack => {
    const piece = cut(from, to);
    const parts = [inputs instanceof Tensor ? piece(inputs) : inputs.map(piece), piece(toTensor(y))] as const;
    return weight === undefined ? parts : [...parts, piece(toTensor(weight))];
  };
  const [headX, headY, headWeight] = part(0, at);
  return [{ x: headX, y: headY, weight: headWeight }, part(at, n)];
}

/** The batch's weights times those of its classes. */
export function classWeights(
  batch: Batch,
  weights: Readonly<Record<number, number>> | undefined,
): Tensor | undefined {
  if (weights === undefined) return batch.sampleWeight;
  const { y, sampleWeight } = batch;
  if (y === undefined) throw new InvalidArgumentError('classWeight needs targets', 'fit');
  return scope(() => {
    const labels = y.rank > 1 && (y.shape.at(-1) ?? 1) > 1 ? y.argMax(-1) : y.reshape([-1]);
    if (labels.size !== y.shape[0]) {
      throw new InvalidArgumentError('classWeight needs one label for each example', 'fit');
    }
    const data = labels.data() as ArrayLike<number | bigint>;
    const own = toTensor(Array.from(data, (label) => weights[Number(label)] ?? 1));
    return sampleWeight === undefined ? own : own.reshape(sampleWeight.shape).mul(sampleWeight);
  });
}
