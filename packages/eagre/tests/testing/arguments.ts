// Every public function, and a call of each.
import { type Declared, declared } from '@eagre/core/internal';
import * as tf from '../../src/index.ts';
import { moreArguments } from './more-arguments.ts';

export type AnyFunction = (...args: unknown[]) => unknown;
type Arguments = Readonly<Record<string, unknown>>;

const only = (space: object, names: RegExp): object =>
  Object.fromEntries(Object.entries(space).filter(([name]) => names.test(name)));

// Of these the functions are walked, and those at the top.
const namespaces = {
  '': tf,
  math: tf.math,
  nn: tf.nn,
  linalg: tf.linalg,
  random: tf.random,
  debugging: tf.debugging,
  image: tf.image,
  signal: tf.signal,
  bitwise: tf.bitwise,
  autodiff: tf.autodiff,
  experimental: only(tf.experimental, /^(graphCallable|hostFunction|keep|memory|promote|scope|withBackend)$/),
  config: only(tf.config, /Logical|listPhysical|Placement/),
  'config.experimental': only(tf.config.experimental, /SynchronousExecution/),
  'test.experimental': tf.test.experimental,
};

// What is left out.
const others: ReadonlySet<string> = new Set([
  // It takes what it is given, and looks at it.
  'isTensor',
  'print',
  'debugging.equalityTester',
  // With options alone it gives a decorator.
  'function',
  // Declared as a class is.
  'Input',
  // What it gives takes a function, and gives one.
  'experimental.graphCallable',
  // It rejects what it does not take.
  'ready',
  // It takes anything.
  'group',
  // They differ from call to call, or are of graphs alone.
  'timestamp',
  'gradients',
  'hessians',
  'importGraphDef',
  // What it gives is a function.
  'signal.inverseStftWindowFn',
  // They read their arguments as classes do: `new tf.onesInitializer()` is one too.
  'constantInitializer',
  'onesInitializer',
  'zerosInitializer',
  'randomNormalInitializer',
  'randomUniformInitializer',
  // Its numbers differ from call to call.
  'experimental.memory',
]);

export const isClass = (fn: object): boolean =>
  Object.getOwnPropertyDescriptor(fn, 'prototype')?.writable === false;

/** Each function once, under the shortest of its names. */
function publicFunctions(): Map<AnyFunction, string> {
  const found = new Map<AnyFunction, string>();
  for (const [space, functions] of Object.entries(namespaces)) {
    for (const [key, value] of Object.entries(functions)) {
      if (typeof value !== 'function' || isClass(value)) continue;
      const name = space === '' ? key : `${space}.${key}`;
      if (!found.has(value as AnyFunction) && !others.has(name)) found.set(value as AnyFunction, name);
    }
  }
  return found;
}

/** Each function once, with what it takes. */
export const functions: readonly {
  readonly fn: AnyFunction;
  readonly name: string;
  readonly takes: Declared | undefined;
}[] = [...publicFunctions()].map(([fn, name]) => ({ fn, name, takes: declared(fn) }));

/** Symmetric and positive definite. */
const definite: readonly (readonly number[])[] = [
  [3, 1],
  [1, 2],
];
const three: readonly (readonly number[])[] = [
  [1, 0.5, 0.25],
  [4, 3, 5],
  [0.5, -1, 2],
];
const cube: readonly (readonly (readonly number[])[])[] = [
  [
    [1, 2, 3],
    [0, 1, -1],
  ],
  [
    [2, 0.5, 1],
    [4, 3, 2],
  ],
];

export const square: readonly (readonly number[])[] = [
  [0.5, 0.25],
  [0.75, 0.5],
];
const bools = [
  [true, false],
  [true, true],
];
const ints = tf.constant(
  [
    [1, 2],
    [3, 0],
  ],
  'int32',
);
export const images: tf.Tensor = tf.ones([1, 4, 4, 2]);
export const sequences: tf.Tensor = tf.ones([1, 4, 2]);
export const volumes: tf.Tensor = tf.ones([1, 3, 4, 2, 2]);
const colors = tf.ones([2, 2, 3]);
const corners = [
  [0, 0],
  [3, 0],
  [0, 3],
  [3, 3],
];
const warp = { interpolation: 'nearest', fillMode: 'reflect', fillValue: 1 };
const shape = [2, 2];

// Values by the name of the argument, and for some functions their own.
const usual: Arguments = {
  x: square,
  a: square,
  b: square,
  start: square,
  end: square,
  weight: 0.5,
  low: 0,
  high: 1,
  condition: bools,
  y: square,
  axis: 0,
  shape,
  dtype: 'float32',
  value: 3,
  list: [square, square],
  tensors: [square],
  keepdims: true,
  message: 'm',
};
const vector = [0.5, 0.25];
const ids = tf.ragged.constant([[0, 1], [1]], 'int32');
const weights = tf.ragged.constant([[1, 2], [3]]);
const picture = tf.ones([2, 3, 3], 'uint8');
const png = tf.io.encodePng(picture);
const jpeg = tf.io.encodeJpeg(picture);
const bmp = Uint8Array.from(
  { length: 58 },
  (_, i) => ({ 0: 0x42, 1: 0x4d, 10: 54, 14: 40, 18: 1, 22: 1, 26: 1, 28: 24 })[i] ?? 0,
);
const webp = Uint8Array.from(Buffer.from('UklGRh4AAABXRUJQVlA4TBEAAAAvAAAAEAdQhCb0oGSBiOh/AAA=', 'base64'));
const gif = Uint8Array.from(
  '47494638396101000100800000000000ffffff2c00000000010001000002024401003b'.match(/../g) as string[],
  (byte) => Number.parseInt(byte, 16),
);
const variable = new tf.Variable(3);
export const squared = (x: tf.Tensor): tf.Tensor => x.mul(x).sum();
const ofVariable = (): tf.Tensor => variable.mul(2);
const [cpu] = tf.config.listPhysicalDevices('CPU');

const own: Readonly<Record<string, Arguments>> = {
  asString: { input: square, precision: 2, scientific: true, shortest: false, width: 9, fill: '0' },
  'image.adjustJpegQuality': { image: picture, jpegQuality: 50, dctMethod: 'INTEGER_ACCURATE' },
  'image.decodeAndCropJpeg': {
    contents: jpeg,
    cropWindow: [0, 1, 2, 2],
    channels: 3,
    ratio: 1,
    fancyUpscaling: false,
    tryRecoverTruncated: true,
    acceptableFraction: 0.5,
    dctMethod: 'INTEGER_FAST',
  },
  'image.decodeBmp': { contents: bmp, channels: 3 },
  'image.decodeGif': { contents: gif },
  'image.decodeImage': { contents: png, channels: 3, dtype: 'float32', expandAnimations: false },
  'image.decodeJpeg': {
    contents: jpeg,
    channels: 1,
    ratio: 1,
    fancyUpscaling: false,
    tryRecoverTruncated: true,
    acceptableFraction: 0.5,
    dctMethod: 'INTEGER_ACCURATE',
  },
  'image.decodeWebp': { contents: webp, channels: 4, dtype: 'uint8' },
  'image.decodePng': { contents: png, channels: 3, dtype: 'uint16' },
  'image.encodeJpeg': {
    image: picture,
    format: 'rgb',
    quality: 50,
    progressive: false,
    optimizeSize: true,
    chromaDownsampling: false,
    densityUnit: 'cm',
    xDensity: 100,
    yDensity: 50,
    xmpMetadata: '',
  },
  'image.encodePng': { image: picture, compression: 1 },
  'image.extractJpegShape': { contents: jpeg, outputType: 'int64' },
  'image.isJpeg': { contents: jpeg },
  complex: { real: square, imag: square },
  customGradient: { fn: (x: tf.Tensor) => [x.mul(2), (dy: tf.Tensor) => dy.mul(3)] },
  device: { name: '/cpu:0', fn: () => 3 },
  'autodiff.grad': { fn: squared },
  'autodiff.gradientsFunction': { fn: squared },
  'experimental.hostFunction': {
    fn: (x: tf.Tensor) => x.data().length,
    inputs: [square],
    outputs: { dtype: 'float32', shape: [] },
  },
  'autodiff.implicitGradients': { fn: ofVariable },
  recomputeGrad: { fn: (x: tf.Tensor) => tf.reduceSum(tf.square(x)) },
  'autodiff.implicitValueAndGradients': { fn: ofVariable },
  'experimental.keep': { x: tf.constant(square) },
  'config.listPhysicalDevices': { deviceType: 'CPU' },
  'config.listLogicalDevices': { deviceType: 'CPU' },
  'config.getLogicalDeviceConfiguration': { device: cpu },
  'config.setLogicalDeviceConfiguration': {
    device: cpu,
    logicalDevices: [new tf.config.LogicalDeviceConfiguration()],
  },
  'config.setSoftDevicePlacement': { enabled: true },
  'config.experimental.setSynchronousExecution': { enable: false },
  nameScope: { name: 'outer', fn: () => new tf.Variable(1).name },
  'experimental.promote': { a: 'int32', b: 'int64' },
  'experimental.scope': { fn: () => 3 },
  'autodiff.valueAndGrad': { fn: squared },
  'autodiff.valueAndGradientsFunction': { fn: squared },
  'experimental.withBackend': { name: 'js', fn: () => tf.constant(1).device },
  argmax: { dtype: 'int32' },
  argmin: { dtype: 'int32' },
  addN: {},
  reduceAll: { x: bools },
  reduceAny: { x: bools },
  'math.countNonzero': { dtype: 'int32' },
  'linalg.bandPart': { numLower: 0, numUpper: 1 },
  batchNormalization: { mean: vector, variance: vector, offset: null, scale: null, varianceEpsilon: 0.1 },
  'nn.batchNormalization': {
    mean: vector,
    variance: vector,
    offset: null,
    scale: null,
    varianceEpsilon: 0.1,
  },
  'nn.biasAdd': { bias: vector, dataFormat: 'N...C' },
  booleanMask: { mask: [true, false] },
  broadcastTo: { shape: [3, 2, 2] },
  case: { pairs: [[true, () => tf.constant(1)]], default: () => tf.constant(2), exclusive: true },
  clipByGlobalNorm: { clipNorm: 1, useNorm: 3 },
  clipByNorm: { clipNorm: 1, axes: 0 },
  concat: {},
  cond: { pred: true, trueFn: () => tf.constant(1), falseFn: () => tf.constant(2) },
  constant: { shape: [2] },
  convertToTensor: { dtypeHint: 'float64' },
  cumsum: { exclusive: true, reverse: true },
  'math.cumprod': { exclusive: true, reverse: true },
  'nn.avgPool1d': { x: sequences, ksize: 2, strides: 1, padding: 'SAME' },
  'nn.avgPool2d': { x: images, ksize: 2, strides: 1, padding: 'SAME', dataFormat: 'NCHW' },
  'nn.maxPool1d': { x: sequences, ksize: 2, strides: 1, padding: 'SAME', dataFormat: 'NCW' },
  'nn.maxPool2d': { x: images, ksize: 2, strides: 1, padding: 'SAME' },
  'nn.avgPool': { x: volumes, ksize: 2, strides: 1, padding: 'SAME' },
  'nn.avgPool3d': { x: volumes, ksize: [1, 2, 2], strides: 1, padding: 'SAME' },
  'nn.maxPool': { x: images, ksize: 2, strides: 1, padding: 'SAME' },
  'nn.maxPool3d': { x: volumes, ksize: 2, strides: 1, padding: 'SAME' },
  'nn.maxPoolWithArgmax': {
    x: images,
    ksize: 2,
    strides: 1,
    padding: 'SAME',
    outputType: 'int32',
    includeBatchInIndex: true,
  },
  'nn.conv1d': {
    x: sequences,
    filters: tf.ones([2, 2, 3]),
    stride: 1,
    padding: 'SAME',
    dilations: 1,
    groups: 1,
  },
  'nn.conv1dTranspose': {
    x: sequences,
    filters: tf.ones([1, 3, 2]),
    outputShape: [1, 4, 3],
    strides: 1,
    padding: 'SAME',
    dilations: 1,
  },
  'nn.conv2d': {
    x: images,
    filters: tf.ones([2, 2, 2, 3]),
    strides: 1,
    padding: 'SAME',
    dilations: 1,
    groups: 1,
  },
  'nn.convolution': {
    x: sequences,
    filters: tf.ones([2, 2, 3]),
    strides: 1,
    padding: 'SAME',
    dilations: 1,
    groups: 1,
  },
  'nn.conv3d': {
    x: volumes,
    filters: tf.ones([2, 1, 2, 1, 4]),
    strides: 1,
    padding: 'SAME',
    dilations: 1,
    groups: 2,
  },
  'nn.convTranspose': {
    x: images,
    filters: tf.ones([1, 1, 3, 2]),
    outputShape: [1, 4, 4, 3],
    strides: 1,
    padding: 'SAME',
    dilations: 1,
  },
  'nn.conv3dTranspose': {
    x: volumes,
    filters: tf.ones([1, 1, 1, 3, 2]),
    outputShape: [1, 3, 4, 2, 3],
    strides: 1,
    padding: 'SAME',
    dilations: 1,
  },
  'nn.conv2dTranspose': {
    x: images,
    filters: tf.ones([1, 1, 3, 2]),
    outputShape: [1, 4, 4, 3],
    strides: 1,
    padding: 'SAME',
    dilations: 1,
  },
  'nn.depthwiseConv2d': {
    x: images,
    filter: tf.ones([2, 2, 2, 1]),
    strides: 1,
    padding: 'SAME',
    dilations: 1,
  },
  'nn.separableConv2d': {
    x: images,
    depthwiseFilter: tf.ones([2, 2, 2, 1]),
    pointwiseFilter: tf.ones([1, 1, 2, 3]),
    strides: 1,
    padding: 'SAME',
    dilations: 1,
  },
  'nn.dropout': { rate: 0, seed: 1, noiseShape: null },
  'nn.embeddingLookup': { params: square, ids: [0, 1], maxNorm: 1 },
  'nn.fusedBatchNorm': {
    scale: null,
    offset: null,
    mean: vector,
    variance: vector,
    epsilon: 0.1,
    isTraining: false,
  },
  'nn.inTopK': { targets: [0, 1], predictions: square, k: 1 },
  'nn.gru': { x: sequences, kernel: tf.ones([2, 9]), recurrentKernel: tf.ones([3, 9]), bias: null },
  'nn.lstm': { x: sequences, kernel: tf.ones([2, 12]), recurrentKernel: tf.ones([3, 12]), bias: null },
  'nn.layerNormalization': { scale: vector, offset: vector, axis: -1, epsilon: 0.1 },
  'nn.rmsNormalization': { scale: vector, axis: -1, epsilon: 0.1 },
  'nn.scaledDotProductAttention': {
    query: images,
    key: images,
    value: images,
    mask: null,
    isCausal: true,
    scale: 1,
    timeFirst: true,
  },
  'nn.sigmoidCrossEntropyWithLogits': { labels: square, logits: square },
  'nn.softmaxCrossEntropyWithLogits': { labels: square, logits: square, axis: 0 },
  'nn.ctcLoss': {
    labels: [[1, 0]],
    logits: tf.ones([3, 1, 4]),
    labelLength: [1],
    logitLength: [3],
    logitsTimeMajor: true,
    blankIndex: 0,
  },
  'nn.ctcGreedyDecoder': {
    inputs: tf.ones([3, 1, 4]),
    sequenceLength: tf.constant([3], 'int32'),
    mergeRepeated: false,
    blankIndex: 0,
  },
  'nn.ctcBeamSearchDecoder': {
    inputs: tf.ones([3, 1, 4]),
    sequenceLength: tf.constant([3], 'int32'),
    beamWidth: 4,
    topPaths: 2,
  },
  'nn.embeddingLookupSparse': { params: square, spIds: ids, spWeights: weights, combiner: 'sum', maxNorm: 1 },
  'nn.safeEmbeddingLookupSparse': {
    embeddingWeights: square,
    sparseIds: ids,
    sparseWeights: weights,
    combiner: 'sum',
    maxNorm: 1,
    defaultId: 1,
  },
  'nn.sparseSoftmaxCrossEntropyWithLogits': { labels: [0, 1], logits: square },
  'nn.weightedCrossEntropyWithLogits': { labels: square, logits: square, posWeight: 2 },
  'debugging.assertAllFinite': {},
  'debugging.assertEqual': {},
  'debugging.assertGreater': { b: 0 },
  'debugging.assertGreaterEqual': {},
  'debugging.assertInteger': { x: ints },
  'debugging.assertLess': { b: 9 },
  'debugging.assertLessEqual': {},
  'debugging.assertNear': { rtol: 1, atol: 1 },
  'debugging.assertNegative': { x: -1 },
  'debugging.assertNoneEqual': { b: 7 },
  'debugging.assertNonPositive': { x: -1 },
  'debugging.assertRank': { rank: 2 },
  'debugging.assertRankAtLeast': { rank: 1 },
  'debugging.assertRankIn': { ranks: [1, 2] },
  'debugging.assertSameFloatDtype': {},
  'debugging.assertScalar': { x: 1 },
  'debugging.assertShapes': { pairs: [[square, ['n', 2]]] },
  'debugging.assertShallowStructure': {},
  'debugging.setLogDevicePlacement': { enabled: false },
  'debugging.assertType': {},
  'image.adjustBrightness': { images, delta: 0.1 },
  'image.adjustContrast': { images, contrastFactor: 2 },
  'image.adjustGamma': { image: images, gamma: 2, gain: 3 },
  'image.adjustHue': { images: colors, delta: 0.1 },
  'image.adjustSaturation': { images: colors, saturationFactor: 2 },
  'image.affineTransform': { images, transform: [1, 0, 1, 0, 1, 0, 0, 0], ...warp },
  'image.centralCrop': { image: images, centralFraction: 0.5 },
  'image.cropToBoundingBox': {
    image: images,
    offsetHeight: 1,
    offsetWidth: 0,
    targetHeight: 2,
    targetWidth: 3,
  },
  'image.flipLeftRight': { images },
  'image.flipUpDown': { images },
  'image.grayscaleToRgb': { images: tf.ones([2, 2, 1]) },
  'image.hsvToRgb': { images: colors },
  'image.padToBoundingBox': {
    image: images,
    offsetHeight: 1,
    offsetWidth: 0,
    targetHeight: 5,
    targetWidth: 6,
  },
  'image.perImageStandardization': { image: images },
  'image.perspectiveTransform': { images, startPoints: corners, endPoints: corners, ...warp },
  'image.resize': { images, size: [2, 3], method: 'area', preserveAspectRatio: true, antialias: true },
  'image.resizeWithCropOrPad': { image: images, targetHeight: 2, targetWidth: 5 },
  'image.rgbToGrayscale': { images: colors },
  'image.rgbToHsv': { images: colors },
  'image.rot90': { images, k: 3 },
  'image.transpose': { images },
  'nn.depthToSpace': { x: tf.ones([1, 2, 2, 4]), blockSize: 2 },
  'linalg.diag': { k: 0, align: 'RIGHT_LEFT', paddingValue: 1, numRows: -1, numCols: -1 },
  'linalg.diagPart': { k: 0, align: 'RIGHT_LEFT', paddingValue: 1 },
  einsum: { equation: 'ij,jk->ik', operands: [square, square] },
  'nn.elu': { alpha: 0.5 },
  'nn.leakyRelu': { alpha: 0.5 },
  'nn.gelu': { approximate: true },
  expandDims: {},
  eye: { numRows: 2, numColumns: 3, batchShape: [2] },
  foldl: { fn: (s: tf.Tensor, e: tf.Tensor) => s.add(e), elems: tf.ones([2]), initializer: 0 },
  foldr: { fn: (s: tf.Tensor, e: tf.Tensor) => s.add(e), elems: tf.ones([2]), initializer: 0 },
  scan: { fn: (s: tf.Tensor, e: tf.Tensor) => s.add(e), elems: tf.ones([2]), initializer: 0, reverse: true },
  mapFn: { fn: (e: tf.Tensor) => e.add(1), elems: tf.ones([2]), fnOutputSignature: 'float32' },
  vectorizedMap: { fn: (e: tf.Tensor) => e.add(1), elems: tf.ones([2]) },
  whileLoop: {
    cond: (i: tf.Tensor) => i.less(3),
    body: (i: tf.Tensor) => [i.add(1)],
    loopVars: [tf.constant(0)],
    maximumIterations: 2,
  },
  switchCase: { index: 0, branches: [() => tf.constant(1)], default: () => tf.constant(2) },
  gather: {
    params: square,
    indices: [
      [1, 0],
      [0, 1],
    ],
    axis: 1,
    batchDims: 1,
  },
  gatherNd: { params: square, indices: [[0], [1]], batchDims: 1 },
  'math.invertPermutation': { x: [1, 0] },
  'math.l2Normalize': { epsilon: 0.1 },
  linspace: { start: 0, stop: 1, num: 3, axis: 0 },
  matmul: { transposeA: true, adjointB: true, outputType: 'float64' },
  'linalg.matvec': { x: vector, adjointA: true },
  meshgrid: { vectors: [vector, vector], indexing: 'ij' },
  norm: { ord: 'euclidean' },
  oneHot: { indices: [0, 1], depth: 2, onValue: tf.constant(2), offValue: 1 },
  pad: {
    paddings: [
      [1, 1],
      [0, 0],
    ],
    mode: 'CONSTANT',
    constantValues: 2,
  },
  range: { start: 0, limit: 5, delta: 2 },
  repeat: { repeats: 2 },
  reshape: { shape: [4] },
  reverse: {},
  roll: { shift: 1 },
  scatterNd: { indices: [[0], [1]], updates: square },
  sequenceMask: { lengths: [1, 2], maxlen: 3 },
  'linalg.setDiag': { diagonal: vector, k: 0, align: 'RIGHT_LEFT' },
  slice: { begin: [0, 1], size: [1, 1] },
  'math.softmax': {},
  'math.logSoftmax': {},
  sort: { direction: 'DESCENDING' },
  argsort: { direction: 'DESCENDING' },
  'nn.spaceToDepth': { x: images, blockSize: 2 },
  split: { numOrSizes: 2 },
  squeeze: { x: [[0.5, 0.25]] },
  stridedSlice: {
    begin: [0, 0],
    end: [2, 2],
    strides: [1, 1],
    beginMask: 0,
    endMask: 0,
    ellipsisMask: 0,
    newAxisMask: 0,
    shrinkAxisMask: 0,
  },
  tensordot: { axes: 1 },
  tile: { multiples: [1, 2] },
  'math.topK': { k: 1, sorted: true, indexType: 'int32' },
  transpose: { perm: [1, 0], conjugate: true },
  'linalg.tril': { k: 0 },
  'linalg.triu': { k: 0 },
  unique: { x: vector, outIdx: 'int32' },
  'math.unsortedSegmentSum': { segmentIds: [0, 1], numSegments: 2 },
  unstack: {},
  logicalAnd: { a: bools, b: bools },
  logicalOr: { a: bools, b: bools },
  'math.logicalXor': { a: bools, b: bools },
  logicalNot: { x: bools },
  'math.bitwiseAnd': { a: ints, b: ints },
  'math.bitwiseOr': { a: ints, b: ints },
  'math.bitwiseXor': { a: ints, b: ints },
  'math.bitwiseNot': { x: ints },
  'math.bitwiseLeftShift': { a: ints, b: ints },
  'math.bitwiseRightShift': { a: ints, b: ints },
  mod: {},
  shuffle: {},
  'random.shuffle': { seed: 1 },
  'random.categorical': { logits: square, numSamples: 3, seed: 1, dtype: 'int32' },
  'random.uniform': { minval: 1, maxval: 2, seed: 1 },
  'linalg.eig': { tensor: square },
  'linalg.eigvals': { tensor: square },
  ...Object.fromEntries(
    ['cholesky', 'det', 'expm', 'slogdet', 'sqrtm'].map((name) => [`linalg.${name}`, { input: definite }]),
  ),
  'linalg.adjoint': { matrix: square },
  'linalg.logdet': { matrix: definite },
  'linalg.eigh': { tensor: definite },
  'linalg.eigvalsh': { tensor: definite },
  'linalg.logm': { input: tf.complex(definite, definite) },
  'linalg.lu': { input: definite, outputIdxType: 'int64' },
  'linalg.qr': { input: square, fullMatrices: true },
  'linalg.inv': { input: definite, adjoint: true },
  'linalg.choleskySolve': { chol: definite, rhs: square },
  'linalg.cross': { a: [1, 2, 3], b: [3, 1, 2] },
  'linalg.lstsq': { matrix: definite, rhs: square, l2Regularizer: 0.5, fast: true },
  'linalg.solve': { matrix: definite, rhs: square, adjoint: true },
  'linalg.triangularSolve': { matrix: definite, rhs: square, lower: false, adjoint: true },
  'linalg.bandedTriangularSolve': { bands: definite, rhs: square, lower: true, adjoint: true },
  'linalg.luSolve': { lowerUpper: definite, perm: [1, 0], rhs: square },
  'linalg.luReconstruct': { lowerUpper: definite, perm: [1, 0] },
  'linalg.luMatrixInverse': { lowerUpper: definite, perm: [1, 0] },
  'linalg.pinv': { a: square, rcond: 0.1 },
  'linalg.matrixRank': { a: square, tol: 0.1 },
  'linalg.normalize': { tensor: square, ord: 1, axis: 0 },
  'linalg.tensorDiag': { diagonal: [1, 2] },
  'linalg.tensorDiagPart': { input: square },
  'linalg.tridiagonalSolve': {
    diagonals: three,
    rhs: three,
    diagonalsFormat: 'compact',
    transposeRhs: true,
    conjugateRhs: true,
    partialPivoting: false,
  },
  'linalg.tridiagonalMatmul': { diagonals: three, rhs: three, diagonalsFormat: 'compact' },
  'linalg.eighTridiagonal': {
    alpha: [1, 2, 3],
    beta: [1, 2],
    eigvalsOnly: false,
    select: 'i',
    selectRange: [0, 1],
  },
  ...Object.fromEntries(
    ['fft', 'ifft', 'fft2d', 'ifft2d', 'fft3d', 'ifft3d'].map((name) => [
      `signal.${name}`,
      { input: tf.complex(cube, cube) },
    ]),
  ),
  ...Object.fromEntries(
    [1, 2, 3].flatMap((rank) => {
      const name = rank === 1 ? '' : `${rank}d`;
      const fftLength = [4, 3, 2].slice(0, rank);
      return [
        [`signal.rfft${name}`, { inputTensor: cube, fftLength }],
        [`signal.irfft${name}`, { inputTensor: tf.complex(cube, cube), fftLength }],
      ];
    }),
  ),
  'signal.fftnd': { inputTensor: tf.complex(cube, cube), fftLength: [4, 3], axes: [0, 2], norm: 'ortho' },
  'signal.ifftnd': { inputTensor: tf.complex(cube, cube), fftLength: [4, 3], axes: [0, 2], norm: 'ortho' },
  'signal.rfftnd': { inputTensor: cube, fftLength: [4, 3], axes: [0, 2], norm: 'ortho' },
  'signal.irfftnd': { inputTensor: tf.complex(cube, cube), fftLength: [4, 3], axes: [0, 2], norm: 'ortho' },
  'signal.fftshift': { x: square, axes: 0 },
  'signal.ifftshift': { x: square, axes: 0 },
  'signal.frame': { signal: square, frameLength: 1, frameStep: 2, padEnd: true, padValue: 3, axis: 0 },
  'signal.overlapAndAdd': { signal: square, frameStep: 1 },
  'signal.stft': {
    signals: square,
    frameLength: 2,
    frameStep: 1,
    fftLength: 4,
    windowFn: tf.signal.hammingWindow,
    padEnd: true,
  },
  'signal.inverseStft': {
    stfts: tf.complex(three, three),
    frameLength: 2,
    frameStep: 1,
    fftLength: 4,
    windowFn: tf.signal.hammingWindow,
  },
  'signal.mdct': { signals: [1, 2, 3, 4, 5], frameLength: 4, windowFn: null, padEnd: true, norm: 'ortho' },
  'signal.inverseMdct': { mdcts: square, windowFn: null, norm: 'ortho' },
  'signal.dct': { input: square, type: 3, n: 3, axis: -1, norm: 'ortho' },
  'signal.idct': { input: square, type: 3, n: 3, axis: -1, norm: 'ortho' },
  ...Object.fromEntries(
    ['hannWindow', 'hammingWindow'].map((name) => [
      `signal.${name}`,
      { windowLength: 4, periodic: false, dtype: 'float64' },
    ]),
  ),
  ...Object.fromEntries(
    ['kaiserWindow', 'kaiserBesselDerivedWindow'].map((name) => [
      `signal.${name}`,
      { windowLength: 4, beta: 3, dtype: 'float64' },
    ]),
  ),
  'signal.vorbisWindow': { windowLength: 4, dtype: 'float64' },
  'signal.linearToMelWeightMatrix': {
    numMelBins: 4,
    numSpectrogramBins: 9,
    sampleRate: 4000,
    lowerEdgeHertz: 100,
    upperEdgeHertz: 1900,
    dtype: 'float64',
  },
  'signal.mfccsFromLogMelSpectrograms': { logMelSpectrograms: square },
  'linalg.svd': { tensor: square, fullMatrices: true, computeUV: true },
  'random.normal': { mean: 1, stddev: 2, seed: 1 },
  'random.truncatedNormal': { mean: 1, stddev: 2, seed: 1 },
  'random.statelessUniform': { seed: [1, 2], minval: 1, maxval: 2, alg: 'philox' },
  'random.statelessNormal': { seed: [1, 2], mean: 1, stddev: 2, alg: 'philox' },
  'random.statelessTruncatedNormal': { seed: [1, 2], mean: 1, stddev: 2, alg: 'philox' },
  'random.beta': { alpha: 2, beta: 3, seed: 1 },
  'random.gamma': { alpha: 2, beta: 3, seed: 1 },
  'random.setSeed': { seed: 3 },
  tensorScatterNdUpdate: { base: square, indices: [[0]], updates: [vector] },
  tensorScatterNdAdd: { base: square, indices: [[0]], updates: [vector] },
  tensorScatterNdSub: { base: square, indices: [[0]], updates: [vector] },
  tensorScatterNdMax: { base: square, indices: [[0]], updates: [vector] },
  tensorScatterNdMin: { base: square, indices: [[0]], updates: [vector] },
};

/** A value for each argument of a function. */
export function valuesFor(name: string, takes: Declared): Record<string, unknown> {
  const names = [
    ...takes.positional,
    ...(takes.rest === undefined ? [] : [takes.rest]),
    ...Object.keys(takes.options),
  ];
  const given = { ...usual, ...own[takes.name], ...moreArguments[name], ...own[name] };
  return Object.fromEntries(names.filter((n) => n in given).map((n) => [n, given[n as keyof typeof given]]));
}
