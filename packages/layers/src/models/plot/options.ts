import { InvalidArgumentError } from '@eagre/core';
import { checkFlag, checkNumber, checkOneOf, type OptionNames } from '@eagre/core/internal';

/** From top to bottom, from left to right, and the other way round. */
export type Direction = 'TB' | 'LR' | 'BT' | 'RL';

/** Options of `modelToDot`: what a drawing of a model shows. */
export interface DrawOptions {
  /** The shapes of inputs and outputs. */
  readonly showShapes?: boolean;
  /** The dtype of the outputs. */
  readonly showDtype?: boolean;
  /** The names of layers beside their classes. */
  readonly showLayerNames?: boolean;
  /** Which way the layers follow each other: `'TB'` unless given. */
  readonly rankdir?: Direction;
  /** Frames with the layers of models inside, instead of one box for each model. */
  readonly expandNested?: boolean;
  /** Dots per inch. */
  readonly dpi?: number;
  /** The activation functions of layers. */
  readonly showLayerActivations?: boolean;
  /** Whether layers are trained. */
  readonly showTrainable?: boolean;
}
export type Drawn = Required<DrawOptions>;

export const drawOptionNames: OptionNames<DrawOptions> = {
  showShapes: true,
  showDtype: true,
  showLayerNames: true,
  rankdir: true,
  expandNested: true,
  dpi: true,
  showLayerActivations: true,
  showTrainable: true,
};

/** @throws InvalidArgumentError for what is no option of drawing */
export function drawn(
  options: DrawOptions,
  defaults: Pick<Drawn, 'showLayerNames' | 'dpi'>,
  op: string,
): Drawn {
  const flag = (name: keyof DrawOptions, otherwise = false): boolean =>
    checkFlag((options[name] as boolean | undefined) ?? otherwise, name, op);
  const { rankdir = 'TB', dpi = defaults.dpi } = options;
  checkOneOf(rankdir, ['TB', 'LR', 'BT', 'RL'], 'rankdir', op);
  checkNumber(dpi, 'dpi', op, 1);
  if (dpi > 10_000) throw new InvalidArgumentError(`dpi is ${dpi}; there are at most 10000`, op);
  return {
    showShapes: flag('showShapes'),
    showDtype: flag('showDtype'),
    showLayerNames: flag('showLayerNames', defaults.showLayerNames),
    rankdir,
    expandNested: flag('expandNested'),
    dpi,
    showLayerActivations: flag('showLayerActivations'),
    showTrainable: flag('showTrainable'),
  };
}
