// What is used of the library for deflated data: Node loads it when something is first packed or unpacked (`late.ts`).
export {
  deflate,
  deflateRaw,
  gzip,
  ZStream,
  zlibInflate,
  zlibInflateInit2,
  zlibInflateReset,
} from 'pako';
