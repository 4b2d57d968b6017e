import { type DType, dtypeTraits, type NumericDType, numericDTypes } from './dtype.ts';
import { isHalf } from './half.ts';

/**
 * The kernels that a backend offers beside scalar programs: name, inputs → outputs, attributes. A kernel writes into outputs
 * that the caller has allocated; shapes and dtypes are already checked, so a kernel may trust ranks, but checks what only the
 * values tell (an index, a label) and throws `InvalidArgumentError` or `OutOfRangeError` before it has written out of bounds.
 * All tensors are dense and row-major. Inputs and outputs never overlap, unless noted. A dimension may be 0; rank is at most 8.
 *
 * The attributes of a kernel reach native code as numbers, in the order of this table: a number or a boolean as one number,
 * a list as its length followed by its elements.
 */
export const kernelAttrs = {
  // ---- making values
  /** → y. Every element is `value`, cast to y's dtype. */
  Fill: ['value'],
  /** → y. y[i] = start + i · delta, computed in float64, then cast. */
  Iota: ['start', 'delta'],
  /**
   * → y. Philox4x32-10, key (k0, k1), counter words (block low, block high, counter0, counter1). float32 uses each of a
   * block's four words: u = (w >>> 8) · 2^-24; float64 takes two: u = ((w0 >>> 5) · 2^26 + (w1 >>> 6)) · 2^-53.
   * With an input (uint64 [2]: a counter and a key, as NextDraw makes them), these are added to the words of the attributes, each of 64 bits.
   * y = low + u · (high − low) in y's dtype (each operation rounded); a result equal to `high` becomes `low`.
   */
  RandomUniform: ['k0', 'k1', 'counter0', 'counter1', 'low', 'high'],
  /**
   * → y. Box-Muller in float64 from two uniforms a, b: r = sqrt(-2 ln a), mean + stddev · r · (cos, sin)(2πb), rounded to y's
   * dtype at the end. float32: a = (w0 + 1) · 2^-32, b = w1 · 2^-32, four results a block; float64: a and b from two words
   * each as in RandomUniform (a is 1 − u), two results a block. ln, cos, sin are the library's own, built of exact IEEE
   * operations, so that all backends agree to the last bit.
   */
  RandomNormal: ['k0', 'k1', 'counter0', 'counter1', 'mean', 'stddev'],
  /** → y. A normal cut at two standard deviations, by Wichura's inverse (AS 241, PPND16) of a uniform between Φ(-2) and Φ(2). */
  TruncatedNormal: ['k0', 'k1', 'counter0', 'counter1', 'mean', 'stddev'],
  /** → y (int32, int64, uint8). low + (w0 · 2^32 + w1) mod (high − low), two words a number. */
  RandomUniformInt: ['k0', 'k1', 'counter0', 'counter1', 'low', 'high'],
  /**
   * state → draw, state (all uint64 [2]: a counter and a key). draw is what state was; the counter in state, which is written where it
   * lies, is one more. Atomic: no two threads get the same counter.
   */
  NextDraw: [],
  /**
   * source (uint64 [3]: a key, and a counter of 128 bits, its low half first), parameters → y: what TensorFlow's stateless ops make of
   * Philox4x32-10 (philox-stream.ts). `kind` is a place in `philoxKinds`, which says what y and the parameters are. Logarithms, sines and powers of float64
   * are rounded to float32, so backends differ in the last bit of one number in 2^26 or fewer.
   */
  PhiloxNumbers: ['kind'],

  /**
   * x0, x1, … → y, floating, all of one size: a function of them, element by element, computed in float64. `function` is a place in
   * `specialFunctions` (special-numbers.ts).
   */
  SpecialFunction: ['function'],

  /**
   * bytes (uint8), starts (int32 [n + 1]) → y (int64 [n]): hashes of the bytes between neighbouring starts, modulo `count`; whole where that is 0. `hash` is a
   * place in `textHashes` (hashes.ts); the key of SipHash is four words, the lower ones first.
   */
  HashTexts: ['hash', 'count', 'key0', 'key1', 'key2', 'key3'],

  // ---- moving values (every dtype)
  /** x → y of the same size. */
  Copy: [],
  /** x → y of as many bytes, which are those of x. */
  Bitcast: [],
  /** x → y with y's axis i being x's axis perm[i]. */
  Transpose: ['perm'],
  /** x → y, the listed axes turned around. */
  Reverse: ['axes'],
  /** x → y. mode 0: constant `value`; 1: reflect (edge not repeated); 2: symmetric (edge repeated). */
  Pad: ['before', 'after', 'mode', 'value'],
  /** dy → dx: the gradient of a reflect or symmetric Pad (modes 1, 2); sums what was copied from one place. */
  MirrorPadGrad: ['before', 'after', 'mode'],
  /** x → y. y[i] = x[begin + i · strides]; strides may be negative, never 0. y's shape says how many. */
  Slice: ['begin', 'strides'],
  /** dy → dx: zeros, but dx[begin + i · strides] = dy[i]. */
  SliceGrad: ['begin', 'strides'],
  /** x0, x1, … → y, joined along `axis`. */
  Concat: ['axis'],
  /** x → y, where each dimension of y is a multiple of x's; x repeated. */
  Tile: [],
  /**
   * params, indices (int32 or int64) → y. y[b…, p…, i…, q…] = params[b…, p…, indices[b…, i…], q…]: `batchDims` leading shared
   * axes, gathered axis `axis` of params. An index outside of [0, n) throws OutOfRangeError.
   */
  Gather: ['axis', 'batchDims'],
  /** dy, indices → dparams: zeros, plus every slice of dy added where Gather took it. Result independent of threads. */
  GatherGrad: ['axis', 'batchDims'],
  /**
   * x [n, rest…], ids (int32 or int64, [n]) → y [count, rest…]: the rows of each number as one; `reduction` 0 their sum, 1 their mean (of
   * integers toward 0), 2 their product, 3 the largest, 4 the smallest elements, where NaN wins. A number without a row has 0, and 1 as a product.
   * Ids that begin below 0 or fall throw InvalidArgumentError, one of `count` or more OutOfRangeError. Result independent of threads.
   */
  SegmentReduce: ['reduction'],
  /** params, indices [i…, d] → y [i…, rest…]: the slice at each index tuple. */
  GatherNd: [],
  /** base, indices [i…, d], updates → y: a copy of base with slices put in. mode 0 update (last wins), 1 add, 2 sub, 3 max, 4 min. */
  ScatterNd: ['mode'],
  /**
   * x [n, rest…], index (int32 or int64, []), row [rest…] → y: x with its row `index` replaced (mode 0) or `row` added to it (mode 1). y
   * may lie where x does. An index outside of [0, n) throws OutOfRangeError.
   */
  SetRow: ['mode'],
  /** indices → y with one more axis at `axis`, of y's size there: `on` at the index, else `off`; outside of the range all `off`. */
  OneHot: ['axis', 'on', 'off'],
  /** x → y (int64 [n, rank]): coordinates of the elements that are not 0, in row-major order; n was counted before. */
  Nonzero: [],

  // ---- order and scans, along the last axis or `axis`
  /** x [..., n] → values [..., k], indices (int32): the first k of the sorted order. Stable; NaN counts as the largest. */
  TopK: ['descending'],
  /** x → y (same dtype; float, int). Running sum or product along `axis`. */
  CumSum: ['axis', 'exclusive', 'reverse'],
  CumProd: ['axis', 'exclusive', 'reverse'],

  // ---- reductions over `axes` (sorted, not negative); y has the remaining size, kept axes as 1 or gone; the result never
  // depends on the number of threads. Empty axes in x: Sum 0, Prod 1, Max -inf or lowest, Min inf or highest, Mean NaN, All true, Any false.
  Sum: ['axes'],
  Mean: ['axes'],
  Prod: ['axes'],
  Max: ['axes'],
  Min: ['axes'],
  /** bool → bool */
  All: ['axes'],
  Any: ['axes'],
  /**
   * inputs of `program` → one output for each of the program's, which is mapped over inputs that broadcast to `shape`; `program` is a
   * scalar program as `encodeScalarProgram` writes it. For output i, `reductions[i]` is a place in `mapReductions`: 0 for an output
   * of all elements; else each run of `width` elements, in row-major order, is reduced to one, with the bits that the kernel of that
   * name would make of the elements. `width` is at least 1 and divides the size.
   */
  MapReduce: ['program', 'shape', 'width', 'reductions'],
  /** x → mean, variance (biased, stable two-pass sums) over `axes`, which follow each other; floating. Sizes may be kept as 1. */
  Moments: ['axes'],
  /** x → y (int32 or int64): the first index of the extreme along `axis`; NaN wins. */
  ArgMax: ['axis'],
  ArgMin: ['axis'],

  // ---- images
  /**
   * x [n, h, w, c] → y [n, height, width, c], floating: each pixel is the mix of the four around it, first of rows, then of columns; at the edges
   * of fewer. Pixel i of an axis lies at (i + 0.5) · from / to − 0.5, in the dtype of x.
   */
  ResizeBilinear: [],
  /**
   * x [n, from, c], spans (int32) [to, 2], weights [to, k] → y [n, to, c], floating: y[:, i] is the sum of weights[i, j - spans[i, 0]] · x[:, j] for
   * j from spans[i, 0] on, before spans[i, 1]; nothing else of x is looked at. `transposed` is the transposed map, x [n, to, c] → y [n, from, c].
   * A span that is not in order, in [0, from] and at most k long throws OutOfRangeError.
   */
  ResizeAxis: ['transposed'],

  // ---- linear algebra
  /**
   * a [..., m, k], b [..., k, n] (or transposed in the last two), optional bias [n] → y [..., m, n]; batch dimensions broadcast.
   * activation 0 none, 1 relu, applied after the bias. float32, float64, int32, int64.
   */
  MatMul: ['transposeA', 'transposeB', 'activation'],
  // The following take float32 and float64, and compute in float64. With `complex` they take complex numbers: all tensors of floats then have one more
  // axis, last, of a real and an imaginary part. A matrix with an element that is not finite has NaN in its results where nothing else is said.
  /**
   * x [..., m, n] → s [..., k] and, if there are more outputs, u [..., m, p] and v [..., n, q] with x = u · diag(s) · vᴴ; k = min(m, n), p is k
   * or m, q is k or n. Singular values in falling order, computed in float64; columns of u and v orthonormal. Where an element of a matrix
   * is not finite, all its results are NaN.
   */
  Svd: ['complex'],
  /** x [..., n, n] → y: lower triangular with y · yᴴ = x; only the lower triangle of x is read. NaN where x is not positive definite. */
  Cholesky: ['complex'],
  /**
   * x [..., m, n] → lu (a unit lower and an upper triangle in one), p (int32 [..., m]): row p[i] of x is row i of the product of the triangles. Partial
   * pivoting by size, the first of equal ones. With `check` a pivot of 0 throws InvalidArgumentError.
   */
  LU: ['complex', 'check'],
  /**
   * a [..., n, n], b [..., n, k] → x with a · x = b, or aᴴ · x = b if `adjoint`; a is the lower triangle or the upper one of what is given, with ones on the
   * diagonal if `unit`. A 0 on the diagonal divides.
   */
  TriangularSolve: ['complex', 'lower', 'adjoint', 'unit'],
  /**
   * x [..., m, n] → q [..., m, p], r [..., p, n] with q · r = x, r upper triangular; p is min(m, n) or m. By Householder's reflections, of LAPACK's signs.
   */
  QR: ['complex'],
  /**
   * x [..., n, n] → e [..., n] in rising order and, if there is a second output, v [..., n, n] with x · v = v · diag(e), columns orthonormal. Only the lower
   * triangle of x is read, which stands for its adjoint above. e is complex as x is, with imaginary parts of 0.
   */
  SelfAdjointEig: ['complex'],
  /**
   * x [..., n, n], or [..., n, n, 2] of complex numbers → e [..., n, 2] and, if there is a second output, v [..., n, n, 2] with x · v = v · diag(e): columns
   * of length 1. Real matrices have real values, whose vectors are real, and pairs of conjugates behind each other, the one with a positive imaginary part
   * first, with conjugate vectors; otherwise values are in no order. One that is not square throws InvalidArgumentError.
   */
  Eig: [],
  /**
   * x [..., n, n] → y: `function` 0 the principal square root, 1 the principal logarithm. NaN throughout where there is none, or, of a real matrix, none
   * that is real. One that is not square throws InvalidArgumentError.
   */
  MatrixFunction: ['complex', 'function'],
  /**
   * diagonals [..., 3, n] (that above the main one, whose last element does not count, the main one, that below, whose first does not), b [..., n, k]
   * → x: the solutions of these systems, with partial pivoting if `pivoting`; NaN throughout where one is not finite.
   */
  TridiagonalSolve: ['complex', 'pivoting'],

  // ---- Fourier transforms (float32, float64); complex numbers are pairs in one more axis
  /**
   * x [..., n, 2] → y [..., n, 2]: y[k] = Σ x[j] e^(−2πi jk/n), or, if `inverse`, 1/n Σ x[j] e^(2πi jk/n), along `axes` one after the
   * other, which are counted from the end and negative: −1 is that of n.
   */
  FFT: ['inverse', 'axes'],
  /** x [..., n] along the last axis → y [..., floor(n/2) + 1, 2]: the first half of the transform of real numbers. */
  RFFT: [],
  /** x [..., floor(n/2) + 1, 2] → y [..., n]: the inverse of RFFT; imaginary parts of what stands for itself do not count. */
  IRFFT: [],

  // ---- images, NHWC; floating. padding = [top, bottom, left, right] in pixels, not negative.
  /** x [n,h,w,c], filter [kh,kw,c/groups,o], optional bias [o] → y [n,oh,ow,o]; a depthwise convolution has groups = c. */
  Conv2D: ['strides', 'padding', 'dilations', 'groups', 'activation'],
  /** filter, dy → dx (its shape is the output's) */
  Conv2DBackpropInput: ['strides', 'padding', 'dilations', 'groups'],
  /** x, dy → dfilter */
  Conv2DBackpropFilter: ['strides', 'padding', 'dilations', 'groups'],
  /** x → y, argmax (int32: index within one image's h·w·c, -1 where a window lies wholly in the padding; padding never wins; the first maximum wins, NaN wins) */
  MaxPool: ['window', 'strides', 'padding'],
  /** dy, argmax → dx: dy added at the argmax of its window */
  MaxPoolGrad: [],
  /** x, argmax → y: x taken at the argmax (the gradient of MaxPoolGrad) */
  MaxPoolGather: [],
  /** x → y; the mean of the pixels inside of the image, padding not counted */
  AvgPool: ['window', 'strides', 'padding'],
  /** dy → dx */
  AvgPoolGrad: ['window', 'strides', 'padding'],

  // ---- neural (floating), over the last axis
  Softmax: [],
  LogSoftmax: [],
  /** logits [n,c], labels [n,c] → loss [n], backprop [n,c] = softmax · Σlabels − labels */
  SoftmaxCrossEntropyWithLogits: [],
  /** logits [n,c], labels [n] (int32, int64) → loss [n], backprop [n,c]; a label outside of [0, c) throws OutOfRangeError */
  SparseSoftmaxCrossEntropyWithLogits: [],
  /**
   * x [..., c], scale [c], offset [c] → y, mean [c], variance [c] (biased, over all other axes; stable two-pass or Welford sums)
   */
  FusedBatchNorm: ['epsilon'],
  /** dy, x, scale, mean, variance → dx, dscale, doffset: the gradient of FusedBatchNorm in training */
  FusedBatchNormGrad: ['epsilon'],
  /**
   * x [..., n], gamma [n] if scaled, beta [n] if shifted → y, mean [...], rstd [...]: over the last axis
   * y = (x − mean) · rstd · gamma + beta with rstd = 1/√(variance + epsilon), the variance biased and stable.
   */
  LayerNorm: ['epsilon', 'scaled', 'shifted'],
  /** dy, x, mean, rstd, gamma if it was given → dx, dgamma [n], dbeta [n] (both sums over rows, always made) */
  LayerNormGrad: [],
  /** x [..., n], gamma [n] if scaled → y, rstd [...]: y = x · rstd · gamma with rstd = 1/√(mean(x²) + epsilon) */
  RMSNorm: ['epsilon', 'scaled'],
  /** dy, x, rstd, gamma if it was given → dx, dgamma [n] */
  RMSNormGrad: [],
  /**
   * query [b, h, tq, d], key [b, h, tk, d], value [b, h, tk, dv], optional mask of rank 4 that broadcasts to [b, h, tq, tk] → y
   * [b, h, tq, dv], lse [b, h, tq]. All but mask and lse are [b, t, h, d] if timeFirst. With s = scale · query · keyᵀ + mask
   * (a bool mask takes out what is false, causal what has key > query), y = softmax(s) · value and lse = log Σ exp(s). Where all
   * is taken out, y is 0 and lse −∞. Where query has 16 bits, lse is float32.
   */
  ScaledDotProductAttention: ['timeFirst', 'scale', 'causal'],
  /** dy, query, key, value, y, lse, optional mask → dquery, dkey, dvalue; lse counts as having no gradient of its own */
  ScaledDotProductAttentionGrad: ['timeFirst', 'scale', 'causal'],

  // ---- recurrent networks (floating), whole sequences. x [batch, time, features], states [batch, units]. `reserve` and `dgates`
  // are laid out [batch, time, parts · units].
  /**
   * x, h0, c0, kernel [features, 4·units], recurrentKernel [units, 4·units], bias [4·units] → h [batch, time, units], last h,
   * last c and, if there is a fourth output, reserve. Gates in the order i, f, g, o: (i, f, o) = σ, g = tanh of x·kernel + h·recurrentKernel + bias;
   * c = f·c + i·g, h = o·tanh(c). Parts of reserve: i, f, g, o, c, tanh(c).
   */
  LSTM: [],
  /**
   * x, h0, c0, kernel, recurrentKernel, h, reserve, dh [batch, time, units], gradients of last h and last c → dgates, dh0, dc0,
   * dkernel, drecurrentKernel, dbias and, if there is a seventh output, dx. Parts of dgates: those of i, f, g, o before their
   * activation. With nine inputs there is no dh, which counts as zeros.
   */
  LSTMGrad: [],
  /**
   * x, h0, kernel [features, 3·units], recurrentKernel [units, 3·units], bias [2, 3·units] → h, last h, reserve. With
   * a = x·kernel + bias[0], s = h·recurrentKernel + bias[1], gates in the order z, r, g: (z, r) = σ(a + s), g = tanh(a + r·s),
   * h = z·h + (1 − z)·g. Parts of reserve: z, r, g, and g's part of s.
   */
  GRU: [],
  /**
   * x, h0, kernel, recurrentKernel, h, reserve, dh, gradient of last h → dgates, dh0, dkernel, drecurrentKernel, dbias and, if
   * there is a sixth output, dx. Parts of dgates: those of z, r, g before their activation, and of g's part of s. With seven inputs
   * there is no dh, which counts as zeros.
   */
  GRUGrad: [],

  // ---- optimizer updates of `count` variables at once. In place: the outputs are the variables and slots among the inputs,
  // in the same order. Inputs come variable by variable; behind them float64 scalars, which may be others at each step.
  /** (var, grad)…, lr → var…: var -= lr · grad */
  ApplyGradientDescent: ['count'],
  /** (var, m, grad)…, lr → (var, m)…: m = momentum · m − lr · grad; var += nesterov ? momentum · m − lr · grad : m */
  ApplyMomentum: ['count', 'momentum', 'nesterov'],
  /**
   * (var, rms, [mg if centered], [mom if momentum > 0], grad)…, lr: rms = rho · rms + (1 − rho) · grad²; mg likewise of grad;
   * step = lr · grad / sqrt(rms [− mg²] + epsilon); momentum > 0: mom = momentum · mom + step, var -= mom, else var -= step
   */
  ApplyRMSProp: ['count', 'rho', 'momentum', 'epsilon', 'centered'],
  /**
   * (var, m, v, [vhat if amsgrad], grad)…, alpha, lr: var -= var · weightDecay · lr first (AdamW; 0 for none); m += (grad − m)(1 − beta1);
   * v += (grad² − v)(1 − beta2); amsgrad: vhat = max(vhat, v), used for v; var -= alpha · m / (sqrt(v) + epsilon).
   * `alpha` is lr with the bias corrections in it.
   */
  ApplyAdam: ['count', 'beta1', 'beta2', 'epsilon', 'weightDecay', 'amsgrad'],
} as const;

/** What MapReduce can make of a run of elements, by number (native/cpu/map_reduce.cc has the same). Mean is for floats. */
export const mapReductions = [null, 'Sum', 'Mean', 'Prod', 'Max', 'Min', 'All', 'Any'] as const;

/**
 * The distributions of PhiloxNumbers (native/cpu/philox.cc has the same list). Those without parameters: `uniform` (float32, float64), `normal` and
 * `truncatedNormal` (float32), `bits` (int32, uint32, int64, uint64). With parameters: `integers` (the same dtypes; int64 [2], the bits of two bounds, the
 * first below the second), `gamma` (float32; float64 [n] of alphas), `poisson` (float32, float64, int32, int64; float64 [n] of rates), `binomial` (the
 * same; float64 [2, n], counts of attempts and their probabilities). Sample s of parameter i is y[s · n + i].
 */
export const philoxKinds = [
  'uniform',
  'normal',
  'truncatedNormal',
  'bits',
  'integers',
  'gamma',
  'poisson',
  'binomial',
] as const;

/** The functions of SpecialFunction (native/cpu/special_numbers.cc has the same list). */
export const specialFunctions = ['igamma', 'igammac', 'igammaGradA', 'betainc', 'zeta', 'polygamma'] as const;

/** The name of a kernel. */
export type KernelName = keyof typeof kernelAttrs;

/** The kernels that take complex numbers by themselves: as pairs of floats, in one more axis. */
export const complexKernels: ReadonlySet<KernelName> = new Set<KernelName>([
  'Svd',
  'Cholesky',
  'LU',
  'TriangularSolve',
  'QR',
  'SelfAdjointEig',
  'Eig',
  'MatrixFunction',
  'TridiagonalSolve',
  'FFT',
  'RFFT',
  'IRFFT',
]);

/** How many outputs these kernels have with the last one, which is left out where nobody wants it: only a gradient does. */
export const outputsWithReserve: { readonly [name in KernelName]?: number } = { LSTM: 4 };

/** What an attribute of a kernel may be. */
export type AttrValue = number | boolean | readonly number[];
/** The attributes of a kernel, by the names in `kernelAttrs`. */
export type KernelAttrs = Readonly<Record<string, AttrValue>>;

const floats: readonly NumericDType[] = ['float32', 'float64'];
const wide: readonly NumericDType[] = numericDTypes.filter((dtype) => !isHalf(dtype));
const numbers: readonly NumericDType[] = wide.filter((dtype) => dtype !== 'bool');

/**
 * The dtypes of the first input that a kernel computes with. Those that are not listed move elements, whatever these are. Of floats
 * of 16 bits, only SetRow computes on all backends: where a backend has no kernel for them, who calls it casts them to float32 before, and
 * the results back (`widens`).
 */
const dtypesOf: { readonly [name in KernelName]?: readonly NumericDType[] } = {
  RandomUniform: ['uint64'],
  RandomNormal: ['uint64'],
  TruncatedNormal: ['uint64'],
  RandomUniformInt: ['uint64'],
  NextDraw: ['uint64'],
  PhiloxNumbers: ['uint64'],
  SpecialFunction: floats,
  HashTexts: ['uint8'],
  Iota: wide,
  MirrorPadGrad: numbers,
  ScatterNd: wide,
  Nonzero: wide,
  TopK: wide,
  GatherGrad: numbers,
  SegmentReduce: numbers,
  CumSum: numbers,
  CumProd: numbers,
  Sum: numbers,
  Mean: numbers,
  Prod: numbers,
  Max: numbers,
  Min: numbers,
  All: ['bool'],
  Any: ['bool'],
  ArgMax: [...numbers, 'bool'],
  ArgMin: [...numbers, 'bool'],
  MatMul: [...floats, 'int32', 'int64'],
  Svd: floats,
  Cholesky: floats,
  LU: floats,
  TriangularSolve: floats,
  QR: floats,
  SelfAdjointEig: floats,
  Eig: floats,
  MatrixFunction: floats,
  TridiagonalSolve: floats,
  FFT: floats,
  RFFT: floats,
  IRFFT: floats,
  Conv2D: floats,
  Conv2DBackpropInput: floats,
  Conv2DBackpropFilter: floats,
  MaxPool: floats,
  MaxPoolGrad: floats,
  MaxPoolGather: floats,
  AvgPool: floats,
  AvgPoolGrad: floats,
  Softmax: floats,
  LogSoftmax: floats,
  SoftmaxCrossEntropyWithLogits: floats,
  SparseSoftmaxCrossEntropyWithLogits: floats,
  Moments: floats,
  ResizeBilinear: floats,
  ResizeAxis: floats,
  FusedBatchNorm: floats,
  FusedBatchNormGrad: floats,
  LayerNorm: floats,
  LayerNormGrad: floats,
  RMSNorm: floats,
  RMSNormGrad: floats,
  ScaledDotProductAttention: floats,
  ScaledDotProductAttentionGrad: floats,
  LSTM: floats,
  LSTMGrad: floats,
  GRU: floats,
  GRUGrad: floats,
  ApplyGradientDescent: floats,
  ApplyMomentum: floats,
  ApplyRMSProp: floats,
  ApplyAdam: floats,
};

const setOf = (dtypes: readonly NumericDType[]): number =>
  dtypes.reduce((set, dtype) => set | (1 << dtypeTraits[dtype].code), 0);
const ALL = setOf(numericDTypes);

/**
 * The dtypes of the first input that a kernel takes, as a set of bits by their codes; every backend has kernels for all of them. Those of
 * one backend may take `more`.
 */
export function dtypesTaken(name: KernelName, more: readonly NumericDType[] = []): number {
  const dtypes = dtypesOf[name];
  return dtypes === undefined ? ALL : setOf([...dtypes, ...more]);
}

/** Whether a kernel need take floats of 16 bits as float32 only; `dtypes` are those of its inputs, or of what it makes of none. */
export function widens(name: KernelName, dtypes: readonly NumericDType[]): boolean {
  return dtypes.some((dtype) => isHalf(dtype) && ((dtypesTaken(name) >> dtypeTraits[dtype].code) & 1) === 0);
}

/** Whether a set of dtypes has that of the first input; a kernel without inputs looks at its output itself. */
export function takes(set: number, inputs: readonly NumericDType[]): boolean {
  return inputs.length === 0 || ((set >> dtypeTraits[inputs[0]].code) & 1) === 1;
}

// The dtypes of outputs that are not all of the first input's: null stands for that one, `any` for what kernels look at themselves.
const outputDTypes: { readonly [name in KernelName]?: readonly (DType | 'any' | null)[] } = {
  Fill: ['any'],
  Iota: ['any'],
  RandomUniform: ['any'],
  RandomNormal: ['any'],
  TruncatedNormal: ['any'],
  RandomUniformInt: ['any'],
  PhiloxNumbers: ['any'],
  HashTexts: ['int64'],
  OneHot: ['any'],
  ArgMax: ['any'],
  ArgMin: ['any'],
  Nonzero: ['int64'],
  TopK: [null, 'int32'],
  LU: [null, 'int32'],
  MaxPool: [null, 'int32'],
};
// The places of inputs that are indices, labels or masks.
const othersIn: { readonly [name in KernelName]?: number } = {
  Gather: 1,
  GatherGrad: 1,
  SegmentReduce: 1,
  GatherNd: 1,
  PhiloxNumbers: 1,
  HashTexts: 1,
  ScatterNd: 1,
  SetRow: 1,
  MaxPoolGrad: 1,
  MaxPoolGather: 1,
  ResizeAxis: 1,
  SparseSoftmaxCrossEntropyWithLogits: 1,
  ScaledDotProductAttention: 3,
  ScaledDotProductAttentionGrad: 6,
};
// How many inputs at the end are numbers of an optimizer.
const numbersIn: { readonly [name in KernelName]?: number } = {
  ApplyGradientDescent: 1,
  ApplyMomentum: 1,
  ApplyRMSProp: 1,
  ApplyAdam: 2,
};

interface OfDType {
  readonly dtype: DType;
  readonly size: number;
}
const bytesOf = ({ dtype, size }: OfDType): number => size * dtypeTraits[dtype].bytes;

/**
 * Tells whether the tensors of a call have the dtypes that a kernel takes for granted: nearly all have that of the first input. Kernels look at
 * indices, labels and masks themselves.
 */
export function dtypesFit(
  name: KernelName,
  taken: number = dtypesTaken(name),
): (inputs: readonly OfDType[], outputs: readonly OfDType[]) => boolean {
  const place = othersIn[name] ?? -1;
  const numbers = numbersIn[name] ?? 0;
  const own = outputDTypes[name] ?? [];
  if (name === 'Bitcast') return ([x], [y]) => bytesOf(x) === bytesOf(y);
  if (name === 'MapReduce') return () => true;
  return (inputs, outputs) => {
    if (inputs.length === 0) return true;
    const { dtype } = inputs[0];
    if (((taken >> dtypeTraits[dtype].code) & 1) === 0) return false;
    const count = inputs.length - numbers;
    for (let i = 1; i < count; i++) if (inputs[i].dtype !== dtype && i !== place) return false;
    for (let i = count; i < inputs.length; i++) if (inputs[i].dtype !== 'float64') return false;
    for (let i = 0; i < outputs.length; i++) {
      const wanted = own[i] ?? dtype;
      if (outputs[i].dtype !== wanted && wanted !== 'any') return false;
    }
    return true;
  };
}

/** The largest rank that kernels take. */
export const MAX_RANK = 8;
