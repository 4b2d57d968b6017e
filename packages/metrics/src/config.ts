/** A config with Keras's names as options with ours: `from_logits` → `fromLogits`. */
export function camelCaseKeys(config: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(config).map(([key, v]) => [
      key.replace(/_+([a-z\d])/g, (_, c: string) => c.toUpperCase()),
      v,
    ]),
  );
}
