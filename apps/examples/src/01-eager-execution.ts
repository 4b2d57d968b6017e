// Operations compute at once and return values, not nodes of a graph.
import * as tf from 'eagre';

export const eager = tf.executingEagerly();
console.log('executing eagerly:', eager);

const x = [[2]];
export const m = tf.matmul(x, x);
console.log(`hello, ${m}`);

export const a = tf.constant(
  [
    [1, 2],
    [3, 4],
  ],
  'int32',
);
console.log(a);

// Broadcasting.
export const b = tf.add(a, 1);
console.log(b);

// Every op is a method too.
export const product = a.mul(b);
console.log(product);
