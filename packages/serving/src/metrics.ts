// What Prometheus reads: counters, gauges and histograms, under TensorFlow Serving's names.

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

type Labels = readonly string[];

const zero = (): number => 0;

interface Cell<T> {
  readonly labels: Labels;
  value: T;
}

/** A metric with labels, of which each combination has values of its own. */
abstract class Metric<T> {
  protected readonly name: string;
  protected readonly labels: Labels;
  protected readonly cells: Map<string, Cell<T>> = new Map();
  readonly #help: string;
  readonly #type: string;

  constructor(type: string, name: string, help: string, labels: Labels) {
    this.#type = type;
    this.name = name;
    this.#help = help;
    this.labels = labels;
  }

  lines(): string[] {
    const lines = [`# HELP ${this.name} ${this.#help}`, `# TYPE ${this.name} ${this.#type}`];
    for (const { labels, value } of this.cells.values()) lines.push(...this.linesOf(labels, value));
    return lines;
  }

  protected abstract linesOf(labels: Labels, value: T): string[];

  protected cell(labels: Labels, empty: () => T): Cell<T> {
    const key = JSON.stringify(labels);
    let cell = this.cells.get(key);
    if (cell === undefined) this.cells.set(key, (cell = { labels, value: empty() }));
    return cell;
  }

  protected sample(suffix: string, labels: Labels, value: number, le?: string): string {
    const pairs = this.labels.map((name, i) => `${name}="${escaped(labels[i])}"`);
    if (le !== undefined) pairs.push(`le="${le}"`);
    return `${this.name}${suffix}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`;
  }
}

const escaped = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

/** A number that only grows. */
export class Counter extends Metric<number> {
  constructor(name: string, help: string, labels: Labels = []) {
    super('counter', name, help, labels);
  }

  add(labels: Labels, by = 1): void {
    this.cell(labels, zero).value += by;
  }

  protected linesOf(labels: Labels, value: number): string[] {
    return [this.sample('', labels, value)];
  }
}

/** A number that is asked for when it is shown. */
export class Gauge extends Metric<number> {
  readonly #read: () => number;

  constructor(name: string, help: string, read: () => number) {
    super('gauge', name, help, []);
    this.#read = read;
  }

  override lines(): string[] {
    this.cell([], zero).value = this.#read();
    return super.lines();
  }

  protected linesOf(labels: Labels, value: number): string[] {
    return [this.sample('', labels, value)];
  }
}

interface Buckets {
  readonly counts: number[];
  sum: number;
}

/** How numbers are distributed. */
export class Histogram extends Metric<Buckets> {
  readonly #limits: readonly number[];

  /** @param limits the largest numbers of the buckets, but for the last one, which has no limit. */
  constructor(name: string, help: string, labels: Labels, limits: readonly number[]) {
    super('histogram', name, help, labels);
    this.#limits = limits;
  }

  observe(labels: Labels, value: number): void {
    const empty = (): Buckets => ({ counts: new Array<number>(this.#limits.length + 1).fill(0), sum: 0 });
    const { value: buckets } = this.cell(labels, empty);
    const place = this.#limits.findIndex((limit) => value <= limit);
    buckets.counts[place < 0 ? this.#limits.length : place]++;
    buckets.sum += value;
  }

  protected linesOf(labels: Labels, { counts, sum }: Buckets): string[] {
    let total = 0;
    const lines = counts.map((count, i) => {
      total += count;
      return this.sample(
        '_bucket',
        labels,
        total,
        i < this.#limits.length ? String(this.#limits[i]) : '+Inf',
      );
    });
    return [...lines, this.sample('_sum', labels, sum), this.sample('_count', labels, total)];
  }
}

const exponential = (scale: number, growth: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => Number((scale * growth ** i).toPrecision(6)));

/** The metrics of a server. */
export class Metrics {
  static readonly contentType: string = CONTENT_TYPE;

  readonly requests: Counter = new Counter(
    ':tensorflow:serving:request_count',
    'The total number of requests.',
    ['model_name', 'status'],
  );
  readonly requestLatency: Histogram = new Histogram(
    ':tensorflow:serving:request_latency',
    'The time of requests that succeeded, in microseconds.',
    ['model_name', 'API', 'entrypoint'],
    exponential(10, 1.8, 33),
  );
  readonly runtimeLatency: Histogram = new Histogram(
    ':tensorflow:serving:runtime_latency',
    'The time of runs with the time that requests wait for them, in microseconds.',
    ['model_name', 'API', 'runtime'],
    exponential(10, 1.8, 33),
  );
  readonly batchSize: Histogram = new Histogram(
    ':tensorflow:serving:batching_session:processed_batch_size',
    'The rows of the batches that ran.',
    [],
    exponential(1, 2, 14),
  );
  readonly queuingLatency: Histogram = new Histogram(
    ':tensorflow:serving:batching_session:queuing_latency',
    'How long requests wait for their run to begin, in microseconds.',
    [],
    exponential(10, 1.8, 33),
  );
  readonly #gauges: readonly Gauge[];

  constructor(queue: () => { readonly waiting: number; readonly inFlight: number }) {
    this.#gauges = [
      new Gauge(
        'eagre:serving:queued_requests',
        'How many requests wait for their run.',
        () => queue().waiting,
      ),
      new Gauge('eagre:serving:runs_in_flight', 'How many runs there are now.', () => queue().inFlight),
    ];
  }

  /** All of them in Prometheus's text format. */
  text(): string {
    const all = [
      this.requests,
      this.requestLatency,
      this.runtimeLatency,
      this.batchSize,
      this.queuingLatency,
    ];
    return `${[...all, ...this.#gauges].flatMap((metric) => metric.lines()).join('\n')}\n`;
  }
}
