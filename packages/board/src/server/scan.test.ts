import { tensorflow } from '@eagre/formats';
import type { SummaryEvent } from '@eagre/summary';
import { decodeEvent } from '@eagre/summary/internal';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { event, scalar } from '../testing/event-files.ts';
import { nameOf, type ScalarEvent, scanScalar } from './scan.ts';

const empty = (): ScalarEvent => ({ wallTime: 0, step: 0, value: 0, key: '' });
const float = fc.float({ noNaN: true });
const tag = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 });

test('a scalar is found however it is written', () => {
  fc.assert(
    fc.property(
      tag,
      float,
      fc.nat(),
      fc.constantFrom('content', 'list', 'simple'),
      (name, value, step, form) => {
        const tensor =
          form === 'content'
            ? scalar(name, value)
            : form === 'list'
              ? { tag: name, tensor: { dtype: 1, tensor_shape: {}, float_val: [value] } }
              : { tag: name, simple_value: value };
        const found = empty();
        const bytes = tensorflow.Event.encode(event(step, tensor));
        expect(scanScalar(bytes, found)).toBe(true);
        expect([nameOf(found.key), found.step, found.value]).toEqual([name, step, value]);
        expect(found.wallTime).toBe(1_700_000_000 + step);
      },
    ),
  );
});

test('other events are left to the decoder', () => {
  const others: tensorflow.Event[] = [
    { wall_time: 1, file_version: 'brain.Event:2' },
    event(1),
    event(1, scalar('a', 1), scalar('b', 2)),
    event(1, {
      tag: 'vector',
      tensor: { dtype: 1, tensor_shape: { dim: [{ size: 2 }] }, float_val: [1, 2] },
    }),
    event(1, { tag: 'integer', tensor: { dtype: 3, tensor_shape: {}, int_val: [1] } }),
    event(1, { tag: 'no value' }),
    event(-1, scalar('a step below zero', 1)),
  ];
  for (const other of others) expect(scanScalar(tensorflow.Event.encode(other), empty())).toBe(false);
});

function decoderSays(bytes: Uint8Array): SummaryEvent | undefined {
  try {
    return decodeEvent(bytes, 'run', 'file', new Map())[0];
  } catch {
    return undefined;
  }
}

test('of damaged bytes it says no more than the decoder does', () => {
  const whole = tensorflow.Event.encode(event(7, scalar('loss', 0.25)));
  const lengths = fc.oneof(fc.constant(whole.length), fc.nat(whole.length));
  let agreed = 0;
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.nat(255), lengths, (at, byte, length) => {
      const damaged = whole.slice(0, Math.max(length, 1));
      if (at < damaged.length) damaged[at] = byte;
      const found = empty();
      if (!scanScalar(damaged, found)) return;
      // The metadata, which nobody reads here, may be what was damaged.
      const decoded = decoderSays(damaged);
      if (decoded?.kind !== 'scalar') return;
      agreed++;
      expect(Object.is(decoded.value, found.value)).toBe(true);
      expect(Number(decoded.step)).toBe(found.step);
      expect(decoded.wallTime).toSatisfy((t: number) => Object.is(t, found.wallTime));
    }),
    { numRuns: 10_000 },
  );
  expect(agreed).toBeGreaterThan(100);
});
