const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/**
 * The first key that occurs twice in one object of a JSON text, or `undefined`. `JSON.parse` keeps the last one
 * silently, which lets two readers see two different files. The text must be valid JSON.
 */
export function findDuplicateKey(json: string): string | undefined {
  const objects: Set<string>[] = [];
  let i = 0;
  while (i < json.length) {
    const code = json.charCodeAt(i);
    if (code === QUOTE) {
      const end = endOfString(json, i);
      if (json.charCodeAt(skipSpace(json, end)) === COLON) {
        const key = JSON.parse(json.slice(i, end)) as string;
        const keys = objects.at(-1);
        if (keys?.has(key)) return key;
        keys?.add(key);
      }
      i = end;
      continue;
    }
    if (code === OPEN) objects.push(new Set());
    else if (code === CLOSE) objects.pop();
    i++;
  }
  return undefined;
}

function endOfString(json: string, start: number): number {
  let i = start + 1;
  while (i < json.length && json.charCodeAt(i) !== QUOTE) i += json.charCodeAt(i) === BACKSLASH ? 2 : 1;
  return i + 1;
}

function skipSpace(json: string, start: number): number {
  let i = start;
  while (i < json.length && json.charCodeAt(i) <= 0x20) i++;
  return i;
}
