import { defineIdxDataset, type IdxDataset, type IdxDatasetSpec, idxFiles } from './idx-dataset.ts';
import type { RemoteFiles } from './load-file.ts';

const spec: IdxDatasetSpec = {
  name: 'fashion-mnist',
  imageShape: [28, 28],
  classNames: [
    'T-shirt/top',
    'Trouser',
    'Pullover',
    'Dress',
    'Coat',
    'Sandal',
    'Shirt',
    'Sneaker',
    'Bag',
    'Ankle boot',
  ],
  train: {
    count: 60_000,
    images: {
      name: 'train-images-idx3-ubyte.gz',
      checksum: 'md5:8d4fb7e6c68d591d4c3dfef9ec88bf0d',
      bytes: 26421880,
    },
    labels: {
      name: 'train-labels-idx1-ubyte.gz',
      checksum: 'md5:25c81989df183df01b3e8a0aad5dffbe',
      bytes: 29515,
    },
  },
  test: {
    count: 10_000,
    images: {
      name: 't10k-images-idx3-ubyte.gz',
      checksum: 'md5:bef4ecab320f06d8554ea6380940ec79',
      bytes: 4422102,
    },
    labels: {
      name: 't10k-labels-idx1-ubyte.gz',
      checksum: 'md5:bb300cfdad3c16e7a12a480ee83cd310',
      bytes: 5148,
    },
  },
  mirrors: [
    'http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/',
    'https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/',
  ],
};

/** Articles of clothing: 60,000 images to train and 10,000 to test, 28×28, with labels 0 to 9. */
export const fashionMnist: IdxDataset = defineIdxDataset(spec);

export const fashionMnistFiles: RemoteFiles = idxFiles(spec);
