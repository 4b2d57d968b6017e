/** @internal What packages name in the form that pages load (`tools/page-kernels.mjs`). */
export { bring } from './bring.ts';
export * from './groups.ts';
