// Boxes in images: which to keep, what is inside of them, and their pictures. A box is [y1, x1, y2, x2].
import { type DType, InvalidArgumentError, OutOfRangeError } from '@eagre/backend';
import type { IntegerLike, IntegersLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { checkCount, checkOneOf, shown } from '../../arguments/checks.ts';
import { integersOf } from '../../dispatch/checked-values.ts';
import { context, currentBackend, eagerBackend } from '../../dispatch/context.ts';
import { graphLoops } from '../../dispatch/graph-loops.ts';
import { atRunTime } from '../../dispatch/host.ts';
import { defineOp, execute, execute1, type Op, opHooks } from '../../dispatch/op.ts';
import { uniform, values } from '../../dispatch/samples.ts';
import { type Dim, isExpression, minDims, mulDims } from '../../shapes/dim.ts';
import { dims, sizeOfDims, toShape } from '../../shapes/dims.ts';
import { checkFlag, sameShape, showShape } from '../../shapes/shape.ts';
import { differs, sizeValue } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import { emptyTensor, hostValues, setValues, spaceOf, type Tensor, uploaded } from '../../tensor/tensor.ts';
import { zeros } from '../array/creation.ts';
import { gather } from '../array/gather.ts';
import { iota } from '../array/iota.ts';
import { stack } from '../array/join.ts';
import { toIndices } from '../array/moving.ts';
import { expandDims, identity, pad, reshape, stopGradient } from '../array/shaping.ts';
import { slice } from '../array/slicing.ts';
import { patchesOf, sizesBetween } from '../array/space.ts';
import { where } from '../elementwise/select.ts';
import { asFloats, lastPlace, places, toImages, twoSizes } from './images.ts';
import { sampled } from './warp.ts';

const integerList = (list: readonly number[], dtype: 'int32' = 'int32'): Tensor =>
  setValues(emptyTensor(dtype, [list.length], list.length), list);
const floatList = (list: readonly number[], like: Tensor): Tensor =>
  setValues(emptyTensor(like.dtype, [list.length], list.length), list);

// ---- suppression

/** How much two boxes of a list of coordinates have in common, by their places: the share of both together. */
function overlapsOf(boxes: ArrayLike<number>): (i: number, j: number) => number {
  const n = boxes.length >> 2;
  // Corners in order, and areas.
  const sorted = new Float64Array(4 * n);
  const areas = new Float64Array(n);
  for (let k = 0, at = 0; k < n; k++, at += 4) {
    const y1 = boxes[at] as number;
    const x1 = boxes[at + 1] as number;
    const y2 = boxes[at + 2] as number;
    const x2 = boxes[at + 3] as number;
    sorted[at] = Math.min(y1, y2);
    sorted[at + 1] = Math.min(x1, x2);
    sorted[at + 2] = Math.max(y1, y2);
    sorted[at + 3] = Math.max(x1, x2);
    areas[k] = (sorted[at + 2] - sorted[at]) * (sorted[at + 3] - sorted[at + 1]);
  }
  return (i, j) => {
    if (areas[i] <= 0 || areas[j] <= 0) return 0;
    const a = 4 * i;
    const b = 4 * j;
    const height = Math.min(sorted[a + 2], sorted[b + 2]) - Math.max(sorted[a], sorted[b]);
    if (height <= 0) return 0;
    const width = Math.min(sorted[a + 3], sorted[b + 3]) - Math.max(sorted[a + 1], sorted[b + 1]);
    if (width <= 0) return 0;
    const common = height * width;
    return common / (areas[i] + areas[j] - common);
  };
}

const OP = 'image.nonMaxSuppression';

interface Suppression {
  readonly most: number;
  /** Boxes that overlap more with one that was taken are left out. */
  readonly limit: number;
  readonly least: number;
  /** Above 0 scores fall with the overlap, whatever the limit is, instead (Bodla and others, "Soft-NMS", 2017). */
  readonly sigma?: number;
}

// Places that stand behind the 32 bits of a score in an integer that float64 has.
const PLACES = 2 ** 21;

/** The places of the scores above the least, best first; of the same score the first one comes first. */
function bestFirst(count: number, scores: ArrayLike<number>, least: number): Int32Array {
  const open = new Int32Array(count);
  let n = 0;
  for (let i = 0; i < count; i++) if ((scores[i] as number) > least) open[n++] = i;
  const found = open.subarray(0, n);
  if (!(scores instanceof Float32Array) || count > PLACES)
    return found.sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b);
  // The platform sorts numbers alone many times faster. Adding 0 makes one zero of both.
  const floats = Float32Array.from(found, (i) => (scores[i] as number) + 0);
  const bits = new Int32Array(floats.buffer);
  const keys = new Float64Array(n);
  for (let k = 0; k < n; k++) {
    // Bits of negative numbers fall where the numbers rise.
    const rising = bits[k] < 0 ? 0x7fffffff - (bits[k] & 0x7fffffff) : bits[k] + 2 ** 31;
    keys[k] = (2 ** 32 - 1 - rising) * PLACES + found[k];
  }
  keys.sort();
  for (let k = 0; k < n; k++) found[k] = keys[k] % PLACES;
  return found;
}

/** The boxes that are taken, best first, and their scores, which overlaps may have lowered. */
function suppressed(
  count: number,
  scores: ArrayLike<number>,
  overlap: (i: number, j: number) => number,
  { most, limit, least, sigma = 0 }: Suppression,
): { readonly taken: number[]; readonly scores: number[] } {
  if (most < 0) throw new InvalidArgumentError(`maxOutputSize is ${most}, which must not be negative`, OP);
  const open = bestFirst(count, scores, least);
  if (sigma > 0) return softened(open, scores, overlap, most, least, -0.5 / sigma);
  const taken: number[] = [];
  for (const i of open) {
    if (taken.length >= most) break;
    let k = taken.length - 1;
    while (k >= 0 && !(overlap(i, taken[k] as number) > limit)) k--;
    if (k < 0) taken.push(i);
  }
  return { taken, scores: taken.map((i) => scores[i] as number) };
}

/** The same where scores fall by overlaps. @param order the boxes, best first */
function softened(
  order: Int32Array,
  given: ArrayLike<number>,
  overlap: (i: number, j: number) => number,
  most: number,
  least: number,
  scale: number,
): { readonly taken: number[]; readonly scores: number[] } {
  // A heap, which a sorted list is. Of each box: its score now, and how many of those taken it was compared with.
  const heap = order.slice();
  const scores = new Float64Array(given.length);
  for (const i of order) scores[i] = given[i] as number;
  const seen = new Int32Array(given.length);
  const before = (a: number, b: number): boolean =>
    scores[a] > scores[b] || (scores[a] === scores[b] && a < b);
  let length = heap.length;
  const sink = (): void => {
    const moved = heap[0];
    let at = 0;
    for (let next = 1; next < length; next = 2 * at + 1) {
      if (next + 1 < length && before(heap[next + 1], heap[next])) next++;
      if (!before(heap[next], moved)) break;
      heap[at] = heap[next];
      at = next;
    }
    heap[at] = moved;
  };
  const drop = (): void => {
    heap[0] = heap[--length];
    if (length > 0) sink();
  };
  const taken: number[] = [];
  const found: number[] = [];
  while (taken.length < most && length > 0) {
    const box = heap[0];
    const old = scores[box];
    let score = old;
    for (let k = taken.length - 1; k >= seen[box] && score > least; k--) {
      const share = overlap(box, taken[k] as number);
      // Apart, they leave it as it is.
      if (share !== 0) score *= Math.exp(scale * share * share);
    }
    seen[box] = taken.length;
    scores[box] = score;
    if (score === old) {
      taken.push(box);
      found.push(score);
    }
    // What is lower now goes back to where it belongs.
    if (score === old || !(score > least)) drop();
    else sink();
  }
  return { taken, scores: found };
}

const numberIn = (x: Tensor): number => Number((hostValues(x) as ArrayLike<number>)[0]);
const settingsOf = ([most, limit, least, sigma]: readonly Tensor[]): Suppression => ({
  most: numberIn(most as Tensor),
  limit: numberIn(limit as Tensor),
  least: numberIn(least as Tensor),
  ...(sigma === undefined ? {} : { sigma: numberIn(sigma) }),
});

/** Boxes that are kept: of those that overlap the one with the highest score. */
const nonMaxSuppressionOp: Op = /* @__PURE__ */ defineOp({
  name: 'NonMaxSuppressionV5',
  run: ([boxes, scores, ...settings]) => {
    const all = hostValues(boxes) as ArrayLike<number>;
    const found = suppressed(
      scores.size,
      hostValues(scores) as ArrayLike<number>,
      overlapsOf(all),
      settingsOf(settings),
    );
    return [integerList(found.taken), floatList(found.scores, scores)];
  },
  valueSized: ([, scores], _, size) => {
    const n = size();
    return [
      { dtype: 'int32', shape: [n] },
      { dtype: scores.dtype, shape: [n] },
    ];
  },
  notDifferentiable: 'which boxes are kept jumps',
  samples: () => [
    {
      inputs: [
        values([0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 2, 1, 3], [3, 4], 'float32'),
        values([0.6, 0.9, 0.5], [3], 'float32'),
        values([3], [], 'int32'),
        values([0.5], [], 'float32'),
        values([0.1], [], 'float32'),
        values([0], [], 'float32'),
      ],
    },
  ],
});
/** Boxes that are kept, of which a matrix tells how they overlap. */
const suppressionByOverlapsOp: Op = /* @__PURE__ */ defineOp({
  name: 'NonMaxSuppressionWithOverlaps',
  run: ([overlaps, scores, ...settings]) => {
    const [all, n] = [hostValues(overlaps) as ArrayLike<number>, scores.size];
    const found = suppressed(
      n,
      hostValues(scores) as ArrayLike<number>,
      (i, j) => all[i * n + j] as number,
      settingsOf(settings),
    );
    return [integerList(found.taken)];
  },
  valueSized: (_, __, size) => [{ dtype: 'int32', shape: [size()] }],
  notDifferentiable: 'which boxes are kept jumps',
  samples: () => [
    {
      inputs: [
        values([1, 0.8, 0, 0.8, 1, 0, 0, 0, 1], [3, 3], 'float32'),
        values([0.6, 0.9, 0.5], [3], 'float32'),
        values([3], [], 'int32'),
        values([0.5], [], 'float32'),
        values([0.1], [], 'float32'),
      ],
    },
  ],
});

interface NmsOptions {
  /** Of boxes that have a larger share in common one is left out; 0.5 by default. */
  readonly iouThreshold?: TensorLike;
  /** Boxes with a lower score, or the same, are left out; −∞ by default. */
  readonly scoreThreshold?: TensorLike;
}
type Nms<R, O = NmsOptions> = NamedFunction<
  [boxes: TensorLike, scores: TensorLike, maxOutputSize: TensorLike],
  ['boxes', 'scores', 'maxOutputSize'],
  O,
  R
>;
const nmsKinds = { boxes: kind.tensor, scores: kind.tensor, maxOutputSize: kind.tensor };

function scalar(value: TensorLike, dtype: 'int32' | 'float32' | 'float64', what: string, op: string): Tensor {
  const t = toTensor(value, dtype);
  if (t.rank !== 0)
    throw new InvalidArgumentError(`${what} has shape ${showShape(t.shape)}, expected a scalar`, op);
  return t.dtype === dtype ? t : t.cast(dtype);
}

/** The inputs of the op, checked. */
function suppressionInputs(
  boxes: TensorLike,
  scores: TensorLike,
  maxOutputSize: TensorLike,
  iouThreshold: TensorLike,
  scoreThreshold: TensorLike,
  softNmsSigma: TensorLike,
  op: string,
): Tensor[] {
  const [b, s] = [toTensor(boxes), toTensor(scores)];
  checkDType(b.dtype, 'floating', 'boxes', op);
  checkDType(s.dtype, 'floating', 'scores', op);
  if (b.rank !== 2 || differs(dims(b)[1], 4) || s.rank !== 1 || differs(dims(s)[0], dims(b)[0]))
    throw new InvalidArgumentError(
      `boxes ${showShape(b.shape)} and scores ${showShape(s.shape)} must be [n, 4] and [n]`,
      op,
    );
  const iou = scalar(iouThreshold, 'float32', 'iouThreshold', op);
  if (typeof iouThreshold === 'number' && !(iouThreshold >= 0 && iouThreshold <= 1))
    throw new InvalidArgumentError(`iouThreshold is ${shown(iouThreshold)}, expected 0 … 1`, op);
  return [
    b,
    s,
    scalar(maxOutputSize, 'int32', 'maxOutputSize', op),
    iou,
    scalar(scoreThreshold, 'float32', 'scoreThreshold', op),
    scalar(softNmsSigma, 'float32', 'softNmsSigma', op),
  ];
}

/**
 * The places (int32) of the boxes to keep, best first: from those that overlap, the one with the highest score.
 * @param boxes [n, 4] of two opposite corners each
 * @param scores [n]
 */
export const nonMaxSuppression: Nms<Tensor> = /* @__PURE__ */ defineFunction(
  'image.nonMaxSuppression',
  nmsKinds,
  { iouThreshold: kind.tensor, scoreThreshold: kind.tensor },
  (boxes, scores, maxOutputSize, options) => {
    const { iouThreshold = 0.5, scoreThreshold = Number.NEGATIVE_INFINITY } = options;
    const op = 'image.nonMaxSuppression';
    return execute(
      nonMaxSuppressionOp,
      suppressionInputs(boxes, scores, maxOutputSize, iouThreshold, scoreThreshold, 0, op),
    )[0] as Tensor;
  },
);

/**
 * As `nonMaxSuppression`, with the scores: [places, scores]. With `softNmsSigma` above 0 boxes that overlap are not left out, but their
 * scores fall.
 */
export const nonMaxSuppressionWithScores: Nms<
  [selectedIndices: Tensor, selectedScores: Tensor],
  NmsOptions & {
    /** How fast the scores of boxes fall that overlap with better ones; 0, the default, leaves them out instead. */
    readonly softNmsSigma?: TensorLike;
  }
> = /* @__PURE__ */ defineFunction(
  'image.nonMaxSuppressionWithScores',
  nmsKinds,
  { iouThreshold: kind.tensor, scoreThreshold: kind.tensor, softNmsSigma: kind.tensor },
  (boxes, scores, maxOutputSize, options) => {
    const { iouThreshold = 0.5, scoreThreshold = Number.NEGATIVE_INFINITY, softNmsSigma = 0 } = options;
    const op = 'image.nonMaxSuppressionWithScores';
    return execute(
      nonMaxSuppressionOp,
      suppressionInputs(boxes, scores, maxOutputSize, iouThreshold, scoreThreshold, softNmsSigma, op),
    ) as [Tensor, Tensor];
  },
);

/** Options of `nonMaxSuppressionPadded`. */
interface PaddedNmsOptions extends NmsOptions {
  /** Whether there are always `maxOutputSize` places, 0 behind the last one that counts; batches of images need it. False by default. */
  readonly padToMaxOutputSize?: boolean;
  /** Whether the boxes come in falling order of their scores. False by default: they are sorted. */
  readonly sortedInput?: boolean;
  /** Whether all boxes are [top, left, bottom, right]: it changes nothing, since other corners are exchanged. */
  readonly canonicalizedCoordinates?: boolean;
  /** In TensorFlow, how many boxes are compared at once: it changes nothing. */
  readonly tileSize?: number;
}

/**
 * As `nonMaxSuppression`, and how many boxes are kept: [places, count]. For batches of images [...batch, maxOutputSize] and [...batch].
 * Boxes that have just the share `iouThreshold` in common are left out, too, as in TensorFlow.
 * @param boxes [...batch, n, 4]
 * @param scores [...batch, n]
 */
export const nonMaxSuppressionPadded: Nms<[selectedIndices: Tensor, numValid: Tensor], PaddedNmsOptions> =
  /* @__PURE__ */ defineFunction(
    'image.nonMaxSuppressionPadded',
    nmsKinds,
    {
      iouThreshold: kind.tensor,
      scoreThreshold: kind.tensor,
      padToMaxOutputSize: kind.asIs,
      sortedInput: kind.asIs,
      canonicalizedCoordinates: kind.asIs,
      tileSize: kind.asIs,
    },
    (boxes, scores, maxOutputSize, options) => {
      const op = 'image.nonMaxSuppressionPadded';
      const padded = checkFlag(options.padToMaxOutputSize, 'padToMaxOutputSize', op);
      const sorted = checkFlag(options.sortedInput, 'sortedInput', op);
      checkFlag(options.canonicalizedCoordinates, 'canonicalizedCoordinates', op);
      if (options.tileSize !== undefined) checkCount(options.tileSize, 'tileSize', op, 1);
      const [b, s] = [toTensor(boxes), toTensor(scores)];
      const { iouThreshold = 0.5, scoreThreshold = Number.NEGATIVE_INFINITY } = options;
      const size = padded ? (kind.size.read?.(maxOutputSize, 'maxOutputSize', op) ?? maxOutputSize) : null;
      const ofImage = (box: Tensor, score: Tensor): [Tensor, Tensor] => {
        const inputs = suppressionInputs(box, score, maxOutputSize, iouThreshold, scoreThreshold, 0, op);
        return keptOf(inputs, sorted, size as Dim | null);
      };
      if (b.rank <= 2) return ofImage(b, s);
      const batch = dims(b).slice(0, -2);
      if (!padded)
        throw new InvalidArgumentError('padToMaxOutputSize must be true for batches of images', op);
      if (s.rank !== b.rank - 1 || !sameShape(dims(s), dims(b).slice(0, -1)))
        throw new InvalidArgumentError(
          `boxes ${showShape(b.shape)} and scores ${showShape(s.shape)} must be [..., n, 4] and [..., n]`,
          op,
        );
      const count = sizeOfDims(batch);
      const all = reshape(b, toShape([count, ...dims(b).slice(-2)]));
      const every = reshape(s, toShape([count, ...dims(s).slice(-1)]));
      const image = (i: TensorLike): [Tensor, Tensor] => ofImage(gather(all, i, 0), gather(every, i, 0));
      const [places, counts] = isExpression(count)
        ? graphLoops.rows(count, image)
        : stacked(
            Array.from({ length: count }, (_, i) => image(toTensor(i, 'int32'))),
            size as Dim,
          );
      return [
        reshape(places as Tensor, toShape([...batch, size as Dim])),
        reshape(counts as Tensor, toShape(batch)),
      ];
    },
  );

/** The boxes of one image that are kept, up to a size where there is one, and how many they are. */
function keptOf(
  [boxes, scores, most, iou, least, sigma]: readonly Tensor[],
  sorted: boolean,
  size: Dim | null,
): [Tensor, Tensor] {
  let [order, limit] = [scores as Tensor, least as Tensor];
  if (sorted) {
    // Numbers that fall from place to place, and 0 where the score is too low.
    const [n] = dims(order) as [Dim];
    const falling = toTensor(sizeValue(n, 'int32'), 'int32').sub(iota(n)).cast('float32');
    order = where(order.greater(limit.cast(order.dtype)), falling, 0);
    limit = toTensor(0, 'float32');
  }
  // What is more than the number below a limit is as much as the limit, or more.
  const below = (iou as Tensor).mul(1 - 2 ** -24);
  const [found] = execute(nonMaxSuppressionOp, [boxes, order, most, below, limit, sigma] as Tensor[]);
  const count = toTensor(sizeValue(dims(found)[0], 'int32'), 'int32');
  return [size === null ? found : filledUp(found, count, size), count];
}

/** Places up to a size, 0 behind those that are there. */
function filledUp(found: Tensor, count: Tensor, size: Dim): Tensor {
  const place = iota(size);
  return where(place.less(count), gather(pad(found, [[0, 1]]), place.minimum(count)), 0);
}

function stacked(images: readonly [Tensor, Tensor][], size: Dim): [Tensor, Tensor] {
  if (images.length === 0)
    return [zeros(toShape([0, size]), { dtype: 'int32' }), zeros([0], { dtype: 'int32' })];
  return [stack(images.map(([places]) => places)), stack(images.map(([, count]) => count))];
}

/** As `nonMaxSuppression`, of boxes for which a matrix [n, n] tells how much they overlap. */
export const nonMaxSuppressionOverlaps: NamedFunction<
  [overlaps: TensorLike, scores: TensorLike, maxOutputSize: TensorLike],
  ['overlaps', 'scores', 'maxOutputSize'],
  {
    /** Boxes that overlap more with a better one are left out; 0.5 by default. */
    readonly overlapThreshold?: TensorLike;
    /** Boxes with lower scores are left out; none by default. */
    readonly scoreThreshold?: TensorLike;
  }
> = /* @__PURE__ */ defineFunction(
  'image.nonMaxSuppressionOverlaps',
  { overlaps: kind.tensor, scores: kind.tensor, maxOutputSize: kind.tensor },
  { overlapThreshold: kind.tensor, scoreThreshold: kind.tensor },
  (overlaps, scores, maxOutputSize, options) => {
    const op = 'image.nonMaxSuppressionOverlaps';
    const [o, s] = [toTensor(overlaps), toTensor(scores)];
    checkDType(o.dtype, 'floating', 'overlaps', op);
    checkDType(s.dtype, 'floating', 'scores', op);
    if (o.rank !== 2 || differs(dims(o)[0], dims(o)[1]) || s.rank !== 1 || differs(dims(s)[0], dims(o)[0]))
      throw new InvalidArgumentError(
        `overlaps ${showShape(o.shape)} and scores ${showShape(s.shape)} must be [n, n] and [n]`,
        op,
      );
    const { overlapThreshold = 0.5, scoreThreshold = Number.NEGATIVE_INFINITY } = options;
    return execute(suppressionByOverlapsOp, [
      o,
      s,
      scalar(maxOutputSize, 'int32', 'maxOutputSize', op),
      scalar(overlapThreshold, 'float32', 'overlapThreshold', op),
      scalar(scoreThreshold, 'float32', 'scoreThreshold', op),
    ])[0] as Tensor;
  },
);

interface CombinedOptions extends NmsOptions {
  /** Whether the result is as long as all classes need, where that is less than `maxTotalSize`; false by default. */
  readonly padPerClass?: boolean;
  /** Whether corners are cut to 0 … 1; true by default. */
  readonly clipBoxes?: boolean;
}
/**
 * `nonMaxSuppression` for each class of each image, of which the best are kept: [boxes [b, n, 4], scores [b, n], classes [b, n], counts [b]],
 * zeros behind the last that counts.
 * @param boxes [b, m, q, 4], where q is 1, or one for each class
 * @param scores [b, m, classes]
 */
export const combinedNonMaxSuppression: NamedFunction<
  [boxes: TensorLike, scores: TensorLike, maxOutputSizePerClass: IntegerLike, maxTotalSize: IntegerLike],
  ['boxes', 'scores', 'maxOutputSizePerClass', 'maxTotalSize'],
  CombinedOptions,
  [nmsedBoxes: Tensor, nmsedScores: Tensor, nmsedClasses: Tensor, validDetections: Tensor]
> = /* @__PURE__ */ defineFunction(
  'image.combinedNonMaxSuppression',
  {
    boxes: kind.tensor,
    scores: kind.tensor,
    maxOutputSizePerClass: kind.integer,
    maxTotalSize: kind.integer,
  },
  { iouThreshold: kind.tensor, scoreThreshold: kind.tensor, padPerClass: kind.asIs, clipBoxes: kind.asIs },
  (boxes, scores, maxOutputSizePerClass, maxTotalSize, options) => {
    const op = 'image.combinedNonMaxSuppression';
    const [b, s] = [toTensor(boxes).cast('float32'), toTensor(scores).cast('float32')];
    const [perClass, total] = [maxOutputSizePerClass as number, maxTotalSize as number];
    for (const [name, n] of Object.entries({ maxOutputSizePerClass: perClass, maxTotalSize: total }))
      if (!Number.isSafeInteger(n) || n < 1)
        throw new InvalidArgumentError(`${name} is ${n}, expected an integer of at least 1`, op);
    const [batch, m, q] = dims(b);
    const classes = dims(s)[2];
    const fits =
      b.rank === 4 &&
      s.rank === 3 &&
      !differs(dims(b)[3], 4) &&
      !differs(dims(s)[0], batch) &&
      !differs(dims(s)[1], m) &&
      (!differs(q, 1) || !differs(q, classes));
    if (!fits)
      throw new InvalidArgumentError(
        `boxes ${showShape(b.shape)} and scores ${showShape(s.shape)} must be [b, m, q, 4] and [b, m, classes], with q = 1 or classes`,
        op,
      );
    const clip = checkFlag(options.clipBoxes ?? true, 'clipBoxes', op);
    const padded = checkFlag(options.padPerClass, 'padPerClass', op);
    const size = padded ? minDims(total, mulDims(perClass, classes)) : total;
    const run = (box: Tensor, score: Tensor, iou: Tensor, threshold: Tensor): Tensor[] =>
      combined(
        box,
        score,
        { most: perClass, limit: numberIn(iou), least: numberIn(threshold) },
        padded ? Math.min(total, perClass * score.shape[2]) : total,
        clip,
      );
    return atRunTime(
      op,
      run,
      [
        b,
        s,
        scalar(options.iouThreshold ?? 0.5, 'float32', 'iouThreshold', op),
        scalar(options.scoreThreshold ?? Number.NEGATIVE_INFINITY, 'float32', 'scoreThreshold', op),
      ],
      [
        { dtype: 'float32', shape: toShape([batch, size, 4]) },
        { dtype: 'float32', shape: toShape([batch, size]) },
        { dtype: 'float32', shape: toShape([batch, size]) },
        { dtype: 'int32', shape: toShape([batch]) },
      ],
    ) as [Tensor, Tensor, Tensor, Tensor];
  },
);

function combined(
  boxes: Tensor,
  scores: Tensor,
  settings: Suppression,
  size: number,
  clip: boolean,
): [Tensor, Tensor, Tensor, Tensor] {
  const [batch, m, q] = boxes.shape as [number, number, number, number];
  const classes = scores.shape[2] as number;
  const [b, s] = [hostValues(boxes) as Float32Array, hostValues(scores) as Float32Array];
  const outBoxes = new Float32Array(batch * size * 4);
  const outScores = new Float32Array(batch * size);
  const outClasses = new Float32Array(batch * size);
  const counts = new Int32Array(batch);
  const score = new Float32Array(m);
  for (let n = 0; n < batch; n++) {
    const candidates = (of: number): { own: Float32Array; overlap: ReturnType<typeof overlapsOf> } => {
      const own = new Float32Array(4 * m);
      for (let i = 0; i < m; i++) {
        const at = ((n * m + i) * q + of) * 4;
        own.set(b.subarray(at, at + 4), 4 * i);
      }
      return { own, overlap: overlapsOf(own) };
    };
    const shared = q === 1 ? candidates(0) : undefined;
    const kept: { readonly box: Float32Array; readonly score: number; readonly of: number }[] = [];
    for (let c = 0; c < classes; c++) {
      const { own, overlap } = shared ?? candidates(c);
      for (let i = 0; i < m; i++) score[i] = s[(n * m + i) * classes + c];
      const { taken, scores: found } = suppressed(m, score, overlap, settings);
      for (const [k, i] of taken.entries())
        kept.push({ box: own.subarray(4 * i, 4 * i + 4), score: found[k] as number, of: c });
    }
    kept.sort((x, y) => y.score - x.score);
    counts[n] = Math.min(size, kept.length);
    kept.slice(0, size).forEach(({ box, score, of }, i) => {
      outBoxes.set(clip ? box.map((v) => Math.min(1, Math.max(0, v))) : box, (n * size + i) * 4);
      outScores[n * size + i] = score;
      outClasses[n * size + i] = of;
    });
  }
  return [
    toTensor({ data: outBoxes, shape: [batch, size, 4] }),
    toTensor({ data: outScores, shape: [batch, size] }),
    toTensor({ data: outClasses, shape: [batch, size] }),
    toTensor({ data: counts, shape: [batch] }),
  ];
}

// ---- parts of images

/**
 * The parts of images [n, h, w, c] in boxes, all resized to one size: [boxes, height, width, c] of float32.
 * @param boxes [m, 4], of which 0 is the first pixel and 1 the last; what is beyond the border has the extrapolation value
 * @param boxIndices [m], the number of the image of each box
 */
export const cropAndResize: NamedFunction<
  [image: TensorLike, boxes: TensorLike, boxIndices: TensorLike, cropSize: IntegersLike],
  ['image', 'boxes', 'boxIndices', 'cropSize'],
  {
    /** How pixels between pixels are found: `bilinear` by default, or `nearest`. */
    readonly method?: 'bilinear' | 'nearest';
    /** What stands outside of the image; 0 by default. */
    readonly extrapolationValue?: number;
  }
> = /* @__PURE__ */ defineFunction(
  'image.cropAndResize',
  { image: kind.tensor, boxes: kind.tensor, boxIndices: kind.tensor, cropSize: kind.shape },
  { method: kind.asIs, extrapolationValue: kind.asIs },
  (image, boxes, boxIndices, cropSize, { method = 'bilinear', extrapolationValue = 0 }) => {
    const op = 'image.cropAndResize';
    const x = asFloats(toImages(image, op)).cast('float32');
    const b = toTensor(boxes).cast('float32');
    const ids = toIndices(boxIndices, 'boxIndices', op);
    checkOneOf(method, ['bilinear', 'nearest'], 'method', op);
    if (
      x.rank !== 4 ||
      b.rank !== 2 ||
      differs(dims(b)[1], 4) ||
      ids.rank !== 1 ||
      differs(dims(ids)[0], dims(b)[0])
    )
      throw new InvalidArgumentError(
        `image ${showShape(x.shape)}, boxes ${showShape(b.shape)} and boxIndices ${showShape(ids.shape)} must be [n, h, w, c], [m, 4] and [m]`,
        op,
      );
    const size = twoSizes(cropSize, 'cropSize', op);
    // Devices look for pixels by themselves, and graphs have ops that others know.
    if (context.tracer !== null || !eagerBackend().allocator.isHost || typeof extrapolationValue !== 'number')
      return croppedByOps([x, b, ids], size, method, extrapolationValue);
    return execute1(cropAndResizeOp, [x, b, ids], { size, method, extrapolationValue });
  },
);

type CropMethod = 'bilinear' | 'nearest';

/** The parts of images, by ops that have gradients. */
function croppedByOps(
  [x, b, ids]: readonly Tensor[],
  [height, width]: readonly [Dim, Dim],
  method: CropMethod,
  extrapolationValue: number,
): Tensor {
  const op = 'image.cropAndResize';
  const dtype = b.dtype as 'float32' | 'float64';
  const [, h, w] = dims(x);
  const border = (i: number): Tensor => b.slice([0, i], [-1, 1]).squeeze([1]);
  const [y1, x1, y2, x2] = [border(0), border(1), border(2), border(3)];
  const along = (start: Tensor, end: Tensor, side: Dim, count: Dim): Tensor => {
    const last = lastPlace(side, dtype);
    if (!differs(count, 1)) return expandDims(start.add(end).mul(0.5).mul(last), 1);
    const step = end.sub(start).mul(last).div(lastPlace(count, dtype));
    return expandDims(start.mul(last), 1).add(places(count, dtype).mul(expandDims(step, 1)));
  };
  // On a pixel exactly there is nothing between two: the box has no derivative there, as in TensorFlow.
  const between = (p: Tensor): Tensor => where(p.equal(p.floor()), stopGradient(p), p);
  const [rows, columns] = [along(y1, y2, h, height), along(x1, x2, w, width)].map(between) as [
    Tensor,
    Tensor,
  ];
  const shape = toShape([dims(b)[0], height, width]);
  const [py, px] = [expandDims(rows, 2).broadcastTo(shape), expandDims(columns, 1).broadcastTo(shape)];
  const found = sampled(gather(x, ids), px, py, { interpolation: method, fillMode: 'nearest' }, op);
  const inside = (p: Tensor, side: Dim): Tensor =>
    p.greaterEqual(0).logicalAnd(p.lessEqual(lastPlace(side, dtype)));
  return where(expandDims(inside(py, h).logicalAnd(inside(px, w)), -1), found, extrapolationValue);
}

/** Where the samples of a box lie along a side: of each the pixel before it, and how far behind that it is; −1 outside of the image. */
function cropPlaces(
  start: number,
  end: number,
  side: number,
  first: Int32Array,
  share: Float32Array,
  method: CropMethod,
): void {
  const { fround } = Math;
  const [last, count] = [side - 1, first.length];
  const step = count > 1 ? fround(fround(fround(end - start) * last) / (count - 1)) : 0;
  const from = count > 1 ? fround(start * last) : fround(fround(fround(start + end) * fround(0.5)) * last);
  for (let i = 0; i < count; i++) {
    const place = fround(from + fround(i * step));
    const inside = place >= 0 && place <= last;
    const at = method === 'nearest' ? Math.floor(fround(place + 0.5)) : Math.floor(place);
    first[i] = inside ? at : -1;
    share[i] = fround(place - at);
  }
}

/** The parts of images in memory of the host. */
const cropAndResizeOp: Op = /* @__PURE__ */ defineOp({
  name: 'CropAndResize',
  // Places are rounded to float32.
  ulp: 256,
  compose: ([x, b, ids], attrs) => {
    const [height, width] = attrs['size'] as readonly [number, number];
    const method = attrs['method'] as CropMethod;
    // Also where a function is traced, since others know those ops; gradients are tested in float64, and conformance in 16 bits too.
    if (x.dtype !== 'float32' || !currentBackend().allocator.isHost)
      return croppedByOps([x, b, ids], [height, width], method, attrs['extrapolationValue'] as number);
    const [n, h, w, c] = x.shape as unknown as readonly [number, number, number, number];
    const count = b.shape[0] as number;
    const y = emptyTensor('float32', [count, height, width, c]);
    if (y.size === 0) return y;
    const [pixels, boxes, to] = [hostValues(x), hostValues(b), spaceOf(y)] as Float32Array[];
    const images = integersOf(ids);
    const [rows, columns] = [new Int32Array(height), new Int32Array(width)];
    const [dys, dxs] = [new Float32Array(height), new Float32Array(width)];
    to.fill(attrs['extrapolationValue'] as number);
    for (let k = 0; k < count; k++) {
      const image = images[k];
      if (!(image >= 0 && image < n))
        throw new OutOfRangeError(`boxIndices[${k}] = ${image} is not in [0, ${n})`, 'image.cropAndResize');
      cropPlaces(boxes[4 * k], boxes[4 * k + 2], h, rows, dys, method);
      cropPlaces(boxes[4 * k + 1], boxes[4 * k + 3], w, columns, dxs, method);
      const start = image * h * w * c;
      crop(pixels, start, [h, w, c], rows, dys, columns, dxs, method, to, k * height * width * c);
    }
    return uploaded(y, to);
  },
  grad: (g, dy) => {
    const { size, method, extrapolationValue } = g.attrs as {
      size: readonly [Dim, Dim];
      method: CropMethod;
      extrapolationValue: number;
    };
    const [dx, db] = opHooks.vjp(
      ([x, b]) => [croppedByOps([x as Tensor, b as Tensor, g.inputs[2]], size, method, extrapolationValue)],
      [g.inputs[0], g.inputs[1]],
      [dy],
    );
    return [dx ?? null, db ?? null, null];
  },
  samples: () => [
    {
      inputs: [
        uniform([2, 5, 4, 2], 0, 1),
        values([0.11, 0.13, 0.87, 0.79, -0.23, 0.21, 0.64, 1.29], [2, 4]),
        values([1, 0], [2], 'int32'),
      ],
      attrs: { size: [3, 4], method: 'bilinear', extrapolationValue: 0.5 },
    },
  ],
});

/** The part of one image, by its rows and columns. */
function crop(
  pixels: Float32Array,
  start: number,
  [h, w, c]: readonly [number, number, number],
  rows: Int32Array,
  dys: Float32Array,
  columns: Int32Array,
  dxs: Float32Array,
  method: CropMethod,
  to: Float32Array,
  begin: number,
): void {
  const { fround } = Math;
  let at = begin;
  for (let i = 0; i < rows.length; i++) {
    const top = start + rows[i] * w * c;
    const below = rows[i] + 1 < h ? w * c : 0;
    const [dy, restY] = [dys[i], fround(1 - dys[i])];
    for (let j = 0; j < columns.length; j++, at += c) {
      if (rows[i] < 0 || columns[j] < 0) continue;
      const left = top + columns[j] * c;
      if (method === 'nearest') {
        for (let k = 0; k < c; k++) to[at + k] = pixels[left + k];
        continue;
      }
      const right = left + (columns[j] + 1 < w ? c : 0);
      const [dx, restX] = [dxs[j], fround(1 - dxs[j])];
      for (let k = 0; k < c; k++) {
        const above = fround(fround(pixels[left + k] * restX) + fround(pixels[right + k] * dx));
        const under = fround(
          fround(pixels[left + below + k] * restX) + fround(pixels[right + below + k] * dx),
        );
        to[at + k] = fround(above * restY) + fround(under * dy);
      }
    }
  }
}

/** Windows of images [n, h, w, c] as channels: [n, rows, columns, kh · kw · c]. @param sizes [1, kh, kw, 1], as strides and rates */
export const extractPatches: NamedFunction<
  [
    images: TensorLike,
    sizes: IntegersLike,
    strides: IntegersLike,
    rates: IntegersLike,
    padding: 'SAME' | 'VALID',
  ],
  ['images', 'sizes', 'strides', 'rates', 'padding']
> = /* @__PURE__ */ defineFunction(
  'image.extractPatches',
  {
    images: kind.tensor,
    sizes: kind.integers,
    strides: kind.integers,
    rates: kind.integers,
    padding: kind.asIs,
  },
  {},
  (images, sizes, strides, rates, padding) => {
    const op = 'image.extractPatches';
    const x = toImages(images, op);
    if (x.rank !== 4)
      throw new InvalidArgumentError(
        `images have shape ${showShape(x.shape)}, expected [batch, height, width, channels]`,
        op,
      );
    checkOneOf(padding, ['SAME', 'VALID'], 'padding', op);
    const of = (value: unknown, what: string): readonly number[] => sizesBetween(value, 4, what, op);
    return patchesOf(x, of(sizes, 'sizes'), of(strides, 'strides'), of(rates, 'rates'), padding);
  },
);

/** The colours of boxes of images with several channels, by turns: yellow, blue, red, lime, purple, olive, maroon, navy, aqua, fuchsia. */
const COLORS: readonly (readonly number[])[] = [
  [1, 1, 0, 1],
  [0, 0, 1, 1],
  [1, 0, 0, 1],
  [0, 1, 0, 1],
  [0.5, 0, 0.5, 1],
  [0.5, 0.5, 0, 1],
  [0.5, 0, 0, 1],
  [0, 0, 0.5, 1],
  [0, 1, 1, 1],
  [1, 0, 1, 1],
];

/**
 * Images [n, h, w, c] of floats with the borders of boxes [n, m, 4] drawn into them, one pixel wide. Boxes are shares of the sides.
 * @param colors [k, c], taken by turns; some of TensorFlow's unless given
 */
export const drawBoundingBoxes: NamedFunction<
  [images: TensorLike, boxes: TensorLike, colors?: TensorLike | null],
  ['images', 'boxes', 'colors']
> = /* @__PURE__ */ defineFunction(
  'image.drawBoundingBoxes',
  { images: kind.tensor, boxes: kind.tensor, colors: kind.tensor },
  {},
  (images, boxes, colors: TensorLike | null = null) => {
    const op = 'image.drawBoundingBoxes';
    const x = toImages(images, op);
    checkDType(x.dtype, 'floating', 'images', op);
    // They have no gradient, in a loop neither.
    const b = toTensor(boxes).cast('float32').stopGradient();
    if (x.rank !== 4 || b.rank !== 3 || differs(dims(b)[2], 4) || differs(dims(b)[0], dims(x)[0]))
      throw new InvalidArgumentError(
        `images ${showShape(x.shape)} and boxes ${showShape(b.shape)} must be [n, h, w, c] and [n, m, 4]`,
        op,
      );
    const [, h, w, c] = dims(x);
    const table = colors === null ? colorsOf(c, x.dtype) : toTensor(colors).cast(x.dtype);
    if (table.rank !== 2 || differs(dims(table)[1], c) || !differs(dims(table)[0], 0))
      throw new InvalidArgumentError(`colors have shape ${showShape(table.shape)}, expected [k, ${c}]`, op);
    const period = sizeValue(dims(table)[0], 'int32');
    const row = reshape(iota(h), [1, -1, 1, 1]);
    const column = reshape(iota(w), [1, 1, -1, 1]);
    const draw = (y: Tensor, i: Tensor): Tensor => {
      const [top, left, bottom, right] = gather(b, i, 1)
        .unstack(-1)
        .map((side, k): Tensor => {
          const last = lastPlace(k % 2 === 0 ? h : w, 'float32');
          return reshape(side.mul(last).cast('int32'), [-1, 1, 1, 1]);
        }) as [Tensor, Tensor, Tensor, Tensor];
      const between = (p: Tensor, low: Tensor, high: Tensor): Tensor =>
        p.greaterEqual(low).logicalAnd(p.lessEqual(high));
      const edge = (p: Tensor, low: Tensor, high: Tensor): Tensor => p.equal(low).logicalOr(p.equal(high));
      const inside = between(row, top, bottom).logicalAnd(between(column, left, right));
      const border = inside.logicalAnd(edge(row, top, bottom).logicalOr(edge(column, left, right)));
      const color = gather(table, i.mod(period));
      return where(border, reshape(color, toShape([1, 1, 1, c])), y);
    };
    const count = dims(b)[1];
    // Only a run knows how many there are.
    if (isExpression(count))
      return graphLoops.repeat(toTensor(sizeValue(count, 'int32')), ([y], i) => [draw(y, i)], [
        identity(x),
      ])[0];
    let y = x;
    for (let i = 0; i < count; i++) y = draw(y, toTensor(i, 'int32'));
    return y;
  },
);

/** The colours for images of so many channels. */
function colorsOf(channels: Dim, dtype: DType): Tensor {
  const table = toTensor(COLORS, dtype);
  const part = slice(table, [0, 0], toShape([-1, minDims(channels, 4)]));
  // Grey ones are drawn into with white.
  const one = sizeValue(channels, 'int32');
  if (typeof one === 'number') return one === 1 ? toTensor([[1]], dtype) : part;
  return where(one.equal(1), toTensor(1, dtype), part);
}
