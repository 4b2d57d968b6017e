// A layered layout: nodes in rows, each below those that lead to it, in an order with few crossings.

export interface Node {
  readonly width: number;
  readonly height: number;
  /** Of a node that stands for an end outside: the first or the last row. */
  readonly at?: 'first' | 'last';
}
export interface Point {
  readonly x: number;
  readonly y: number;
}
export interface Layout {
  readonly width: number;
  readonly height: number;
  /** The middles of the nodes. */
  readonly centers: readonly Point[];
  /** For each edge the points that it goes through: by turns it leaves a row and reaches the next one. */
  readonly paths: readonly (readonly Point[])[];
}

const BETWEEN = 28;
const AROUND_EDGE = 14;
const ROW_GAP = 44;
/** How far edges that lead back are beside the others. */
const ASIDE = 18;
const SWEEPS = 12;
const ALIGNMENTS = 60;

interface Slot {
  readonly width: number;
  readonly height: number;
  readonly isEdge: boolean;
  readonly above: number[];
  readonly below: number[];
}

/** From one node to another, by their indices, and where it leaves and reaches them: how far from their middles. */
export type Way = readonly [from: number, to: number, leaves?: number, reaches?: number];

/** @param edges those that lead back are drawn from below to above */
export function layOut(nodes: readonly Node[], edges: readonly Way[]): Layout {
  const back = backEdges(nodes.length, edges);
  const ahead = edges.map(([a, b, from = 0, to = 0], i) =>
    back.has(i) ? ([b, a, to + ASIDE, from + ASIDE] as const) : ([a, b, from, to] as const),
  );
  const ranks = ranksOf(nodes, ahead);
  const slots: Slot[] = nodes.map(({ width, height }) => ({
    width,
    height,
    isEdge: false,
    above: [],
    below: [],
  }));
  const rows: number[][] = Array.from({ length: Math.max(0, ...ranks) + 1 }, () => []);
  ranks.forEach((rank, i) => rows[rank].push(i));
  // Long edges have a place in each row on their way.
  const ways = ahead.map(([a, b]) => {
    const way = [a];
    for (let rank = ranks[a] + 1; rank < ranks[b]; rank++) {
      rows[rank].push(slots.length);
      way.push(slots.length);
      slots.push({ width: 2, height: 0, isEdge: true, above: [], below: [] });
    }
    if (a !== b) way.push(b);
    for (let i = 1; i < way.length; i++) {
      slots[way[i - 1]].below.push(way[i]);
      slots[way[i]].above.push(way[i - 1]);
    }
    return way;
  });
  order(rows, slots);
  const xs = positions(rows, slots);
  const heights = rows.map((row) => Math.max(0, ...row.map((i) => slots[i].height)));
  const tops: number[] = [];
  let y = 0;
  heights.forEach((height, i) => {
    tops.push(y);
    y += height + (i + 1 < heights.length ? ROW_GAP : 0);
  });
  const rowOf = new Map(rows.flatMap((row, r) => row.map((i) => [i, r] as const)));
  const middle = (i: number): number => {
    const r = rowOf.get(i) as number;
    return tops[r] + heights[r] / 2;
  };
  const paths = ways.map((way, e) => {
    const [, , leaves, reaches] = ahead[e];
    const points = way.flatMap((i, k): Point[] => {
      const r = rowOf.get(i) as number;
      const half = slots[i].height / 2;
      const [top, bottom] = [tops[r], tops[r] + heights[r]];
      // A box may be lower than its row; beside it an edge goes straight on.
      if (k === 0) return [middle(i) + half, bottom].map((to) => ({ x: xs[i] + leaves, y: to }));
      if (k === way.length - 1) return [top, middle(i) - half].map((to) => ({ x: xs[i] + reaches, y: to }));
      return [top, bottom].map((to) => ({ x: xs[i], y: to }));
    });
    return back.has(e) ? points.reverse() : points;
  });
  return {
    width: Math.max(0, ...slots.map((slot, i) => xs[i] + slot.width / 2)),
    height: y,
    centers: nodes.map((_, i) => ({ x: xs[i], y: middle(i) })),
    paths,
  };
}

/** The edges that close circles. */
function backEdges(count: number, edges: readonly (readonly [number, number, ...unknown[]])[]): Set<number> {
  const out: (readonly [to: number, edge: number])[][] = Array.from({ length: count }, () => []);
  edges.forEach(([a, b], i) => out[a].push([b, i]));
  const found = new Set<number>();
  const state = new Uint8Array(count);
  const visit = (start: number): void => {
    const path: { readonly node: number; next: number }[] = [{ node: start, next: 0 }];
    state[start] = 1;
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const step = out[top.node][top.next++];
      if (step === undefined) {
        state[top.node] = 2;
        path.pop();
      } else if (state[step[0]] === 1) found.add(step[1]);
      else if (state[step[0]] === 0) {
        state[step[0]] = 1;
        path.push({ node: step[0], next: 0 });
      }
    }
  };
  for (let i = 0; i < count; i++) if (state[i] === 0) visit(i);
  return found;
}

/** Rows by the longest way from the start; what nothing leads to is just above what it leads to. */
function ranksOf(
  nodes: readonly Node[],
  edges: readonly (readonly [number, number, ...unknown[]])[],
): number[] {
  const ranks = nodes.map(() => 0);
  const real = edges.filter(([a, b]) => a !== b);
  const before = nodes.map((): number => 0);
  for (const [, b] of real) before[b]++;
  const below = nodes.map((): number[] => []);
  for (const [a, b] of real) below[a].push(b);
  const waiting = [...before];
  const ready = nodes.flatMap((_, i) => (waiting[i] === 0 ? [i] : []));
  const sorted: number[] = [];
  for (let i = ready.shift(); i !== undefined; i = ready.shift()) {
    sorted.push(i);
    for (const b of below[i]) {
      // Behind an end outside comes another row.
      ranks[b] = Math.max(ranks[b], ranks[i] + 1);
      if (--waiting[b] === 0) ready.push(b);
    }
  }
  const hasFirst = nodes.some((node) => node.at === 'first');
  for (const i of sorted.reverse()) {
    if (before[i] > 0 || below[i].length === 0 || nodes[i].at === 'first') continue;
    ranks[i] = Math.max(ranks[i], Math.min(...below[i].map((b) => ranks[b])) - 1);
  }
  // Only ends outside are in their rows.
  if (hasFirst && nodes.some((node, i) => node.at === undefined && ranks[i] === 0))
    nodes.forEach((node, i) => {
      if (node.at !== 'first') ranks[i]++;
    });
  const last = Math.max(0, ...ranks);
  const lowest = Math.max(0, ...ranks.filter((_, i) => nodes[i].at !== 'last'));
  nodes.forEach((node, i) => {
    if (node.at === 'last') ranks[i] = Math.max(last, lowest + 1);
  });
  return ranks;
}

/** Puts each row in an order in which edges cross as little as can be had easily. */
function order(rows: number[][], slots: readonly Slot[]): void {
  let best = rows.map((row) => [...row]);
  let fewest = crossings(rows, slots);
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep++) {
    const down = sweep % 2 === 0;
    for (const r of down ? rows.keys() : [...rows.keys()].reverse()) {
      const fixed = rows[down ? r - 1 : r + 1];
      if (fixed === undefined) continue;
      const place = new Map(fixed.map((i, at) => [i, at]));
      const mean = new Map(
        rows[r].map((i, at) => {
          const near = (down ? slots[i].above : slots[i].below).map((j) => place.get(j) as number);
          return [i, near.length === 0 ? at : near.reduce((a, b) => a + b, 0) / near.length] as const;
        }),
      );
      rows[r].sort((a, b) => (mean.get(a) as number) - (mean.get(b) as number));
    }
    const now = crossings(rows, slots);
    if (now >= fewest) continue;
    fewest = now;
    best = rows.map((row) => [...row]);
  }
  best.forEach((row, r) => {
    rows[r] = row;
  });
}

function crossings(rows: readonly (readonly number[])[], slots: readonly Slot[]): number {
  let count = 0;
  rows.slice(1).forEach((row, r) => {
    const place = new Map(row.map((i, at) => [i, at]));
    const ends = rows[r].flatMap((i) =>
      slots[i].below.map((j) => place.get(j) as number).sort((x, y) => x - y),
    );
    count += inversions(ends);
  });
  return count;
}

/** How many pairs are in the wrong order; sorts them. */
function inversions(numbers: number[]): number {
  if (numbers.length < 2) return 0;
  const left = numbers.slice(0, numbers.length >> 1);
  const right = numbers.slice(left.length);
  let count = inversions(left) + inversions(right);
  let [i, j] = [0, 0];
  for (let k = 0; k < numbers.length; k++) {
    if (j < right.length && (i === left.length || right[j] < left[i])) {
      numbers[k] = right[j++];
      count += left.length - i;
    } else numbers[k] = left[i++];
  }
  return count;
}

/** Where the middles are: near those of the neighbours above and below, without overlaps. */
function positions(rows: readonly (readonly number[])[], slots: readonly Slot[]): number[] {
  const xs = slots.map(() => 0);
  const apart = (a: number, b: number): number =>
    (slots[a].width + slots[b].width) / 2 + (slots[a].isEdge || slots[b].isEdge ? AROUND_EDGE : BETWEEN);
  // Each row in the middle at first.
  for (const row of rows) {
    row.forEach((i, at) => {
      if (at > 0) xs[i] = xs[row[at - 1]] + apart(row[at - 1], i);
    });
    const middle = xs[row[row.length - 1]] / 2;
    for (const i of row) xs[i] -= middle;
  }
  for (let sweep = 0; sweep < ALIGNMENTS; sweep++) {
    const down = sweep % 2 === 0;
    for (const row of down ? rows : [...rows].reverse()) {
      const wanted = row.map((i) => {
        const { above, below } = slots[i];
        const both = sweep >= ALIGNMENTS / 2;
        const near = both ? [...above, ...below] : down ? above : below;
        return near.length === 0 ? xs[i] : near.reduce((sum, j) => sum + xs[j], 0) / near.length;
      });
      const gaps = row.map((i, at) => (at === 0 ? 0 : apart(row[at - 1], i)));
      placed(wanted, gaps).forEach((x, at) => {
        xs[row[at]] = x;
      });
    }
  }
  const left = Math.min(...slots.map((slot, i) => xs[i] - slot.width / 2));
  return xs.map((x) => x - left);
}

/** The places nearest to those that are wanted, at least `gaps` apart: blocks that touch move together to their mean. */
function placed(wanted: readonly number[], gaps: readonly number[]): number[] {
  const offsets: number[] = [];
  gaps.forEach((gap, i) => {
    offsets.push((offsets[i - 1] ?? 0) + gap);
  });
  const blocks: { sum: number; count: number }[] = [];
  wanted.forEach((x, i) => {
    let block = { sum: x - offsets[i], count: 1 };
    for (let last = blocks.at(-1); last !== undefined; last = blocks.at(-1)) {
      if (last.sum / last.count <= block.sum / block.count) break;
      blocks.pop();
      block = { sum: last.sum + block.sum, count: last.count + block.count };
    }
    blocks.push(block);
  });
  const means = blocks.flatMap(({ sum, count }) => new Array<number>(count).fill(sum / count));
  return means.map((x, i) => x + offsets[i]);
}
