import { corrupt } from './corrupt.ts';
import { loadFile, type RemoteFiles } from './load-file.ts';
import { defineLoader, type LoadOptions, loadOptions } from './options.ts';

export const tinyShakespeareFiles: RemoteFiles = {
  name: 'tinyshakespeare',
  mirrors: [
    'https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/',
    'https://cdn.jsdelivr.net/gh/karpathy/char-rnn@master/data/tinyshakespeare/',
  ],
  files: [
    {
      name: 'input.txt',
      checksum: 'sha256:86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed',
      bytes: 1_115_394,
    },
  ],
};

/** A text. */
export interface TextDataset {
  readonly name: string;
  /**
   * Loads the whole text.
   *
   * @throws DatasetError that names the file when it is missing, corrupt, or not to be had.
   */
  loadText(options?: LoadOptions | null): Promise<string>;
}

/** Defines a data set that is one text file in UTF-8. */
export function defineText(files: RemoteFiles): TextDataset {
  return {
    name: files.name,
    loadText: defineLoader(`${files.name}.loadText`, loadOptions, async (options: LoadOptions) => {
      const { path, bytes } = await loadFile(files, files.files[0], options);
      try {
        return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
      } catch {
        throw corrupt(files.name, path, 'text', 'UTF-8', 'other bytes');
      }
    }),
  };
}

/** Shakespeare's plays in part, 40,000 lines: 1.1 million characters to train language models of characters. */
export const tinyShakespeare: TextDataset = defineText(tinyShakespeareFiles);
