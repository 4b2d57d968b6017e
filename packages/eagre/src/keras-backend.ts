/** `tf.keras.backend`: what programs still ask it for, and the defaults that `tf.keras.config` sets. */
import { type DType, InvalidArgumentError } from '@eagre/core';
import {
  checkDTypeName,
  checkOneOf,
  defineFunction,
  defineVariadic,
  isFloating,
  isInteger,
  kerasDefaults,
  type NamedFunction,
  shown,
} from '@eagre/core/internal';
import type { FloatDType } from '@eagre/layers';

export { clearSession, getUid, isKerasTensor, standardizeDtype } from '@eagre/layers';

type Format = 'channelsLast' | 'channelsFirst';
type Ask<T> = NamedFunction<[], [], unknown, T>;

/** What computes: `'eagre'`, where Keras says `'tensorflow'` or another name. */
export const backend: Ask<'eagre'> = /* @__PURE__ */ defineFunction(
  'keras.backend.backend',
  {},
  {},
  () => 'eagre',
);

/** The small number that keeps quotients and logarithms finite: 1e-7, unless `setEpsilon` was called. */
export const epsilon: Ask<number> = /* @__PURE__ */ defineFunction(
  'keras.backend.epsilon',
  {},
  {},
  () => kerasDefaults.epsilon,
);
/**
 * Sets what `epsilon` gives: losses, metrics, constraints and normalizations add it. Optimizers and layers with an option `epsilon` keep that.
 * @throws InvalidArgumentError for what is no positive number
 */
export const setEpsilon: NamedFunction<[value: number], ['value'], unknown, void> =
  /* @__PURE__ */ defineFunction('keras.backend.setEpsilon', { value: true }, {}, (value: unknown) => {
    if (typeof value !== 'number' || !(value > 0) || value === Number.POSITIVE_INFINITY)
      throw new InvalidArgumentError(
        `value must be a positive number, got ${shown(value)}`,
        'keras.backend.setEpsilon',
      );
    kerasDefaults.epsilon = value;
  });

/** The dtype of layers and of numbers drawn at random unless they are given another one: float32, unless `setFloatx` was called. */
export const floatx: Ask<FloatDType> = /* @__PURE__ */ defineFunction(
  'keras.backend.floatx',
  {},
  {},
  () => kerasDefaults.floatx,
);
/**
 * Sets what `floatx` gives: the dtype of layers made from now on, where no policy is set (`setDtypePolicy`), of inputs, initializers and
 * `tf.keras.random`. Metrics add up in 32 bits at least. Tensors that `tf.constant` and its like make stay float32.
 * @throws InvalidArgumentError for what is no dtype of floats
 */
export const setFloatx: NamedFunction<[value: FloatDType], ['value'], unknown, void> =
  /* @__PURE__ */ defineFunction('keras.backend.setFloatx', { value: true }, {}, (value: unknown) => {
    checkOneOf(value, ['float16', 'bfloat16', 'float32', 'float64'], 'value', 'keras.backend.setFloatx');
    kerasDefaults.floatx = value as FloatDType;
  });

/** Where the axis of channels is: `'channelsLast'`, unless `setImageDataFormat` was called. */
export const imageDataFormat: Ask<Format> = /* @__PURE__ */ defineFunction(
  'keras.backend.imageDataFormat',
  {},
  {},
  () => kerasDefaults.imageDataFormat,
);
/**
 * Sets what `imageDataFormat` gives: what layers made from now on, functions of `tf.keras.ops` and of images take without `dataFormat`.
 * The networks of `tf.keras.applications` know channels last only.
 * @throws InvalidArgumentError for another value
 */
export const setImageDataFormat: NamedFunction<[dataFormat: Format], ['dataFormat'], unknown, void> =
  /* @__PURE__ */ defineFunction(
    'keras.backend.setImageDataFormat',
    { dataFormat: true },
    {},
    (dataFormat: unknown) => {
      checkOneOf(
        dataFormat,
        ['channelsLast', 'channelsFirst', 'channels_last', 'channels_first'],
        'dataFormat',
        'keras.backend.setImageDataFormat',
      );
      kerasDefaults.imageDataFormat = String(dataFormat).endsWith('ast') ? 'channelsLast' : 'channelsFirst';
    },
  );

type IsDType = NamedFunction<[dtype: DType], ['dtype'], unknown, boolean>;
/** Whether a dtype is one of real floats. @throws InvalidArgumentError for what is no dtype */
export const isFloatDtype: IsDType = /* @__PURE__ */ defineFunction(
  'keras.backend.isFloatDtype',
  { dtype: true },
  {},
  (dtype) => {
    checkDTypeName(dtype, 'keras.backend.isFloatDtype');
    return isFloating(dtype);
  },
);
/** Whether a dtype is one of integers. @throws InvalidArgumentError for what is no dtype */
export const isIntDtype: IsDType = /* @__PURE__ */ defineFunction(
  'keras.backend.isIntDtype',
  { dtype: true },
  {},
  (dtype) => {
    checkDTypeName(dtype, 'keras.backend.isIntDtype');
    return isInteger(dtype);
  },
);

const bits = (dtype: string): number => Number(dtype.replace(/^\D+/, ''));
const most = (dtypes: readonly string[]): number => Math.max(0, ...dtypes.map(bits));

/**
 * The dtype in which values of these dtypes meet, as Keras has it: `'int'` and `'float'` stand for plain numbers, which follow the others. It
 * has no uint64 and no complex128: they become uint32 and complex64.
 * @throws InvalidArgumentError for what is no dtype
 */
export const resultType: {
  (...dtypes: readonly (DType | 'int' | 'float')[]): DType;
  (options: {
    /** Of the arguments of an operation; `'int'` and `'float'` are plain numbers. */
    readonly dtypes: readonly (DType | 'int' | 'float')[];
  }): DType;
} = /* @__PURE__ */ defineVariadic(
  'keras.backend.resultType',
  {},
  'dtypes',
  {},
  (dtypes: readonly (DType | 'int' | 'float')[]): DType => {
    for (const dtype of dtypes)
      if (dtype !== 'int' && dtype !== 'float') checkDTypeName(dtype, 'keras.backend.resultType');
    const all = dtypes as readonly string[];
    if (all.includes('string'))
      throw new InvalidArgumentError('strings meet no other dtype', 'keras.backend.resultType');
    const { floatx: usual } = kerasDefaults;
    if (all.length === 0) return usual;
    if (all.some((d) => d.startsWith('complex'))) return 'complex64';
    const floats = [...new Set(all.filter((d) => /^b?float\d/.test(d)))];
    if (floats.length === 1) return floats[0] as DType;
    if (floats.length > 1) return floats.includes('float64') ? 'float64' : 'float32';
    if (all.includes('float')) return usual;
    const [u, i] = [most(all.filter((d) => /^uint\d/.test(d))), most(all.filter((d) => /^int\d/.test(d)))];
    if (u === 0 && i === 0) return all.includes('int') ? 'int32' : 'bool';
    if (i === 0) return `uint${Math.min(u, 32)}` as DType;
    if (u === 64) return usual;
    return `int${Math.max(i, 2 * u)}` as DType;
  },
);
