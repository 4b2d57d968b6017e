// Models of Keras in the form that TensorFlow.js reads. It knows fewer layers, and fewer options of them.
import { UnimplementedError, type Variable } from '@eagre/core';
import { isPlain, snakeCase } from '@eagre/core/internal';
import type { NDArrayOf } from '@eagre/formats';
import { encodeTfjsModel, type TfjsArray } from '@eagre/formats/tensorflow-js';
import { ownVariables } from '../layer/inside.ts';
import type { Layer } from '../layer/layer.ts';
import { Model } from '../models/model.ts';
import { HARD_SIGMOID } from './hard-sigmoid.ts';
import { serializedModel } from './model-config.ts';

type Config = Readonly<Record<string, unknown>>;

const words = (text: string): readonly string[] => text.split(' ');
const OF_ALL = words('name trainable batch_input_shape dtype');
/** Initializer, regularizer and constraint of some weights. */
const about = (...weights: readonly string[]): readonly string[] =>
  weights.flatMap((weight) => [`${weight}_initializer`, `${weight}_regularizer`, `${weight}_constraint`]);
const DENSE = [...words('activation use_bias activity_regularizer'), ...about('kernel', 'bias')];
const WINDOWS = words('kernel_size strides padding data_format dilation_rate');
const CONV = [...words('filters'), ...WINDOWS, ...DENSE];
const RECURRENT = [
  ...words(
    'units activation use_bias dropout recurrent_dropout return_sequences return_state go_backwards stateful unroll',
  ),
  ...about('kernel', 'recurrent', 'bias'),
  'activity_regularizer',
];
const GATED = [...RECURRENT, 'recurrent_activation'];
const POOL = words('pool_size strides padding data_format');
const NORM = words('axis epsilon center scale');

/** The options of the layers that TensorFlow.js knows. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  InputLayer: words('sparse'),
  Dense: ['units', ...DENSE],
  Conv1D: CONV,
  Conv2D: CONV,
  Conv3D: CONV,
  Conv2DTranspose: CONV,
  Conv3DTranspose: CONV,
  SeparableConv2D: [
    ...words('filters depth_multiplier activation use_bias activity_regularizer'),
    ...WINDOWS,
    ...about('depthwise', 'pointwise', 'bias'),
  ],
  DepthwiseConv2D: [
    ...words('depth_multiplier activation use_bias activity_regularizer'),
    ...WINDOWS,
    ...about('depthwise', 'bias'),
  ],
  BatchNormalization: [
    ...NORM,
    'momentum',
    ...about('beta', 'gamma'),
    'moving_mean_initializer',
    'moving_variance_initializer',
  ],
  LayerNormalization: [...NORM, ...about('beta', 'gamma')],
  Activation: words('activation'),
  ReLU: words('max_value'),
  LeakyReLU: words('alpha'),
  ELU: words('alpha'),
  PReLU: [...about('alpha'), 'shared_axes'],
  Softmax: words('axis'),
  Dropout: words('rate seed noise_shape'),
  SpatialDropout1D: words('rate seed'),
  GaussianNoise: words('stddev'),
  GaussianDropout: words('rate'),
  AlphaDropout: words('rate'),
  Flatten: words('data_format'),
  Reshape: words('target_shape'),
  Permute: words('dims'),
  RepeatVector: words('n'),
  Masking: words('mask_value'),
  Embedding: [...words('input_dim output_dim mask_zero input_length'), ...about('embeddings')],
  Add: [],
  Multiply: [],
  Average: [],
  Maximum: [],
  Minimum: [],
  Concatenate: words('axis'),
  Dot: words('axes normalize'),
  MaxPooling1D: POOL,
  MaxPooling2D: POOL,
  MaxPooling3D: POOL,
  AveragePooling1D: POOL,
  AveragePooling2D: POOL,
  AveragePooling3D: POOL,
  GlobalAveragePooling1D: [],
  GlobalMaxPooling1D: [],
  GlobalAveragePooling2D: words('data_format'),
  GlobalMaxPooling2D: words('data_format'),
  UpSampling2D: words('size data_format interpolation'),
  ZeroPadding2D: words('padding data_format'),
  Cropping2D: words('cropping data_format'),
  SimpleRNN: RECURRENT,
  LSTM: [...GATED, 'unit_forget_bias'],
  GRU: [...GATED, 'reset_after'],
  Bidirectional: words('layer merge_mode'),
  TimeDistributed: words('layer'),
};

/** Values of other options that say nothing there. */
const UNSAID: Readonly<Record<string, readonly unknown[]>> = {
  groups: [1],
  data_format: ['channels_last'],
  renorm_momentum: [0.99],
  use_cudnn: ['auto', false, true],
  negative_slope: [0],
  threshold: [0],
  implementation: [0, 1, 2],
  optional: [false],
};
const ACTIVATIONS: ReadonlySet<unknown> = new Set(
  words('elu selu relu relu6 linear sigmoid softplus softsign tanh softmax log_softmax gelu mish swish'),
);
const INITIALIZERS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    words(
      'Zeros Ones Constant RandomUniform RandomNormal TruncatedNormal VarianceScaling GlorotUniform GlorotNormal HeNormal HeUniform Orthogonal',
    ).map((name) => [name, name]),
  ),
  LecunNormal: 'LeCunNormal',
  LecunUniform: 'LeCunUniform',
  OrthogonalInitializer: 'Orthogonal',
};
const CONSTRAINTS: ReadonlySet<unknown> = new Set(words('MaxNorm UnitNorm NonNeg MinMaxNorm'));

/** The files of a model, of which the last is the JSON. @throws UnimplementedError for what TensorFlow.js does not know, with the layer */
export function encodeTfjs(
  model: Model,
  file: string,
  includeOptimizer: boolean,
): readonly (readonly [name: string, content: Uint8Array])[] {
  const refuse = (what: string, instead = 'save the model in a .keras file, or as a SavedModel'): never => {
    throw new UnimplementedError(`${what}; ${instead}`, 'saveModel');
  };
  const { compile_config: compiled, ...written } = serializedModel(model);
  const topology = { ...new Writer(refuse).layer(written), keras_version: '2.15.0', backend: 'tensorflow' };
  const compiledWith =
    includeOptimizer && model.compiled && isPlain(compiled) ? (compiled as Config) : undefined;
  const training = compiledWith === undefined ? {} : trainingOf(compiledWith, refuse);
  const weights = weightsOf(model, refuse);
  const state =
    compiledWith === undefined
      ? []
      : optimizerState(model, weights, compiledWith['optimizer'] as Config, refuse);
  return encodeTfjsModel(
    file,
    { format: 'layers-model', generatedBy: 'Eagre', convertedBy: null, modelTopology: topology, ...training },
    [...weights.map(({ name, variable }) => ({ name, array: arrayOf(variable) })), ...state],
  );
}
const arrayOf = (variable: Variable): NDArrayOf<'float32'> => variable.ndarray() as NDArrayOf<'float32'>;

type Refuse = (what: string, instead?: string) => never;

class Writer {
  readonly #refuse: Refuse;
  constructor(refuse: Refuse) {
    this.#refuse = refuse;
  }

  /** A layer, or a model, in the form of Keras 2. */
  layer(given: Config): Config {
    const { class_name: kind, config, name, inbound_nodes: nodes } = given;
    const own = (isPlain(config) ? config : {}) as Config;
    const title = `'${String(own['name'] ?? name)}' (${String(kind)})`;
    const behind = nodes === undefined ? {} : { name, inbound_nodes: this.#nodes(nodes, title) };
    if (kind === 'Sequential' || kind === 'Functional' || kind === 'Model') {
      const layers = own['layers'];
      if (!Array.isArray(layers))
        return this.#refuse(`${title} is a class of its own, whose layers are not in its configuration`);
      const models = new Set(
        layers.flatMap((l: Config) => ('layers' in ((l['config'] ?? {}) as Config) ? [l['name']] : [])),
      );
      this.#models.push(models);
      const inside = layers.map((l: Config) => this.layer(l));
      const ends =
        kind === 'Sequential'
          ? {}
          : {
              input_layers: this.#places(own['input_layers']),
              output_layers: this.#places(own['output_layers']),
            };
      this.#models.pop();
      return {
        class_name: kind === 'Sequential' ? kind : 'Model',
        config: { name: own['name'], layers: inside, ...ends },
        ...behind,
      };
    }
    const known = typeof kind === 'string' && Object.hasOwn(LAYERS, kind) ? LAYERS[kind] : undefined;
    if (known === undefined || ('registered_name' in given && given['registered_name'] !== null))
      return this.#refuse(`TensorFlow.js has no layer such as ${title}`);
    return { class_name: kind, config: this.#options(kind as string, own, known, title), ...behind };
  }
  /** The names of models among the layers of those that are being written, the innermost last. */
  readonly #models: Set<unknown>[] = [];

  #options(kind: string, given: Config, known: readonly string[], title: string): Config {
    const result: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(given)) {
      if (kind === 'InputLayer' && key === 'batch_shape') result['batch_input_shape'] = value;
      else if (key === 'dtype') result['dtype'] = this.#dtype(value, title, kind);
      else if (kind === 'LeakyReLU' && key === 'negative_slope') result['alpha'] = value;
      else if (kind === 'Bidirectional' && key === 'backward_layer') continue;
      else if (kind === 'Bidirectional' && key === 'layer')
        result[key] = this.layer(wrapped(value as Config));
      else if (known.includes(key) || OF_ALL.includes(key)) result[key] = this.#option(key, value, title);
      else if (value !== null && value !== false && !unsaid(key, value))
        this.#refuse(`${title}: TensorFlow.js has no option ${key}, which is ${JSON.stringify(value)}`);
    }
    if (kind === 'GRU' && result['reset_after'] === true)
      this.#refuse(`${title}: TensorFlow.js has no GRU with resetAfter: true`);
    return result;
  }

  #dtype(value: unknown, title: string, kind: string): unknown {
    const name = isPlain(value) ? ((value['config'] ?? {}) as Config)['name'] : value;
    if (name === 'float32' || (kind === 'InputLayer' && (name === 'int32' || name === 'bool'))) return name;
    return this.#refuse(`${title}: TensorFlow.js computes in float32 alone, got ${String(name)}`);
  }

  #option(key: string, value: unknown, title: string): unknown {
    if (key === 'data_format' && value === 'channels_first')
      return this.#refuse(`${title}: TensorFlow.js has channels last alone`);
    if (value === null) return null;
    if (key === 'layer') return this.layer(value as Config);
    if (key === 'activation' || key === 'recurrent_activation') return this.#activation(value, title);
    if (key === 'seed') return typeof value === 'number' ? value : null;
    const { class_name: kind, config } = (isPlain(value) ? value : {}) as Config;
    const own = (config ?? {}) as Config;
    const lacks = (what: string): never =>
      this.#refuse(`${title}: TensorFlow.js has no ${what} ${String(kind)}`);
    if (key.endsWith('_initializer')) {
      const name = INITIALIZERS[String(kind)];
      if (name === undefined) return lacks('initializer');
      const { input_axes: _, output_axes: __, seed, distribution, ...rest } = own;
      if (distribution === 'untruncated_normal') return lacks('untruncated distribution of');
      return {
        class_name: name,
        config: {
          ...rest,
          ...(seed === undefined ? {} : { seed: typeof seed === 'number' ? seed : null }),
          ...(distribution === undefined
            ? {}
            : { distribution: distribution === 'uniform' ? 'uniform' : 'normal' }),
        },
      };
    }
    if (key.endsWith('_regularizer')) {
      if (kind !== 'L1' && kind !== 'L2' && kind !== 'L1L2') return lacks('regularizer');
      return { class_name: 'L1L2', config: { l1: own['l1'] ?? 0, l2: own['l2'] ?? 0 } };
    }
    if (key.endsWith('_constraint')) {
      if (!CONSTRAINTS.has(kind)) return lacks('constraint');
      return { class_name: kind, config: own };
    }
    return value;
  }

  #activation(value: unknown, title: string): unknown {
    if (isPlain(value) && value['config'] === HARD_SIGMOID['config']) return 'hard_sigmoid';
    const name = value === 'silu' ? 'swish' : value;
    if (ACTIVATIONS.has(name)) return name;
    const why = name === 'hard_sigmoid' ? ': its own is steeper' : '';
    return this.#refuse(
      `${title}: TensorFlow.js has no activation ${typeof name === 'string' ? `'${name}' as here${why}` : 'such as this one'}`,
    );
  }

  /** Calls: lists of tensors, each with the layer, the call and the output that it comes from. */
  #nodes(nodes: unknown, title: string): unknown {
    return (nodes as readonly Config[]).map((node) => {
      const { args, kwargs } = node;
      const given = (args ?? []) as readonly unknown[];
      const rest = Object.entries((kwargs ?? {}) as Config).filter(([, v]) => v !== null && v !== false);
      if (given.length !== 1 || rest.length > 0)
        return this.#refuse(
          `${title}: TensorFlow.js has no calls with other arguments than one tensor or a list of some`,
        );
      const tensors = (Array.isArray(given[0]) ? given[0] : [given[0]]) as readonly Config[];
      return tensors.map((tensor) => {
        const history = ((tensor?.['config'] ?? {}) as Config)['keras_history'];
        if (!Array.isArray(history)) return this.#refuse(`${title}: its argument is no tensor of the model`);
        return [...this.#place(history), {}];
      });
    });
  }
  /** A model's own inputs and outputs count as its first call there. */
  #place([name, call, output]: readonly unknown[]): readonly unknown[] {
    const isModel = this.#models.at(-1)?.has(name) === true;
    return [name, (call as number) + (isModel ? 1 : 0), output];
  }
  #places(given: unknown): unknown {
    const list = given as readonly unknown[];
    const all = Array.isArray(list[0]) ? (list as readonly (readonly unknown[])[]) : [list];
    return all.map((place) => this.#place(place));
  }
}

/** The layer inside of a Bidirectional, as it was given: that has its own name for it, and has it give zeros where a mask is. */
function wrapped(layer: Config): Config {
  const { zero_output_for_mask: _, name, ...config } = (layer['config'] ?? {}) as Config;
  return { ...layer, config: { ...config, name: String(name).replace(/^forward_/, '') } };
}

function unsaid(key: string, value: unknown): boolean {
  // Random numbers are others there in any case.
  if (key === 'seed') return true;
  return Object.hasOwn(UNSAID, key) && (UNSAID[key] as readonly unknown[]).includes(value);
}

/** The arrays by the names that TensorFlow.js gives them: those of layers, also of models inside. */
function weightsOf(model: Model, refuse: Refuse): readonly Weight[] {
  const found: Weight[] = [];
  const names = new Set<string>();
  const add = (name: string, variable: Variable): void => {
    if (names.has(name))
      refuse(
        `two weights would be called '${name}' in TensorFlow.js`,
        'give layers, also those in models inside, names of their own',
      );
    names.add(name);
    found.push({ name, variable });
  };
  const visit = (of: Model): void => {
    if (ownVariables(of).length > 0) refuse(`'${of.name}' has weights outside of its layers`);
    for (const layer of of.layers) {
      if (layer instanceof Model) {
        visit(layer);
        continue;
      }
      for (const variable of layer.weights) add(nameIn(layer, variable), variable);
    }
  };
  visit(model);
  return found;
}
interface Weight {
  readonly name: string;
  readonly variable: Variable;
}

/** What each optimizer remembers of a variable, in the order of the file. */
const STATE: Readonly<Record<string, readonly string[]>> = {
  SGD: ['momentum'],
  Adam: ['m', 'v'],
  RMSprop: ['rms', 'momentum', 'mg'],
  Adagrad: ['accumulator'],
  Adadelta: ['accum_grad', 'accum_var'],
};

/** What the optimizer remembers, which goes on from there: the number of steps, then a kind of arrays after the other. */
function optimizerState(
  model: Model,
  weights: readonly Weight[],
  { class_name: kind, config }: Config,
  refuse: Refuse,
): readonly TfjsArray[] {
  const { optimizer } = model;
  const steps = Number(optimizer.iterations.item());
  const names = STATE[String(kind)];
  // Before the first step there is nothing; of Adamax TensorFlow.js keeps nothing.
  if (steps === 0 || names === undefined) return [];
  const { learning_rate: rate, momentum } = config as Config;
  const slots = [...(optimizer.trackableView().slots ?? [])];
  const trained = new Set(model.trainableVariables);
  const arrays: TfjsArray[] = [
    { name: 'iter', array: { dtype: 'int32', shape: [], data: Int32Array.of(steps) }, group: 'optimizer' },
  ];
  for (const own of names) {
    const isKept = slots.some(({ name }) => name === own);
    // RMSprop has an array of momentum there in any case.
    if (!isKept && !(kind === 'RMSprop' && own === 'momentum')) continue;
    for (const { name, variable } of weights) {
      if (!trained.has(variable)) continue;
      const slot = slots.find((one) => one.variable === variable && one.name === own)?.slot;
      const zeros = new Float32Array(variable.size);
      let array: NDArrayOf<'float32'> =
        slot === undefined ? { dtype: 'float32', shape: variable.shape, data: zeros } : arrayOf(slot);
      if (kind === 'SGD' && Number(momentum) > 0) {
        if (Number(rate) === 0)
          refuse(
            'momentum is kept without the learning rate there, which is 0',
            'save it with includeOptimizer: false',
          );
        array = { ...array, data: array.data.map((value) => value / -Number(rate)) };
      }
      arrays.push({ name: `${name}/${own}`, array, group: 'optimizer' });
    }
  }
  return arrays;
}

function nameIn(layer: Layer, variable: Variable): string {
  const kind = layer.constructor.name;
  const parts = variable.path.split('/');
  const last = parts.at(-1) as string;
  if (kind === 'DepthwiseConv2D' && last === 'kernel') return `${layer.name}/depthwise_kernel`;
  if (kind !== 'Bidirectional') return `${layer.name}/${last}`;
  const side = parts.find((part) => /^(forward|backward)_/.test(part)) ?? parts.at(-2);
  return `${layer.name}/${side}/${last}`;
}

const OPTIMIZERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  SGD: { learning_rate: 'learningRate' },
  Adam: { learning_rate: 'learningRate', beta_1: 'beta1', beta_2: 'beta2', epsilon: 'epsilon' },
  Adamax: { learning_rate: 'learningRate', beta_1: 'beta1', beta_2: 'beta2', epsilon: 'epsilon' },
  RMSprop: {
    learning_rate: 'learningRate',
    rho: 'decay',
    momentum: 'momentum',
    epsilon: 'epsilon',
    centered: 'centered',
  },
  Adagrad: { learning_rate: 'learningRate', initial_accumulator_value: 'initialAccumulatorValue' },
  Adadelta: { learning_rate: 'learningRate', rho: 'rho', epsilon: 'epsilon' },
};
/** Options of Keras's optimizers, which change what they do unless they are null or false. */
const UNKNOWN_OPTIONS = words(
  'weight_decay clipnorm global_clipnorm clipvalue use_ema loss_scale_factor gradient_accumulation_steps amsgrad',
);
const LOSSES: Readonly<Record<string, string>> = {
  mse: 'mean_squared_error',
  mae: 'mean_absolute_error',
  ...Object.fromEntries(
    words(
      'mean_squared_error mean_absolute_error mean_absolute_percentage_error mean_squared_logarithmic_error squared_hinge hinge categorical_hinge categorical_crossentropy sparse_categorical_crossentropy binary_crossentropy poisson',
    ).map((name) => [name, name]),
  ),
};
const METRICS: Readonly<Record<string, string>> = {
  mean_squared_error: 'mse',
  mean_absolute_error: 'mae',
  ...Object.fromEntries(
    words('mse mae acc accuracy binary_accuracy categorical_accuracy').map((name) => [name, name]),
  ),
};

/** What the model was compiled with. */
function trainingOf({ optimizer, loss, metrics }: Config, refuse: Refuse): Config {
  const without = 'save it with includeOptimizer: false';
  const { class_name: kind, config } = (optimizer ?? {}) as Config;
  const names = typeof kind === 'string' && Object.hasOwn(OPTIMIZERS, kind) ? OPTIMIZERS[kind] : undefined;
  if (names === undefined) return refuse(`TensorFlow.js has no optimizer ${String(kind)}`, without);
  const own = config as Config;
  const options: Record<string, unknown> = {};
  for (const [name, theirs] of Object.entries(names)) options[theirs] = own[name];
  if (typeof own['learning_rate'] !== 'number')
    return refuse("TensorFlow.js has no schedules of the optimizer's learning rate", without);
  for (const option of UNKNOWN_OPTIONS)
    if ((own[option] ?? false) !== false)
      refuse(
        `TensorFlow.js's optimizers have no ${option}, which is ${JSON.stringify(own[option])}`,
        without,
      );
  const hasMomentum = kind === 'SGD' && Number(own['momentum'] ?? 0) > 0;
  if (hasMomentum)
    Object.assign(options, { momentum: own['momentum'], useNesterov: own['nesterov'] === true });
  const named = (value: unknown, names: Readonly<Record<string, string>>, what: string): unknown => {
    if (value === null || value === undefined) return [];
    if (Array.isArray(value)) return value.map((one) => named(one, names, what));
    const name = typeof value === 'string' ? snakeCase(value) : undefined;
    const known = name !== undefined && Object.hasOwn(names, name) ? names[name] : undefined;
    return (
      known ??
      refuse(`TensorFlow.js has no ${what} ${name === undefined ? 'such as this one' : `'${name}'`}`, without)
    );
  };
  return {
    trainingConfig: {
      loss: named(loss, LOSSES, 'loss'),
      metrics: named(metrics, METRICS, 'metric'),
      optimizer_config: {
        class_name: hasMomentum ? 'Momentum' : kind === 'RMSprop' ? 'RMSProp' : kind,
        config: options,
      },
    },
  };
}
