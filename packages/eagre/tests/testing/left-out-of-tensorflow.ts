// What of TensorFlow is left out on purpose, and why.
import type { Reasons } from './areas.ts';

/** Names, as `module.name` with `tf` for the top, and the reason. */
export const leftOutOfTensorFlow: Reasons = [
  {
    what: /^tf\.(qint8|qint16|qint32|quint8|quint16)$|^dtypes\.(QUANTIZED_DTYPES|q(u)?int\d+)$|^quantization\.(quantized_concat|quantize|dequantize)$/,
    why: 'there are no quantized dtypes',
  },
  {
    what: /^(dtypes\.)?experimental\.(float[48]_|u?int[24]$)|^dtypes\.experimental\./,
    why: 'there are no dtypes of fewer than 8 bits, and no floats of 8',
  },
  { what: /^(tf|dtypes)\.(resource|variant)$/, why: 'there are no handles as tensors' },
  {
    what: /^tf\.(load_library|load_op_library|no_gradient|RegisterGradient|check_pinned|guarantee_const|AggregationMethod)$|^sysconfig\.|^version\.(GIT_VERSION|COMPILER_VERSION)$|^test\.is_(built_with_.*|cpu_target_available)$|^experimental\.(register_filesystem_plugin|enable_strict_mode|function_executor_type)$|^config\.experimental\.(enable|disable)_mlir_bridge$/,
    why: 'they are about the libraries of TensorFlow itself',
  },
  {
    what: /^tf\.(fftnd|ifftnd|rfftnd|irfftnd|approx_top_k|conv2d_backprop_filter_v2|conv2d_backprop_input_v2|ragged_fill_empty_rows.*)$/,
    why: 'raw ops that stand at the top by mistake; their functions are in modules',
  },
  {
    what: /^tf\.(nondifferentiable_batch_function)$|^tf\.variable_creator_scope$/,
    why: 'they change what Python calls make, for which there is no hook here',
  },
  {
    what: /^debugging\.(enable|disable)_traceback_filtering$|^debugging\.is_traceback_filtering_enabled$|^debugging\.experimental\./,
    why: 'stacks are those of JavaScript',
  },
  {
    what: /^image\.(generate_bounding_box_proposals)$/,
    why: 'TensorFlow has it for GPUs only',
  },
  {
    what: /^nn\.RNNCell(Device|Dropout|Residual)Wrapper$/,
    why: 'they are in tf.layers, beside the cells, so that programs that use functions of tf.nn alone bundle no layers',
  },
  { what: /^feature_column\.|^train\.Coordinator$/, why: 'TensorFlow advises against it' },
  {
    what: /^experimental\.numpy\.experimental_enable_numpy_behavior$/,
    why: 'tensors keep their own methods',
  },
  { what: /^experimental\.numpy\.object_$/, why: 'there are no arrays of objects' },
  {
    what: /^compat\.(bytes_or_text_types|complex_types|integral_types|real_types|forward_compatib.*)$/,
    why: 'they are types and dates of Python code',
  },
  {
    what: /^tf\.get_logger$|^test\.(main|Benchmark|benchmark_config|disable_with_predicate|with_eager_op_as_function)$|^data\.NumpyIterator$|^types\.experimental\.(FunctionType|SupportsTracingProtocol|TensorLike|TraceType)$/,
    why: 'they are about Python: its logging, its test runner, NumPy, the protocols of its types',
  },
  {
    what: /^tf\.CriticalSection$|^experimental\.async_(scope|clear_error)$/,
    why: 'JavaScript has one thread, and ops with effects run in their order; errors of devices that compute later are told by the next read',
  },
  {
    what: /^tf\.(NoneTensorSpec|TensorArraySpec)$/,
    why: 'elements are never null, and a TensorArray is passed as its stacked tensor',
  },
  {
    what: /^autograph\.(set_verbosity|trace)$|^autograph\.experimental\.Feature$/,
    why: 'code is converted when it is built or loaded: tf.autograph.toCode shows it, and console.log runs while a function is traced',
  },
  {
    what: /^config\.experimental_connect_to_(cluster|host)$|^config\.experimental\.ClusterDeviceFilters$|^test\.create_local_cluster$|^data\.experimental\.(ServiceOptions|distributed_save)$/,
    why: 'ops do not run in other processes by the names of their devices, and no service makes elements: strategies run a program in each process',
  },
  {
    what: /^data\.experimental\.(to_variant|from_variant|make_saveable_from_iterator)$/,
    why: 'a dataset is no tensor; a checkpoint takes its iterator as it is',
  },
  {
    what: /^data\.experimental\.(AutotuneAlgorithm|get_model_proto)$/,
    why: 'nothing is tuned while a pipeline runs',
  },
  {
    what: /^data\.experimental\.ExternalStatePolicy$/,
    why: 'the state of an iterator never holds that of other objects: a checkpoint takes these beside it',
  },
  {
    what: /^data\.experimental\.SqlDataset$/,
    why: 'not every JavaScript engine has SQLite: Dataset.fromGenerator takes the rows of any driver',
  },
  {
    what: /^train\.experimental\.(MaxShardSizePolicy|ShardByTaskPolicy|ShardableTensor|ShardingCallback)$/,
    why: 'values are spread over as many files as tf.train.CheckpointOptions says (shards)',
  },
  { what: /^distribute\.(experimental\.)?TPUStrategy$/, why: 'there are no TPUs' },
  {
    what: /^experimental\.StructuredTensor$/,
    why: 'objects and lists of tensors and ragged tensors are structures everywhere; a class with rules of its own is an ExtensionType',
  },
  {
    what: /^distribute\.experimental\.PreemptionWatcher$/,
    why: 'it asks the service of a cloud; SIGTERM is what PreemptionCheckpointHandler waits for',
  },
];

/** Arguments of functions, as `module.name(argument)`, and the reason. */
export const leftOutArgumentsOfTensorFlow: Reasons = [
  {
    what: /\((parallel_iterations|back_prop|swap_memory|infer_shape|fallback_to_while_loop|warn|parser_num_threads|sloppy_ordering|sloppy)\)$/,
    why: 'how loops and readers run inside, which is not for programs to say',
  },
  {
    what: /\((gate_gradients|aggregation_method|jit_compile|experimental_(implements|autograph_options|attributes|relax_shapes|compile|follow_type_hints|optional_features|trackable|mesh)|allow_fast_lookup|layout|dct_method|cuda_only|min_cuda_compute_capability|profiler_outdir|stack_height_limit|path_length_limit|op_dict|producer_op_list|reader_func|reader_args|checkpoint_args|hasher_spec)\)$/,
    why: "about TensorFlow's compilers, kernels, tools and libraries",
  },
  {
    what: /\((validate_args|validate_indices|allow_broadcast|verify_shape|partial|summarize)\)$/,
    why: 'all is checked in any case, and messages show what is wrong',
  },
  {
    what: /^(tf\.(split|unstack)\(num|tf\.argsort\(stable|tf\.map_fn\(dtype|math\.accumulate_n\((shape|tensor_dtype)|debugging\.assert_shapes\(data|summary\.experimental\.summary_scope\(values|tf\.strided_slice\(var|data\.experimental\.load\((element_spec|compression)|tf\.autograph|autograph\.to_(code|graph)\(recursive|compat\.as_str_any\(encoding|data\.experimental\.make_csv_dataset\(encoding)\)$/,
    why: 'known from the values, or always so: pieces are counted, sorting is stable, code is converted in all functions, texts are UTF-8',
  },
  {
    what: /^(tf|linalg)\.(matmul|matvec)\(([ab]_is_sparse|grad_[ab])\)$/,
    why: 'hints for a kernel that is not here, and parts of gradients inside',
  },
  {
    what: /^experimental\.numpy\..*\((out|where|order|kind|subok|copy|ndmin|returned|mode|deg|axis|dtype|shape)\)$/,
    why: "of NumPy's arrays that change in place, their order in memory, and their subclasses; the rest is one more op",
  },
  {
    what: /^io\.parse_.*\(example_names?\)$/,
    why: 'names of examples, of which nothing here speaks',
  },
  {
    what: /^(linalg|math|nn)\.l2_normalize\(dim\)$/,
    why: 'the old name of `axis`, which TensorFlow refuses as deprecated',
  },
  {
    what: /^(linalg\.(eigh_tridiagonal\(tol|tridiagonal_solve\(perturb_singular)|nn\.ctc_loss\(unique|nn\.moments\(shift)\)$/,
    why: 'accuracy and shortcuts of algorithms that are others here',
  },
  {
    what: /^nn\.(depth_to_space|space_to_depth|max_pool_with_argmax|depthwise_conv2d_backprop_(filter|input))\(data_format\)$/,
    why: 'channels are last there',
  },
  {
    what: /^nest\.is_nested\(seq\)$/,
    why: 'an object that has this key is a structure itself',
  },
];

const specs = '(\\w*Spec|DType|TensorShape)';
/** Members of classes, as `module.Class.member`, and the reason. */
export const leftOutMembersOfTensorFlow: Reasons = [
  {
    what: new RegExp(
      `\\.${specs}\\.(cast|experimental_as_proto|experimental_from_proto|experimental_type_proto|as_proto|flatten|from_tensors|to_tensors|placeholder_value|flat_values_spec|from_spec)$`,
    ),
    why: "the protocol of TensorFlow's own tracing; here parts are leaves of structures (tf.nest)",
  },
  {
    what: new RegExp(
      `\\.${specs}\\.(most_specific_compatible_type|value_type)$|^tf\\.DType\\.most_specific_common_supertype$|^tf\\.TensorShape\\.most_specific_common_supertype$`,
    ),
    why: 'other names of what is here: mostSpecificCommonSupertype, mostSpecificCompatibleShape, isCompatibleWith',
  },
  {
    what: /\.(get_shape|ndim|set_shape|numpy|as_numpy_iterator|as_numpy_dtype|is_numpy_compatible|eval|experimental_ref|ref|op|consumers|graph|value_index|OVERLOADABLE_OPERATORS)$|^tf\.(Tensor|IndexedSlices)\.name$/,
    why: 'older names, and those of Python: `shape` and `rank` say the shape, tf.ensureShape gives a tensor with a known one, `array()` and `data()` the values, and datasets are iterated',
  },
  {
    what: /^tf\.Variable\.(SaveSliceInfo|constraint|count_up_to|from_proto|to_proto|initial_value|initialized_value|initializer|load)$/,
    why: 'of variables of TensorFlow 1, which begin when a session runs: values are there at once here, and `assign` applies a constraint that the program computes',
  },
  {
    what: /^tf\.Graph\.|^tf\.Operation\./,
    why: 'TensorFlow 1 builds and changes graphs by them; graphs here are read (`getOperations`, `asGraphDef`) and built by calls',
  },
  {
    what: /^tf\.TensorArray\.(close|flow|grad|handle|identity)$/,
    why: 'of the resource behind it in TensorFlow; here every version is a value of its own',
  },
  {
    what: /initializer\.from_config$/,
    why: 'tf.keras.initializers has them with their configs',
  },
  {
    what: /^data\.(experimental\.)?\w*Dataset\.fingerprint$|^data\.Options\.|^data\.experimental\.(AutotuneOptions|DistributeOptions|OptimizationOptions)\.|^profiler\.experimental\.ProfilerOptions\./,
    why: 'how pipelines and profilers run inside',
  },
  {
    what: /\.(DatasetInitializer|KeyValueTensorInitializer|TextFileInitializer)\.initialize$|\.resource_handle$|\.queue_ref$/,
    why: 'of resources in a graph; tables and queues are objects here',
  },
  {
    what: /^lookup\.experimental\.DenseHashTable\.(erase|insert_or_assign)$/,
    why: 'other names of `remove` and `insert`',
  },
  {
    what: /^distribute\.(\w*AllReduce|CrossDeviceOps|ReductionToOneDevice)\.|^distribute\.ReduceOp\.|^distribute\.DistributedDataset\.reduce$/,
    why: 'strategies call them inside; programs call `strategy.reduce`, and loop over datasets',
  },
  {
    what: /^distribute\.(experimental\.)?\w*Strategy\.|^distribute\.Server\.|^train\.ClusterSpec\.|^config\.LogicalDeviceConfiguration\.|^tf\.DeviceSpec\./,
    why: 'of TensorFlow 1 and of its servers, or under another name: `fromString`, ClusterDef.fromClusterSpec',
  },
  {
    what: /^distribute\.experimental\.PreemptionCheckpointHandler\.watch_preemption_scope$/,
    why: '`run` watches',
  },
  {
    what: /^tf\.TypeSpec\.|^tf\.name_scope\.name$|^tf\.SparseTensor\.from_value$|^data\.IteratorSpec\.from_value$/,
    why: 'TypeSpec says what all specs are, `tf.typeSpecFromValue` makes one of any value, and a scope is its name',
  },
  {
    what: /^errors\.\w+\.(node_def|experimental_payloads)$/,
    why: 'ops run at once, without a node: `op` and the message say which',
  },
  {
    what: /^experimental\.(DynamicRaggedShape\.Spec|ExtensionTypeBatchEncoder\.)/,
    why: 'specs of shapes are the specs of their parts; a BatchableExtensionType says how it is batched by its fields',
  },
  {
    what: /^io\.TFRecordOptions\.|^io\.gfile\.GFile\.next$/,
    why: 'of Python: `compressionType` says it, and files are iterated',
  },
  {
    what: /^linalg\.LinearOperator\w*\.(graph_parents|parameters|diagonals_format)$/,
    why: 'what the constructor was given is in fields with its names',
  },
  {
    what: /^saved_model\.(Load|Save)Options\.|^train\.CheckpointOptions\./,
    why: "about TensorFlow's own devices, savers and debuggers",
  },
  { what: /^test\.TestCase\./, why: "of Python's test runner; any runner of JavaScript does for the rest" },
  {
    what: /\.(DESCRIPTOR|\w+Entry)$/,
    why: 'of the Python library of protocol buffers',
  },
  {
    what: /^train\.ExponentialMovingAverage\.variables_to_restore$/,
    why: 'names of variables in files of TensorFlow 1; a checkpoint takes averages as objects',
  },
  {
    what: /^types\.experimental\./,
    why: "types of TensorFlow's traced functions; `getConcreteFunction` stands on what tf.function gives",
  },
];
