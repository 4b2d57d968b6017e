import '@eagre/backend-js';
import '@eagre/backend-native';
import { constant, ones, range, type Tensor } from '@eagre/core';
import { expect, test } from 'vitest';
import { MaxNumBoundingBoxes } from '../index.ts';

const images = ones([2, 5, 4, 3]);
const boxes = range(24).reshape([2, 3, 4]);
const labels = constant([0, 1, 2, 3, 4, 5], 'int32', { shape: [2, 3] });

test('makes the boxes of images as many as it says', () => {
  const fewer = new MaxNumBoundingBoxes(2)({ images, labels: ones([2]), boundingBoxes: { boxes, labels } });
  expect(fewer.images.array()).toEqual(images.array());
  expect(fewer.labels.shape).toEqual([2]);
  expect(fewer.boundingBoxes.boxes.array()).toEqual(boxes.slice([0, 0, 0], [2, 2, 4]).array());
  expect(fewer.boundingBoxes.labels.array()).toEqual([
    [0, 1],
    [3, 4],
  ]);
  const layer = new MaxNumBoundingBoxes({ maxNumber: 4, fillValue: -2 });
  const more = layer({ images: images.at(0), boundingBoxes: { boxes: boxes.at(1), labels: labels.at(1) } });
  expect(more.boundingBoxes.boxes.array()).toEqual([
    ...(boxes.at(1).array() as number[][]),
    [-2, -2, -2, -2],
  ]);
  expect([more.boundingBoxes.labels.array(), more.boundingBoxes.labels.dtype]).toEqual([
    [3, 4, 5, -2],
    'int32',
  ]);
  expect((layer(images) as Tensor).shape).toEqual(images.shape);
});

test('says what does not fit', () => {
  const layer = new MaxNumBoundingBoxes(2);
  const call = (boundingBoxes: unknown) => () => layer({ images, boundingBoxes } as never);
  expect(call({ boxes })).toThrow('takes boundingBoxes { boxes, labels }');
  expect(call({ boxes: labels, labels })).toThrow('takes boxes [batch, boxes, 4]');
  expect(() => new MaxNumBoundingBoxes(0)).toThrow('maxNumber');
  expect(() => new MaxNumBoundingBoxes(2, { fillValue: 0.5 })).toThrow('fillValue to be an integer');
});
