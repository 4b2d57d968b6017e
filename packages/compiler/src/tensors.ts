import {
  type AttrValue,
  type DType,
  type NumericDType,
  type PlanCall,
  type PlanTensor,
  type ScalarProgram,
  sameShape,
} from '@eagre/backend';

/** A call of a scalar program. */
export interface ScalarCall extends PlanCall {
  readonly kernel: ScalarProgram;
}

export function isScalarCall(call: PlanCall): call is ScalarCall {
  return typeof call.kernel !== 'string';
}

/** An attribute that is a number; undefined for one that is a list or absent. */
export function numberAttr(attr: AttrValue | undefined): number | undefined {
  if (typeof attr === 'boolean') return attr ? 1 : 0;
  return typeof attr === 'number' ? attr : undefined;
}

/** A list attribute of numbers; undefined for anything else. */
export function listAttr(attr: AttrValue | undefined): readonly number[] | undefined {
  return typeof attr === 'object' ? attr : undefined;
}

export function isNumeric(dtype: DType): dtype is NumericDType {
  return dtype !== 'string';
}

/** The same memory under another shape of the same size. */
export function reshaped(tensor: PlanTensor, shape: readonly number[]): PlanTensor {
  return sameShape(tensor.shape, shape) ? tensor : { ...tensor, shape };
}

/** The call with each input's value replaced by what the map says; the same call where nothing changes. */
export function substitute<C extends PlanCall>(call: C, values: ReadonlyMap<number, number>): C {
  if (!call.inputs.some((input) => values.has(input.value))) return call;
  const inputs = call.inputs.map((input) => {
    const value = values.get(input.value);
    return value === undefined ? input : { ...input, value };
  });
  return { ...call, inputs };
}
