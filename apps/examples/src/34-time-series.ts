// Forecasts of a made-up weather station: windows of a series, baselines, and networks of several kinds.
import * as tf from 'eagre';

const { layers } = tf.keras;
const HOURS = Number(process.env.HOURS ?? 4000);
const MAX_EPOCHS = Number(process.env.EPOCHS ?? 8);

tf.keras.utils.setRandomSeed(11);

// ---- the series: a temperature that follows the sun and lags behind, a pressure, and the time of day as a wave

const columns = ['T', 'p', 'day_sin', 'day_cos'] as const;
const noise = tf.random.normal([HOURS, 2]).array() as number[][];
let [temperature, pressure] = [0, 0];
const rows = noise.map(([a, b], hour) => {
  const angle = (2 * Math.PI * hour) / 24;
  pressure = 0.97 * pressure + 0.25 * (b as number);
  temperature += 0.2 * (2 * Math.sin(angle) + pressure - temperature) + 0.05 * (a as number);
  return [temperature, pressure, Math.sin(angle), Math.cos(angle)];
});
const series = tf.constant(rows);

// Training, validation and test in the order of time, scaled by what training knows.
const [n, m] = [Math.floor(HOURS * 0.7), Math.floor(HOURS * 0.9)];
const trainRows = series.at(`0:${n}`);
const [mean, variance] = tf.nn.moments(trainRows, [0]);
const [trainDf, valDf, testDf] = [trainRows, series.at(`${n}:${m}`), series.at(`${m}:`)].map((part) =>
  part.sub(mean).div(variance.sqrt()),
) as [tf.Tensor, tf.Tensor, tf.Tensor];

// ---- windows: some steps to see, some to tell

interface WindowSizes {
  inputWidth: number;
  labelWidth: number;
  shift: number;
  labelColumns?: readonly (typeof columns)[number][];
}

export class WindowGenerator {
  sizes: WindowSizes;
  totalWindowSize: number;

  constructor(sizes: WindowSizes) {
    this.sizes = sizes;
    this.totalWindowSize = sizes.inputWidth + sizes.shift;
  }

  splitWindow(features: tf.Tensor): [inputs: tf.Tensor, labels: tf.Tensor] {
    const { inputWidth, labelWidth, labelColumns } = this.sizes;
    const inputs = features.at(':', `:${inputWidth}`);
    const labels = features.at(':', `${this.totalWindowSize - labelWidth}:`);
    if (labelColumns === undefined) return [inputs, labels];
    return [
      inputs,
      tf.stack(
        labelColumns.map((name) => labels.at('...', columns.indexOf(name))),
        -1,
      ),
    ];
  }

  makeDataset(data: tf.Tensor) {
    return tf.keras.utils
      .timeseriesDatasetFromArray(data, null, this.totalWindowSize, {
        sequenceStride: 1,
        shuffle: true,
        batchSize: 32,
      })
      .map((features) => this.splitWindow(features));
  }

  get train() {
    return this.makeDataset(trainDf);
  }
  get val() {
    return this.makeDataset(valDf);
  }
  get test() {
    return this.makeDataset(testDf);
  }
}

// ---- models

/** What is now will be. */
class Baseline extends tf.keras.Model {
  labelIndex: number | null;

  constructor(labelIndex: number | null = null) {
    super();
    this.labelIndex = labelIndex;
  }

  override call(inputs: tf.Tensor): tf.Tensor {
    return this.labelIndex === null ? inputs : inputs.at('...', this.labelIndex).expandDims(-1);
  }
}

/** A model of the change from step to step. */
class ResidualWrapper extends tf.keras.Model {
  model: tf.keras.Model;

  constructor(model: tf.keras.Model) {
    super();
    this.model = model;
  }

  override call(inputs: tf.Tensor, { training }: { training?: boolean } = {}): tf.Tensor {
    return inputs.add(this.model(inputs, training === undefined ? {} : { training }));
  }
}

const compileOptions = () => ({
  loss: new tf.keras.losses.MeanSquaredError(),
  optimizer: new tf.keras.optimizers.Adam(0.005),
  metrics: [new tf.keras.metrics.MeanAbsoluteError()],
});

async function compileAndFit(model: tf.keras.Model, window: WindowGenerator, patience = 2) {
  const earlyStopping = new tf.keras.callbacks.EarlyStopping({ monitor: 'val_loss', patience, mode: 'min' });
  model.compile(compileOptions());
  return model.fit(window.train, {
    epochs: MAX_EPOCHS,
    validationData: window.val,
    callbacks: [earlyStopping],
    verbose: 0,
  });
}

export const performance: Record<string, number> = {};
async function record(name: string, model: tf.keras.Model, window: WindowGenerator): Promise<void> {
  const { mean_absolute_error: error } = await model.evaluate(window.test, { verbose: 0 });
  performance[name] = error as number;
  console.log(name.padEnd(18), performance[name]?.toFixed(4));
}

const singleStep = new WindowGenerator({ inputWidth: 1, labelWidth: 1, shift: 1, labelColumns: ['T'] });
const convWidth = 3;
export const convWindow = new WindowGenerator({
  inputWidth: convWidth,
  labelWidth: 1,
  shift: 1,
  labelColumns: ['T'],
});
const wideWindow = new WindowGenerator({ inputWidth: 24, labelWidth: 24, shift: 1, labelColumns: ['T'] });
const wideOfAll = new WindowGenerator({ inputWidth: 24, labelWidth: 24, shift: 1 });

const baseline = new Baseline(columns.indexOf('T'));
baseline.compile(compileOptions());
await record('baseline', baseline, singleStep);

const dense = new tf.keras.Sequential([
  new layers.Dense(32, { activation: 'relu' }),
  new layers.Dense(32, { activation: 'relu' }),
  new layers.Dense(1),
]);
await compileAndFit(dense, singleStep);
await record('dense', dense, singleStep);

const conv = new tf.keras.Sequential([
  new layers.Conv1D(32, convWidth, { activation: 'relu' }),
  new layers.Dense(32, { activation: 'relu' }),
  new layers.Dense(1),
]);
await compileAndFit(conv, convWindow);
await record('conv', conv, convWindow);
// It runs over longer windows too, and tells one step for each place of its kernel.
export const wideConv = conv(wideWindow.test.iterator().getNext()[0]).shape;

const lstm = new tf.keras.Sequential([new layers.LSTM(32, { returnSequences: true }), new layers.Dense(1)]);
await compileAndFit(lstm, wideWindow);
await record('lstm', lstm, wideWindow);

// All columns at once: first what is now will be, then the change by an LSTM that begins with none.
const baselineOfAll = new Baseline();
baselineOfAll.compile(compileOptions());
await record('baseline of all', baselineOfAll, wideOfAll);

const residual = new ResidualWrapper(
  new tf.keras.Sequential([
    new layers.LSTM(32, { returnSequences: true }),
    new layers.Dense(columns.length, { kernelInitializer: tf.initializers.zeros() }),
  ]),
);
await compileAndFit(residual, wideOfAll);
await record('residual lstm', residual, wideOfAll);
