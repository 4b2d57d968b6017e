/** An array or text in a file. */
export interface Item {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly bytes: number;
}

/** What all events of one tag in one run are. */
export interface TagItem {
  readonly run: string;
  readonly tag: string;
  readonly kind: string;
  readonly count: number;
  readonly firstStep: number;
  readonly lastStep: number;
}

/** What `eagre inspect` shows. */
export interface Contents {
  readonly path: string;
  readonly format:
    | 'checkpoint'
    | 'savedModel'
    | 'events'
    | 'keras'
    | 'hdf5'
    | 'onnx'
    | 'tfjs'
    | 'safetensors'
    | 'npz'
    | 'npy';
  readonly items?: readonly Item[];
  readonly tags?: readonly TagItem[];
  /** Whatever else is said in the file about itself. */
  readonly about?: Readonly<Record<string, unknown>>;
}
