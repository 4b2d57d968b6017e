// The loss of labels whose places along a sequence are not known.
import { InvalidArgumentError } from '@eagre/backend';
import type { IntegerLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { graphLoops } from '../../dispatch/graph-loops.ts';
import { inScope } from '../../scopes/scope.ts';
import { addDims, type Dim, isExpression, mulDims } from '../../shapes/dim.ts';
import { dims, toShape } from '../../shapes/dims.ts';
import { checkFlag, showShape } from '../../shapes/shape.ts';
import { differs, sizeValue } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { fill } from '../array/creation.ts';
import { gather } from '../array/gather.ts';
import { iota } from '../array/iota.ts';
import { concat, stack } from '../array/join.ts';
import { toIndices } from '../array/moving.ts';
import { broadcastTo, pad, swapAxes } from '../array/shaping.ts';
import { slice, unstack } from '../array/slicing.ts';
import { where } from '../elementwise/select.ts';

// The logarithm of what cannot be: finite, so that no difference of two of them is NaN.
const NEVER = -1e30;
// TensorFlow's, of sequences that end with another label: a loss that only those have is about 707.
const WRONG_END = Math.log(1e-307);

const OP = 'CTCLoss';

/** The states of a label sequence: [start, blank, first label, blank, second label, …, blank], the start as a label before all others. */
interface States {
  /** [time, batch, states]: log probabilities of the states' symbols. */
  readonly symbols: Tensor;
  /** [batch, states]: 0 where the next but one state may follow. */
  readonly skips: Tensor;
  /** [batch, states]: how good it is to end there. */
  readonly ends: Tensor;
}

/** [..., labels, 2] as [..., 2 · labels]. */
function interleaved(ofLabels: Tensor, ofBlanks: Tensor): Tensor {
  const own = dims(ofLabels);
  const size = mulDims(own[own.length - 1], 2);
  return stack([ofLabels, ofBlanks], -1).reshape(toShape([...own.slice(0, -1), size]));
}

/** @param logP log probabilities [batch, time, classes]. @param labels [batch, labels], blank behind their ends. */
function statesOf(logP: Tensor, labels: Tensor, lengths: Tensor, blank: Tensor): States {
  const dtype = logP.dtype as 'float32';
  const [batch, time] = dims(logP);
  const count = addDims(dims(labels)[1], 1);
  const constant = (value: number, ...shape: Dim[]): Tensor => fill(toShape(shape), value, dtype);

  const ofLabels = concat([constant(NEVER, batch, time, 1), gather(logP, labels, 2, { batchDims: 1 })], 2);
  const ofBlank = gather(logP, blank, 2).expandDims(2);
  const symbols = interleaved(ofLabels, broadcastTo(ofBlank, toShape([batch, time, count])));

  // No label follows an equal one without a blank between them, and nothing follows the last.
  const next = concat([labels, fill(toShape([batch, 1]), 0, 'int32')], 1);
  const previous = concat([fill(toShape([batch, 1]), -1, 'int32'), labels], 1);
  const free = where(next.equal(previous), constant(NEVER, 1, 1), constant(0, 1, 1));
  const atEnd = iota(count).equal(lengths.expandDims(1));
  const end = where(atEnd, constant(0, 1, 1), constant(WRONG_END, 1, 1));
  return {
    symbols: swapAxes(symbols, 0, 1),
    skips: interleaved(free, constant(NEVER, batch, count)),
    ends: interleaved(end, end),
  };
}

/** What `later` makes of the frame before: log probabilities of all that follows each state. */
function stepBack(later: Tensor, symbols: Tensor, skips: Tensor): Tensor {
  const here = later.add(symbols);
  const padded = pad(
    here,
    [
      [0, 0],
      [0, 2],
    ],
    { constantValues: NEVER },
  );
  const from = (i: number): Tensor => slice(padded, [0, i], toShape(dims(here)));
  return stack([here, from(1), from(2).add(skips)]).logSumExp(0);
}

/** Walks back over all frames. */
function likelihood({ symbols, skips, ends }: States, seen: Tensor): Tensor {
  const step = (later: Tensor, own: Tensor, counts: Tensor): Tensor =>
    where(counts, stepBack(later, own, skips), later);
  if (isExpression(dims(symbols)[0])) {
    const [all] = graphLoops.scanBack(
      ([later], [own, counts]) => [step(later, own, counts)],
      [symbols, seen],
      [ends],
    );
    return all.at(0);
  }
  const frames = unstack(symbols, 0);
  const counts = unstack(seen, 0);
  let later = ends;
  for (let t = frames.length - 1; t >= 0; t--) later = step(later, frames[t], counts[t]);
  return later;
}

/** Options of `ctcLoss`. */
export interface CtcLossOptions {
  /** Whether logits are [time, batch, classes], as by default, or [batch, time, classes]. */
  readonly logitsTimeMajor?: boolean;
  /** The class that stands for no label, 0 by default; a negative one counts from the end. */
  readonly blankIndex?: IntegerLike | null;
}

/**
 * Connectionist temporal classification (Graves and others, 2006): −log of the probability that frames, each with a label or a blank, read as the
 * labels, whatever frames these are in. Equal labels that follow each other are one unless a blank is between them.
 * @param labels integers [batch, labels]; what is behind a label sequence's length does not matter.
 * @param logits [time, batch, classes], also of the blank.
 * @param labelLength integers [batch]
 * @param logitLength integers [batch]: the number of frames that count.
 * @returns [batch]; of labels that do not fit into their frames about 707, as in TensorFlow.
 * @throws OutOfRangeError for labels that are no classes.
 */
export const ctcLoss: NamedFunction<
  [labels: TensorLike, logits: TensorLike, labelLength: TensorLike, logitLength: TensorLike],
  ['labels', 'logits', 'labelLength', 'logitLength'],
  CtcLossOptions
> = /* @__PURE__ */ defineFunction(
  'nn.ctcLoss',
  { labels: kind.tensor, logits: kind.tensor, labelLength: kind.tensor, logitLength: kind.tensor },
  { logitsTimeMajor: kind.asIs, blankIndex: kind.axis },
  (
    labels,
    logits,
    labelLength,
    logitLength,
    { logitsTimeMajor = true, blankIndex }: { logitsTimeMajor?: boolean; blankIndex?: number | null },
  ) =>
    inScope(() => {
      const given = toTensor(logits);
      checkDType(given.dtype, 'floating', 'logits', OP);
      const integers = (value: TensorLike, what: string): Tensor => toIndices(value, what, OP).cast('int32');
      const sequences = integers(labels, 'labels');
      const lengths = integers(labelLength, 'labelLength');
      const times = integers(logitLength, 'logitLength');
      const fail = (what: string, t: Tensor, form: string): never => {
        throw new InvalidArgumentError(`${what} must be ${form}, got ${showShape(t.shape)}`, OP);
      };
      const timeMajor = checkFlag(logitsTimeMajor, 'logitsTimeMajor', OP);
      if (given.rank !== 3)
        fail('logits', given, timeMajor ? '[time, batch, classes]' : '[batch, time, classes]');
      const x = timeMajor ? swapAxes(given, 0, 1) : given;
      const [batch, time, classes] = dims(x);
      if (sequences.rank !== 2 || differs(dims(sequences)[0], batch))
        fail('labels', sequences, `[batch, labels] for a batch of ${batch}`);
      if (lengths.rank !== 1 || differs(dims(lengths)[0], batch)) fail('labelLength', lengths, `[${batch}]`);
      if (times.rank !== 1 || differs(dims(times)[0], batch)) fail('logitLength', times, `[${batch}]`);

      const index = blankIndex ?? 0;
      if (typeof classes === 'number' && (index < -classes || index >= classes))
        throw new InvalidArgumentError(`blankIndex ${index} is not one of ${classes} classes`, OP);
      const blank = index < 0 ? addDims(classes, index) : index;
      const half = x.dtype === 'float16' || x.dtype === 'bfloat16';
      const logP = (half ? x.cast('float32') : x).logSoftmax();
      const before = (sizes: Tensor, count: Dim): Tensor => iota(count).less(sizes.expandDims(1));
      const none = toTensor(sizeValue(blank, 'int32'), 'int32');
      const ids = where(before(lengths, dims(sequences)[1]), sequences, none);
      const seen = swapAxes(before(times, time), 0, 1).expandDims(2);
      const all = likelihood(statesOf(logP, ids, lengths, none), seen);
      const loss = slice(all, [0, 0], toShape([batch, 1]))
        .squeeze(1)
        .neg();
      return half ? loss.cast(x.dtype) : loss;
    }),
);
