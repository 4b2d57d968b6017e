// Okabe and Ito's colours, which people with any colour vision tell apart; from there on those that look least like the ones before.
const base = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#8c6bb1', '#7f7f7f'];
// What further colours are taken from. Neither so dark nor so light that one of the two papers hides them.
const candidates = [0.4, 0.5, 0.62]
  .flatMap((light) =>
    [0.75, 0.35].flatMap((saturation) => Array.from({ length: 60 }, (_, i) => hex(6 * i, saturation, light))),
  )
  .filter((color) => oklab(color)[0] > 0.45 && oklab(color)[0] < 0.85);
/** Grows as runs come. */
const palette = [...base];
/** Of each candidate: how far the nearest colour of the palette is. */
const away = candidates.map((color) => Math.min(...base.map((other) => distance(color, other))));

/** The colour of a run, as `#rrggbb`: by its place among all of them, so that it stays when others are hidden. */
export function colorOf(run: string, all: readonly string[]): string {
  const i = Math.max(0, all.indexOf(run)) % (base.length + candidates.length);
  while (palette.length <= i) addColor();
  return palette[i] as string;
}

/** The candidate that looks least like all colours before. */
function addColor(): void {
  const color = candidates[away.indexOf(Math.max(...away))] as string;
  palette.push(color);
  candidates.forEach((other, c) => {
    away[c] = Math.min(away[c] as number, distance(color, other));
  });
}

/** How different two colours look: their distance in Oklab. */
export function distance(a: string, b: string): number {
  const [x, y] = [oklab(a), oklab(b)];
  return Math.hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
}

function oklab(color: string): readonly [light: number, green: number, blue: number] {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
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
