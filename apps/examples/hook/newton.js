// Plain JavaScript on tensors, converted while Node loads it: `node --import eagre/register hook/newton.js` in apps/examples, after a build.
// Operators and `while` work, eagerly and in one native call of `tf.function`.
import * as tf from 'eagre';

/** The root of a number by Newton's method: as many turns as it takes. */
function root(a) {
  'use autograph';
  let x = a;
  let turns = tf.constant(0, 'int32');
  while ((x * x - a) ** 2 > 1e-6) {
    x = (x + a / x) / 2;
    turns += 1;
  }
  return [x, turns];
}
const traced = tf.function(root);

for (const a of [2, 9, 1e4].map((value) => tf.constant(value))) {
  const [x, turns] = traced(a);
  const [same] = root(a);
  console.log(
    `√${a.item()} ≈ ${x.item().toFixed(4)} (${turns.item()} turns; eagerly ${same.item().toFixed(4)})`,
  );
}
console.log(`traced ${traced.experimentalGetTracingCount()} time`);

// Gradients flow through the loop: d√a/da = 1 / (2√a).
const a = tf.constant(16);
const tape = new tf.GradientTape();
tape.watch(a);
const [x] = traced(a);
console.log(`d√16/da = ${tape.gradient(x, a).item().toFixed(4)}`);
