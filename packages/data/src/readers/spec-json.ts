// Specs of elements as JSON.
import { DataLossError, type DType, dtypeTraits } from '@eagre/backend';
import { TensorSpec } from '@eagre/graph';
import type { ElementSpec } from '../elements/element-spec.ts';

/** A spec in a file; null where it is not known, or holds datasets. */
export type SpecJson =
  | null
  | { readonly dtype: string; readonly shape: readonly (number | null)[] | null }
  | { readonly items: readonly SpecJson[] }
  | { readonly fields: Readonly<Record<string, SpecJson>> };

/** A spec for a file. */
export function specToJson(spec: ElementSpec | null): SpecJson {
  if (spec === null) return null;
  if (spec instanceof TensorSpec) return { dtype: spec.dtype, shape: spec.shape };
  if (Array.isArray(spec)) {
    const items = (spec as readonly ElementSpec[]).map(specToJson);
    return items.includes(null) ? null : { items };
  }
  if (!isRecord(spec)) return null;
  const fields = Object.entries(spec).map(([name, item]) => [name, specToJson(item)] as const);
  return fields.some(([, item]) => item === null) ? null : { fields: Object.fromEntries(fields) };
}

/** A spec out of a file. @throws DataLossError for JSON that is none. */
export function specFromJson(json: unknown): ElementSpec | null {
  if (json === null) return null;
  if (!isRecord(json)) throw damaged();
  const { dtype, shape, items, fields } = json;
  if (Array.isArray(items)) return items.map(part);
  if (isRecord(fields))
    return Object.fromEntries(Object.entries(fields).map(([name, item]) => [name, part(item)]));
  const isShape =
    shape === null ||
    (Array.isArray(shape) && shape.every((d) => d === null || (Number.isSafeInteger(d) && d >= 0)));
  if (typeof dtype !== 'string' || !isShape || (dtype !== 'string' && !Object.hasOwn(dtypeTraits, dtype)))
    throw damaged();
  return new TensorSpec(shape as (number | null)[] | null, dtype as DType);
}

function part(json: unknown): ElementSpec {
  const spec = specFromJson(json);
  if (spec === null) throw damaged();
  return spec;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function damaged(): DataLossError {
  return new DataLossError('the spec of a saved dataset is damaged');
}
