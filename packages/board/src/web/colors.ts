// Okabe and Ito's colours, which people with any colour vision tell apart; from there on hues far from the ones before.
const base = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#8c6bb1', '#7f7f7f'];
const GOLDEN_ANGLE = 137.508;
// Neither so dark nor so light that one of the two papers hides it.
const lightness = [0.42, 0.6, 0.5];

/** The colour of a run, as `#rrggbb`: by its place among all of them, so that it stays when others are hidden. */
export function colorOf(run: string, all: readonly string[]): string {
  const i = Math.max(0, all.indexOf(run));
  return base[i] ?? hex((i * GOLDEN_ANGLE) % 360, 0.6, lightness[i % lightness.length] as number);
}

function hex(hue: number, saturation: number, light: number): string {
  const reach = saturation * Math.min(light, 1 - light);
  const part = (n: number): string => {
    const k = (n + hue / 30) % 12;
    const value = light - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return Math.round(255 * value)
      .toString(16)
      .padStart(2, '0');
  };
  return `#${part(0)}${part(8)}${part(4)}`;
}

/** What names of runs are shown as: without the folders that all have in common. */
export function shortNames(names: readonly string[]): (name: string) => string {
  const [first = ''] = names;
  let common = names.length > 1 ? first.slice(0, first.lastIndexOf('/') + 1) : '';
  while (common !== '' && !names.every((name) => name.startsWith(common)))
    common = common.slice(0, common.slice(0, -1).lastIndexOf('/') + 1);
  return (name) => name.slice(common.length);
}
