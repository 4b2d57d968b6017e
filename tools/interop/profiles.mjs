// A profile, for profiles.py, which has TensorFlow read it: `node profiles.mjs <folder>`. Prints what is in it.
import * as tf from '../../packages/eagre/dist/index.js';

const folder = process.argv[2];
const { Trace, start, stop } = tf.profiler.experimental;
const double = tf.function((x) => x.mul(2), { name: 'double' });
double(tf.ones([2]));
start(folder);
for (let step = 0; step < 3; step++)
  new Trace('train', { step_num: step, _r: 1, phase: 'first' }).run(() => double(tf.ones([2]).add(1)));
stop();
console.log(JSON.stringify({ events: ['train', 'AddV2', 'double'], steps: 3 }));
