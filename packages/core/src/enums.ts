// Names that options have in TensorFlow.

/** What a tape gives for a source that the target does not depend on. */
export const UnconnectedGradients: { readonly NONE: 'none'; readonly ZERO: 'zero' } = {
  NONE: 'none',
  ZERO: 'zero',
};
