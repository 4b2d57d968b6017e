import { InvalidArgumentError } from '@eagre/backend';
import { withoutUnused } from './class-arguments.ts';
import { camelCaseKeys } from './module.ts';

/** An object as Keras writes it in a file. */
export interface Serialized {
  readonly class_name: string;
  readonly config: Readonly<Record<string, unknown>>;
}

/** The class that a file names: the user's, or what `find` knows. @throws InvalidArgumentError for what no file has. */
export function classOf<C>(
  serialized: Serialized,
  customObjects: Readonly<Record<string, unknown>> | null | undefined,
  find: (name: string) => C | undefined,
  what: string,
): C | undefined {
  const { class_name: name, config } = serialized ?? {};
  if (typeof name !== 'string' || typeof config !== 'object' || config === null)
    throw new InvalidArgumentError('expected { class_name, config }, as serialize gives it', what);
  const own = customObjects ?? {};
  return Object.hasOwn(own, name) ? (own[name] as C) : find(name);
}

/** The options in a config of Keras for a class: by our names, without those that are off and unknown to it. */
export function optionsFrom(config: Readonly<Record<string, unknown>>, cls: object): Record<string, unknown> {
  return withoutUnused(cls, camelCaseKeys(config));
}

/** @throws InvalidArgumentError unless an object is of a class. */
export function checkInstance(
  object: unknown,
  cls: abstract new (...args: never) => object,
  what: string,
): void {
  if (object instanceof cls) return;
  throw new InvalidArgumentError(
    `expected an object of class ${cls.name}, got ${object === null ? 'null' : typeof object}`,
    what,
  );
}
