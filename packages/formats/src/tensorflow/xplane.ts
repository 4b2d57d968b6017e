// The messages of `xplane.proto`: what TensorBoard's profiler shows.
import {
  double,
  int64,
  type MessageType,
  message,
  nested,
  nestedList,
  text,
  uint64,
} from '../protobuf/protobuf.ts';

/** More about an event. */
export interface XStat {
  readonly metadata_id?: number | bigint;
  readonly double_value?: number;
  readonly uint64_value?: number | bigint;
  readonly int64_value?: number | bigint;
  readonly str_value?: string;
}
export const XStat: MessageType<XStat> = message<XStat>('XStat', () => ({
  metadata_id: int64(1),
  double_value: double(2),
  uint64_value: uint64(3),
  int64_value: int64(4),
  str_value: text(5),
}));

/** Something that took time, in picoseconds since its line began. */
export interface XEvent {
  readonly metadata_id?: number | bigint;
  readonly offset_ps?: number | bigint;
  readonly duration_ps?: number | bigint;
  readonly stats?: readonly XStat[];
}
export const XEvent: MessageType<XEvent> = message<XEvent>('XEvent', () => ({
  metadata_id: int64(1),
  offset_ps: int64(2),
  duration_ps: int64(3),
  stats: nestedList(4, () => XStat),
}));

/** What happened one after the other, as on a thread. */
export interface XLine {
  readonly id?: number | bigint;
  readonly name?: string;
  readonly timestamp_ns?: number | bigint;
  readonly events?: readonly XEvent[];
  readonly duration_ps?: number | bigint;
}
export const XLine: MessageType<XLine> = message<XLine>('XLine', () => ({
  id: int64(1),
  name: text(2),
  timestamp_ns: int64(3),
  events: nestedList(4, () => XEvent),
  duration_ps: int64(9),
}));

/** What an event, or a fact of one, is called. */
export interface XMetadata {
  readonly id?: number | bigint;
  readonly name?: string;
}
export const XMetadata: MessageType<XMetadata> = message<XMetadata>('XEventMetadata', () => ({
  id: int64(1),
  name: text(2),
}));

/** An entry of a map by number. */
export interface XMetadataEntry {
  readonly key?: number | bigint;
  readonly value?: XMetadata;
}
export const XMetadataEntry: MessageType<XMetadataEntry> = message<XMetadataEntry>(
  'XPlane.EventMetadataEntry',
  () => ({
    key: int64(1),
    value: nested(2, () => XMetadata),
  }),
);

/** All of a device, or of the host. */
export interface XPlane {
  readonly id?: number | bigint;
  readonly name?: string;
  readonly lines?: readonly XLine[];
  readonly event_metadata?: readonly XMetadataEntry[];
  readonly stat_metadata?: readonly XMetadataEntry[];
}
export const XPlane: MessageType<XPlane> = message<XPlane>('XPlane', () => ({
  id: int64(1),
  name: text(2),
  lines: nestedList(3, () => XLine),
  event_metadata: nestedList(4, () => XMetadataEntry),
  stat_metadata: nestedList(5, () => XMetadataEntry),
}));

/** A profile. */
export interface XSpace {
  readonly planes?: readonly XPlane[];
}
export const XSpace: MessageType<XSpace> = message<XSpace>('XSpace', () => ({
  planes: nestedList(1, () => XPlane),
}));
