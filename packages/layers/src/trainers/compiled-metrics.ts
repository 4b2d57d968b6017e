// The metrics of a model, for each output its own.
import {
  InvalidArgumentError,
  type Shape,
  scope,
  Tensor,
  type TensorLike,
  UnimplementedError,
  Variable,
  zeros,
} from '@eagre/core';
import {
  checkNoPromise,
  lazily,
  outsideScopes,
  shown,
  showShape,
  toTensor,
  tree,
} from '@eagre/core/internal';
import { metrics as metricsModule } from '@eagre/metrics';
import { isDeep } from '../layer/forms.ts';
import type { Comparison } from './compiled-loss.ts';
import { checkOneForEach, inForm, inOrder, isByName, type Outputs } from './per-output.ts';

export type Metric = metricsModule.Metric;
type MetricLike = metricsModule.MetricLike;
/** Of one output, or of those in a structure of outputs. */
type OfOutput = MetricLike | MetricsOption | null;
/** For one output a list; for several a list of one item or list for each, by the outputs' names, or in the structure of the outputs. */
export type MetricsOption = readonly OfOutput[] | { readonly [name: string]: OfOutput };

/** What `'accuracy'` and `'crossentropy'` mean depends on the targets: this becomes one of its kinds with the first batch. */
class MetricOfTargets extends metricsModule.Metric {
  readonly #like: string;
  metric: Metric | undefined;

  constructor(like: string, name: string) {
    super(name);
    this.#like = like;
  }
  override updateState(y: TensorLike, p: TensorLike, ...options: unknown[]): void {
    this.metric ??= metricsModule.get(this.#like, { yTrueShape: shapeOf(y), yPredShape: shapeOf(p) });
    this.metric.updateState(y, p, ...options);
  }
  /** Each of its kinds is a mean, and that of nothing is 0. */
  override result(): Tensor {
    return this.metric?.result() ?? zeros([], this.dtype);
  }
  override resetState(): void {
    this.metric?.resetState();
  }
}
const shapeOf = (x: TensorLike): Shape => (x instanceof Variable ? x.shape : toTensor(x).shape);

/** A metric that was asked for. */
class Requested {
  readonly like: MetricLike;
  readonly weighted: boolean;
  readonly metric: Metric;
  /** Whether a batch was taken into account by `update`. */
  updated = false;
  /** The place of its output. */
  output = 0;
  /** The name of its output, where there are several. */
  prefix: string | undefined = undefined;

  /** @throws InvalidArgumentError for what is no metric */
  constructor(like: MetricLike, weighted: boolean) {
    this.like = like;
    this.weighted = weighted;
    this.metric = metricOf(like);
  }
}

/** A metric in the logs, and why it is there: undefined for those of the model's own. */
interface Logged {
  readonly metric: Metric;
  readonly request?: Requested;
}

/** The requests of `metrics` or `weightedMetrics`, in the form in which they were given. */
type Given = readonly Requests[] | { readonly [name: string]: Requests };
type Requests = Requested | null | Given;
const asGiven = (leaf: unknown): unknown => (leaf instanceof Requested ? leaf.like : leaf);
const requestsIn = (given: unknown): Requested[] =>
  tree.leavesOf(given ?? [], 'compile').filter((one): one is Requested => one instanceof Requested);

export class CompiledMetrics {
  readonly #given: readonly (readonly [what: string, given: Given])[];
  #requests: Requested[];
  #resolved = false;

  /** @throws InvalidArgumentError for what is no list, or no metric */
  constructor(metrics: MetricsOption | undefined, weightedMetrics: MetricsOption | undefined) {
    this.#given = [
      ['metrics', requests('metrics', metrics, false)],
      ['weightedMetrics', requests('weightedMetrics', weightedMetrics, true)],
    ];
    this.#requests = this.#given.flatMap(([, given]) => requestsIn(given));
  }

  get metrics(): Metric[] {
    return this.#requests.map(metricNow);
  }

  /**
   * What logs hold of these metrics: each as often as it was asked for, and those that were, together. One that was asked for by name and
   * saw no batch yet is left out, as in Keras.
   */
  logged(metrics: readonly Metric[]): readonly Logged[] {
    const all = new Set(metrics);
    const requested = this.#requests.flatMap((request): Logged[] => {
      const metric = metricNow(request);
      const isUnused = typeof request.like === 'string' && !request.updated;
      return isUnused || !all.has(metric) ? [] : [{ metric, request }];
    });
    const known = new Set(this.metrics);
    const first = metrics.findIndex((metric) => known.has(metric));
    const others = (list: readonly Metric[]): Logged[] =>
      list.filter((metric) => !known.has(metric)).map((metric) => ({ metric }));
    return first < 0
      ? others(metrics)
      : [...others(metrics.slice(0, first)), ...requested, ...others(metrics.slice(first))];
  }

  /** Whether code of the user gets to see targets and predictions, and may keep them. */
  get observed(): boolean {
    return this.#requests.some(({ metric }) => !isOurMetric(metric));
  }

  /** Gives the requests to the outputs. @throws InvalidArgumentError when they do not fit these */
  resolve(outputs: Outputs): void {
    if (this.#resolved) return;
    this.#requests = this.#given.flatMap(([what, given]) => {
      // All are of the only output.
      if (Array.isArray(given) && (outputs.count === 1 || given.length === 0)) return requestsIn(given);
      const list = isDeep(outputs.form)
        ? inForm(given, outputs, what, false, asGiven)
        : Array.isArray(given)
          ? given
          : inOrder(given as Readonly<Record<string, Requests>>, outputs.names, what);
      checkOneForEach(list, outputs, what);
      const seen = new Set<Requested>();
      return list.flatMap((some, output) =>
        requestsIn(some).map((one) => {
          // Outputs that share a name have metrics of their own.
          const request = seen.has(one) ? new Requested(one.like, one.weighted) : one;
          seen.add(request);
          request.output = output;
          if (outputs.count > 1) request.prefix = outputs.names?.[output];
          return request;
        }),
      );
    });
    this.#resolved = true;
  }

  /** Takes a batch into account. */
  update(outputs: Outputs, { targets, predictions, weights }: Comparison): void {
    this.resolve(outputs);
    for (const request of this.#requests) {
      const { output, weighted, metric } = request;
      const [y, p, sampleWeight] = [targets[output], predictions[output], weights[output]];
      if (y === undefined) {
        throw new InvalidArgumentError(
          `there are no targets for the metrics of output ${request.prefix ?? output}`,
        );
      }
      request.updated = true;
      const options = weighted && sampleWeight !== undefined ? { sampleWeight } : {};
      if (isOurMetric(metric)) metric.updateState(y, p, options);
      else {
        const made: unknown = outsideScopes((): unknown => metric.updateState(y, p, options));
        checkNoPromise(made, 'updateState()', metric.name);
      }
    }
  }

  /** The name of a metric in the logs, unless another one has it. */
  nameOf({ metric, request }: Logged, taken: (name: string) => boolean): string {
    const start = request?.prefix === undefined ? '' : `${request.prefix}_`;
    const name = `${start}${metric.name}`;
    return request?.weighted === true && taken(name) ? `${start}weighted_${metric.name}` : name;
  }
}

/** The metric itself, once the targets have told which one it is. */
function metricNow({ metric }: Requested): Metric {
  return metric instanceof MetricOfTargets ? (metric.metric ?? metric) : metric;
}

/** @throws InvalidArgumentError for what is no metric */
function metricOf(like: MetricLike): Metric {
  const metric = metricsModule.get(like, { yTrueShape: [1, 1], yPredShape: [1, 1] });
  if (typeof like !== 'string') return metric;
  const other = metricsModule.get(like, { yTrueShape: [1], yPredShape: [1, 2] });
  return other.constructor === metric.constructor ? metric : new MetricOfTargets(like, metric.name);
}

function requests(what: string, given: MetricsOption | undefined, weighted: boolean): Given {
  if (given === undefined || given === null) return [];
  const ofOutput = (some: unknown): Requests => {
    if (some === null || some === undefined) return null;
    return Array.isArray(some) || isByName(some)
      ? (tree.mapItems(some as tree.Container, ofOutput) as Given)
      : new Requested(some as MetricLike, weighted);
  };
  if (Array.isArray(given) || isByName(given)) return ofOutput(given) as Given;
  throw new InvalidArgumentError(
    `${what} must be a list such as ['accuracy'], or lists by the names of outputs; got ${shown(given)}`,
    'compile',
  );
}

/** The value of a metric for the logs. @throws UnimplementedError for several numbers */
export function valueOf(metric: Metric): number {
  const read = (): number => numberOf(resultOf(metric), metric.name);
  return isOurMetric(metric) ? scope(read) : read();
}

/** The result of a metric. @throws InvalidArgumentError where a metric of the user's gives none */
export function resultOf(metric: Metric): Tensor {
  if (isOurMetric(metric)) return metric.result();
  const result: unknown = outsideScopes(() => metric.result());
  checkNoPromise(result, 'result()', metric.name);
  if (result instanceof Tensor) return result;
  if (result instanceof Variable) return result.read();
  throw new InvalidArgumentError(
    `result() of a metric must return a tensor, got ${shown(result)}`,
    metric.name,
  );
}

/** The number that goes into the logs. @throws UnimplementedError for several numbers */
export function numberOf(value: Tensor, name: string): number {
  if (value.size !== 1) {
    throw new UnimplementedError(
      `the metric '${name}' returns several numbers (${showShape(value.shape)}), but logs hold one per metric; average them, or compute the metric after predict`,
      'fit',
    );
  }
  return Number(value.item());
}

// What keeps no tensor: classes of ours that call no function of the user's.
const ourMetrics = lazily(() => {
  const all = new Set<unknown>([...Object.values(metricsModule), MetricOfTargets]);
  all.delete(metricsModule.MeanMetricWrapper);
  return all;
});
function isOurMetric(metric: Metric): boolean {
  return ourMetrics().has(metric.constructor);
}
