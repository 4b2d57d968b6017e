"""One graph with a call of each op that Eagre translates, and TensorFlow's results: python tools/golden/imported_ops.py"""

import base64
import gzip
import json
import os
import pathlib

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
os.environ.setdefault('CUDA_VISIBLE_DEVICES', '-1')

import numpy as np
import tensorflow as tf
from google.protobuf import descriptor_pb2
from tensorflow.core.example import example_pb2, feature_pb2
from tensorflow.python.framework import function
from tensorflow.python.ops import functional_ops

SEED = 11
TARGET = pathlib.Path(__file__).parents[2] / 'packages' / 'saved-model' / 'golden' / 'imported-ops.json.gz'
random = np.random.default_rng(SEED)
R = tf.raw_ops


def noise(*shape):
    return random.standard_normal(shape).astype(np.float32)


def stored(x):
    x = np.asarray(x)
    if x.dtype.kind == 'c':
        return {'complex': [stored(x.real), stored(x.imag)], 'dtype': x.dtype.name}
    if x.dtype == object:
        return {'dtype': 'string', 'shape': list(x.shape), 'data': [s.decode(errors='surrogateescape') for s in x.reshape(-1)]}
    data = x.reshape(-1).tolist()
    if x.dtype.kind == 'f':
        data = [float(f'{v:.8g}') if np.isfinite(v) else 'NaN' if np.isnan(v) else 'Infinity' if v > 0 else '-Infinity' for v in data]
    return {'dtype': x.dtype.name, 'shape': list(x.shape), 'data': data}


inputs = {
    'x': noise(2, 3), 'y': noise(2, 3) + 0.1, 'p': np.abs(noise(2, 3)) + 0.5, 'u': random.uniform(-0.9, 0.9, [2, 3]).astype(np.float32),
    'i': np.array([[7, -7, 3], [-3, 8, 5]], np.int32), 'j': np.array([[2, 2, -2], [-2, 3, -4]], np.int32), 'b': np.array([[True, False, True], [False, False, True]]),
    'm': noise(3, 4), 'bm': noise(2, 3, 4), 'bn': noise(2, 4, 2), 'v': noise(5), 'ids': np.array([0, 2, 2, 1, 0], np.int32), 'image': noise(1, 6, 5, 2),
    'volume': noise(1, 4, 4, 4, 2), 'filter': noise(3, 3, 2, 4), 'deep': noise(2, 2, 2, 3), 'cube': noise(2, 2, 2, 2, 3), 'labels': np.array([2, 0], np.int32),
    'k': np.array(1, np.int32), 'rgb': random.uniform(0, 1, [1, 4, 4, 3]).astype(np.float32), 'square': noise(3, 3),
}
cases = {}
with tf.Graph().as_default() as graph, tf.compat.v1.Session() as session:
    T = {name: tf.compat.v1.placeholder(value.dtype, [None] * value.ndim if name in ('x', 'y', 'image') else value.shape, name=name)
         for name, value in inputs.items()}
    x, y, p, u, i, j, b, m, bm, bn, v, ids = (T[n] for n in ['x', 'y', 'p', 'u', 'i', 'j', 'b', 'm', 'bm', 'bn', 'v', 'ids'])
    image, volume, kernel, deep, cube, labels, k, rgb, square = (
        T[n] for n in ['image', 'volume', 'filter', 'deep', 'cube', 'labels', 'k', 'rgb', 'square'])

    def case(name, *results):
        flat = tf.nest.flatten(list(results))
        cases[name] = [tf.identity(t, name=f'case_{name}_{n}') for n, t in enumerate(flat)]

    for op in ['Abs', 'Neg', 'Sign', 'Floor', 'Ceil', 'Rint', 'Round', 'Square', 'Exp', 'Expm1', 'Sin', 'Cos', 'Tan', 'Atan', 'Sinh', 'Cosh', 'Tanh', 'Asinh', 'Erf',
               'Erfc', 'Sigmoid', 'IsNan', 'IsInf', 'IsFinite', 'OnesLike', 'ZerosLike', 'Reciprocal', 'Inv']:
        case(op, getattr(R, op)(**{next(iter(getattr(R, op).__signature__.parameters)): x}))
    for op in ['Relu', 'Relu6', 'Elu', 'Selu', 'Softplus', 'Softsign', 'LeakyRelu']:
        case(op, getattr(R, op)(features=x))
    for op in ['Sqrt', 'Rsqrt', 'Log', 'Log1p', 'Lgamma', 'Digamma', 'Acosh']:
        case(op, getattr(R, op)(x=p + (1 if op == 'Acosh' else 0)))
    for op in ['Asin', 'Acos', 'Atanh', 'Erfinv', 'Ndtri']:
        case(op, getattr(R, op)(x=tf.abs(u) if op == 'Ndtri' else u))
    for op in ['Add', 'AddV2', 'Sub', 'Mul', 'RealDiv', 'Div', 'DivNoNan', 'FloorDiv', 'FloorMod', 'Maximum', 'Minimum', 'SquaredDifference', 'Atan2', 'Less', 'LessEqual',
               'Greater', 'GreaterEqual', 'Equal', 'NotEqual', 'MulNoNan', 'TruncateMod', 'Mod']:
        parameters = list(getattr(R, op).__signature__.parameters)
        case(op, getattr(R, op)(**{parameters[0]: x, parameters[1]: y}))
        if op not in ('DivNoNan', 'Atan2', 'MulNoNan', 'RealDiv', 'TruncateMod'):
            case(op + '_int', getattr(R, op)(**{parameters[0]: i, parameters[1]: j}))
    case('TruncateDiv', R.TruncateDiv(x=i, y=j))
    case('ApproximateEqual', R.ApproximateEqual(x=x, y=x + 1e-6))
    for op in ['Pow', 'Xlogy', 'Xlog1py', 'Xdivy']:
        case(op, getattr(R, op)(x=p, y=p + 0.5))
    for op in ['BitwiseAnd', 'BitwiseOr', 'BitwiseXor']:
        case(op, getattr(R, op)(x=i, y=j))
    case('Invert', R.Invert(x=i)), case('LeftShift', R.LeftShift(x=i, y=tf.abs(j))), case('RightShift', R.RightShift(x=i, y=tf.abs(j)))
    case('LogicalAnd', R.LogicalAnd(x=b, y=x > 0)), case('LogicalOr', R.LogicalOr(x=b, y=x > 0)), case('LogicalNot', R.LogicalNot(x=b))
    case('AddN', R.AddN(inputs=[x, y, p])), case('Select', R.Select(condition=b, x=x, y=y)), case('Select_rows', R.Select(condition=b[:, 0], x=x, y=y))
    case('SelectV2', R.SelectV2(condition=b[:, :1], t=x, e=y)), case('ClipByValue', R.ClipByValue(t=x, clip_value_min=-0.5, clip_value_max=0.5))
    for dtype in ['int32', 'int64', 'float64', 'float16', 'bool', 'uint8', 'bfloat16']:
        case('Cast_' + dtype, tf.cast(R.Cast(x=tf.abs(x) * 3, DstT=dtype), 'float32'))
    case('Bitcast', R.Bitcast(input=x, type=tf.int32))
    case('Complex', R.Complex(real=x, imag=y)), case('ComplexAbs', R.ComplexAbs(x=R.Complex(real=x, imag=y))), case('Real', R.Real(input=R.Complex(real=x, imag=y)))
    case('Angle', R.Angle(input=R.Complex(real=x, imag=y))), case('Conj', R.Conj(input=R.Complex(real=x, imag=y)))

    # Elements
    case('Shape', R.Shape(input=image), R.Shape(input=x, out_type=tf.int64), R.Size(input=x), R.Rank(input=image), *R.ShapeN(input=[x, y]))
    case('Reshape', R.Reshape(tensor=x, shape=[-1, 2]), R.Reshape(tensor=image, shape=R.Pack(values=[R.Shape(input=image)[0], -1])))
    case('Squeeze', R.Squeeze(input=x[:, :, None]), R.Squeeze(input=x[None, :, :, None], axis=[0, -1])), case('ExpandDims', R.ExpandDims(input=x, axis=-1))
    case('Transpose', R.Transpose(x=bm, perm=[2, 0, 1])), case('ConcatV2', R.ConcatV2(values=[x, y, x], axis=1)), case('Concat', R.Concat(concat_dim=0, values=[x, y]))
    case('ConcatOffset', *R.ConcatOffset(concat_dim=1, shape=[[2, 3], [2, 4], [2, 1]]))
    case('Pack', R.Pack(values=[x, y], axis=1)), case('Unpack', *R.Unpack(value=m, num=4, axis=1)), case('Split', *R.Split(axis=1, value=m, num_split=2))
    case('SplitV', *R.SplitV(value=m, size_splits=[1, -1], axis=1, num_split=2)), case('Slice', R.Slice(input=m, begin=[1, 0], size=[-1, 2]))
    case('StridedSlice', m[1:, ::-2], m[..., tf.newaxis, 1], m[-1], bm[:, 1:2, -1], v[3:1:-1], m[k], bm[:, k, 1:], bm[k, ..., k], bm[tf.newaxis, k])
    case('Gather', R.Gather(params=m, indices=[[0, 2], [1, 1]])), case('GatherV2', R.GatherV2(params=m, indices=[3, 0], axis=1), R.GatherV2(params=bm, indices=[[0, 1], [2, 2]], axis=1, batch_dims=1))
    case('GatherNd', R.GatherNd(params=m, indices=[[0, 1], [2, 3]])), case('ScatterNd', R.ScatterNd(indices=[[1], [0], [1]], updates=m, shape=[3, 4]))
    for op in ['Update', 'Add', 'Sub', 'Max', 'Min']:
        case('TensorScatter' + op, getattr(R, 'TensorScatter' + op)(tensor=m, indices=[[2], [0]], updates=m[:2]))
    case('Pad', R.Pad(input=x, paddings=[[1, 0], [0, 2]])), case('PadV2', R.PadV2(input=x, paddings=[[1, 0], [0, 2]], constant_values=3.), R.PadV2(input=x, paddings=[[1, 1], [0, 0]], constant_values=v[0]))
    case('MirrorPad', R.MirrorPad(input=m, paddings=[[1, 1], [2, 0]], mode='REFLECT'), R.MirrorPad(input=m, paddings=[[1, 1], [2, 0]], mode='SYMMETRIC'))
    case('Tile', R.Tile(input=x, multiples=[2, 1])), case('BroadcastTo', R.BroadcastTo(input=x[:1], shape=[2, 2, 3])), case('Fill', R.Fill(dims=[2, 2], value=v[0]))
    case('BroadcastArgs', R.BroadcastArgs(s0=[2, 1, 3], s1=[4, 1])), case('BroadcastGradientArgs', *R.BroadcastGradientArgs(s0=[2, 1, 3], s1=[4, 3]))
    case('Range', R.Range(start=1, limit=10, delta=3), R.Range(start=1., limit=0., delta=-0.25)), case('LinSpace', R.LinSpace(start=1., stop=2., num=5), R.LinSpace(start=1., stop=2., num=1))
    case('ReverseV2', R.ReverseV2(tensor=m, axis=[1])), case('Reverse', R.Reverse(tensor=m, dims=[True, False])), case('Roll', R.Roll(input=m, shift=[1, -1], axis=[0, 1]))
    case('ReverseSequence', R.ReverseSequence(input=bm, seq_lengths=[2, 3], seq_dim=1, batch_dim=0), R.ReverseSequence(input=bm, seq_lengths=[2, 1, 0, 2], seq_dim=0, batch_dim=2))
    case('OneHot', R.OneHot(indices=ids, depth=3, on_value=2., off_value=-1.), R.OneHot(indices=ids, depth=3, on_value=True, off_value=False, axis=0))
    case('Where', R.Where(condition=b)), case('Unique', *R.Unique(x=ids)), case('UniqueWithCounts', *R.UniqueWithCounts(x=ids)), case('UniqueV2', *R.UniqueV2(x=ids, axis=[0]))
    case('TopKV2', *R.TopKV2(input=m, k=2)), case('InvertPermutation', R.InvertPermutation(x=[2, 0, 1])), case('Bucketize', R.Bucketize(input=v, boundaries=[-0.5, 0., 0.5]))
    case('DynamicStitch', R.DynamicStitch(indices=[[0, 2], [1, 3]], data=[x, y])), case('DynamicPartition', *R.DynamicPartition(data=v, partitions=ids, num_partitions=3))
    case('SpaceToDepth', R.SpaceToDepth(input=volume[0], block_size=2)), case('DepthToSpace', R.DepthToSpace(input=tf.reshape(volume, [1, 4, 4, 8]), block_size=2))
    case('SpaceToBatchND', R.SpaceToBatchND(input=rgb, block_shape=[2, 2], paddings=[[0, 2], [1, 1]])), case('BatchToSpaceND', R.BatchToSpaceND(input=tf.tile(rgb, [4, 1, 1, 1]), block_shape=[2, 2], crops=[[1, 0], [0, 2]]))
    case('MatrixDiag', R.MatrixDiag(diagonal=x), R.MatrixDiagV3(diagonal=x, k=0, num_rows=-1, num_cols=-1, padding_value=0.)), case('Diag', R.Diag(diagonal=v))
    case('MatrixDiagPart', R.MatrixDiagPart(input=bm), R.MatrixDiagPartV3(input=bm, k=0, padding_value=0.)), case('MatrixSetDiag', R.MatrixSetDiagV3(input=square, diagonal=v[:3], k=0))
    case('MatrixBandPart', R.MatrixBandPart(input=square, num_lower=1, num_upper=0)), case('LowerBound', R.LowerBound(sorted_inputs=[[1., 2., 2., 3.]], values=[[2., 0., 4.]]))
    case('UpperBound', R.UpperBound(sorted_inputs=[[1., 2., 2., 3.]], values=[[2., 0., 4.]]))
    case('StridedSliceGrad', R.StridedSliceGrad(shape=[3, 4], begin=[1, 0], end=[3, 4], strides=[1, 2], dy=m[:2, :2]))
    case('TensorStridedSliceUpdate', R.TensorStridedSliceUpdate(input=m, begin=[1, 0], end=[3, 4], strides=[1, 2], value=m[:2, :2]))
    case('ExtractImagePatches', R.ExtractImagePatches(images=image, ksizes=[1, 2, 3, 1], strides=[1, 2, 1, 1], rates=[1, 1, 1, 1], padding='SAME'))

    # Reductions
    for op in ['Sum', 'Mean', 'Prod', 'Max', 'Min', 'EuclideanNorm']:
        case(op, getattr(R, op)(input=bm, axis=[0, -1]), getattr(R, op)(input=bm, axis=1, keep_dims=True), getattr(R, op)(input=m, axis=tf.constant([], tf.int32)))
    case('All', R.All(input=b, axis=[1])), case('Any', R.Any(input=b, axis=[0])), case('ArgMax', R.ArgMax(input=m, dimension=1), R.ArgMax(input=m, dimension=0, output_type=tf.int32))
    case('ArgMin', R.ArgMin(input=m, dimension=-1)), case('Cumsum', R.Cumsum(x=m, axis=1, exclusive=True), R.Cumsum(x=m, axis=0, reverse=True)), case('Cumprod', R.Cumprod(x=m, axis=1))
    case('L2Loss', R.L2Loss(t=x)), case('Softmax', R.Softmax(logits=m)), case('LogSoftmax', R.LogSoftmax(logits=m))
    for op in ['Sum', 'Max', 'Min']:
        case('UnsortedSegment' + op, getattr(R, 'UnsortedSegment' + op)(data=v, segment_ids=ids, num_segments=4))
    case('SegmentSum', R.SegmentSum(data=m, segment_ids=[0, 0, 1]), R.SegmentMean(data=m, segment_ids=[0, 0, 1]))
    case('Bincount', R.Bincount(arr=ids, size=4, weights=tf.constant([], tf.float32)), R.DenseBincount(input=ids, size=4, weights=v), R.DenseBincount(input=i % 3, size=3, weights=tf.constant([], tf.int32), binary_output=True))
    case('MatMul', R.MatMul(a=m, b=m, transpose_b=True), R.MatMul(a=m, b=m, transpose_a=True)), case('BatchMatMulV2', R.BatchMatMulV2(x=bm, y=bn), R.BatchMatMulV2(x=bn, y=m, adj_x=True, adj_y=True))
    case('Einsum', R.Einsum(inputs=[bm, bn], equation='bij,bjk->bik'), R.Einsum(inputs=[bm, m], equation='...ij,ij->...i')), case('Cross', R.Cross(a=x, b=y))

    # Factors, solutions, transforms
    system = square + 4 * tf.eye(3)
    positive = tf.matmul(square, square, transpose_b=True) + tf.eye(3)
    triangle, right = tf.linalg.band_part(system, -1, 0), square[:, :2]
    case('Cholesky', R.Cholesky(input=positive)), case('MatrixDeterminant', R.MatrixDeterminant(input=system)), case('LogMatrixDeterminant', *R.LogMatrixDeterminant(input=system))
    case('MatrixInverse', R.MatrixInverse(input=system), R.MatrixInverse(input=system, adjoint=True))
    case('MatrixSolve', R.MatrixSolve(matrix=system, rhs=right), R.MatrixSolve(matrix=system, rhs=right, adjoint=True))
    case('MatrixTriangularSolve', R.MatrixTriangularSolve(matrix=triangle, rhs=right), R.MatrixTriangularSolve(matrix=tf.transpose(triangle), rhs=right, lower=False, adjoint=True))
    case('BandedTriangularSolve', R.BandedTriangularSolve(matrix=system[:2] + 3, rhs=right))
    case('MatrixSolveLs', R.MatrixSolveLs(matrix=m, rhs=right, l2_regularizer=tf.constant(0.5, tf.float64)), R.MatrixSolveLs(matrix=m, rhs=right, l2_regularizer=tf.constant(0., tf.float64), fast=False))
    case('MatrixSquareRoot', R.MatrixSquareRoot(input=positive)), case('MatrixLogarithm', R.MatrixLogarithm(input=tf.cast(positive, tf.complex64)))
    case('Lu', *R.Lu(input=system)), case('Qr', *R.Qr(input=m), *R.Qr(input=tf.transpose(m), full_matrices=False)), case('SelfAdjointEigV2', R.SelfAdjointEigV2(input=positive)[0])
    case('TridiagonalSolve', R.TridiagonalSolve(diagonals=system, rhs=right)), case('TridiagonalMatMul', R.TridiagonalMatMul(superdiag=system[:1], maindiag=system[1:2], subdiag=system[2:], rhs=right))
    numbers, many = tf.complex(x, y), tf.complex(bm, bm * 2)
    for op in ['FFT', 'IFFT']:
        case(op, getattr(R, op)(input=numbers)), case(op + '2D', getattr(R, op + '2D')(input=many)), case(op + '3D', getattr(R, op + '3D')(input=many))
    case('RFFT', R.RFFT(input=x, fft_length=[3]), R.RFFT(input=bm, fft_length=[4])), case('RFFT2D', R.RFFT2D(input=bm, fft_length=[3, 4])), case('RFFT3D', R.RFFT3D(input=bm, fft_length=[2, 3, 4]))
    case('IRFFT', R.IRFFT(input=numbers, fft_length=[4]), R.IRFFT(input=numbers, fft_length=[5])), case('IRFFT2D', R.IRFFT2D(input=many, fft_length=[3, 6])), case('IRFFT3D', R.IRFFT3D(input=many, fft_length=[2, 3, 6]))

    # Layers
    common = dict(strides=[1, 2, 1, 1], padding='SAME')
    case('BiasAdd', R.BiasAdd(value=m, bias=v[:4])), case('Conv2D', R.Conv2D(input=image, filter=kernel, **common), R.Conv2D(input=image, filter=kernel, strides=[1, 1, 1, 1], padding='VALID', dilations=[1, 2, 1, 1]),
         R.Conv2D(input=image, filter=kernel, strides=[1, 1, 1, 1], padding='EXPLICIT', explicit_paddings=[0, 0, 1, 2, 0, 1, 0, 0]))
    case('DepthwiseConv2dNative', R.DepthwiseConv2dNative(input=image, filter=kernel, strides=[1, 1, 1, 1], padding='SAME'))
    case('Conv2DBackpropInput', R.Conv2DBackpropInput(input_sizes=[1, 6, 5, 2], filter=kernel, out_backprop=R.Conv2D(input=image, filter=kernel, **common), **common))
    case('Conv2DBackpropFilter', R.Conv2DBackpropFilter(input=image, filter_sizes=[3, 3, 2, 4], out_backprop=R.Conv2D(input=image, filter=kernel, **common), **common))
    case('DepthwiseConv2dNativeBackprop', R.DepthwiseConv2dNativeBackpropInput(input_sizes=[1, 6, 5, 2], filter=kernel, out_backprop=R.DepthwiseConv2dNative(input=image, filter=kernel, strides=[1, 1, 1, 1], padding='SAME'), strides=[1, 1, 1, 1], padding='SAME'),
         R.DepthwiseConv2dNativeBackpropFilter(input=image, filter_sizes=[3, 3, 2, 4], out_backprop=R.DepthwiseConv2dNative(input=image, filter=kernel, strides=[1, 1, 1, 1], padding='SAME'), strides=[1, 1, 1, 1], padding='SAME'))
    case('Conv3D', R.Conv3D(input=volume, filter=cube[:, :, :, :, :2], strides=[1, 1, 1, 1, 1], padding='SAME'))
    case('MaxPool', R.MaxPool(input=image, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='SAME'), R.MaxPoolV2(input=image, ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding='VALID'))
    case('AvgPool', R.AvgPool(value=image, ksize=[1, 3, 2, 1], strides=[1, 2, 2, 1], padding='SAME')), case('MaxPool3D', R.MaxPool3D(input=volume, ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding='VALID'), R.AvgPool3D(input=volume, ksize=[1, 2, 2, 2, 1], strides=[1, 1, 2, 2, 1], padding='SAME'))
    pooled = R.MaxPool(input=image, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='SAME')
    case('MaxPoolGrad', R.MaxPoolGrad(orig_input=image, orig_output=pooled, grad=pooled, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='SAME'))
    case('AvgPoolGrad', R.AvgPoolGrad(orig_input_shape=[1, 6, 5, 2], grad=pooled, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='SAME'))
    case('MaxPoolWithArgmax', *R.MaxPoolWithArgmax(input=image, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='SAME'))
    scale, offset, mean, variance = p[0, :2], y[0, :2], x[0, :2], p[1, :2]
    case('FusedBatchNormV3', R.FusedBatchNormV3(x=image, scale=scale, offset=offset, mean=mean, variance=variance, is_training=False, epsilon=1e-3)[0])
    trained = R.FusedBatchNormV3(x=image, scale=scale, offset=offset, mean=tf.constant([], tf.float32), variance=tf.constant([], tf.float32), is_training=True, epsilon=1e-3)
    case('FusedBatchNormV3_training', *trained[:3]), case('FusedBatchNormV3_average', *R.FusedBatchNormV3(
        x=image, scale=scale, offset=offset, mean=mean, variance=variance, is_training=True, exponential_avg_factor=0.1)[:3])
    case('FusedBatchNormGradV3', *R.FusedBatchNormGradV3(y_backprop=image * image, x=image, scale=scale, reserve_space_1=trained[3], reserve_space_2=trained[4], reserve_space_3=trained[5], is_training=True, epsilon=1e-3)[:3])
    case('LRN', R.LRN(input=rgb, depth_radius=1, bias=1.5, alpha=0.7, beta=0.6))
    case('SoftmaxCrossEntropyWithLogits', *R.SoftmaxCrossEntropyWithLogits(features=x, labels=tf.nn.softmax(y)))
    case('SparseSoftmaxCrossEntropyWithLogits', *R.SparseSoftmaxCrossEntropyWithLogits(features=x, labels=labels)), case('InTopKV2', R.InTopKV2(predictions=x, targets=labels, k=2))
    for op in ['Relu', 'Relu6', 'Softplus', 'Softsign', 'LeakyRelu']:
        case(op + 'Grad', getattr(R, op + 'Grad')(gradients=y, features=x))
    for op in ['Elu', 'Selu']:
        case(op + 'Grad', getattr(R, op + 'Grad')(gradients=y, outputs=getattr(R, op)(features=x)))
    for op in ['Sigmoid', 'Tanh']:
        case(op + 'Grad', getattr(R, op + 'Grad')(y=getattr(R, op)(x=x), dy=y))
    for op in ['Sqrt', 'Rsqrt', 'Reciprocal']:
        case(op + 'Grad', getattr(R, op + 'Grad')(y=getattr(R, op)(x=p), dy=y))
    case('BiasAddGrad', R.BiasAddGrad(out_backprop=image)), case('MirrorPadGrad', R.MirrorPadGrad(input=m, paddings=[[1, 0], [1, 1]], mode='REFLECT'))

    # Images
    for op in ['Bilinear', 'NearestNeighbor', 'Bicubic', 'Area']:
        resize = getattr(R, 'Resize' + op)
        if op != 'Area':
            case('Resize' + op, resize(images=rgb, size=[7, 3], half_pixel_centers=True))
        if op != 'Bicubic':
            case(f'Resize{op}_old', resize(images=rgb, size=[7, 3]), resize(images=rgb, size=[8, 2]), *([] if op == 'Area' else [resize(images=rgb, size=[7, 3], align_corners=True)]))
    case('ResizeBilinearGrad', R.ResizeBilinearGrad(grads=tf.tile(rgb, [1, 2, 1, 1]), original_image=rgb[:, :, :3], half_pixel_centers=True))
    case('RGBToHSV', R.RGBToHSV(images=rgb), R.HSVToRGB(images=rgb)), case('AdjustContrastv2', R.AdjustContrastv2(images=rgb, contrast_factor=1.5))
    case('AdjustHue', R.AdjustHue(images=rgb, delta=0.2), R.AdjustSaturation(images=rgb, scale=0.6))

    # Lists and branches
    items = R.TensorListFromTensor(tensor=m, element_shape=[4])
    case('TensorListStack', R.TensorListStack(input_handle=R.TensorListSetItem(input_handle=items, index=k, item=v[:4]), element_shape=[4], element_dtype=tf.float32),
         R.TensorListGetItem(input_handle=items, index=k, element_shape=[4], element_dtype=tf.float32), R.TensorListLength(input_handle=items))
    pushed = R.TensorListPushBack(input_handle=R.TensorListPushBack(input_handle=R.EmptyTensorList(element_shape=[3], max_num_elements=-1, element_dtype=tf.float32), tensor=x[0]), tensor=y[0])
    popped = R.TensorListPopBack(input_handle=pushed, element_shape=[3], element_dtype=tf.float32)
    case('TensorListPushBack', R.TensorListStack(input_handle=pushed, element_shape=[3], element_dtype=tf.float32), popped[1],
         R.TensorListStack(input_handle=popped[0], element_shape=[3], element_dtype=tf.float32), R.TensorListConcatV2(input_handle=pushed, element_shape=[3], leading_dims=tf.constant([], tf.int64), element_dtype=tf.float32)[0])
    case('TensorListScatterV2', R.TensorListStack(input_handle=R.TensorListScatterV2(tensor=m, indices=[2, 0, 1], element_shape=[4], num_elements=-1), element_shape=[4], element_dtype=tf.float32),
         R.TensorListGather(input_handle=items, indices=[2, 0], element_shape=[4], element_dtype=tf.float32))
    case('Assert', tf.identity(x))

    # Text, from constants
    words = tf.constant(['Abc dé', 'x', ''])
    case('StringLower', R.StringLower(input=words, encoding='utf-8'), R.StringUpper(input=words, encoding='utf-8'), R.StringLength(input=words), R.StringLength(input=words, unit='UTF8_CHAR'), R.StringStrip(input=[' a ', 'b']))
    case('StringJoin', R.StringJoin(inputs=[words, words, tf.constant('!')], separator='-'), R.ReduceJoin(inputs=[['a', 'b'], ['c', 'd']], reduction_indices=[1], separator=','), R.Substr(input=['abcd', 'xyz'], pos=1, len=2), R.Substr(input=['abcd', 'xyz'], pos=[-3, 0], len=[2, 2]))
    case('StaticRegexReplace', R.StaticRegexReplace(input=words, pattern=r'[[:upper:]](\w)', rewrite=r'<\1>'), R.StaticRegexFullMatch(input=words, pattern='[a-z]'), R.StringToNumber(string_tensor=['1.5', '-2e3', ' 7 ']))
    case('AsString', R.AsString(input=tf.constant([1.5, -2.])), R.AsString(input=tf.constant([1, 2])), R.AsString(input=tf.constant([1.23456]), precision=2), R.AsString(input=tf.constant([True])), R.AsString(input=tf.constant([12345.678]), scientific=True, precision=3))
    case('StringSplitV2', *R.StringSplitV2(input=words, sep=''), *R.StringSplitV2(input=['a,b', '', 'c'], sep=','), R.Equal(x=words, y=tf.constant('x')))

    # Special functions
    for op in ['I0', 'I0e', 'I1', 'I1e', 'J0', 'J1', 'K0', 'K0e', 'K1', 'K1e', 'Y0', 'Y1']:
        case('Bessel' + op, getattr(R, 'Bessel' + op)(x=p))
    for op in ['Dawsn', 'Expint', 'FresnelCos', 'FresnelSin', 'Spence']:
        case(op, getattr(R, op)(x=p))
    case('Igamma', R.Igamma(a=p, x=p + 0.3)), case('Igammac', R.Igammac(a=p, x=p + 0.3)), case('Polygamma', R.Polygamma(a=tf.floor(p) + 1, x=p)), case('Zeta', R.Zeta(x=p + 1, q=p))
    case('Betainc', R.Betainc(a=p, b=p + 0.5, x=tf.abs(u))), case('NextAfter', R.NextAfter(x1=x, x2=y))

    case('IgammaGradA', R.IgammaGradA(a=p, x=p + 0.3))
    argmax = R.MaxPoolWithArgmax(input=deep, ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding='SAME')
    windows = dict(ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding='SAME')
    case('MaxPoolGradWithArgmax', R.MaxPoolGradWithArgmax(input=deep, grad=deep * deep, argmax=argmax[1], **windows))
    frames = tf.transpose(bm, [1, 0, 2])
    case('CTCLoss', *R.CTCLoss(inputs=frames, labels_indices=tf.constant([[0, 0], [0, 1], [1, 0]], tf.int64), labels_values=[1, 2, 0], sequence_length=[3, 2]))
    case('CTCGreedyDecoder', *R.CTCGreedyDecoder(inputs=frames, sequence_length=[3, 2], merge_repeated=True), *R.CTCGreedyDecoder(inputs=frames, sequence_length=[3, 3], blank_index=0))
    found = R.CTCBeamSearchDecoder(inputs=frames, sequence_length=[3, 2], beam_width=10, top_paths=2, merge_repeated=False)
    case('CTCBeamSearchDecoder', *found[0], *found[1], *found[2], found[3])
    case('ApproxTopK', *R.ApproxTopK(input=m, k=2))

    # Segments and counts
    for op in ['Max', 'Min', 'Prod']:
        case('Segment' + op, getattr(R, 'Segment' + op)(data=m, segment_ids=[0, 0, 2]))
    case('UnsortedSegmentProd', R.UnsortedSegmentProd(data=v, segment_ids=ids, num_segments=4))
    case('CumulativeLogsumexp', R.CumulativeLogsumexp(x=m, axis=1), R.CumulativeLogsumexp(x=m, axis=0, exclusive=True, reverse=True))
    case('HistogramFixedWidth', R.HistogramFixedWidth(values=v, value_range=[-1., 1.], nbins=4))
    case('UnravelIndex', R.UnravelIndex(indices=[2, 5, 1], dims=[2, 3])), case('ExtractVolumePatches', R.ExtractVolumePatches(input=volume, ksizes=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding='SAME'))
    case('DataFormatDimMap', R.DataFormatDimMap(x=[0, 1, -1, 2]), R.DataFormatDimMap(x=3, src_format='NCHW', dst_format='NHWC'))
    case('DataFormatVecPermute', R.DataFormatVecPermute(x=[7, 4, 9, 3]), R.DataFormatVecPermute(x=[1, 2]), R.DataFormatVecPermute(x=[[1, 4], [9, 3], [2, 5], [6, 7]]), R.DataFormatVecPermute(x=[1, 2, 3, 4], src_format='NCHW', dst_format='NHWC'))

    case('RaggedBincount', R.RaggedBincount(splits=tf.constant([0, 2, 2, 5], tf.int64), values=ids, size=2, weights=v), R.RaggedBincount(splits=tf.constant([0, 2, 2, 5], tf.int64), values=ids, size=4, weights=tf.constant([], tf.int32), binary_output=True))
    case('SparseBincount', R.SparseBincount(indices=tf.constant([[0, 1], [1, 0], [1, 2]], tf.int64), values=ids[:3], dense_shape=tf.constant([2, 3], tf.int64), size=3, weights=tf.constant([], tf.float32)),
         R.SparseBincount(indices=tf.constant([[1], [2], [4]], tf.int64), values=ids[:3], dense_shape=tf.constant([5], tf.int64), size=4, weights=v[:3]))

    # Boxes
    corners = tf.constant([[0.1, 0.1, 0.6, 0.7], [0.15, 0.1, 0.6, 0.7], [0.5, 0.5, 0.9, 1.], [0., 0.2, 0.3, 0.4]]) + square[0, 0] * 0
    scores = tf.constant([0.8, 0.9, 0.3, 0.5])
    case('NonMaxSuppression', R.NonMaxSuppression(boxes=corners, scores=scores, max_output_size=3, iou_threshold=0.4), R.NonMaxSuppressionV2(boxes=corners, scores=scores, max_output_size=3, iou_threshold=0.4),
         R.NonMaxSuppressionV3(boxes=corners, scores=scores, max_output_size=3, iou_threshold=0.4, score_threshold=0.4))
    case('NonMaxSuppressionV4', *R.NonMaxSuppressionV4(boxes=corners, scores=scores, max_output_size=4, iou_threshold=0.4, score_threshold=0.1),
         *R.NonMaxSuppressionV4(boxes=corners, scores=scores, max_output_size=4, iou_threshold=0.4, score_threshold=0.1, pad_to_max_output_size=True))
    for padded in [False, True]:
        case(f'NonMaxSuppressionV5_{padded}', *R.NonMaxSuppressionV5(boxes=corners, scores=scores, max_output_size=4, iou_threshold=0.4, score_threshold=0.4, soft_nms_sigma=0., pad_to_max_output_size=padded))
    case('NonMaxSuppressionV5_soft', *R.NonMaxSuppressionV5(boxes=corners, scores=scores, max_output_size=4, iou_threshold=1., score_threshold=0., soft_nms_sigma=0.5))
    case('NonMaxSuppressionWithOverlaps', R.NonMaxSuppressionWithOverlaps(overlaps=[[1., 0.8, 0.], [0.8, 1., 0.], [0., 0., 1.]], scores=[0.6, 0.9, 0.5], max_output_size=3, overlap_threshold=0.5, score_threshold=0.1))
    case('CombinedNonMaxSuppression', *R.CombinedNonMaxSuppression(boxes=corners[None, :, None], scores=tf.stack([scores, scores[::-1]], 1)[None], max_output_size_per_class=2, max_total_size=5, iou_threshold=0.4, score_threshold=0.2))
    case('CropAndResize', R.CropAndResize(image=rgb, boxes=corners, box_ind=[0, 0, 0, 0], crop_size=[2, 3]), R.CropAndResize(image=rgb, boxes=corners + 0.3, box_ind=[0, 0, 0, 0], crop_size=[2, 2], method='nearest', extrapolation_value=2.))
    case('DrawBoundingBoxes', R.DrawBoundingBoxesV2(images=rgb, boxes=corners[None], colors=[[1., 0.5, 0.], [0., 0., 1.]]))
    for kernel_type, method in [('triangle', 'bilinear'), ('lanczos3', 'lanczos3'), ('keyscubic', 'bicubic'), ('gaussian', 'gaussian')]:
        case('ScaleAndTranslate_' + kernel_type, tf.image.resize(rgb, [7, 3], method=method, antialias=True), *([tf.image.resize(rgb, [5, 6], method=method)] if kernel_type in ('lanczos3', 'gaussian') else []))
    turned = dict(images=tf.tile(rgb, [2, 1, 1, 1]), transforms=[[0.8, 0.3, -0.5, -0.3, 0.8, 1.2, 0.01, -0.02], [1.2, 0., 1., 0.1, 0.9, -1., 0., 0.]])
    case('ImageProjectiveTransform', R.ImageProjectiveTransformV3(**turned, output_shape=[4, 4], fill_value=0.5, interpolation='BILINEAR'),
         *[R.ImageProjectiveTransformV3(**turned, output_shape=[3, 6], fill_value=0., interpolation=i, fill_mode=f) for i, f in [('NEAREST', 'REFLECT'), ('BILINEAR', 'WRAP'), ('BILINEAR', 'NEAREST')]],
         R.ImageProjectiveTransformV2(**turned, output_shape=[4, 4], interpolation='NEAREST'))
    case('FakeQuant', R.FakeQuantWithMinMaxArgs(inputs=x, min=-1., max=1.2), R.FakeQuantWithMinMaxVars(inputs=x, min=-0.7, max=0.9, num_bits=4, narrow_range=True), R.FakeQuantWithMinMaxVarsPerChannel(inputs=x, min=[-1., -0.5, -2.], max=[1., 0.7, 0.5]))
    case('Dilation2D', R.Dilation2D(input=image, filter=kernel[:, :, :, 0], strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding='SAME'))

    # Sparse tensors
    rows = dict(sparse_indices=tf.constant([[0, 1], [1, 0], [1, 2]], tf.int64), sparse_values=v[:3], sparse_shape=tf.constant([2, 3], tf.int64))
    own = lambda prefix, names=('indices', 'values', 'shape'): {prefix + n: t for n, t in zip(names, rows.values())}
    case('SparseTensorDenseMatMul', R.SparseTensorDenseMatMul(a_indices=rows['sparse_indices'], a_values=v[:3], a_shape=rows['sparse_shape'], b=m), R.SparseTensorDenseMatMul(
        a_indices=rows['sparse_indices'], a_values=v[:3], a_shape=rows['sparse_shape'], b=x, adjoint_a=True))
    case('SparseToDense', R.SparseToDense(sparse_indices=rows['sparse_indices'], output_shape=rows['sparse_shape'], sparse_values=v[:3], default_value=-1.), R.SparseToDense(sparse_indices=[1, 3], output_shape=[5], sparse_values=2., default_value=0.))
    mixed = dict(input_indices=tf.constant([[1, 2], [0, 1], [1, 0]], tf.int64), input_values=v[:3], input_shape=rows['sparse_shape'])
    case('SparseReorder', *R.SparseReorder(**mixed)), case('SparseReshape', *R.SparseReshape(input_indices=rows['sparse_indices'], input_shape=rows['sparse_shape'], new_shape=tf.constant([3, -1], tf.int64)))
    case('SparseConcat', *R.SparseConcat(indices=[rows['sparse_indices']] * 2, values=[v[:3], v[1:4]], shapes=[rows['sparse_shape']] * 2, concat_dim=1))
    case('SparseSlice', *R.SparseSlice(indices=rows['sparse_indices'], values=v[:3], shape=rows['sparse_shape'], start=tf.constant([1, 0], tf.int64), size=tf.constant([1, 2], tf.int64)))
    parts = R.SparseSplit(split_dim=tf.constant(1, tf.int64), indices=rows['sparse_indices'], values=v[:3], shape=rows['sparse_shape'], num_split=2)
    case('SparseSplit', *parts[0], *parts[1], *parts[2])
    pair = {**own('a_'), **own('b_')}
    case('SparseAdd', *R.SparseAdd(**pair, thresh=0.), R.SparseTensorDenseAdd(**own('a_'), b=x))
    for op in ['Mul', 'Div', 'Add']:
        case('SparseDenseCwise' + op, getattr(R, 'SparseDenseCwise' + op)(**own('sp_'), dense=y), getattr(R, 'SparseDenseCwise' + op)(**own('sp_'), dense=y[0]))
    for op in ['Maximum', 'Minimum']:
        case('SparseSparse' + op, *getattr(R, 'SparseSparse' + op)(**{k: (v[1:4] if k == 'b_values' else t) for k, t in pair.items()}))
    case('SparseSoftmax', R.SparseSoftmax(**own('sp_')))
    for op in ['Sum', 'Max']:
        case('SparseReduce' + op, getattr(R, 'SparseReduce' + op)(**own('input_'), reduction_axes=[1]), getattr(R, 'SparseReduce' + op)(**own('input_'), reduction_axes=[0], keep_dims=True),
             *getattr(R, f'SparseReduce{op}Sparse')(**own('input_'), reduction_axes=[1]))
    case('SparseFillEmptyRows', *R.SparseFillEmptyRows(indices=tf.constant([[0, 1], [2, 0], [2, 2]], tf.int64), values=v[:3], dense_shape=tf.constant([4, 3], tf.int64), default_value=-1.))
    for op in ['Sum', 'Mean', 'SqrtN']:
        case('SparseSegment' + op, getattr(R, 'SparseSegment' + op)(data=m, indices=[2, 0, 1], segment_ids=[0, 0, 2]), getattr(R, f'SparseSegment{op}WithNumSegments')(data=m, indices=[2, 0, 1], segment_ids=[0, 0, 2], num_segments=4))
    case('DenseToDenseSetOperation', *R.DenseToDenseSetOperation(set1=[[1, 2, 3]], set2=[[3, 2, 5]], set_operation='union'), *R.DenseToDenseSetOperation(set1=[[1, 2, 3]], set2=[[3, 2, 5]], set_operation='b-a'))
    case('SparseToSparseSetOperation', *R.SparseToSparseSetOperation(**{f'set{n}_{k}': t for n in (1, 2) for k, t in dict(indices=rows['sparse_indices'], values=tf.constant([n, 3, 4]), shape=rows['sparse_shape']).items()}, set_operation='intersection'),
         R.SetSize(set_indices=rows['sparse_indices'], set_values=tf.constant([1, 3, 3]), set_shape=rows['sparse_shape']))

    # Ragged tensors
    case('RaggedTensorToTensor', R.RaggedTensorToTensor(shape=tf.constant(-1), values=v, default_value=-1., row_partition_tensors=[[0, 2, 2, 5]], row_partition_types=['ROW_SPLITS']),
         R.RaggedTensorToTensor(shape=[3, 2, -1], values=v, default_value=0., row_partition_tensors=[[0, 2, 3], [0, 1, 3, 5]], row_partition_types=['ROW_SPLITS', 'ROW_SPLITS']),
         R.RaggedTensorToTensor(shape=[-1, -1], values=v, default_value=0., row_partition_tensors=[4, [0, 0, 2, 2, 2]], row_partition_types=['FIRST_DIM_SIZE', 'VALUE_ROWIDS']),
         R.RaggedTensorToTensor(shape=tf.constant([-1, -1, -1]), values=v, default_value=0., row_partition_tensors=[2, [0, 0, 1], [0, 1, 1, 2, 2]], row_partition_types=['FIRST_DIM_SIZE', 'VALUE_ROWIDS', 'VALUE_ROWIDS']))
    case('RaggedTensorToSparse', *R.RaggedTensorToSparse(rt_nested_splits=[tf.constant([0, 2, 2, 5], tf.int64)], rt_dense_values=v), *R.RaggedTensorToSparse(rt_nested_splits=[tf.constant([0, 2, 3], tf.int64), tf.constant([0, 1, 3, 5], tf.int64)], rt_dense_values=v))
    case('RaggedRange', *R.RaggedRange(starts=[0, 5, 3], limits=[4, 2, 3], deltas=[2, -1, 1]), *R.RaggedRange(starts=0., limits=[1., 2.], deltas=0.5, Tsplits=tf.int32))
    gathered = R.RaggedGather(params_nested_splits=[tf.constant([0, 2, 2, 5], tf.int64)], params_dense_values=v, indices=[2, 0, 2], OUTPUT_RAGGED_RANK=1)
    deep_gathered = R.RaggedGather(params_nested_splits=[tf.constant([0, 2, 2, 5], tf.int64)], params_dense_values=v, indices=[[2, 0], [1, 2]], OUTPUT_RAGGED_RANK=2)
    case('RaggedGather', *gathered[0], gathered[1], *deep_gathered[0], deep_gathered[1])
    case('UnicodeDecode', *R.UnicodeDecode(input=words, input_encoding='UTF-8'), *R.UnicodeDecodeWithOffsets(input=words, input_encoding='UTF-8'),
         R.UnicodeEncode(input_values=[65, 233, 66], input_splits=tf.constant([0, 2, 3], tf.int64), output_encoding='UTF-8'))

    # Random numbers from a seed
    seed = tf.cast(ids[1:3] * 0 + [5, 7], tf.int64)
    case('StatelessRandomUniform', R.StatelessRandomUniform(shape=[2, 5], seed=seed), R.StatelessRandomUniform(shape=[3], seed=[1, 2], dtype=tf.float64))
    case('StatelessRandomNormal', R.StatelessRandomNormal(shape=[2, 5], seed=seed), R.StatelessRandomNormal(shape=[1], seed=[-1, 2]))
    case('StatelessRandomUniformInt', R.StatelessRandomUniformInt(shape=[7], seed=seed, minval=-3, maxval=12), R.StatelessRandomUniformInt(shape=[5], seed=seed, minval=tf.constant(-3, tf.int64), maxval=tf.constant(10**12, tf.int64)))
    case('StatelessRandomUniformFullInt', R.StatelessRandomUniformFullInt(shape=[5], seed=seed, dtype=tf.int32), tf.bitcast(R.StatelessRandomUniformFullInt(shape=[3], seed=seed, dtype=tf.uint64), tf.int32))
    key, counter = R.StatelessRandomGetKeyCounter(seed=seed)
    case('StatelessRandomGetKeyCounter', tf.bitcast(key, tf.int32), tf.bitcast(counter, tf.int32), R.StatelessRandomUniformV2(shape=[3], key=key, counter=counter, alg=1), R.StatelessRandomNormalV2(shape=[3], key=key, counter=counter, alg=1),
         R.StatelessRandomUniformIntV2(shape=[3], key=key, counter=counter, alg=1, minval=0, maxval=100), tf.bitcast(R.StatelessRandomGetKeyCounterAlg(seed=seed)[0], tf.int32))

    case('StatelessShuffle', R.StatelessShuffle(value=m, key=key, counter=counter, alg=1), R.StatelessShuffle(value=i, key=key, counter=counter, alg=1))
    case('RandomIndexShuffle', R.RandomIndexShuffle(index=[0, 1, 2, 3], seed=[5, 6, 7], max_index=3), R.RandomIndexShuffle(index=tf.constant(11, tf.int64), seed=[5, 6, 8], max_index=tf.constant(1000, tf.int64), rounds=6))
    case('AllCandidateSampler', *R.AllCandidateSampler(true_classes=tf.constant([[0, 1], [4, 2]], tf.int64), num_true=2, num_sampled=5, unique=True))
    case('ComputeAccidentalHits', *R.ComputeAccidentalHits(true_classes=tf.constant([[0, 1], [4, 2]], tf.int64), sampled_candidates=tf.constant([2, 7, 0, 4], tf.int64), num_true=2))
    case('IsotonicRegression', *R.IsotonicRegression(input=bm[0], output_dtype=tf.float32), *R.IsotonicRegression(input=i, output_dtype=tf.float64))
    case('Fingerprint', R.Fingerprint(data=i, method='farmhash64'), R.Fingerprint(data=words, method='farmhash64'))
    case('StringSplit', *R.StringSplit(input=['a,b;c', '', ',x,', 'é'], delimiter=',;', skip_empty=True), *R.StringSplit(input=['a,b;c', '', ',x,'], delimiter=',;', skip_empty=False), *R.StringSplit(input=['ab', '', 'c'], delimiter=''))

    # Rarer forms, and gradients of ops
    case('ListDiff', *R.ListDiff(x=ids, y=[2, 5]), *R.ListDiff(x=[1, 2, 3], y=tf.constant([], tf.int32), out_idx=tf.int64), *R.ListDiff(x=words, y=words[:1]))
    case('PopulationCount', R.PopulationCount(x=i), R.PopulationCount(x=tf.constant([-1, 5], tf.int64)), R.PopulationCount(x=tf.constant([255, 6], tf.uint8)))
    case('NthElement', R.NthElement(input=bm, n=1), R.NthElement(input=m, n=0, reverse=True)), case('ParallelConcat', R.ParallelConcat(values=[m[:1], m[1:2]], shape=[2, 4]))
    case('SpaceToBatch', R.SpaceToBatch(input=rgb, block_size=2, paddings=[[0, 2], [1, 1]]), R.BatchToSpace(input=tf.tile(rgb, [4, 1, 1, 1]), block_size=2, crops=[[1, 0], [0, 2]]))
    case('InplaceUpdate', R.InplaceUpdate(x=m + 1, i=[2, 0], v=m[:2]), R.InplaceAdd(x=m + 2, i=[2, 0], v=m[:2]), R.InplaceSub(x=m + 3, i=[2, 0], v=m[:2]))
    case('ScatterNdNonAliasingAdd', R.ScatterNdNonAliasingAdd(input=m, indices=[[2], [0], [2]], updates=m))
    pooled = R.MaxPool(input=image, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='SAME')
    case('MaxPoolGradV2', R.MaxPoolGradV2(orig_input=image, orig_output=pooled, grad=pooled * 2, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='SAME'))
    four = tf.concat([image, image], -1)
    case('LRNGrad', R.LRNGrad(input_grads=four, input_image=four, output_image=R.LRN(input=four, depth_radius=1, beta=0.75), depth_radius=1, beta=0.75))
    eroded = dict(strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding='SAME')
    case('Dilation2DBackpropInput', R.Dilation2DBackpropInput(input=image, filter=kernel[..., 0], out_backprop=image, **eroded), R.Dilation2DBackpropFilter(input=image, filter=kernel[..., 0], out_backprop=image, **eroded))
    boxes_of = dict(boxes=[[0.1, 0.2, 0.8, 0.9], [0.05, 0.15, 0.95, 0.85]], box_ind=[0, 0])
    case('CropAndResizeGradImage', R.CropAndResizeGradImage(grads=tf.ones([2, 3, 2, 3]), image_size=[1, 4, 4, 3], T=tf.float32, **boxes_of),
         R.CropAndResizeGradImage(grads=tf.ones([2, 3, 2, 3]), image_size=[1, 4, 4, 3], T=tf.float32, method='nearest', **boxes_of), R.CropAndResizeGradBoxes(grads=tf.ones([2, 3, 2, 3]), image=rgb, **boxes_of))
    case('ResizeBicubicGrad', R.ResizeBicubicGrad(grads=R.ResizeBicubic(images=image, size=[4, 9], half_pixel_centers=True), original_image=image, half_pixel_centers=True))
    case('ResizeNearestNeighborGrad', R.ResizeNearestNeighborGrad(grads=image, size=[3, 4], half_pixel_centers=True), R.ResizeNearestNeighborGrad(grads=image, size=[3, 7]), R.ResizeNearestNeighborGrad(grads=image, size=[3, 7], align_corners=True))
    case('FakeQuantWithMinMaxArgsGradient', R.FakeQuantWithMinMaxArgsGradient(gradients=y, inputs=x, min=-0.5, max=0.8), *R.FakeQuantWithMinMaxVarsGradient(gradients=y, inputs=x, min=-0.5, max=0.8, num_bits=4),
         *R.FakeQuantWithMinMaxVarsPerChannelGradient(gradients=y, inputs=x, min=[-0.5, -0.1, -1.], max=[0.3, 0.8, 1.], narrow_range=True))
    case('QuantizeAndDequantizeV2', R.QuantizeAndDequantizeV2(input=x, input_min=-0.5, input_max=0.8, range_given=True), R.QuantizeAndDequantizeV2(input=x, input_min=0., input_max=0., num_bits=4, narrow_range=True),
         R.QuantizeAndDequantizeV3(input=x, input_min=-0.5, input_max=0.8, num_bits=5), R.QuantizeAndDequantizeV4(input=x, input_min=-0.5, input_max=0.8, num_bits=6))
    case('SparseSegmentSumGrad', *[getattr(R, f'SparseSegment{kind}Grad')(grad=m[:2], indices=[0, 2, 2], segment_ids=[0, 0, 1], output_dim0=4) for kind in ['Sum', 'Mean', 'SqrtN']])
    case('DenseCountSparseOutput', *R.DenseCountSparseOutput(values=ids, weights=tf.constant([], tf.float32), binary_output=False), *R.DenseCountSparseOutput(values=[[1, 1, 3], [0, 7, 1]], weights=x, binary_output=False, minlength=5, maxlength=6),
         *R.DenseCountSparseOutput(values=ids, weights=tf.constant([], tf.int64), binary_output=True, minlength=9),
         *R.SparseCountSparseOutput(indices=tf.constant([[0, 1], [0, 2], [2, 0]], tf.int64), values=[4, 4, 1], dense_shape=tf.constant([3, 3], tf.int64), weights=v[:3], binary_output=False))
    case('SparseCrossV2', *R.SparseCrossV2(indices=[tf.constant([[0, 0], [1, 0], [1, 1]], tf.int64)], values=[tf.constant(['a', 'b', 'c'])], shapes=[tf.constant([2, 2], tf.int64)], dense_inputs=[tf.constant([['d'], ['e']])], sep='_Y_'))
    case('RaggedCountSparseOutput', *R.RaggedCountSparseOutput(splits=tf.constant([0, 2, 2, 5], tf.int64), values=ids, weights=tf.constant([], tf.float32), binary_output=False),
         *R.RaggedCountSparseOutput(splits=tf.constant([0, 2, 2, 5], tf.int64), values=ids, weights=v, binary_output=False, minlength=4),
         *R.RaggedCountSparseOutput(splits=tf.constant([0, 3, 5], tf.int64), values=ids, weights=tf.constant([], tf.int64), binary_output=True, maxlength=2))
    for hashed in (False, True):
        case(f'RaggedCross{hashed}', *R.RaggedCross(
            ragged_values=[tf.constant(['a', 'b', 'c'])], ragged_row_splits=[tf.constant([0, 2, 3], tf.int64)], sparse_indices=[tf.constant([[0, 0], [1, 0], [1, 1]], tf.int64)],
            sparse_values=[tf.constant([7, 8, 9], tf.int64)], sparse_shape=[tf.constant([2, 2], tf.int64)], dense_inputs=[tf.constant([['d'], ['e']])], input_order='DRS',
            hashed_output=hashed, num_buckets=100, hash_key=956888297470, out_values_type=tf.int64 if hashed else tf.string, out_row_splits_type=tf.int64))
    # Windows of one length: those of two are drawn.
    for kind in ['Avg', 'Max']:
        pool = getattr(R, f'Fractional{kind}Pool')
        case(f'Fractional{kind}Pool', *pool(value=tf.concat([volume[0], volume[0]], 1), pooling_ratio=[1., 2., 2., 1.]), *pool(value=volume[0], pooling_ratio=[1., 2., 1., 1.], overlapping=True, pseudo_random=True))
    case('ExtractGlimpseV2', R.ExtractGlimpseV2(input=image, size=[3, 3], offsets=[[0.2, -0.9]], noise='zero', uniform_noise=False), R.ExtractGlimpseV2(input=image, size=[2, 5], offsets=[[1., 2.]], centered=False, normalized=False, noise='zero', uniform_noise=False))
    case('DecodeCSV', *R.DecodeCSV(records=['1,a,2.5', ',"b,c",'], record_defaults=[[7], tf.constant([], tf.string), [0.5]]), *R.DecodeCSV(records=['1|x|NA'], record_defaults=[[7], [9.]], field_delim='|', na_value='NA', select_cols=[0, 2]))

    for strong in (False, True):
        # Strong hashes of strings alone: TensorFlow ends the process for integers.
        dense = [] if strong else [tf.constant([[3], [-4]], tf.int64)]
        for buckets in (0, 100):
            case(f'SparseCrossHashed{strong}{buckets}', *R.SparseCrossHashed(
                indices=[tf.constant([[0, 0], [1, 0], [1, 1]], tf.int64)] * 2, values=[tf.constant(['a', 'b', 'c'])] * 2, shapes=[tf.constant([2, 2], tf.int64)] * 2, dense_inputs=dense,
                num_buckets=buckets, strong_hash=strong, salt=[7, 9]))
    case('RaggedFillEmptyRows', *R.RaggedFillEmptyRows(value_rowids=tf.constant([0, 2, 2], tf.int64), values=v[:3], nrows=tf.constant(4, tf.int64), default_value=-1.))
    for op in ['RaggedFillEmptyRowsGrad', 'SparseFillEmptyRowsGrad']:
        case(op, *getattr(R, op)(reverse_index_map=tf.constant([0, 2, 3], tf.int64), grad_values=v))
    case('ScaleAndTranslateGrad', *[R.ScaleAndTranslateGrad(
        grads=rgb, original_image=tf.tile(image[..., :1], [1, 1, 1, 3]), scale=[4 / 6, 4 / 5], translation=[0., 0.], kernel_type=name, antialias=True) for name in ['lanczos3', 'triangle']])

    feeds = {T[name]: value for name, value in inputs.items()}
    # Channels before the directions
    first = tf.transpose(image, [0, 3, 1, 2])
    wide = R.Conv2D(input=first, filter=kernel, strides=[1, 1, 1, 1], padding='SAME', data_format='NCHW')
    case('channels_first', wide, R.Conv2D(input=first, filter=kernel, strides=[1, 1, 2, 1], padding='EXPLICIT', explicit_paddings=[0, 0, 0, 0, 1, 0, 0, 1], data_format='NCHW'),
         R.BiasAdd(value=first, bias=v[:2], data_format='NCHW'), R.MaxPool(input=first, ksize=[1, 1, 2, 3], strides=[1, 1, 2, 1], padding='SAME', data_format='NCHW'),
         R.FusedBatchNormV3(x=first, scale=scale, offset=offset, mean=mean, variance=variance, is_training=False, epsilon=1e-3, data_format='NCHW')[0],
         *R.MaxPoolWithArgmax(input=deep, ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding='SAME', include_batch_in_index=True))

    # Gradients and lists that few graphs have
    for name, height in [('MaxPoolGradGrad', 2), ('MaxPoolGradGradV2', 3)]:
        window = dict(ksize=[1, height, 2, 1], strides=[1, 2, 1, 1], padding='SAME')
        peaks = R.MaxPool(input=image, **window)
        case(name, getattr(R, name)(orig_input=image, orig_output=peaks, grad=tf.cos(image * 3), **window))
    window = dict(ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding='VALID')
    case('MaxPool3DGradGrad', R.MaxPool3DGradGrad(orig_input=volume, orig_output=R.MaxPool3D(input=volume, **window), grad=tf.cos(volume * 3), **window))
    borders = dict(row_pooling_sequence=tf.constant([0, 2, 3, 6], tf.int64), col_pooling_sequence=tf.constant([0, 1, 3, 5], tf.int64))
    for overlapping in (False, True):
        back = tf.cos(tf.reshape(tf.range(18, dtype=tf.float32), [1, 3, 3, 2]))
        case(f'FractionalAvgPoolGrad{overlapping}', R.FractionalAvgPoolGrad(orig_input_tensor_shape=tf.constant([1, 6, 5, 2], tf.int64), out_backprop=back, overlapping=overlapping, **borders))
        # Equal elements, too: the first of a window counts.
        for kind, own in [('', image), ('Equal', tf.nn.relu(image))]:
            case(f'FractionalMaxPoolGrad{kind}{overlapping}', R.FractionalMaxPoolGrad(orig_input=own, orig_output=tf.stack([tf.stack([
                tf.reduce_max(own[:, r0:min(r1 + overlapping, 6), c0:min(c1 + overlapping, 5)], [1, 2]) for c0, c1 in [(0, 1), (1, 3), (3, 5)]], 1) for r0, r1 in [(0, 2), (2, 3), (3, 6)]], 1),
                out_backprop=back, overlapping=overlapping, **borders))
    for kind in ['Sum', 'Mean', 'SqrtN']:
        case(f'SparseSegment{kind}GradV2', *getattr(R, f'SparseSegment{kind}GradV2')(grad=m[:2], indices=[3, 0, 3, 2], segment_ids=[0, 0, 1, 1], dense_output_dim0=4))
    places = tf.constant([[0, 1], [1, 0], [1, 2], [2, 1], [3, 3]], tf.int64)
    case('SparseSliceGrad', R.SparseSliceGrad(backprop_val_grad=v[:2], input_indices=places, input_start=tf.constant([1, 1], tf.int64), output_indices=tf.constant([[0, 1], [1, 0]], tf.int64)),
         R.SparseSliceGrad(backprop_val_grad=v[:0], input_indices=places, input_start=tf.constant([4, 1], tf.int64), output_indices=tf.zeros([0, 2], tf.int64)))
    case('SparseAddGrad', *R.SparseAddGrad(backprop_val_grad=v[:4], a_indices=places[:3], b_indices=places[2:], sum_indices=tf.gather(places, [0, 2, 3, 4])))
    two = R.TensorListFromTensor(tensor=m, element_shape=[4])
    both = R.TensorListConcatLists(input_a=two, input_b=R.TensorListFromTensor(tensor=m[:2] * 2, element_shape=[4]), element_dtype=tf.float32)
    case('TensorListConcatLists', R.TensorListStack(input_handle=both, element_shape=[4], element_dtype=tf.float32), R.TensorListLength(input_handle=both))
    case('RandomGammaGrad', R.RandomGammaGrad(alpha=[[0.3], [1.], [50.], [2000.]], sample=[[0.1, 1e-4, 3.], [2., 0.01, 9.], [40., 50., 70.], [1900., 2000., 2200.]]),
         R.RandomGammaGrad(alpha=tf.constant([0.5, 7.], tf.float64), sample=tf.constant(0.8, tf.float64)))

    def steps(kind, *rows):
        field = {int: 'int64_list', float: 'float_list', str: 'bytes_list'}[kind]
        return [tf.train.Feature(**{field: {'value': [v.encode() if kind is str else v for v in row]}}) for row in rows]

    def sequence(context, lists):
        return tf.train.SequenceExample(
            context={'feature': {k: steps(*v)[0] for k, v in context.items()}}, feature_lists={'feature_list': {k: {'feature': steps(*v)} for k, v in lists.items()}}).SerializeToString(deterministic=True)

    read = [sequence({'id': (int, [7]), 'tags': (str, ['a', 'b'])}, {'points': (float, [1, 2], [3, 4]), 'words': (str, ['x'], [], ['y', 'z'])}),
            sequence({'tags': (str, [])}, {'points': (float, [5, 6]), 'more': (int, [1])}), sequence({'id': (int, [9])}, {'more': (int,)})]
    types = dict(context_sparse_types=[tf.string], context_dense_shapes=[[]], feature_list_sparse_types=[tf.string],
                 feature_list_dense_types=[tf.float32, tf.int64], feature_list_dense_shapes=[[2], [1]])
    case('ParseSequenceExample', *tf.nest.flatten(list(R.ParseSequenceExample(
        serialized=read, debug_name=[], context_dense_defaults=[tf.constant(-1, tf.int64)], feature_list_dense_missing_assumed_empty=['more', 'points'], context_sparse_keys=['tags'],
        context_dense_keys=['id'], feature_list_sparse_keys=['words'], feature_list_dense_keys=['points', 'more'], Ncontext_sparse=1, Ncontext_dense=1, Nfeature_list_sparse=1,
        Nfeature_list_dense=2, **types))))
    for n, one in enumerate(read):
        case(f'ParseSingleSequenceExample{n}', *tf.nest.flatten(list(R.ParseSingleSequenceExample(
            serialized=one, feature_list_dense_missing_assumed_empty=['more', 'points'], context_sparse_keys=['tags'], context_dense_keys=['id'], feature_list_sparse_keys=['words'],
            feature_list_dense_keys=['points', 'more'], context_dense_defaults=[tf.constant(-1, tf.int64)], debug_name='', **types))))

    # Cells and transforms of frozen graphs of TensorFlow 1
    weights, gates = tf.reshape(tf.sin(tf.range(7 * 16, dtype=tf.float32)), [7, 16]), tf.cos(tf.range(16, dtype=tf.float32))
    states = [tf.sin(tf.reshape(tf.range(8, dtype=tf.float32), [2, 4]) + n) for n in range(2)]
    peepholes = {name: tf.cos(tf.range(4, dtype=tf.float32) + n) for n, name in enumerate(['wci', 'wcf', 'wco'])}
    cell = dict(cs_prev=states[0] * 3, h_prev=states[1], w=weights, b=gates, **peepholes)
    for use_peephole in (False, True):
        case(f'LSTMBlockCell{use_peephole}', *R.LSTMBlockCell(x=x, use_peephole=use_peephole, cell_clip=1.5 if use_peephole else -1, forget_bias=0.5, **cell))
        for name, options in [('BlockLSTM', {'forget_bias': 0.5}), ('BlockLSTMV2', {})]:
            steps_of = tf.stack([x, y, p, u])
            # Behind the last step TensorFlow clears the states alone; other values are what memory held.
            case(f'{name}{use_peephole}', *[values if n in (1, 6) else values[:3] for n, values in enumerate(getattr(R, name)(seq_len_max=tf.constant(3 if use_peephole else 4, tf.int64), x=steps_of, use_peephole=use_peephole,
                                                             cell_clip=1.5 if use_peephole else 0, **options, **cell))])
    case('GRUBlockCell', *R.GRUBlockCell(x=x, h_prev=states[1], w_ru=weights[:, :8], w_c=weights[:, 8:12], b_ru=gates[:8], b_c=gates[8:12]))
    wave = tf.sin(tf.reshape(tf.range(300, dtype=tf.float32), [150, 2]) * 0.37)
    for squared in (False, True):
        case(f'AudioSpectrogram{squared}', R.AudioSpectrogram(input=wave, window_size=50 - squared, stride=23, magnitude_squared=squared))
    spectrogram = R.AudioSpectrogram(input=wave, window_size=50, stride=23, magnitude_squared=True)
    case('Mfcc', R.Mfcc(spectrogram=spectrogram, sample_rate=16000),
         R.Mfcc(spectrogram=spectrogram, sample_rate=8000, upper_frequency_limit=3000, lower_frequency_limit=120, filterbank_channel_count=9, dct_coefficient_count=5))
    around = tf.constant([[0, 0], [2, 1], [1, 1], [0, 0]])
    for mode in ['REFLECT', 'SYMMETRIC']:
        case(f'FusedPadConv2D{mode}', R.FusedPadConv2D(input=image, paddings=around, filter=kernel, mode=mode, strides=[1, 2, 1, 1], padding='VALID'))
        case(f'FusedResizeAndPadConv2D{mode}', *[R.FusedResizeAndPadConv2D(
            input=image, size=[8, 7], paddings=around, filter=kernel, mode=mode, strides=[1, 1, 1, 1], padding='SAME', resize_align_corners=aligned) for aligned in (False, True)])
    case('Conv', R.Conv(input=image, filter=kernel, strides=[1, 2, 1, 1], padding='SAME'),
         R.Conv(input=image, filter=kernel, strides=[1, 1, 1, 1], padding='EXPLICIT', explicit_paddings=[0, 0, 1, 2, 0, 1, 0, 0]),
         R.Conv(input=volume, filter=cube[..., :2, :], strides=[1, 1, 1, 1, 1], padding='VALID', data_format='CHANNELS_LAST'),
         R.Conv(input=tf.reshape(image, [1, 1, 6, 5, 2]), filter=kernel, strides=[1, 1, 1, 1], padding='SAME', batch_dims=2))
    case('SparseMatMul', R.SparseMatMul(a=m, b=square, transpose_a=True, transpose_b=False, a_is_sparse=True), R.SparseMatMul(a=tf.cast(m, tf.bfloat16), b=tf.transpose(m), b_is_sparse=True))
    for centered in (False, True):
        for normalized in (False, True):
            case(f'ExtractGlimpse{centered}{normalized}', R.ExtractGlimpse(
                input=image, size=[3, 2], offsets=[[0.3, 0.6] if normalized else [2., -1.] if centered else [2., 1.]], centered=centered, normalized=normalized, uniform_noise=False, noise='zero'))
    case('NearestNeighbors', *R.NearestNeighbors(points=m, centers=tf.concat([m * 0.5, m[:1] + 1, m[1:] - 0.3], 0), k=tf.constant(3, tf.int64)),
         *R.NearestNeighbors(points=m, centers=m[:2], k=tf.constant(5, tf.int64)))
    case('ParameterizedTruncatedNormal', R.Abs(x=R.Ceil(x=R.ParameterizedTruncatedNormal(shape=[3, 200], means=[0., 1., 2.], stdevs=[1., 2., 1.], minvals=[-0.9, -0.9, -0.9], maxvals=[0., 0., 0.]))))
    case('NonDeterministicInts', tf.shape(R.NonDeterministicInts(shape=[2, 3])))
    # The bytes may differ, so what they hold is compared.
    from_json = R.DecodeJSONExample(json_examples=['{"features": {"feature": {"a": {"int64List": {"value": ["1", -2]}}, "b": {"floatList": {"value": [0.5]}}}}}', '{}'])
    parsed = tf.io.parse_example(from_json, {'a': tf.io.VarLenFeature(tf.int64), 'b': tf.io.FixedLenFeature([], tf.float32, 3.0)})
    case('DecodeJSONExample', parsed['a'].indices, parsed['a'].values, parsed['b'])

    # A function's gradient as TensorFlow 1 wrote it
    @function.Defun(tf.float32, tf.float32)
    def waves(a, b):
        return tf.sin(a) * b, tf.reduce_sum(a * a)

    case('SymbolicGradient', *functional_ops.symbolic_gradient([x, y, tf.cos(x), tf.constant(0.5)], [tf.float32, tf.float32], waves))
    descriptors = descriptor_pb2.FileDescriptorSet()
    for module in (feature_pb2, example_pb2):
        module.DESCRIPTOR.CopyToProto(descriptors.file.add())
    source = b'bytes://' + descriptors.SerializeToString()
    lists = [feature_pb2.Int64List(value=values).SerializeToString() for values in ([1, -2, 300], [], [7])]
    sizes, (column,) = R.DecodeProtoV2(bytes=lists, message_type='tensorflow.Int64List', field_names=['value'], output_types=[tf.int64], descriptor_source=source)
    case('DecodeProtoV2', sizes, column)
    case('EncodeProto', R.EncodeProto(sizes=sizes, values=[column], field_names=['value'], message_type='tensorflow.Int64List', descriptor_source=source))

    results = session.run(cases, feeds)
    text = json.dumps({
        'versions': {'tensorflow': tf.__version__}, 'seed': SEED, 'graph': base64.b64encode(graph.as_graph_def().SerializeToString()).decode(),
        'inputs': {name: stored(value) for name, value in inputs.items()}, 'cases': {name: [stored(r) for r in found] for name, found in results.items()}})

with open(TARGET, 'wb') as file, gzip.GzipFile('', 'wb', 9, file, mtime=0) as out:
    out.write(text.encode())
print(len(cases), TARGET.stat().st_size)
