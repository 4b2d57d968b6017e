import { InvalidArgumentError, Tensor } from '@eagre/core';

/** Every name of an options type. */
export type OptionNames<O> = Readonly<Record<keyof Required<O>, true>>;

/** @throws InvalidArgumentError for what is no plain object, and for names that nobody would read. */
export function checkOptionNames<O extends object>(options: O, known: OptionNames<O>, what: string): void {
  if (
    typeof options !== 'object' ||
    options === null ||
    Array.isArray(options) ||
    options instanceof Tensor
  ) {
    const got =
      options instanceof Tensor ? 'a tensor' : Array.isArray(options) ? 'an array' : String(options);
    throw new InvalidArgumentError(
      `expected options, such as { ${Object.keys(known).slice(0, 2).join(', ')} }, got ${got}`,
      what,
    );
  }
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(known, name)) {
      throw new InvalidArgumentError(
        `'${name}' is no option; known are ${Object.keys(known).join(', ')}`,
        what,
      );
    }
  }
}
