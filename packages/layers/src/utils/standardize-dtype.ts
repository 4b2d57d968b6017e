import type { DType } from '@eagre/core';
import { checkDTypeName, defineFunction, kerasDefaults, type NamedFunction } from '@eagre/core/internal';

/** The name of a dtype as it is, that of layers for null, `floatx()`. @throws InvalidArgumentError for what is no dtype */
export const standardizeDtype: NamedFunction<[dtype?: DType | null], ['dtype'], unknown, DType> =
  /* @__PURE__ */ defineFunction(
    'keras.utils.standardizeDtype',
    { dtype: true },
    {},
    (dtype: DType | null = null): DType => {
      if (dtype === null) return kerasDefaults.floatx;
      checkDTypeName(dtype, 'keras.utils.standardizeDtype');
      return dtype;
    },
  );
