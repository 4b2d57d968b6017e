// Pages and hosts at the edge have no addons, and nothing of what loads them.
export const nativeUnavailable: string | undefined =
  "Eagre's native kernels could not be loaded. This is no Node, or a bundle for pages: bundlers take them in by the condition node.";
/** None. */
export const loadCodecs = (): undefined => undefined;
