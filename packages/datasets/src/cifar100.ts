import { type CifarSpec, type CifarSplit, cifarFiles, loadCifar } from './cifar.ts';
import * as kind from './kinds.ts';
import type { RemoteFiles } from './load-file.ts';
import { defineLoader, type LoadOptions, loadOptions } from './options.ts';

export const cifar100Spec: CifarSpec = {
  name: 'cifar100',
  mirrors: ['https://www.cs.toronto.edu/~kriz/'],
  archive: {
    name: 'cifar-100-binary.tar.gz',
    checksum: 'sha256:58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec',
    bytes: 168_513_733,
  },
  root: 'cifar-100-binary',
  train: { files: ['train.bin'], count: 50_000 },
  test: { files: ['test.bin'], count: 10_000 },
  // The coarse label comes first.
  classes: [20, 100],
};

/** Which of CIFAR-100's labels to load. */
export interface Cifar100Options extends LoadOptions {
  /** One of 100 classes, or one of 20 groups of them. Default: `'fine'`. */
  labelMode?: 'fine' | 'coarse' | undefined;
}

/** CIFAR-100. */
export interface Cifar100 {
  readonly name: string;
  /** The 100 classes. */
  readonly classNames: readonly string[];
  /** The 20 groups. */
  readonly coarseClassNames: readonly string[];
  /** Loads both splits: `const [[xTrain, yTrain], [xTest, yTest]] = await cifar100.loadData()`. */
  loadData(options?: Cifar100Options | null): Promise<readonly [train: CifarSplit, test: CifarSplit]>;
  /** Loads the training split alone. */
  loadTrain(options?: Cifar100Options | null): Promise<CifarSplit>;
  /** Loads the test split alone. */
  loadTest(options?: Cifar100Options | null): Promise<CifarSplit>;
}

/** Defines a data set of two labels per image in the layout of CIFAR-100. */
export function defineCifar100(
  spec: CifarSpec,
  classNames: readonly string[],
  coarseClassNames: readonly string[],
): Cifar100 {
  return {
    name: spec.name,
    classNames,
    coarseClassNames,
    loadData: defineLoader(`${spec.name}.loadData`, cifar100Options, async (options: Cifar100Options) => {
      const [train, test] = await loadCifar(spec, column(options), ['train', 'test'], options);
      return [train, test] as const;
    }),
    loadTrain: defineLoader(
      `${spec.name}.loadTrain`,
      cifar100Options,
      async (options: Cifar100Options) => (await loadCifar(spec, column(options), ['train'], options))[0],
    ),
    loadTest: defineLoader(
      `${spec.name}.loadTest`,
      cifar100Options,
      async (options: Cifar100Options) => (await loadCifar(spec, column(options), ['test'], options))[0],
    ),
  };
}

const cifar100Options = { ...loadOptions, labelMode: kind.oneOf('fine', 'coarse') };

function column({ labelMode = 'fine' }: Cifar100Options): number {
  return labelMode === 'coarse' ? 0 : 1;
}

const FINE =
  'apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus butterfly camel can castle ' +
  'caterpillar cattle chair chimpanzee clock cloud cockroach couch crab crocodile cup dinosaur dolphin elephant ' +
  'flatfish forest fox girl hamster house kangaroo keyboard lamp lawn_mower leopard lion lizard lobster man ' +
  'maple_tree motorcycle mountain mouse mushroom oak_tree orange orchid otter palm_tree pear pickup_truck pine_tree ' +
  'plain plate poppy porcupine possum rabbit raccoon ray road rocket rose sea seal shark shrew skunk skyscraper ' +
  'snail snake spider squirrel streetcar sunflower sweet_pepper table tank telephone television tiger tractor train ' +
  'trout tulip turtle wardrobe whale willow_tree wolf woman worm';

const COARSE =
  'aquatic_mammals fish flowers food_containers fruit_and_vegetables household_electrical_devices ' +
  'household_furniture insects large_carnivores large_man-made_outdoor_things large_natural_outdoor_scenes ' +
  'large_omnivores_and_herbivores medium_mammals non-insect_invertebrates people reptiles small_mammals trees ' +
  'vehicles_1 vehicles_2';

/** Small colour pictures in 100 classes: 50,000 to train and 10,000 to test, uint8 [count, 32, 32, 3]. */
export const cifar100: Cifar100 = defineCifar100(cifar100Spec, FINE.split(' '), COARSE.split(' '));

export const cifar100Files: RemoteFiles = cifarFiles(cifar100Spec);
