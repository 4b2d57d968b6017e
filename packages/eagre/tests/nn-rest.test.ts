// The rest of tf.nn, and tf.quantization, against TensorFlow.
import { testCases } from './testing/golden-cases.ts';

testCases('nn-rest.json');
