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
  const out = new Uint8Array(3 * text.length);
  let n = 0;
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0xd800 || unit > 0xdfff) continue;
    const next = text.charCodeAt(i + 1);
    if (unit < ESCAPE && next >= ESCAPE && next <= 0xdfff) {
      i++;
      continue;
    }
    if (unit < ESCAPE + 0x80 || unit > ESCAPE + 0xff) continue;
    n += encoder.encodeInto(text.slice(from, i), out.subarray(n)).written;
    out[n++] = unit - ESCAPE;
    from = i + 1;
  }
  n += encoder.encodeInto(text.slice(from), out.subarray(n)).written;
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

/** The same without the platform. */
function escaped(bytes: Uint8Array): string {
  let text = '';
  let units: number[] = [];
  for (let i = 0; i < bytes.length; ) {
    const length = sequenceAt(bytes, i);
    const point = length === 0 ? ESCAPE + bytes[i] : pointAt(bytes, i, length);
    if (point > 0xffff) units.push(0xd7c0 + (point >> 10), ESCAPE + (point & 0x3ff));
    else units.push(point);
    i += Math.max(1, length);
    if (units.length < 8192) continue;
    text += String.fromCharCode(...units);
    units = [];
  }
  return text + String.fromCharCode(...units);
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
