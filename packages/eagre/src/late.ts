/**
 * Namespaces that are large, or that few programs need. Bundlers leave out what is not used of them; Node loads each when something of it
 * is first read (`tools/late-namespaces.mjs`), so they have nothing but lines like these, and do nothing that others rely on.
 */
export * as data from '@eagre/data';
export * as audio from './audio.ts';
export * as autograph from './autograph.ts';
export * as browser from './browser.ts';
export * as distribute from './distribute.ts';
export * as experimental from './experimental.ts';
export * as graphUtil from './graph-util.ts';
export * as image from './images.ts';
export * as io from './io.ts';
export * as keras from './keras.ts';
export * as onnx from './onnx.ts';
export * as profiler from './profiler.ts';
export * as savedModel from './saved-model.ts';
export * as serving from './serving.ts';
export * as test from './test.ts';
export * as train from './train.ts';
export * as types from './types.ts';
