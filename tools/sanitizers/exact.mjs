import { createRequire } from 'node:module';
import { HostAllocator, Storage } from '@eagre/backend';
import { expect } from 'vitest';

// Every tensor gets a buffer of exactly its size, so that AddressSanitizer sees each step beyond: not in slabs, not rounded up.
// The tests of memory itself run with the allocator as it is.
if (!/(memory|native|processes)\.test\.ts$/.test(expect.getState().testPath ?? '')) {
  const { addressOf } = createRequire(import.meta.url)(process.env.EAGRE_ADDON).open();
  const allocate = function (bytes) {
    const { buffer } = Buffer.allocUnsafeSlow(Math.max(1, bytes));
    return new Storage(this, buffer, 0, bytes, addressOf(buffer), undefined);
  };
  const before = HostAllocator.prototype.allocate;
  HostAllocator.prototype.allocate = function (bytes) {
    // What is too large is refused there.
    return bytes < 2 ** 30 ? allocate.call(this, bytes) : before.call(this, bytes);
  };
  HostAllocator.prototype.allocateAlone = HostAllocator.prototype.allocate;
  HostAllocator.prototype.recycle = () => {};
}
