// Hyperparameters for TensorBoard's dashboard of the same name.

import { InvalidArgumentError } from '@eagre/backend';
import type { NamedFunction } from '@eagre/core';
import {
  checkNumber,
  checkOneOf,
  checkText,
  defineFunction,
  isPlain,
  kind,
  shown,
} from '@eagre/core/internal';
import { encodeTensorProto, tensorflow } from '@eagre/formats';
import { nodeBuiltin } from '@eagre/formats/internal';
import { Discrete, HParam, type HParamValue, Metric } from './hparam.ts';
import { metadataOf } from './record.ts';
import { answerNow, eagerOnly, state } from './state.ts';

/** Options of `hparams`. */
export interface HParamsOptions {
  /** Trials of one name are shown as one; a hash of the values unless given. */
  readonly trialId?: string;
  /** Seconds since 1970; now unless given. */
  readonly startTimeSecs?: number;
}

/** Values of hyperparameters, by name, or by `HParam` in a map. */
export type HParamValues = Readonly<Record<string, HParamValue>> | ReadonlyMap<string | HParam, HParamValue>;

/**
 * Writes the hyperparameters of one trial: `tf.summary.hparams({ units: 16, optimizer: 'adam' })`. Each trial has a folder of its own below that
 * of the experiment. `{ values }` is the argument by its name, also beside `trialId` and `startTimeSecs`: a hyperparameter that is called
 * `values` itself is given as `{ values: { values: 3 } }`.
 * @returns whether it was written: false without a default writer and where `recordIf` says no.
 * @throws InvalidArgumentError for other values than numbers, booleans and strings, and for a name that comes twice.
 */
export const hparams: NamedFunction<[values: HParamValues], ['values'], HParamsOptions, boolean> =
  defineFunction(
    'tf.summary.hparams',
    { values: kind.structure },
    { trialId: true, startTimeSecs: true },
    (values, options) => {
      const what = 'tf.summary.hparams';
      eagerOnly(what);
      const { trialId, startTimeSecs = Date.now() / 1000 } = options;
      if (trialId !== undefined) checkText(trialId, 'trialId', what);
      checkNumber(startTimeSecs, 'startTimeSecs', what);
      const named = byName(values, what);
      return write('_hparams_/session_start_info', {
        session_start_info: {
          hparams: new Map([...named].map(([name, value]) => [name, valueProto(value)])),
          group_name: trialId ?? groupName(named),
          start_time_secs: startTimeSecs,
        },
      });
    },
  );

/** Options of `hparamsConfig`. */
export interface HParamsConfigOptions {
  /** Seconds since 1970; now unless given. */
  readonly timeCreatedSecs?: number;
}

/**
 * Writes which hyperparameters and metrics an experiment is about, into the folder above those of its trials.
 * @returns as `hparams`.
 */
export const hparamsConfig: NamedFunction<
  [hparams: readonly HParam[], metrics: readonly Metric[]],
  ['hparams', 'metrics'],
  HParamsConfigOptions,
  boolean
> = defineFunction(
  'tf.summary.hparamsConfig',
  { hparams: true, metrics: true },
  { timeCreatedSecs: true },
  (infos, metrics, options) => {
    const what = 'tf.summary.hparamsConfig';
    eagerOnly(what);
    const { timeCreatedSecs = Date.now() / 1000 } = options;
    if (!Array.isArray(infos) || !Array.isArray(metrics))
      throw new InvalidArgumentError('expected { hparams: […], metrics: […] }', what);
    checkItems(infos, HParam, 'hparams', what);
    checkItems(metrics, Metric, 'metrics', what);
    checkNumber(timeCreatedSecs, 'timeCreatedSecs', what);
    return write('_hparams_/experiment', {
      experiment: {
        time_created_secs: timeCreatedSecs,
        hparam_infos: (infos as readonly HParam[]).map(infoProto),
        metric_infos: (metrics as readonly Metric[]).map(metricProto),
      },
    });
  },
);

/** Options of `hparamsEnd`. */
export interface HParamsEndOptions {
  /** Seconds since 1970; now unless given. */
  readonly endTimeSecs?: number;
}

const statuses = {
  success: tensorflow.HParamsStatus.SUCCESS,
  failure: tensorflow.HParamsStatus.FAILURE,
  running: tensorflow.HParamsStatus.RUNNING,
} as const;

/**
 * Writes that a trial has ended, and how, beside what `hparams` wrote: TensorBoard's `session_end_pb`. Without it, TensorBoard takes the
 * status for unknown.
 * @returns as `hparams`.
 * @throws InvalidArgumentError for another status.
 */
export const hparamsEnd: NamedFunction<
  [status?: 'success' | 'failure' | 'running'],
  ['status'],
  HParamsEndOptions,
  boolean
> = defineFunction(
  'tf.summary.hparamsEnd',
  { status: true },
  { endTimeSecs: true },
  (status = 'success', options) => {
    const what = 'tf.summary.hparamsEnd';
    eagerOnly(what);
    checkOneOf(status, Object.keys(statuses), 'the status', what);
    const { endTimeSecs = Date.now() / 1000 } = options;
    checkNumber(endTimeSecs, 'endTimeSecs', what);
    return write('_hparams_/session_end_info', {
      session_end_info: { status: statuses[status], end_time_secs: endTimeSecs },
    });
  },
);

function checkItems(
  list: readonly unknown[],
  of: typeof HParam | typeof Metric,
  what: string,
  op: string,
): void {
  for (const [i, item] of list.entries())
    if (!(item instanceof of))
      throw new InvalidArgumentError(`${what}[${i}] is ${shown(item)}, expected a tf.summary.${of.name}`, op);
}

function write(tag: string, content: tensorflow.HParamsPluginData): boolean {
  const { writer } = state;
  if (writer === null || answerNow() !== true) return false;
  const metadata = metadataOf('hparams', undefined, tensorflow.HParamsPluginData.encode(content));
  const tensor = encodeTensorProto({ dtype: 'float32', shape: [0], data: new Float32Array(0) });
  writer.add({ wall_time: Date.now() / 1000, step: 0, summary: { value: [{ tag, tensor, metadata }] } });
  return true;
}

/** Sorted by name, as Python sorts: by code points. */
export function byName(values: HParamValues, what: string): ReadonlyMap<string, HParamValue> {
  if (!(values instanceof Map) && !(typeof values === 'object' && values !== null && isPlain(values)))
    throw new InvalidArgumentError(`expected hyperparameters by name, got ${shown(values)}`, what);
  const found = new Map<string, HParamValue>();
  const entries: Iterable<[string | HParam, HParamValue]> =
    values instanceof Map ? values : Object.entries(values);
  for (const [key, value] of entries) {
    const name = key instanceof HParam ? key.name : key;
    if (found.has(name))
      throw new InvalidArgumentError(`multiple values specified for hparam '${name}'`, what);
    if (!['number', 'boolean', 'string'].includes(typeof value))
      throw new InvalidArgumentError(
        `hparams['${name}'] is a ${typeof value}, expected a number, a boolean or a string`,
        what,
      );
    found.set(name, value);
  }
  return new Map([...found].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
}

/** TensorBoard's name for equal hyperparameters: a hash of the JSON that Python writes. */
export function groupName(values: ReadonlyMap<string, HParamValue>): string {
  const fields = [...values].map(([name, value]) => `${pythonJson(name)}:${pythonJson(value)}`);
  return nodeBuiltin('node:crypto')
    .createHash('sha256')
    .update(`{${fields.join(',')}}`)
    .digest('hex');
}

function pythonJson(value: HParamValue): string {
  if (typeof value === 'number') return pythonNumber(value);
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replace(/[\u007f-\uffff]/g, escaped);
}

/** As Python prints it: exponents of two digits, below 1e-4 and from 1e16 on. */
function pythonNumber(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  if (Number.isSafeInteger(value)) return String(value);
  const size = Math.abs(value);
  if (size >= 1e-4 && size < 1e16) return String(value);
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}

function valueProto(value: HParamValue): tensorflow.ProtoValue {
  if (typeof value === 'boolean') return { bool_value: value };
  return typeof value === 'number' ? { number_value: value } : { string_value: value };
}

const { HParamType, DatasetType } = tensorflow;

function infoProto({ name, domain, displayName, description }: HParam): tensorflow.HParamInfo {
  const texts = {
    ...(displayName === undefined ? {} : { display_name: displayName }),
    ...(description === undefined ? {} : { description }),
  };
  if (domain === undefined) return { name, ...texts };
  if (domain instanceof Discrete) {
    const kind = typeof domain.values[0];
    const type =
      kind === 'string' ? HParamType.STRING : kind === 'boolean' ? HParamType.BOOL : HParamType.FLOAT64;
    return { name, ...texts, type, domain_discrete: { values: domain.values.map(valueProto) } };
  }
  const { minValue, maxValue } = domain;
  const domain_interval = { min_value: minValue, max_value: maxValue };
  return { name, ...texts, type: HParamType.FLOAT64, domain_interval };
}

function metricProto({ tag, group, displayName, description, datasetType }: Metric): tensorflow.MetricInfo {
  return {
    name: { ...(group === undefined ? {} : { group }), tag },
    ...(displayName === undefined ? {} : { display_name: displayName }),
    ...(description === undefined ? {} : { description }),
    ...(datasetType === undefined
      ? {}
      : { dataset_type: datasetType === 'training' ? DatasetType.TRAINING : DatasetType.VALIDATION }),
  };
}
