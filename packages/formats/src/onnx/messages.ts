// The messages of onnx.proto (ONNX 1.23) that Eagre reads and writes, under ONNX's own names and numbers.
import {
  bytes,
  bytesList,
  doubles,
  float,
  floats,
  int32,
  int32s,
  int64,
  int64s,
  type MessageType,
  message,
  nested,
  nestedList,
  text,
  texts,
  uint64s,
} from '../protobuf/protobuf.ts';

/** A key with a value: metadata, and where external data lies. */
export interface StringStringEntryProto {
  readonly key?: string;
  readonly value?: string;
}
export const StringStringEntryProto: MessageType<StringStringEntryProto> = message(
  'StringStringEntryProto',
  () => ({ key: text(1), value: text(2) }),
);

/** Values in `raw_data` (row-major, little-endian), in the list of their type, or in another file. */
export interface TensorProto {
  readonly dims?: readonly (number | bigint)[];
  /** A number of {@link OnnxType}. */
  readonly data_type?: number;
  readonly float_data?: readonly number[];
  /** Also the narrower integers, bool, and the bits of float16 and bfloat16. */
  readonly int32_data?: readonly number[];
  readonly string_data?: readonly Uint8Array[];
  readonly int64_data?: readonly (number | bigint)[];
  readonly name?: string;
  readonly raw_data?: Uint8Array;
  readonly double_data?: readonly number[];
  /** Also uint32. */
  readonly uint64_data?: readonly (number | bigint)[];
  readonly doc_string?: string;
  /** `location`, `offset`, `length`, `checksum`. */
  readonly external_data?: readonly StringStringEntryProto[];
  /** 1 where the values are in another file. */
  readonly data_location?: number;
}
export const TensorProto: MessageType<TensorProto> = message('onnx.TensorProto', () => ({
  dims: int64s(1),
  data_type: int32(2),
  float_data: floats(4),
  int32_data: int32s(5),
  string_data: bytesList(6),
  int64_data: int64s(7),
  name: text(8),
  raw_data: bytes(9),
  double_data: doubles(10),
  uint64_data: uint64s(11),
  doc_string: text(12),
  external_data: nestedList(13, () => StringStringEntryProto),
  data_location: int32(14),
}));

/** Some elements of a tensor, the others being zero. */
export interface SparseTensorProto {
  readonly values?: TensorProto;
  readonly indices?: TensorProto;
  readonly dims?: readonly (number | bigint)[];
}
export const SparseTensorProto: MessageType<SparseTensorProto> = message('SparseTensorProto', () => ({
  values: nested(1, () => TensorProto),
  indices: nested(2, () => TensorProto),
  dims: int64s(3),
}));

/** One axis: a size, a name for a size that is not known, or neither. */
export interface Dimension {
  readonly dim_value?: number | bigint;
  readonly dim_param?: string;
}
export const Dimension: MessageType<Dimension> = message('TensorShapeProto.Dimension', () => ({
  dim_value: int64(1),
  dim_param: text(2),
}));

/** The sizes of a tensor. */
export interface TensorShapeProto {
  readonly dim?: readonly Dimension[];
}
export const TensorShapeProto: MessageType<TensorShapeProto> = message('onnx.TensorShapeProto', () => ({
  dim: nestedList(1, () => Dimension),
}));

/** The type of a tensor; without a shape its rank is unknown. */
export interface TensorTypeProto {
  readonly elem_type?: number;
  readonly shape?: TensorShapeProto;
}
export const TensorTypeProto: MessageType<TensorTypeProto> = message('TypeProto.Tensor', () => ({
  elem_type: int32(1),
  shape: nested(2, () => TensorShapeProto),
}));

/** The type of a list of values of one type. */
export interface SequenceTypeProto {
  readonly elem_type?: TypeProto;
}
export const SequenceTypeProto: MessageType<SequenceTypeProto> = message('TypeProto.Sequence', () => ({
  elem_type: nested(1, () => TypeProto),
}));

/** The type of a map. */
export interface MapTypeProto {
  readonly key_type?: number;
  readonly value_type?: TypeProto;
}
export const MapTypeProto: MessageType<MapTypeProto> = message('TypeProto.Map', () => ({
  key_type: int32(1),
  value_type: nested(2, () => TypeProto),
}));

/** What a value is. */
export interface TypeProto {
  readonly tensor_type?: TensorTypeProto;
  readonly sequence_type?: SequenceTypeProto;
  readonly map_type?: MapTypeProto;
  /** Of a value that may be missing; its field has that of a sequence. */
  readonly optional_type?: SequenceTypeProto;
}
export const TypeProto: MessageType<TypeProto> = message('TypeProto', () => ({
  tensor_type: nested(1, () => TensorTypeProto),
  sequence_type: nested(4, () => SequenceTypeProto),
  map_type: nested(5, () => MapTypeProto),
  optional_type: nested(9, () => SequenceTypeProto),
}));

/** A value with its name and type. */
export interface ValueInfoProto {
  readonly name?: string;
  readonly type?: TypeProto;
  readonly doc_string?: string;
}
export const ValueInfoProto: MessageType<ValueInfoProto> = message('ValueInfoProto', () => ({
  name: text(1),
  type: nested(2, () => TypeProto),
  doc_string: text(3),
}));

/** A named attribute; `type` says which of the fields holds the value. */
export interface AttributeProto {
  readonly name?: string;
  readonly f?: number;
  readonly i?: number | bigint;
  readonly s?: Uint8Array;
  readonly t?: TensorProto;
  readonly g?: GraphProto;
  readonly floats?: readonly number[];
  readonly ints?: readonly (number | bigint)[];
  readonly strings?: readonly Uint8Array[];
  readonly tensors?: readonly TensorProto[];
  readonly graphs?: readonly GraphProto[];
  readonly doc_string?: string;
  /** A number of {@link AttributeType}. */
  readonly type?: number;
  /** In the body of a function: the attribute of the function that this one takes its value from. */
  readonly ref_attr_name?: string;
  readonly sparse_tensor?: SparseTensorProto;
}
export const AttributeProto: MessageType<AttributeProto> = message('AttributeProto', () => ({
  name: text(1),
  f: float(2),
  i: int64(3),
  s: bytes(4),
  t: nested(5, () => TensorProto),
  g: nested(6, () => GraphProto),
  floats: floats(7),
  ints: int64s(8),
  strings: bytesList(9),
  tensors: nestedList(10, () => TensorProto),
  graphs: nestedList(11, () => GraphProto),
  doc_string: text(13),
  type: int32(20),
  ref_attr_name: text(21),
  sparse_tensor: nested(22, () => SparseTensorProto),
}));

/** One operation; an empty name among its inputs or outputs is one that is left out. */
export interface NodeProto {
  readonly input?: readonly string[];
  readonly output?: readonly string[];
  readonly name?: string;
  readonly op_type?: string;
  readonly attribute?: readonly AttributeProto[];
  readonly doc_string?: string;
  readonly domain?: string;
  readonly overload?: string;
}
export const NodeProto: MessageType<NodeProto> = message('onnx.NodeProto', () => ({
  input: texts(1),
  output: texts(2),
  name: text(3),
  op_type: text(4),
  attribute: nestedList(5, () => AttributeProto),
  doc_string: text(6),
  domain: text(7),
  overload: text(8),
}));

/** Nodes in an order in which they can run. */
export interface GraphProto {
  readonly node?: readonly NodeProto[];
  readonly name?: string;
  readonly initializer?: readonly TensorProto[];
  readonly doc_string?: string;
  readonly input?: readonly ValueInfoProto[];
  readonly output?: readonly ValueInfoProto[];
  readonly value_info?: readonly ValueInfoProto[];
  readonly sparse_initializer?: readonly SparseTensorProto[];
}
export const GraphProto: MessageType<GraphProto> = message('GraphProto', () => ({
  node: nestedList(1, () => NodeProto),
  name: text(2),
  initializer: nestedList(5, () => TensorProto),
  doc_string: text(10),
  input: nestedList(11, () => ValueInfoProto),
  output: nestedList(12, () => ValueInfoProto),
  value_info: nestedList(13, () => ValueInfoProto),
  sparse_initializer: nestedList(15, () => SparseTensorProto),
}));

/** The version of a set of ops that a model uses; the default domain is ''. */
export interface OperatorSetIdProto {
  readonly domain?: string;
  readonly version?: number | bigint;
}
export const OperatorSetIdProto: MessageType<OperatorSetIdProto> = message('OperatorSetIdProto', () => ({
  domain: text(1),
  version: int64(2),
}));

/** A function of the model, which nodes call as an op of its domain. */
export interface FunctionProto {
  readonly name?: string;
  readonly input?: readonly string[];
  readonly output?: readonly string[];
  /** The names of its attributes that have no default. */
  readonly attribute?: readonly string[];
  readonly node?: readonly NodeProto[];
  readonly doc_string?: string;
  readonly opset_import?: readonly OperatorSetIdProto[];
  readonly domain?: string;
  /** Attributes with their defaults. */
  readonly attribute_proto?: readonly AttributeProto[];
  readonly overload?: string;
}
export const FunctionProto: MessageType<FunctionProto> = message('FunctionProto', () => ({
  name: text(1),
  input: texts(4),
  output: texts(5),
  attribute: texts(6),
  node: nestedList(7, () => NodeProto),
  doc_string: text(8),
  opset_import: nestedList(9, () => OperatorSetIdProto),
  domain: text(10),
  attribute_proto: nestedList(11, () => AttributeProto),
  overload: text(13),
}));

/** The file. */
export interface ModelProto {
  readonly ir_version?: number | bigint;
  readonly producer_name?: string;
  readonly producer_version?: string;
  readonly domain?: string;
  readonly model_version?: number | bigint;
  readonly doc_string?: string;
  readonly graph?: GraphProto;
  readonly opset_import?: readonly OperatorSetIdProto[];
  readonly metadata_props?: readonly StringStringEntryProto[];
  readonly functions?: readonly FunctionProto[];
}
export const ModelProto: MessageType<ModelProto> = message('ModelProto', () => ({
  ir_version: int64(1),
  producer_name: text(2),
  producer_version: text(3),
  domain: text(4),
  model_version: int64(5),
  doc_string: text(6),
  graph: nested(7, () => GraphProto),
  opset_import: nestedList(8, () => OperatorSetIdProto),
  metadata_props: nestedList(14, () => StringStringEntryProto),
  functions: nestedList(25, () => FunctionProto),
}));

/** `AttributeProto.type`. */
export const AttributeType = {
  FLOAT: 1,
  INT: 2,
  STRING: 3,
  TENSOR: 4,
  GRAPH: 5,
  FLOATS: 6,
  INTS: 7,
  STRINGS: 8,
  TENSORS: 9,
  GRAPHS: 10,
} as const;
