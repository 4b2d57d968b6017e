// Okabe and Ito's colours, which people with any colour vision tell apart, then turns of the same.
const base = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#8c6bb1', '#7f7f7f'];

/** The colour of a run: by its place among all of them, so that it stays when others are hidden. */
export function colorOf(run: string, all: readonly string[]): string {
  const i = all.indexOf(run);
  const round = Math.floor(i / base.length);
  const color = base[i % base.length] as string;
  return round === 0
    ? color
    : `color-mix(in oklab, ${color}, ${round % 2 === 1 ? 'black' : 'white'} ${25 * Math.ceil(round / 2)}%)`;
}

/** A colour that a canvas understands. */
export function resolved(color: string): string {
  if (!color.startsWith('color-mix')) return color;
  const probe = document.createElement('span');
  probe.style.color = color;
  document.body.append(probe);
  const { color: computed } = getComputedStyle(probe);
  probe.remove();
  return computed;
}
