// A program in the part of an address that no server sees.

/** What a link may unpack to: longer programs are not meant for one. */
const MOST = 200_000;

async function through(
  bytes: Uint8Array<ArrayBuffer>,
  stream: GenericTransformStream,
  most: number,
): Promise<Uint8Array> {
  const reader = (new Blob([bytes]).stream().pipeThrough(stream) as ReadableStream<Uint8Array>).getReader();
  const out: number[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Uint8Array.from(out);
    if (out.length + value.length > most) {
      await reader.cancel();
      throw new Error('the program is too long');
    }
    for (const byte of value) out.push(byte);
  }
}

/** The program as `#code=…`. */
export async function hashOf(program: string): Promise<string> {
  const packed = await through(new TextEncoder().encode(program), new CompressionStream('deflate-raw'), MOST);
  const text = btoa(packed.reduce((all, byte) => all + String.fromCharCode(byte), ''));
  return `#code=${text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}`;
}

/** The program of a hash; undefined where it has none, or none that can be read. */
export async function programOfHash(hash: string): Promise<string | undefined> {
  const [, text] = /^#code=([\w-]+)$/.exec(hash) ?? [];
  if (text === undefined) return undefined;
  try {
    const packed = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
    return new TextDecoder().decode(await through(bytes, new DecompressionStream('deflate-raw'), MOST));
  } catch {
    return undefined;
  }
}
