// What code for several versions of Python and TensorFlow calls: bytes and texts, sizes, dates.
import { InvalidArgumentError } from '@eagre/backend';
import { TensorShape, type TensorShapeLike } from '@eagre/core';
import { checkOneOf, checkPath, defineFunction, kind, type NamedFunction, shown } from '@eagre/core/internal';

type Text = string | Uint8Array;
const ENCODINGS = ['utf-8', 'utf8'];

function decoded(value: unknown, op: string): string {
  if (typeof value === 'string') return value;
  if (!(value instanceof Uint8Array))
    throw new InvalidArgumentError(`expected a string or bytes, got ${shown(value)}`, op);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value);
  } catch (cause) {
    throw new InvalidArgumentError('the bytes are no text in UTF-8', op, { cause });
  }
}

/** A text as its bytes in UTF-8; bytes as they are. */
export const asBytes: NamedFunction<
  [bytesOrText: Text, encoding?: string],
  ['bytesOrText', 'encoding'],
  unknown,
  Uint8Array
> = /* @__PURE__ */ defineFunction(
  'compat.asBytes',
  { bytesOrText: kind.asIs, encoding: kind.asIs },
  {},
  (bytesOrText, encoding = 'utf-8') => {
    checkOneOf(encoding, ENCODINGS, 'encoding', 'asBytes');
    if (bytesOrText instanceof Uint8Array) return bytesOrText;
    return new TextEncoder().encode(decoded(bytesOrText, 'asBytes'));
  },
);

type AsText = NamedFunction<
  [bytesOrText: Text, encoding?: string],
  ['bytesOrText', 'encoding'],
  unknown,
  string
>;
const defineAsText = (name: string): AsText =>
  defineFunction(
    `compat.${name}`,
    { bytesOrText: kind.asIs, encoding: kind.asIs },
    {},
    (bytesOrText, encoding = 'utf-8') => {
      checkOneOf(encoding, ENCODINGS, 'encoding', name);
      return decoded(bytesOrText, name);
    },
  );
/** Bytes in UTF-8 as their text; a text as it is. @throws InvalidArgumentError for bytes that are no text */
export const asText: AsText = /* @__PURE__ */ defineAsText('asText');
/** See `asText`. */
export const asStr: AsText = /* @__PURE__ */ defineAsText('asStr');

/** A text of anything: of bytes their text in UTF-8. */
export const asStrAny: NamedFunction<[value: unknown], ['value'], unknown, string> =
  /* @__PURE__ */ defineFunction('compat.asStrAny', { value: kind.structure }, {}, (value) =>
    value instanceof Uint8Array
      ? decoded(value, 'asStrAny')
      : typeof value === 'string'
        ? value
        : shown(value),
  );

/** A path as its text. */
export const pathToStr: NamedFunction<[path: string | URL], ['path'], unknown, string> =
  /* @__PURE__ */ defineFunction('compat.pathToStr', { path: kind.asIs }, {}, (path) => {
    if (path instanceof URL && path.protocol === 'file:') return decodeURIComponent(path.pathname);
    checkPath(path, 'path', 'pathToStr');
    return path as string;
  });

/** A size as a number, or null where it is not known. */
export const dimensionValue: NamedFunction<
  [dimension: number | null],
  ['dimension'],
  unknown,
  number | null
> = /* @__PURE__ */ defineFunction('compat.dimensionValue', { dimension: kind.asIs }, {}, (dimension) => {
  if (dimension !== null && !Number.isSafeInteger(dimension))
    throw new InvalidArgumentError(`expected a size or null, got ${shown(dimension)}`, 'dimensionValue');
  return dimension;
});

/** The size of an axis of a shape; null where it is not known. */
export const dimensionAtIndex: NamedFunction<
  [shape: TensorShapeLike, index: number],
  ['shape', 'index'],
  unknown,
  number | null
> = /* @__PURE__ */ defineFunction(
  'compat.dimensionAtIndex',
  { shape: kind.asIs, index: kind.asIs },
  {},
  (shape, index) => new TensorShape(shape).at(index),
);
