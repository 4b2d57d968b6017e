// What is served: signatures, which are functions of named tensors. Tensors are values on the host here, as they come from JSON and go back to it.
import type { DType, TypedArray } from '@eagre/backend';

/** Values with their dtype and shape. */
export interface HostTensor {
  readonly dtype: DType;
  readonly shape: readonly number[];
  /**
   * Flat and row-major: as `tensor.data()` has them (0 and 1 for bool, bigints for int64 and uint64, a Float32Array for float16 and
   * bfloat16). Of dtype string: strings, or bytes where they are no UTF-8 or came as `{ "b64": … }`.
   */
  readonly values: TypedArray | readonly (string | Uint8Array)[];
}

/** Tensors by the names that the signature gives them. */
export type HostTensors = Readonly<Record<string, HostTensor>>;

/** What is known of an input or output. */
export interface TensorInfo {
  readonly dtype: DType;
  /** null for a size that may be any; null as a whole for any shape. */
  readonly shape: readonly (number | null)[] | null;
  /** Its name in the graph, which the metadata show; the name in the signature unless given. */
  readonly name?: string;
}

/** `tensorflow/serving/predict` and its kin: which APIs a signature is for. */
export type MethodName =
  | 'tensorflow/serving/predict'
  | 'tensorflow/serving/classify'
  | 'tensorflow/serving/regress'
  | '';

/** A function that is served. */
export interface ServableSignature {
  readonly inputs: Readonly<Record<string, TensorInfo>>;
  readonly outputs: Readonly<Record<string, TensorInfo>>;
  /** `tensorflow/serving/predict` unless given. */
  readonly methodName?: MethodName;
  /**
   * Computes the outputs of inputs that fit `inputs`. Where the first sizes of all inputs and outputs are null, rows of several requests may come
   * at once (see `batching` of `createServer`): each row of the outputs must then come of the same row of the inputs alone.
   *
   * @param signal aborted when nobody waits for the result any more.
   */
  run(inputs: HostTensors, signal: AbortSignal): Promise<HostTensors>;
}

/** A version of a model. */
export interface Servable {
  /** `serving_default` is the one of requests that name none. */
  readonly signatures: Readonly<Record<string, ServableSignature>>;
  /** Called once nobody uses the servable any more. */
  dispose?(): void | Promise<void>;
}

/** The signature of requests that name none. */
export const DEFAULT_SIGNATURE = 'serving_default';
