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
