// Records that are checked by a schema of Zod, Valibot, ArkType and the like (standardschema.dev).

import { InvalidArgumentError } from '@eagre/backend';
import type { NamedFunction } from '@eagre/core';
import { type Arguments, defineFunction, isRefusedPromise, kind } from '@eagre/core/internal';
import { conform, type ElementSpec } from '../elements/element-spec.ts';
import { type Element, type ElementOf, toElement } from '../elements/structure.ts';
import { type Awaitable, after } from '../pipeline/iterator.ts';

/** A schema as standardschema.dev describes it, version 1. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Awaitable<StandardResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** How records become elements. */
export interface RecordOptions<Output> {
  /** Checks, and may change, each record: of Zod, Valibot, ArkType or whatever follows standardschema.dev. */
  readonly schema?: StandardSchema<Output> | undefined;
  /** Dtypes and shapes of the elements. Without it, what is made of a record tells: numbers become float32, arrays of numbers vectors. */
  readonly elementSpec?: ElementSpec | undefined;
}

/** The element of a schema's output. Written so that `Output` is found from the schema, and not from where the dataset goes. */
export type CheckedElement<Output> = [Output] extends [infer O] ? ElementOf<O> : never;

/** @throws InvalidArgumentError for what is no schema. */
export function checkSchema<Output>(schema: StandardSchema<Output>, what: string): StandardSchema<Output> {
  const standard = (schema as Partial<StandardSchema> | null)?.['~standard'];
  if (standard?.version === 1 && typeof standard.validate === 'function') return schema;
  throw new InvalidArgumentError(
    "the schema has no '~standard' property of version 1; use a library that follows standardschema.dev",
    what,
  );
}

/** The value that the schema makes of a record. @throws InvalidArgumentError that says where the record is and each fault in it. */
export function validate<Output>(
  schema: StandardSchema<Output>,
  value: unknown,
  where: () => string,
  what: string,
): Awaitable<Output> {
  return after(schema['~standard'].validate(value), (result) => {
    if (result.issues === undefined) return result.value;
    const faults = result.issues.slice(0, 5).map(({ message, path }) => {
      const keys = (path ?? []).map((part) => String(typeof part === 'object' ? part.key : part));
      return keys.length === 0 ? message : `${keys.join('.')}: ${message}`;
    });
    const more = result.issues.length > 5 ? ` (and ${result.issues.length - 5} more)` : '';
    throw new InvalidArgumentError(`${where()}: ${faults.join('; ')}${more}`, what);
  });
}

/**
 * The function that makes an element of a record; `where` tells the record's place for messages.
 * @throws InvalidArgumentError for what is no schema. The function throws it for records that are refused or no elements.
 */
export function recordElement<Output>(
  { schema, elementSpec }: RecordOptions<Output>,
  what: string,
): (record: unknown, where: () => string) => Awaitable<Element> {
  if (schema !== undefined) checkSchema(schema, what);
  const make = (value: unknown, where: () => string): Element => {
    try {
      return elementSpec === undefined ? toElement(value, what) : conform(value, elementSpec, what);
    } catch (cause) {
      throw new InvalidArgumentError(`${where()}: ${(cause as Error).message}`, what, { cause });
    }
  };
  return (record, where) =>
    schema === undefined
      ? make(record, where)
      : after(validate(schema, record, where, what), (value) => make(value, where));
}

/**
 * Records of any source, each checked: `Dataset.fromGenerator(() => validated(schema, rows))`. Where the records or the
 * schema are asynchronous, use `validatedAsync`.
 *
 * @param source names the records in errors: `source, record 3`.
 * @throws InvalidArgumentError while it is iterated, for a record that the schema refuses, and for an asynchronous schema.
 */
export const validated: <Output>(
  ...args: Arguments<
    [schema: StandardSchema<Output>, records: Iterable<unknown>, source?: string],
    ['schema', 'records', 'source']
  >
) => Generator<Output, void, undefined> = defineFunction<
  NamedFunction<
    [schema: StandardSchema, records: Iterable<unknown>, source?: string],
    ['schema', 'records', 'source'],
    unknown,
    Generator<unknown, void, undefined>
  >
>(
  'tf.data.validated',
  { schema: kind.structure, records: true, source: true },
  {},
  function* (schema, records, source = 'records') {
    checkSchema(schema, 'validated');
    let number = 0;
    for (const record of records) {
      const at = ++number;
      const value = validate(schema, record, () => `${source}, record ${at}`, 'validated');
      if (isRefusedPromise(value)) {
        throw new InvalidArgumentError('the schema is asynchronous: use validatedAsync', 'validated');
      }
      yield value;
    }
  },
) as never;

/** {@link validated} for asynchronous records or schemas. */
export const validatedAsync: <Output>(
  ...args: Arguments<
    [schema: StandardSchema<Output>, records: Iterable<unknown> | AsyncIterable<unknown>, source?: string],
    ['schema', 'records', 'source']
  >
) => AsyncGenerator<Output, void, undefined> = defineFunction<
  NamedFunction<
    [schema: StandardSchema, records: Iterable<unknown> | AsyncIterable<unknown>, source?: string],
    ['schema', 'records', 'source'],
    unknown,
    AsyncGenerator<unknown, void, undefined>
  >
>(
  'tf.data.validatedAsync',
  { schema: kind.structure, records: true, source: true },
  {},
  async function* (schema, records, source = 'records') {
    checkSchema(schema, 'validatedAsync');
    let number = 0;
    for await (const record of records) {
      const at = ++number;
      yield await validate(schema, record, () => `${source}, record ${at}`, 'validatedAsync');
    }
  },
) as never;
