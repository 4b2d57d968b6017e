// How arguments are read here: each is checked, and stays as it is.
import { InvalidArgumentError } from '@eagre/backend';
import {
  checkCount,
  checkFlag,
  checkFunction,
  checkNumber,
  checkOneOf,
  checkPath,
  checkText,
  isPlain,
  type Kind,
  shown,
} from '@eagre/core/internal';

type Check = (value: never, what: string, op: string) => void;

const checked = (check: Check): Kind => ({
  numbers: true,
  read(value, what, op) {
    check(value as never, what, op);
    return value;
  },
});

export const text: Kind = checked(checkText);
export const path: Kind = checked(checkPath);
export const flag: Kind = checked(checkFlag);
export const milliseconds: Kind = checked((value: unknown, what, op) => checkNumber(value, what, op, 0));
export const oneOf = (...choices: readonly string[]): Kind =>
  checked((value: unknown, what, op) => checkOneOf(value, choices, what, op));
/** An integer of at least so much. */
export const count = (least: number): Kind =>
  checked((value: unknown, what, op) => checkCount(value, what, op, least));
/** An integer from 0, or null. */
export const countOrNull: Kind = checked((value: unknown, what, op) => {
  if (value !== null) checkCount(value, what, op);
});

/** A list of values that stand the same check. */
export const listOf = ({ read }: Kind): Kind =>
  checked((value: unknown, what, op) => {
    if (!Array.isArray(value)) refuse(what, 'an array', value, op);
    value.forEach((item: unknown, i) => {
      read?.(item, `${what}[${i}]`, op);
    });
  });

/** Whether and how to show progress. */
export const progress: Kind = checked((value: unknown, what, op) => {
  if (typeof value !== 'boolean') checkFunction(value, what, op);
});

export const signal: Kind = checked((value: unknown, what, op) => {
  if (!(value instanceof AbortSignal)) refuse(what, "an AbortController's signal", value, op);
});

export const checksum: Kind = checked((value: unknown, what, op) => {
  if (typeof value !== 'string' || !/^(sha256|md5):./.test(value))
    refuse(what, "a checksum, 'sha256:…' or 'md5:…'", value, op);
});

/** A seed that NumPy takes. */
export const seed: Kind = checked((value: unknown, what, op) => {
  if (!Number.isInteger(value) || (value as number) < 0 || (value as number) >= 2 ** 32)
    refuse(what, 'an integer from 0 to 4294967295', value, op);
});

/** A part of the whole. */
export const part: Kind = checked((value: unknown, what, op) => {
  if (typeof value !== 'number' || !(value >= 0 && value < 1))
    refuse(what, 'a number from 0 to 1 (without 1)', value, op);
});

export const number: Kind = checked((value: unknown, what, op) => checkNumber(value, what, op));

/** The files of one part of a data set, with how many examples they hold. */
export const splitFiles: Kind = {
  plain: true,
  ...checked((value: unknown, what, op) => {
    if (!isPlain(value)) refuse(what, 'an object { count, images, labels }', value, op);
    checkCount(value['count'], `${what}.count`, op, 1);
    for (const name of ['images', 'labels']) {
      const file = value[name];
      if (!isPlain(file)) refuse(`${what}.${name}`, 'an object { name, checksum }', file, op);
      checkText(file['name'], `${what}.${name}.name`, op);
      checksum.read?.(file['checksum'], `${what}.${name}.checksum`, op);
      if (file['bytes'] !== undefined) checkCount(file['bytes'], `${what}.${name}.bytes`, op, 1);
    }
  }),
};

/** @throws InvalidArgumentError for what is no array on the host, as data sets give them. */
export function checkArray(value: unknown, what: string, op: string): void {
  const { dtype, shape, data } = (value ?? {}) as { dtype?: unknown; shape?: unknown; data?: unknown };
  if (typeof dtype !== 'string' || !Array.isArray(shape) || !ArrayBuffer.isView(data))
    refuse(what, 'an array { dtype, shape, data }, as loadData gives it', value, op);
}

/** @throws InvalidArgumentError */
export function refuse(what: string, expected: string, value: unknown, op: string): never {
  throw new InvalidArgumentError(`${what} must be ${expected}, got ${shown(value)}`, op);
}
