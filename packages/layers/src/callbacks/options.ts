// The kinds of options that callbacks have.
import { checkFunction, checkOneOf, checkPath, checkText, type Option } from '@eagre/core/internal';
import type { Callback } from './callback.ts';

const ownerOf = (callback: object): string => (callback as Callback).constructor.name;

/** Text, `otherwise` unless given. @param what it is called in messages, where that is not its name */
export function text(otherwise: string, what?: string): Option<string> {
  return {
    read: (given, name, of) => {
      const value = given ?? otherwise;
      checkText(value, what ?? name, ownerOf(of));
      return value as string;
    },
  };
}

/** One of some values, the first unless given. */
export function oneOf<const T>(...values: readonly [T, ...T[]]): Option<T> {
  return {
    read: (given, name, of) => {
      const value = given ?? values[0];
      checkOneOf(value, values, name, ownerOf(of));
      return value as T;
    },
  };
}

/** What is printed: nothing unless 1. */
export const verbose: Option<0 | 1> = oneOf(0, 1);

/** The path of a file or a folder. @param what it is called in messages */
export function path(what: string, otherwise?: string): Option<string> {
  return {
    read: (given, _, of) => {
      const value = given ?? otherwise;
      checkPath(value as string, what, ownerOf(of));
      return value as string;
    },
  };
}

/** A function. @param what it is called in messages */
export function fn<F>(what: string): Option<F> {
  return {
    read: (given, _, of) => {
      checkFunction(given, what, ownerOf(of));
      return given as F;
    },
  };
}
