// Strings in the text format of protobuf.

/** The bytes of the escapes that C has too. */
export const ESCAPES: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  f: 12,
  n: 10,
  r: 13,
  t: 9,
  v: 11,
  '\\': 92,
  '?': 63,
  "'": 39,
  '"': 34,
};
const PART =
  /\\(?:([abfnrtv\\?'"])|([0-7]{1,3})|[xX]([\da-fA-F]{1,2})|u([dD][89abAB][\da-fA-F]{2})\\u([dD][c-fC-F][\da-fA-F]{2})|u([\da-fA-F]{4})|U(00(?:0[\da-fA-F]|10)[\da-fA-F]{4}))|[^\\]/gs;

/** The bytes that a string stands for, without its quotes, of which each character is a byte; undefined for a wrong escape. */
export function unescaped(quoted: string): Uint8Array | undefined {
  const bytes: number[] = [];
  const utf8 = new TextEncoder();
  let end = 0;
  for (const match of quoted.matchAll(PART)) {
    if (match.index !== end) return undefined;
    end += match[0].length;
    const [character, simple, octal, hex, high, low, short, long] = match;
    if (simple !== undefined) bytes.push(ESCAPES[simple] as number);
    else if (octal !== undefined) bytes.push(Number.parseInt(octal, 8) & 0xff);
    else if (hex !== undefined) bytes.push(Number.parseInt(hex, 16));
    else if (high !== undefined)
      bytes.push(
        ...utf8.encode(String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low as string, 16))),
      );
    else if (short !== undefined || long !== undefined) {
      const point = Number.parseInt((short ?? long) as string, 16);
      // Half of a pair that stands alone is written as if it were a character.
      if (point >= 0xd800 && point < 0xe000)
        bytes.push(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63));
      else bytes.push(...utf8.encode(String.fromCodePoint(point)));
    } else bytes.push(character.charCodeAt(0));
  }
  return end === quoted.length ? Uint8Array.from(bytes) : undefined;
}
