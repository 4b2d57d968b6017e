import '@eagre/backend-js';
import { constant, InvalidArgumentError, type Tensor } from '@eagre/core';
import { expect, test } from 'vitest';
import { assertClose, readGolden } from '../testing/golden.ts';
import * as bb from './bounding-boxes.ts';

type Numbers = number | readonly Numbers[];
const { given, cases, turn } = readGolden<{
  turn: number[][];
  given: Readonly<Record<string, number[][]>>;
  cases: Readonly<Record<string, Numbers>> & {
    readonly convert: Readonly<
      Record<bb.BoundingBoxFormat, Readonly<Record<bb.BoundingBoxFormat, number[][]>>>
    >;
  };
}>('bounding_boxes');
const of = (name: string): Tensor => constant(given[name] as number[][]);
const flat = (x: Numbers): number[] => (typeof x === 'number' ? [x] : x.flatMap(flat));
const [one, two, batch, anchors, near] = ['one', 'two', 'batch', 'anchors', 'near'].map(of) as Tensor[];
type Six = [number[], number[], number[], number[], number[], number[]];
const angles = turn as Six;
const variance = [0.1, 0.1, 0.2, 0.2];
const imageShape = [80, 100, 3] as const;

test('every format is converted to every other as in Keras', () => {
  for (const [a, targets] of Object.entries(cases.convert))
    for (const [b, expected] of Object.entries(targets)) {
      const source = constant(cases.convert.xyxy[a as 'xyxy']);
      const made = bb.convertFormat(source, a as 'xyxy', b as 'xyxy', { height: 80, width: 100 });
      assertClose([...made.data()] as number[], flat(expected), `${a} to ${b}`, 1e-4);
    }
});
test.each<[string, () => Tensor]>([
  ['iou', () => bb.computeIou(one, two, 'xyxy')],
  ['iou_batch', () => bb.computeIou(batch, two, 'xywh')],
  ['iou_batches', () => bb.computeIou(batch, batch.reverse(1), 'xyxy')],
  ['iou_relative', () => bb.computeIou(one.div(100), two.div(100), 'rel_xyxy', { imageShape })],
  ['iou_masked', () => bb.computeIou(of('masked'), two, 'xyxy', { useMasking: true, maskVal: -2 })],
  ['ciou', () => bb.computeCiou(anchors, near, 'xyxy')],
  ['affine', () => bb.affineTransform(batch, ...angles, 80, 100)],
  ['affine_center', () => bb.affineTransform(batch, ...angles, 80, 100, { centerX: 0.2, centerY: 0.9 })],
  ['crop', () => bb.crop(batch, 10, 20, 30, 40)],
  ['pad', () => bb.pad(batch, 10, 20)],
  ['encode', () => bb.encodeBoxToDeltas(anchors, near, 'xyxy', 'xyxy')],
  [
    'encode_variance',
    () => bb.encodeBoxToDeltas(anchors, batch, 'xyxy', 'xywh', 'center_xywh', { variance }),
  ],
  ['decode', () => bb.decodeDeltasToBoxes(anchors, near.div(50), 'xyxy', 'xyxy')],
  [
    'decode_relative',
    () =>
      bb.decodeDeltasToBoxes(anchors, near.div(50), 'xyxy', 'rel_xywh', 'center_xywh', {
        variance,
        imageShape,
      }),
  ],
])('%s is as in Keras', (name, make) => {
  const [made, expected] = [make(), constant(cases[name] as number[][])];
  expect(made.shape).toEqual(expected.shape);
  assertClose([...made.data()] as number[], [...expected.data()] as number[], name, 1e-4);
});
test('boxes are cut off at the borders of the image, and what lies outside has no label', () => {
  const labels = [
    [1, 2, 3],
    [4, 5, 6],
  ];
  const boxes = of('outside');
  const clipped = bb.clipToImageSize({ boxes, labels }, { height: 80, width: 100 });
  assertClose([...clipped.boxes.data()] as number[], flat(cases['clip_boxes'] as Numbers), 'boxes', 1e-4);
  expect(clipped.labels?.array()).toEqual(cases['clip_labels']);
  expect(() => bb.clipToImageSize({ boxes, labels })).toThrow(InvalidArgumentError);
});
test('relative boxes are compared and padded by the size of the image', () => {
  const size = { height: 50, width: 100 };
  const to = (t: typeof one, format: 'rel_xyxy' | 'xywh') => bb.convertFormat(t, 'xyxy', format, size);
  const near = (a: { data(): ArrayLike<unknown> }, b: { data(): ArrayLike<unknown> }): void =>
    assertClose([...Array.from(a.data(), Number)], [...Array.from(b.data(), Number)], 'boxes', 1e-4);
  near(
    bb.computeCiou(to(one, 'rel_xyxy'), to(one, 'rel_xyxy'), 'rel_xyxy', { imageShape: [50, 100, 3] }),
    bb.computeCiou(one, one, 'xyxy'),
  );
  const moved = bb.pad(one, 3, 4);
  near(bb.pad(to(one, 'rel_xyxy'), 3, 4, { ...size, boundingBoxFormat: 'rel_xyxy' }), to(moved, 'rel_xyxy'));
  near(bb.pad(to(one, 'xywh'), 3, 4, { boundingBoxFormat: 'xywh' }), to(moved, 'xywh'));
});
test('what does not fit is refused', () => {
  for (const call of [
    () => bb.convertFormat(one, 'xyzw' as never, 'xyxy'),
    () => bb.convertFormat(one, 'xyxy', 'rel_xyxy'),
    () => bb.convertFormat([[1, 2, 3]], 'xyxy', 'xywh'),
    () => bb.computeIou([1, 2, 3, 4], one, 'xyxy'),
    () => bb.computeCiou(one, one, 'rel_xyxy'),
    () => bb.pad(one, 1, 1, { boundingBoxFormat: 'rel_xyxy' }),
    () => bb.crop(one, 1, 1, 1, 1, { boundingBoxFormat: 'xywh' as never }),
    () => bb.encodeBoxToDeltas(one, one, 'xyxy', 'xyxy', 'xywh' as never),
    () => bb.decodeDeltasToBoxes(one, one, 'xyxy', 'xyxy', { variance: [1] }),
  ])
    expect(call).toThrow(InvalidArgumentError);
});
