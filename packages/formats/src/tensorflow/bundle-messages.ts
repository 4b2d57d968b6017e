// The messages in checkpoints: protobuf/tensor_bundle.proto, framework/tensor_slice.proto and protobuf/trackable_object_graph.proto.
import {
  bool,
  fixed32,
  int32,
  int64,
  type MessageType,
  message,
  nested,
  nestedList,
  text,
} from '../protobuf/protobuf.ts';
import { TensorShapeProto, VersionDef } from './framework.ts';

/** What stands under the empty key of a `.index` file. */
export interface BundleHeaderProto {
  readonly num_shards?: number;
  /** 0 is little, 1 big. */
  readonly endianness?: number;
  readonly version?: VersionDef;
}
export const BundleHeaderProto: MessageType<BundleHeaderProto> = message('BundleHeaderProto', () => ({
  num_shards: int32(1),
  endianness: int32(2),
  version: nested(3, () => VersionDef),
}));

/** A part of one axis; all of it where nothing is set. */
export interface Extent {
  readonly start?: number | bigint;
  readonly length?: number | bigint;
}
export const Extent: MessageType<Extent> = message('TensorSliceProto.Extent', () => ({
  start: int64(1),
  length: int64(2),
}));

/** A part of a tensor. */
export interface TensorSliceProto {
  readonly extent?: readonly Extent[];
}
export const TensorSliceProto: MessageType<TensorSliceProto> = message('TensorSliceProto', () => ({
  extent: nestedList(1, () => Extent),
}));

/** A tensor in a checkpoint. */
export interface BundleEntryProto {
  readonly dtype?: number;
  readonly shape?: TensorShapeProto;
  readonly shard_id?: number;
  readonly offset?: number | bigint;
  readonly size?: number | bigint;
  /** Masked. */
  readonly crc32c?: number;
  /** Of a variable that TensorFlow 1 kept in parts. */
  readonly slices?: readonly TensorSliceProto[];
}
export const BundleEntryProto: MessageType<BundleEntryProto> = message('BundleEntryProto', () => ({
  dtype: int32(1),
  shape: nested(2, () => TensorShapeProto),
  shard_id: int32(3),
  offset: int64(4),
  size: int64(5),
  crc32c: fixed32(6),
  slices: nestedList(7, () => TensorSliceProto),
}));

/** An edge of the graph of objects. */
export interface ObjectReference {
  readonly node_id?: number;
  readonly local_name?: string;
}
export const ObjectReference: MessageType<ObjectReference> = message(
  'TrackableObjectGraph.TrackableObject.ObjectReference',
  () => ({ node_id: int32(1), local_name: text(2) }),
);

/** A tensor of an object. */
export interface SerializedTensor {
  /** `VARIABLE_VALUE` for a variable's value. */
  readonly name?: string;
  /** The variable's name. */
  readonly full_name?: string;
  readonly checkpoint_key?: string;
}
export const SerializedTensor: MessageType<SerializedTensor> = message(
  'TrackableObjectGraph.TrackableObject.SerializedTensor',
  () => ({ name: text(1), full_name: text(2), checkpoint_key: text(3) }),
);

/** A variable that an optimizer keeps for another one. */
export interface SlotVariableReference {
  readonly original_variable_node_id?: number;
  readonly slot_name?: string;
  readonly slot_variable_node_id?: number;
}
export const SlotVariableReference: MessageType<SlotVariableReference> = message(
  'TrackableObjectGraph.TrackableObject.SlotVariableReference',
  () => ({ original_variable_node_id: int32(1), slot_name: text(2), slot_variable_node_id: int32(3) }),
);

/** Who saves an object in a way of its own. */
export interface RegisteredSaver {
  readonly name?: string;
  readonly object_name?: string;
}
export const RegisteredSaver: MessageType<RegisteredSaver> = message('RegisteredSaver', () => ({
  name: text(1),
  object_name: text(2),
}));

/** `google.protobuf.BoolValue`. */
export interface BoolValue {
  readonly value?: boolean;
}
export const BoolValue: MessageType<BoolValue> = message('google.protobuf.BoolValue', () => ({
  value: bool(1),
}));

/** A node of the graph of objects. */
export interface TrackableObject {
  readonly children?: readonly ObjectReference[];
  readonly attributes?: readonly SerializedTensor[];
  readonly slot_variables?: readonly SlotVariableReference[];
  readonly registered_saver?: RegisteredSaver;
  readonly has_checkpoint_values?: BoolValue;
}
export const TrackableObject: MessageType<TrackableObject> = message(
  'TrackableObjectGraph.TrackableObject',
  () => ({
    children: nestedList(1, () => ObjectReference),
    attributes: nestedList(2, () => SerializedTensor),
    slot_variables: nestedList(3, () => SlotVariableReference),
    registered_saver: nested(4, () => RegisteredSaver),
    has_checkpoint_values: nested(5, () => BoolValue),
  }),
);

/** Which objects a checkpoint holds, and under which keys; node 0 is the root. */
export interface TrackableObjectGraph {
  readonly nodes?: readonly TrackableObject[];
}
export const TrackableObjectGraph: MessageType<TrackableObjectGraph> = message(
  'TrackableObjectGraph',
  () => ({
    nodes: nestedList(1, () => TrackableObject),
  }),
);

/** The key under which a checkpoint holds its {@link TrackableObjectGraph}. */
export const OBJECT_GRAPH_KEY = '_CHECKPOINTABLE_OBJECT_GRAPH';
