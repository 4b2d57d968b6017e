// The conversion as users call it. Loaders and bundlers call the one in convert.ts, which needs nothing of the rest of the library.
import { checkText, defineFunction, kind, type NamedFunction } from '@eagre/core/internal';
import { type Converted, type ConvertOptions, convert as convertSource } from '../convert.ts';

/**
 * Converts the marked functions of a module: those given to `tf.function`, methods under that decorator, functions with the directive
 * 'use autograph' (or all of a module that begins with it), and the functions of the module that those call. Types stay. Other code, and a
 * module that has been converted already, stay as they are.
 * @throws AutographError with file, line and column for source that is no TypeScript, and for what a marked function must not be or hold:
 * async functions and generators, `var`, `with`, `eval`, `&&=` and `||=` on members.
 */
export const convert: NamedFunction<[source: string], ['source'], ConvertOptions, Converted> = defineFunction(
  'autograph.convert',
  { source: kind.asIs },
  { filename: kind.asIs, runtime: kind.asIs },
  (source, options) => {
    for (const [name, text] of Object.entries({ source, ...options }))
      if (text !== undefined) checkText(text, name, 'autograph.convert');
    return convertSource(source, options);
  },
);
