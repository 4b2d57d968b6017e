import type {
  AudioSample,
  HistogramSample,
  ImageSample,
  RunsAnswer,
  ScalarsAnswer,
  TextSample,
} from '../api.ts';
import { graphAnswer } from './graphs.ts';
import type { Logs } from './logs.ts';
import type { Run } from './run.ts';
import type { Samples } from './samples.ts';
import { type Along, viewOf } from './series.ts';
import { trialsOf } from './trials.ts';

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
  csv,
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
  graph: (logs, query) => json(graphAnswer(tagged(logs, query, (run) => run.graphs))),
  hparams: (logs) => json(trialsOf(logs.runs)),
};

const json = (value: unknown): Body => ({ type: 'application/json', bytes: JSON.stringify(value) });

function runs(logs: Logs): RunsAnswer {
  return {
    logdir: logs.root,
    loading: !logs.loaded,
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
      others: [...run.others],
    })),
    problems: logs.problems,
  };
}

/** Of several runs at once: a plot of fifty lines is one question. */
function scalars(logs: Logs, query: URLSearchParams): ScalarsAnswer {
  const tag = query.get('tag') ?? '';
  const options = {
    points: number(query, 'points', 2, MOST_POINTS) ?? 2000,
    along: along(query),
    from: number(query, 'from'),
    to: number(query, 'to'),
    smoothing: number(query, 'smoothing', 0, 0.9999) ?? 0,
  };
  return query.getAll('run').flatMap((run) => {
    const series = logs.runs.get(run)?.scalars.get(tag);
    return series === undefined ? [] : [{ run, ...viewOf(series.columns(), options) }];
  });
}

function along(query: URLSearchParams): Along {
  const name = query.get('along') ?? 'step';
  if (name === 'step' || name === 'relative' || name === 'time') return name;
  throw new Refusal(400, 'along is step, relative or time');
}

function csv(logs: Logs, query: URLSearchParams): Body {
  const { steps, wallTimes, values } = tagged(logs, query, (run) => run.scalars).columns();
  const lines = ['wall_time,step,value'];
  for (let i = 0; i < steps.length; i++) lines.push(`${wallTimes[i]},${steps[i]},${values[i]}`);
  const name = `${query.get('run')}-${query.get('tag')}`.replaceAll(/[^\w.-]+/g, '_');
  return { type: 'text/csv', bytes: `${lines.join('\n')}\n`, saveAs: `${name}.csv` };
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
