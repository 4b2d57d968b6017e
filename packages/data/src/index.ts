/** `tf.data`: pipelines of elements. */
export {};
