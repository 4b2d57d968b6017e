// tf.data from files: records, text, CSV, pictures, and elements that are kept.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from 'eagre';

const { Dataset, TFRecordDataset, TextLineDataset } = tf.data;
const folder = mkdtempSync(join(tmpdir(), 'eagre-files-'));
const file = (name: string): string => join(folder, name);

// ---- TFRecords of examples: two files, read in turn

for (const part of [0, 1]) {
  using writer = new tf.io.TFRecordWriter(file(`train-${part}.tfrecord`), { compression: 'GZIP' });
  for (let i = 0; i < 4; i++) {
    const x = 4 * part + i;
    writer.write(tf.io.encodeExample({ x: [x / 2, -x / 2], label: [BigInt(x % 2)], name: `example ${x}` }));
  }
}
const features = {
  x: new tf.io.FixedLenFeature([2], 'float32'),
  label: new tf.io.FixedLenFeature([], 'int64'),
  name: new tf.io.FixedLenFeature([], 'string'),
};
const records = new TFRecordDataset(Dataset.listFiles(file('train-*.tfrecord'), { shuffle: false }), {
  compressionType: 'GZIP',
  numParallelReads: 2,
});
const parsed = records.map((bytes) => tf.io.parseSingleExample(bytes, features), { runEagerly: true });
export const names: string[] = [];
export const labels: bigint[][] = [];
for (const { x, label, name } of parsed.batch(4)) {
  console.log(x, label, name);
  names.push(...name.strings());
  labels.push(label.array() as bigint[]);
}

// ---- Text, line by line; CSV, column by column

writeFileSync(file('poem.txt'), 'the boat\nthe tide the moon\n');
export const words: number[] = [];
for (const line of new TextLineDataset(file('poem.txt'))) words.push(line.item<string>().split(' ').length);
console.log('words per line', words);

writeFileSync(file('boats.csv'), 'length,name,fast\n7.5,"Ada, the first",1\n,Bore,0\n');
const boats = tf.data.makeCsvDataset(file('boats.csv'), 2, {
  labelName: 'fast',
  numEpochs: 1,
  shuffle: false,
});
const [row] = [...boats];
export const boatNames = row?.[0].name?.strings();
export const fast = row?.[1].array();
console.log(row);

// ---- Pictures in folders that name their classes

const shades = { dark: 40, light: 200 };
for (const [name, shade] of Object.entries(shades)) {
  mkdirSync(file(`pictures/${name}`), { recursive: true });
  for (let i = 0; i < 3; i++) {
    const data = Uint8Array.from({ length: 16 * 12 }, (_, pixel) => shade + i * 10 + (pixel % 16));
    const png = await tf.keras.datasets.contactSheet({ dtype: 'uint8', shape: [1, 12, 16], data });
    writeFileSync(file(`pictures/${name}/${i}.png`), png);
  }
}
const pictures = await tf.keras.utils.imageDatasetFromDirectory(file('pictures'), {
  imageSize: [6, 8],
  batchSize: 6,
  shuffle: false,
});
const [[images, classes] = []] = [...pictures];
export const imageShape = images?.shape;
export const imageLabels = classes && [...classes.data()];
export const { classNames } = pictures;
console.log(pictures.classNames, images?.shape, classes);
if (images)
  console.log(
    tf.keras.datasets.contactSheetText(images.div(255).ndarray() as tf.io.NDArray, { columns: 3, gap: 1 }),
  );

// ---- Elements that were costly to make are kept in a folder

await parsed.save(file('parsed'));
const kept = Dataset.load<{ x: tf.Tensor; label: tf.Tensor; name: tf.Tensor }>(file('parsed'));
export const keptCount = kept.cardinality();
export const keptFirst = [...kept.take(1)][0]?.name.item();
console.log(keptCount, 'elements kept; the first is', keptFirst);

rmSync(folder, { recursive: true });
