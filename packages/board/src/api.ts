// What the server answers and the page asks for.

/** `api/runs`. */
export interface RunsAnswer {
  readonly logdir: string;
  /** Files that were there at the start are still being read. */
  readonly loading: boolean;
  readonly runs: readonly RunSummary[];
  readonly problems: readonly { readonly file: string; readonly message: string }[];
}
export interface RunSummary {
  readonly name: string;
  readonly scalars: readonly string[];
  readonly histograms: readonly string[];
  readonly images: readonly string[];
  readonly audio: readonly string[];
  readonly texts: readonly string[];
  readonly graphs: readonly string[];
  /** Markdown, by tag. */
  readonly descriptions: Readonly<Record<string, string>>;
  readonly hparams: boolean;
  /** Plugins whose summaries are there but not shown. */
  readonly others: readonly string[];
}

/** `api/scalars?tag&run&run…&points&along&from&to&smoothing`: the columns of a plot, of those runs that have the tag. */
export type ScalarsAnswer = readonly RunScalars[];
export interface RunScalars {
  readonly run: string;
  /** Of the whole series. */
  readonly total: number;
  /** When the series begins. */
  readonly start: number;
  readonly steps: readonly number[];
  /** Seconds since 1970. */
  readonly wallTimes: readonly number[];
  /** null is NaN or infinite. */
  readonly values: readonly (number | null)[];
  readonly smoothed: readonly (number | null)[];
  /** How much is not finite, and where some of it is. */
  readonly odd: {
    readonly nan: number;
    readonly infinite: number;
    readonly steps: readonly number[];
    readonly wallTimes: readonly number[];
  };
}

interface Sampled {
  readonly step: number;
  readonly wallTime: number;
}

/** `api/histograms?run&tag`. */
export interface HistogramSample extends Sampled {
  /** Rows of left, right, count. */
  readonly buckets: readonly (readonly [number, number, number])[];
}

/** `api/images?run&tag`; the pictures are at `api/image?run&tag&step&index`. */
export interface ImageSample extends Sampled {
  readonly width: number;
  readonly height: number;
  readonly count: number;
}

/** `api/audio?run&tag`; the clips are at `api/clip?run&tag&step&index`. */
export interface AudioSample extends Sampled {
  readonly labels: readonly string[];
}

/** `api/texts?run&tag`. */
export interface TextSample extends Sampled {
  /** Markdown, in row-major order. */
  readonly texts: readonly string[];
  readonly shape: readonly number[];
}

/** `api/graph?run&tag`. */
export interface GraphAnswer {
  readonly nodes: readonly GraphNode[];
  /** Bodies of branches and loops, and called functions. */
  readonly functions: readonly { readonly name: string; readonly nodes: readonly GraphNode[] }[];
}
export interface GraphNode {
  readonly name: string;
  readonly op: string;
  /** As in a GraphDef: `node`, `node:1`, `^node`. */
  readonly inputs: readonly string[];
  readonly device: string;
  /** Short forms of the attributes that hold numbers, text, types or shapes. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** `api/hparams`. */
export interface HParamsAnswer {
  readonly hparams: readonly Column[];
  readonly metrics: readonly Column[];
  readonly trials: readonly TrialRow[];
}
export interface Column {
  readonly name: string;
  /** What people read instead of the name. */
  readonly title: string;
}
export interface TrialRow {
  readonly run: string;
  readonly status: string;
  readonly values: Readonly<Record<string, string | number | boolean | null>>;
  /** Last values; what is not finite as text. */
  readonly metrics: Readonly<Record<string, number | string>>;
}
