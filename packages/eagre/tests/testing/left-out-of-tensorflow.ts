// What of TensorFlow is left out on purpose, and why.

/** Names, as `module.name` with `tf` for the top, and the reason. */
export const leftOutOfTensorFlow: readonly { readonly what: RegExp; readonly why: string }[] = [
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
    what: /^tf\.(load_library|load_op_library|no_gradient|RegisterGradient|check_pinned|guarantee_const|AggregationMethod)$|^sysconfig\.|^config\.experimental\.(enable|disable)_mlir_bridge$/,
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
    what: /^debugging\.(enable|disable)_traceback_filtering$|^debugging\.is_traceback_filtering_enabled$|^debugging\.(get|set)_log_device_placement$|^debugging\.experimental\./,
    why: 'stacks are those of JavaScript, and where ops run is told by tensors',
  },
  {
    what: /^image\.(generate_bounding_box_proposals)$/,
    why: 'TensorFlow has it for GPUs only',
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
  { what: /^distribute\.(experimental\.)?TPUStrategy$/, why: 'there are no TPUs' },
  {
    what: /^distribute\.experimental\.PreemptionWatcher$/,
    why: 'it asks the service of a cloud; SIGTERM is what PreemptionCheckpointHandler waits for',
  },
];
