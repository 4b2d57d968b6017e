// Arguments against what a function has promised to take.
import { InvalidArgumentError } from '@eagre/backend';
import { type PartialShape, type Tensor, type TensorLike, Variable } from '@eagre/core';
import { isCompatible, isPlain, shown, showShape, toTensor } from '@eagre/core/internal';
import { type Signature, TensorSpec } from './tensor-spec.ts';

/**
 * Arguments brought to a signature: what is no tensor becomes one of the dtype that is asked for.
 * @throws InvalidArgumentError for another number of arguments, structure, dtype or shape, with both signatures.
 */
export function conform(args: readonly unknown[], signature: readonly Signature[]): unknown[] {
  const fail = (why: string): never => {
    throw new InvalidArgumentError(
      `the arguments do not fit the inputSignature: ${why}.\n  signature: ${showSignature(signature)}\n  arguments: ${showArguments(args)}`,
      'tf.function',
    );
  };
  const visit = (value: unknown, spec: Signature, where: string): unknown => {
    if (spec instanceof TensorSpec) {
      let tensor: Tensor;
      try {
        tensor = toTensor(value instanceof Variable ? value.read() : (value as TensorLike), spec.dtype);
      } catch (error) {
        return fail(`${where}: ${(error as Error).message}`);
      }
      if (tensor.dtype !== spec.dtype) fail(`${where} is ${tensor.dtype}, expected ${spec.dtype}`);
      if (!isCompatible(tensor.shape, spec.shape))
        fail(
          `${where} has shape ${showShape(tensor.shape)}, expected ${showShape(spec.shape as PartialShape)}`,
        );
      return tensor;
    }
    if (Array.isArray(spec)) {
      const list = spec as readonly Signature[];
      if (!Array.isArray(value) || value.length !== list.length)
        fail(`${where} must be an array of ${list.length}`);
      return list.map((s, i) => visit((value as unknown[])[i], s, `${where}[${i}]`));
    }
    if (!isPlain(value)) return fail(`${where} must be an object`);
    const fields = spec as { readonly [key: string]: Signature };
    const given = value as Record<string, unknown>;
    const unknown = Object.keys(given).find((k) => !Object.hasOwn(fields, k));
    if (unknown !== undefined) fail(`${where}.${unknown} is not in it`);
    return Object.fromEntries(
      Object.entries(fields).map(([k, s]) => [k, visit(given[k], s, `${where}.${k}`)]),
    );
  };
  if (args.length !== signature.length) fail(`${args.length} arguments for ${signature.length}`);
  return signature.map((spec, i) => visit(args[i], spec, `argument ${i}`));
}

/** A signature as text. */
export function showSignature(spec: Signature): string {
  if (spec instanceof TensorSpec) return spec.toString();
  if (Array.isArray(spec)) return `[${(spec as readonly Signature[]).map(showSignature).join(', ')}]`;
  const fields = Object.entries(spec as { readonly [key: string]: Signature });
  return `{ ${fields.map(([k, s]) => `${k}: ${showSignature(s)}`).join(', ')} }`;
}

/** What arguments are, as text. */
export function showArguments(value: unknown): string {
  return showNested(value, 0);
}

// Deeper ones would not be read, and may hold themselves.
const SHOWN_LEVELS = 8;

function showNested(value: unknown, level: number): string {
  const inside = (v: unknown): string => showNested(v, level + 1);
  if (level > SHOWN_LEVELS) return '…';
  if (Array.isArray(value)) return `[${value.map(inside).join(', ')}]`;
  if (value instanceof TensorSpec) return value.toString();
  if (typeof value === 'object' && value !== null) {
    if ('dtype' in value && 'shape' in value)
      return `${String(value.dtype)} ${showShape(value.shape as PartialShape)}`;
    if (isPlain(value))
      return `{ ${Object.entries(value)
        .map(([k, v]) => `${k}: ${inside(v)}`)
        .join(', ')} }`;
    return value.constructor.name;
  }
  return typeof value === 'function' ? 'function' : typeof value === 'string' ? `'${value}'` : String(value);
}

const MOST_LEVELS = 64;

/** What a structure of specs may hold beside them: `tf.mapFn` takes dtypes too. */
type IsLeaf = (value: unknown) => boolean;

/** @throws InvalidArgumentError for what is no structure of specs, with the place where something else stands. */
export function checkSignature(value: unknown, what: string, op: string, isLeaf: IsLeaf = () => false): void {
  const visit = (v: unknown, where: string, level: number): void => {
    if (v instanceof TensorSpec || isLeaf(v)) return;
    if (level < MOST_LEVELS && Array.isArray(v)) {
      for (const [i, item] of v.entries()) visit(item, `${where}[${i}]`, level + 1);
    } else if (level < MOST_LEVELS && isPlain(v)) {
      for (const [k, item] of Object.entries(v)) visit(item, `${where}.${k}`, level + 1);
    } else {
      throw new InvalidArgumentError(
        `${where} is ${shown(v)}, expected tf.TensorSpec in arrays and plain objects`,
        op,
      );
    }
  };
  visit(value, what, 0);
}
