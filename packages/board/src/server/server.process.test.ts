import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { encodeRecord, tensorflow } from '@eagre/formats';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type {
  AudioSample,
  GraphAnswer,
  HistogramSample,
  HParamsAnswer,
  ImageSample,
  RunsAnswer,
  ScalarsAnswer,
  TextSample,
} from '../api.ts';
import { event, eventFile, scalar } from '../testing/event-files.ts';
import { Run } from './run.ts';
import { type Board, serveFrom } from './server.ts';

const golden = fileURLToPath(new URL('../../../summary/golden', import.meta.url));

const boardGolden = fileURLToPath(new URL('../../golden', import.meta.url));

let folder: string;
let board: Board;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'eagre-board-'));
  mkdirSync(join(folder, 'web'));
  mkdirSync(join(folder, 'logs'));
  writeFileSync(join(folder, 'web', 'index.html'), '<h1>board</h1>');
  writeFileSync(join(folder, 'secret.txt'), 'secret');
});
afterEach(async () => {
  await board?.close();
  rmSync(folder, { recursive: true });
});

const start = async (): Promise<void> => {
  board = await serveFrom(join(folder, 'web'), { logdir: join(folder, 'logs'), port: 0, reloadMillis: 20 });
  await board.loaded;
};
const get = async <T>(path: string): Promise<T> => (await (await fetch(board.url + path)).json()) as T;
const write = (run: string, bytes: Uint8Array, name = 'events.out.tfevents.1.v2'): string => {
  mkdirSync(join(folder, 'logs', run), { recursive: true });
  const path = join(folder, 'logs', run, name);
  writeFileSync(path, bytes);
  return path;
};

describe('what TensorFlow wrote', () => {
  beforeEach(async () => {
    for (const version of ['v1', 'v2'])
      cpSync(join(golden, `${version}.tfevents`), join(folder, 'logs', version, 'events.out.tfevents.0'), {
        recursive: true,
      });
    await start();
  });

  test('is listed and answered', async () => {
    const { runs, problems } = await get<RunsAnswer>('api/runs');
    expect(problems).toEqual([]);
    expect(runs.map((run) => run.name)).toEqual(['v1', 'v2']);
    for (const run of runs) {
      for (const tag of run.scalars) {
        const [view] = await get<ScalarsAnswer>(`api/scalars?${new URLSearchParams({ run: run.name, tag })}`);
        expect(view?.total).toBeGreaterThan(0);
        expect(view?.values).toHaveLength(view?.steps.length ?? 0);
      }
      for (const tag of run.histograms) {
        const list = await get<HistogramSample[]>(
          `api/histograms?${new URLSearchParams({ run: run.name, tag })}`,
        );
        expect(list[0]?.buckets.length).toBeGreaterThan(0);
      }
      for (const tag of run.texts) {
        const list = await get<TextSample[]>(`api/texts?${new URLSearchParams({ run: run.name, tag })}`);
        expect(list[0]?.texts.length).toBeGreaterThan(0);
      }
      for (const tag of run.images) {
        const [first] = await get<ImageSample[]>(`api/images?${new URLSearchParams({ run: run.name, tag })}`);
        const query = { run: run.name, tag, step: String(first?.step), index: '0' };
        const answer = await fetch(`${board.url}api/image?${new URLSearchParams(query)}`);
        expect(answer.headers.get('content-type')).toMatch('image/png');
        expect([...new Uint8Array(await answer.arrayBuffer()).slice(1, 4)]).toEqual([...Buffer.from('PNG')]);
      }
      for (const tag of run.audio) {
        const [first] = await get<AudioSample[]>(`api/audio?${new URLSearchParams({ run: run.name, tag })}`);
        const query = { run: run.name, tag, step: String(first?.step), index: '0' };
        const clip = await (await fetch(`${board.url}api/clip?${new URLSearchParams(query)}`)).arrayBuffer();
        expect(Buffer.from(clip).toString('latin1', 0, 4)).toBe('RIFF');
      }
      for (const tag of run.graphs) {
        const graph = await get<GraphAnswer>(`api/graph?${new URLSearchParams({ run: run.name, tag })}`);
        expect(graph.nodes.length).toBeGreaterThan(0);
      }
    }
    const kinds = (['scalars', 'histograms', 'images', 'texts', 'audio', 'graphs'] as const).filter((kind) =>
      runs.some((run) => run[kind].length > 0),
    );
    expect(kinds).toEqual(['scalars', 'histograms', 'images', 'texts', 'audio', 'graphs']);
    const trials = await get<HParamsAnswer>('api/hparams');
    expect(trials.hparams.length).toBeGreaterThan(0);
  });
});

describe('files that grow', () => {
  test('new records come, half ones wait', async () => {
    const path = write('a', eventFile([event(0, scalar('loss', 1))]));
    await start();
    const values = async (): Promise<unknown> =>
      (await get<ScalarsAnswer>('api/scalars?run=a&tag=loss'))[0]?.values;
    expect(await values()).toEqual([1]);
    const next = encodeRecord(tensorflow.Event.encode(event(1, scalar('loss', 2))));
    appendFileSync(path, next.subarray(0, 20));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await values()).toEqual([1]);
    appendFileSync(path, next.subarray(20));
    await expect.poll(values).toEqual([1, 2]);
    write('b', eventFile([event(0, scalar('loss', 5))]));
    await expect
      .poll(async () => (await get<RunsAnswer>('api/runs')).runs.map((run) => run.name))
      .toEqual(['a', 'b']);
  });

  test('a run that is written anew is read anew', async () => {
    write('a', eventFile([event(0, scalar('loss', 1)), event(1, scalar('loss', 2))]));
    await start();
    write('a', eventFile([event(0, scalar('loss', 7))]));
    await expect
      .poll(async () => (await get<ScalarsAnswer>('api/scalars?run=a&tag=loss'))[0]?.values)
      .toEqual([7]);
    rmSync(join(folder, 'logs', 'a'), { recursive: true });
    await expect.poll(async () => (await get<RunsAnswer>('api/runs')).runs).toEqual([]);
  });

  test('a folder that is gone is told, and found again', async () => {
    write('a', eventFile([event(0, scalar('loss', 1))]));
    await start();
    const problems = async (): Promise<unknown> =>
      (await get<RunsAnswer>('api/runs')).problems.map(({ message }) => message);
    rmSync(join(folder, 'logs'), { recursive: true });
    await expect.poll(problems).toEqual([expect.stringMatching(/logs is not there any more/)]);
    write('b', eventFile([event(0, scalar('loss', 1))]));
    const shown = async (): Promise<unknown> => {
      const { runs, problems } = await get<RunsAnswer>('api/runs');
      return { problems, names: runs.map(({ name }) => name) };
    };
    await expect.poll(shown).toEqual({ problems: [], names: ['b'] });
  });

  test('pages are told', async () => {
    const path = write('a', eventFile([event(0, scalar('loss', 1))]));
    await start();
    const answer = await fetch(`${board.url}api/changes`);
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    appendFileSync(path, encodeRecord(tensorflow.Event.encode(event(1, scalar('loss', 2)))));
    const { value } = await reader.read();
    expect(Buffer.from(value as Uint8Array).toString()).toBe('data: changed\n\n');
    await reader.cancel();
  });
});

test('several runs in one answer, those that have the tag', async () => {
  for (const [run, value] of [
    ['a', 1],
    ['b', 2],
  ] as const)
    write(run, eventFile([event(0, scalar('loss', value))]));
  write('c', eventFile([event(0, scalar('other', 3))]));
  await start();
  const answer = await get<ScalarsAnswer>('api/scalars?tag=loss&run=b&run=c&run=gone&run=a');
  expect(answer.map(({ run, values }) => [run, values])).toEqual([
    ['b', [2]],
    ['a', [1]],
  ]);
});

test('a run that was begun anew shows its second try from there on', async () => {
  const losses = (steps: readonly number[], value: number) =>
    eventFile(steps.map((step) => event(step, scalar('loss', value))));
  write('a', losses([0, 1, 2, 3, 4], 1), 'events.out.tfevents.1');
  write('a', losses([3, 4, 5], 2), 'events.out.tfevents.2');
  await start();
  const [view] = await get<ScalarsAnswer>('api/scalars?tag=loss&run=a');
  expect(view).toMatchObject({ total: 6, steps: [0, 1, 2, 3, 4, 5], values: [1, 1, 1, 2, 2, 2] });
});

describe('hyperparameters', () => {
  const hparams = (data: tensorflow.HParamsPluginData): tensorflow.SummaryValue => ({
    tag: '_hparams_/x',
    metadata: { plugin_data: { plugin_name: 'hparams', content: tensorflow.HParamsPluginData.encode(data) } },
  });
  const trial = hparams({ session_start_info: { hparams: new Map([['lr', { number_value: 0.1 }]]) } });

  test('have the columns of their experiment', async () => {
    const experiment = {
      hparam_infos: [{ name: 'lr', display_name: 'Learning rate' }],
      metric_infos: [
        { name: { group: 'validation', tag: 'loss' }, display_name: 'Loss' },
        { name: { tag: 'acc' } },
      ],
    };
    write('search', eventFile([event(0, hparams({ experiment }))]));
    write('search/1', eventFile([event(0, trial), event(1, scalar('acc', 0.5), scalar('noise', 1))]));
    write('search/1/validation', eventFile([event(1, scalar('loss', Number.NaN))]));
    write('alone', eventFile([event(0, trial), event(1, scalar('noise', 2))]));
    await start();
    expect(await get<HParamsAnswer>('api/hparams')).toEqual({
      hparams: [{ name: 'lr', title: 'Learning rate' }],
      metrics: [
        { name: 'validation/loss', title: 'Loss' },
        { name: 'acc', title: 'acc' },
        { name: 'noise', title: 'noise' },
      ],
      trials: [
        { run: 'alone', status: 'unknown', values: { lr: 0.1 }, metrics: { noise: 2 } },
        {
          run: 'search/1',
          status: 'unknown',
          values: { lr: 0.1 },
          metrics: { acc: 0.5, 'validation/loss': 'NaN' },
        },
      ],
    });
  });
});

test('the layers of a Keras model are a graph; what is not shown is named', async () => {
  const [{ json }] = JSON.parse(readFileSync(join(boardGolden, 'keras-graphs.json'), 'utf8')).models;
  const text = (tag: string, plugin_name: string, value: string): tensorflow.SummaryValue => ({
    tag,
    tensor: { dtype: 7, tensor_shape: {}, string_val: [Buffer.from(value)] },
    metadata: { plugin_data: { plugin_name } },
  });
  write(
    'a',
    eventFile([event(0, text('keras', 'graph_keras_model', json), text('bad', 'graph_keras_model', '{'))]),
  );
  write('b', eventFile([event(0, text('curve', 'pr_curves', ''))]));
  await start();
  const { runs, loading } = await get<RunsAnswer>('api/runs');
  expect(loading).toBe(false);
  expect(runs.map(({ graphs, others }) => [graphs, others])).toEqual([
    [['keras', 'bad'], []],
    [[], ['pr_curves']],
  ]);
  expect(
    (await get<GraphAnswer>('api/graph?run=a&tag=keras')).nodes.map(({ name, op }) => [name, op]),
  ).toEqual([
    ['plain/x', 'InputLayer'],
    ['plain/a', 'Dense'],
    ['plain/b', 'Dense'],
  ]);
  const bad = await fetch(`${board.url}api/graph?run=a&tag=bad`);
  expect([bad.status, await bad.text()]).toEqual([
    422,
    'Keras model data: JSON: expected a model with a config',
  ]);
});

test('a damaged file is named, the others are shown', async () => {
  const bad = eventFile([event(0, scalar('loss', 1)), event(1, scalar('loss', 2))]);
  bad[bad.length - 10] = (bad[bad.length - 10] as number) ^ 1;
  write('bad', bad);
  write('good', eventFile([event(0, scalar('loss', 3))]));
  await start();
  const { runs, problems } = await get<RunsAnswer>('api/runs');
  expect(runs.map((run) => run.name)).toEqual(['bad', 'good']);
  expect(problems).toHaveLength(1);
  expect(problems[0]?.message).toMatch(/checksum/);
  expect((await get<ScalarsAnswer>('api/scalars?run=bad&tag=loss'))[0]?.values).toEqual([1]);
});

test('a folder and a file that cannot be read are named, the others are shown, pipes are left alone', async () => {
  write('good', eventFile([event(0, scalar('loss', 1))]));
  write('closed', eventFile([event(0, scalar('loss', 1))]));
  const file = write('file', eventFile([event(0, scalar('loss', 1))]));
  execFileSync('mkfifo', [join(folder, 'logs', 'good', 'pipe')]);
  symlinkSync(join(folder, 'logs', 'good', 'pipe'), join(folder, 'logs', 'good', 'events.out.tfevents.9'));
  execFileSync('mkfifo', [join(folder, 'logs', 'good', 'events.out.tfevents.8')]);
  chmodSync(folder, 0o755);
  chmodSync(join(folder, 'logs', 'closed'), 0);
  chmodSync(file, 0);
  // Root may read everything.
  const root = process.getuid?.() === 0;
  if (root) process.seteuid?.(65_534);
  try {
    await start();
    const { runs, problems } = await get<RunsAnswer>('api/runs');
    expect(runs.map((run) => [run.name, run.scalars.length])).toEqual([
      ['file', 0],
      ['good', 1],
    ]);
    expect(problems.map((p) => p.file)).toEqual(['closed', 'file/events.out.tfevents.1.v2']);
    expect(problems[0]?.message).toMatch(/EACCES/);
  } finally {
    if (root) process.seteuid?.(0);
    chmodSync(join(folder, 'logs', 'closed'), 0o700);
    chmodSync(file, 0o600);
  }
  // What may be read again is read.
  const shown = async (): Promise<unknown> => {
    const { runs, problems } = await get<RunsAnswer>('api/runs');
    return { problems, counts: runs.map((run) => run.scalars.length) };
  };
  await expect.poll(shown).toEqual({ problems: [], counts: [1, 1, 1] });
});

test('any name is a tag, any step is told', async () => {
  const names = ['__proto__', 'constructor', 'toString'];
  const far = { ...event(0, scalar('far', 1)), step: 2n ** 53n + 1n };
  write('__proto__', eventFile([event(0, ...names.map((name) => scalar(name, 1))), far]));
  await start();
  const { runs } = await get<RunsAnswer>('api/runs');
  expect(runs.map((run) => [run.name, run.scalars])).toEqual([['__proto__', [...names, 'far']]]);
  for (const tag of names) {
    const query = new URLSearchParams({ run: '__proto__', tag });
    expect(await get<ScalarsAnswer>(`api/scalars?${query}`)).toMatchObject([{ values: [1] }]);
  }
  expect(await get<ScalarsAnswer>('api/scalars?run=__proto__&tag=far')).toMatchObject([{ steps: [2 ** 53] }]);
});

test('many tags take little memory', () => {
  const before = process.memoryUsage();
  const run = new Run('many');
  for (let i = 0; i < 20_000; i++)
    run.add(tensorflow.Event.encode(event(0, scalar(`layer_${i}/weights/norm`, i))), 'file');
  (globalThis.gc as () => void)();
  const after = process.memoryUsage();
  const each = (after.heapUsed - before.heapUsed + after.arrayBuffers - before.arrayBuffers) / 20_000;
  expect(run.scalars.size).toBe(20_000);
  expect(each).toBeLessThan(2000);
});

test('the columns as CSV', async () => {
  write('a/b', eventFile([event(0, scalar('x "y"', 1)), event(3, scalar('x "y"', Number.NaN))]));
  await start();
  const answer = await fetch(`${board.url}api/csv?${new URLSearchParams({ run: 'a/b', tag: 'x "y"' })}`);
  expect(answer.headers.get('content-disposition')).toBe('attachment; filename="a_b-x_y_.csv"');
  expect(await answer.text()).toBe('wall_time,step,value\n1700000000,0,1\n1700000003,3,NaN\n');
});

describe('what is not served', () => {
  beforeEach(async () => {
    write('a', eventFile([event(0, scalar('loss', 1), picture('<script>alert(1)</script>'))]));
    mkdirSync(join(folder, 'elsewhere'));
    writeFileSync(
      join(folder, 'elsewhere', 'events.out.tfevents.2'),
      eventFile([event(0, scalar('secret', 1))]),
    );
    symlinkSync(
      join(folder, 'elsewhere', 'events.out.tfevents.2'),
      join(folder, 'logs', 'a', 'events.out.tfevents.2'),
    );
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'logs', 'linked'));
    await start();
  });

  const picture = (text: string): tensorflow.SummaryValue => ({
    tag: 'picture',
    image: { width: 1, height: 1, encoded_image_string: Buffer.from(text) },
  });

  /** Without fetch, which tidies up paths and headers. */
  const raw = (path: string, headers = {}, method = 'GET'): Promise<{ status: number; text: string }> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(board.url);
      const sent = request({ hostname, port, path, headers, method }, (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      });
      sent.on('error', reject);
      sent.end();
    });

  test('files outside of the pages', async () => {
    for (const path of [
      '/../secret.txt',
      '/%2e%2e/secret.txt',
      '/..%2fsecret.txt',
      '//etc/passwd',
      '/api/../../secret.txt',
    ]) {
      const { status, text } = await raw(path);
      expect(status).toBe(404);
      expect(text).not.toMatch('secret');
    }
    expect((await raw('/')).text).toBe('<h1>board</h1>');
  });

  test('event files outside of the folder', async () => {
    const { runs } = await get<RunsAnswer>('api/runs');
    expect(runs.map((run) => [run.name, run.scalars])).toEqual([['a', ['loss']]]);
  });

  test('other names, other methods, other questions', async () => {
    expect((await raw('/api/runs', { host: 'evil.example' })).status).toBe(403);
    expect((await raw('/api/runs', { host: 'localhost:1234' })).status).toBe(200);
    expect((await raw('/api/runs', {}, 'POST')).status).toBe(405);
    expect((await raw('/api/constructor')).status).toBe(404);
    expect((await raw('/api/scalars?run=a&tag=none')).text).toBe('[]');
    expect((await raw('/api/histograms?run=a&tag=none')).status).toBe(404);
    expect((await raw('/api/csv?run=none&tag=loss')).status).toBe(404);
    expect((await raw('/api/scalars?run=a&tag=loss&along=x')).status).toBe(400);
    expect((await raw('/api/scalars?run=a&tag=loss&points=1e9')).status).toBe(400);
    expect((await raw('/api/scalars?run=a&tag=loss&smoothing=1')).status).toBe(400);
    expect((await raw('/api/scalars?run=a&tag=loss&from=x')).status).toBe(400);
  });

  test('a page as a picture', async () => {
    expect((await raw('/api/image?run=a&tag=picture&step=0&index=0')).status).toBe(415);
    expect((await raw('/api/image?run=a&tag=picture&step=0&index=5')).status).toBe(404);
  });

  test('scripts of others', async () => {
    const { headers } = await fetch(board.url);
    expect(headers.get('content-security-policy')).toMatch("default-src 'none'; script-src 'self'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });
});

test('it listens on this machine alone', async () => {
  await start();
  expect(new URL(board.url).hostname).toBe('127.0.0.1');
});

test('a folder that is not there, a port that is taken', async () => {
  await start();
  await expect(serveFrom(folder, { logdir: join(folder, 'none') })).rejects.toThrow(/there is no folder/);
  const port = Number(new URL(board.url).port);
  await expect(serveFrom(folder, { logdir: folder, port })).rejects.toThrow(/port \d+ is taken/);
});
