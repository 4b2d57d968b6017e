// The messages of TensorBoard's hparams plugin, and those of google/protobuf/struct.proto that they use.
import {
  bool,
  double,
  int32,
  type MessageType,
  map,
  message,
  nested,
  nestedList,
  text,
} from '../protobuf/protobuf.ts';

/** `google.protobuf.Value`: what JSON holds; one of the fields is set. */
export interface ProtoValue {
  /** 0. */
  readonly null_value?: number;
  readonly number_value?: number;
  readonly string_value?: string;
  readonly bool_value?: boolean;
  readonly struct_value?: ProtoStruct;
  readonly list_value?: ProtoListValue;
}
export const ProtoValue: MessageType<ProtoValue> = message('google.protobuf.Value', () => ({
  null_value: int32(1),
  number_value: double(2),
  string_value: text(3),
  bool_value: bool(4),
  struct_value: nested(5, () => ProtoStruct),
  list_value: nested(6, () => ProtoListValue),
}));

/** `google.protobuf.Struct`: an object of JSON. */
export interface ProtoStruct {
  readonly fields?: ReadonlyMap<string, ProtoValue>;
}
export const ProtoStruct: MessageType<ProtoStruct> = message('google.protobuf.Struct', () => ({
  fields: values(1),
}));

/** `google.protobuf.ListValue`: an array of JSON. */
export interface ProtoListValue {
  readonly values?: readonly ProtoValue[];
}
export const ProtoListValue: MessageType<ProtoListValue> = message('google.protobuf.ListValue', () => ({
  values: nestedList(1, () => ProtoValue),
}));

const values = (number: number) =>
  map<ProtoValue>(
    number,
    (n) => nested(n, () => ProtoValue),
    () => ({}),
  );

/** `HParamInfo.type`. */
export const HParamType: { readonly UNSET: 0; readonly STRING: 1; readonly BOOL: 2; readonly FLOAT64: 3 } = {
  UNSET: 0,
  STRING: 1,
  BOOL: 2,
  FLOAT64: 3,
};

/** The ends of an interval, both inside. */
export interface Interval {
  readonly min_value?: number;
  readonly max_value?: number;
}
export const Interval: MessageType<Interval> = message('Interval', () => ({
  min_value: double(1),
  max_value: double(2),
}));

/** A hyperparameter of an experiment. */
export interface HParamInfo {
  readonly name?: string;
  readonly display_name?: string;
  readonly description?: string;
  /** One of {@link HParamType}. */
  readonly type?: number;
  readonly domain_discrete?: ProtoListValue;
  readonly domain_interval?: Interval;
}
export const HParamInfo: MessageType<HParamInfo> = message('HParamInfo', () => ({
  name: text(1),
  display_name: text(2),
  description: text(3),
  type: int32(4),
  domain_discrete: nested(5, () => ProtoListValue),
  domain_interval: nested(6, () => Interval),
}));

/** The tag of a metric, and the part of a session's folder behind the session's own. */
export interface MetricName {
  readonly group?: string;
  readonly tag?: string;
}
export const MetricName: MessageType<MetricName> = message('MetricName', () => ({
  group: text(1),
  tag: text(2),
}));

/** `MetricInfo.dataset_type`. */
export const DatasetType: { readonly UNKNOWN: 0; readonly TRAINING: 1; readonly VALIDATION: 2 } = {
  UNKNOWN: 0,
  TRAINING: 1,
  VALIDATION: 2,
};

/** A metric of an experiment. */
export interface MetricInfo {
  readonly name?: MetricName;
  readonly display_name?: string;
  readonly description?: string;
  /** One of {@link DatasetType}. */
  readonly dataset_type?: number;
}
export const MetricInfo: MessageType<MetricInfo> = message('MetricInfo', () => ({
  name: nested(1, () => MetricName),
  display_name: text(3),
  description: text(4),
  dataset_type: int32(5),
}));

/** What the sessions of a log folder have in common. */
export interface Experiment {
  readonly description?: string;
  readonly user?: string;
  readonly time_created_secs?: number;
  readonly hparam_infos?: readonly HParamInfo[];
  readonly metric_infos?: readonly MetricInfo[];
  readonly name?: string;
}
export const Experiment: MessageType<Experiment> = message('Experiment', () => ({
  description: text(1),
  user: text(2),
  time_created_secs: double(3),
  hparam_infos: nestedList(4, () => HParamInfo),
  metric_infos: nestedList(5, () => MetricInfo),
  name: text(6),
}));

/** That a session begins, with these hyperparameters. */
export interface SessionStartInfo {
  readonly hparams?: ReadonlyMap<string, ProtoValue>;
  readonly model_uri?: string;
  readonly monitor_url?: string;
  readonly group_name?: string;
  readonly start_time_secs?: number;
}
export const SessionStartInfo: MessageType<SessionStartInfo> = message('SessionStartInfo', () => ({
  hparams: values(1),
  model_uri: text(2),
  monitor_url: text(3),
  group_name: text(4),
  start_time_secs: double(5),
}));

/** `SessionEndInfo.status`. */
export const HParamsStatus: {
  readonly UNKNOWN: 0;
  readonly SUCCESS: 1;
  readonly FAILURE: 2;
  readonly RUNNING: 3;
} = { UNKNOWN: 0, SUCCESS: 1, FAILURE: 2, RUNNING: 3 };

/** That a session ended. */
export interface SessionEndInfo {
  /** One of {@link HParamsStatus}. */
  readonly status?: number;
  readonly end_time_secs?: number;
}
export const SessionEndInfo: MessageType<SessionEndInfo> = message('SessionEndInfo', () => ({
  status: int32(1),
  end_time_secs: double(2),
}));

/** The content of `hparams`; one of the fields behind `version`, which is 0, is set. */
export interface HParamsPluginData {
  readonly version?: number;
  readonly experiment?: Experiment;
  readonly session_start_info?: SessionStartInfo;
  readonly session_end_info?: SessionEndInfo;
}
export const HParamsPluginData: MessageType<HParamsPluginData> = message('HParamsPluginData', () => ({
  version: int32(1),
  experiment: nested(2, () => Experiment),
  session_start_info: nested(3, () => SessionStartInfo),
  session_end_info: nested(4, () => SessionEndInfo),
}));
