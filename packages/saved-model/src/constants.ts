// TensorFlow's names for what is in a SavedModel.

/** The tag of the graph that serves: TensorFlow and Eagre write it. */
export const SERVING = 'serve' as const;
/** The tag of a graph for training. */
export const TRAINING = 'train' as const;
/** The tag of graphs for GPUs. */
export const GPU = 'gpu' as const;
/** The tag of graphs for TPUs. */
export const TPU = 'tpu' as const;

/** The signature that servers call unless told another. */
export const DEFAULT_SERVING_SIGNATURE_DEF_KEY = 'serving_default' as const;

/** What a signature of TensorFlow Serving is for that gives predictions. */
export const PREDICT_METHOD_NAME = 'tensorflow/serving/predict' as const;
/** What a signature for predictions takes, unless it has names of its own. */
export const PREDICT_INPUTS = 'inputs' as const;
/** What a signature for predictions gives, unless it has names of its own. */
export const PREDICT_OUTPUTS = 'outputs' as const;
/** What a signature of TensorFlow Serving is for that gives classes and scores. */
export const CLASSIFY_METHOD_NAME = 'tensorflow/serving/classify' as const;
/** What a signature for classes takes. */
export const CLASSIFY_INPUTS = 'inputs' as const;
/** The classes that a signature gives. */
export const CLASSIFY_OUTPUT_CLASSES = 'classes' as const;
/** The scores that a signature gives, one for each class. */
export const CLASSIFY_OUTPUT_SCORES = 'scores' as const;
/** What a signature of TensorFlow Serving is for that gives a number for each example. */
export const REGRESS_METHOD_NAME = 'tensorflow/serving/regress' as const;
/** What such a signature takes. */
export const REGRESS_INPUTS = 'inputs' as const;
/** What such a signature gives. */
export const REGRESS_OUTPUTS = 'outputs' as const;

/** The file of the graph. */
export const SAVED_MODEL_FILENAME_PB = 'saved_model.pb' as const;
/** The file of the graph as text, which Eagre neither reads nor writes. */
export const SAVED_MODEL_FILENAME_PBTXT = 'saved_model.pbtxt' as const;
/** The folder of the values of variables. */
export const VARIABLES_DIRECTORY = 'variables' as const;
/** The prefix of their checkpoint. */
export const VARIABLES_FILENAME = 'variables' as const;
/** The folder of files that belong to the model. */
export const ASSETS_DIRECTORY = 'assets' as const;
/** The collection of their paths, in graphs of TensorFlow 1. */
export const ASSETS_KEY = 'saved_model_assets' as const;
/** The folder of where nodes come from. */
export const DEBUG_DIRECTORY = 'debug' as const;
/** The file of where nodes come from. */
export const DEBUG_INFO_FILENAME_PB = 'saved_model_debug_info.pb' as const;

/** The version of the format. */
export const SAVED_MODEL_SCHEMA_VERSION = 1 as const;
