// The messages of example/example.proto and example/feature.proto.
import {
  bytesList,
  type Field,
  type MessageType,
  map,
  message,
  nested,
  nestedList,
} from '../protobuf/protobuf.ts';
import { floatArray, int64Array } from '../protobuf/protobuf-arrays.ts';

/** Byte strings. */
export interface BytesList {
  readonly value?: readonly Uint8Array[];
}
export const BytesList: MessageType<BytesList> = message('BytesList', () => ({ value: bytesList(1) }));

/** Numbers of 32 bits. */
export interface FloatList {
  readonly value?: Float32Array;
}
export const FloatList: MessageType<FloatList> = message('FloatList', () => ({ value: floatArray(1) }));

/** Integers. */
export interface Int64List {
  readonly value?: BigInt64Array;
}
export const Int64List: MessageType<Int64List> = message('Int64List', () => ({ value: int64Array(1) }));

/** One of the lists is set, or none for a value that is missing. */
export interface Feature {
  readonly bytes_list?: BytesList;
  readonly float_list?: FloatList;
  readonly int64_list?: Int64List;
}
export const Feature: MessageType<Feature> = message('Feature', () => ({
  bytes_list: nested(1, () => BytesList),
  float_list: nested(2, () => FloatList),
  int64_list: nested(3, () => Int64List),
}));

/** Features by name. */
export interface Features {
  readonly feature?: ReadonlyMap<string, Feature>;
}
export const Features: MessageType<Features> = message('Features', () => ({
  feature: map(
    1,
    (number): Field<Feature> => nested(number, () => Feature),
    () => ({}),
  ),
}));

/** The values of a feature, one for each step. */
export interface FeatureList {
  readonly feature?: readonly Feature[];
}
export const FeatureList: MessageType<FeatureList> = message('FeatureList', () => ({
  feature: nestedList(1, () => Feature),
}));

/** Lists by name. */
export interface FeatureLists {
  readonly feature_list?: ReadonlyMap<string, FeatureList>;
}
export const FeatureLists: MessageType<FeatureLists> = message('FeatureLists', () => ({
  feature_list: map(
    1,
    (number): Field<FeatureList> => nested(number, () => FeatureList),
    () => ({}),
  ),
}));

/** An example for training: what most TFRecord files hold. */
export interface Example {
  readonly features?: Features;
}
export const Example: MessageType<Example> = message('Example', () => ({
  features: nested(1, () => Features),
}));

/** An example with sequences. */
export interface SequenceExample {
  /** What is not a sequence. */
  readonly context?: Features;
  readonly feature_lists?: FeatureLists;
}
export const SequenceExample: MessageType<SequenceExample> = message('SequenceExample', () => ({
  context: nested(1, () => Features),
  feature_lists: nested(2, () => FeatureLists),
}));
