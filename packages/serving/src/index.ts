/** A prediction server with TensorFlow Serving's REST API. */
export {};
