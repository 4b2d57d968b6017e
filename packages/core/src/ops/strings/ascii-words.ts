// The words of many texts of ASCII: bytes are read faster than strings.
import { isSpace } from './parts.ts';
import type { SharedPieces } from './pieces.ts';

// Fewer texts are read as they are.
const MANY = 64;
// Characters of texts that are looked at together: they stay in the nearest caches.
const CHUNK = 1 << 15;
// Bytes of words that are looked up. Longer ones are hardly ever equal.
const SHORT = 32;
const BITS = 12;
const SLOTS = 1 << BITS;
// What is read as an integer may begin behind the last byte.
const PADDING = 4;

/**
 * Cuts texts into words between spaces, as `cutWords` does where nothing limits it, up to the first ones that are not ASCII.
 * @param lengths gets how many words each text has.
 * @returns how many texts are cut.
 */
export function cutAsciiWords(texts: readonly string[], to: SharedPieces, lengths: number[]): number {
  if (texts.length < MANY) return 0;
  const words = new AsciiWords(to);
  const { bytes } = words;
  const encoder = new TextEncoder();
  let from = 0;
  while (from < texts.length) {
    // With a space behind each, where its last word ends.
    let size = 0;
    let next = from;
    while (next < texts.length && size + texts[next].length < CHUNK) size += texts[next++].length + 1;
    const { read, written } = encoder.encodeInto(`${texts.slice(from, next).join(' ')} `, bytes);
    // Any other character takes more bytes than it has units. A text may be longer than all that is looked at.
    if (next === from || read !== size || written !== size) return from;
    let at = 0;
    for (; from < next; from++) {
      const text = texts[from];
      const begin = at;
      const end = at + text.length;
      const before = to.count;
      while (true) {
        while (at < end && isSpace(bytes[at])) at++;
        if (at === end) break;
        at = words.add(text, begin, at);
      }
      lengths.push(to.count - before);
      at++;
    }
  }
  return from;
}

/** Words by their bytes. One that was met lately is not made again. */
class AsciiWords {
  readonly bytes: Uint8Array<ArrayBuffer> = new Uint8Array(CHUNK + PADDING);
  readonly #view = new DataView(this.bytes.buffer);
  readonly #to: SharedPieces;
  /** By hash, two slots for each: the place of a word among the pieces, its size, its last bytes, and those before. */
  readonly #places = new Int32Array(SLOTS).fill(-1);
  readonly #sizes = new Int32Array(SLOTS);
  readonly #tails = new Int32Array(SLOTS);
  readonly #heads = new Int32Array((SLOTS * SHORT) >> 2);

  constructor(to: SharedPieces) {
    this.#to = to;
  }

  /** Takes the word that begins at `start`, of a text whose bytes are from `begin` on. @returns where it ends */
  add(text: string, begin: number, start: number): number {
    const view = this.#view;
    let hash = 0;
    let tail = 0;
    let end = start;
    while (true) {
      // Four at once: the highest bit of the first of them that is a space, or another control character.
      const four = view.getInt32(end, true);
      const low = (four - 0x21212121) & ~four & 0x80808080;
      if (low === 0) {
        hash = Math.imul(hash ^ four, 0x2c1b3c6d);
        hash ^= hash >>> 15;
        end += 4;
        continue;
      }
      const count = (31 - Math.clz32(low & -low)) >> 3;
      end += count;
      if (!isSpace(this.bytes[end])) {
        while (!isSpace(this.bytes[end])) end++;
        this.#to.push(this.#to.make(text, start - begin, end - begin));
        return end;
      }
      tail = four & ((1 << (8 * count)) - 1);
      break;
    }
    const size = end - start;
    this.#to.push(
      size > SHORT
        ? this.#to.make(text, start - begin, end - begin)
        : this.#find(text, begin, start, size, tail, hash ^ tail ^ size),
    );
    return end;
  }

  #find(text: string, begin: number, start: number, size: number, tail: number, hash: number): number {
    const slot = Math.imul(hash, 0x297a2d39) >>> (32 - BITS);
    const places = this.#places;
    if (this.#holds(slot, start, size, tail)) return places[slot];
    const other = slot ^ 1;
    if (this.#holds(other, start, size, tail)) return places[other];
    const older = places[slot] <= places[other] ? slot : other;
    this.#sizes[older] = size;
    this.#tails[older] = tail;
    const whole = size & ~3;
    for (let i = 0; i < whole; i += 4)
      this.#heads[(older * SHORT + i) >> 2] = this.#view.getInt32(start + i, true);
    places[older] = this.#to.make(text, start - begin, start - begin + size);
    return places[older];
  }

  /** No word has the size of a slot that holds none. */
  #holds(slot: number, start: number, size: number, tail: number): boolean {
    if (this.#sizes[slot] !== size || this.#tails[slot] !== tail) return false;
    for (let i = 0; i < (size & ~3); i += 4)
      if (this.#heads[(slot * SHORT + i) >> 2] !== this.#view.getInt32(start + i, true)) return false;
    return true;
  }
}
