import { type DType } from '@eagre/backend';
import { Tensor } from '@eagre/core';
/** A function of any arguments. */
export type AnyFunction = (...args: unknown[]) => unknown;
type Random = () => number;
/** The names of a function's parameters, `{a,b}` for a destructured one. */
export declare function parameters(fn: AnyFunction): string[];
/** Makes arguments out of random numbers in [0, 1). */
export declare class Arguments {
    #private;
    /** @param options whether there are values that do not turn into text, and proxies that were revoked */
    constructor(random: Random, options?: {
        readonly textless?: boolean;
        readonly revoked?: boolean;
    });
    chance(p: number): boolean;
    pick<T>(list: readonly T[]): T;
    list<T>(length: number, item: () => T): T[];
    shape(): number[];
    numbers(): number[];
    number(): number;
    dtype(): DType;
    values(dtype: DType, size: number): unknown[];
    tensor(shape?: readonly number[], dtype?: DType): unknown;
    indices(): unknown;
    nested(): unknown;
    options(): unknown;
    /** What does not turn into text, where that is looked for. */
    textless(): unknown;
    garbage(): unknown;
    anything(): unknown;
    /** A plausible argument for a parameter of that name. */
    named(name: string, like?: Tensor): unknown;
    /** A tensor that may well fit beside another. */
    near(like: Tensor | undefined): unknown;
    call(names: readonly string[], required: number): unknown[];
}
/** Bytes of results that take their time. */
export declare const LARGE: number;
/** What a tensor takes. */
export declare const bytesOf: (t: Tensor) => number;
/** A result that cannot be: memory too small for its shape, a rank beyond the kernels'. */
export declare function broken(result: unknown): string | undefined;
/** An argument in a message. */
export declare function show(value: unknown): string;
export {};
