// The most memory that a synchronous loop needs when nobody disposes anything.
import * as tf from 'eagre';

for (let i = 0; i < 300_000; i++) tf.fill([1024], i);
const { maxRSS } = process.resourceUsage();
console.log(JSON.stringify({ value: (maxRSS * 1024) / 1e6 }));
