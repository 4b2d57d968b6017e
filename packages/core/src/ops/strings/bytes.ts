// The bytes of strings. A string tensor holds text; a byte that is no part of UTF-8 is U+DC00 plus its value there, as in Python's
// `surrogateescape` (PEP 383). So every byte string has a text, from which the same bytes come back.

const ESCAPE = 0xdc00;
const encoder = /* @__PURE__ */ new TextEncoder();
const decoder = /* @__PURE__ */ new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

// What UTF-8 cannot hold: halves of surrogate pairs.
const HALF = /[\ud800-\udfff]/;
const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

// The platform's functions take as long to be called as so many units to be read.
const SHORT = 32;

/** Whether all characters are ASCII. */
export function isAscii(text: string): boolean {
  const { length } = text;
  if (length > SHORT) return !/[^\0-\x7f]/.test(text);
  for (let i = 0; i < length; i++) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
}

/** Whether a text has halves of surrogate pairs alone, such as escaped bytes. */
export function hasHalves(text: string): boolean {
  const { length } = text;
  if (length > SHORT) return HALF.test(text) && LONE.test(text);
  for (let i = 0; i < length; i++) if ((text.charCodeAt(i) & 0xf800) === 0xd800) return LONE.test(text);
  return false;
}

/** The bytes of a text: its UTF-8, with escaped bytes as they are. Other halves of surrogate pairs become U+FFFD. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  if (!hasHalves(text)) return encoder.encode(text);
  // By hand, as escaped bytes are seldom far from each other.
  const out = new Uint8Array(3 * text.length);
  let n = 0;
  for (let i = 0; i < text.length; i++) {
    let point = text.charCodeAt(i);
    if (point < 0x80) {
      out[n++] = point;
      continue;
    }
    if (point >= ESCAPE + 0x80 && point <= ESCAPE + 0xff) {
      out[n++] = point - ESCAPE;
      continue;
    }
    if (point >= 0x800) {
      if (point >= 0xd800 && point <= 0xdfff) {
        const next = text.charCodeAt(i + 1);
        if (point < ESCAPE && next >= ESCAPE && next <= 0xdfff) {
          i++;
          point = 0x10000 + ((point - 0xd800) << 10) + (next - ESCAPE);
          out[n++] = 0xf0 | (point >> 18);
          out[n++] = 0x80 | ((point >> 12) & 0x3f);
        } else {
          point = 0xfffd;
          out[n++] = 0xe0 | (point >> 12);
        }
      } else out[n++] = 0xe0 | (point >> 12);
      out[n++] = 0x80 | ((point >> 6) & 0x3f);
    } else out[n++] = 0xc0 | (point >> 6);
    out[n++] = 0x80 | (point & 0x3f);
  }
  return out.slice(0, n);
}

/** The text of bytes: UTF-8, with the bytes that are none escaped. */
export function textOf(bytes: Uint8Array): string {
  if (bytes.length <= SHORT) return escaped(bytes);
  try {
    return decoder.decode(bytes);
  } catch {
    return escaped(bytes);
  }
}

/** What is used of Node's. */
interface NodeBuffer {
  from(bytes: ArrayBuffer, at: number, length: number): { toString(encoding: 'utf16le'): string };
}

/** The same without the platform's decoder. */
function escaped(bytes: Uint8Array): string {
  const { length } = bytes;
  // No sequence has more units than bytes.
  const units = new Uint16Array(length);
  let n = 0;
  for (let i = 0; i < length; ) {
    const first = bytes[i];
    if (first < 0x80) {
      units[n++] = first;
      i++;
      continue;
    }
    const sequence = sequenceAt(bytes, i);
    const point = sequence === 0 ? ESCAPE + first : pointAt(bytes, i, sequence);
    if (point > 0xffff) {
      units[n++] = 0xd7c0 + (point >> 10);
      units[n++] = ESCAPE + (point & 0x3ff);
    } else units[n++] = point;
    i += Math.max(1, sequence);
  }
  // Node's takes a tenth of the time of all before.
  const { Buffer: node } = globalThis as { Buffer?: NodeBuffer };
  if (node !== undefined) return node.from(units.buffer, 0, 2 * n).toString('utf16le');
  let text = '';
  // What a call takes as arguments at most.
  for (let i = 0; i < n; i += 8192)
    text += Reflect.apply(String.fromCharCode, null, units.subarray(i, Math.min(n, i + 8192)) as never);
  return text;
}

/** The length of the sequence of UTF-8 at a place; 0 where none is. */
export function sequenceAt(bytes: Uint8Array, at: number): number {
  const first = bytes[at];
  if (first < 0x80) return 1;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + length > bytes.length) return 0;
  for (let i = 1; i < length; i++) if ((bytes[at + i] & 0xc0) !== 0x80) return 0;
  // Too long, a surrogate, or behind the last code point.
  const least = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const most = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  return bytes[at + 1] >= least && bytes[at + 1] <= most ? length : 0;
}

function pointAt(bytes: Uint8Array, at: number, length: number): number {
  let point = length === 1 ? bytes[at] : bytes[at] & (0x7f >> length);
  for (let i = 1; i < length; i++) point = (point << 6) | (bytes[at + i] & 0x3f);
  return point;
}

/** Compares texts by their bytes. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  const shorter = Math.min(a.length, b.length);
  let at = 0;
  while (at < shorter && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  // Units are in the order of bytes, but for halves of pairs, which stand before some that come first. Where one text ends, the unit before counts.
  const begin = at === shorter ? at - 1 : at;
  if (begin < 0 || (a.charCodeAt(begin) < 0xd800 && b.charCodeAt(begin) < 0xd800))
    return at === shorter ? a.length - b.length : a.charCodeAt(at) - b.charCodeAt(at);
  const [x, y] = [bytesOf(a), bytesOf(b)];
  const n = Math.min(x.length, y.length);
  for (let i = 0; i < n; i++) if (x[i] !== y[i]) return x[i] - y[i];
  return x.length - y.length;
}
