// Loops on tensors: AutoGraph makes them parts of a graph.
import * as tf from 'eagre';

const collatz = tf.function((start: tf.Tensor) => {
  let n = start;
  let steps = tf.constant(0, 'int32');
  while (n.notEqual(1)) {
    n = n.mod(2).equal(0) ? n.floorDiv(2) : n.mul(3).add(1);
    steps = steps.add(1);
  }
  return steps;
});

for (const start of [6, 7, 27]) console.log(`${start}: ${collatz(tf.constant(start, 'int32')).item()} steps`);
console.log(`traced ${collatz.experimentalGetTracingCount()} time`);
