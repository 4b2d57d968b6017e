// Reductions of columns in one launch: what pieces of rows have left is merged by the workgroup that ends last. Only GPUs of NVIDIA see what other workgroups wrote.
import type { DType } from '@eagre/backend';
import {
  type ColumnReduction,
  columnEntry,
  columnFields,
  columnLanes,
  columnMemory,
  columnResults,
  columnRows,
  columnType,
  launchColumns,
  type Pieces,
  piecesOf,
} from '../kernels/columns.ts';
import {
  COUNTERS,
  type Dispatch,
  type GpuProgram,
  head,
  MOST_COUNTERS,
  programOf,
} from '../kernels/kernel.ts';
import {
  type ColumnSums,
  columnMoments,
  columnSums,
  levelOf,
  type Made,
  momentText,
  perLane,
  storeMoments,
  sumText,
} from '../kernels/norms.ts';

/** So many pieces have one result, and so many results have the last one: threads load all of them at once. */
const TOGETHER = 32;

/** A reduction whose workgroups leave numbers for a piece, of which the last ones make those of several pieces, and at last the results. */
interface JoinedReduction extends Omit<ColumnReduction, 'finish'> {
  readonly lanes: 1 | 2;
  /** Names of the numbers that are left of a lane. */
  readonly left: (lane: number) => readonly string[];
  /** Statements that declare them, of the variables `s`k of `count` rows, behind `setUp` or `setUpMerge`. */
  readonly leave: string;
  /** Statements before the first of some pieces is merged. @param of a number of that one, as an expression */
  readonly setUpMerge: (of: (number: number, lane: number) => string) => string;
  /** Statements that add a piece of `rows`k rows to the variables, of its numbers. */
  readonly merge: (k: number, of: (number: number, lane: number) => string) => string;
  /** Statements that store the results, of the numbers that are left. */
  readonly store: string;
}

/**
 * Nobody knows which workgroup ends last, but it merges in the order of the pieces, so that results are the same in each run. Each of them makes what it wrote
 * visible before it counts itself, and reads what the others wrote behind their count; the last one sets the count back for the next launch, which begins when
 * this one has ended.
 */
function joinedReduction(reduction: JoinedReduction): GpuProgram {
  const { buffers, params = {}, type, states, setUp = '', lanes, left, leave } = reduction;
  const { setUpMerge, merge, store } = reduction;
  const numbers = left(0).length;
  const startAgain = states.map(({ start }, k) => `s${k} = ${start};`).join(' ');
  const place = (number: number, lane: number): string =>
    `${number * lanes}u * p.inner + column * ${lanes}u + ${lane}u`;
  const put = (row: string): string => `let to = (above + ${row}) * stride;
    ${perLane(lanes, (lane) =>
      left(lane)
        .map((name, i) => `parts[to + ${place(i, lane)}] = ${name};`)
        .join(' '),
    )}`;
  const first = (number: number, lane: number): string => `parts[from + ${place(number, lane)}]`;
  const names = (k: number) => (number: number, lane: number) => `x${k}_${number}_${lane}`;
  const all = Array.from({ length: numbers * lanes }, (_, i) => [Math.floor(i / lanes), i % lanes] as const);
  const merged = columnRows(
    {
      setUp: setUpMerge(first),
      load: (k) =>
        all.map(([i, lane]) => `let ${names(k)(i, lane)} = parts[at${k} + ${place(i, lane)}];`).join(' '),
      use: (k) => `let rows${k} = f32(min(each, total - r${k} * each)); ${merge(k, names(k))}`,
    },
    '0u',
    'many',
    (row) => `from + ${row} * stride`,
  );
  return programOf(`${head({ ...buffers, parts: 'mut f32', counters: 'mut atomic<u32>' }, { ...columnFields, ...params })}
${columnMemory(reduction)}
var<workgroup> ended: array<u32, 1>;
${columnEntry(`${states.map(({ start }, k) => `var s${k}: ${type} = ${start};`).join(' ')}
    let cluster = part / ${TOGETHER}u; let clusters = (p.pieces + ${TOGETHER - 1}u) / ${TOGETHER}u;
    let above = plane * (p.pieces + clusters); let stride = ${numbers * lanes}u * p.inner;
    ${columnRows(reduction)}
    ${columnResults(reduction, `${setUp} let count = f32(last - first); ${leave} ${put('part')}`)}
    var row = cluster * ${TOGETHER}u; var many = min(${TOGETHER}u, p.pieces - row); var each = p.piece; var total = p.n - row * each;
    var counter = (plane * across + block % across) * (clusters + 1u) + cluster;
    for (var level = 0u; level < 2u; level++) {
      workgroupBarrier();
      if (t == 0u) {
        deviceFence();
        let isLast = atomicAdd(&counters[counter], 1u) + 1u == many;
        if (isLast) { atomicAdd(&counters[counter], 0u - many); }
        deviceFence();
        ended[0] = select(0u, 1u, isLast);
      }
      workgroupBarrier();
      if (ended[0] == 0u) { return; }
      let from = (above + row) * stride;
      ${startAgain}
      ${merged}
      ${columnResults(
        reduction,
        `${setUpMerge(first)} let count = f32(min(many * each, total)); ${leave}
        if (level == 1u || clusters == 1u) { ${store} } else { ${put('p.pieces + cluster')} }`,
      )}
      if (clusters == 1u) { return; }
      row = p.pieces; many = clusters; each = each * ${TOGETHER}u; total = p.n; counter = counter + clusters - cluster;
    }`)}`);
}

/** Whether there are pieces to merge, and counters for them. */
function isJoined({ columns: { outer, inner }, shift, pieces }: Pieces): boolean {
  const counters = outer * Math.ceil(inner / 2 ** shift) * (Math.ceil(pieces / TOGETHER) + 1);
  return pieces > 1 && counters <= MOST_COUNTERS;
}

/** The bytes of what is left of the pieces of columns. */
const partBytes = ({ columns: { outer, inner }, pieces }: Pieces, numbers: number): number =>
  4 * numbers * outer * inner * (pieces + Math.ceil(pieces / TOGETHER));

/** `columnMoments` in one launch. */
export function joinedMoments(...given: Parameters<typeof columnMoments>): Dispatch[] {
  const [x, dtype, columns, made, extra] = given;
  const { outer, n, inner } = columns;
  const lanes = columnLanes(dtype, inner);
  const cut = piecesOf({ outer, n, inner: inner / lanes }, 'reduce');
  if (!isJoined(cut)) return columnMoments(...given);
  const program = momentProgram(dtype, lanes, made);
  const parts = extra(partBytes(cut, 2 * lanes));
  return [launchColumns(program, [x, ...made.operands, parts, COUNTERS], cut)];
}

function momentProgram(dtype: DType, lanes: 1 | 2, made: Made): GpuProgram {
  const { moments, ...reduction } = momentText(dtype, lanes);
  return joinedReduction({
    ...reduction,
    buffers: { x: columnType(dtype, lanes), ...made.buffers },
    lanes,
    left: (lane) => [`center${lane}`, `square${lane}`],
    leave: moments,
    setUpMerge: (of) =>
      perLane(
        lanes,
        (lane) => `let start${lane} = ${of(0, lane)}; ${levelOf(`level${lane}`, `start${lane}`)}`,
      ),
    merge: (k, of) =>
      perLane(
        lanes,
        (
          lane,
        ) => `let d${k}_${lane} = ${of(0, lane)} - level${lane}; let w${k}_${lane} = d${k}_${lane} * rows${k};
        s${2 * lane} = s${2 * lane} + w${k}_${lane}; s${2 * lane + 1} = s${2 * lane + 1} + fma(w${k}_${lane}, d${k}_${lane}, ${of(1, lane)});`,
      ),
    store: perLane(lanes, (lane, at) =>
      storeMoments(made, `plane * p.inner * ${lanes}u + ${at}`, 'count', lane),
    ),
  });
}

/** `columnSums` in one launch. */
export function joinedSums(given: ColumnSums, extra: (bytes: number) => number): Dispatch[] {
  const { n, inner, lanes, inputs, operands, params = {}, sums, finish = (s) => s } = given;
  const cut = piecesOf({ outer: 1, n, inner: inner / lanes }, 'reduce');
  if (!isJoined(cut)) return columnSums(given, extra);
  const { reduction, buffers, places, nameOf, add, store } = sumText(given);
  const program = joinedReduction({
    ...reduction,
    buffers: { ...inputs, ...buffers },
    lanes,
    left: (lane) => sums.map((_, number) => nameOf(number, lane)),
    leave: '',
    setUpMerge: () => '',
    merge: (_, of) => add(of),
    store: perLane(lanes, (lane, at) =>
      sums.map((_, number) => store(number, finish(nameOf(number, lane), number, at), at)).join(' '),
    ),
  });
  const parts = extra(partBytes(cut, sums.length * lanes));
  return [launchColumns(program, [...operands, ...places, parts, COUNTERS], cut, Object.values(params))];
}
