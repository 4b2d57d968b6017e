"""Makes packages/eagre/golden/image-rest.json with TensorFlow: colours, likeness, boxes and parts of images.

Run: python tools/golden/image_rest.py
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np
import tensorflow as tf
from cases import Cases

SEED = 73
rng = np.random.default_rng(SEED)
c = Cases("image_rest.py", SEED)
im = tf.image


def floats(*shape, low=0.0, high=1.0, dtype="float32"):
    return np.round(rng.uniform(low, high, size=shape), 2).astype(dtype)


def ints(*shape, low=0, high=256, dtype="uint8"):
    return rng.integers(low, high, size=shape).astype(dtype)


for name in ["rgb_to_yiq", "yiq_to_rgb", "rgb_to_yuv", "yuv_to_rgb"]:
    op = "image." + "".join(p.capitalize() if i else p for i, p in enumerate(name.split("_")))
    c.add(op, getattr(im, name), floats(2, 3, 3))
    c.add(op, getattr(im, name), floats(1, 2, 2, 3, dtype="float64"))
for dtype in ["float32", "float64", "uint8", "int16", "int32", "uint16"]:
    for x in [ints(2, 3), floats(2, 3), ints(3, low=-300, high=30000, dtype="int16"), np.array([-0.5, 0.3, 1.7], "float32")]:
        for saturate in [False, True]:
            if x.dtype.kind == "f" and dtype == "int32" and not saturate:
                continue
            if x.min() < 0 and not saturate and dtype in ("uint8", "uint16"):
                continue
            if x.dtype.kind == "f" and x.max() > 1 and not saturate and dtype[0] in "iu":
                continue
            c.add("image.convertImageDtype", im.convert_image_dtype, x, dtype, saturate=saturate, grad=x.dtype.kind == "f" and dtype[0] == "f")

c.add("image.imageGradients", im.image_gradients, floats(2, 3, 4, 2))
for shape in [(3, 4, 2), (2, 3, 4, 1)]:
    c.add("image.totalVariation", im.total_variation, floats(*shape))
c.add("image.totalVariation", im.total_variation, floats(2, 3, 4, 1, dtype="float64"))
c.add("image.sobelEdges", im.sobel_edges, floats(2, 4, 5, 2))
c.add("image.psnr", im.psnr, floats(2, 3, 4, 2), floats(2, 3, 4, 2), 1.0)
c.add("image.psnr", im.psnr, ints(3, 4, 2), ints(3, 4, 2), 255)
c.add("image.psnr", im.psnr, floats(2, 1, 3, 4, 2), floats(3, 3, 4, 2), 1.0)
c.add("image.ssim", im.ssim, floats(2, 12, 13, 2), floats(2, 12, 13, 2), 1.0)
c.add("image.ssim", im.ssim, ints(8, 9, 1), ints(8, 9, 1), 255, filter_size=5, filter_sigma=1.0)
c.add("image.ssim", im.ssim, floats(8, 9, 1), floats(8, 9, 1), 1.0, filter_size=4, k1=0.02, k2=0.05, return_index_map=True)
c.add("image.ssimMultiscale", im.ssim_multiscale, floats(1, 24, 22, 1), floats(1, 24, 22, 1, low=0.3), 1.0, power_factors=[0.4, 0.6], filter_size=5, tolerance=1e-4, grad=False)
near = floats(2, 21, 19, 2)
c.add("image.ssimMultiscale", im.ssim_multiscale, near, np.clip(near + 0.1 * floats(2, 21, 19, 2), 0, 1).astype("float32"), 1.0, power_factors=[0.3, 0.3, 0.4], filter_size=4, tolerance=1e-4)

# ---- boxes
corners = floats(9, 2, low=0, high=0.7)
boxes = np.concatenate([corners, corners + floats(9, 2, low=0.1, high=0.5)], -1).astype("float32")
scores = floats(9)
c.add("image.nonMaxSuppression", im.non_max_suppression, boxes, scores, 5)
c.add("image.nonMaxSuppression", im.non_max_suppression, boxes, scores, 9, iou_threshold=0.1, score_threshold=0.3)
c.add("image.nonMaxSuppression", im.non_max_suppression, boxes[:, [2, 3, 0, 1]], scores, 9, iou_threshold=0.3)
c.add("image.nonMaxSuppression", im.non_max_suppression, boxes[:0], scores[:0], 3)
c.add("image.nonMaxSuppression", im.non_max_suppression, boxes, scores[:3], 3)
c.add("image.nonMaxSuppressionWithScores", im.non_max_suppression_with_scores, boxes, scores, 9, iou_threshold=0.9, soft_nms_sigma=0.5, score_threshold=0.1, grad=False)
c.add("image.nonMaxSuppressionWithScores", im.non_max_suppression_with_scores, boxes, scores, 4, iou_threshold=1.0, soft_nms_sigma=0.1, grad=False)
c.add("image.nonMaxSuppressionWithScores", im.non_max_suppression_with_scores, boxes, scores, 4, grad=False)
c.add("image.nonMaxSuppressionPadded", im.non_max_suppression_padded, boxes, scores, 7, iou_threshold=0.2, pad_to_max_output_size=True)
overlaps = floats(6, 6)
c.add("image.nonMaxSuppressionOverlaps", im.non_max_suppression_overlaps, overlaps, floats(6), 4, overlap_threshold=0.6, score_threshold=0.1)
many = floats(2, 5, 1, 4, low=0, high=0.6)
many[..., 2:] += 0.4
c.add("image.combinedNonMaxSuppression", im.combined_non_max_suppression, many, floats(2, 5, 3), 2, 4, grad=False)
c.add("image.combinedNonMaxSuppression", im.combined_non_max_suppression, np.repeat(many, 3, 2) * 1.2, floats(2, 5, 3), 3, 7, iou_threshold=0.3, score_threshold=0.4, clip_boxes=False, grad=False)
c.add("image.combinedNonMaxSuppression", im.combined_non_max_suppression, many, floats(2, 5, 1), 2, 7, pad_per_class=True, grad=False)
image = floats(2, 5, 6, 2)
# No sample lies on a pixel, where the slope jumps.
crops = np.array([[0.11, 0.23, 0.87, 0.71], [-0.21, 0.03, 0.63, 1.31], [0.83, 0.89, 0.31, 0.13]], "float32")
ids = np.array([0, 1, 0], "int32")
c.add("image.cropAndResize", im.crop_and_resize, image, crops, ids, [3, 4])
c.add("image.cropAndResize", im.crop_and_resize, image, crops, ids, [1, 2], extrapolation_value=0.5)
c.add("image.cropAndResize", im.crop_and_resize, ints(2, 5, 6, 1), crops, ids, [4, 3], method="nearest", grad=False)
for padding in ["SAME", "VALID"]:
    c.add("image.extractPatches", lambda x, k, s, r, p: im.extract_patches(x, k, s, r, p), image, [1, 2, 3, 1], [1, 2, 1, 1], [1, 1, 1, 1], padding)
    c.add("image.extractPatches", lambda x, k, s, r, p: im.extract_patches(x, k, s, r, p), ints(1, 7, 6, 1, dtype="int32"), [1, 2, 2, 1], [1, 2, 3, 1], [1, 2, 2, 1], padding)
c.add("image.drawBoundingBoxes", im.draw_bounding_boxes, floats(2, 6, 7, 3), np.array([[[0.1, 0.2, 0.8, 0.7], [-0.2, 0.4, 0.5, 1.4]], [[0, 0, 1, 1], [0.3, 0.3, 0.3, 0.3]]], "float32"), floats(2, 3), grad=False)
c.add("image.drawBoundingBoxes", lambda x, b: im.draw_bounding_boxes(x, b, None), floats(1, 6, 7, 3), np.array([[[0.1, 0.2, 0.8, 0.7], [0.5, 0.4, 0.9, 0.9]]], "float32"), grad=False)
c.add("image.drawBoundingBoxes", lambda x, b: im.draw_bounding_boxes(x, b, None), floats(1, 6, 7, 1), np.array([[[0.1, 0.2, 0.8, 0.7]]], "float32"), grad=False)
for size in [(7, 9), (3, 8), (10, 4)]:
    c.add("image.resizeWithPad", im.resize_with_pad, image, *size)
c.add("image.resizeWithPad", im.resize_with_pad, ints(5, 3, 2), 4, 4, method="nearest", grad=False)
c.add("image.resizeWithPad", im.resize_with_pad, image, 3, 8, method="bicubic", antialias=True, grad=False)
several = floats(6, 3, 4, 2)
for seed in [[1, 2], [0, 0], [-5, 7]]:
    c.add("image.statelessRandomFlipLeftRight", im.stateless_random_flip_left_right, several, seed, grad=False)
    c.add("image.statelessRandomFlipUpDown", im.stateless_random_flip_up_down, several, seed, grad=False)
    c.add("image.statelessRandomFlipUpDown", im.stateless_random_flip_up_down, several[0], seed, grad=False)
    c.add("image.statelessRandomCrop", im.stateless_random_crop, several, [2, 1, 2, 2], seed, grad=False)
    c.add("image.statelessRandomCrop", im.stateless_random_crop, ints(9, 8, 3), [3, 3, 3], seed, grad=False)
near = np.array([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [0, 100, 1, 101]], "float32")
for sigma in [0.2, 0.5]:
    for threshold in [0.2, 0.9]:
        c.add("image.nonMaxSuppressionWithScores", im.non_max_suppression_with_scores, near, np.array([0.9, 0.75, 0.6, 0.95, 0.5, 0.3], "float32"), 6, iou_threshold=threshold, soft_nms_sigma=sigma, grad=False)
c.add("image.perImageStandardization", im.per_image_standardization, floats(3, 4, 2, dtype="float64"), grad=False)
c.write("eagre/golden/image-rest.json")
