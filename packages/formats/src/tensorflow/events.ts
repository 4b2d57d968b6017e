// The messages of event files, from TensorFlow's util/event.proto, framework/summary.proto and histogram.proto, and the small
// ones by which TensorBoard's plugins know their values.
import {
  bool,
  bytes,
  double,
  doubles,
  float,
  int32,
  int64,
  type MessageType,
  message,
  nested,
  nestedList,
  text,
} from '../protobuf/protobuf.ts';
import { TensorProto } from './framework.ts';

/** Whose value a tag's is. */
export interface PluginData {
  /** `scalars`, `histograms`, `images`, `text`, `audio`, `hparams`, … */
  readonly plugin_name?: string;
  /** A message of the plugin's own. */
  readonly content?: Uint8Array;
}
export const PluginData: MessageType<PluginData> = message('SummaryMetadata.PluginData', () => ({
  plugin_name: text(1),
  content: bytes(2),
}));

/** `SummaryMetadata.data_class`. */
export const DataClass: {
  readonly UNKNOWN: 0;
  readonly SCALAR: 1;
  readonly TENSOR: 2;
  readonly BLOB_SEQUENCE: 3;
} = { UNKNOWN: 0, SCALAR: 1, TENSOR: 2, BLOB_SEQUENCE: 3 };

/** What a tag's values are; the first value of the tag has it. */
export interface SummaryMetadata {
  readonly plugin_data?: PluginData;
  readonly display_name?: string;
  /** Markdown. */
  readonly summary_description?: string;
  /** One of {@link DataClass}; 0 leaves it to TensorBoard, by the plugin. */
  readonly data_class?: number;
}
export const SummaryMetadata: MessageType<SummaryMetadata> = message('SummaryMetadata', () => ({
  plugin_data: nested(1, () => PluginData),
  display_name: text(2),
  summary_description: text(3),
  data_class: int32(4),
}));

/** A histogram of TensorFlow 1. */
export interface HistogramProto {
  readonly min?: number;
  readonly max?: number;
  readonly num?: number;
  readonly sum?: number;
  readonly sum_squares?: number;
  /** The upper ends of the buckets. */
  readonly bucket_limit?: readonly number[];
  readonly bucket?: readonly number[];
}
export const HistogramProto: MessageType<HistogramProto> = message('HistogramProto', () => ({
  min: double(1),
  max: double(2),
  num: double(3),
  sum: double(4),
  sum_squares: double(5),
  bucket_limit: doubles(6),
  bucket: doubles(7),
}));

/** An image of TensorFlow 1. */
export interface SummaryImage {
  readonly height?: number;
  readonly width?: number;
  /** The number of channels. */
  readonly colorspace?: number;
  readonly encoded_image_string?: Uint8Array;
}
export const SummaryImage: MessageType<SummaryImage> = message('Summary.Image', () => ({
  height: int32(1),
  width: int32(2),
  colorspace: int32(3),
  encoded_image_string: bytes(4),
}));

/** Sound of TensorFlow 1. */
export interface SummaryAudio {
  /** In hertz. */
  readonly sample_rate?: number;
  readonly num_channels?: number | bigint;
  readonly length_frames?: number | bigint;
  readonly encoded_audio_string?: Uint8Array;
  readonly content_type?: string;
}
export const SummaryAudio: MessageType<SummaryAudio> = message('Summary.Audio', () => ({
  sample_rate: float(1),
  num_channels: int64(2),
  length_frames: int64(3),
  encoded_audio_string: bytes(4),
  content_type: text(5),
}));

/** A value of a tag; one of `simple_value` to `audio`, or `tensor`, is set. */
export interface SummaryValue {
  readonly tag?: string;
  readonly simple_value?: number;
  readonly obsolete_old_style_histogram?: Uint8Array;
  readonly image?: SummaryImage;
  readonly histo?: HistogramProto;
  readonly audio?: SummaryAudio;
  readonly node_name?: string;
  readonly tensor?: TensorProto;
  readonly metadata?: SummaryMetadata;
}
export const SummaryValue: MessageType<SummaryValue> = message('Summary.Value', () => ({
  tag: text(1),
  simple_value: float(2),
  obsolete_old_style_histogram: bytes(3),
  image: nested(4, () => SummaryImage),
  histo: nested(5, () => HistogramProto),
  audio: nested(6, () => SummaryAudio),
  node_name: text(7),
  tensor: nested(8, () => TensorProto),
  metadata: nested(9, () => SummaryMetadata),
}));

/** Values of one step. */
export interface Summary {
  readonly value?: readonly SummaryValue[];
}
export const Summary: MessageType<Summary> = message('Summary', () => ({
  value: nestedList(1, () => SummaryValue),
}));

/** `SessionLog.status`. */
export const SessionStatus: {
  readonly UNSPECIFIED: 0;
  readonly START: 1;
  readonly STOP: 2;
  readonly CHECKPOINT: 3;
} = { UNSPECIFIED: 0, START: 1, STOP: 2, CHECKPOINT: 3 };

/** That a session begins (TensorBoard then drops later steps of an earlier one), ends, or has saved. */
export interface SessionLog {
  /** One of {@link SessionStatus}. */
  readonly status?: number;
  readonly checkpoint_path?: string;
  readonly msg?: string;
}
export const SessionLog: MessageType<SessionLog> = message('SessionLog', () => ({
  status: int32(1),
  checkpoint_path: text(2),
  msg: text(3),
}));

/** A line of a log; TensorFlow writes none any more. */
export interface LogMessage {
  readonly level?: number;
  readonly message?: string;
}
export const LogMessage: MessageType<LogMessage> = message('LogMessage', () => ({
  level: int32(1),
  message: text(2),
}));

/** What one run of a graph took. */
export interface TaggedRunMetadata {
  readonly tag?: string;
  /** A serialised `RunMetadata`. */
  readonly run_metadata?: Uint8Array;
}
export const TaggedRunMetadata: MessageType<TaggedRunMetadata> = message('TaggedRunMetadata', () => ({
  tag: text(1),
  run_metadata: bytes(2),
}));

/** Who wrote an event. */
export interface SourceMetadata {
  readonly writer?: string;
}
export const SourceMetadata: MessageType<SourceMetadata> = message('SourceMetadata', () => ({
  writer: text(1),
}));

/** A record of an event file; at most one of `file_version` to `meta_graph_def` is set. */
export interface Event {
  /** Seconds since 1970. */
  readonly wall_time?: number;
  readonly step?: number | bigint;
  /** {@link EVENT_FILE_VERSION}, in the first record of a file. */
  readonly file_version?: string;
  /** A serialised `GraphDef`. */
  readonly graph_def?: Uint8Array;
  readonly summary?: Summary;
  readonly log_message?: LogMessage;
  readonly session_log?: SessionLog;
  readonly tagged_run_metadata?: TaggedRunMetadata;
  /** A serialised `MetaGraphDef`. */
  readonly meta_graph_def?: Uint8Array;
  readonly source_metadata?: SourceMetadata;
}
export const Event: MessageType<Event> = message('Event', () => ({
  wall_time: double(1),
  step: int64(2),
  file_version: text(3),
  graph_def: bytes(4),
  summary: nested(5, () => Summary),
  log_message: nested(6, () => LogMessage),
  session_log: nested(7, () => SessionLog),
  tagged_run_metadata: nested(8, () => TaggedRunMetadata),
  meta_graph_def: bytes(9),
  source_metadata: nested(10, () => SourceMetadata),
}));

/** What the first record of an event file says. */
export const EVENT_FILE_VERSION = 'brain.Event:2';

/** The content of `scalars`, `histograms` and `text`. All versions are 0, so it is empty. */
export interface VersionPluginData {
  readonly version?: number;
}
export const VersionPluginData: MessageType<VersionPluginData> = message('ScalarPluginData', () => ({
  version: int32(1),
}));

/** The content of `images`. */
export interface ImagePluginData {
  readonly version?: number;
  readonly converted_to_tensor?: boolean;
}
export const ImagePluginData: MessageType<ImagePluginData> = message('ImagePluginData', () => ({
  version: int32(1),
  converted_to_tensor: bool(2),
}));

/** The content of `audio`. */
export interface AudioPluginData {
  readonly version?: number;
  /** 11 is WAV. */
  readonly encoding?: number;
  readonly converted_to_tensor?: boolean;
}
export const AudioPluginData: MessageType<AudioPluginData> = message('AudioPluginData', () => ({
  version: int32(1),
  encoding: int32(2),
  converted_to_tensor: bool(3),
}));
