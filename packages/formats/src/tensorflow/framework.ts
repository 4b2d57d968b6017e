// The messages of TensorFlow's framework/*.proto that Eagre reads and writes, under TensorFlow's own names and numbers.
import {
  bool,
  bools,
  bytes,
  bytesList,
  dataType,
  dataTypes,
  doubles,
  float,
  floats,
  int32,
  int32s,
  int64,
  int64s,
  type MessageType,
  map,
  message,
  nested,
  nestedEntries,
  nestedList,
  text,
  texts,
  uint32s,
  uint64s,
} from '../protobuf/protobuf.ts';

/** One axis. */
export interface Dim {
  /** -1 is unknown. */
  readonly size?: number | bigint;
  readonly name?: string;
}
export const Dim: MessageType<Dim> = message<Dim>('TensorShapeProto.Dim', () => ({
  size: int64(1),
  name: text(2),
}));

/** `tensor_shape.proto`. */
export interface TensorShapeProto {
  readonly dim?: readonly Dim[];
  readonly unknown_rank?: boolean;
}
export const TensorShapeProto: MessageType<TensorShapeProto> = message('TensorShapeProto', () => ({
  dim: nestedList(2, () => Dim),
  unknown_rank: bool(3),
}));

/** `tensor.proto`: values in `tensor_content` (row-major, little-endian), or in the list of their type. */
export interface TensorProto {
  readonly dtype?: number;
  readonly tensor_shape?: TensorShapeProto;
  readonly version_number?: number;
  readonly tensor_content?: Uint8Array;
  readonly float_val?: readonly number[];
  readonly double_val?: readonly number[];
  readonly int_val?: readonly number[];
  readonly string_val?: readonly Uint8Array[];
  /** Real and imaginary parts by turns. */
  readonly scomplex_val?: readonly number[];
  readonly int64_val?: readonly (number | bigint)[];
  readonly bool_val?: readonly boolean[];
  readonly dcomplex_val?: readonly number[];
  /** The 16 bits of float16 and bfloat16. */
  readonly half_val?: readonly number[];
  readonly uint32_val?: readonly number[];
  readonly uint64_val?: readonly (number | bigint)[];
  readonly float8_val?: Uint8Array;
}
export const TensorProto: MessageType<TensorProto> = message('TensorProto', () => ({
  dtype: dataType(1),
  tensor_shape: nested(2, () => TensorShapeProto),
  version_number: int32(3),
  tensor_content: bytes(4),
  float_val: floats(5),
  double_val: doubles(6),
  int_val: int32s(7),
  string_val: bytesList(8),
  scomplex_val: floats(9),
  int64_val: int64s(10),
  bool_val: bools(11),
  dcomplex_val: doubles(12),
  half_val: int32s(13),
  uint32_val: uint32s(16),
  uint64_val: uint64s(17),
  float8_val: bytes(18),
}));

/** A list as an attribute; which of the fields is set says of what. */
export interface ListValue {
  readonly s?: readonly Uint8Array[];
  readonly i?: readonly (number | bigint)[];
  readonly f?: readonly number[];
  readonly b?: readonly boolean[];
  readonly type?: readonly number[];
  readonly shape?: readonly TensorShapeProto[];
  readonly tensor?: readonly TensorProto[];
  readonly func?: readonly NameAttrList[];
}
export const ListValue: MessageType<ListValue> = message('AttrValue.ListValue', () => ({
  s: bytesList(2),
  i: int64s(3),
  f: floats(4),
  b: bools(5),
  type: dataTypes(6),
  shape: nestedList(7, () => TensorShapeProto),
  tensor: nestedList(8, () => TensorProto),
  func: nestedList(9, () => NameAttrList),
}));

/** `attr_value.proto`: one of the fields is set. */
export interface AttrValue {
  readonly list?: ListValue;
  readonly s?: Uint8Array;
  readonly i?: number | bigint;
  readonly f?: number;
  readonly b?: boolean;
  readonly type?: number;
  readonly shape?: TensorShapeProto;
  readonly tensor?: TensorProto;
  readonly placeholder?: string;
  readonly func?: NameAttrList;
}
export const AttrValue: MessageType<AttrValue> = message('AttrValue', () => ({
  list: nested(1, () => ListValue),
  s: bytes(2),
  i: int64(3),
  f: float(4),
  b: bool(5),
  type: dataType(6),
  shape: nested(7, () => TensorShapeProto),
  tensor: nested(8, () => TensorProto),
  placeholder: text(9),
  func: nested(10, () => NameAttrList),
}));

const attributes = (number: number) =>
  map<AttrValue>(
    number,
    (n) => nested(n, () => AttrValue),
    () => ({}),
  );

/** The name of a function, with values for its attributes. */
export interface NameAttrList {
  readonly name?: string;
  readonly attr?: ReadonlyMap<string, AttrValue>;
}
export const NameAttrList: MessageType<NameAttrList> = message('NameAttrList', () => ({
  name: text(1),
  attr: attributes(2),
}));

/** `node_def.proto`: an operation. */
export interface NodeDef {
  readonly name?: string;
  readonly op?: string;
  /** `node` or `node:1`, then control inputs, `^node`; in functions `argument` or `node:output:0`. */
  readonly input?: readonly string[];
  readonly device?: string;
  readonly attr?: ReadonlyMap<string, AttrValue>;
}
export const NodeDef: MessageType<NodeDef> = message('NodeDef', () => ({
  name: text(1),
  op: text(2),
  input: texts(3),
  device: text(4),
  attr: attributes(5),
}));

/** `versions.proto`. */
export interface VersionDef {
  readonly producer?: number;
  readonly min_consumer?: number;
  readonly bad_consumers?: readonly number[];
}
export const VersionDef: MessageType<VersionDef> = message('VersionDef', () => ({
  producer: int32(1),
  min_consumer: int32(2),
  bad_consumers: int32s(3),
}));

/** What a handle stands for. */
export interface DtypeAndShape {
  readonly dtype?: number;
  readonly shape?: TensorShapeProto;
}
export const DtypeAndShape: MessageType<DtypeAndShape> = message('ResourceHandleProto.DtypeAndShape', () => ({
  dtype: dataType(1),
  shape: nested(2, () => TensorShapeProto),
}));

/** An argument or a result of an op or a function. */
export interface ArgDef {
  readonly name?: string;
  readonly description?: string;
  readonly type?: number;
  readonly type_attr?: string;
  readonly number_attr?: string;
  readonly type_list_attr?: string;
  /** Of a handle: the value of its variable, without which TensorFlow takes it for a scalar. */
  readonly handle_data?: readonly DtypeAndShape[];
  /** Whether it is a variable of TensorFlow 1, by reference. */
  readonly is_ref?: boolean;
}
export const ArgDef: MessageType<ArgDef> = message('OpDef.ArgDef', () => ({
  name: text(1),
  description: text(2),
  type: dataType(3),
  type_attr: text(4),
  number_attr: text(5),
  type_list_attr: text(6),
  handle_data: nestedList(7, () => DtypeAndShape),
  is_ref: bool(16),
}));

/** `op_def.proto`: the signature of an op or a function. */
export interface OpDef {
  readonly name?: string;
  readonly input_arg?: readonly ArgDef[];
  readonly output_arg?: readonly ArgDef[];
  readonly is_stateful?: boolean;
  readonly control_output?: readonly string[];
}
export const OpDef: MessageType<OpDef> = message('OpDef', () => ({
  name: text(1),
  input_arg: nestedList(2, () => ArgDef),
  output_arg: nestedList(3, () => ArgDef),
  is_stateful: bool(17),
  control_output: texts(20),
}));

/** The signatures of ops. */
export interface OpList {
  readonly op?: readonly OpDef[];
}
export const OpList: MessageType<OpList> = message('OpList', () => ({ op: nestedList(1, () => OpDef) }));

/** `function.proto`: a function of the library. */
export interface FunctionDef {
  readonly signature?: OpDef;
  readonly node_def?: readonly NodeDef[];
  /** What each output is: an argument, or `node:output:0`. */
  readonly ret?: ReadonlyMap<string, string>;
  readonly attr?: ReadonlyMap<string, AttrValue>;
  /** The nodes behind the control outputs. */
  readonly control_ret?: ReadonlyMap<string, string>;
  /** By the places of arguments. */
  readonly arg_attr?: readonly ArgAttrEntry[];
}
/** Attributes of an argument. */
export interface ArgAttrs {
  readonly attr?: ReadonlyMap<string, AttrValue>;
}
export const ArgAttrs: MessageType<ArgAttrs> = message('FunctionDef.ArgAttrs', () => ({
  attr: attributes(1),
}));

/** An entry of a map from the places of arguments. */
export interface ArgAttrEntry {
  readonly key?: number;
  readonly value?: ArgAttrs;
}
export const ArgAttrEntry: MessageType<ArgAttrEntry> = message('FunctionDef.ArgAttrEntry', () => ({
  key: int32(1),
  value: nested(2, () => ArgAttrs),
}));

export const FunctionDef: MessageType<FunctionDef> = message('FunctionDef', () => ({
  signature: nested(1, () => OpDef),
  node_def: nestedList(3, () => NodeDef),
  ret: map(4, text, () => ''),
  attr: attributes(5),
  control_ret: map(6, text, () => ''),
  arg_attr: nestedEntries(7, () => ArgAttrEntry),
}));

/** The function that is the gradient of nodes with `_gradient_op_type`. */
export interface RegisteredGradient {
  readonly gradient_func?: string;
  readonly registered_op_type?: string;
}
export const RegisteredGradient: MessageType<RegisteredGradient> = message('RegisteredGradient', () => ({
  gradient_func: text(1),
  registered_op_type: text(2),
}));

/** Functions that nodes call by name. */
export interface FunctionDefLibrary {
  readonly function?: readonly FunctionDef[];
  readonly registered_gradients?: readonly RegisteredGradient[];
}
export const FunctionDefLibrary: MessageType<FunctionDefLibrary> = message('FunctionDefLibrary', () => ({
  function: nestedList(1, () => FunctionDef),
  registered_gradients: nestedList(3, () => RegisteredGradient),
}));

/** `graph.proto`. */
export interface GraphDef {
  readonly node?: readonly NodeDef[];
  readonly library?: FunctionDefLibrary;
  readonly versions?: VersionDef;
}
export const GraphDef: MessageType<GraphDef> = message('GraphDef', () => ({
  node: nestedList(1, () => NodeDef),
  library: nested(2, () => FunctionDefLibrary),
  versions: nested(4, () => VersionDef),
}));

/** The graphs of one function in `RunMetadata`. */
export interface FunctionGraphs {
  readonly partition_graphs?: readonly GraphDef[];
  readonly pre_optimization_graph?: GraphDef;
  readonly post_optimization_graph?: GraphDef;
}
export const FunctionGraphs: MessageType<FunctionGraphs> = message('RunMetadata.FunctionGraphs', () => ({
  partition_graphs: nestedList(1, () => GraphDef),
  pre_optimization_graph: nested(2, () => GraphDef),
  post_optimization_graph: nested(3, () => GraphDef),
}));

/** `config.proto`: what TensorBoard reads of a run. */
export interface RunMetadata {
  readonly partition_graphs?: readonly GraphDef[];
  readonly function_graphs?: readonly FunctionGraphs[];
}
export const RunMetadata: MessageType<RunMetadata> = message('RunMetadata', () => ({
  partition_graphs: nestedList(3, () => GraphDef),
  function_graphs: nestedList(4, () => FunctionGraphs),
}));
