/** For tests: a data set of a few bytes, and a server on this machine that gives its files, or not. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { InvalidArgumentError } from '@eagre/backend';
import { encodeIdx } from '@eagre/formats';
import { checksumLike } from '../checksum.ts';
import { DatasetError } from '../errors.ts';
import { defineIdxDataset, type IdxDataset, type IdxDatasetSpec } from '../idx-dataset.ts';

/** The gzipped files of {@link tiny}, by name. */
export const tinyFiles: Readonly<Record<string, Uint8Array>> = {
  'train-images-idx3-ubyte.gz': gzipped([3, 2, 2], (i) => (i * 37) % 256),
  'train-labels-idx1-ubyte.gz': gzipped([3], (i) => i % 2),
  't10k-images-idx3-ubyte.gz': gzipped([2, 2, 2], (i) => i),
  't10k-labels-idx1-ubyte.gz': gzipped([2], (i) => 1 - i),
};

export const tinySpec: IdxDatasetSpec = {
  name: 'tiny',
  imageShape: [2, 2],
  classNames: ['even', 'odd'],
  train: { count: 3, images: file('train-images-idx3-ubyte.gz'), labels: file('train-labels-idx1-ubyte.gz') },
  test: { count: 2, images: file('t10k-images-idx3-ubyte.gz'), labels: file('t10k-labels-idx1-ubyte.gz') },
  mirrors: [],
};

export const tiny: IdxDataset = defineIdxDataset(tinySpec);

/** A gzipped IDX file of uint8. */
export function gzipped(shape: readonly number[], value: (index: number) => number): Uint8Array {
  const length = shape.reduce((product, size) => product * size, 1);
  return gzipSync(
    encodeIdx({ dtype: 'uint8', shape, data: Uint8Array.from({ length }, (_, i) => value(i)) }),
  );
}

function file(name: string): IdxDatasetSpec['test']['images'] {
  const checksum = name.startsWith('train') ? 'md5:' : 'sha256:';
  return { name, checksum: checksumLike(checksum, tinyFiles[name]) };
}

/** A server that answers by one function. */
export interface TestServer {
  url: string;
  /** The requests so far: name and range. */
  requests: { name: string; range: string | undefined }[];
  close(): Promise<void>;
}

/** Starts a server on a free port. */
export async function serve(
  answer: (name: string, response: ServerResponse, request: IncomingMessage) => void,
): Promise<TestServer> {
  const requests: TestServer['requests'] = [];
  const server = createServer((request, response) => {
    const name = request.url!.slice(1);
    requests.push({ name, range: request.headers.range });
    answer(name, response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): Promise<void> => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(() => resolve()));
  };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { url, requests, close };
}

/** Loads `runs` damaged copies of a file: each must load or be refused with a {@link DatasetError}. */
export async function mutateFile(
  name: string,
  folder: string,
  runs: number,
  load: (folder: string) => Promise<unknown>,
): Promise<{ loaded: number; refused: number }> {
  const good = readFileSync(join(folder, name));
  const root = mkdtempSync(join(tmpdir(), 'eagre-mutated-'));
  const results = { loaded: 0, refused: 0 };
  let state = 1;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * limit);
  };
  try {
    for (let run = 0; run < runs; run++) {
      let bytes = new Uint8Array(good);
      for (let fault = below(4); fault >= 0; fault--) bytes[below(bytes.length)] = below(256);
      if (below(4) === 0) bytes = bytes.slice(0, below(bytes.length));
      writeFileSync(join(root, name), bytes);
      await load(root).then(
        () => results.loaded++,
        (error: unknown) => {
          if (!(error instanceof DatasetError) && !(error instanceof InvalidArgumentError)) throw error;
          results.refused++;
        },
      );
    }
  } finally {
    rmSync(root, { recursive: true });
  }
  return results;
}

/** Answers with a file, or the range of it that was asked for, as a web server does. */
export function sendFile(
  name: string,
  response: ServerResponse,
  request: IncomingMessage,
  files: Readonly<Record<string, Uint8Array>> = tinyFiles,
): void {
  const bytes = files[name];
  const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
  if (!bytes) response.writeHead(404).end();
  else if (start >= bytes.length) response.writeHead(416).end();
  else if (start > 0) {
    const range = `bytes ${start}-${bytes.length - 1}/${bytes.length}`;
    response.writeHead(206, { 'content-range': range, 'content-length': bytes.length - start });
    response.end(bytes.subarray(start));
  } else response.writeHead(200, { 'content-length': bytes.length }).end(bytes);
}
