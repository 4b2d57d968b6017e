// Event files hold scalars above all, a million of them in a long run: those are read here without making objects of the messages.

const text = new TextDecoder();

/** Where `scanScalar` puts what it found. */
export interface ScalarEvent {
  wallTime: number;
  step: number;
  value: number;
  /** The bytes of the tag as Latin-1: a key, not its name. */
  key: string;
}

/**
 * Reads an event that holds one scalar and nothing else: `simple_value`, or a float32 tensor without axes.
 *
 * @returns false for every other event, and where anything is unusual; then the message has to be decoded.
 */
export function scanScalar(event: Uint8Array, into: ScalarEvent): boolean {
  const reader = new Reader(event);
  into.wallTime = 0;
  into.step = 0;
  let found = false;
  while (reader.at < reader.end) {
    const field = reader.varint();
    if (field === 9) into.wallTime = reader.double();
    else if (field === 16) into.step = reader.varint();
    else if (field === 42) {
      const end = reader.varint() + reader.at;
      if (found || end > reader.end || !scanSummary(reader, end, into)) return false;
      found = true;
    } else if (field === 82) reader.skip(reader.varint());
    else return false;
    if (reader.bad) return false;
  }
  return found;
}

function scanSummary(reader: Reader, end: number, into: ScalarEvent): boolean {
  if (reader.varint() !== 10) return false;
  // One value that fills the summary.
  if (reader.varint() + reader.at !== end) return false;
  let tag = false;
  let value = false;
  while (reader.at < end) {
    const field = reader.varint();
    if (field === 10) {
      const length = reader.varint();
      if (reader.at + length > end) return false;
      into.key = reader.latin1(length);
      tag = true;
    } else if (field === 21 && !value) {
      into.value = reader.float();
      value = true;
    } else if (field === 66 && !value) {
      const stop = reader.varint() + reader.at;
      if (stop > end || !scanTensor(reader, stop, into)) return false;
      value = true;
    } else if (field === 58 || field === 74) reader.skip(reader.varint());
    else return false;
    if (reader.bad) return false;
  }
  return tag && value && reader.at === end;
}

function scanTensor(reader: Reader, end: number, into: ScalarEvent): boolean {
  let value = false;
  let float = false;
  while (reader.at < end) {
    const field = reader.varint();
    if (field === 8) float = reader.varint() === 1;
    else if (field === 18) {
      if (reader.varint() !== 0) return false;
    } else if (field === 34 || field === 42) {
      if (reader.varint() !== 4) return false;
      into.value = reader.float();
      value = true;
    } else if (field === 45) {
      into.value = reader.float();
      value = true;
    } else return false;
    if (reader.bad) return false;
  }
  return float && value && reader.at === end;
}

/** The text behind a key. */
export function nameOf(key: string): string {
  return text.decode(Buffer.from(key, 'latin1'));
}

class Reader {
  readonly bytes: Buffer;
  readonly end: number;
  at = 0;
  /** Something did not fit; what was read since means nothing. */
  bad = false;

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.end = bytes.byteLength;
  }

  varint(): number {
    let value = 0;
    let scale = 1;
    for (let i = 0; i < 7; i++) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) break;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
    this.bad = true;
    return 0;
  }

  double(): number {
    return this.#room(8) ? this.bytes.readDoubleLE(this.at - 8) : 0;
  }
  float(): number {
    return this.#room(4) ? this.bytes.readFloatLE(this.at - 4) : 0;
  }
  latin1(length: number): string {
    return this.#room(length) ? this.bytes.toString('latin1', this.at - length, this.at) : '';
  }
  skip(length: number): void {
    this.#room(length);
  }

  #room(length: number): boolean {
    if (this.at + length > this.end) {
      this.bad = true;
      this.at = this.end;
      return false;
    }
    this.at += length;
    return true;
  }
}
