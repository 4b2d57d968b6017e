// What an experiment's hyperparameters and metrics are, for `hparamsConfig`.
import { InvalidArgumentError } from '@eagre/backend';
import {
  type Arguments,
  argumentsOf,
  checkOneOf,
  checkText,
  shown,
  takesArguments,
} from '@eagre/core/internal';

/** What a hyperparameter may be. */
export type HParamValue = number | boolean | string;

interface Texts {
  /** What people read instead of the name. */
  readonly displayName?: string;
  /** Markdown. */
  readonly description?: string;
}

function checkTexts(texts: object, owner: string): void {
  for (const [name, text] of Object.entries(texts)) if (text !== undefined) checkText(text, name, owner);
}

interface Interval {
  readonly minValue: number;
  readonly maxValue: number;
}

/** All numbers between two, with these. */
export class RealInterval {
  readonly minValue: number;
  readonly maxValue: number;

  /** @throws InvalidArgumentError unless both are numbers, in order. */
  constructor(...args: Arguments<[minValue: number, maxValue: number], ['minValue', 'maxValue']>) {
    const { minValue, maxValue } = argumentsOf<Interval>(RealInterval, new.target, args);
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
  constructor(...args: Arguments<[minValue: number, maxValue: number], ['minValue', 'maxValue']>) {
    super(...args);
    for (const v of [this.minValue, this.maxValue])
      if (!Number.isInteger(v)) throw new InvalidArgumentError(`${v} is not an integer`, 'IntInterval');
  }
}

takesArguments<Interval>(
  { positional: ['minValue', 'maxValue'], names: { minValue: true, maxValue: true } },
  RealInterval,
);

/** Some values of one kind. */
export class Discrete<V extends HParamValue = HParamValue> {
  /** Sorted. */
  readonly values: readonly V[];

  /** @throws InvalidArgumentError for no values, and for values of different kinds. */
  constructor(...args: Arguments<[values: Iterable<V>], ['values']>) {
    const { values } = argumentsOf<{ readonly values: Iterable<V> }>(Discrete, new.target, args);
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
        throw new InvalidArgumentError(`${shown(v)} is not a ${kind}, as the others are`, 'Discrete');
    this.values = list.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  }
}

takesArguments<{ readonly values: unknown }>({ positional: ['values'], names: { values: true } }, Discrete);

interface HParamArguments<D> extends Texts {
  readonly name: string;
  readonly domain?: D;
}

/** A hyperparameter of an experiment. `units.domain.values` of a `Discrete` are what a search goes through. */
export class HParam<D extends RealInterval | Discrete | undefined = RealInterval | Discrete | undefined> {
  readonly name: string;
  readonly domain: D;
  /** What people read instead of the name. */
  readonly displayName: string | undefined;
  /** Markdown. */
  readonly description: string | undefined;

  /**
   * @param name what it is called in `hparams`.
   * @param domain the values that it may have.
   */
  constructor(...args: Arguments<[name: string, domain?: D], ['name', 'domain'], Texts>) {
    const { name, domain, ...options } = argumentsOf<HParamArguments<D>>(HParam, new.target, args);
    if (typeof name !== 'string' || name === '')
      throw new InvalidArgumentError(`expected a name, got ${shown(name)}`, 'HParam');
    checkTexts(options, 'HParam');
    if (domain !== undefined && !(domain instanceof RealInterval || domain instanceof Discrete))
      throw new InvalidArgumentError(
        'a domain must be a RealInterval, an IntInterval or a Discrete',
        'HParam',
      );
    this.name = name;
    this.domain = domain as D;
    this.displayName = options.displayName;
    this.description = options.description;
  }
}

takesArguments<HParamArguments<unknown>>(
  {
    positional: ['name', 'domain'],
    required: 1,
    names: { name: true, domain: true, displayName: true, description: true },
  },
  HParam,
);

/** What all metrics take. */
export interface MetricOptions extends Texts {
  /** The folder below that of the trial in which the summaries are: `validation`. */
  readonly group?: string;
  /** What the metric is measured on. */
  readonly datasetType?: 'training' | 'validation';
}

interface MetricArguments extends MetricOptions {
  readonly tag: string;
}

/** A metric of an experiment: the tag of a scalar summary. */
export class Metric {
  /** The tag of the summaries that hold the metric. */
  readonly tag: string;
  /** The folder below that of the trial in which the summaries are: `validation`. */
  readonly group: string | undefined;
  /** What people read instead of the name. */
  readonly displayName: string | undefined;
  /** Markdown. */
  readonly description: string | undefined;
  /** Whether the metric is measured in training or in validation. */
  readonly datasetType: 'training' | 'validation' | undefined;

  constructor(...args: Arguments<[tag: string], ['tag'], MetricOptions>) {
    const { tag, ...options } = argumentsOf<MetricArguments>(Metric, new.target, args);
    if (typeof tag !== 'string' || tag === '')
      throw new InvalidArgumentError(`expected a tag, got ${shown(tag)}`, 'Metric');
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
takesArguments<MetricArguments>(
  {
    positional: ['tag'],
    names: { tag: true, group: true, displayName: true, description: true, datasetType: true },
  },
  Metric,
);
