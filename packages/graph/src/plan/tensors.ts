import {
  type AttrValue,
  type DType,
  LateNumber,
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

/**
 * Whether an attribute is known only when the plan runs; such calls may be random draws, and no two of them are the same. Neither are
 * calls of the host's code, nor those that have one or the other in a body.
 */
export function hasLateAttrs(call: PlanCall): boolean {
  return (
    call.kernel === 'Host' ||
    Object.values(call.attrs).some((attr) => attr instanceof LateNumber) ||
    (call.bodies?.some(({ calls }) => calls.some(hasLateAttrs)) ?? false)
  );
}

/** Whether a call, or one in its bodies, has an attribute that is known only when the plan runs. */
export function hasLateNumbers(call: PlanCall): boolean {
  return (
    Object.values(call.attrs).some((attr) => attr instanceof LateNumber) ||
    (call.bodies?.some(({ calls }) => calls.some(hasLateNumbers)) ?? false)
  );
}

/** An attribute that must be a plain number; undefined for one that is late, a list or absent. */
export function numberAttr(attr: AttrValue | LateNumber | undefined): number | undefined {
  if (typeof attr === 'boolean') return attr ? 1 : 0;
  return typeof attr === 'number' ? attr : undefined;
}

/** A list attribute of numbers; undefined for anything else. */
export function listAttr(attr: AttrValue | LateNumber | undefined): readonly number[] | undefined {
  return typeof attr === 'object' && !(attr instanceof LateNumber) ? attr : undefined;
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
