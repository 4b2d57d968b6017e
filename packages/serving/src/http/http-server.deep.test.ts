import { connect } from 'node:net';
import { hostname as osHostname } from 'node:os';
import { gzipSync } from 'node:zlib';
import { gather, type Tensor } from '@eagre/core';
import { TensorSpec, tfFunction } from '@eagre/graph';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createServer } from '../functions.ts';
import type { ServableSignature } from '../servable/servable.ts';
import type { ServedModels, Server } from '../server.ts';
import type { RequestLogEntry, ServerOptions } from '../server-options.ts';
import { ask, post, predict } from '../testing/client.ts';
import { alone, echo, halfPlus, halfPlusThree } from '../testing/servables.ts';

const servers: Server[] = [];
async function serve(models: ServedModels, options: ServerOptions = {}): Promise<Server> {
  const server = await createServer(models, { port: 0, ...options });
  servers.push(server);
  return server;
}
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** Sends bytes as they are. @returns all that comes back until the connection is closed */
function raw(server: Server, ...parts: (string | number)[]): Promise<string> {
  const { hostname, port } = new URL(server.url);
  return new Promise((done) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.setEncoding('latin1').on('data', (data) => {
      text += data;
    });
    socket.on('error', () => done(text)).on('close', () => done(text));
    void (async () => {
      for (const part of parts) {
        if (typeof part === 'string') socket.write(part, 'latin1');
        else await new Promise((later) => setTimeout(later, part));
      }
    })();
  });
}

/** Answers when it is told to. */
function held(): {
  signature: ServableSignature;
  open: () => void;
  started: Promise<void>;
  aborted: () => boolean;
} {
  let open = (): void => {};
  let start = (): void => {};
  let aborted = false;
  const opened = new Promise<void>((done) => (open = done));
  const started = new Promise<void>((done) => (start = done));
  const signature: ServableSignature = {
    ...halfPlus(0),
    run: async (inputs, signal) => {
      start();
      signal.addEventListener('abort', () => (aborted = true));
      await opened;
      return halfPlus(0).run(inputs, signal);
    },
  };
  return { signature, open, started, aborted: () => aborted };
}

describe('requests', () => {
  test('of unknown paths, methods and names are refused as TensorFlow Serving does', async () => {
    const server = await serve(alone(halfPlus(2)), { name: 'foo' });
    const cases: [method: string, path: string, status: number, message: string][] = [
      ['GET', '/v1/foo', 400, 'Malformed request: GET /v1/foo'],
      ['POST', '/v1/foo', 400, 'Malformed request: POST /v1/foo'],
      ['GET', '/v1/models', 400, 'Missing model name in request.'],
      ['GET', '/v1/models/debug/model_name', 400, 'Malformed request: GET /v1/models/debug/model_name'],
      ['POST', '/v1/models', 400, 'Malformed request: POST /v1/models'],
      ['GET', '/v1/models/foo:predict', 400, 'Malformed request: GET /v1/models/foo:predict'],
      [
        'POST',
        '/v1/models/foo/version/50:regress',
        400,
        'Malformed request: POST /v1/models/foo/version/50:regress',
      ],
      [
        'POST',
        '/v1/models/foo/versions/HELLO:regress',
        400,
        'Malformed request: POST /v1/models/foo/versions/HELLO:regress',
      ],
      [
        'POST',
        '/v1/models/foo/versions/18446744073709551615:regress',
        400,
        'Failed to convert version: 18446744073709551615 to numeric.',
      ],
      ['POST', '/v1/models/foo/metadata', 400, 'Malformed request: POST /v1/models/foo/metadata'],
      [
        'POST',
        '/v1/models/foo/versions/50/labels/a:regress',
        400,
        'Malformed request: POST /v1/models/foo/versions/50/labels/a:regress',
      ],
      ['PUT', '/v1/models/foo:predict', 400, 'Malformed request: PUT /v1/models/foo:predict'],
      ['POST', '/v1/models/foo:PREDICT', 400, 'Malformed request: POST /v1/models/foo:PREDICT'],
      ['POST', '/v1/models/bar:predict', 404, 'Servable not found for request: Latest(bar)'],
      [
        'POST',
        '/v1/models/bar/versions/50:predict',
        404,
        'Servable not found for request: Specific(bar, 50)',
      ],
      ['GET', '/v1/models/bar', 404, 'Could not find any versions of model bar'],
      ['GET', '/v1/models/foo/versions/2', 404, 'Could not find version 2 of model foo'],
      ['GET', '/v1/models/bar/metadata', 404, 'Servable not found for request: Latest(bar)'],
      [
        'GET',
        '/v1/models/..%2f..%2fetc%2fpasswd',
        404,
        'Could not find any versions of model ../../etc/passwd',
      ],
      ['GET', '/v1/models/%zz', 400, "'/v1/models/%zz' is not a valid url component"],
      ['GET', '/v1/models/__proto__', 404, 'Could not find any versions of model __proto__'],
      ['GET', '/', 404, 'Not Found'],
      ['GET', '/statuspage', 404, 'Not Found'],
      ['DELETE', '/healthz', 404, 'Not Found'],
    ];
    for (const [method, path, status, message] of cases) {
      const body = method === 'POST' ? '{"instances": [1], "examples": [{}]}' : null;
      const answer = await ask(server, path, { method, body });
      expect([path, answer.status, answer.json]).toEqual([path, status, { error: message }]);
    }
    expect((await post(server, '/V1/MODELS/foo:predict?a=b', { instances: [2] })).json).toEqual({
      predictions: [3],
    });
    expect((await post(server, '/v1/models/f%6fo:predict', { instances: [2] })).json).toEqual({
      predictions: [3],
    });
  });

  test('with wrong bodies are refused', async () => {
    const server = await serve(alone({ ...halfPlus(2) }), { name: 'm' });
    const cases: [body: string, message: string][] = [
      ['', 'JSON Parse error: The document is empty. at offset: 0'],
      ['instances = [1, 2]', 'JSON Parse error: Invalid value. at offset: 0'],
      [
        '{ "instances": ["x", "y"] }',
        'Failed to process element: 0 of \'instances\' list. Error: INVALID_ARGUMENT: JSON Value: "x" Type: String is not of expected type: float',
      ],
      [
        '{ "signature_name": "other", "instances": [1] }',
        'Serving signature name: "other" not found in signature def',
      ],
      [
        '{ "signature_name": "__proto__", "instances": [1] }',
        'Serving signature name: "__proto__" not found in signature def',
      ],
    ];
    for (const [body, message] of cases) {
      const answer = await predict(server, 'm', body);
      expect(answer.status).toBe(400);
      expect(answer.json).toEqual({ error: message });
    }
    const named = await predict(server, 'm', '{ "signature_name": 100 }');
    expect(named.json.error).toContain("'signature_name' key must be a string value.");
    const classify = await post(server, '/v1/models/m:classify', { examples: [{ x: 1 }] });
    expect(classify.json.error).toContain('Expected classification signature outputs');
    const regress = await post(server, '/v1/models/m:regress', { signature_name: 'r', examples: [{ x: 1 }] });
    expect(regress.json.error).toBe('No signature was found with the name: r');
  });

  test('may be gzipped, and are what they are whatever type they are said to have', async () => {
    const server = await serve(alone(halfPlus(2)), { name: 'm', maxBodyBytes: 1000 });
    const body = '{"instances": [2]}';
    const types = ['application/x-www-form-urlencoded', 'text/plain', 'application/json', 'nonsense'];
    for (const type of types)
      expect(
        (await post(server, '/v1/models/m:predict', body, { headers: { 'content-type': type } })).json,
      ).toEqual({ predictions: [3] });
    const gzip = (bytes: Uint8Array, encoding = 'gzip') =>
      post(server, '/v1/models/m:predict', bytes, { headers: { 'content-encoding': encoding } });
    expect((await gzip(gzipSync(body))).json).toEqual({ predictions: [3] });
    expect((await gzip(Buffer.from(body))).status).toBe(400);
    expect((await gzip(gzipSync(body), 'br')).status).toBe(415);
    expect((await gzip(gzipSync(Buffer.alloc(10_000_000)))).status).toBe(413);
    const large = await predict(server, 'm', `{"instances": [${'1,'.repeat(1000)}1]}`);
    expect(large.status).toBe(413);
    expect(large.json.error).toBe('the body is larger than 1000 bytes');
    expect((await predict(server, 'm', body)).status).toBe(200);
  });

  test('are counted, timed and logged', async () => {
    const lines: RequestLogEntry[] = [];
    const messages: unknown[] = [];
    const broken: ServableSignature = {
      ...halfPlus(0),
      run: async () => {
        throw new TypeError('secret of /home/me');
      },
    };
    const server = await serve(
      { good: alone(halfPlus(2)), bad: alone(broken) },
      { batching: true, requestLog: (entry) => lines.push(entry), log: (_, error) => messages.push(error) },
    );
    await predict(server, 'good', { instances: [2] });
    expect((await predict(server, 'bad', { instances: [2] })).json).toEqual({ error: 'internal error' });
    expect(messages).toEqual([expect.objectContaining({ message: 'secret of /home/me' })]);
    for (let i = 0; i < 5; i++) await predict(server, `unknown${i}`, { instances: [2] });
    const { text, headers } = await ask(server, '/monitoring/prometheus/metrics');
    expect(headers.get('content-type')).toContain('text/plain');
    expect(text).toContain(':tensorflow:serving:request_count{model_name="good",status="OK"} 1\n');
    expect(text).toContain(':tensorflow:serving:request_count{model_name="bad",status="INTERNAL"} 1\n');
    expect(text).toContain(':tensorflow:serving:request_count{model_name="",status="NOT_FOUND"} 5\n');
    expect(text).toContain(
      ':tensorflow:serving:request_latency_count{model_name="good",API="predict",entrypoint="REST"} 1\n',
    );
    expect(text).toMatch(
      /:tensorflow:serving:request_latency_bucket\{model_name="good",API="predict",entrypoint="REST",le="\+Inf"\} 1\n/,
    );
    for (const line of text.trimEnd().split('\n'))
      expect(line).toMatch(/^(# (HELP|TYPE) [a-z_:]+ .+|[a-z_:]+(\{([A-Za-z_]+="[^"]*",?)+\})? [-+.e\d]+)$/);
    expect(lines.slice(0, 3)).toMatchObject([
      {
        method: 'POST',
        path: '/v1/models/good:predict',
        status: 200,
        model: 'good',
        version: 1,
        requestBytes: 17,
      },
      { status: 500, model: 'bad', error: 'internal error' },
      { status: 404, error: 'Servable not found for request: Latest(unknown0)' },
    ]);
  });

  test('of pages of other origins are allowed where that is asked for', async () => {
    const closed = await serve(alone(halfPlus(2)));
    const preflight = { method: 'OPTIONS', headers: { origin: 'https://example.org' } };
    expect(
      (await ask(closed, '/v1/models/default', preflight)).headers.get('access-control-allow-origin'),
    ).toBeNull();
    const open = await serve(alone(halfPlus(2)), { cors: true });
    const { status, headers } = await ask(open, '/v1/models/default:predict', preflight);
    expect(status).toBe(200);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-allow-methods')).toBe('POST, GET');
    expect((await ask(open, '/v1/models/default', { method: 'OPTIONS' })).status).toBe(400);
    expect(
      (await predict(open, 'default', { instances: [1] })).headers.get('access-control-allow-origin'),
    ).toBe('*');
  });
});

describe('models', () => {
  test('tell their signatures', async () => {
    const server = await serve(halfPlusThree(), { name: 'h' });
    const dim = [{ size: '-1', name: '' }];
    expect((await ask(server, '/v1/models/h/metadata')).json).toEqual({
      model_spec: { name: 'h', signature_name: '', version: '1' },
      metadata: {
        signature_def: {
          signature_def: {
            serving_default: {
              inputs: { x: { dtype: 'DT_FLOAT', tensor_shape: { dim, unknown_rank: false }, name: 'x' } },
              outputs: {
                output_0: { dtype: 'DT_FLOAT', tensor_shape: { dim, unknown_rank: false }, name: 'output_0' },
              },
              method_name: 'tensorflow/serving/predict',
              defaults: {},
            },
          },
        },
      },
    });
  });

  test('may be many, and each request gets its own answer under load', async () => {
    const models = Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`m${i}`, alone(halfPlus(i))]));
    const server = await serve({ ...models, traced: halfPlusThree() }, { batching: true });
    await Promise.all(
      Array.from({ length: 300 }, async (_, i) => {
        const m = i % 6;
        const rows = Array.from({ length: 1 + (i % 4) }, (_, j) => i + j);
        const { json } = await predict(server, m === 5 ? 'traced' : `m${m}`, { instances: rows });
        expect(json).toEqual({ predictions: rows.map((v) => v / 2 + (m === 5 ? 3 : m)) });
      }),
    );
  });

  test('that are functions with several tensors run off the event loop, and errors hit one request alone', async () => {
    const table = tfFunction({
      inputSignature: [new TensorSpec([null], 'int32', 'i'), { w: new TensorSpec([null, 3], 'float32') }],
    })((i: Tensor, { w }: { w: Tensor }) => ({ picked: gather([10, 20, 30], i), sum: w.sum(1) }));
    const server = await serve(table as never, { batching: { batchTimeoutMicros: 20_000 } });
    const instance = (i: number) => ({ i, w: [i, 1, 1] });
    const [a, bad, b] = await Promise.all(
      [0, 7, 2].map((i) => predict(server, 'default', { instances: [instance(i)] })),
    );
    expect(a.json).toEqual({ predictions: [{ picked: 10, sum: 2 }] });
    expect(b.json).toEqual({ predictions: [{ picked: 30, sum: 4 }] });
    expect(bad.status).toBe(400);
    // Nothing of the server's files.
    expect(bad.json.error).not.toMatch(/\.ts|\//);
  });

  test('that cannot be served are refused', async () => {
    const refused = async (models: unknown, message: string | RegExp, options: object = {}) =>
      expect(createServer(models as never, { port: 0, ...options })).rejects.toThrow(message);
    await refused(5, 'expected a model');
    await refused({}, 'expected a model');
    await refused({ a: 5 }, 'the model a cannot be served');
    await refused({ signatures: {} }, 'at least one signature');
    await refused({ signatures: { a: 5 } }, 'the signature a must be a tf.function');
    await refused(
      tfFunction((x: Tensor) => x),
      /input signature|arguments/,
    );
    await refused(
      tfFunction({ inputSignature: [new TensorSpec([null], 'string')] })((x: Tensor) => x),
      /string/,
    );
    const one = alone(halfPlus(1));
    await refused(one, 'port must be at most 65535', { port: 70_000 });
    await refused(one, /'prot' is not an option/, { prot: 1 });
    await refused(one, 'batching', { batching: 7 });
    await refused(one, /maxBatch/, { batching: { maxBatch: 7 } });
    await refused(one, 'predictTimeoutMs', { predictTimeoutMs: 0 });
    await refused(one, 'versionPolicy must be', { versionPolicy: { latest: 0 } });
    await refused(one, 'a label is made of', { versionLabels: { 'a/b': 1 } });
    await refused({ a: one, b: one }, 'the option name is for one model', { name: 'x' });
    const server = await serve(one, { port: null as never });
    const { port } = new URL(server.url);
    expect(port).toBe('8501');
    await refused(one, 'cannot listen on', { port: Number(port) });
  });
});

describe('time', () => {
  test('is bounded for a prediction; health answers meanwhile', async () => {
    const { signature, open, started, aborted } = held();
    const server = await serve(alone(signature), { predictTimeoutMs: 200, maxInFlight: 1 });
    const slow = predict(server, 'default', { instances: [1] });
    await started;
    expect((await ask(server, '/healthz')).json).toEqual({ status: 'ok' });
    expect((await ask(server, '/readyz')).status).toBe(200);
    const { status, json } = await slow;
    expect(status).toBe(504);
    expect(json).toEqual({ error: 'the request took more than 200 ms' });
    expect(aborted()).toBe(true);
    open();
    expect((await predict(server, 'default', { instances: [4] })).json).toEqual({ predictions: [2] });
  });

  test('a client that goes gives its request up', async () => {
    const { signature, open, started, aborted } = held();
    const server = await serve(alone(signature));
    const abort = new AbortController();
    const gone = post(server, '/v1/models/default:predict', { instances: [1] }, { signal: abort.signal });
    await started;
    abort.abort();
    await expect(gone).rejects.toThrow();
    await expect.poll(aborted).toBe(true);
    open();
  });

  test('requests beyond the queue get 503', async () => {
    const { signature, open, started } = held();
    const server = await serve(alone(signature), { maxInFlight: 1, maxEnqueued: 1 });
    const answers = [predict(server, 'default', { instances: [2] })];
    await started;
    const more = [1, 2, 3].map(() => predict(server, 'default', { instances: [2] }));
    answers.push(...more);
    let refused = 0;
    for (const answer of more)
      void answer.then(({ status }) => {
        if (status === 503) refused++;
      });
    await expect.poll(() => refused).toBe(2);
    open();
    expect((await Promise.all(answers)).map(({ status }) => status).sort()).toEqual([200, 200, 503, 503]);
  });

  test('slow clients are sent away', async () => {
    const server = await serve(alone(halfPlus(1)), { headersTimeoutMs: 300, requestTimeoutMs: 600 });
    const begin = 'POST /v1/models/default:predict HTTP/1.1\r\nHost: localhost\r\n';
    const [headers, body, good] = await Promise.all([
      raw(server, begin),
      raw(server, `${begin}Content-Length: 100\r\n\r\n{`, 50, '"', 50, 'a'),
      predict(server, 'default', { instances: [4] }),
    ]);
    expect(headers).toMatch(/^HTTP\/1\.1 408 /);
    expect(body).toMatch(/^HTTP\/1\.1 408 /);
    expect(good.status).toBe(200);
  });
});

describe('closing', () => {
  test('waits for requests that are being answered, and takes no more', async () => {
    const { signature, open, started } = held();
    let disposed = false;
    const server = await serve({ ...alone(signature), dispose: () => void (disposed = true) });
    const slow = predict(server, 'default', { instances: [8] });
    await started;
    const closed = server.close();
    const answers = (): Promise<boolean> =>
      ask(server, '/healthz').then(
        () => true,
        () => false,
      );
    await expect.poll(answers).toBe(false);
    expect(disposed).toBe(false);
    open();
    expect((await slow).json).toEqual({ predictions: [4] });
    await closed;
    expect(disposed).toBe(true);
    await server.close();
  });

  test('does not wait for ever', async () => {
    const { signature, started, open } = held();
    const server = await serve(alone(signature), { drainTimeoutMs: 50 });
    const slow = predict(server, 'default', { instances: [8] });
    await started;
    await server.close();
    expect((await slow).status).toBe(503);
    open();
  });

  test('answers what has come to this machine and is not read yet', async () => {
    const server = await serve(alone(halfPlus(1)), { maxInFlight: 1 });
    const { hostname, port } = new URL(server.url);
    const request = [
      'POST /v1/models/default:predict HTTP/1.1',
      'Host: localhost',
      'Content-Length: 18',
      '',
      '{"instances": [4]}',
    ].join('\r\n');
    let connected = 0;
    const answers = Array.from(
      { length: 200 },
      () =>
        new Promise<string>((done) => {
          let text = '';
          const socket = connect(Number(port), hostname, () => {
            socket.write(request);
            // The system has taken all of them in, whether or not the server has seen them.
            if (++connected === 200) void server.close();
          });
          socket.on('data', (data) => (text += data));
          socket.on('error', () => done(text)).on('close', () => done(text));
        }),
    );
    const statuses = (await Promise.all(answers)).map((answer) => answer.slice(0, 12));
    expect(new Set(statuses)).toEqual(new Set(['HTTP/1.1 200']));
  });

  test('leaves nothing behind', async () => {
    const handles = (): number =>
      process.getActiveResourcesInfo().filter((name) => /TCP|Timeout|Immediate/.test(name)).length;
    const once = async (): Promise<void> => {
      const server = await createServer(halfPlusThree(), { port: 0, batching: true });
      await Promise.all(Array.from({ length: 20 }, (_, i) => predict(server, 'default', { instances: [i] })));
      await server.close();
    };
    await once();
    await new Promise((done) => setTimeout(done, 50));
    const before = handles();
    for (let i = 0; i < 10; i++) await once();
    await expect.poll(handles).toBeLessThanOrEqual(before + 1);
  });
});

describe("programs' own code", () => {
  test('may return anything, which is told to the log alone', async () => {
    const x = { x: { dtype: 'float32', shape: null } } as const;
    const results: unknown[] = [
      undefined,
      {},
      { y: undefined },
      { y: { dtype: 'float32', shape: [1], values: [1] } },
      { y: { dtype: 'float32', shape: [2], values: Float32Array.of(1) } },
      { y: { dtype: 'string', shape: [1], values: Float32Array.of(1) } },
      { y: { dtype: 'float', shape: [1], values: Float32Array.of(1) } },
      { y: { dtype: 'float32', shape: [-1], values: new Float32Array(0) } },
    ];
    const errors: unknown[] = [];
    let next = 0;
    const signature = {
      inputs: x,
      outputs: x,
      run: async () => results[next++],
    } as unknown as ServableSignature;
    const server = await serve(alone(signature), { log: (_, error) => errors.push(error) });
    for (const result of results) {
      const { status, json } = await predict(server, 'default', { instances: [1] });
      const empty =
        JSON.stringify(result) === '{}' && result !== undefined && Object.keys(result as object).length === 0;
      expect(status).toBe(empty ? 400 : 500);
      expect(typeof json.error).toBe('string');
    }
    expect(errors).toHaveLength(results.length - 1);
  });

  test('may throw where it only watches', async () => {
    const fail = (): never => {
      throw new Error('no');
    };
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const server = await serve(alone(halfPlus(1)), { requestLog: fail, log: fail });
    expect((await predict(server, 'default', { instances: [4] })).status).toBe(200);
    expect(warned).toHaveBeenCalledTimes(1);
    warned.mockRestore();
  });

  test('is disposed of when its last run has ended, though nobody waits for it', async () => {
    const { signature, open, started } = held();
    let disposed = false;
    const server = await serve(
      { ...alone(signature), dispose: () => void (disposed = true) },
      { predictTimeoutMs: 200 },
    );
    const slow = predict(server, 'default', { instances: [1] });
    await started;
    expect((await slow).status).toBe(504);
    await server.close();
    expect(disposed).toBe(false);
    open();
    await expect.poll(() => disposed).toBe(true);
  });
});

describe('names of the server', () => {
  const status = async (server: Server, host: string, path = '/v1/models/default'): Promise<number> =>
    Number((await raw(server, `GET ${path} HTTP/1.1\r\n${host}Connection: close\r\n\r\n`)).slice(9, 12));

  test('are its own, so that no page elsewhere can read what it answers', async () => {
    const server = await serve(alone(halfPlus(1)));
    const port = new URL(server.url).port;
    for (const own of [
      'localhost',
      `localhost:${port}`,
      `127.0.0.1:${port}`,
      '[::1]:80',
      'LOCALHOST.',
      osHostname(),
    ])
      expect([own, await status(server, `Host: ${own}\r\n`)]).toEqual([own, 200]);
    for (const other of ['evil.example', `evil.example:${port}`, 'localhost.evil.example', ''])
      expect([other, await status(server, `Host: ${other}\r\n`)]).toEqual([other, 403]);
    const metrics = '/monitoring/prometheus/metrics';
    expect(await status(server, 'Host: evil.example\r\n', metrics)).toBe(403);
    expect(await status(server, 'Host: localhost\r\n', metrics)).toBe(200);
    // Probes say nothing of models.
    expect(await status(server, 'Host: pod\r\n', '/healthz')).toBe(200);
  });

  test('may be more', async () => {
    const some = await serve(alone(halfPlus(1)), { allowedHosts: ['Models.internal'] });
    expect(await status(some, 'Host: models.internal:8501\r\n')).toBe(200);
    expect(await status(some, 'Host: evil.example\r\n')).toBe(403);
    const any = await serve(alone(halfPlus(1)), { allowedHosts: ['*'] });
    expect(await status(any, 'Host: evil.example\r\n')).toBe(200);
    await expect(serve(alone(halfPlus(1)), { allowedHosts: 'a' as never })).rejects.toThrow(
      'allowedHosts must be a list of names',
    );
  });
});

describe('hostile clients', () => {
  const infos = { x: { dtype: 'float32', shape: [null, 2] }, s: { dtype: 'string', shape: [null] } } as const;

  test('send bodies that are almost right, and get 4xx', async () => {
    const server = await serve(alone(echo(infos)), { batching: { batchTimeoutMicros: 0 } });
    const valid = [
      '{"instances": [{"x": [1, 2.5], "s": "a\\u00e9"}, {"x": [NaN, -Infinity], "s": {"b64": "aGVsbG8="}}]}',
      '{"signature_name": "serving_default", "inputs": {"x": [[1, 2]], "s": ["x"]}}',
    ];
    const mutation = fc.record({
      text: fc.constantFrom(...valid),
      edits: fc.array(
        fc.record({
          at: fc.double({ min: 0, max: 1, noNaN: true }),
          cut: fc.nat({ max: 5 }),
          put: fc.oneof(
            fc.constantFrom(
              '[',
              ']',
              '{',
              '}',
              '"',
              ',',
              ':',
              '\\',
              '1e999',
              '-',
              'null',
              '\u0000',
              '{"b64":',
              '[[[[',
              '"__proto__":',
            ),
            fc.string({ maxLength: 4 }),
          ),
        }),
        { minLength: 1, maxLength: 4 },
      ),
    });
    const seen = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(fc.array(mutation, { minLength: 20, maxLength: 20 }), async (mutations) => {
        await Promise.all(
          mutations.map(async ({ text, edits }) => {
            let body = text;
            for (const { at, cut, put } of edits) {
              const place = Math.floor(at * body.length);
              body = body.slice(0, place) + put + body.slice(place + cut);
            }
            const { status, json, text: answer } = await predict(server, 'default', body);
            seen.set(status, (seen.get(status) ?? 0) + 1);
            if (status === 200) return expect(answer).toMatch(/^\{\n {4}"(predictions|outputs)": /);
            expect([400, 501]).toContain(status);
            expect(typeof json.error).toBe('string');
          }),
        );
      }),
      { numRuns: 150 },
    );
    expect(seen.get(400)).toBeGreaterThan(1000);
    expect((await predict(server, 'default', valid[1])).status).toBe(200);
  });

  test('send any bytes as HTTP, and the server goes on', async () => {
    const server = await serve(alone(halfPlus(1)), {
      headersTimeoutMs: 50,
      requestTimeoutMs: 50,
      keepAliveTimeoutMs: 50,
    });
    const bytes = fc.uint8Array({ maxLength: 200 }).map((b) => Buffer.from(b).toString('latin1'));
    const line = fc.constantFrom(
      'GET / HTTP/1.1\r\n\r\n',
      'POST /v1/models/default:predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n{}',
      'POST /v1/models/default:predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n',
      'POST /v1/models/default:predict HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      `GET /v1/models/default HTTP/1.1\r\nHost: localhost\r\nX: ${'a'.repeat(40_000)}\r\n\r\n`,
      'GET /v1/models/%00%ff HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
      'GET http://evil/v1/models/default HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
      'OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(bytes, line), { minLength: 10, maxLength: 10 }), async (texts) => {
        const answers = await Promise.all(texts.map((text) => raw(server, text)));
        for (const answer of answers) expect(answer).toMatch(/^($|HTTP\/1\.1 (200|4\d\d) )/);
      }),
      { numRuns: 10 },
    );
    expect((await predict(server, 'default', { instances: [4] })).json).toEqual({ predictions: [3] });
  });

  test('get errors as JSON whatever is wrong with their HTTP', async () => {
    const server = await serve(alone(halfPlus(1)), { maxBodyBytes: 1000 });
    const post = 'POST /v1/models/default:predict HTTP/1.1\r\n';
    const head = `${post}Host: localhost\r\nConnection: close\r\n`;
    const cases: readonly [request: string, status: number, message: string][] = [
      ['GET /v1/models/default HTTP/1.1\r\n\r\n', 400, 'expected one Host header'],
      ['GET /v1/models/default HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400, 'expected one Host header'],
      [`${head}Expect: tea\r\nContent-Length: 2\r\n\r\n{}`, 417, "the expectation 'tea' cannot be met"],
      ['CONNECT example.org:443 HTTP/1.1\r\nHost: localhost\r\n\r\n', 400, 'malformed HTTP request'],
      // Not asked to go on first.
      [
        `${head}Expect: 100-continue\r\nContent-Length: 2000\r\n\r\n`,
        413,
        'the body is larger than 1000 bytes',
      ],
      [
        `${head}Expect: 100-continue\r\nContent-Length: 99999999999\r\n\r\n`,
        413,
        'the body is larger than 1000 bytes',
      ],
      [
        `POST /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n`,
        404,
        'Not Found',
      ],
      [`${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, 400, 'malformed HTTP request'],
      [
        `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
        400,
        'malformed HTTP request',
      ],
      ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'malformed HTTP request'],
    ];
    for (const [request, status, message] of cases) {
      const [top, ...rest] = (await raw(server, request)).split('\r\n\r\n');
      expect([request, top?.slice(0, 12)]).toEqual([request, `HTTP/1.1 ${status}`]);
      expect(top?.toLowerCase()).toContain('content-type: application/json');
      expect(JSON.parse(rest.join(''))).toEqual({ error: message });
    }
    const body = '{"instances": [4]}';
    const answer = await raw(
      server,
      `${head}Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`,
      50,
      body,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 .*"predictions": \[3\.0/s);
  });

  test('that never read their answers are sent away', async () => {
    const wide = { ...halfPlus(0), outputs: { y: { dtype: 'float32', shape: null } } } as const;
    const y = { dtype: 'float32', shape: [2 ** 18], values: new Float32Array(2 ** 18) } as const;
    const server = await serve(alone({ ...wide, run: async () => ({ y }) }), {
      keepAliveTimeoutMs: 50,
      predictTimeoutMs: 100,
      requestTimeoutMs: 100,
      headersTimeoutMs: 100,
    });
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    socket.pause();
    const closed = new Promise((done) => socket.on('error', () => undefined).on('close', done));
    const body = '{"instances": [4]}';
    socket.write(
      `POST /v1/models/default:predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`.repeat(
        20,
      ),
    );
    // What is written to a connection that is gone fails.
    const probe = setInterval(() => socket.write(' '), 100);
    await closed;
    clearInterval(probe);
  });

  test('send too much of everything', async () => {
    const server = await serve(alone(halfPlus(1)), { maxJsonValues: 1000, maxJsonDepth: 10 });
    const status = async (body: string) => (await predict(server, 'default', body)).status;
    expect(await status(`{"instances": ${'['.repeat(1e6)}`)).toBe(400);
    expect(await status(`{"instances": [${'1,'.repeat(2000)}1]}`)).toBe(400);
    expect(await status(`{"instances": [[${'1,'.repeat(400)}1]${',1'.repeat(400)}]}`)).toBe(400);
    expect(await status(`{"inputs": [${'[],'.repeat(500)}[]]}`)).toBe(200);
    const long = await predict(server, 'default', { instances: ['x'.repeat(1e6)] });
    expect(long.text.length).toBeLessThan(2000);
    const name = await ask(server, `/v1/models/${'a'.repeat(10_000)}`);
    expect(name.status).toBe(404);
    expect(
      (await raw(server, `GET /v1/models/${'a'.repeat(60_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`)).slice(
        0,
        12,
      ),
    ).toMatch(/HTTP\/1.1 4(14|31)/);
  });

  test('cannot be more than are let in', async () => {
    const server = await serve(alone(halfPlus(1)), { maxConnections: 2, headersTimeoutMs: 1000 });
    const waiting = [raw(server, 'GET'), raw(server, 'GET')];
    await new Promise((done) => setTimeout(done, 30));
    expect(await raw(server, 'GET / HTTP/1.1\r\n\r\n')).toBe('');
    await Promise.all(waiting);
    expect((await predict(server, 'default', { instances: [4] })).status).toBe(200);
  });
});
