// Whole models that predict.
import { meanSquare, modelWeights, values } from '../inputs.ts';
import { ratio, type TimedWorkload } from '../workload.ts';

export const mobilenetV2: TimedWorkload = {
  kind: 'timed',
  name: 'mobilenet_v2',
  title: 'MobileNetV2 on one image of 224×224',
  targets: [ratio('tensorflow-function', 1), ratio('tfjs-wasm', 3), { kind: 'scaling', atLeast: 0.95 }],
  eagre(tf) {
    const model = tf.keras.applications.MobileNetV2({ weights: null });
    const filled = modelWeights(
      model.layers.flatMap(({ weights }) => weights.map(({ shape }) => shape as number[])),
    );
    let next = 0;
    for (const layer of model.layers)
      layer.setWeights(
        layer.weights.map(({ shape }) => tf.constant({ data: filled[next++]!, shape: shape as number[] })),
      );
    const x = tf.constant(values(224 * 224 * 3)).reshape([1, 224, 224, 3]);
    const traced = tf.function(() => model(x));
    const check = () => meanSquare(model(x).data() as Float32Array);
    return [
      { run: () => model(x), variant: 'eager', check },
      { run: traced, variant: 'tf.function', check },
    ];
  },
};
