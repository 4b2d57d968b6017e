// Small things about bytes that several formats need.

/** Compares as unsigned bytes; a prefix comes first. Negative, zero or positive as for `sort`. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return a[i] - b[i];
  return a.length - b.length;
}

/** Parts as one. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** The unsigned 32-bit number at `at`, little-endian. */
export function readUint32(bytes: Uint8Array, at: number): number {
  return (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0;
}

/** Reads bytes from front to back; a `Cursor` never goes behind the end. */
export class Cursor {
  readonly bytes: Uint8Array;
  at: number;
  readonly end: number;

  constructor(bytes: Uint8Array, at: number = 0, end: number = bytes.length) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  /** The varint that comes next; undefined where there is none, or one beyond 2^53 - 1. */
  varint(): number | undefined {
    let value = 0;
    for (let scale = 1; this.at < this.end && scale < 2 ** 63; scale *= 128) {
      const byte = this.bytes[this.at++];
      value += (byte & 127) * scale;
      if (byte < 128) return Number.isSafeInteger(value) ? value : undefined;
    }
    return undefined;
  }

  /** The next `length` bytes, sharing memory; undefined where there are fewer. */
  take(length: number): Uint8Array | undefined {
    if (length > this.end - this.at) return undefined;
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
}

/** Bytes that grow at the end. */
export class ByteBuilder {
  #bytes: Uint8Array;
  length = 0;

  constructor(capacity: number = 1024) {
    this.#bytes = new Uint8Array(capacity);
  }

  add(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.length++] = value;
  }

  varint(value: number): void {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.byte((rest % 128) | 128);
    this.byte(rest);
  }

  uint16(value: number): void {
    this.byte(value & 255);
    this.byte((value >>> 8) & 255);
  }

  uint32(value: number): void {
    this.#reserve(4);
    for (let shift = 0; shift < 32; shift += 8) this.#bytes[this.length++] = value >>> shift;
  }

  uint64(value: number): void {
    this.uint32(value % 2 ** 32);
    this.uint32(Math.floor(value / 2 ** 32));
  }

  /** What has been added, sharing memory until more is. */
  view(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
  }

  #reserve(count: number): void {
    if (this.length + count <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.length + count));
    larger.set(this.view());
    this.#bytes = larger;
  }
}
