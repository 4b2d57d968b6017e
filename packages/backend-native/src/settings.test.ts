import { InvalidArgumentError } from '@eagre/backend';
import { describe, expect, test } from 'vitest';
import { checkInstructionSet, checkSettings } from './settings.ts';

describe('settings in the environment', () => {
  test('that mean something', () => {
    for (const EAGRE_NUM_THREADS of [undefined, '', '1', '2', '256', '08'])
      checkSettings({ EAGRE_NUM_THREADS });
    for (const EAGRE_ISA of [undefined, '', 'baseline', 'avx2', 'avx512', 'amx'])
      checkSettings({ EAGRE_ISA });
    checkInstructionSet({}, 'avx2');
    checkInstructionSet({ EAGRE_ISA: '' }, 'avx2');
    checkInstructionSet({ EAGRE_ISA: 'avx2' }, 'avx2');
  });

  test.each(['0', '257', '-1', '2.5', 'two', ' 2', '1e2', '0x2'])(
    'EAGRE_NUM_THREADS=%s is refused',
    (text) => {
      expect(() => checkSettings({ EAGRE_NUM_THREADS: text })).toThrow(
        new InvalidArgumentError(`EAGRE_NUM_THREADS is '${text}', expected an integer from 1 to 256`),
      );
    },
  );

  test.each(['AVX2', 'sse', 'avx-512', 'neon'])('EAGRE_ISA=%s is refused', (text) => {
    expect(() => checkSettings({ EAGRE_ISA: text })).toThrow(
      new InvalidArgumentError(`EAGRE_ISA is '${text}', expected one of baseline, avx2, avx512, amx`),
    );
  });

  test('an instruction set that the processor lacks is refused', () => {
    expect(() => checkInstructionSet({ EAGRE_ISA: 'avx512' }, 'avx2')).toThrow(
      "EAGRE_ISA is 'avx512', which this processor does not support; the newest it supports is avx2",
    );
  });
});
