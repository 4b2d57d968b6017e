/** Ordinary control flow on tensors becomes control flow of graphs. */

export { convert } from './analysis/declared.ts';
export type { Converted, ConvertOptions } from './convert.ts';
export type { SourceMap } from './emit/code-fragments.ts';
export { AutographError } from './errors.ts';
export * as experimental from './experimental.ts';
export {
  type DoNotConvert,
  doNotConvert,
  type ToGraph,
  type ToGraphOptions,
  toCode,
  toGraph,
} from './to-graph.ts';
