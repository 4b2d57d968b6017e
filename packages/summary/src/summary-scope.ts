import { InvalidArgumentError } from '@eagre/backend';
import { type NamedFunction, nameScope } from '@eagre/core';
import { type Arguments, context, defineFunction } from '@eagre/core/internal';
import { tagOf } from './record.ts';

/** Options of `summaryScope`. */
export interface SummaryScopeOptions {
  /** The name where none is given; `summary` unless given. */
  readonly defaultName?: string;
}

/** Where a summary is. */
export interface ScopedTag {
  /** The name below the current scopes, for `tf.summary.write`. */
  readonly tag: string;
  /** The name scope that is open, which ends in `/`. */
  readonly scope: string;
}

/**
 * Runs code in a name scope for a kind of summary of one's own, and tells the tag that goes with it:
 *
 *     const myKind = (name: string, value: tf.TensorLike, options = {}) =>
 *       tf.summary.experimental.summaryScope(name, ({ tag }) => tf.summary.write(tag, value, options), { defaultName: 'my_kind' });
 *
 * Signs that no scope can have are left out of the scope, and kept in the tag.
 * @throws InvalidArgumentError for a name that is no text.
 */
export const summaryScope: <T>(
  ...args: Arguments<[name: string | null, fn: (place: ScopedTag) => T], ['name', 'fn'], SummaryScopeOptions>
) => T = defineFunction<
  NamedFunction<
    [name: string | null, fn: (place: ScopedTag) => unknown],
    ['name', 'fn'],
    SummaryScopeOptions,
    unknown
  >
>(
  'tf.summary.experimental.summaryScope',
  { name: true, fn: true },
  { defaultName: true },
  (name, fn, options) => {
    const what = 'tf.summary.experimental.summaryScope';
    const { defaultName = 'summary' } = options;
    if (
      (name !== null && typeof name !== 'string') ||
      typeof fn !== 'function' ||
      typeof defaultName !== 'string'
    )
      throw new InvalidArgumentError('expected a name and a function', what);
    const tag = tagOf(name ?? '', defaultName, what);
    const legal = (name || defaultName).replace(/[^-_/.A-Za-z0-9]/g, '') || defaultName;
    return nameScope(legal, () => fn({ tag, scope: context.tracer?.nameScope ?? context.nameScope }));
  },
) as never;
