// What one turn of a loop in a traced function takes, at best: `pnpm build && node apps/bench/probes/loop-turn.mjs`. Each loop has
// single numbers; the time of 4,000 turns less that of 1,000, so that the call does not count.
import * as tf from 'eagre';

const COUNTS = [1000, 4000];
const RUNS = 2000;

const zero = () => tf.constant(0, 'int32');
const count = (x) => {
  const [i] = tf.whileLoop(
    (i) => i.less(x.size),
    (i) => [i.add(1)],
    [zero()],
  );
  return i;
};
const sum = (x) => {
  const [, sum] = tf.whileLoop(
    (i) => i.less(x.size),
    (i, sum) => [i.add(1), sum.add(x.gather(i))],
    [zero(), zero()],
  );
  return sum;
};
const sumEven = (x) => {
  const [, sum] = tf.whileLoop(
    (i) => i.less(x.size),
    (i, sum) => {
      const n = x.gather(i);
      const next = tf.cond(
        n.mod(2).equal(0),
        () => sum.add(n),
        () => sum,
      );
      return [i.add(1), next];
    },
    [zero(), zero()],
  );
  return sum;
};
const map = (x) => tf.mapFn((n) => n.mul(3).add(1), x);

function best(f, x) {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < RUNS; i++) {
    const start = performance.now();
    f(x).dispose();
    least = Math.min(least, performance.now() - start);
  }
  return least * 1e6;
}

const inputs = COUNTS.map((n) => tf.constant(Int32Array.from({ length: n }, (_, i) => (i * 7919) % 1000)));
for (const [name, loop] of Object.entries({ count, sum, sumEven, map })) {
  const f = tf.function(loop);
  const [few, many] = inputs.map((x) => best(f, x));
  console.log(`${name.padEnd(8)} ${((many - few) / (COUNTS[1] - COUNTS[0])).toFixed(1)} ns a turn`);
}
