// Pictures of models.
import { InvalidArgumentError, UnimplementedError } from '@eagre/core';
import { defineFunction, isPlain, kind, type NamedFunction, shown } from '@eagre/core/internal';
import { writeFileAtomicSync } from '@eagre/formats';
import { Model } from '../model.ts';
import { drawingOf } from './boxes.ts';
import { dotOf } from './dot.ts';
import { type DrawOptions, drawn, drawOptionNames } from './options.ts';

/** Options of `plotModel`. */
export interface PlotOptions extends DrawOptions {
  /** Where the picture is written, a name that ends in `.svg`; `'model.svg'` unless given, and nowhere if it is null. */
  readonly toFile?: string | null;
}

function checkModel(model: unknown, op: string): asserts model is Model {
  if (isPlain(model) || !(model instanceof Model))
    throw new InvalidArgumentError(`expected a model, got ${shown(model)}`, op);
}

const DOT = 'keras.utils.modelToDot';

/**
 * A model in DOT, the language of Graphviz: boxes for layers, and what leads to what. A model of a class of one's own is one box.
 * @throws FailedPreconditionError before the model is built
 */
export const modelToDot: NamedFunction<[model: Model], ['model'], DrawOptions, string> = defineFunction(
  DOT,
  { model: kind.asIs },
  drawOptionNames,
  (model: unknown, options: DrawOptions) => {
    checkModel(model, DOT);
    const how = drawn(options, { showLayerNames: true, dpi: 200 }, DOT);
    return dotOf(drawingOf(model, how), model.name, how);
  },
);

const PLOT = 'keras.utils.plotModel';

/**
 * Draws a model: `await tf.keras.utils.plotModel(model, { toFile: 'model.svg', showShapes: true })`. A model of a class of one's own is one
 * box. With `dpi` 96, the default, a pixel of the picture is a pixel of a page.
 * @returns the picture as the text of an SVG file.
 * @throws FailedPreconditionError before the model is built, UnimplementedError for files other than SVG
 */
export const plotModel: NamedFunction<
  [model: Model],
  ['model'],
  PlotOptions,
  Promise<string>
> = defineFunction(
  PLOT,
  { model: kind.asIs },
  { toFile: true, ...drawOptionNames },
  async (model: unknown, { toFile = 'model.svg', ...options }: PlotOptions) => {
    checkModel(model, PLOT);
    if (toFile !== null && typeof toFile !== 'string')
      throw new InvalidArgumentError(`toFile must be the name of a file, got ${shown(toFile)}`, PLOT);
    if (toFile !== null && !toFile.toLowerCase().endsWith('.svg'))
      throw new UnimplementedError(
        `'${toFile}' is no SVG: pictures are written as SVG, which browsers show and turn into other formats; write ${toFile.replace(/\.\w+$/, '')}.svg`,
        PLOT,
      );
    const how = drawn(options, { showLayerNames: false, dpi: 96 }, PLOT);
    // Loaded only by those who draw.
    const { svgOf } = await import('./svg.ts');
    const svg = svgOf(drawingOf(model, how), how);
    if (toFile !== null) writeFileAtomicSync(toFile, new TextEncoder().encode(svg));
    return svg;
  },
);
