// Signatures of TensorFlow's ops, of TensorFlow 2.21.0: written by tools/print-tensorflow-ops.py.

/**
 * A line for each op: name|inputs|outputs|attributes, and |s for one with effects. A star marks a list, an exclamation mark an attribute
 * without a default; the number behind > is the least that it may be, of a list the least length; those behind = are the dtypes that it may have.
 */
export const OP_DEFS: string = `
Abs|x|y|T!=14,19,1,2,6,5,3,9
Acos|x|y|T!=14,19,1,2,8,18
Acosh|x|y|T!=14,19,1,2,8,18
Add|x y|z|T!=14,19,1,2,4,6,5,3,9,8,18,7
AddN|inputs*|sum|N!>1 T!=1,2,3,4,5,6,8,9,11,12,13,14,15,16,17,18,19,22,23,21
AddV2|x y|z|T!=14,19,1,2,4,17,22,23,6,5,3,9,8,18
All|input reduction_indices|output|keep_dims Tidx=3,9
AllCandidateSampler|true_classes|sampled_candidates true_expected_count sampled_expected_count|num_true!>1 num_sampled!>1 unique! seed seed2|s
Angle|input|output|T=8,18 Tout=1,2
Any|input reduction_indices|output|keep_dims Tidx=3,9
ApplyAdam|var m v beta1_power beta2_power lr beta1 beta2 epsilon grad|out|T!=1,2,3,4,5,6,8,9,11,12,13,14,15,16,17,18,19,22,23 use_locking use_nesterov
ApplyGradientDescent|var alpha delta|out|T!=1,2,3,4,5,6,8,9,11,12,13,14,15,16,17,18,19,22,23 use_locking
ApplyMomentum|var accum lr grad momentum|out|T!=1,2,3,4,5,6,8,9,11,12,13,14,15,16,17,18,19,22,23 use_locking use_nesterov
ApplyRMSProp|var ms mom lr rho momentum epsilon grad|out|T!=1,2,3,4,5,6,8,9,11,12,13,14,15,16,17,18,19,22,23 use_locking
ApproxTopK|input|values indices|k! reduction_dimension recall_target is_max_k reduction_input_size_override aggregate_to_topk T!=19,14,1
ArgMax|input dimension|output|T!=1,2,3,4,5,6,9,14,17,19,22,23,11,12,13,15,16,10 Tidx=5,3,9 output_type=5,17,3,9
ArgMin|input dimension|output|T!=1,2,3,4,5,6,9,14,17,19,22,23,11,12,13,15,16,10 Tidx=3,9 output_type=3,9
AsString|input|output|T!=1,2,3,4,5,6,9,14,17,19,22,23,8,18,10,21,7 precision scientific shortest width fill
Asin|x|y|T!=14,19,1,2,8,18
Asinh|x|y|T!=14,19,1,2,8,18
Assert|condition data*||T!>1 summarize|s
Assign|ref value|output_ref|T! validate_shape use_locking
AssignVariableOp|resource value||dtype! validate_shape|s
Atan|x|y|T!=14,19,1,2,8,18
Atan2|y x|z|T!=14,19,1,2
Atanh|x|y|T!=14,19,1,2,8,18
AvgPool|value|output|ksize!>4 strides!>4 padding! data_format T!=19,14,1,2
AvgPool3D|input|output|ksize!>5 strides!>5 padding! data_format T!=19,14,1,2
AvgPoolGrad|orig_input_shape grad|output|ksize!>4 strides!>4 padding! data_format T!=19,14,1,2
Batch|in_tensors*|batched_tensors* batch_index id|num_batch_threads! max_batch_size! max_enqueued_batches batch_timeout_micros! allowed_batch_sizes grad_timeout_micros! container shared_name batching_queue T!>1
BatchMatMulV2|x y|output|T!=14,19,1,2,5,3,9,4,17,22,23,8,18 adj_x adj_y grad_x grad_y
BatchToSpaceND|input block_shape crops|output|T! Tblock_shape=3,9 Tcrops=3,9
BesselI0|x|y|T!=14,19,1,2
BesselI0e|x|y|T!=14,19,1,2
BesselI1|x|y|T!=14,19,1,2
BesselI1e|x|y|T!=14,19,1,2
BesselJ0|x|y|T!=14,19,1,2
BesselJ1|x|y|T!=14,19,1,2
BesselK0|x|y|T!=14,19,1,2
BesselK0e|x|y|T!=14,19,1,2
BesselK1|x|y|T!=14,19,1,2
BesselK1e|x|y|T!=14,19,1,2
BesselY0|x|y|T!=14,19,1,2
BesselY1|x|y|T!=14,19,1,2
Betainc|a b x|z|T!=1,2
BiasAdd|value bias|output|T!=1,2,3,4,5,6,8,9,11,12,13,14,15,16,17,18,19,22,23 data_format
Bincount|arr size weights|bins|T!=3,9,1,2
Bitcast|input|output|T!=14,19,1,2,9,3,4,17,22,23,6,5,8,18,11,12,15,16,13 type!=14,19,1,2,9,3,4,17,22,23,6,5,8,18,11,12,15,16,13
BitwiseAnd|x y|z|T!=6,5,3,9,4,17,22,23
BitwiseOr|x y|z|T!=6,5,3,9,4,17,22,23
BitwiseXor|x y|z|T!=6,5,3,9,4,17,22,23
BroadcastTo|input shape|output|T! Tidx=3,9
CTCBeamSearchDecoder|inputs sequence_length|decoded_indices* decoded_values* decoded_shape* log_probability|beam_width!>1 top_paths!>1 merge_repeated T=1,2
CTCGreedyDecoder|inputs sequence_length|decoded_indices decoded_values decoded_shape log_probability|merge_repeated blank_index T=1,2
CTCLoss|inputs labels_indices labels_values sequence_length|loss gradient|preprocess_collapse_repeated ctc_merge_repeated ignore_longer_outputs_than_inputs T=1,2
Case|branch_index input*|output*|Tin! Tout! branches!>1 output_shapes|s
Cast|x|y|SrcT! DstT! Truncate
Ceil|x|y|T!=14,19,1,2
Cholesky|input|output|T!=2,1,19,8,18
ClipByValue|t clip_value_min clip_value_max|output|T!=1,2,3,4,5,6,8,9,11,12,13,14,15,16,17,18,19,22,23
Complex|real imag|out|T=1,2 Tout=8,18
ComplexAbs|x|y|T=8,18 Tout=1,2
ComputeAccidentalHits|true_classes sampled_candidates|indices ids weights|num_true! seed seed2
Concat|concat_dim values*|output|N!>2 T!
ConcatV2|values* axis|output|N!>2 T! Tidx=3,9
Conj|input|output|T=8,18,21
Const||output|value! dtype!
Conv2D|input filter|output|T!=19,14,1,2,3 strides! use_cudnn_on_gpu padding! explicit_paddings data_format dilations
Conv2DBackpropFilter|input filter_sizes out_backprop|output|T!=19,14,1,2 strides! use_cudnn_on_gpu padding! explicit_paddings data_format dilations
Conv2DBackpropInput|input_sizes filter out_backprop|output|T!=19,14,1,2,3 strides! use_cudnn_on_gpu padding! explicit_paddings data_format dilations
Conv3D|input filter|output|T!=19,14,1,2 strides!>5 padding! data_format dilations
Conv3DBackpropInputV2|input_sizes filter out_backprop|output|T!=19,14,1,2 strides!>5 padding! data_format dilations Tshape=3,9
Copy|input|output|T! tensor_name debug_ops_spec
Cos|x|y|T!=14,19,1,2,8,18
Cosh|x|y|T!=14,19,1,2,8,18
Cross|a b|product|T!=1,2,3,4,5,6,9,14,17,19,22,23
Cumprod|x axis|out|exclusive reverse T!=1,2,3,4,5,6,8,9,11,12,13,14,15,16,17,18,19,22,23 Tidx=3,9
Cumsum|x axis|out|exclusive reverse T!=1,2,3,4,5,6,8,9,11,12,13,14,15,16,17,18,19,22,23 Tidx=3,9
CumulativeLogsumexp|x axis|out|exclusive reverse T!=14,19,1,2 Tidx=3,9
Dawsn|x|y|T!=14,19,1,2
DepthToSpace|input|output|T! block_size!>2 data_format
DepthwiseConv2dNative|input filter|output|T!=19,14,1,2 strides! padding! explicit_paddings data_format dilations
Diag|diagonal|output|T!=14,19,1,2,3,9,8,18
DiagPart|input|diagonal|T!=14,19,1,2,3,9,8,18
Digamma|x|y|T!=14,19,1,2
DivNoNan|x y|z|T!=19,1,14,2,8,18
DynamicPartition|data partitions|outputs*|num_partitions!>1 T!
DynamicStitch|indices* data*|merged|N!>1 T!
Eig|input|e v|compute_v T!=1,2,8,18 Tout!=8,18
Einsum|inputs*|output|equation! N!>1 T!
Elu|features|activations|T!=19,14,1,2
EluGrad|gradients outputs|backprops|T!=19,14,1,2
EmptyTensorList|element_shape max_num_elements|handle|element_dtype! shape_type!=3,9
EnsureShape|input|output|shape! T!
Equal|x y|z|T! incompatible_shape_error
Erf|x|y|T!=14,19,1,2
Erfc|x|y|T!=14,19,1,2
Erfinv|x|y|T!=14,19,1,2
EuclideanNorm|input reduction_indices|output|keep_dims T!=1,2,3,4,5,6,8,9,11,12,13,14,15,16,17,18,19,22,23 Tidx=3,9
Exp|x|y|T!=14,19,1,2,8,18
ExpandDims|input dim|output|T! Tdim=3,9
Expint|x|y|T!=14,19,1,2
Expm1|x|y|T!=14,19,1,2,8,18
ExtractVolumePatches|input|patches|ksizes!>5 strides!>5 T!=1,2,3,4,5,6,9,14,17,19,22,23 padding!
FFT|input|output|Tcomplex=8,18
FFT2D|input|output|Tcomplex=8,18
FFT3D|input|output|Tcomplex=8,18
Fill|dims value|output|T! index_type=3,9
Fingerprint|data method|fingerprint|T!
FixedUnigramCandidateSampler|true_classes|sampled_candidates true_expected_count sampled_expected_count|num_true!>1 num_sampled!>1 unique! range_max!>1 vocab_file distortion num_reserved_ids num_shards>1 shard unigrams seed seed2|s
Floor|x|y|T!=14,19,1,2
FloorDiv|x y|z|T!=14,19,1,2,4,6,17,5,3,22,23,9,8,18
FloorMod|x y|z|T!=6,5,3,9,4,17,22,23,14,19,1,2
For|start limit delta input*|output*|T! body!
FresnelCos|x|y|T!=14,19,1,2
FresnelSin|x|y|T!=14,19,1,2
FusedBatchNorm|x scale offset mean variance|y batch_mean batch_variance reserve_space_1 reserve_space_2|T!=1 epsilon exponential_avg_factor data_format is_training
FusedBatchNormGrad|y_backprop x scale reserve_space_1 reserve_space_2|x_backprop scale_backprop offset_backprop reserve_space_3 reserve_space_4|T!=1 epsilon data_format is_training
FusedBatchNormGradV3|y_backprop x scale reserve_space_1 reserve_space_2 reserve_space_3|x_backprop scale_backprop offset_backprop reserve_space_4 reserve_space_5|T!=19,14,1 U!=1 epsilon data_format is_training
FusedBatchNormV3|x scale offset mean variance|y batch_mean batch_variance reserve_space_1 reserve_space_2 reserve_space_3|T!=19,14,1 U!=14,1 epsilon exponential_avg_factor data_format is_training
Gather|params indices|output|validate_indices Tparams! Tindices!=3,9
GatherNd|params indices|output|Tparams! Tindices!=5,3,9 bad_indices_policy
GatherV2|params indices axis|output|batch_dims Tparams! Tindices!=5,3,9 Taxis!=3,9
Greater|x y|z|T!=1,2,3,4,5,6,9,14,17,19,22,23
GreaterEqual|x y|z|T!=1,2,3,4,5,6,9,14,17,19,22,23
HashTableV2||table_handle|container shared_name use_node_name_sharing key_dtype! value_dtype!|s
HistogramFixedWidth|values value_range nbins|out|T!=3,9,1,2 dtype=3,9
IFFT|input|output|Tcomplex=8,18
IFFT2D|input|output|Tcomplex=8,18
IFFT3D|input|output|Tcomplex=8,18
IRFFT|input fft_length|output|Treal=1,2 Tcomplex=8,18
IRFFT2D|input fft_length|output|Treal=1,2 Tcomplex=8,18
IRFFT3D|input fft_length|output|Treal=1,2 Tcomplex=8,18
Identity|input|output|T!
IdentityN|input*|output*|T!>1
If|cond input*|output*|Tcond! Tin! Tout! then_branch! else_branch! output_shapes|s
Igamma|a x|z|T!=14,19,1,2
IgammaGradA|a x|z|T!=1,2
Igammac|a x|z|T!=14,19,1,2
Imag|input|output|T=8,18 Tout=1,2
InTopKV2|predictions targets k|precision|T=3,9
InitializeTableFromTextFileV2|table_handle filename||key_index! value_index! vocab_size delimiter offset|s
Invert|x|y|T!=6,5,3,9,4,17,22,23
InvertPermutation|x|y|T=3,9
IsFinite|x|y|T!=14,19,1,2
IsInf|x|y|T!=14,19,1,2
IsNan|x|y|T!=14,19,1,2
IsotonicRegression|input|output segments|T!=1,2,3,4,5,6,9,14,17,19,22,23 output_dtype=19,14,1,2
L2Loss|t|output|T!=19,14,1,2
LeakyRelu|features|activations|alpha T=19,14,1,2
LeakyReluGrad|gradients features|backprops|alpha T=19,14,1,2
LearnedUnigramCandidateSampler|true_classes|sampled_candidates true_expected_count sampled_expected_count|num_true!>1 num_sampled!>1 unique! range_max!>1 seed seed2|s
LeftShift|x y|z|T!=6,5,3,9,4,17,22,23
Less|x y|z|T!=1,2,3,4,5,6,9,14,17,19,22,23
LessEqual|x y|z|T!=1,2,3,4,5,6,9,14,17,19,22,23
Lgamma|x|y|T!=14,19,1,2
LinSpace|start stop num|output|T!=14,19,1,2 Tidx=3,9
Log|x|y|T!=14,19,1,2,8,18
Log1p|x|y|T!=14,19,1,2,8,18
LogMatrixDeterminant|input|sign log_abs_determinant|T!=19,1,2,8,18
LogSoftmax|logits|logsoftmax|T!=19,14,1,2
LogUniformCandidateSampler|true_classes|sampled_candidates true_expected_count sampled_expected_count|num_true!>1 num_sampled!>1 unique! range_max!>1 seed seed2|s
LogicalAnd|x y|z|
LogicalNot|x|y|
LogicalOr|x y|z|
LookupTableExportV2|table_handle|keys values|Tkeys! Tvalues!|s
LookupTableFindV2|table_handle keys default_value|values|Tin! Tout!|s
LookupTableImportV2|table_handle keys values||Tin! Tout!|s
LookupTableInsertV2|table_handle keys values||Tin! Tout!|s
LookupTableRemoveV2|table_handle keys||Tin!|s
LookupTableSizeV2|table_handle|size||s
Lu|input|lu p|T!=2,1,19,8,18 output_idx_type=3,9
MatMul|a b|product|transpose_a transpose_b T!=14,19,1,2,3,9,4,17,22,23,8,18 grad_a grad_b
MatrixBandPart|input num_lower num_upper|band|T! Tindex=3,9
MatrixDeterminant|input|output|T!=19,1,2,8,18
MatrixDiag|diagonal|output|T!
MatrixDiagPart|input|diagonal|T!
MatrixDiagPartV3|input k padding_value|diagonal|T! align
MatrixDiagV3|diagonal k num_rows num_cols padding_value|output|T! align
MatrixInverse|input|output|adjoint T!=2,1,19,8,18
MatrixLogarithm|input|output|T!=8,18
MatrixSetDiag|input diagonal|output|T!
MatrixSetDiagV3|input diagonal k|output|T! align
MatrixSolve|matrix rhs|output|adjoint T!=2,1,19,8,18
MatrixSquareRoot|input|output|T!=2,1,19,8,18
MatrixTriangularSolve|matrix rhs|output|lower adjoint T!=14,2,1,19,8,18
Max|input reduction_indices|output|keep_dims T!=1,2,3,4,5,6,9,14,17,19,22,23,11,12,13,15,16 Tidx=3,9
MaxPool|input|output|T=19,14,1,2,3,9,4,5,6,17,11 ksize!>4 strides!>4 padding! explicit_paddings data_format
MaxPool3D|input|output|ksize!>5 strides!>5 padding! data_format T!=19,14,1
MaxPoolGrad|orig_input orig_output grad|output|ksize!>4 strides!>4 padding! explicit_paddings data_format T=1,2,3,4,5,6,9,14,17,19,22,23
MaxPoolGradGradWithArgmax|input grad argmax|output|ksize!>4 strides!>4 padding! include_batch_in_index Targmax!=3,9 T!=1,2,3,4,5,6,9,14,17,19,22,23
MaxPoolGradWithArgmax|input grad argmax|output|ksize!>4 strides!>4 padding! include_batch_in_index Targmax!=3,9 T!=1,2,3,4,5,6,9,14,17,19,22,23
MaxPoolWithArgmax|input|output argmax|ksize!>4 strides!>4 Targmax=3,9 padding! include_batch_in_index T!=1,2,3,4,5,6,9,14,17,19,22,23
Maximum|x y|z|T!=14,19,1,2,6,4,5,17,3,22,9,23
Mean|input reduction_indices|output|keep_dims T!=1,2,3,4,5,6,8,9,11,12,13,14,15,16,17,18,19,22,23 Tidx=3,9
Min|input reduction_indices|output|keep_dims T!=1,2,3,4,5,6,9,14,17,19,22,23,11,12,13,15,16 Tidx=3,9
Minimum|x y|z|T!=14,19,1,2,6,4,5,17,3,22,9,23
MirrorPad|input paddings|output|T! Tpaddings=3,9 mode!
MirrorPadGrad|input paddings|output|T! Tpaddings=3,9 mode!
Mul|x y|z|T!=14,19,1,2,4,6,17,5,3,22,23,9,8,18
MulNoNan|x y|z|T!=14,19,1,2,8,18
Multinomial|logits num_samples|output|seed seed2 T!=1,2,3,4,5,6,9,14,17,19,22,23 output_dtype=3,9|s
MutableDenseHashTableV2|empty_key deleted_key|table_handle|container shared_name use_node_name_sharing key_dtype! value_dtype! value_shape initial_num_buckets max_load_factor|s
MutableHashTable||table_handle|container shared_name use_node_name_sharing key_dtype! value_dtype!|s
MutableHashTableOfTensorsV2||table_handle|container shared_name use_node_name_sharing key_dtype! value_dtype! value_shape|s
MutableHashTableV2||table_handle|container shared_name use_node_name_sharing key_dtype! value_dtype!|s
Ndtri|x|y|T!=14,19,1,2
Neg|x|y|T!=14,19,1,2,6,5,3,9,8,18
NextAfter|x1 x2|output|T=2,1
NoOp|||
NonMaxSuppressionV5|boxes scores max_output_size iou_threshold score_threshold soft_nms_sigma|selected_indices selected_scores valid_outputs|T=19,1 pad_to_max_output_size
NonMaxSuppressionWithOverlaps|overlaps scores max_output_size overlap_threshold score_threshold|selected_indices|
None|||
NotEqual|x y|z|T! incompatible_shape_error
OneHot|indices depth on_value off_value|output|axis T! TI=4,6,3,9
OnesLike|x|y|T!=14,19,1,2,6,4,5,17,3,22,9,23,8,18,10
Pack|values*|output|N!>1 T! axis
Pad|input paddings|output|T! Tpaddings=3,9
PadV2|input paddings constant_values|output|T! Tpaddings=3,9
PartitionedCall|args*|output*|Tin! Tout! f! config config_proto executor_type
Placeholder||output|dtype! shape
Polygamma|a x|z|T!=1,2
Pow|x y|z|T!=14,1,19,2,6,5,3,9,8,18
Prod|input reduction_indices|output|keep_dims T!=1,2,3,4,5,6,8,9,11,12,13,14,15,16,17,18,19,22,23 Tidx=3,9
Qr|input|q r|full_matrices T!=2,1,19,8,18
RFFT|input fft_length|output|Treal=1,2 Tcomplex=8,18
RFFT2D|input fft_length|output|Treal=1,2 Tcomplex=8,18
RFFT3D|input fft_length|output|Treal=1,2 Tcomplex=8,18
RandomIndexShuffle|index seed max_index|output|rounds dtype!=3,22,9,23 Tseed!=3,22,9,23
RandomShuffle|value|output|seed seed2 T!|s
RandomStandardNormal|shape|output|seed seed2 dtype!=19,14,1,2 T!=3,9|s
RandomUniform|shape|output|seed seed2 dtype!=19,14,1,2 T!=3,9|s
RandomUniformInt|shape minval maxval|output|seed seed2 Tout!=3,9 T!=3,9|s
Range|start limit delta|output|Tidx=14,19,1,2,6,5,3,9,17,22,23
ReadVariableOp|resource|value|dtype!|s
Real|input|output|T=8,18 Tout=1,2
RealDiv|x y|z|T!=14,19,1,2,4,6,17,5,3,22,23,9,8,18
Reciprocal|x|y|T!=14,19,1,2,6,5,3,9,8,18
ReciprocalGrad|y dy|z|T!=14,19,1,2,8,18
ReduceJoin|inputs reduction_indices|output|keep_dims separator
RegexFullMatch|input pattern|output|
RegexReplace|input pattern rewrite|output|replace_global
Relu|features|activations|T!=1,2,3,4,5,6,9,14,17,19,22,23,11
Relu6|features|activations|T!=1,2,3,4,5,6,9,14,17,19,22,23
Relu6Grad|gradients features|backprops|T!=1,2,3,4,5,6,9,14,17,19,22,23
ReluGrad|gradients features|backprops|T!=1,2,3,4,5,6,9,14,17,19,22,23
Reshape|tensor shape|output|T! Tshape=3,9
ResizeBilinear|images size|resized_images|T!=6,4,5,17,3,9,14,19,1,2,14 align_corners half_pixel_centers
RestoreV2|prefix tensor_names shape_and_slices|tensors*|dtypes!>1|s
Reverse|tensor dims|output|T!=4,6,17,5,22,3,23,9,10,14,19,1,2,8,18,7
ReverseSequence|input seq_lengths|output|seq_dim! batch_dim T! Tlen=3,9
ReverseV2|tensor axis|output|Tidx=3,9 T!=4,6,17,5,3,22,9,23,10,14,19,1,2,8,18,7
RightShift|x y|z|T!=6,5,3,9,4,17,22,23
Roll|input shift axis|output|T! Tshift!=3,9 Taxis!=3,9
Round|x|y|T!=14,19,1,2,6,5,3,9,8,18
Rsqrt|x|y|T!=14,19,1,2,8,18
RsqrtGrad|y dy|z|T!=14,19,1,2,8,18
SaveV2|prefix tensor_names shape_and_slices tensors*||dtypes!>1|s
ScatterNd|indices updates shape|output|T! Tindices!=5,3,9 bad_indices_policy
SegmentMax|data segment_ids|output|T!=1,2,3,4,5,6,9,14,17,19,22,23 Tindices!=3,9
SegmentMean|data segment_ids|output|T!=1,2,3,4,5,6,8,9,11,12,13,14,15,16,17,18,19,22,23 Tindices!=3,9
SegmentMin|data segment_ids|output|T!=1,2,3,4,5,6,9,14,17,19,22,23 Tindices!=3,9
SegmentProd|data segment_ids|output|T!=1,2,3,4,5,6,8,9,11,12,13,14,15,16,17,18,19,22,23 Tindices!=3,9
SegmentSum|data segment_ids|output|T!=1,2,3,4,5,6,8,9,11,12,13,14,15,16,17,18,19,22,23 Tindices!=3,9
SelectV2|condition t e|output|T!
SelfAdjointEig|input|output|T!=2,1,19
SelfAdjointEigV2|input|e v|compute_v T!=2,1,19,8,18
Selu|features|activations|T!=19,14,1,2
SeluGrad|gradients outputs|backprops|T!=19,14,1,2
Shape|input|output|T! out_type=3,9
ShapeN|input*|output*|N!>1 T! out_type=3,9
Sigmoid|x|y|T!=14,19,1,2,8,18
SigmoidGrad|y dy|z|T!=14,19,1,2,8,18
Sign|x|y|T!=14,19,1,2,6,5,3,9,8,18
Sin|x|y|T!=14,19,1,2,8,18
Sinh|x|y|T!=14,19,1,2,8,18
Size|input|output|T! out_type=3,9
Slice|input begin size|output|T! Index!=3,9
Snapshot|input|output|T!
SobolSample|dim num_results skip|samples|dtype=1,2
Softmax|logits|softmax|T!=19,14,1,2
SoftmaxCrossEntropyWithLogits|features labels|loss backprop|T!=19,14,1,2
Softplus|features|activations|T!=19,14,1,2
SoftplusGrad|gradients features|backprops|T!=19,14,1,2
Softsign|features|activations|T!=19,14,1,2
SoftsignGrad|gradients features|backprops|T!=19,14,1,2
SpaceToBatchND|input block_shape paddings|output|T! Tblock_shape=3,9 Tpaddings=3,9
SpaceToDepth|input|output|T! block_size!>2 data_format
SparseCross|indices* values* shapes* dense_inputs*|output_indices output_values output_shape|N! hashed_output! num_buckets! hash_key! sparse_types!=9,7 dense_types!=9,7 out_type!=9,7 internal_type!=9,7
SparseSoftmaxCrossEntropyWithLogits|features labels|loss backprop|T!=19,14,1,2 Tlabels=3,9
Spence|x|y|T!=14,19,1,2
Split|split_dim value|output*|num_split!>1 T!
SplitV|value size_splits split_dim|output*|num_split!>1 T! Tlen=6,3,9
Sqrt|x|y|T!=14,19,1,2,8,18
SqrtGrad|y dy|z|T!=14,19,1,2,8,18
Square|x|y|T!=14,19,1,2,6,5,3,9,4,17,22,23,8,18
SquaredDifference|x y|z|T!=14,19,1,2,3,9,8,18
Squeeze|input|output|T! squeeze_dims
Stage|values*||capacity memory_limit dtypes!>1 container shared_name|s
StatefulPartitionedCall|args*|output*|Tin! Tout! f! config config_proto executor_type|s
StatelessMultinomial|logits num_samples seed|output|T!=1,2,3,4,5,6,9,14,17,19,22,23 Tseed=3,9 output_dtype=3,9
StatelessRandomBinomial|shape seed counts probs|output|S!=3,9 Tseed=3,9 T=19,1,2,3,9 dtype=19,1,2,3,9
StatelessRandomGammaV3|shape key counter alg alpha|output|dtype!=19,1,2 shape_dtype=3,9
StatelessRandomGetKeyCounter|seed|key counter|Tseed=3,9
StatelessRandomNormal|shape seed|output|dtype=19,14,1,2 T=3,9 Tseed=3,9
StatelessRandomNormalV2|shape key counter alg|output|dtype=19,14,1,2 Tshape=3,9
StatelessRandomPoisson|shape seed lam|output|Rtype!=19,1,2,3,9 dtype!=19,1,2,3,9 T!=3,9 Tseed=3,9
StatelessRandomUniform|shape seed|output|dtype=19,14,1,2 T=3,9 Tseed=3,9
StatelessRandomUniformFullIntV2|shape key counter alg|output|dtype=3,9,22,23 Tshape=3,9
StatelessRandomUniformIntV2|shape key counter alg minval maxval|output|dtype!=3,9,22,23 Tshape=3,9
StatelessRandomUniformV2|shape key counter alg|output|dtype=19,14,1,2 Tshape=3,9
StatelessShuffle|value key counter alg|output|T!
StatelessTruncatedNormal|shape seed|output|dtype=19,14,1,2 T=3,9 Tseed=3,9
StatelessTruncatedNormalV2|shape key counter alg|output|dtype=19,14,1,2 Tshape=3,9
StaticRegexFullMatch|input|output|pattern!
StaticRegexReplace|input|output|pattern! rewrite! replace_global
StopGradient|input|output|T!
StridedSlice|input begin end strides|output|T! Index!=5,3,9 begin_mask end_mask ellipsis_mask new_axis_mask shrink_axis_mask
StridedSliceGrad|shape begin end strides dy|output|T! Index!=3,9 begin_mask end_mask ellipsis_mask new_axis_mask shrink_axis_mask
StringFormat|inputs*|output|T! template placeholder summarize
StringJoin|inputs*|output|N! separator
StringLength|input|output|unit
StringLower|input|output|encoding
StringNGrams|data data_splits|ngrams ngrams_splits|separator! ngram_widths! left_pad! right_pad! pad_width! preserve_short_sequences! Tsplits=3,9
StringSplit|input delimiter|indices values shape|skip_empty
StringSplitV2|input sep|indices values shape|maxsplit
StringStrip|input|output|
StringToHashBucket|string_tensor|output|num_buckets!>1
StringToHashBucketFast|input|output|num_buckets!>1
StringToHashBucketStrong|input|output|num_buckets!>1 key!
StringToNumber|string_tensor|output|out_type=1,2,3,9,22,23
StringUpper|input|output|encoding
Sub|x y|z|T!=14,19,1,2,4,6,17,5,3,9,8,18,22,23
Substr|input pos len|output|T!=3,9 unit
Sum|input reduction_indices|output|keep_dims T!=1,2,3,4,5,6,8,9,11,12,13,14,15,16,17,18,19,22,23 Tidx=3,9
Svd|input|s u v|compute_uv full_matrices T!=2,1,19,8,18
Tan|x|y|T!=14,19,1,2,8,18
Tanh|x|y|T!=14,19,1,2,8,18
TanhGrad|y dy|z|T!=14,19,1,2,8,18
TensorArray|size|handle|dtype! dynamic_size clear_after_read tensor_array_name element_shape|s
TensorListGetItem|input_handle index element_shape|item|element_dtype! Tshape=3,9
TensorListPopBack|input_handle element_shape|output_handle tensor|element_dtype!
TensorListPushBack|input_handle tensor|output_handle|element_dtype!
TensorListSetItem|input_handle index item|output_handle|element_dtype! resize_if_index_out_of_bounds
TensorScatterAdd|tensor indices updates|output|T! Tindices!=3,9 bad_indices_policy
TensorScatterMax|tensor indices updates|output|T! Tindices!=3,9 bad_indices_policy
TensorScatterMin|tensor indices updates|output|T! Tindices!=3,9 bad_indices_policy
TensorScatterSub|tensor indices updates|output|T! Tindices!=3,9 bad_indices_policy
TensorScatterUpdate|tensor indices updates|output|T! Tindices!=5,3,9,17 bad_indices_policy
Tile|input multiples|output|T! Tmultiples=3,9
Timestamp||ts||s
TopK|input|values indices|k! sorted T!=1,2,3,4,5,6,9,14,17,19,22,23
TopKV2|input k|values indices|sorted T!=1,2,3,4,5,6,9,14,17,19,22,23 Tk=5,3,9 index_type=5,3,9
Transpose|x perm|y|T! Tperm=3,9
TridiagonalMatMul|superdiag maindiag subdiag rhs|output|T!=2,1,8,18
TridiagonalSolve|diagonals rhs|output|partial_pivoting perturb_singular T!=2,1,8,18
TruncateDiv|x y|z|T!=14,19,1,2,4,6,17,5,3,22,23,9,8,18
TruncateMod|x y|z|T!=3,9,14,19,1,2
TruncatedNormal|shape|output|seed seed2 dtype!=19,14,1,2 T!=3,9|s
Unary|a|b|T!
UnicodeDecode|input|row_splits char_values|input_encoding! errors replacement_char replace_control_characters Tsplits=3,9
UnicodeDecodeWithOffsets|input|row_splits char_values char_to_byte_starts|input_encoding! errors replacement_char replace_control_characters Tsplits=3,9
UnicodeEncode|input_values input_splits|output|errors output_encoding! replacement_char Tsplits=3,9
UnicodeScript|input|output|
UnicodeTranscode|input|output|input_encoding! output_encoding! errors replacement_char replace_control_characters
UniformCandidateSampler|true_classes|sampled_candidates true_expected_count sampled_expected_count|num_true!>1 num_sampled!>1 unique! range_max!>1 seed seed2|s
Unique|x|y idx|T! out_idx=3,9
UniqueWithCounts|x|y idx count|T! out_idx=3,9
Unpack|value|output*|num! T! axis
UnravelIndex|indices dims|output|Tidx=3,9
UnsortedSegmentJoin|inputs segment_ids num_segments|output|separator Tindices!=3,9 Tnumsegments=3,9
UnsortedSegmentMax|data segment_ids num_segments|output|T!=1,2,3,4,5,6,9,14,17,19,22,23 Tindices!=3,9 Tnumsegments=3,9
UnsortedSegmentMin|data segment_ids num_segments|output|T!=1,2,3,4,5,6,9,14,17,19,22,23 Tindices!=3,9 Tnumsegments=3,9
UnsortedSegmentProd|data segment_ids num_segments|output|T!=1,2,3,4,5,6,8,9,11,12,13,14,15,16,17,18,19,22,23 Tindices!=3,9 Tnumsegments=3,9
UnsortedSegmentSum|data segment_ids num_segments|output|T!=1,2,3,4,5,6,8,9,11,12,13,14,15,16,17,18,19,22,23 Tindices!=5,3,9 Tnumsegments=3,9
VarHandleOp||resource|container shared_name debug_name dtype! shape! allowed_devices|s
Variable||ref|shape! dtype! container shared_name|s
Where|input|index|T=1,2,3,4,5,6,8,9,11,12,13,14,15,16,17,18,19,22,23,10
While|input*|output*|T! cond! body! output_shapes parallel_iterations|s
Xdivy|x y|z|T!=19,14,1,2,8,18
Xlog1py|x y|z|T!=19,14,1,2,8,18
Xlogy|x y|z|T!=19,14,1,2,8,18
ZerosLike|x|y|T!
Zeta|x q|z|T!=1,2
_FusedConv2D|input filter args* host_args*|output|T!=19,1,2,6,11 TArgs!>1 num_args! num_host_args strides! padding! explicit_paddings data_format filter_format dilations use_cudnn_on_gpu fused_ops epsilon leakyrelu_alpha
_FusedMatMul|a b args*|product|transpose_a transpose_b T!=14,19,1 num_args! fused_ops epsilon leakyrelu_alpha
`;
