// The most memory that a process needs to train a convolutional network, when nobody disposes anything.
import { train } from './cnn.mjs';

train(500);
const { maxRSS } = process.resourceUsage();
console.log(JSON.stringify({ value: (maxRSS * 1024) / 1e6 }));
