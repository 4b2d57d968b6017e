// What pages have of `here.ts` where they wait. A file of its own: bundlers keep what it may load with all that imports it.
import type { Opened } from './opening.ts';

/** Opens the kernels when they are first needed. */
export const openLater: (() => Promise<Opened>) | undefined = () =>
  import('./own.ts').then(({ openOwn }) => openOwn());
