import { describe, expect, it } from 'vitest';
import { philox } from './philox.ts';

describe('Philox4x32-10', () => {
  // The known answers of the paper's authors.
  it.each([
    [
      [0, 0, 0, 0],
      [0, 0],
      [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8],
    ],
    [Array(4).fill(0xffffffff), Array(2).fill(0xffffffff), [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd]],
    [
      [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
      [0xa4093822, 0x299f31d0],
      [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
    ],
  ])('makes the block of %j, key %j', (counter, key, block) => {
    const words = Uint32Array.from(counter);
    philox(words, key[0], key[1]);
    expect([...words]).toEqual(block);
  });
});
