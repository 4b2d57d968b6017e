// Whether memory grows while a convolutional network trains, when nobody disposes anything.
import { train } from './cnn.mjs';

train(50);
const early = process.memoryUsage.rss() / 1e6;
train(450);
const late = process.memoryUsage.rss() / 1e6;
console.log(
  JSON.stringify({
    value: late / early,
    detail: `${early.toFixed(0)} MB after 50 steps, ${late.toFixed(0)} MB after 500`,
  }),
);
