import type { tensorflow } from '@eagre/formats';
import type { SummaryEvent } from '@eagre/summary';
import { decodeEvent, type KnownMetadata } from '@eagre/summary/internal';
import { Samples } from './samples.ts';
import { nameOf, type ScalarEvent, scanScalar } from './scan.ts';
import { Series } from './series.ts';

export interface Histogram {
  /** Rows of left, right, count. */
  readonly buckets: readonly (readonly [number, number, number])[];
}
export interface Pictures {
  readonly width: number;
  readonly height: number;
  /** Encoded, as PNG as a rule. */
  readonly images: readonly Uint8Array[];
}
export interface Clip {
  /** Encoded, as WAV as a rule. */
  readonly audio: Uint8Array;
  readonly label: string;
}
export interface Texts {
  readonly texts: readonly string[];
  readonly shape: readonly number[];
}
/** A serialised `GraphDef`, a `RunMetadata` with one inside, or a model of Keras as JSON. */
export interface StoredGraph {
  readonly kind: 'graph' | 'trace' | 'keras';
  readonly bytes: Uint8Array;
}
/** What is known of one trial of hyperparameters. */
export interface Trial {
  values: Readonly<Record<string, unknown>>;
  status: string;
  start: number;
  end: number;
}

const MOST_SAMPLES = 100;
const MOST_PICTURES = 40;
// Of one trace or graph per run and tag only the last is kept.

/** The folder of a run: what its event files have said so far. */
export class Run {
  readonly name: string;
  readonly scalars: Map<string, Series> = new Map();
  readonly histograms: Map<string, Samples<Histogram>> = new Map();
  readonly images: Map<string, Samples<Pictures>> = new Map();
  readonly audio: Map<string, Samples<readonly Clip[]>> = new Map();
  readonly texts: Map<string, Samples<Texts>> = new Map();
  readonly graphs: Map<string, StoredGraph> = new Map();
  /** Plugins whose summaries the board does not show. */
  readonly others: Set<string> = new Set();
  readonly descriptions: Map<string, string> = new Map();
  trial: Trial | undefined;
  experiment: tensorflow.Experiment | undefined;
  /** Rises with everything that comes. */
  version = 0;

  readonly #known: KnownMetadata = new Map();
  readonly #byKey = new Map<string, Series>();
  readonly #event: ScalarEvent = { wallTime: 0, step: 0, value: 0, key: '' };

  constructor(name: string) {
    this.name = name;
  }

  /** Takes a record of an event file. @throws DataLossError when it makes no sense. */
  add(record: Uint8Array, file: string): void {
    this.version++;
    const event = this.#event;
    if (scanScalar(record, event)) {
      const series = this.#byKey.get(event.key);
      if (series !== undefined) {
        series.push(event.step, event.wallTime, event.value);
        return;
      }
    }
    for (const decoded of decodeEvent(record, this.name, file, this.#known)) this.#take(decoded, event.key);
  }

  #take(event: SummaryEvent, key: string): void {
    const step = Number(event.step);
    const { wallTime } = event;
    if ('description' in event && event.description !== undefined)
      this.descriptions.set(event.tag, event.description);
    switch (event.kind) {
      case 'scalar': {
        const series = made(this.scalars, event.tag, () => new Series());
        series.push(step, wallTime, event.value);
        if (nameOf(key) === event.tag) this.#byKey.set(key, series);
        return;
      }
      case 'histogram': {
        const buckets = event.buckets.map((b) => [b.left, b.right, b.count] as const);
        made(this.histograms, event.tag, () => new Samples<Histogram>(MOST_SAMPLES)).push({
          step,
          wallTime,
          value: { buckets },
        });
        return;
      }
      case 'image': {
        const { width, height } = event;
        const images = event.images.map(own);
        made(this.images, event.tag, () => new Samples<Pictures>(MOST_PICTURES)).push({
          step,
          wallTime,
          value: { width, height, images },
        });
        return;
      }
      case 'audio': {
        const value = event.clips.map(({ audio, label }) => ({ audio: own(audio), label }));
        made(this.audio, event.tag, () => new Samples<readonly Clip[]>(MOST_PICTURES)).push({
          step,
          wallTime,
          value,
        });
        return;
      }
      case 'text': {
        const { texts, shape } = event;
        made(this.texts, event.tag, () => new Samples<Texts>(MOST_SAMPLES)).push({
          step,
          wallTime,
          value: { texts, shape },
        });
        return;
      }
      case 'graph':
        this.graphs.set('graph', { kind: 'graph', bytes: own(event.graphDef) });
        return;
      case 'trace':
        this.graphs.set(event.tag, { kind: 'trace', bytes: own(event.runMetadata) });
        return;
      case 'hparams':
        this.trial = {
          values: event.values,
          status: this.trial?.status ?? 'unknown',
          start: event.startTimeSecs,
          end: this.trial?.end ?? 0,
        };
        return;
      case 'hparamsEnd':
        if (this.trial) {
          this.trial.status = event.status;
          this.trial.end = event.endTimeSecs;
        }
        return;
      case 'hparamsConfig':
        this.experiment = event.experiment;
        return;
      case 'kerasModel':
        this.graphs.set(event.tag, { kind: 'keras', bytes: new TextEncoder().encode(event.json) });
        return;
      case 'tensor':
        // What came with `write` and without a plugin is nothing to look at.
        if (event.pluginName !== '') this.others.add(event.pluginName);
        return;
      case 'other':
        return;
    }
  }
}

function made<T>(map: Map<string, T>, key: string, make: () => T): T {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}

/** Apart from the file's bytes, which would stay in memory with it. */
const own = (bytes: Uint8Array): Uint8Array => bytes.slice();
