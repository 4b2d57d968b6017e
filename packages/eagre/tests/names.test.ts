import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import * as tf from '../src/index.ts';

// Public names of TensorFlow 2.21 whose function is here under another name too; those are checked that a user writes instead of ours.
const names: Record<string, string> = {
  tf: `abs acos acosh add add_n argmax argmin argsort asin asinh atan atan2 atanh boolean_mask broadcast_to case cast clip_by_global_norm complex
    clip_by_norm clip_by_value concat cond constant convert_to_tensor cos cosh cumsum custom_gradient device divide einsum equal
    executing_eagerly exp expand_dims eye fill floor foldl foldr function gather gather_nd greater greater_equal identity is_tensor less
    less_equal linspace logical_and logical_not logical_or map_fn matmul maximum meshgrid minimum multiply name_scope negative newaxis norm
    not_equal one_hot ones ones_like pad pow print range rank realdiv reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean
    reduce_min reduce_prod reduce_sum repeat reshape reverse roll round scalar_mul scan scatter_nd sequence_mask shape sigmoid sign sin sinh
    size slice sort split sqrt square squeeze stack stop_gradient strided_slice subtract switch_case tan tanh tensor_scatter_nd_add
    tensor_scatter_nd_max tensor_scatter_nd_min tensor_scatter_nd_sub tensor_scatter_nd_update tensordot tile transpose truediv unique
    unique_with_counts unstack vectorized_map version where while_loop zeros zeros_like`,
  math: `accumulate_n add_n angle argmax argmin atan2 ceil conj count_nonzero cumprod cumsum digamma divide divide_no_nan erf erfc erfinv imag real exp expm1
    floor floordiv floormod in_top_k invert_permutation is_finite is_inf is_nan l2_normalize lgamma log log1p log_sigmoid log_softmax
    logical_xor maximum mod multiply multiply_no_nan negative reciprocal reduce_euclidean_norm reduce_logsumexp reduce_mean reduce_std
    reduce_sum reduce_variance rint rsqrt scalar_mul sigmoid softmax softplus softsign squared_difference subtract top_k truediv
    unsorted_segment_sum xdivy xlog1py xlogy zero_fraction`,
  linalg: `LinearOperator LinearOperatorAdjoint LinearOperatorBlockDiag LinearOperatorBlockLowerTriangular LinearOperatorCirculant
    LinearOperatorCirculant2D LinearOperatorCirculant3D LinearOperatorComposition LinearOperatorDiag LinearOperatorFullMatrix
    LinearOperatorHouseholder LinearOperatorIdentity LinearOperatorInversion LinearOperatorKronecker LinearOperatorLowRankUpdate
    LinearOperatorLowerTriangular LinearOperatorPermutation LinearOperatorScaledIdentity LinearOperatorToeplitz LinearOperatorTridiag
    LinearOperatorZeros adjoint band_part banded_triangular_solve cholesky cholesky_solve cross det diag diag_part eig eigh eigh_tridiagonal
    eigvals eigvalsh einsum expm eye global_norm inv l2_normalize logdet logm lstsq lu lu_matrix_inverse lu_reconstruct lu_solve matmul
    matrix_rank matrix_transpose matvec norm normalize pinv qr set_diag slogdet solve sqrtm svd tensor_diag tensor_diag_part tensordot trace
    triangular_solve tridiagonal_matmul tridiagonal_solve`,
  signal: `dct fft fft2d fft3d fftnd fftshift frame hamming_window hann_window idct ifft ifft2d ifft3d ifftnd ifftshift inverse_mdct
    inverse_stft inverse_stft_window_fn irfft irfft2d irfft3d irfftnd kaiser_bessel_derived_window kaiser_window
    linear_to_mel_weight_matrix mdct mfccs_from_log_mel_spectrograms overlap_and_add rfft rfft2d rfft3d rfftnd stft vorbis_window`,
  bitwise: 'bitwise_and bitwise_or bitwise_xor invert left_shift right_shift',
  nn: `batch_normalization bias_add avg_pool avg_pool1d avg_pool2d avg_pool3d conv1d conv1d_transpose conv2d conv2d_transpose conv3d conv3d_transpose
    conv_transpose convolution depthwise_conv2d dropout elu embedding_lookup gelu in_top_k l2_loss
    l2_normalize leaky_relu log_softmax max_pool max_pool1d max_pool2d max_pool3d max_pool_with_argmax moments relu relu6 selu separable_conv2d
    sigmoid_cross_entropy_with_logits silu softmax softmax_cross_entropy_with_logits softplus softsign
    sparse_softmax_cross_entropy_with_logits swish tanh top_k weighted_cross_entropy_with_logits zero_fraction`,
  applications: `ConvNeXtBase ConvNeXtLarge ConvNeXtSmall ConvNeXtTiny ConvNeXtXLarge DenseNet121 DenseNet169 DenseNet201 EfficientNetB0
    EfficientNetB1 EfficientNetB2 EfficientNetB3 EfficientNetB4 EfficientNetB5 EfficientNetB6 EfficientNetB7 EfficientNetV2B0
    EfficientNetV2B1 EfficientNetV2B2 EfficientNetV2B3 EfficientNetV2L EfficientNetV2M EfficientNetV2S InceptionResNetV2 InceptionV3
    MobileNet MobileNetV2 MobileNetV3Large MobileNetV3Small NASNetLarge NASNetMobile ResNet101 ResNet101V2 ResNet152 ResNet152V2 ResNet50
    ResNet50V2 VGG16 VGG19 Xception convnext densenet efficientnet efficientnet_v2 imagenet_utils inception_resnet_v2 inception_v3
    mobilenet mobilenet_v2 mobilenet_v3 nasnet resnet resnet50 resnet_v2 vgg16 vgg19 xception`,
};

const spaces: Record<string, object> = {
  tf,
  math: tf.math,
  linalg: tf.linalg,
  signal: tf.signal,
  bitwise: tf.bitwise,
  nn: tf.nn,
  applications: tf.keras.applications,
};
// Public names of Keras 3.15.1, those in snake_case.
const kerasNames: Record<string, string> = {
  optimizers: `Adadelta Adafactor Adagrad Adam AdamW Adamax Ftrl Lamb Lion LossScaleOptimizer MultiOptimizer Muon Nadam Optimizer OptimizerMap
    RMSprop SGD ScheduleFreeAdamW deserialize get schedules serialize`,
  'optimizers.schedules': `CosineDecay CosineDecayRestarts ExponentialDecay InverseTimeDecay LearningRateSchedule PiecewiseConstantDecay
    PolynomialDecay deserialize serialize`,
  callbacks: `BackupAndRestore CSVLogger Callback CallbackList EarlyStopping History LambdaCallback LearningRateScheduler ModelCheckpoint
    OrbaxCheckpoint ProgbarLogger ReduceLROnPlateau RemoteMonitor SwapEMAWeights TensorBoard TerminateOnNaN`,
  initializers: `Constant GlorotNormal GlorotUniform HeNormal HeUniform Identity IdentityInitializer Initializer LecunNormal LecunUniform Ones
    Orthogonal OrthogonalInitializer RandomNormal RandomUniform STFT STFTInitializer TruncatedNormal VarianceScaling Zeros constant
    deserialize get glorot_normal glorot_uniform he_normal he_uniform identity lecun_normal lecun_uniform ones orthogonal random_normal
    random_uniform serialize stft truncated_normal variance_scaling zeros`,
  constraints: `Constraint MaxNorm MinMaxNorm NonNeg UnitNorm deserialize get max_norm min_max_norm non_neg serialize unit_norm`,
  regularizers: `L1 L1L2 L2 OrthogonalRegularizer Regularizer deserialize get l1 l1_l2 l2 orthogonal_regularizer serialize`,
  utils: `Config CustomObjectScope FeatureSpace Progbar PyDataset Sequence array_to_img audio_dataset_from_directory bounding_boxes
    clear_session custom_object_scope deserialize_keras_object disable_interactive_logging enable_interactive_logging get_custom_objects
    get_file get_registered_name get_registered_object get_source_inputs image_dataset_from_directory img_to_array
    is_interactive_logging_enabled is_keras_tensor load_img model_to_dot normalize pack_x_y_sample_weight pad_sequences plot_model
    register_keras_serializable save_img serialize_keras_object set_random_seed split_dataset standardize_dtype
    text_dataset_from_directory timeseries_dataset_from_array to_categorical unpack_x_y_sample_weight`,
};
/** What Keras has and this has not. */
const missingInKeras: Record<string, readonly string[]> = {
  // Of another library.
  callbacks: ['OrbaxCheckpoint'],
  // Scopes are functions here, see customObjectScope.
  utils: ['CustomObjectScope', 'FeatureSpace', 'bounding_boxes', 'model_to_dot', 'plot_model'],
};
const camel = (name: string): string =>
  name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

it.each(Object.keys(names))("TensorFlow's names of %s", (space) => {
  const ours = spaces[space] as Record<string, unknown>;
  const missing = names[space].split(/\s+/).filter((name) => ours[camel(name)] === undefined);
  // An axis that is null.
  expect(missing).toEqual(space === 'tf' ? ['newaxis'].filter(() => tf.newaxis !== null) : []);
});

it.each(Object.keys(kerasNames))("Keras's names of %s", (space) => {
  const ours = space.split('.').reduce<object>((at, key) => (at as Record<string, object>)[key]!, tf.keras);
  const missing = kerasNames[space]
    .split(/\s+/)
    .filter((name) => (ours as Record<string, unknown>)[camel(name)] === undefined);
  // Somebody else may have added one of these.
  expect(missingInKeras[space] ?? []).toEqual(expect.arrayContaining(missing));
});

it('names of one function are one function', () => {
  expect(tf.truediv).toBe(tf.divide);
  expect(tf.math.floormod).toBe(tf.math.mod);
  expect(tf.math.reduceLogsumexp).toBe(tf.reduceLogsumexp);
  expect(tf.bitwise.invert(tf.constant([5], 'int32')).array()).toEqual([-6]);
  expect(tf.math.divideNoNan([1, 2], [0, 4]).array()).toEqual([0, 0.5]);
  expect(tf.math.zeroFraction([0, 1, 0, 2]).array()).toBe(0.5);
  const { values, counts } = tf.uniqueWithCounts(tf.constant([3, 1, 3], 'int32'));
  expect([values.array(), counts.array()]).toEqual([
    [3, 1],
    [2, 1],
  ]);
});

it('the version is that of the package', () => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  expect(tf.version.VERSION).toBe(version);
});
