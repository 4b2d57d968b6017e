import { tensorflow } from '@eagre/formats';
import type {
  AudioSample,
  GraphAnswer,
  GraphNode,
  HistogramSample,
  HParamsAnswer,
  ImageSample,
  RunsAnswer,
  ScalarsAnswer,
  TextSample,
  TrialRow,
} from '../api.ts';
import type { Logs } from './logs.ts';
import type { Run } from './run.ts';
import type { Samples } from './samples.ts';
import { viewOf } from './series.ts';

/** A question that cannot be answered; `status` is that of HTTP. */
export class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** What an answer is sent as. */
export interface Body {
  readonly type: string;
  readonly bytes: string | Uint8Array;
  /** A file name, for what is to be saved. */
  readonly saveAs?: string;
}

type Answer = (logs: Logs, query: URLSearchParams) => Body;

const MOST_POINTS = 20_000;

/** By the last part of the path: `api/<name>`. */
export const answers: Readonly<Record<string, Answer>> = {
  runs: (logs) => json(runs(logs)),
  scalars: (logs, query) => json(scalars(logs, query)),
  csv: csv,
  histograms: (logs, query) => {
    const list = tagged(logs, query, (run) => run.histograms).list();
    return json(
      list.map(({ step, wallTime, value }): HistogramSample => ({ step, wallTime, buckets: value.buckets })),
    );
  },
  images: (logs, query) => {
    const list = tagged(logs, query, (run) => run.images).list();
    return json(
      list.map(({ step, wallTime, value: { width, height, images } }): ImageSample => {
        return { step, wallTime, width, height, count: images.length };
      }),
    );
  },
  image: (logs, query) => {
    const bytes = sampleAt(
      tagged(logs, query, (run) => run.images),
      query,
    ).images[index(query)];
    if (bytes === undefined) throw new Refusal(404, 'no such picture');
    return { type: pictureType(bytes), bytes };
  },
  audio: (logs, query) => {
    const list = tagged(logs, query, (run) => run.audio).list();
    return json(
      list.map(
        ({ step, wallTime, value }): AudioSample => ({ step, wallTime, labels: value.map((c) => c.label) }),
      ),
    );
  },
  clip: (logs, query) => {
    const clip = sampleAt(
      tagged(logs, query, (run) => run.audio),
      query,
    )[index(query)];
    if (clip === undefined) throw new Refusal(404, 'no such clip');
    return { type: 'audio/wav', bytes: clip.audio };
  },
  texts: (logs, query) => {
    const list = tagged(logs, query, (run) => run.texts).list();
    return json(list.map(({ step, wallTime, value }): TextSample => ({ step, wallTime, ...value })));
  },
  graph: (logs, query) => json(graph(logs, query)),
  hparams: (logs) => json(hparams(logs)),
};

const json = (value: unknown): Body => ({ type: 'application/json', bytes: JSON.stringify(value) });

function runs(logs: Logs): RunsAnswer {
  return {
    logdir: logs.root,
    runs: [...logs.runs.values()].map((run) => ({
      name: run.name,
      scalars: [...run.scalars.keys()],
      histograms: [...run.histograms.keys()],
      images: [...run.images.keys()],
      audio: [...run.audio.keys()],
      texts: [...run.texts.keys()],
      graphs: [...run.graphs.keys()],
      descriptions: Object.fromEntries(run.descriptions),
      hparams: run.trial !== undefined,
    })),
    problems: logs.problems,
  };
}

function scalars(logs: Logs, query: URLSearchParams): ScalarsAnswer {
  return viewOf(tagged(logs, query, (run) => run.scalars).columns(), {
    points: number(query, 'points', 2, MOST_POINTS) ?? 2000,
    from: number(query, 'from'),
    to: number(query, 'to'),
    smoothing: number(query, 'smoothing', 0, 0.9999) ?? 0,
  });
}

function csv(logs: Logs, query: URLSearchParams): Body {
  const { steps, wallTimes, values } = tagged(logs, query, (run) => run.scalars).columns();
  const lines = ['wall_time,step,value'];
  for (let i = 0; i < steps.length; i++) lines.push(`${wallTimes[i]},${steps[i]},${values[i]}`);
  const name = `${query.get('run')}-${query.get('tag')}`.replaceAll(/[^\w.-]+/g, '_');
  return { type: 'text/csv', bytes: `${lines.join('\n')}\n`, saveAs: `${name}.csv` };
}

function graph(logs: Logs, query: URLSearchParams): GraphAnswer {
  const { kind, bytes } = tagged(logs, query, (run) => run.graphs);
  if (kind === 'graph') return shown([tensorflow.GraphDef.decode(bytes)]);
  const { function_graphs = [], partition_graphs = [] } = tensorflow.RunMetadata.decode(bytes);
  const traced = function_graphs.flatMap((f) => f.pre_optimization_graph ?? f.partition_graphs ?? []);
  return shown(traced.length > 0 ? traced : partition_graphs);
}

function shown(graphs: readonly tensorflow.GraphDef[]): GraphAnswer {
  return {
    nodes: graphs.flatMap((g) => (g.node ?? []).map(shownNode)),
    functions: graphs.flatMap((g) =>
      (g.library?.function ?? []).map((f) => ({
        name: f.signature?.name ?? '',
        nodes: (f.node_def ?? []).map(shownNode),
      })),
    ),
  };
}

function shownNode(node: tensorflow.NodeDef): GraphNode {
  const attributes: Record<string, string> = {};
  for (const [name, value] of node.attr ?? []) {
    const text = shownAttribute(value);
    if (text !== undefined) attributes[name] = text;
  }
  return {
    name: node.name ?? '',
    op: node.op ?? '',
    inputs: node.input ?? [],
    device: node.device ?? '',
    attributes,
  };
}

function shownAttribute(value: tensorflow.AttrValue): string | undefined {
  if (value.s !== undefined) return new TextDecoder().decode(value.s).slice(0, 200);
  if (value.i !== undefined) return String(value.i);
  if (value.f !== undefined) return String(value.f);
  if (value.b !== undefined) return String(value.b);
  if (value.type !== undefined)
    return Object.entries(tensorflow.DataType).find(([, n]) => n === value.type)?.[0] ?? String(value.type);
  if (value.shape !== undefined) return shownShape(value.shape);
  if (value.func !== undefined) return value.func.name ?? '';
  const shapes = value.list?.shape;
  return shapes === undefined || shapes.length === 0 ? undefined : shapes.map(shownShape).join(', ');
}

const shownShape = (shape: tensorflow.TensorShapeProto): string =>
  shape.unknown_rank
    ? '?'
    : `[${(shape.dim ?? []).map((d) => (Number(d.size ?? 0) < 0 ? '?' : (d.size ?? 0))).join(', ')}]`;

function hparams(logs: Logs): HParamsAnswer {
  const names = new Set<string>();
  const metrics = new Set<string>();
  const trials: TrialRow[] = [];
  for (const run of logs.runs.values()) {
    if (run.trial === undefined) continue;
    const last: Record<string, number> = {};
    // The scalars of a trial are in its folder or below.
    for (const other of logs.runs.values()) {
      if (other !== run && !other.name.startsWith(`${run.name}/`)) continue;
      for (const [tag, series] of other.scalars) {
        const value = series.columns().values.at(-1);
        const name = other === run ? tag : `${other.name.slice(run.name.length + 1)}/${tag}`;
        if (value !== undefined) last[name] = value;
        metrics.add(name);
      }
    }
    for (const name of Object.keys(run.trial.values)) names.add(name);
    trials.push({
      run: run.name,
      status: run.trial.status,
      values: run.trial.values as TrialRow['values'],
      metrics: last,
    });
  }
  return { names: [...names], metrics: [...metrics], trials };
}

function tagged<T>(logs: Logs, query: URLSearchParams, of: (run: Run) => ReadonlyMap<string, T>): T {
  const run = logs.runs.get(query.get('run') ?? '');
  if (run === undefined) throw new Refusal(404, 'no such run');
  const found = of(run).get(query.get('tag') ?? '');
  if (found === undefined) throw new Refusal(404, 'no such tag');
  return found;
}

function sampleAt<T>(samples: Samples<T>, query: URLSearchParams): T {
  const step = number(query, 'step');
  const found = samples.list().find((sample) => sample.step === step);
  if (found === undefined) throw new Refusal(404, 'no such step');
  return found.value;
}

const index = (query: URLSearchParams): number => number(query, 'index', 0, 1e6) ?? 0;

function number(
  query: URLSearchParams,
  name: string,
  least = -Infinity,
  most = Infinity,
): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  const value = Number(text);
  if (!(value >= least && value <= most)) throw new Refusal(400, `${name} is out of range`);
  return value;
}

/** Only pictures are sent as pictures: anything else could be a page with scripts. */
function pictureType(bytes: Uint8Array): string {
  if (bytes[0] === 0x89 && bytes[1] === 0x50) return 'image/png';
  if (bytes[0] === 0xff && bytes[1] === 0xd8) return 'image/jpeg';
  if (bytes[0] === 0x47 && bytes[1] === 0x49) return 'image/gif';
  throw new Refusal(415, 'neither PNG, JPEG nor GIF');
}
