import type { DType } from '@eagre/core';
import { checkDTypeName, defineFunction, type NamedFunction } from '@eagre/core/internal';

/** The name of a dtype as it is, that of layers for null: float32. @throws InvalidArgumentError for what is no dtype */
export const standardizeDtype: NamedFunction<[dtype?: DType | null], ['dtype'], unknown, DType> =
  /* @__PURE__ */ defineFunction(
    'keras.utils.standardizeDtype',
    { dtype: true },
    {},
    (dtype: DType | null = null): DType => {
      if (dtype === null) return 'float32';
      checkDTypeName(dtype, 'keras.utils.standardizeDtype');
      return dtype;
    },
  );
