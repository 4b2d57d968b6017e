import { notOpened, type Opened, openWasm } from './here.ts';

let opened: Promise<Opened> | undefined;

/** Opens the modules of this package, once. Where they cannot be opened, the console says what runs instead. */
export function openOwn(): Promise<Opened> {
  opened ??= openWasm()
    .then((backend): Opened => ({ backend, unavailable: undefined }), notOpened)
    .then((found) => {
      if (found.unavailable !== undefined)
        console.warn(
          `Eagre's kernels of WebAssembly could not be opened, so those in JavaScript run instead, which are 10 to 100 times slower: ${found.unavailable}`,
        );
      return found;
    });
  return opened;
}
