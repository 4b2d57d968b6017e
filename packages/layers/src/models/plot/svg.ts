// Drawings as SVG.
import type { Box, Cell, Drawing, Edge, Item } from './boxes.ts';
import { escaped } from './dot.ts';
import { type Layout, layOut, type Node, type Point, type Way } from './layers.ts';
import type { Direction, Drawn } from './options.ts';
import { textWidth } from './text-width.ts';

const TITLE = 16;
const TEXT = 14;
const PADDING = 10;
const ROW = 34;
const MARGIN = 12;
const FRAME = 14;
const LABEL = 24;
const LOOP = 26;
const ARROW = 9;
const INCH = 96;

/** Lengths along the rows of layers (`u`), and from row to row (`v`). */
interface Size {
  readonly u: number;
  readonly v: number;
}
/** What is drawn inside a frame, or in all. */
interface Placed {
  readonly size: Size;
  readonly items: readonly {
    readonly item: Item;
    readonly u: number;
    readonly v: number;
    readonly size: Size;
    readonly inner: Placed | undefined;
  }[];
  readonly paths: readonly {
    readonly points: readonly Point[];
    readonly arrow: boolean;
    readonly loop: boolean;
  }[];
  /** Where edges come in and go out, along the rows: by the box that they lead to or come from. */
  readonly ends: ReadonlyMap<string, number>;
}
interface Insets {
  readonly before: Size;
  readonly after: Size;
}

const isAcross = (direction: Direction): boolean => direction === 'LR' || direction === 'RL';

/** The space between a frame and what is in it. Its label is at the top. */
function insets(direction: Direction): Insets {
  const label = FRAME + LABEL;
  if (isAcross(direction)) return { before: { u: label, v: FRAME }, after: { u: FRAME, v: FRAME } };
  return direction === 'TB'
    ? { before: { u: FRAME, v: LABEL }, after: { u: FRAME, v: FRAME / 2 } }
    : { before: { u: FRAME, v: FRAME / 2 }, after: { u: FRAME, v: LABEL } };
}

export function svgOf({ items, edges }: Drawing, { rankdir, dpi }: Drawn): string {
  const placed = place(items, edges, rankdir);
  const { u, v } = placed.size;
  const [width, height] = isAcross(rankdir) ? [v, u] : [u, v];
  const painter = new Painter(rankdir, placed.size);
  painter.draw(placed, 0, 0);
  const scale = dpi / INCH;
  const [w, h] = [width + 2 * MARGIN, height + 2 * MARGIN];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${round(w * scale)}" height="${round(h * scale)}" viewBox="${-MARGIN} ${-MARGIN} ${round(w)} ${round(h)}" font-family="Helvetica, Arial, sans-serif">`,
    `<rect x="${-MARGIN}" y="${-MARGIN}" width="${round(w)}" height="${round(h)}" fill="white"/>`,
    ...painter.parts,
    '</svg>\n',
  ].join('\n');
}

const round = (n: number): string => String(Math.round(n * 10) / 10);

/** The ids of the boxes in an item. */
function idsIn(item: Item): number[] {
  return item.kind === 'box' ? [item.id] : item.items.flatMap(idsIn);
}

function place(items: readonly Item[], edges: readonly Edge[], direction: Direction): Placed {
  const holder = new Map(items.flatMap((item, i) => idsIn(item).map((id) => [id, i] as const)));
  const inner = items.map((item) =>
    item.kind === 'frame' ? place(item.items, edges, direction) : undefined,
  );
  const { before, after } = insets(direction);
  const sizes = items.map((item, i): Size => {
    const within = inner[i]?.size;
    if (item.kind === 'box' || within === undefined) return boxSize(item as Box, direction);
    const label = textWidth(item.label, TEXT, false) + 2 * FRAME;
    const u = before.u + within.u + after.u;
    const v = before.v + within.v + after.v;
    return isAcross(direction) ? { u, v: Math.max(v, label) } : { u: Math.max(u, label), v };
  });
  const loops = new Set(
    edges.filter(({ from, to }) => from === to && holder.has(from)).map(({ from }) => holder.get(from)),
  );
  const nodes: Node[] = sizes.map(({ u, v }, i) => ({ width: u + (loops.has(i) ? 2 * LOOP : 0), height: v }));
  /** From the middle of a frame to where an edge crosses it. */
  const offset = (i: number, end: string): number => {
    const along = inner[i]?.ends.get(end);
    return along === undefined ? 0 : before.u + along - sizes[i].u / 2;
  };
  const ways: Way[] = [];
  const arrows: boolean[] = [];
  const ports = new Map<string, number>();
  const portOf = (name: string, where: 'first' | 'last'): number => {
    let port = ports.get(name);
    if (port === undefined) {
      ports.set(name, (port = nodes.length));
      nodes.push({ width: 2, height: 0, at: where });
    }
    return port;
  };
  const seen = new Set<string>();
  for (const { from, to } of edges) {
    const [a, b] = [holder.get(from), holder.get(to)];
    if (a === undefined && b === undefined) continue;
    if (a === b && items[a as number].kind === 'frame') continue;
    const [leaves, reaches] = [`from ${from}`, `to ${to}`];
    const start = a ?? portOf(reaches, 'first');
    const end = b ?? portOf(leaves, 'last');
    // Edges that share a way through a frame are one there.
    const key = `${start} ${end} ${a === undefined ? '' : offset(a, leaves)} ${b === undefined ? '' : offset(b, reaches)}`;
    if (seen.has(key)) continue;
    seen.add(key);
    ways.push([
      start,
      end,
      a === undefined ? 0 : offset(a, leaves),
      b === undefined ? 0 : offset(b, reaches),
    ]);
    arrows.push(b !== undefined && items[b].kind === 'box');
  }
  const layout: Layout = layOut(nodes, ways);
  return {
    size: { u: layout.width, v: layout.height },
    items: items.map((item, i) => ({
      item,
      inner: inner[i],
      size: sizes[i],
      u: layout.centers[i].x - sizes[i].u / 2,
      v: layout.centers[i].y - sizes[i].v / 2,
    })),
    paths: layout.paths.map((points, i) => {
      const [a, b] = ways[i];
      if (a !== b) return { points, arrow: arrows[i], loop: false };
      const { x, y } = layout.centers[a];
      return { points: [{ x: x + sizes[a].u / 2, y }], arrow: true, loop: true };
    }),
    ends: new Map([...ports].map(([name, i]) => [name, layout.centers[i].x])),
  };
}

class Painter {
  readonly parts: string[] = [];
  readonly #direction: Direction;
  readonly #width: number;
  readonly #height: number;

  constructor(direction: Direction, { u, v }: Size) {
    this.#direction = direction;
    [this.#width, this.#height] = isAcross(direction) ? [v, u] : [u, v];
  }

  #at({ x: u, y: v }: Point): Point {
    const [x, y] = isAcross(this.#direction) ? [v, u] : [u, v];
    const isMirrored = this.#direction === 'RL';
    const isTurned = this.#direction === 'BT';
    return { x: isMirrored ? this.#width - x : x, y: isTurned ? this.#height - y : y };
  }
  #text(point: Point): string {
    const { x, y } = this.#at(point);
    return `${round(x)},${round(y)}`;
  }

  /** @param u where it begins, as `v` */
  draw({ items, paths }: Placed, u: number, v: number): void {
    for (const { item, inner, size, ...place } of items) {
      const corner = { x: u + place.u, y: v + place.v };
      const a = this.#at(corner);
      const b = this.#at({ x: corner.x + size.u, y: corner.y + size.v });
      const [x, y] = [Math.min(a.x, b.x), Math.min(a.y, b.y)];
      const [width, height] = [Math.abs(a.x - b.x), Math.abs(a.y - b.y)];
      if (item.kind === 'box') this.parts.push(boxSvg(item, x, y, width));
      else {
        this.parts.push(
          `<rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" rx="4" fill="#000" fill-opacity="0.03" stroke="#666" stroke-dasharray="5 4"/>`,
          `<text x="${round(x + 8)}" y="${round(y + 17)}" font-size="${TEXT}" fill="#444">${escaped(item.label)}</text>`,
        );
        this.#frame(inner as Placed, corner, size);
      }
    }
    for (const { points, arrow, loop } of paths) {
      const moved = points.map((p) => ({ x: p.x + u, y: p.y + v }));
      if (loop) this.#loop(moved[0]);
      else {
        this.#path(moved);
        const last = moved.at(-1) as Point;
        if (arrow) this.#arrow(last, last.y - moved[0].y);
      }
    }
  }

  #frame(inner: Placed, corner: Point, size: Size): void {
    const { before } = insets(this.#direction);
    const start = { x: corner.x + before.u, y: corner.y + before.v };
    this.draw(inner, start.x, start.y);
    // From the frame to where the edges begin and end inside.
    for (const [name, along] of inner.ends) {
      const x = start.x + along;
      if (name.startsWith('to '))
        this.#path([
          { x, y: corner.y },
          { x, y: start.y },
        ]);
      else
        this.#path([
          { x, y: start.y + inner.size.v },
          { x, y: corner.y + size.v },
        ]);
    }
  }

  #path(points: readonly Point[]): void {
    const d = points.map((p, i) => {
      const before = points[i - 1];
      if (before === undefined) return `M${this.#text(p)}`;
      if (Math.abs(before.x - p.x) < 0.05) return `L${this.#text(p)}`;
      const y = (before.y + p.y) / 2;
      return `C${this.#text({ x: before.x, y })} ${this.#text({ x: p.x, y })} ${this.#text(p)}`;
    });
    this.parts.push(`<path d="${d.join(' ')}" fill="none" stroke="black"/>`);
  }

  /** @param down more than 0 where it points to the next row */
  #arrow({ x, y }: Point, down: number): void {
    const back = y - Math.sign(down || 1) * ARROW;
    const corners = [
      { x, y },
      { x: x - ARROW / 2, y: back },
      { x: x + ARROW / 2, y: back },
    ];
    this.parts.push(`<polygon points="${corners.map((p) => this.#text(p)).join(' ')}"/>`);
  }

  /** Out of the side of a box and into it again. */
  #loop({ x, y }: Point): void {
    const [above, below, out] = [y - 8, y + 8, x + LOOP];
    const d = `M${this.#text({ x, y: above })} C${this.#text({ x: out, y: above - 6 })} ${this.#text({ x: out, y: below + 6 })} ${this.#text({ x, y: below })}`;
    const tip = [
      { x, y: below },
      { x: x + ARROW, y: below - 1 },
      { x: x + ARROW - 3, y: below + 7 },
    ];
    this.parts.push(
      `<path d="${d}" fill="none" stroke="black"/>`,
      `<polygon points="${tip.map((p) => this.#text(p)).join(' ')}"/>`,
    );
  }
}

const cellWidth = ({ label, value }: Cell, size: number): number =>
  textWidth(label, size, false) + textWidth(value, size, true) + 2 * PADDING;

function boxWidth({ title, activation, cells }: Box): number {
  return Math.max(
    cellWidth(title, TITLE),
    activation === undefined ? 0 : cellWidth(activation, TEXT),
    cells.reduce((sum, cell) => sum + cellWidth(cell, TEXT), 0),
  );
}
function boxSize(box: Box, direction: Direction): Size {
  const width = boxWidth(box);
  const height = ROW * (1 + (box.activation === undefined ? 0 : 1) + (box.cells.length === 0 ? 0 : 1));
  return isAcross(direction) ? { u: height, v: width } : { u: width, v: height };
}

function boxSvg({ title, activation, cells }: Box, x: number, y: number, width: number): string {
  const parts: string[] = [];
  let top = y;
  const row = (all: readonly Cell[], size: number, fill: string): void => {
    // What is left over goes to all cells.
    const spare = (width - all.reduce((sum, cell) => sum + cellWidth(cell, size), 0)) / all.length;
    let left = x;
    for (const cell of all) {
      const own = cellWidth(cell, size) + spare;
      const colour = cell.trainable === undefined ? fill : cell.trainable ? 'forestgreen' : 'firebrick';
      const bold = `<tspan font-weight="bold">${escaped(cell.value)}</tspan>`;
      // The name of a layer comes before its class, other values behind what they are of.
      const text = fill === 'black' ? bold + escaped(cell.label) : escaped(cell.label) + bold;
      parts.push(
        `<rect x="${round(left)}" y="${round(top)}" width="${round(own)}" height="${ROW}" fill="${colour}" stroke="black"/>`,
        `<text x="${round(left + own / 2)}" y="${round(top + ROW / 2 + size * 0.35)}" font-size="${size}" text-anchor="middle" fill="${colour === 'white' ? 'black' : 'white'}" xml:space="preserve">${text}</text>`,
      );
      left += own;
    }
    top += ROW;
  };
  row([title], TITLE, 'black');
  if (activation !== undefined) row([activation], TEXT, 'white');
  if (cells.length > 0) row(cells, TEXT, 'white');
  return parts.join('\n');
}
