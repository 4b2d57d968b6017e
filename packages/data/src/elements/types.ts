// What the elements of datasets that come of others are, for the compiler.
import type { HostArray, Tensor } from '@eagre/core';
import type { Dataset } from '../pipeline/dataset.ts';

/** A function of an element: it gets the items of a tuple one by one, anything else as it is. */
export type ElementFn<T, R> = T extends readonly unknown[] ? (...items: T) => R : (element: T) => R;
/** Datasets in arrays and plain objects, as an element of their elements. */
export type Zipped<S> = S extends Dataset<infer T> ? T : { -readonly [K in keyof S]: Zipped<S[K]> };
/** Elements of datasets of an element's parts. */
export type Windowed<T> = T extends Tensor
  ? Dataset<Tensor>
  : T extends Dataset<infer U>
    ? Dataset<Dataset<U>>
    : { -readonly [K in keyof T]: Windowed<T[K]> };
/** Elements as values of the host. */
export type HostOf<T> = T extends Tensor
  ? HostArray
  : T extends Dataset<infer U>
    ? HostOf<U>[]
    : { -readonly [K in keyof T]: HostOf<T[K]> };

/** What is given as the argument `tensors`, by position or by name. */
export type TensorsOf<S> = S extends { readonly tensors: infer V }
  ? [keyof S] extends ['tensors']
    ? V
    : S
  : S;
