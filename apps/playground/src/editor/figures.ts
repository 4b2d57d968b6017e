// Pictures and plots beside what a program prints.
import type { Lines, Picture } from './messages.ts';

const SVG = 'http://www.w3.org/2000/svg';
const [WIDE, HIGH] = [320, 200];
const [LEFT, TOP, RIGHT, BOTTOM] = [58, 10, 10, 22];

/** The place of a figure of that title: that of the one before, or a new one. */
function placeOf(figures: HTMLElement, title: string): HTMLElement {
  const known = [...figures.children].find((one) => (one as HTMLElement).dataset['title'] === title);
  if (known !== undefined) return known as HTMLElement;
  const place = document.createElement('figure');
  place.dataset['title'] = title;
  const caption = document.createElement('figcaption');
  caption.textContent = title;
  place.append(caption);
  figures.append(place);
  return place;
}

/** Puts a picture, or what a plot is drawn into, where the one before was. */
function put(place: HTMLElement, made: Element): void {
  const [first] = place.children;
  if (first?.localName === 'figcaption') place.prepend(made);
  else if (first !== made) first?.replaceWith(made);
}

export function showPicture(figures: HTMLElement, { title, width, height, pixels }: Picture): void {
  const place = placeOf(figures, title);
  const known = place.querySelector('canvas');
  const canvas = known ?? document.createElement('canvas');
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', `${title}: ${width} × ${height} pixels`);
  canvas.getContext('2d')?.putImageData(new ImageData(pixels, width, height), 0, 0);
  put(place, canvas);
}

/** Three or four digits say enough. */
const short = (value: number): string => String(Number(value.toPrecision(3)));

export function showPlot(figures: HTMLElement, { title, lines }: Lines): void {
  const all = Object.values(lines).flat().filter(Number.isFinite);
  const least = all.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const most = all.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const longest = Math.max(2, ...Object.values(lines).map((list) => list.length));
  const x = (i: number): number => LEFT + (i / (longest - 1)) * (WIDE - LEFT - RIGHT);
  const y = (value: number): number =>
    TOP + (1 - (value - least) / (most - least || 1)) * (HIGH - TOP - BOTTOM);
  const svg = document.createElementNS(SVG, 'svg');
  const add = (name: string, attributes: Readonly<Record<string, string | number>>, text = ''): void => {
    const one = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, String(value));
    one.textContent = text;
    svg.append(one);
  };
  svg.setAttribute('viewBox', `0 0 ${WIDE} ${HIGH}`);
  svg.setAttribute('role', 'img');
  const last = Object.entries(lines).map(
    ([name, list]) => `${name} ends at ${short(list.at(-1) ?? Number.NaN)}`,
  );
  svg.setAttribute('aria-label', `${title}: ${last.join(', ')}`);
  const values = all.length === 0 ? [] : [...new Set([most, (most + least) / 2, least])];
  for (const value of values) {
    add('line', { x1: LEFT, x2: WIDE - RIGHT, y1: y(value), y2: y(value), class: 'grid' });
    add('text', { x: LEFT - 6, y: y(value) + 4, 'text-anchor': 'end' }, short(value));
  }
  Object.entries(lines).forEach(([name, list], i) => {
    const points = list.flatMap((value, at) =>
      Number.isFinite(value) ? [`${x(at).toFixed(1)},${y(value).toFixed(1)}`] : [],
    );
    add('polyline', { points: points.join(' '), class: `line line-${i % 4}` });
    add('text', { x: LEFT + i * 90, y: HIGH - 5, class: `name name-${i % 4}` }, name);
  });
  put(placeOf(figures, title), svg);
}
