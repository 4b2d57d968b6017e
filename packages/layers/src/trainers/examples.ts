import { InvalidArgumentError, scope, Tensor, UnimplementedError } from '@eagre/core';
import { isPlain, shown, toTensor } from '@eagre/core/internal';
import { flat, mapTensors, type Tensors } from '../layer/batch-tensors.ts';
import {
  type Batch,
  type FitData,
  type Inputs,
  inputTensors,
  isSource,
  type Names,
  targetTensors,
} from './data-adapter.ts';

/** Examples with targets and weights, as users give them. */
export interface Examples {
  readonly x: FitData;
  readonly y: Inputs | undefined;
  readonly weight: Inputs | undefined;
}
/** Examples held back, as `validationData` takes them. */
export type HeldBack = readonly [x: Tensors, y?: Tensors | undefined, sampleWeight?: Tensors | undefined];

/** Splits the last part of the examples off, as `validationSplit` says. */
export function splitValidation(examples: Examples, share: number, names: Names): [Examples, HeldBack] {
  if (typeof share !== 'number' || !(share > 0 && share < 1)) {
    throw new InvalidArgumentError(`validationSplit must be in (0, 1), got ${shown(share)}`, 'fit');
  }
  const { x } = examples;
  const y = targetTensors(examples.y, names, 'y');
  if (isSource(x))
    throw new InvalidArgumentError('validationSplit needs x and y as arrays; pass validationData', 'fit');
  const inputs = inputTensors(x, names);
  const weight = targetTensors(examples.weight, names, 'sampleWeight');
  const [first] = flat(inputs);
  if (first === undefined) throw new InvalidArgumentError('x holds no tensors', 'fit');
  const n = first.shape[0] ?? 0;
  const at = Math.floor(n * (1 - share));
  if (at === 0 || at === n) {
    throw new InvalidArgumentError(
      `validationSplit ${share} leaves no examples for training or for validation, out of ${n}`,
      'fit',
    );
  }
  const cut =
    (from: number, to: number) =>
    (t: Tensor): Tensor => {
      if (t.shape[0] !== n) {
        throw new InvalidArgumentError(
          `x has ${n} examples, but y or sampleWeight has ${t.shape[0] ?? 'no'}`,
          'fit',
        );
      }
      const rest = t.shape.slice(1);
      return t.slice([from, ...rest.map(() => 0)], [to - from, ...rest]);
    };
  const part = (from: number, to: number): HeldBack => {
    const piece = cut(from, to);
    const pieces = (given: Tensors): Tensors => mapTensors(given, piece);
    const ofGiven = (given: Tensors | undefined) => (given === undefined ? undefined : pieces(given));
    return [pieces(inputs), ofGiven(y), ofGiven(weight)];
  };
  const [headX, headY, headWeight] = part(0, at);
  return [{ x: headX, y: headY, weight: headWeight }, part(at, n)];
}

/** @throws InvalidArgumentError for what is no object of numbers by label. */
export function checkClassWeight(weights: unknown, op: string): void {
  if (weights === undefined || weights === null) return;
  const fail = (why: string): never => {
    throw new InvalidArgumentError(
      `classWeight must have a number for each label, { 0: 1, 1: 5 }; ${why}`,
      op,
    );
  };
  if (typeof weights !== 'object' || !isPlain(weights)) fail(`got ${shown(weights)}`);
  for (const [label, weight] of Object.entries(weights as object)) {
    if (!/^\d+$/.test(label)) fail(`'${label}' is no label`);
    if (typeof weight !== 'number' || Number.isNaN(weight)) fail(`that of ${label} is ${shown(weight)}`);
  }
}

/** The batch's weights times those of its classes. */
export function classWeights(
  batch: Batch,
  weights: Readonly<Record<number, number>> | undefined,
): Tensors | undefined {
  if (weights === undefined || weights === null) return batch.sampleWeight;
  const { y, sampleWeight } = batch;
  if (y === undefined) throw new InvalidArgumentError('classWeight needs targets', 'fit');
  if (batch.divided === true && !(y instanceof Tensor))
    throw new UnimplementedError(
      'classWeight needs the labels of the whole batch: give a Dataset, or weights of the examples, [x, y, sampleWeight]',
      'fit',
    );
  if (!(y instanceof Tensor) || (sampleWeight !== undefined && !(sampleWeight instanceof Tensor))) {
    throw new InvalidArgumentError(
      'classWeight works for models with one output only; give each output a sampleWeight',
      'fit',
    );
  }
  return scope(() => {
    const labels = y.rank > 1 && (y.shape.at(-1) ?? 1) > 1 ? y.argMax(-1) : y.reshape([-1]);
    if (labels.size !== y.shape[0]) {
      throw new InvalidArgumentError('classWeight needs one label per example', 'fit');
    }
    const data = labels.data() as ArrayLike<number | bigint>;
    const own = toTensor(Array.from(data, (label) => weights[Number(label)] ?? 1));
    return sampleWeight === undefined ? own : own.reshape(sampleWeight.shape).mul(sampleWeight);
  });
}
