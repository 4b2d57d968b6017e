// The part of jsfive that is used; it has no types of its own.
declare module 'jsfive' {
  export class Group {
    readonly keys: readonly string[];
    get(path: string): Group | Dataset;
  }
  export class File extends Group {
    constructor(bytes: ArrayBuffer, name: string);
  }
  export class Dataset {
    readonly shape: readonly number[];
    /** NumPy's, such as `<f4`; other types are arrays that begin with their kind. */
    readonly dtype: string | readonly unknown[];
  }
}
