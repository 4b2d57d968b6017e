// The files of the page. There are few and they are small, so all are read once: what happens to the folder later harms nobody.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join, relative, sep } from 'node:path';

interface PageFile {
  readonly type: string;
  readonly bytes: Uint8Array;
  readonly etag: string;
}

const TYPES: ReadonlyMap<string, string> = new Map([
  ['.html', 'text/html;charset=utf-8'],
  ['.js', 'text/javascript;charset=utf-8'],
  ['.css', 'text/css;charset=utf-8'],
  ['.json', 'application/json'],
  ['.svg', 'image/svg+xml'],
  ['.png', 'image/png'],
  ['.ico', 'image/x-icon'],
  ['.woff2', 'font/woff2'],
]);

export class Pages {
  readonly #files: ReadonlyMap<string, PageFile>;

  private constructor(files: ReadonlyMap<string, PageFile>) {
    this.#files = files;
  }

  /** The files of a folder. */
  static async read(folder: string): Promise<Pages> {
    const files = new Map<string, PageFile>();
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      const bytes = await readFile(path);
      const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
      const type = TYPES.get(extname(path)) ?? 'application/octet-stream';
      files.set(`/${relative(folder, path).split(sep).join('/')}`, { type, bytes, etag });
    }
    const index = files.get('/index.html');
    if (index !== undefined) files.set('/', index);
    return new Pages(files);
  }

  /** Answers with the file of this name. @returns false where there is none. */
  send(path: string, request: IncomingMessage, response: ServerResponse): boolean {
    const file = this.#files.get(path);
    if (file === undefined) return false;
    response.setHeader('etag', file.etag);
    response.setHeader('cache-control', 'no-cache');
    if (request.headers['if-none-match'] === file.etag) {
      response.writeHead(304).end();
      return true;
    }
    response.writeHead(200, { 'content-type': file.type, 'content-length': file.bytes.byteLength });
    response.end(file.bytes);
    return true;
  }
}
