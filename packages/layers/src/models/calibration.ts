// `model.quantize('gptq')` and `('awq')`: samples go through the layers of a model, which are quantized one block after the other.
import { concat, constant, InvalidArgumentError, type Tensor, type TensorLike } from '@eagre/core';
import { toTensor } from '@eagre/core/internal';
import type {
  AWQConfig,
  CalibratedConfig,
  GPTQConfig,
  QuantizationLayerStructure,
} from '../calibrated-quantizers.ts';
import { withInner } from '../layer/inside.ts';
import type { Layer } from '../layer/layer.ts';
import { show } from '../layer/show.ts';
import { AdaptedLayer, rowsToCalibrate, toFewBits, whileSeen } from '../layers/core/adapted.ts';
import { awq, type Calibration, gptq } from '../layers/core/few-bits.ts';

/**
 * Quantizes the kernels in the blocks of a structure, each block by what the one before it, quantized already, makes of the samples.
 * @param wanted which layers
 * @throws InvalidArgumentError without data, a tokenizer or blocks
 */
export function calibrate(
  config: CalibratedConfig,
  structure: QuantizationLayerStructure | null,
  wanted: (layer: Layer) => boolean,
  op: string,
): void {
  if (structure === null || structure.sequentialBlocks.length === 0)
    throw new InvalidArgumentError(
      `${config.mode} needs blocks: give the config a quantizationLayerStructure { preBlockLayers, sequentialBlocks }, or the model a getQuantizationLayerStructure`,
      op,
    );
  const { preBlockLayers = [], sequentialBlocks: blocks } = structure;
  const inside = (block: Layer): AdaptedLayer[] =>
    [...withInner(block)].filter(
      (l): l is AdaptedLayer =>
        l instanceof AdaptedLayer && l.largeWeight === 'kernel' && l.sublayers.length === 0 && wanted(l),
    );
  const rows = new Map<AdaptedLayer, number>();
  for (const layer of new Set(blocks.flatMap(inside))) rows.set(layer, rowsToCalibrate(layer, config.mode));
  let inputs = samplesOf(config, op).map((sample) => preBlockLayers.reduce(run, sample));
  blocks.forEach((block, i) => {
    const calibrations = new Map<AdaptedLayer, Calibration>();
    for (const layer of inside(block)) {
      const size = rows.get(layer);
      // One that an earlier block has, too, is quantized.
      if (size === undefined || layer.quantizationMode !== null) continue;
      calibrations.set(
        layer,
        config.mode === 'gptq' ? gptq(config as GPTQConfig, size) : awq(config as AWQConfig, size),
      );
    }
    if (calibrations.size > 0)
      whileSeen(calibrations, () => {
        for (const input of inputs) run(batch(input), block);
      });
    for (const [layer, calibration] of calibrations) toFewBits(layer, config, calibration);
    if (i < blocks.length - 1) inputs = inputs.map((input) => run(batch(input), block));
  });
}

/** The first of the outputs. */
function run(x: Tensor, layer: Layer): Tensor {
  const y: unknown = layer<Tensor>(x);
  return (Array.isArray(y) ? y[0] : y) as Tensor;
}
/** As in Keras: what has rank 2 is one example. */
const batch = (x: Tensor): Tensor => (x.rank === 2 ? x.expandDims(0) : x);

/**
 * Samples of `sequenceLength` numbers each, int32 [1, length], as far from each other as they can be; short data are repeated. The first begins with the
 * data: in Keras it begins somewhere, in each process elsewhere.
 */
export function samplesOf(config: CalibratedConfig, op: string): Tensor[] {
  const { dataset, tokenizer, numSamples, sequenceLength: length } = config;
  if (dataset === null || tokenizer === null)
    throw new InvalidArgumentError(`${config.mode} needs a dataset and a tokenizer in its config`, op);
  const split = (text: string): TensorLike =>
    typeof tokenizer === 'function' ? tokenizer(text) : tokenizer.tokenize(text);
  const pieces = [...(dataset as Iterable<unknown>)].map((piece) =>
    toTensor((typeof piece === 'string' ? split(piece) : piece) as TensorLike)
      .cast('int32')
      .reshape([-1]),
  );
  const tokens = pieces.length === 0 ? new Int32Array() : (concat(pieces, 0).data() as Int32Array);
  const n = tokens.length;
  if (n === 0) throw new InvalidArgumentError(`the dataset is empty, got ${show(dataset)}`, op);
  const needed = numSamples * length;
  const repeated = n < needed ? Math.ceil(needed / n) * n : n;
  const starts = repeated - length + 1;
  const stride = Math.max(1, Math.floor(starts / numSamples));
  return Array.from({ length: numSamples }, (_, i) => {
    const start = (i * stride) % starts;
    return constant([Array.from({ length }, (_, k) => tokens[(start + k) % n] as number)], 'int32');
  });
}
