// Makes the mistake that a sanitizer has to find: writes behind a buffer, or lets two threads meet in one.
import { createRequire } from 'node:module';

const addon = createRequire(import.meta.url)(process.env.EAGRE_ADDON).open();
const block = new Float64Array(64);
addon.setBlock(block);

function run(kernel, numbers) {
  block.set(numbers);
  if (addon.run(addon.kernels.indexOf(kernel)) !== undefined) throw new Error(addon.lastError());
}

if (process.argv[2] === 'asan') {
  const buffer = Buffer.allocUnsafeSlow(4000).buffer;
  // One float more than the buffer has.
  run('Fill', [0, 1, addon.addressOf(buffer), 0, 1, 1001, 5]);
} else {
  const n = 1 << 22;
  const address = addon.addressOf(Buffer.allocUnsafeSlow(4 * n).buffer);
  // Reversed in place: what one thread reads another writes.
  for (let i = 0; i < 20; i++) run('Reverse', [1, 1, address, 0, 1, n, address, 0, 1, n, 1, 0]);
}
console.log('nothing found');
