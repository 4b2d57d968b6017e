import '@eagre/backend-js';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { callCodecs } from '@eagre/backend-wasm/codecs';
import { constant, nameScope, type Tensor } from '@eagre/core';
import { tensorflow } from '@eagre/formats';
import { TensorSpec, tfFunction } from '@eagre/graph';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../testing/src/temporary.ts';
import { histogramRows } from './histogram.ts';
import { byName, groupName } from './hparams.ts';
import * as summary from './index.ts';

// Files by real TensorFlow and TensorBoard, made by tools/golden/summaries.py.
const folder = new URL('../golden/', import.meta.url);
const path = (name: string): string => fileURLToPath(new URL(name, folder));
const golden = JSON.parse(readFileSync(path('golden.json'), 'utf8'));
const float32 = (values: number[], shape: number[]): Tensor =>
  constant({ data: Float32Array.from(values), shape });
const bytes = (values: number[], shape: number[]): Tensor =>
  constant({ data: Uint8Array.from(values), shape });

const theirs = [...summary.summaryIterator(path('v2.tfevents'))];
let ours: tensorflow.Event[];

beforeAll(() => {
  const { images, bytes: pixels, integers, clips, values } = golden.v2;
  const file = temporaryFolder('summary');
  const writer = summary.createFileWriter(file);
  const double = tfFunction(function double(x: Tensor) {
    return x.add(x);
  });
  writer.asDefault(() => {
    for (const step of [0, 1, 2])
      summary.scalar('loss', 0.5 ** step, step === 0 ? { step, description: 'the *loss*' } : { step });
    nameScope('scope', () => summary.scalar('count', 3n, { step: 2 ** 40 }));
    summary.histogram('values', float32(values, [50]), { step: 1 });
    summary.histogram('few', [1, 2, 3], { step: 1, buckets: 4 });
    summary.image('pictures', float32(images, [4, 3, 5, 3]), { step: 2, maxOutputs: 3 });
    summary.image('bytes', bytes(pixels, [2, 4, 2, 4]), { step: 2 });
    summary.image('integers', constant({ data: Int32Array.from(integers), shape: [1, 2, 3, 1] }), {
      step: 2,
    });
    summary.text('note', 'Grüße, *world*', { step: 3 });
    summary.text(
      'table',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
      { step: 3 },
    );
    summary.audio('sound', float32(clips, [2, 6, 2]), 8000, { step: 4 });
    summary.write('raw', constant([1n, 2n, 3n, 4n], 'int64', { shape: [2, 2] }), { step: 5 });
    summary.write('ones', () => constant(1, 'float32', { shape: [2, 3] }), { step: 5 });
    summary.graph(double.getConcreteFunction(new TensorSpec([2])).graph);
    summary.traceOn();
    double(constant([1, 2]));
    summary.traceExport('trace', { step: 6 });
    summary.hparamsConfig({
      hparams: [
        new summary.HParam('units', new summary.Discrete([32, 16]), {
          displayName: 'Units',
          description: 'how many',
        }),
        new summary.HParam('rate', new summary.RealInterval(0.001, 0.1)),
        new summary.HParam('depth', new summary.IntInterval(1, 4)),
        new summary.HParam('optimizer', new summary.Discrete(['sgd', 'adam'])),
        new summary.HParam('bias', new summary.Discrete([true, false])),
        new summary.HParam('free'),
      ],
      metrics: [
        new summary.Metric('accuracy', {
          group: 'validation',
          displayName: 'Accuracy',
          datasetType: 'validation',
        }),
      ],
      timeCreatedSecs: 1234.5,
    });
    summary.hparams({ units: 16, rate: 0.001, optimizer: 'adam', bias: true }, { startTimeSecs: 2345.5 });
  });
  writer.close();
  ours = eventsIn(file);
});

function eventsIn(file: string): tensorflow.Event[] {
  const [first] = [...summary.readEvents(file)];
  return [...summary.summaryIterator(first!.file)];
}

describe('events beside those of TensorFlow', () => {
  it('the same, but for times, compression and graphs', () => {
    expect(ours.length).toBe(theirs.length);
    for (const [i, event] of ours.entries()) {
      const [mine, other] = [comparable(event), comparable(theirs[i]!)];
      expect(mine, `event ${i}`).toEqual(other);
    }
  });

  it('a graph of the same operations', () => {
    const operations = (events: tensorflow.Event[]): unknown =>
      tensorflow.GraphDef.decode(events.find((e) => e.graph_def)!.graph_def!).node?.map((n) => n.op);
    expect(operations(ours)).toEqual(operations(theirs));
  });
});

/** An event without what differs by intent: times, who wrote it, PNG's compression, contents of graphs, order of maps. */
function comparable(event: tensorflow.Event): unknown {
  const { wall_time, source_metadata, graph_def, summary: values, ...rest } = event;
  return {
    ...rest,
    step: rest.step ?? 0,
    graph: graph_def !== undefined,
    values: values?.value?.map(({ tag, tensor, metadata }) => {
      const { plugin_name, content } = metadata?.plugin_data ?? {};
      return {
        tag,
        plugin_name,
        description: metadata?.summary_description,
        content: plugin_name === 'hparams' ? tensorflow.HParamsPluginData.decode(content!) : content,
        dtype: tensor?.dtype,
        shape: tensor?.tensor_shape?.dim?.map((d) => Number(d.size ?? 0)) ?? [],
        numbers: tensor?.tensor_content?.toString() ?? '',
        strings: plugin_name === 'graph_run_metadata_graph' ? [] : tensor?.string_val?.map(decoded),
      };
    }),
  };
}

function decoded(value: Uint8Array): unknown {
  if (value[0] !== 0x89) return [...value];
  const { width, height, channels, data } = decode(value);
  return { width, height, channels, depth: value[24], data: [...data] };
}

/** The picture in a PNG file. */
function decode(png: Uint8Array) {
  const shape = new Int32Array(3);
  const data = callCodecs('decode', (codecs) => codecs.decodePng(png, 0, 8, shape));
  const [height, width, channels] = shape;
  return { width, height, channels, data };
}

it('histograms', () => {
  for (const { name, values, buckets, rows, shape } of golden.histograms) {
    const mine = histogramRows(values, buckets);
    expect(mine.length, name).toBe(shape[0] * shape[1]);
    rows.forEach((v: number, i: number) => expect(mine[i], `${name} ${i}`).toBeCloseTo(v, 12));
  }
});

it('names of groups of hyperparameters', () => {
  for (const { hparams, name } of golden.group_names) expect(groupName(byName(hparams, 'test'))).toBe(name);
});

describe('readEvents', () => {
  const read = (name: string): summary.SummaryEvent[] => [...summary.readEvents(path(name))];
  const one = <K extends summary.SummaryEvent['kind']>(
    list: summary.SummaryEvent[],
    kind: K,
    tag: string,
  ): Extract<summary.SummaryEvent, { kind: K }> =>
    list.find((e) => e.kind === kind && 'tag' in e && e.tag === tag) as Extract<
      summary.SummaryEvent,
      { kind: K }
    >;

  it('what TensorFlow 2 wrote', () => {
    const events = read('v2.tfevents');
    expect(
      events.filter((e) => e.kind === 'scalar').map(({ tag, step, value }) => [tag, step, value]),
    ).toEqual([
      ['loss', 0, 1],
      ['loss', 1, 0.5],
      ['loss', 2, 0.25],
      ['scope/count', 2 ** 40, 3],
    ]);
    expect(one(events, 'scalar', 'loss').description).toBe('the *loss*');
    expect(one(events, 'histogram', 'few').buckets).toEqual([
      { left: 1, right: 1.5, count: 1 },
      { left: 1.5, right: 2, count: 0 },
      { left: 2, right: 2.5, count: 1 },
      { left: 2.5, right: 3, count: 1 },
    ]);
    const pictures = one(events, 'image', 'pictures');
    expect([pictures.width, pictures.height, pictures.images.length]).toEqual([5, 3, 3]);
    const pixels = pictures.images.flatMap((png) => [...decode(png).data]);
    expect(pixels).toEqual(golden.v2.pixels.slice(0, pixels.length));
    expect(one(events, 'text', 'note')).toMatchObject({ texts: ['Grüße, *world*'], shape: [] });
    expect(one(events, 'text', 'table')).toMatchObject({ texts: ['a', 'b', 'c', 'd'], shape: [2, 2] });
    const sound = one(events, 'audio', 'sound');
    expect(sound.clips.map(({ audio, label }) => [audio.length, label])).toEqual([
      [68, ''],
      [68, ''],
    ]);
    expect(one(events, 'tensor', 'raw').value).toMatchObject({
      dtype: 'int64',
      shape: [2, 2],
      data: BigInt64Array.of(1n, 2n, 3n, 4n),
    });
    expect(events.filter((e) => e.kind === 'graph')).toHaveLength(1);
    const { function_graphs } = tensorflow.RunMetadata.decode(one(events, 'trace', 'trace').runMetadata);
    expect(function_graphs).toHaveLength(1);
    expect(
      one(events, 'hparamsConfig', '_hparams_/experiment').experiment.hparam_infos?.map((h) => h.name),
    ).toEqual(['units', 'rate', 'depth', 'optimizer', 'bias', 'free']);
    expect(one(events, 'hparams', '_hparams_/session_start_info')).toMatchObject({
      values: { units: 16, rate: 0.001, optimizer: 'adam', bias: true },
      startTimeSecs: 2345.5,
    });
  });

  it('what TensorFlow 1 wrote', () => {
    const events = read('v1.tfevents');
    expect(one(events, 'scalar', 'loss')).toMatchObject({ step: 0, value: 0.25 });
    expect(one(events, 'histogram', 'weights').buckets).toEqual([
      { left: -1, right: 0, count: 1 },
      { left: 0, right: 1, count: 0 },
      { left: 1, right: 2, count: 2 },
    ]);
    expect(one(events, 'image', 'picture')).toMatchObject({ width: 2, height: 1, images: [{ length: 4 }] });
    expect(one(events, 'audio', 'sound').clips[0]?.audio.length).toBe(4);
    expect(events.at(-1)).toMatchObject({ kind: 'other', event: { session_log: { status: 1 } } });
  });

  it('what PyTorch wrote', () => {
    const events = read('torch.tfevents');
    const scalars = events.filter((e) => e.kind === 'scalar');
    expect(scalars.map(({ tag, step, value }) => [tag, step, value])).toEqual([
      ['loss', 1, 0.25],
      ['new', 2, 0.5],
      ['accuracy', 0, 0.75],
    ]);
    expect(one(events, 'histogram', 'values').buckets).toEqual([
      { left: 1, right: 2, count: 1 },
      { left: 2, right: 3, count: 3 },
    ]);
    const { width, height, images } = one(events, 'image', 'picture');
    expect([width, height, decode(images[0]!).channels]).toEqual([4, 2, 3]);
    expect(one(events, 'text', 'note/text_summary').texts).toEqual(['Grüße']);
    expect(one(events, 'hparams', '_hparams_/session_start_info').values).toEqual({
      rate: 0.5,
      name: 'sgd',
      // PyTorch takes a truth value for a number.
      bias: 1,
    });
    expect(one(events, 'hparamsEnd', '_hparams_/session_end_info').status).toBe('success');
  });
});
