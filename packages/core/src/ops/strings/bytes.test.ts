import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { bytesOf, textOf } from './bytes.ts';

afterEach(() => vi.unstubAllGlobals());

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 300, size: 'max' }),
  // Sequences of UTF-8, whole, broken and of nothing.
  fc
    .array(
      fc.oneof(
        fc.string({ unit: 'binary', maxLength: 3 }).map((text) => [...new TextEncoder().encode(text)]),
        fc.constantFrom(
          [0xed, 0xa0, 0x80],
          [0xf4, 0x90, 0x80, 0x80],
          [0xe2, 0x82],
          [0xc0, 0x80],
          [0xff],
          [0xf0, 0x9f],
        ),
      ),
      { maxLength: 60, size: 'max' },
    )
    .map((parts) => Uint8Array.from(parts.flat())),
);
const units = fc
  .array(fc.oneof(fc.nat(0x7f), fc.integer({ min: 0xd700, max: 0xe0ff }), fc.nat(0xffff)), {
    maxLength: 200,
    size: 'max',
  })
  .map((codes) => String.fromCharCode(...codes));

/** The bytes of a text, one character at a time. */
function slowly(text: string): number[] {
  return [...text].flatMap((character) => {
    const point = character.codePointAt(0) as number;
    if (point >= 0xdc80 && point <= 0xdcff) return [point - 0xdc00];
    return [...new TextEncoder().encode(character)];
  });
}

describe.each(['Node', 'a page'])('in %s', (where) => {
  const within = (run: () => void): void => {
    if (where === 'a page') vi.stubGlobal('Buffer', undefined);
    run();
  };

  test('all bytes have a text, of which the same bytes come back', () => {
    within(() =>
      fc.assert(
        fc.property(bytes, (all) => {
          const text = textOf(all);
          expect(bytesOf(text)).toEqual(all);
          expect(slowly(text)).toEqual([...all]);
        }),
      ),
    );
  });

  test('what is UTF-8 has the text that the platform says', () => {
    within(() =>
      fc.assert(
        fc.property(fc.string({ unit: 'binary', maxLength: 100, size: 'max' }), (text) => {
          expect(textOf(new TextEncoder().encode(text))).toBe(text);
        }),
      ),
    );
  });

  test('longer than a call takes arguments', () => {
    within(() => {
      const all = Uint8Array.from({ length: 100_000 }, (_, i) => (i * 2654435761) >>> 13);
      expect(bytesOf(textOf(all))).toEqual(all);
    });
  });
});

test('a text gives its UTF-8, escaped bytes as they are, and U+FFFD for other halves of pairs', () => {
  fc.assert(
    fc.property(units, (text) => {
      expect([...bytesOf(text)]).toEqual(slowly(text));
    }),
  );
});
