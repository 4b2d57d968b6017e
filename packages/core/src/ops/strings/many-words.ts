// The words of many texts: bytes are read faster than strings.
import { type Tensor, textsOf } from '../../tensor/tensor.ts';
import { isSpace } from './parts.ts';
import type { SharedPieces } from './pieces.ts';
import { eachUtf8, type Utf8 } from './utf8.ts';

// Fewer texts are read as they are.
const MANY = 64;
// Bytes of words that are looked up. Longer ones are hardly ever equal.
const SHORT = 32;
const BITS = 12;
const SLOTS = 1 << BITS;

/**
 * Cuts texts into words between spaces, as `cutWords` does where nothing limits it, up to the first bytes that are not UTF-8.
 * @param lengths gets how many words each text has.
 * @returns how many texts are cut.
 */
export function cutManyWords(x: Tensor, to: SharedPieces, lengths: number[]): number {
  const texts = textsOf(x);
  if (texts.length < MANY) return 0;
  let words: Words | null = new Words(to);
  eachUtf8(x, (utf8, first) => {
    if (!utf8.valid) words = null;
    if (words === null) return;
    const { bytes, starts } = utf8;
    words.read(utf8);
    for (let i = 0; i + 1 < starts.length; i++) {
      const end = starts[i + 1];
      const before = to.count;
      words.begin(texts[first + i], starts[i], end);
      for (let at = starts[i]; ; at = words.add(at)) {
        while (at < end && isSpace(bytes[at])) at++;
        if (at === end) break;
      }
      lengths.push(to.count - before);
    }
  });
  return lengths.length;
}

/** Words by their bytes. One that was met lately is not made again. */
class Words {
  #bytes: Uint8Array = new Uint8Array(0);
  #view = new DataView(new ArrayBuffer(0));
  readonly #to: SharedPieces;
  /** By hash, two slots for each: the place of a word among the pieces, its size, its last bytes, and those before. */
  readonly #places = new Int32Array(SLOTS).fill(-1);
  readonly #sizes = new Int32Array(SLOTS);
  readonly #tails = new Int32Array(SLOTS);
  readonly #heads = new Int32Array((SLOTS * SHORT) >> 2);
  /** The text whose words are read, where it ends, and a byte of it with its unit of UTF-16. */
  #text = '';
  #end = 0;
  #byte = 0;
  #unit = 0;
  #isAscii = true;

  constructor(to: SharedPieces) {
    this.#to = to;
  }

  read({ bytes, view }: Utf8): void {
    this.#bytes = bytes;
    this.#view = view;
  }
  /** Words are those of a text from now on, whose bytes begin at a place. */
  begin(text: string, start: number, end: number): void {
    this.#text = text;
    this.#end = end;
    this.#byte = start;
    this.#unit = 0;
    this.#isAscii = end - start === text.length;
  }

  /** Takes the word that begins at `start`. @returns where it ends */
  add(start: number): number {
    const view = this.#view;
    const last = this.#end;
    let hash = 0;
    let tail = 0;
    let end = start;
    while (true) {
      // Four at once: the highest bit of the first of them that is a space, or another control character.
      const four = view.getInt32(end, true);
      const low = (four - 0x21212121) & ~four & 0x80808080;
      const count = Math.min(low === 0 ? 4 : (31 - Math.clz32(low & -low)) >> 3, last - end);
      if (count === 4) {
        hash = Math.imul(hash ^ four, 0x2c1b3c6d);
        hash ^= hash >>> 15;
        end += 4;
        continue;
      }
      end += count;
      if (end < last && !isSpace(this.#bytes[end])) {
        while (end < last && !isSpace(this.#bytes[end])) end++;
        this.#to.push(this.#make(start, end));
        return end;
      }
      tail = four & ((1 << (8 * count)) - 1);
      break;
    }
    const size = end - start;
    this.#to.push(size > SHORT ? this.#make(start, end) : this.#find(start, size, tail, hash ^ tail ^ size));
    return end;
  }

  #make(start: number, end: number): number {
    const begin = this.#unitAt(start);
    return this.#to.make(this.#text, begin, this.#unitAt(end));
  }
  /** The unit of UTF-16 that begins at a byte, which is behind those that were asked for before. */
  #unitAt(byte: number): number {
    if (this.#isAscii) this.#unit += byte - this.#byte;
    else
      for (let i = this.#byte; i < byte; i++) {
        const own = this.#bytes[i];
        if ((own & 0xc0) !== 0x80) this.#unit += own >= 0xf0 ? 2 : 1;
      }
    this.#byte = byte;
    return this.#unit;
  }

  #find(start: number, size: number, tail: number, hash: number): number {
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
    places[older] = this.#make(start, start + size);
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
