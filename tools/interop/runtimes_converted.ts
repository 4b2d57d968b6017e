// Which eagre/register has to convert while Bun and Deno load it.
'use autograph';
import * as tf from '../../packages/eagre/dist/index.js';

const sumEven = tf.function((items: tf.Tensor): tf.Tensor => {
  let sum = tf.constant(0, 'int32');
  for (const n of items) {
    if (n.mod(2).greater(0)) continue;
    sum = sum.add(n);
  }
  return sum;
});
console.log(sumEven(tf.constant([10, 12, 15, 20], 'int32')).item(), tf.zeros([1]).backend.name);
