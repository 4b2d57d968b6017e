// What is in a checkpoint, without any object.
import type { DType, NamedFunction, Tensor } from '@eagre/core';
import { type Arguments, checkPath, checkText, defineFunction, defineMethods } from '@eagre/core/internal';
import { openBundle } from './bundle.ts';
import type { Source } from './source.ts';
import { latestCheckpoint } from './state.ts';

type Listed = Source & {
  /** The keys of all values. */
  readonly keys: readonly string[];
};

/** Reads the values of a checkpoint by their names. */
export class CheckpointReader {
  readonly #source: Listed;

  /** @internal */
  constructor(source: Listed) {
    this.#source = source;
  }

  /** The shape of each value by name. */
  getVariableToShapeMap(): Map<string, number[]> {
    return new Map(this.#source.keys.map((key) => [key, [...this.#source.spec(key).shape]]));
  }
  /** The dtype of each value by name; TensorFlow's name where Eagre has no such dtype. */
  getVariableToDtypeMap(): Map<string, DType | (string & {})> {
    return new Map(this.#source.keys.map((key) => [key, this.#source.spec(key).dtype]));
  }
  hasTensor(...args: Arguments<[name: string], ['name']>): boolean;
  hasTensor(name: string): boolean {
    return this.#source.has(name);
  }
  /** @throws NotFoundError when there is no such name, DataLossError for damaged bytes, UnimplementedError for complex numbers. */
  getTensor(...args: Arguments<[name: string], ['name']>): Tensor;
  getTensor(name: string): Tensor {
    checkText(name, 'the name', 'CheckpointReader.getTensor');
    return this.#source.read(name);
  }
}

defineMethods(CheckpointReader.prototype, 'CheckpointReader', {
  getVariableToShapeMap: {},
  getVariableToDtypeMap: {},
  hasTensor: { positional: ['name'] },
  getTensor: { positional: ['name'] },
});

/** What `listVariables` tells of one value. */
export type ListedVariable = readonly [name: string, shape: readonly number[]];

/**
 * Opens a checkpoint, or the latest one of a folder.
 * @throws NotFoundError when there is none.
 */
export const loadCheckpoint: NamedFunction<
  [path: string],
  ['path|ckptDirOrFile'],
  unknown,
  CheckpointReader
> = defineFunction('tf.train.loadCheckpoint', { 'path|ckptDirOrFile': true }, {}, (path) => {
  checkPath(path, 'the path', 'loadCheckpoint');
  return new CheckpointReader(openBundle(latestCheckpoint(path) ?? path));
});

/** The names and shapes of all values in a checkpoint, or in the latest one of a folder, by name. */
export const listVariables: NamedFunction<[path: string], ['path|ckptDirOrFile'], unknown, ListedVariable[]> =
  defineFunction('tf.train.listVariables', { 'path|ckptDirOrFile': true }, {}, (path) => {
    return [...loadCheckpoint(path).getVariableToShapeMap()];
  });

/** One value of a checkpoint, or of the latest one of a folder. */
export const loadVariable: NamedFunction<[path: string, name: string], ['path|ckptDirOrFile', 'name']> =
  defineFunction('tf.train.loadVariable', { 'path|ckptDirOrFile': true, name: true }, {}, (path, name) => {
    checkText(name, 'the name', 'loadVariable');
    // What is written for `checkpoint.step` is meant by its path as well as by its whole name.
    const reader = loadCheckpoint(path);
    const key = `${name}/.ATTRIBUTES/VARIABLE_VALUE`;
    return reader.getTensor(!reader.hasTensor(name) && reader.hasTensor(key) ? key : name);
  });
