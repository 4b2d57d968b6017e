import { UnimplementedError } from '@eagre/backend';
import { constant, type Tensor } from '@eagre/core';
import { type Arguments, checkFlag, defineFunction, type NamedFunction } from '@eagre/core/internal';
import { TensorSpec } from '@eagre/graph';
import {
  type BothSubsets,
  type FolderArguments,
  type FolderOptions,
  folderNames,
} from '../images/folder-files.ts';
import { type FolderDataset, folderDataset } from '../images/folder-node.ts';
import { checkCount } from '../pipeline/options.ts';
import { PaddedBatchNode } from '../transformations/padded-batch.ts';
import { decodeWav } from './wav.ts';

/** Options of {@link audioDatasetFromDirectory}; names and defaults are Keras's. */
export interface AudioDatasetOptions extends FolderOptions {
  /** The rate that all files must have; sound is not brought to another one. Default: any. */
  readonly samplingRate?: number | null | undefined;
  /** Frames of each sound: longer ones are cut, shorter ones are followed by silence. Default: those of the longest of a batch. */
  readonly outputSequenceLength?: number | null | undefined;
  /** Keras's ragged tensors, which are not here: false. */
  readonly ragged?: false | undefined;
}

/**
 * WAV files of 16 bits in folders that name their classes, as batches: sounds, float32 [batch, frames, channels] from -1 to 1, and
 * labels (with `labels: null` or `labelMode: null` the sounds alone). The same as Keras's `audio_dataset_from_directory`.
 *
 * @throws NotFoundError when there is no such folder, or no `.wav` in it.
 * @throws InvalidArgumentError for wrong options; iterating throws DataLossError, with the file, for a damaged one, and UnimplementedError
 * for one of other values or of another rate.
 */
export const audioDatasetFromDirectory: {
  (
    ...args: FolderArguments<
      BothSubsets<AudioDatasetOptions> & ({ readonly labels: null } | { readonly labelMode: null })
    >
  ): [training: FolderDataset<Tensor>, validation: FolderDataset<Tensor>];
  (
    ...args: FolderArguments<BothSubsets<AudioDatasetOptions>>
  ): [training: FolderDataset<[Tensor, Tensor]>, validation: FolderDataset<[Tensor, Tensor]>];
  (
    ...args: FolderArguments<AudioDatasetOptions & ({ readonly labels: null } | { readonly labelMode: null })>
  ): FolderDataset<Tensor>;
  (
    ...args: Arguments<[directory: string], ['directory'], AudioDatasetOptions>
  ): FolderDataset<[sounds: Tensor, labels: Tensor]>;
} = /* @__PURE__ */ defineFunction<
  NamedFunction<
    [directory: string],
    ['directory'],
    AudioDatasetOptions | BothSubsets<AudioDatasetOptions>,
    unknown
  >
>(
  'tf.keras.utils.audioDatasetFromDirectory',
  { directory: true },
  { ...folderNames, samplingRate: true, outputSequenceLength: true, ragged: true },
  soundsOf,
) as never;

const WHAT = 'audioDatasetFromDirectory';

function soundsOf(
  directory: string,
  options: AudioDatasetOptions | BothSubsets<AudioDatasetOptions>,
): FolderDataset<Tensor | [Tensor, Tensor]> | FolderDataset<Tensor | [Tensor, Tensor]>[] {
  const { samplingRate = null, outputSequenceLength: frames = null, ragged = false } = options;
  if (samplingRate !== null) checkCount(samplingRate, 'samplingRate', WHAT);
  if (frames !== null) checkCount(frames, 'outputSequenceLength', WHAT);
  checkFlag(ragged, 'ragged', WHAT);
  if (ragged) throw new UnimplementedError('ragged tensors are not supported; leave ragged out', WHAT);
  const decode = (bytes: Uint8Array, path: string): Tensor => {
    const { samples, channels, rate } = decodeWav(bytes, path);
    if (samplingRate !== null && rate !== samplingRate)
      throw new UnimplementedError(
        `${path} has ${rate} frames in a second, expected samplingRate ${samplingRate}; convert the file`,
        WHAT,
      );
    const length = frames ?? samples.length / channels;
    const data = new Float32Array(length * channels);
    data.set(samples.subarray(0, data.length));
    return constant({ data, shape: [length, channels], dtype: 'float32' });
  };
  const content = {
    spec: new TensorSpec([frames, null], 'float32'),
    decode,
    ...(frames === null ? { batch: (node: never, size: number) => new PaddedBatchNode(node, size, {}) } : {}),
  };
  return folderDataset(directory, ['.wav'], content, options, WHAT);
}
