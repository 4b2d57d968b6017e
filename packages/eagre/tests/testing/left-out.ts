interface LeftOut {
  readonly what: RegExp;
  readonly why: string;
}

/** Names of Keras that are not meant to be here, and why. */
export const leftOut: readonly LeftOut[] = [
  {
    what: /\.(JaxLayer|FlaxLayer|TorchModuleWrapper|is_nnx_enabled|set_backend)$/,
    why: 'of JAX, Flax, PyTorch and the choice between backends, of which there is one here',
  },
  { what: /\.OrbaxCheckpoint$/, why: "of Orbax, JAX's checkpoints" },
  { what: /keras\.wrappers\./, why: 'of scikit-learn' },
  {
    what: /(traceback_filtering|enable_unsafe_deserialization)/,
    why: "of Python's tracebacks, and of Python code in files, which is never run here",
  },
  { what: /flash_attention/, why: 'a choice between kernels of GPUs' },
  {
    what: /members of .*\.(rematerialized_call|distribute_\w+)$|keras\.(RematScope|remat)$/,
    why: 'memory and work of several accelerators',
  },
  {
    what: /(StatelessScope|SymbolicScope|keras\.Operation|keras\.Function)$/,
    why: 'how Keras runs on backends without state, and records calls; `tf.function` traces both here',
  },
  {
    what: /boston_housing/,
    why: 'a data set one column of which encodes the race of people, which Keras itself discourages; `californiaHousing` is here',
  },
  { what: /\.plot_\w+_gallery$/, why: 'of Matplotlib' },
  {
    what: /members of \w+\.(add_metric|metrics_names|compiled_loss|compiled_metrics|quantized_(call|build)|symbolic_call)$/,
    why: 'deprecated, or only for classes of Keras itself',
  },
];

/** Members of classes of Keras, `area.Class.member`, that are not meant to be here, and why. */
export const leftOutMembers: readonly LeftOut[] = [
  {
    what: /\.(get_transformed_x_y|get_shifted_bbox|get_clipped_bbox)$/,
    why: 'parts of how Keras moves boxes beside images',
  },
  {
    what: /\.(convert_weight|convert_input|backend\w*|generator|seed_generator|record_history|handle|implementation|use_cudnn|rms_scaling|renorm\w*|(height|width|channel)_axis|(height|width)_(lower|upper)|init_thresholds|idf_weights_const|input_\w+|lookup_table|token_\w+|num_documents|summary|vocabulary_dtype|output_dtype|strong_hash|partial_output_shape|pool_mode|score_mode|noise_shape|inner_loop|single_state|(get|reset)_(recurrent_)?dropout_mask|dropout_mask_count|variable_serialization_spec|monitor_op|check_finite|lr_adjust|transpose_last_axis|zeropower_via_newtonschulz5|\w+_quantizer_or_default|default_amax_history_length|get_elastic_transform_params|normalized_weights|crosses_by_name|encoded_features)$/,
    why: 'how Keras does it inside, by fields and parts of methods that nobody sets or calls',
  },
  {
    what: /\.(AugMix|RandAugment|RandomColorJitter)\.(auto_contrast|equalization|random_\w+|solarization)$/,
    why: 'layers inside of layers, which draw by themselves here',
  },
  { what: /losses\.\w+\.fn$/, why: 'the function of a loss has a name of its own, `tf.losses.huber`' },
  {
    what: /(keras\.KerasTensor|Variable)\.(ndim|numpy|constraint|regularizer|ragged_rank|row_splits_dtype)$/,
    why: "tensors and variables are TensorFlow's: `rank` and `read()`; constraints and penalties are the layer's",
  },
  {
    what: /metrics\.(BinaryIoU\.(axis|ignore_class|num_classes|sparse_\w+)|(F1|FBeta)Score\.axis|\w+IoU\.target_class_ids|\w+At\w+\.value)$/,
    why: 'what the class above is told in Keras; here a metric has its own options',
  },
  { what: /IoU\.total_cm$/, why: 'called `totalConfusionMatrix` here' },
  { what: /FeatureSpace\.(inputs|concat)$/, why: 'what `getInputs` and `getEncodedFeatures` give' },
  {
    what: /\.(interpolate_pr_auc|linear_to_mel_weight_matrix)$/,
    why: 'functions beside: the option `summationMethod`, `tf.signal.linearToMelWeightMatrix`',
  },
  { what: /\.state_size$/, why: 'of the cell: `layer.cell.stateSize`' },
  {
    what: /\.(CSVLogger|ProgbarLogger)\./,
    why: 'what a callback writes to, and where it is',
  },
  {
    what: /distribution\.DataParallel\./,
    why: 'of JAX and of several processes, which `tf.distribute` has here',
  },
  {
    what: /\.InputLayer\.(optional|ragged|sparse|batch_shape)$/,
    why: 'of the tensor that it gives: `layer.output`',
  },
];

/** Arguments of Keras that are not meant to be here, and why. */
export const leftOutArguments: readonly LeftOut[] = [
  {
    what: /\((flash_attention|use_cudnn|renorm\w*|aggregation|layout|overwrite_with_gradient|to_numpy)\)$/,
    why: 'a choice between kernels, memory and copies of weights on GPUs; `renorm` is of version 1',
  },
  {
    what: /(KerasFileEditor|TFSMLayer)\(filepath\)$/,
    why: 'files are read in the background: `await KerasFileEditor.open(filepath)`, `await TFSMLayer.load(filepath)`',
  },
  {
    what: /\((format|preferred_backend|safe_mode|free_memory|module_objects)\)$/,
    why: 'of other backends, and of Python',
  },
  { what: /\(args\)$/, why: 'any arguments: here classes and methods name what they take' },
  {
    what: /ops\.\w+\((x|x1|x2|y|f|xs|function|elements|variable|key|subscripts)\)$|keras\.(remat\(f|device\(device_name|Function\((inputs|outputs)|Variable\((initializer|shape|autocast))\)$/,
    why: 'functions and classes of TensorFlow, whose names of arguments they have, such as `a` and `b`',
  },
  {
    what: /tree\.\w+\((a|b|shallow_structure|structures|none_is_leaf)\)$/,
    why: 'functions of `tf.nest`, whose names of arguments they have; null is a leaf',
  },
  { what: /datasets\.\S+\(path\)$/, why: 'where a data set is kept is `folder`' },
  {
    what: /(custom_object_scope|CustomObjectScope)\(custom_objects\)$|quantizers\.serialize\(initializer\)|dtype_policies\.\w+\((dtype_policy|custom_objects)\)|losses\.deserialize\(name\)/,
    why: 'called otherwise here, by what they are: `objects`, `quantizer`, `policy`, `config`',
  },
  {
    what: /Optimizer\.\w+\((initializer|grads|grads_and_vars|var_list|reference_variable)\)$/,
    why: 'called otherwise here: `initial`, `gradients`, `variables`, `reference`',
  },
  {
    what: /(model_to_dot|plot_model)\((subgraph|splines)\)$/,
    why: 'of Graphviz, which does not draw the pictures here',
  },
  {
    what: /(follow_links|verbose|data_format)\)$/,
    why: 'messages about folders, and their links; channels are last',
  },
  {
    what: /get_file\((hash_algorithm|archive_format)\)$/,
    why: 'the digits, and the file itself, tell which it is',
  },
  {
    what: /(add|pop)\(rebuild\)$|quantize\(type_check\)$/,
    why: 'how Keras does it inside',
  },
];
