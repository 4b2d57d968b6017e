// What an experiment's hyperparameters and metrics are, for `hparamsConfig`.
import { InvalidArgumentError } from '@eagre/backend';
import { checkOneOf, checkOptionNames, checkText, type OptionNames, shown } from '@eagre/core/internal';

export type HParamValue = number | boolean | string;

interface Texts {
  /** What people read instead of the name. */
  readonly displayName?: string;
  /** Markdown. */
  readonly description?: string;
}

const textNames: OptionNames<Texts> = { displayName: true, description: true };

function checkTexts(texts: object, owner: string): void {
  for (const [name, text] of Object.entries(texts)) if (text !== undefined) checkText(text, name, owner);
}

/** All numbers between two, with these. */
export class RealInterval {
  readonly minValue: number;
  readonly maxValue: number;

  /** @throws InvalidArgumentError unless both are numbers, in order. */
  constructor(minValue: number, maxValue: number) {
    if (typeof minValue !== 'number' || typeof maxValue !== 'number' || !(minValue <= maxValue))
      throw new InvalidArgumentError(
        `expected two numbers in order, got ${shown(minValue)} and ${shown(maxValue)}`,
        new.target.name,
      );
    this.minValue = minValue;
    this.maxValue = maxValue;
  }
}

/** All integers between two, with these. */
export class IntInterval extends RealInterval {
  /** @throws InvalidArgumentError unless both are integers, in order. */
  constructor(minValue: number, maxValue: number) {
    super(minValue, maxValue);
    for (const v of [minValue, maxValue])
      if (!Number.isInteger(v)) throw new InvalidArgumentError(`${v} is no integer`, 'IntInterval');
  }
}

/** Some values of one kind. */
export class Discrete<V extends HParamValue = HParamValue> {
  /** Sorted. */
  readonly values: readonly V[];

  /** @throws InvalidArgumentError for no values, and for values of different kinds. */
  constructor(values: Iterable<V>) {
    if (
      typeof values !== 'object' ||
      typeof (values as Partial<Iterable<V>> | null)?.[Symbol.iterator] !== 'function'
    )
      throw new InvalidArgumentError(`expected a list of values, got ${shown(values)}`, 'Discrete');
    const list = [...values];
    const kind = typeof list[0];
    if (!['number', 'boolean', 'string'].includes(kind))
      throw new InvalidArgumentError(`expected numbers, booleans or strings, got ${kind}`, 'Discrete');
    for (const v of list)
      if (typeof v !== kind)
        throw new InvalidArgumentError(`${String(v)} is no ${kind}, as the others are`, 'Discrete');
    this.values = list.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  }
}

/** A hyperparameter of an experiment. `units.domain.values` of a `Discrete` are what a search goes through. */
export class HParam<D extends RealInterval | Discrete | undefined = RealInterval | Discrete | undefined> {
  readonly name: string;
  readonly domain: D;
  readonly displayName: string | undefined;
  readonly description: string | undefined;

  /**
   * @param name what it is called in `hparams`.
   * @param domain the values that it may have.
   */
  constructor(name: string, domain?: D, options: Texts = {}) {
    if (typeof name !== 'string' || name === '')
      throw new InvalidArgumentError(`expected a name, got ${shown(name)}`, 'HParam');
    checkOptionNames(options, textNames, 'HParam');
    checkTexts(options, 'HParam');
    if (domain !== undefined && !(domain instanceof RealInterval || domain instanceof Discrete))
      throw new InvalidArgumentError('a domain is a RealInterval, an IntInterval or a Discrete', 'HParam');
    this.name = name;
    this.domain = domain as D;
    this.displayName = options.displayName;
    this.description = options.description;
  }
}

export interface MetricOptions extends Texts {
  /** The folder below that of the trial in which the summaries are: `validation`. */
  readonly group?: string;
  /** What the metric is measured on. */
  readonly datasetType?: 'training' | 'validation';
}

const metricNames: OptionNames<MetricOptions> = { ...textNames, group: true, datasetType: true };

/** A metric of an experiment: the tag of a scalar summary. */
export class Metric {
  readonly tag: string;
  readonly group: string | undefined;
  readonly displayName: string | undefined;
  readonly description: string | undefined;
  readonly datasetType: 'training' | 'validation' | undefined;

  constructor(tag: string, options: MetricOptions = {}) {
    if (typeof tag !== 'string' || tag === '')
      throw new InvalidArgumentError(`expected a tag, got ${shown(tag)}`, 'Metric');
    checkOptionNames(options, metricNames, 'Metric');
    const { datasetType, ...texts } = options;
    checkTexts(texts, 'Metric');
    if (datasetType !== undefined)
      checkOneOf(datasetType, ['training', 'validation'], 'datasetType', 'Metric');
    this.tag = tag;
    this.group = options.group;
    this.displayName = options.displayName;
    this.description = options.description;
    this.datasetType = datasetType;
  }
}
