/** For tests: a tar archive in memory. `undefined` is a folder, a string is a link to that path. */
export function tarOf(entries: Readonly<Record<string, Uint8Array | string | undefined>>): Uint8Array {
  const blocks: Uint8Array[] = [];
  for (const [path, content] of Object.entries(entries)) {
    const bytes = content instanceof Uint8Array ? content : new Uint8Array(0);
    const header = new Uint8Array(512);
    const put = (at: number, text: string): void => header.set(new TextEncoder().encode(text), at);
    put(0, path);
    put(100, '0000644\0');
    put(108, '0000000\0');
    put(116, '0000000\0');
    put(124, `${bytes.length.toString(8).padStart(11, '0')}\0`);
    put(136, '00000000000\0');
    put(148, '        ');
    put(156, content === undefined ? '5' : typeof content === 'string' ? '2' : '0');
    if (typeof content === 'string') put(157, content);
    put(257, 'ustar\x0000');
    const sum = header.reduce((total, byte) => total + byte, 0);
    put(148, `${sum.toString(8).padStart(6, '0')}\0 `);
    blocks.push(header, bytes, new Uint8Array((512 - (bytes.length % 512)) % 512));
  }
  return Buffer.concat([...blocks, new Uint8Array(1024)]);
}
