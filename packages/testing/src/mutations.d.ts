import { type Findings } from './fuzz.ts';
/** A call that is right as long as nobody changes its arguments. */
export interface Subject {
    readonly name: string;
    /** New ones each time. Parts of arrays and plain objects are changed one by one, all else as a whole. */
    readonly args: () => readonly unknown[];
    readonly call: (...args: never[]) => unknown;
}
/**
 * Makes each of these calls `count` times with arguments that are wrong in one place or two. Wanted are a value or one of Eagre's
 * errors, soon, and that nothing stays behind. With EAGRE_FUZZ_LOG=values what was taken is printed too, for people to judge;
 * with EAGRE_FUZZ_LOG=calls each call ahead of it.
 */
export declare function fuzzCalls(subjects: readonly Subject[], count: number): Promise<Findings>;
