/** Names of Keras that are not meant to be here, and why. */
export const leftOut: readonly { readonly what: RegExp; readonly why: string }[] = [
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
    what: /keras\.distribution\.|members of .*\.(rematerialized_call|distribute_\w+)$|keras\.(RematScope|remat)$/,
    why: 'memory and work of several accelerators',
  },
  {
    what: /(StatelessScope|SymbolicScope|keras\.Operation|keras\.Function)$/,
    why: 'how Keras runs on backends without state, and records calls; `tf.function` traces both here',
  },
  {
    what: /quantizers\.(compute_float8_\w+|quantize_and_dequantize|Float8QuantizationConfig)$|QuantizedFloat8DTypePolicy$/,
    why: 'for floats of 8 bits, which are no dtype here',
  },
  {
    what: /\.(GPTQ|AWQ)(Config|DTypePolicy)$/,
    why: 'weights of large language models quantized with a calibration text and its tokenizer',
  },
  { what: /\.plot_\w+_gallery$/, why: 'of Matplotlib' },
  {
    what: /members of \w+\.(add_metric|metrics_names|compiled_loss|compiled_metrics|quantized_(call|build)|get_quantization_layer_structure|symbolic_call)$/,
    why: 'deprecated, or only for classes of Keras itself',
  },
];
