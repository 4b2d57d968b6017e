import { afterEach, describe, expect, test } from 'vitest';
import type { ServedModels } from './server.ts';
import { createServer, type Server } from './server.ts';
import type { ServerOptions } from './server-options.ts';
import { ask, post, predict } from './testing/client.ts';
import { alone, echo, halfPlus, halfPlusThree } from './testing/servables.ts';

const servers: Server[] = [];
async function serve(models: ServedModels, options: ServerOptions = {}): Promise<Server> {
  const server = await createServer(models, { port: 0, ...options });
  servers.push(server);
  return server;
}
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

describe("the examples of TensorFlow Serving's guide", () => {
  test('status, predict, regress, errors', async () => {
    const x = { x: { dtype: 'float32', shape: [null] } } as const;
    const server = await serve({
      half_plus_three: {
        signatures: {
          serving_default: halfPlusThree(),
          'tensorflow/serving/regress': {
            inputs: x,
            outputs: { outputs: x.x },
            run: async ({ x }, signal) => ({ outputs: (await halfPlus(3).run({ x }, signal))['y'] }),
          },
        },
      },
    });
    expect((await ask(server, '/v1/models/half_plus_three')).text).toBe(
      `{
 "model_version_status": [
  {
   "version": "1",
   "state": "AVAILABLE",
   "status": {
    "error_code": "OK",
    "error_message": ""
   }
  }
 ]
}
`,
    );
    const answer = await predict(server, 'half_plus_three', '{"instances": [1.0,2.0,5.0]}');
    expect(answer.text).toBe('{\n    "predictions": [3.5, 4.0, 5.5\n    ]\n}');
    expect(answer.headers.get('content-type')).toContain('application/json');
    const regress = { signature_name: 'tensorflow/serving/regress', examples: [{ x: 1.5 }, { x: 2 }] };
    expect((await post(server, '/v1/models/half_plus_three:regress', regress)).json).toEqual({
      results: [3.75, 4],
    });
    const missing = await predict(server, 'half', { instances: [1, 5] });
    expect(missing.status).toBe(404);
    expect(missing.json).toEqual({ error: 'Servable not found for request: Latest(half)' });
  });

  test('named inputs in rows and columns', async () => {
    const server = await serve(
      alone(
        echo({
          tag: { dtype: 'string', shape: [null] },
          signal: { dtype: 'float32', shape: [null, 5] },
          sensor: { dtype: 'int32', shape: [null, 2, 2] },
        }),
      ),
    );
    const rows = [
      {
        tag: 'foo',
        signal: [1, 2, 3, 4, 5],
        sensor: [
          [1, 2],
          [3, 4],
        ],
      },
      {
        tag: 'bar',
        signal: [3, 4, 1, 2, 5],
        sensor: [
          [4, 5],
          [6, 8],
        ],
      },
    ];
    const columns = {
      tag: ['foo', 'bar'],
      signal: [
        [1, 2, 3, 4, 5],
        [3, 4, 1, 2, 5],
      ],
      sensor: [
        [
          [1, 2],
          [3, 4],
        ],
        [
          [4, 5],
          [6, 8],
        ],
      ],
    };
    expect((await predict(server, 'default', { instances: rows })).json).toEqual({ predictions: rows });
    expect((await predict(server, 'default', { inputs: columns })).json).toEqual({ outputs: columns });
  });
});
