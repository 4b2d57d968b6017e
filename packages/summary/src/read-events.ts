// What is in an event file, by kind; values of TensorFlow 1 become what TensorFlow 2 would have written.
import { DataLossError } from '@eagre/backend';
import {
  decodeTensorProto,
  FormatError,
  type NDArray,
  type TensorValue,
  tensorflow,
  UnsupportedFormatError,
} from '@eagre/formats';
import type { HParamValue } from './hparam.ts';

interface Common {
  /** The folder of the file, relative to the one that is read: `.`, `train`. */
  readonly run: string;
  /** The file that the event is in. */
  readonly file: string;
  /** Seconds since 1970. */
  readonly wallTime: number;
  /** A bigint where a number would not be exact. */
  readonly step: number | bigint;
}

interface Tagged extends Common {
  /** What the value is called: the name of its curve, picture or text. */
  readonly tag: string;
  /** Markdown. */
  readonly description?: string;
  /** What people read instead of the tag. */
  readonly displayName?: string;
}

/** A range of values, and how many there are. */
export interface Bucket {
  /** Its lower end. */
  readonly left: number;
  /** Its upper end. */
  readonly right: number;
  /** How many values lie between both. */
  readonly count: number;
}

/** One number of a curve, written by `scalar`. */
export interface ScalarEvent extends Tagged {
  readonly kind: 'scalar';
  /** The number. */
  readonly value: number;
}
/** How values are distributed, written by `histogram`. */
export interface HistogramEvent extends Tagged {
  readonly kind: 'histogram';
  /** The ranges from the lowest values on. */
  readonly buckets: readonly Bucket[];
}
/** Pictures, written by `image`. */
export interface ImageEvent extends Tagged {
  readonly kind: 'image';
  /** Of the pictures, in pixels. */
  readonly width: number;
  /** Of the pictures, in pixels. */
  readonly height: number;
  /** Encoded, as PNG as a rule. */
  readonly images: readonly Uint8Array[];
}
/** Clips of sound, written by `audio`. */
export interface AudioEvent extends Tagged {
  readonly kind: 'audio';
  /** The clips as WAV files, each with its label. */
  readonly clips: readonly { readonly audio: Uint8Array; readonly label: string }[];
}
/** Texts, written by `text`. */
export interface TextEvent extends Tagged {
  readonly kind: 'text';
  /** In row-major order. */
  readonly texts: readonly string[];
  /** The shape of the texts as a tensor. */
  readonly shape: readonly number[];
}
/** A tensor of no known plugin. */
export interface TensorEvent extends Tagged {
  readonly kind: 'tensor';
  /** Empty where none is named. */
  readonly pluginName: string;
  /** What the plugin says of the tensor, in a form of its own. */
  readonly pluginContent: Uint8Array;
  /** Null for a dtype that no array holds, such as complex numbers. */
  readonly value: TensorValue | null;
}
/** A graph, written by `graph`. */
export interface GraphEvent extends Common {
  readonly kind: 'graph';
  /** A `GraphDef`. */
  readonly graphDef: Uint8Array;
}
/** What `traceExport` wrote. */
export interface TraceEvent extends Tagged {
  readonly kind: 'trace';
  /** A `RunMetadata`. */
  readonly runMetadata: Uint8Array;
}
/** The layers of a model, written by the callback `TensorBoard`. */
export interface KerasModelEvent extends Tagged {
  readonly kind: 'kerasModel';
  /** The model's configuration. */
  readonly json: string;
}
/** The hyperparameters of a run, written by `hparams`. */
export interface HParamsEvent extends Tagged {
  readonly kind: 'hparams';
  /** Runs of one name are shown as one trial. */
  readonly groupName: string;
  /** When the run began, in seconds since 1970. */
  readonly startTimeSecs: number;
  /** The hyperparameters by their names. */
  readonly values: Readonly<Record<string, HParamValue | null>>;
}
/** What a search tries, written by `hparamsConfig`. */
export interface HParamsConfigEvent extends Tagged {
  readonly kind: 'hparamsConfig';
  /** The hyperparameters that the search tries, and the metrics that it looks at. */
  readonly experiment: tensorflow.Experiment;
}
/** How a run ended, written by `hparamsEnd`. */
export interface HParamsEndEvent extends Tagged {
  readonly kind: 'hparamsEnd';
  /** How the run ended. */
  readonly status: 'unknown' | 'success' | 'failure' | 'running';
  /** When it ended, in seconds since 1970. */
  readonly endTimeSecs: number;
}
/** Everything else: the version of the file, logs of sessions, metadata of runs, meta graphs. */
export interface OtherEvent extends Common {
  readonly kind: 'other';
  /** The event as it is in the file. */
  readonly event: tensorflow.Event;
}

/** An event; its `kind` says what it holds. */
export type SummaryEvent =
  | ScalarEvent
  | HistogramEvent
  | ImageEvent
  | AudioEvent
  | TextEvent
  | TensorEvent
  | GraphEvent
  | TraceEvent
  | KerasModelEvent
  | HParamsEvent
  | HParamsConfigEvent
  | HParamsEndEvent
  | OtherEvent;

/** The metadata of tags that came before: only the first value of a tag has to have it. */
export type KnownMetadata = Map<string, tensorflow.SummaryMetadata>;

// Few tensors are stored as one value for all elements, and these are small.
const MOST_FILLED_BYTES = 8 * 2 ** 20;

/** What a record holds. @throws DataLossError when it makes no sense. */
export function decodeEvent(
  record: Uint8Array,
  run: string,
  file: string,
  known: KnownMetadata,
): readonly SummaryEvent[] {
  try {
    const event = tensorflow.Event.decode(record, { file });
    const common = { run, file, wallTime: event.wall_time ?? 0, step: event.step ?? 0 };
    if (event.graph_def !== undefined) return [{ kind: 'graph', ...common, graphDef: event.graph_def }];
    if (event.summary === undefined) return [{ kind: 'other', ...common, event }];
    return (event.summary.value ?? []).map((value) => decodeValue(value, common, known));
  } catch (cause) {
    if (cause instanceof FormatError) throw new DataLossError(cause.message, 'readEvents', { cause });
    throw cause;
  }
}

function decodeValue(value: tensorflow.SummaryValue, common: Common, known: KnownMetadata): SummaryEvent {
  const tag = value.tag ?? '';
  let { metadata } = value;
  if (metadata === undefined) metadata = known.get(tag);
  else if (!known.has(tag)) known.set(tag, metadata);
  const tagged: Tagged = {
    ...common,
    tag,
    ...(metadata?.summary_description ? { description: metadata.summary_description } : {}),
    ...(metadata?.display_name ? { displayName: metadata.display_name } : {}),
  };
  if (value.simple_value !== undefined) return { kind: 'scalar', ...tagged, value: value.simple_value };
  if (value.histo !== undefined) return { kind: 'histogram', ...tagged, buckets: oldBuckets(value.histo) };
  if (value.image !== undefined) {
    const { width = 0, height = 0, encoded_image_string = new Uint8Array(0) } = value.image;
    return { kind: 'image', ...tagged, width, height, images: [encoded_image_string] };
  }
  if (value.audio !== undefined) {
    const audio = value.audio.encoded_audio_string ?? new Uint8Array(0);
    return { kind: 'audio', ...tagged, clips: [{ audio, label: '' }] };
  }
  const plugin = metadata?.plugin_data?.plugin_name ?? '';
  const content = metadata?.plugin_data?.content ?? new Uint8Array(0);
  return decodeTensor(value.tensor ?? {}, plugin, content, tagged);
}

function decodeTensor(
  proto: tensorflow.TensorProto,
  pluginName: string,
  pluginContent: Uint8Array,
  tagged: Tagged,
): SummaryEvent {
  const wrong = (expected: string): DataLossError =>
    new DataLossError(
      `${tagged.file}: '${tagged.tag}' of the plugin ${pluginName} is not ${expected}`,
      'readEvents',
    );
  const decoded = (): TensorValue =>
    decodeTensorProto(proto, { file: tagged.file, maxBytes: MOST_FILLED_BYTES });
  const strings = (rank: (rank: number) => boolean, expected: string): readonly Uint8Array[] => {
    const value = decoded();
    if (value.dtype !== 'string' || !rank(value.shape.length)) throw wrong(expected);
    return value.data;
  };
  const only = (expected: string): Uint8Array => {
    const list = strings(() => true, expected);
    if (list.length !== 1) throw wrong(expected);
    return list[0];
  };
  switch (pluginName) {
    case 'scalars': {
      const value = decoded();
      if (value.dtype === 'string' || value.data.length !== 1) throw wrong('a number');
      return { kind: 'scalar', ...tagged, value: Number(value.data[0]) };
    }
    case 'histograms': {
      const value = decoded();
      if (value.dtype === 'string' || value.shape.length !== 2 || value.shape[1] !== 3)
        throw wrong('a tensor [buckets, 3]');
      return { kind: 'histogram', ...tagged, buckets: newBuckets(value) };
    }
    case 'images': {
      const [width, height, ...images] = strings((rank) => rank === 1, 'a vector of strings');
      if (width === undefined || height === undefined) throw wrong('a width, a height and images');
      return { kind: 'image', ...tagged, width: Number(utf8(width)), height: Number(utf8(height)), images };
    }
    case 'audio': {
      const value = decoded();
      if (value.dtype !== 'string' || value.shape.length !== 2 || value.shape[1] < 1)
        throw wrong('a matrix of strings');
      const columns = value.shape[1];
      const clips = Array.from({ length: value.shape[0] }, (_, i) => ({
        audio: value.data[i * columns],
        label: columns > 1 ? utf8(value.data[i * columns + 1]) : '',
      }));
      return { kind: 'audio', ...tagged, clips };
    }
    case 'text': {
      const value = decoded();
      if (value.dtype !== 'string') throw wrong('text');
      return { kind: 'text', ...tagged, texts: value.data.map(utf8), shape: value.shape };
    }
    case 'graph_run_metadata':
    case 'graph_run_metadata_graph':
      return { kind: 'trace', ...tagged, runMetadata: only('a string') };
    case 'graph_keras_model':
      return { kind: 'kerasModel', ...tagged, json: utf8(only('a string')) };
    case 'hparams':
      return decodeHParams(pluginContent, tagged) ?? tensorEvent(decoded, pluginName, pluginContent, tagged);
    default:
      return tensorEvent(decoded, pluginName, pluginContent, tagged);
  }
}

function tensorEvent(
  decoded: () => TensorValue,
  pluginName: string,
  pluginContent: Uint8Array,
  tagged: Tagged,
): TensorEvent {
  let value: TensorValue | null = null;
  try {
    value = decoded();
  } catch (error) {
    // One tensor that cannot be held here is no reason to stop.
    if (!(error instanceof UnsupportedFormatError)) throw error;
  }
  return { kind: 'tensor', ...tagged, pluginName, pluginContent, value };
}

function decodeHParams(content: Uint8Array, tagged: Tagged): SummaryEvent | null {
  const { file } = tagged;
  const data = tensorflow.HParamsPluginData.decode(content, { file });
  if (data.experiment !== undefined) return { kind: 'hparamsConfig', ...tagged, experiment: data.experiment };
  if (data.session_end_info !== undefined) {
    const { status = 0, end_time_secs: endTimeSecs = 0 } = data.session_end_info;
    const names = ['unknown', 'success', 'failure', 'running'] as const;
    return { kind: 'hparamsEnd', ...tagged, status: names[status] ?? 'unknown', endTimeSecs };
  }
  const start = data.session_start_info;
  if (start === undefined) return null;
  const entries = [...(start.hparams ?? [])].map(
    ([name, v]) => [name, v.number_value ?? v.string_value ?? v.bool_value ?? null] as const,
  );
  return {
    kind: 'hparams',
    ...tagged,
    groupName: start.group_name ?? '',
    startTimeSecs: start.start_time_secs ?? 0,
    values: Object.fromEntries(entries),
  };
}

function newBuckets({ data, shape }: NDArray): Bucket[] {
  const at = (i: number): number => Number(data[i]);
  return Array.from({ length: shape[0] }, (_, i) => ({
    left: at(3 * i),
    right: at(3 * i + 1),
    count: at(3 * i + 2),
  }));
}

/**
 * From upper ends to ranges, as TensorBoard does: without the empty buckets at both ends, where the outer limits may be those of floats,
 * and from the least to the greatest value.
 */
function oldBuckets(histogram: tensorflow.HistogramProto): Bucket[] {
  const { min = 0, max = 0, bucket_limit: limits = [], bucket: counts = [] } = histogram;
  const first = counts.findIndex((count) => count > 0);
  const last = counts.findLastIndex((count) => count > 0);
  if (first < 0) return [];
  return counts.slice(first, last + 1).map((count, i, { length }) => ({
    left: i === 0 ? min : (limits[first + i - 1] ?? max),
    right: i === length - 1 ? max : (limits[first + i] ?? max),
    count,
  }));
}

const utf8 = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
