// Functions of tf and tf.math against TensorFlow.
import { testCases } from './testing/golden-cases.ts';

testCases('math-rest.json');
