// Serves the built site to tests and checks.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';

const types = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
  '.wasm': 'application/wasm',
  '.woff2': 'font/woff2',
};

/** @returns the address of the site, and what ends the server */
export async function serve(folder) {
  const server = createServer(({ url = '/' }, response) => {
    const path = decodeURIComponent(url.split('?')[0]);
    const name = path.endsWith('/')
      ? `${path}index.html`
      : /\.(?!class$)\w+$/.test(path)
        ? path
        : `${path}.html`;
    try {
      const body = readFileSync(join(folder, name));
      response.setHeader('content-type', types[extname(name)] ?? 'application/octet-stream').end(body);
    } catch {
      response.writeHead(404).end();
    }
  }).listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  return {
    address: `http://127.0.0.1:${server.address().port}`,
    close: () => new Promise((closed) => server.close(closed)),
  };
}
