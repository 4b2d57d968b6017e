// TensorFlow's names for what is in a SavedModel.

/** The tags of the graph that serves, and of one for training. TensorFlow and Eagre write `serve`. */
export const SERVING = 'serve' as const;
export const TRAINING = 'train' as const;
/** The tags of graphs for devices. */
export const GPU = 'gpu' as const;
export const TPU = 'tpu' as const;

/** The signature that servers call unless told another. */
export const DEFAULT_SERVING_SIGNATURE_DEF_KEY = 'serving_default' as const;

/** What signatures of TensorFlow Serving are for, and the names of what they take and give. */
export const PREDICT_METHOD_NAME = 'tensorflow/serving/predict' as const;
export const PREDICT_INPUTS = 'inputs' as const;
export const PREDICT_OUTPUTS = 'outputs' as const;
export const CLASSIFY_METHOD_NAME = 'tensorflow/serving/classify' as const;
export const CLASSIFY_INPUTS = 'inputs' as const;
export const CLASSIFY_OUTPUT_CLASSES = 'classes' as const;
export const CLASSIFY_OUTPUT_SCORES = 'scores' as const;
export const REGRESS_METHOD_NAME = 'tensorflow/serving/regress' as const;
export const REGRESS_INPUTS = 'inputs' as const;
export const REGRESS_OUTPUTS = 'outputs' as const;

/** Files and folders of a SavedModel. Eagre reads and writes no `saved_model.pbtxt`. */
export const SAVED_MODEL_FILENAME_PB = 'saved_model.pb' as const;
export const SAVED_MODEL_FILENAME_PBTXT = 'saved_model.pbtxt' as const;
export const VARIABLES_DIRECTORY = 'variables' as const;
export const VARIABLES_FILENAME = 'variables' as const;
export const ASSETS_DIRECTORY = 'assets' as const;
export const ASSETS_KEY = 'saved_model_assets' as const;
export const DEBUG_DIRECTORY = 'debug' as const;
export const DEBUG_INFO_FILENAME_PB = 'saved_model_debug_info.pb' as const;

/** The version of the format. */
export const SAVED_MODEL_SCHEMA_VERSION = 1 as const;
