/** Checkpoints in TensorFlow's format. */
export {};
