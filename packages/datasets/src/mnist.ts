import { defineIdxDataset, type IdxDataset, type IdxDatasetSpec, idxFiles } from './idx-dataset.ts';
import type { RemoteFiles } from './load-file.ts';

const spec: IdxDatasetSpec = {
  name: 'mnist',
  imageShape: [28, 28],
  classNames: ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'],
  train: {
    count: 60_000,
    images: {
      name: 'train-images-idx3-ubyte.gz',
      checksum: 'md5:f68b3c2dcbeaaa9fbdd348bbdeb94873',
      bytes: 9912422,
    },
    labels: {
      name: 'train-labels-idx1-ubyte.gz',
      checksum: 'md5:d53e105ee54ea40749a09fcbcd1e9432',
      bytes: 28881,
    },
  },
  test: {
    count: 10_000,
    images: {
      name: 't10k-images-idx3-ubyte.gz',
      checksum: 'sha256:8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6',
      bytes: 1648877,
    },
    labels: {
      name: 't10k-labels-idx1-ubyte.gz',
      checksum: 'sha256:f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6',
      bytes: 4542,
    },
  },
  mirrors: [
    'https://storage.googleapis.com/cvdf-datasets/mnist/',
    'https://ossci-datasets.s3.amazonaws.com/mnist/',
  ],
};

/**
 * Handwritten digits: 60,000 images to train and 10,000 to test, 28×28, with labels 0 to 9. The first 5,000 test
 * images are cleaner and easier than the last 5,000.
 */
export const mnist: IdxDataset = defineIdxDataset(spec);

export const mnistFiles: RemoteFiles = idxFiles(spec);
