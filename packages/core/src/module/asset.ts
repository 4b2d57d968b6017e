import type { Arguments } from '../arguments/arguments.ts';
import { showFields } from '../arguments/callable.ts';
import { checkPath } from '../arguments/checks.ts';
import { argumentsOf, takesArguments } from '../arguments/class-arguments.ts';

/**
 * A file that belongs to a model, such as a vocabulary. It goes into the folder `assets` of the SavedModel, and a loaded model has the
 * path that it has there.
 *
 *     model.vocabulary = new tf.savedModel.Asset('words.txt');
 */
export class Asset {
  /** The path of the file. */
  readonly assetPath: string;

  /** @param path that of a file, which must be there when the model is saved. */
  constructor(...args: Arguments<[path: string], ['path']>) {
    const { path } = argumentsOf<{ readonly path: string }>(Asset, new.target, args);
    checkPath(path, 'path', 'savedModel.Asset');
    this.assetPath = path;
  }
}

takesArguments<{ readonly path: string }>(
  { positional: ['path'], required: 1, names: { path: true } },
  Asset,
);
showFields(Asset.prototype, ({ assetPath }) => ({ assetPath }));
