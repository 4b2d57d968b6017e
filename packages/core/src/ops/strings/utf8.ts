// The bytes of many strings at once.
import { type Tensor, textsOf } from '../../tensor/tensor.ts';

/** Texts as the bytes of `bytesOf`, one behind the other. */
export interface Utf8 {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where each text begins, and where the last one ends. */
  readonly starts: Int32Array<ArrayBuffer>;
  /** For reading integers, which may end up to 8 bytes behind the last text. */
  readonly view: DataView<ArrayBuffer>;
  /** Whether all characters are ASCII. */
  readonly ascii: boolean;
  /** Whether each of the bytes is a part of UTF-8, so that a text of as many bytes as units is ASCII. */
  readonly valid: boolean;
}

// What is read as an integer may begin at the last byte.
const PADDING = 8;
// Longer texts are encoded by the platform: a call takes as long as so many units.
const SHORT = 48;
// Units of texts that are encoded together; what is no longer than the second is kept with its texts.
const PIECE = 2 ** 20;
const KEPT = 2 ** 24;
const FEW = 64;

const encoder = /* @__PURE__ */ new TextEncoder();
const kept: WeakMap<readonly string[], Utf8> = /* @__PURE__ */ new WeakMap();

class Writer {
  bytes: Uint8Array<ArrayBuffer>;
  at = 0;
  ascii = true;
  valid = true;

  constructor(size: number) {
    this.bytes = new Uint8Array(size + PADDING);
  }

  /** Makes room for more bytes. */
  #need(more: number): void {
    const size = this.at + more + PADDING;
    if (size <= this.bytes.length) return;
    const bytes = new Uint8Array(Math.max(size, this.bytes.length + (this.bytes.length >> 1)));
    bytes.set(this.bytes);
    this.bytes = bytes;
  }

  add(text: string): void {
    const { length } = text;
    this.#need(length);
    if (length > SHORT) {
      const { read, written } = encoder.encodeInto(text, this.bytes.subarray(this.at, this.at + length));
      // Any other character takes more bytes than it has units.
      if (read === length && written === length) {
        this.at += length;
        return;
      }
      this.#units(text, 0);
      return;
    }
    const { bytes, at } = this;
    for (let i = 0; i < length; i++) {
      const unit = text.charCodeAt(i);
      if (unit > 0x7f) {
        this.at = at + i;
        this.#units(text, i);
        return;
      }
      bytes[at + i] = unit;
    }
    this.at = at + length;
  }

  /** Units of which some are not ASCII. */
  #units(text: string, from: number): void {
    this.ascii = false;
    const { length } = text;
    this.#need(3 * (length - from));
    const { bytes } = this;
    let { at } = this;
    for (let i = from; i < length; i++) {
      const unit = text.charCodeAt(i);
      if (unit < 0x80) bytes[at++] = unit;
      else if (unit < 0x800) {
        bytes[at++] = 0xc0 | (unit >> 6);
        bytes[at++] = 0x80 | (unit & 0x3f);
      } else {
        let point = unit;
        if (unit >= 0xd800 && unit <= 0xdfff) {
          const next = unit < 0xdc00 && i + 1 < length ? text.charCodeAt(i + 1) : 0;
          if (next >= 0xdc00 && next <= 0xdfff) {
            i++;
            point = 0x10000 + ((unit - 0xd800) << 10) + (next - 0xdc00);
            bytes[at++] = 0xf0 | (point >> 18);
            bytes[at++] = 0x80 | ((point >> 12) & 0x3f);
            bytes[at++] = 0x80 | ((point >> 6) & 0x3f);
            bytes[at++] = 0x80 | (point & 0x3f);
            continue;
          }
          this.valid = false;
          if (unit >= 0xdc80 && unit <= 0xdcff) {
            bytes[at++] = unit - 0xdc00;
            continue;
          }
          point = 0xfffd;
        }
        bytes[at++] = 0xe0 | (point >> 12);
        bytes[at++] = 0x80 | ((point >> 6) & 0x3f);
        bytes[at++] = 0x80 | (point & 0x3f);
      }
    }
    this.at = at;
  }
}

/** The bytes of the texts from one on, up to another one. */
function encoded(texts: readonly string[], from: number, to: number, units: number): Utf8 {
  const writer = new Writer(units);
  const starts = new Int32Array(to - from + 1);
  for (let i = from; i < to; i++) {
    writer.add(texts[i]);
    starts[i - from + 1] = writer.at;
  }
  const { bytes, ascii, valid } = writer;
  return { bytes, starts, view: new DataView(bytes.buffer), ascii, valid };
}

/**
 * Gives the bytes of the strings of a tensor to a function: of all at once, or of pieces of very many. Those of all stay with the tensor, as whoever
 * asks for them often asks again.
 * @param take gets the number of the first text too.
 */
export function eachUtf8(x: Tensor, take: (utf8: Utf8, first: number) => void): void {
  const texts = textsOf(x);
  let whole = kept.get(texts);
  let units = 0;
  if (whole === undefined) {
    for (let i = 0; i < texts.length && units <= KEPT; i++) units += texts[i].length;
    if (units <= KEPT) whole = encoded(texts, 0, texts.length, units);
    // Of few texts little is saved.
    if (whole !== undefined && texts.length > FEW) kept.set(texts, whole);
  }
  if (whole !== undefined) {
    take(whole, 0);
    return;
  }
  for (let from = 0; from < texts.length; ) {
    let to = from;
    for (units = 0; to < texts.length && (to === from || units + texts[to].length <= PIECE); to++)
      units += texts[to].length;
    take(encoded(texts, from, to, units), from);
    from = to;
  }
}
