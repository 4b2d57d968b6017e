// What detectors and losses need.
import {
  concat,
  constant,
  fill,
  gather,
  gatherNd,
  image,
  nn,
  nonzero,
  onesLike,
  split,
  stack,
  type Tensor,
  where,
  zeros,
} from '@eagre/core';
import { type Dim, dims, iota, mulDims, subDims, toShape } from '@eagre/core/internal';
import { mapFn } from '@eagre/graph';
import { elements, type NodeCall, type OnnxOp, type OpTable, type Run } from '../node.ts';
import { sizeTensor } from './arrays.ts';
import { channelsFirst, channelsLast, product, range, scalar, shaped } from './helpers.ts';

/** The boxes that are kept of each class of each example: [batch, class, box]. */
const suppressed: Run = (node) => {
  const [given, scores] = [node.x(0), node.x(1)];
  const scalarOf = (i: number, otherwise: number): Tensor =>
    node.maybe(i)?.reshape([]).cast('float32') ?? constant(otherwise);
  const most = node.maybe(2)?.reshape([]).minimum(MOST_BOXES).cast('int32') ?? constant(0, 'int32');
  const limits = {
    iouThreshold: scalarOf(3, 0),
    scoreThreshold: scalarOf(4, Number.NEGATIVE_INFINITY),
  };
  let boxes = given;
  if (node.attrs.int('center_point_box', 0) === 1) {
    const [x, y, w, h] = split(given, 4, -1) as [Tensor, Tensor, Tensor, Tensor];
    boxes = concat([y.sub(h.div(2)), x.sub(w.div(2)), y.add(h.div(2)), x.add(w.div(2))], -1);
  }
  const [batches, classes, count] = dims(scores) as readonly [Dim, Dim, Dim];
  if (typeof batches !== 'number' || typeof classes !== 'number') {
    // As many rounds as there are: each gives its boxes, and -1 for what is missing of all of them.
    const rows = shaped(scores, [-1, count]);
    const perBatch = sizeTensor(classes, 'int32');
    const places = mapFn(
      (at) => {
        const own = boxes.gather((at as Tensor).floorDiv(perBatch));
        const found = image.nonMaxSuppression(own, rows.gather(at as Tensor), most, limits);
        return concat(
          [found, fill(toShape([subDims(count, dims(found)[0] as Dim)]), scalar(-1, 'int32'))],
          0,
        );
      },
      iota(mulDims(batches, classes)),
    ) as Tensor;
    const kept = nonzero(places.greaterEqual(0)).cast('int64');
    const round = kept.at(':', 0);
    const wide = perBatch.cast('int64');
    return stack([round.floorDiv(wide), round.mod(wide), gatherNd(places, kept).cast('int64')], 1);
  }
  const kept = range(0, batches * classes).map((at) => {
    const [batch, c] = [Math.floor(at / classes), at % classes];
    const found = image.nonMaxSuppression(boxes.at(batch), scores.at(batch, c), most, limits);
    const place = found.cast('int64');
    return stack([place.mul(0n).add(BigInt(batch)), place.mul(0n).add(BigInt(c)), place], 1);
  });
  return kept.length === 0 ? zeros([0, 3], { dtype: 'int64' }) : concat(kept, 0);
};
const MOST_BOXES = 2 ** 31 - 1;

/** Scores of the right class, weighted: loss and, of the cross entropy, the log-probabilities. */
function likelihood(node: NodeCall, logs: Tensor): Tensor {
  const labels = node.x(1).cast('int64');
  const weight = node.maybe(2);
  const ignored = node.attrs.has('ignore_index') ? node.attrs.int('ignore_index') : null;
  // [n, c, …] as [n · …, c]
  const rank = logs.rank;
  const rows = logs.transpose([0, ...range(2, rank), 1]);
  const flat = shaped(rows, [-1, dims(rows).at(-1) as number]);
  const targets = labels.reshape([-1]);
  const counts = ignored === null ? null : targets.notEqual(ignored);
  const safe = counts === null ? targets : where(counts, targets, 0);
  const picked = gather(flat, safe.expandDims(-1), 1, { batchDims: 1 }).squeeze(-1).neg();
  let weights = weight === null ? onesLike(picked) : gather(weight, safe);
  if (counts !== null) weights = where(counts, weights, 0);
  const losses = picked.mul(weights);
  switch (node.attrs.text('reduction', 'mean')) {
    case 'none':
      return shaped(losses, dims(labels));
    case 'sum':
      return losses.sum();
    case 'mean':
      return losses.sum().div(weights.sum());
    default:
      return node.fail(`the reduction '${node.attrs.text('reduction')}' is unknown`);
  }
}

const crossEntropy: Run = (node) => {
  const logs = nn.logSoftmax(node.x(), 1);
  return [likelihood(node, logs), logs];
};

// ---- regions of images

/** Where the samples of regions lie along one axis, [regions, places]: the pixels around each, their weights, and whether it is inside. */
function tapsAlong(places: Tensor, size: Tensor): { taps: readonly [Tensor, Tensor][]; inside: Tensor } {
  const last = size.cast(places.dtype).sub(1);
  const inside = places.greaterEqual(-1).logicalAnd(places.lessEqual(last.add(1)));
  const low = places.maximum(0).floor().minimum(last);
  const share = where(low.greaterEqual(last), 0, places.maximum(0).sub(low));
  return {
    taps: [
      [low.cast('int32'), share.neg().add(1)],
      [low.add(1).minimum(last).cast('int32'), share],
    ],
    inside,
  };
}

interface Region {
  /** [n, h, w, c]. */
  readonly images: Tensor;
  /** Of each region: the image, and where it begins and how large a cell is, along both axes; each [regions, 1]. */
  readonly image: Tensor;
  readonly begin: readonly [y: Tensor, x: Tensor];
  readonly cell: readonly [y: Tensor, x: Tensor];
}

/** The cells of regions, of so many samples along each axis: [regions, rows, columns, c]. */
function cellsOf(
  { images, image, begin, cell }: Region,
  counts: readonly [number, number],
  samples: readonly [number, number],
  mode: string,
): Tensor {
  const sizes = images.shapeOf();
  const [h, w] = [sizes.slice([1], [1]), sizes.slice([2], [1])];
  const placesOf = (i: 0 | 1): Tensor => {
    const steps = range(0, counts[i] * samples[i]).map((k) => (k + 0.5) / samples[i]);
    return begin[i].add(cell[i].mul(constant(steps).reshape([1, -1]).cast(images.dtype)));
  };
  const [down, right] = [tapsAlong(placesOf(0), h), tapsAlong(placesOf(1), w)];
  const flat = shaped(images, [-1, dims(images)[3] as Dim]);
  const rowOf = (y: Tensor): Tensor => image.mul(h).add(y).mul(w).expandDims(-1);
  const parts = down.taps.flatMap(([y, wy]) =>
    right.taps.map(([x, wx]) => {
      const weight = wy.expandDims(-1).mul(wx.expandDims(1));
      return gather(flat, rowOf(y).add(x.expandDims(1))).mul(weight.expandDims(-1));
    }),
  );
  const inside = down.inside.expandDims(-1).logicalAnd(right.inside.expandDims(1)).expandDims(-1);
  const joined = parts.reduce((a, b) => (mode === 'avg' ? a.add(b) : a.maximum(b)));
  const all = shaped(where(inside, joined, 0), [
    dims(image)[0] as Dim,
    counts[0],
    samples[0],
    counts[1],
    samples[1],
    dims(images)[3] as Dim,
  ]);
  return mode === 'avg' ? all.mean([2, 4]) : all.max([2, 4]);
}

/** Regions of images as grids of one size, whose cells are means or maxima of samples. */
const regionsAligned: OnnxOp = {
  // How many samples a cell has depends on the size of its region.
  eager: (attrs) => attrs.int('sampling_ratio', 0) === 0,
  run: (node) => {
    const { attrs } = node;
    const mode = attrs.text('mode', 'avg');
    if (mode !== 'avg' && mode !== 'max') node.fail(`the mode '${mode}' is unknown`);
    const counts = [attrs.int('output_height', 1), attrs.int('output_width', 1)] as const;
    const ratio = attrs.int('sampling_ratio', 0);
    if (!(counts[0] > 0 && counts[1] > 0 && ratio >= 0)) node.fail('its sizes must be positive');
    const coordinates = attrs.text(
      'coordinate_transformation_mode',
      node.opset < 16 ? 'output_half_pixel' : 'half_pixel',
    );
    const half = coordinates === 'half_pixel';
    const images = channelsLast(node.x(0));
    const boxes = node
      .x(1)
      .mul(attrs.float('spatial_scale', 1))
      .sub(half ? 0.5 : 0);
    const column = (i: number): Tensor => boxes.slice([0, i], [-1, 1]);
    const begin = [column(1), column(0)] as const;
    const lengthOf = (from: number, to: number): Tensor => {
      const length = column(to).sub(column(from));
      return half ? length : length.maximum(1);
    };
    const lengths = [lengthOf(1, 3), lengthOf(0, 2)] as const;
    const region: Region = {
      images,
      image: node.x(2).cast('int32').expandDims(-1),
      begin,
      cell: [lengths[0].div(counts[0]), lengths[1].div(counts[1])],
    };
    if (ratio > 0) return channelsFirst(cellsOf(region, counts, [ratio, ratio], mode));
    const [tall, wide] = region.cell.map((x) => Array.from(elements(x), (v) => Math.ceil(Number(v))));
    const one = (x: Tensor, i: number): Tensor => x.slice([i, 0], [1, 1]);
    const each = (tall as number[]).map((rows, i) => {
      const samples = [Math.max(0, rows), Math.max(0, (wide as number[])[i] as number)] as const;
      const total = counts[0] * counts[1] * samples[0] * samples[1];
      if (!(total <= MOST_SAMPLES)) node.fail(`region ${i} is too large: it has ${total} samples`);
      const [y, x] = region.cell;
      return cellsOf(
        {
          images,
          image: one(region.image, i),
          begin: [one(begin[0], i), one(begin[1], i)],
          cell: [one(y, i), one(x, i)],
        },
        counts,
        samples,
        mode,
      );
    });
    const none = zeros([0, ...counts, dims(images)[3] as number], { dtype: images.dtype as 'float32' });
    return channelsFirst(each.length === 0 ? none : concat(each, 0));
  },
};
// More than any region of an image needs.
const MOST_SAMPLES = 2 ** 24;

/** Regions of images, each divided into cells, of which the largest pixel counts; 0 where a cell lies outside. */
const regionsPooled: Run = (node) => {
  const counts = node.attrs.ints('pooled_shape');
  if (counts.length !== 2 || !counts.every((n) => n > 0 && n <= MOST_CELLS))
    node.fail(`pooled_shape must be two numbers from 1 to ${MOST_CELLS}`);
  const boxes = node.x(1);
  const corners = boxes.slice([0, 1], [-1, 4]).mul(node.attrs.float('spatial_scale', 1));
  // To the nearest integer, halves away from zero.
  const rounded = corners.abs().add(0.5).floor().mul(corners.sign());
  const column = (i: number): Tensor => rounded.slice([0, i], [-1, 1]);
  let x = gather(node.x(0), boxes.slice([0, 0], [-1, 1]).squeeze(-1).cast('int32'));
  // Along the columns, then along the rows, which are the last axis meanwhile.
  for (const axis of [1, 0] as const) {
    const [begin, end, count] = [column(1 - axis), column(3 - axis), counts[axis] as number];
    const cell = end.sub(begin).add(1).maximum(1).div(count);
    if (axis === 0) x = x.transpose([0, 1, 3, 2]);
    const pixels = placesOf(x, -1).slice([0, 0, 0, 0], [1, 1, 1, -1]);
    const along = (places: Tensor): Tensor => places.add(begin).reshape([-1, 1, 1, 1]);
    const cells = range(0, count).map((i) => {
      const isInside = pixels
        .greaterEqual(along(cell.mul(i).floor()))
        .logicalAnd(pixels.less(along(cell.mul(i + 1).ceil())));
      const largest = where(isInside, x, Number.NEGATIVE_INFINITY).max(-1);
      return where(isInside.any(-1), largest, 0);
    });
    x = stack(cells, -1);
    if (axis === 0) x = x.transpose([0, 1, 3, 2]);
  }
  return x;
};

// Along an axis: each takes a few operations.
const MOST_CELLS = 1024;

/** The numbers 0, 1, … along an axis, in the shape of a tensor. */
const placesOf = (x: Tensor, axis: number): Tensor => onesLike(x).cumsum(axis).sub(1);

/** A convolution that reads the image at places that are moved, between pixels, and weighted by a mask. */
const deformed: Run = (node) => {
  const { attrs } = node;
  const [x, kernel, offset, bias, mask] = [node.x(0), node.x(1), node.x(2), node.maybe(3), node.maybe(4)];
  if (x.rank !== 4 || kernel.rank !== 4 || offset.rank !== 4)
    node.fail('only images of two axes are supported');
  /** Two numbers, of pads those in front. */
  const pair = (name: string, least: number, count = 2): readonly [number, number] => {
    const list = attrs.ints(name, new Array<number>(count).fill(least));
    if (list.length !== count || list.some((n) => n < least))
      node.fail(`${name} must be ${count} integers of at least ${least}`);
    return list as unknown as readonly [number, number];
  };
  const [strides, dilations, pads] = [pair('strides', 1), pair('dilations', 1), pair('pads', 0, 4)];
  const [groups, parts] = [attrs.int('group', 1), attrs.int('offset_group', 1)];
  const [features, each, rows, columns] = kernel.shape as readonly [number, number, number, number];
  const channels = each * groups;
  const taps = rows * columns;
  if (!(groups > 0 && parts > 0) || features % groups !== 0 || channels % parts !== 0)
    node.fail('its groups do not divide the channels');
  const [, , tall, wide] = dims(offset) as readonly [Dim, Dim, Dim, Dim];
  const sizes = x.shapeOf().cast(x.dtype);
  const lastOf = (axis: 2 | 3): Tensor => sizes.slice([axis], [1]).sub(1);
  /** Where the image is read: [n · parts, taps, rows, columns] along one axis. */
  const moved = shaped(offset, [-1, taps, 2, tall, wide]);
  const along = (axis: 0 | 1): Tensor => {
    const own = moved.slice([0, 0, axis, 0, 0], [-1, -1, 1, -1, -1]).squeeze(2);
    const ofTap = range(0, taps).map(
      (k) => (axis === 0 ? Math.floor(k / columns) : k % columns) * dilations[axis] - pads[axis],
    );
    const tap = constant(ofTap).reshape([1, taps, 1, 1]).cast(x.dtype);
    return placesOf(own, axis + 2)
      .mul(strides[axis])
      .add(tap)
      .add(own);
  };
  const [y, z] = [along(0), along(1)];
  const flat = shaped(x, [-1, channels / parts, mulDims(dims(x)[2] as Dim, dims(x)[3] as Dim)]).transpose([
    0, 2, 1,
  ]);
  const [top, left] = [y.floor(), z.floor()];
  const width = lastOf(3).add(1);
  const corners = [0, 1].flatMap((down) =>
    [0, 1].map((right) => {
      const [row, column] = [top.add(down), left.add(right)];
      const isInside = [row, column].flatMap((place, i) => [
        place.greaterEqual(0),
        place.lessEqual(lastOf(i === 0 ? 2 : 3)),
      ]);
      const share = y.sub(row).abs().neg().add(1).mul(z.sub(column).abs().neg().add(1));
      const weight = where(
        isInside.reduce((a, b) => a.logicalAnd(b)),
        share,
        0,
      );
      const at = row
        .clipByValue(0, lastOf(2))
        .mul(width)
        .add(column.clipByValue(0, lastOf(3)));
      const found = gather(flat, shaped(at.cast('int32'), [-1, product([taps, tall, wide])]), 1, {
        batchDims: 1,
      });
      return found.mul(shaped(weight, [-1, product([taps, tall, wide]), 1]));
    }),
  );
  let read = corners.reduce((a, b) => a.add(b));
  if (mask !== null) read = read.mul(shaped(mask, [-1, product([taps, tall, wide]), 1]));
  // [n, parts, taps, rows · columns, c] as [groups, n · rows · columns, c · taps], for one product by group.
  const pixels = mulDims(tall, wide);
  const patches = shaped(
    shaped(read, [-1, parts, taps, pixels, channels / parts]).transpose([0, 3, 1, 4, 2]),
    [-1, groups, each * taps],
  ).transpose([1, 0, 2]);
  const weights = shaped(kernel, [groups, features / groups, each * taps]).transpose([0, 2, 1]);
  const result = shaped(patches.matmul(weights).transpose([1, 0, 2]), [-1, tall, wide, features]);
  return channelsFirst(bias === null ? result : result.add(bias));
};

export const vision: OpTable = {
  DeformConv: deformed,
  MaxRoiPool: regionsPooled,
  NegativeLogLikelihoodLoss: (node) => likelihood(node, node.x()),
  NonMaxSuppression: suppressed,
  RoiAlign: regionsAligned,
  SoftmaxCrossEntropyLoss: crossEntropy,
};
