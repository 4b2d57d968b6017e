// The messages in SavedModels: protobuf/{saved_model,meta_graph,saver,saved_object_graph,struct,fingerprint}.proto, under TensorFlow's own names and numbers.
// `ListValue` of struct.proto has the name StructuredListValue: attributes have a ListValue, too.
import {
  bool,
  bytes,
  bytesList,
  dataType,
  double,
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
  nestedList,
  sint64,
  text,
  texts,
  uint64,
} from '../protobuf/protobuf.ts';
import { ObjectReference, SlotVariableReference } from './bundle-messages.ts';
import { GraphDef, OpList, TensorProto, TensorShapeProto, VersionDef } from './framework.ts';

/** `saved_model.proto`: what `saved_model.pb` holds. */
export interface SavedModel {
  readonly saved_model_schema_version?: number | bigint;
  readonly meta_graphs?: readonly MetaGraphDef[];
}
export const SavedModel: MessageType<SavedModel> = message<SavedModel>('SavedModel', () => ({
  saved_model_schema_version: int64(1),
  meta_graphs: nestedList(2, () => MetaGraphDef),
}));

/** `meta_graph.proto`: a graph with its signatures, variables and objects. */
export interface MetaGraphDef {
  readonly meta_info_def?: MetaInfoDef;
  readonly graph_def?: GraphDef;
  readonly saver_def?: SaverDef;
  readonly collection_def?: ReadonlyMap<string, CollectionDef>;
  readonly signature_def?: ReadonlyMap<string, SignatureDef>;
  readonly asset_file_def?: readonly AssetFileDef[];
  readonly object_graph_def?: SavedObjectGraph;
}
export const MetaGraphDef: MessageType<MetaGraphDef> = message<MetaGraphDef>('MetaGraphDef', () => ({
  meta_info_def: nested(1, () => MetaInfoDef),
  graph_def: nested(2, () => GraphDef),
  saver_def: nested(3, () => SaverDef),
  collection_def: map<CollectionDef>(
    4,
    (n) => nested(n, () => CollectionDef),
    () => ({}),
  ),
  signature_def: map<SignatureDef>(
    5,
    (n) => nested(n, () => SignatureDef),
    () => ({}),
  ),
  asset_file_def: nestedList(6, () => AssetFileDef),
  object_graph_def: nested(7, () => SavedObjectGraph),
}));

/** Which graph this is, and who wrote it. */
export interface MetaInfoDef {
  readonly meta_graph_version?: string;
  /** The ops of the graph, as the program that wrote it knew them. */
  readonly stripped_op_list?: OpList;
  readonly tags?: readonly string[];
  readonly tensorflow_version?: string;
  readonly tensorflow_git_version?: string;
  readonly stripped_default_attrs?: boolean;
  readonly function_aliases?: ReadonlyMap<string, string>;
}
export const MetaInfoDef: MessageType<MetaInfoDef> = message<MetaInfoDef>('MetaGraphDef.MetaInfoDef', () => ({
  meta_graph_version: text(1),
  stripped_op_list: nested(2, () => OpList),
  tags: texts(4),
  tensorflow_version: text(5),
  tensorflow_git_version: text(6),
  stripped_default_attrs: bool(7),
  function_aliases: map(8, text, () => ''),
}));

/** Collections of TensorFlow 1. */
export interface CollectionDef {
  readonly node_list?: CollectionNodeList;
  readonly bytes_list?: CollectionBytesList;
  readonly int64_list?: CollectionInt64List;
  readonly float_list?: CollectionFloatList;
  readonly any_list?: CollectionAnyList;
}
export const CollectionDef: MessageType<CollectionDef> = message<CollectionDef>('CollectionDef', () => ({
  node_list: nested(1, () => CollectionNodeList),
  bytes_list: nested(2, () => CollectionBytesList),
  int64_list: nested(3, () => CollectionInt64List),
  float_list: nested(4, () => CollectionFloatList),
  any_list: nested(5, () => CollectionAnyList),
}));

/** Names of nodes in a collection. */
export interface CollectionNodeList {
  readonly value?: readonly string[];
}
export const CollectionNodeList: MessageType<CollectionNodeList> = message<CollectionNodeList>(
  'CollectionDef.NodeList',
  () => ({
    value: texts(1),
  }),
);

/** Bytes in a collection. */
export interface CollectionBytesList {
  readonly value?: readonly Uint8Array[];
}
export const CollectionBytesList: MessageType<CollectionBytesList> = message<CollectionBytesList>(
  'CollectionDef.BytesList',
  () => ({
    value: bytesList(1),
  }),
);

/** Integers in a collection. */
export interface CollectionInt64List {
  readonly value?: readonly (number | bigint)[];
}
export const CollectionInt64List: MessageType<CollectionInt64List> = message<CollectionInt64List>(
  'CollectionDef.Int64List',
  () => ({
    value: int64s(1),
  }),
);

/** Floats in a collection. */
export interface CollectionFloatList {
  readonly value?: readonly number[];
}
export const CollectionFloatList: MessageType<CollectionFloatList> = message<CollectionFloatList>(
  'CollectionDef.FloatList',
  () => ({
    value: floats(1),
  }),
);

/** Messages of any kind in a collection. */
export interface CollectionAnyList {
  readonly value?: readonly AnyMessage[];
}
export const CollectionAnyList: MessageType<CollectionAnyList> = message<CollectionAnyList>(
  'CollectionDef.AnyList',
  () => ({ value: nestedList(1, () => AnyMessage) }),
);

/** `any.proto`: the bytes of a message, with the name of its type at the end of a URL. */
export interface AnyMessage {
  readonly type_url?: string;
  readonly value?: Uint8Array;
}
export const AnyMessage: MessageType<AnyMessage> = message<AnyMessage>('Any', () => ({
  type_url: text(1),
  value: bytes(2),
}));

/** `variable.proto`: a variable of TensorFlow 1 in a collection. */
export interface VariableDef {
  /** Of its tensor, such as `w:0`. */
  readonly variable_name?: string;
}
export const VariableDef: MessageType<VariableDef> = message<VariableDef>('VariableDef', () => ({
  variable_name: text(1),
}));

/** A tensor of the graph: an input or an output of a signature. */
export interface TensorInfo {
  readonly name?: string;
  readonly coo_sparse?: CooSparse;
  readonly composite_tensor?: CompositeTensor;
  readonly dtype?: number;
  readonly tensor_shape?: TensorShapeProto;
}
export const TensorInfo: MessageType<TensorInfo> = message<TensorInfo>('TensorInfo', () => ({
  name: text(1),
  coo_sparse: nested(4, () => CooSparse),
  composite_tensor: nested(5, () => CompositeTensor),
  dtype: dataType(2),
  tensor_shape: nested(3, () => TensorShapeProto),
}));

/** The parts of a sparse tensor. */
export interface CooSparse {
  readonly values_tensor_name?: string;
  readonly indices_tensor_name?: string;
  readonly dense_shape_tensor_name?: string;
}
export const CooSparse: MessageType<CooSparse> = message<CooSparse>('TensorInfo.CooSparse', () => ({
  values_tensor_name: text(1),
  indices_tensor_name: text(2),
  dense_shape_tensor_name: text(3),
}));

/** A tensor of several parts, such as a ragged one. */
export interface CompositeTensor {
  readonly type_spec?: TypeSpecProto;
  readonly components?: readonly TensorInfo[];
}
export const CompositeTensor: MessageType<CompositeTensor> = message<CompositeTensor>(
  'TensorInfo.CompositeTensor',
  () => ({
    type_spec: nested(1, () => TypeSpecProto),
    components: nestedList(2, () => TensorInfo),
  }),
);

/** Inputs and outputs of a function that servers call, by name. */
export interface SignatureDef {
  readonly inputs?: ReadonlyMap<string, TensorInfo>;
  readonly outputs?: ReadonlyMap<string, TensorInfo>;
  readonly method_name?: string;
  readonly defaults?: ReadonlyMap<string, TensorProto>;
}
export const SignatureDef: MessageType<SignatureDef> = message<SignatureDef>('SignatureDef', () => ({
  inputs: map<TensorInfo>(
    1,
    (n) => nested(n, () => TensorInfo),
    () => ({}),
  ),
  outputs: map<TensorInfo>(
    2,
    (n) => nested(n, () => TensorInfo),
    () => ({}),
  ),
  method_name: text(3),
  defaults: map<TensorProto>(
    4,
    (n) => nested(n, () => TensorProto),
    () => ({}),
  ),
}));

/** A file in `assets`, and the tensor that holds its path. */
export interface AssetFileDef {
  readonly tensor_info?: TensorInfo;
  readonly filename?: string;
}
export const AssetFileDef: MessageType<AssetFileDef> = message<AssetFileDef>('AssetFileDef', () => ({
  tensor_info: nested(1, () => TensorInfo),
  filename: text(2),
}));

/** `saver.proto`: the nodes that save and restore the variables. */
export interface SaverDef {
  readonly filename_tensor_name?: string;
  readonly save_tensor_name?: string;
  readonly restore_op_name?: string;
  readonly max_to_keep?: number;
  readonly sharded?: boolean;
  readonly keep_checkpoint_every_n_hours?: number;
  readonly version?: number;
}
export const SaverDef: MessageType<SaverDef> = message<SaverDef>('SaverDef', () => ({
  filename_tensor_name: text(1),
  save_tensor_name: text(2),
  restore_op_name: text(3),
  max_to_keep: int32(4),
  sharded: bool(5),
  keep_checkpoint_every_n_hours: float(6),
  version: int32(7),
}));

/** `saved_object_graph.proto`: the objects of a SavedModel; node 0 is the root. */
export interface SavedObjectGraph {
  readonly nodes?: readonly SavedObject[];
  readonly concrete_functions?: ReadonlyMap<string, SavedConcreteFunction>;
}
export const SavedObjectGraph: MessageType<SavedObjectGraph> = message<SavedObjectGraph>(
  'SavedObjectGraph',
  () => ({
    nodes: nestedList(1, () => SavedObject),
    concrete_functions: map<SavedConcreteFunction>(
      2,
      (n) => nested(n, () => SavedConcreteFunction),
      () => ({}),
    ),
  }),
);

/** An object: one of the kinds is set. */
export interface SavedObject {
  readonly children?: readonly ObjectReference[];
  readonly dependencies?: readonly ObjectReference[];
  readonly slot_variables?: readonly SlotVariableReference[];
  readonly user_object?: SavedUserObject;
  readonly asset?: SavedAsset;
  readonly function?: SavedFunction;
  readonly variable?: SavedVariable;
  readonly bare_concrete_function?: SavedBareConcreteFunction;
  readonly constant?: SavedConstant;
  readonly resource?: SavedResource;
  readonly captured_tensor?: CapturedTensor;
  readonly saveable_objects?: ReadonlyMap<string, SaveableObject>;
  readonly registered_name?: string;
  readonly registered_saver?: string;
}
export const SavedObject: MessageType<SavedObject> = message<SavedObject>('SavedObject', () => ({
  children: nestedList(1, () => ObjectReference),
  dependencies: nestedList(15, () => ObjectReference),
  slot_variables: nestedList(3, () => SlotVariableReference),
  user_object: nested(4, () => SavedUserObject),
  asset: nested(5, () => SavedAsset),
  function: nested(6, () => SavedFunction),
  variable: nested(7, () => SavedVariable),
  bare_concrete_function: nested(8, () => SavedBareConcreteFunction),
  constant: nested(9, () => SavedConstant),
  resource: nested(10, () => SavedResource),
  captured_tensor: nested(12, () => CapturedTensor),
  saveable_objects: map<SaveableObject>(
    11,
    (n) => nested(n, () => SaveableObject),
    () => ({}),
  ),
  registered_name: text(13),
  registered_saver: text(16),
}));

/** An object of a class of the user, or of TensorFlow. */
export interface SavedUserObject {
  readonly identifier?: string;
  readonly version?: VersionDef;
  readonly metadata?: string;
}
export const SavedUserObject: MessageType<SavedUserObject> = message<SavedUserObject>(
  'SavedUserObject',
  () => ({
    identifier: text(1),
    version: nested(2, () => VersionDef),
    metadata: text(3),
  }),
);

/** An asset, by its place in `asset_file_def`. */
export interface SavedAsset {
  readonly asset_file_def_index?: number;
}
export const SavedAsset: MessageType<SavedAsset> = message<SavedAsset>('SavedAsset', () => ({
  asset_file_def_index: int32(1),
}));

/** A `tf.function` with all of its traces. */
export interface SavedFunction {
  readonly concrete_functions?: readonly string[];
  readonly function_spec?: FunctionSpec;
}
export const SavedFunction: MessageType<SavedFunction> = message<SavedFunction>('SavedFunction', () => ({
  concrete_functions: texts(1),
  function_spec: nested(2, () => FunctionSpec),
}));

/** A tensor that a function holds. */
export interface CapturedTensor {
  readonly name?: string;
  readonly concrete_function?: string;
}
export const CapturedTensor: MessageType<CapturedTensor> = message<CapturedTensor>('CapturedTensor', () => ({
  name: text(1),
  concrete_function: text(2),
}));

/** One trace: what it captures, takes and returns. */
export interface SavedConcreteFunction {
  readonly bound_inputs?: readonly number[];
  readonly canonicalized_input_signature?: StructuredValue;
  readonly output_signature?: StructuredValue;
}
export const SavedConcreteFunction: MessageType<SavedConcreteFunction> = message<SavedConcreteFunction>(
  'SavedConcreteFunction',
  () => ({
    bound_inputs: int32s(2),
    canonicalized_input_signature: nested(3, () => StructuredValue),
    output_signature: nested(4, () => StructuredValue),
  }),
);

/** A trace that is called by itself, such as a signature. */
export interface SavedBareConcreteFunction {
  readonly concrete_function_name?: string;
  readonly argument_keywords?: readonly string[];
  readonly allowed_positional_arguments?: number | bigint;
  readonly function_spec?: FunctionSpec;
}
export const SavedBareConcreteFunction: MessageType<SavedBareConcreteFunction> =
  message<SavedBareConcreteFunction>('SavedBareConcreteFunction', () => ({
    concrete_function_name: text(1),
    argument_keywords: texts(2),
    allowed_positional_arguments: int64(3),
    function_spec: nested(4, () => FunctionSpec),
  }));

/** A constant, by its node in the graph. */
export interface SavedConstant {
  readonly operation?: string;
}
export const SavedConstant: MessageType<SavedConstant> = message<SavedConstant>('SavedConstant', () => ({
  operation: text(1),
}));

/** A variable. */
export interface SavedVariable {
  readonly dtype?: number;
  readonly shape?: TensorShapeProto;
  readonly trainable?: boolean;
  readonly synchronization?: number;
  readonly aggregation?: number;
  readonly name?: string;
  readonly device?: string;
  readonly experimental_distributed_variable_components?: readonly SavedVariable[];
}
export const SavedVariable: MessageType<SavedVariable> = message<SavedVariable>('SavedVariable', () => ({
  dtype: int32(1),
  shape: nested(2, () => TensorShapeProto),
  trainable: bool(3),
  synchronization: int32(4),
  aggregation: int32(5),
  name: text(6),
  device: text(7),
  experimental_distributed_variable_components: nestedList(8, () => SavedVariable),
}));

/** The arguments of a Python function. */
export interface FunctionSpec {
  readonly fullargspec?: StructuredValue;
  readonly is_method?: boolean;
  readonly input_signature?: StructuredValue;
  readonly jit_compile?: number;
}
export const FunctionSpec: MessageType<FunctionSpec> = message<FunctionSpec>('FunctionSpec', () => ({
  fullargspec: nested(1, () => StructuredValue),
  is_method: bool(2),
  input_signature: nested(5, () => StructuredValue),
  jit_compile: int32(6),
}));

/** A resource, such as a table. */
export interface SavedResource {
  readonly device?: string;
}
export const SavedResource: MessageType<SavedResource> = message<SavedResource>('SavedResource', () => ({
  device: text(1),
}));

/** The functions that save and restore an object, by their nodes. */
export interface SaveableObject {
  readonly save_function?: number;
  readonly restore_function?: number;
}
export const SaveableObject: MessageType<SaveableObject> = message<SaveableObject>('SaveableObject', () => ({
  save_function: int32(2),
  restore_function: int32(3),
}));

/** `struct.proto`: a nested structure; one of the fields is set. */
export interface StructuredValue {
  readonly none_value?: NoneValue;
  readonly float64_value?: number;
  readonly int64_value?: number | bigint;
  readonly string_value?: string;
  readonly bool_value?: boolean;
  readonly tensor_shape_value?: TensorShapeProto;
  readonly tensor_dtype_value?: number;
  readonly tensor_spec_value?: TensorSpecProto;
  readonly type_spec_value?: TypeSpecProto;
  readonly bounded_tensor_spec_value?: BoundedTensorSpecProto;
  readonly list_value?: StructuredListValue;
  readonly tuple_value?: TupleValue;
  readonly dict_value?: DictValue;
  readonly named_tuple_value?: NamedTupleValue;
  readonly tensor_value?: TensorProto;
  readonly numpy_value?: TensorProto;
}
export const StructuredValue: MessageType<StructuredValue> = message<StructuredValue>(
  'StructuredValue',
  () => ({
    none_value: nested(1, () => NoneValue),
    float64_value: double(11),
    int64_value: sint64(12),
    string_value: text(13),
    bool_value: bool(14),
    tensor_shape_value: nested(31, () => TensorShapeProto),
    tensor_dtype_value: int32(32),
    tensor_spec_value: nested(33, () => TensorSpecProto),
    type_spec_value: nested(34, () => TypeSpecProto),
    bounded_tensor_spec_value: nested(35, () => BoundedTensorSpecProto),
    list_value: nested(51, () => StructuredListValue),
    tuple_value: nested(52, () => TupleValue),
    dict_value: nested(53, () => DictValue),
    named_tuple_value: nested(54, () => NamedTupleValue),
    tensor_value: nested(55, () => TensorProto),
    numpy_value: nested(56, () => TensorProto),
  }),
);

/** The value None. */
export type NoneValue = Record<never, never>;
/** The value None. */
export const NoneValue: MessageType<NoneValue> = message<NoneValue>('NoneValue', () => ({}));

/** A list of structured values. */
export interface StructuredListValue {
  readonly values?: readonly StructuredValue[];
}
export const StructuredListValue: MessageType<StructuredListValue> = message<StructuredListValue>(
  'ListValue',
  () => ({
    values: nestedList(1, () => StructuredValue),
  }),
);

/** A tuple of structured values. */
export interface TupleValue {
  readonly values?: readonly StructuredValue[];
}
export const TupleValue: MessageType<TupleValue> = message<TupleValue>('TupleValue', () => ({
  values: nestedList(1, () => StructuredValue),
}));

/** Structured values by name. */
export interface DictValue {
  readonly fields?: ReadonlyMap<string, StructuredValue>;
}
export const DictValue: MessageType<DictValue> = message<DictValue>('DictValue', () => ({
  fields: map<StructuredValue>(
    1,
    (n) => nested(n, () => StructuredValue),
    () => ({}),
  ),
}));

/** A name and a structured value. */
export interface PairValue {
  readonly key?: string;
  readonly value?: StructuredValue;
}
export const PairValue: MessageType<PairValue> = message<PairValue>('PairValue', () => ({
  key: text(1),
  value: nested(2, () => StructuredValue),
}));

/** A named tuple of structured values. */
export interface NamedTupleValue {
  readonly name?: string;
  readonly values?: readonly PairValue[];
}
export const NamedTupleValue: MessageType<NamedTupleValue> = message<NamedTupleValue>(
  'NamedTupleValue',
  () => ({
    name: text(1),
    values: nestedList(2, () => PairValue),
  }),
);

/** What a tensor is like: its name, shape and dtype. */
export interface TensorSpecProto {
  readonly name?: string;
  readonly shape?: TensorShapeProto;
  readonly dtype?: number;
}
export const TensorSpecProto: MessageType<TensorSpecProto> = message<TensorSpecProto>(
  'TensorSpecProto',
  () => ({
    name: text(1),
    shape: nested(2, () => TensorShapeProto),
    dtype: int32(3),
  }),
);

/** What a tensor is like, and between which values it lies. */
export interface BoundedTensorSpecProto {
  readonly name?: string;
  readonly shape?: TensorShapeProto;
  readonly dtype?: number;
  readonly minimum?: TensorProto;
  readonly maximum?: TensorProto;
}
export const BoundedTensorSpecProto: MessageType<BoundedTensorSpecProto> = message<BoundedTensorSpecProto>(
  'BoundedTensorSpecProto',
  () => ({
    name: text(1),
    shape: nested(2, () => TensorShapeProto),
    dtype: int32(3),
    minimum: nested(4, () => TensorProto),
    maximum: nested(5, () => TensorProto),
  }),
);

/** A type of several tensors, such as `RaggedTensorSpec`. */
export interface TypeSpecProto {
  readonly type_spec_class?: number;
  readonly type_state?: StructuredValue;
  readonly type_spec_class_name?: string;
  readonly num_flat_components?: number;
}
export const TypeSpecProto: MessageType<TypeSpecProto> = message<TypeSpecProto>('TypeSpecProto', () => ({
  type_spec_class: int32(1),
  type_state: nested(2, () => StructuredValue),
  type_spec_class_name: text(3),
  num_flat_components: int32(4),
}));

/** `fingerprint.proto`. */
export interface FingerprintDef {
  readonly saved_model_checksum?: number | bigint;
  readonly graph_def_program_hash?: number | bigint;
  readonly signature_def_hash?: number | bigint;
  readonly saved_object_graph_hash?: number | bigint;
  readonly checkpoint_hash?: number | bigint;
  readonly uuid?: string;
  readonly version?: VersionDef;
}
export const FingerprintDef: MessageType<FingerprintDef> = message<FingerprintDef>('FingerprintDef', () => ({
  saved_model_checksum: uint64(1),
  graph_def_program_hash: uint64(2),
  signature_def_hash: uint64(3),
  saved_object_graph_hash: uint64(4),
  checkpoint_hash: uint64(5),
  uuid: text(7),
  version: nested(6, () => VersionDef),
}));
