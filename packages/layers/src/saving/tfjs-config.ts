// Configurations as TensorFlow.js writes them, in the form that Keras 2 has.
import { isPlain, snakeCase } from '@eagre/core/internal';
import { HARD_SIGMOID } from './hard-sigmoid.ts';

type Config = Readonly<Record<string, unknown>>;

// Null says nothing there; layers of Keras have no such value.
const UNSAID: ReadonlySet<string> = new Set(['implementation', 'unit_forget_bias']);
const ACTIVATIONS: ReadonlySet<string> = new Set(['activation', 'recurrent_activation']);

/**
 * A configuration in which what TensorFlow.js or Keras 2 mean otherwise than Keras 3 is said.
 * @param isOld whether one of the two has written it
 */
export function fromTfjsConfig(value: unknown, isOld: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => fromTfjsConfig(item, isOld));
  if (!isPlain(value)) return value;
  const { class_name: name, config } = value as Config;
  const own =
    name === 'RNN' && isPlain(config) ? { ...value, config: withoutCellOptions(config as Config) } : value;
  const entries = Object.entries(own)
    .filter(([key, item]) => !(item === null && UNSAID.has(key)))
    .map(([key, item]): [string, unknown] => {
      // Keras's older name.
      if (key === 'distribution' && item === 'normal') return [key, 'truncated_normal'];
      const isHard = isOld && ACTIVATIONS.has(key) && (item === 'hard_sigmoid' || item === 'hardSigmoid');
      return [key, isHard ? HARD_SIGMOID : fromTfjsConfig(item, isOld)];
    });
  return Object.fromEntries(entries);
}

const OF_RNN: ReadonlySet<string> = new Set(
  'name trainable dtype batch_input_shape cell return_sequences return_state go_backwards stateful unroll'.split(
    ' ',
  ),
);
/** The options of the cell stand beside it, too. */
function withoutCellOptions(config: Config): Config {
  const inner = isPlain(config['cell']) ? (config['cell'] as Config)['config'] : undefined;
  const isCells = (key: string): boolean => isPlain(inner) && Object.hasOwn(inner, key) && !OF_RNN.has(key);
  return Object.fromEntries(Object.entries(config).filter(([key]) => !isCells(key)));
}

/** The names of options whose spelling in snake_case is another one, and of those that mean something else. */
const OPTIONS: Readonly<Record<string, string>> = {
  beta1: 'beta_1',
  beta2: 'beta_2',
  use_nesterov: 'nesterov',
};

/** What a model was compiled with, in the form of Keras 2. */
export function fromTfjsTraining(given: Config): Config {
  const { optimizer_config: optimizer, metrics, weighted_metrics: weighted, ...rest } = given;
  const list = (value: unknown): unknown =>
    isPlain(value) && Object.keys(value).length === 0 ? null : (value ?? null);
  return {
    ...rest,
    optimizer_config: isPlain(optimizer) ? optimizerOf(optimizer as Config) : optimizer,
    metrics: list(metrics),
    weighted_metrics: list(weighted),
  };
}

function optimizerOf(given: Config): Config {
  const { class_name: name, config } = given;
  if (!isPlain(config)) return given;
  const own = Object.fromEntries(
    Object.entries(config).map(([key, value]) => {
      const snake = snakeCase(key);
      if (name === 'RMSProp' && snake === 'decay') return ['rho', value];
      return [OPTIONS[snake] ?? OPTIONS[key] ?? snake, value];
    }),
  );
  // Keras's kinds of it are one class.
  return { class_name: name === 'Momentum' ? 'SGD' : name === 'RMSProp' ? 'RMSprop' : name, config: own };
}
