/** SavedModels and TensorFlow's graphs. */
export {};
