/**
 * TensorBoard's histogram of values: rows `[left, right, count]` of equally wide buckets from the least to the greatest value. Where all
 * values are equal, the last bucket has them all; without values all rows are zero. The edges of values that are not finite are not
 * either.
 * @param count the number of buckets.
 * @returns the rows, one after another.
 */
export function histogramRows(values: ArrayLike<number | bigint>, count: number): Float64Array {
  const rows = new Float64Array(3 * count);
  if (values.length === 0 || count === 0) return rows;
  const [low, high] = extremes(values);
  if (low === high) {
    for (let i = 0; i < count; i++) rows.set([low, low, 0], 3 * i);
    rows[3 * count - 1] = values.length;
    return rows;
  }
  const width = (high - low) / count;
  const last = count - 1;
  for (let i = 0; i < values.length; i++) {
    const bucket = Math.min(Math.floor((Number(values[i]) - low) / width), last);
    if (bucket >= 0) rows[3 * bucket + 2]++;
  }
  const edge = (i: number): number => (i === count ? high : low + i * width);
  for (let i = 0; i < count; i++) {
    rows[3 * i] = edge(i);
    rows[3 * i + 1] = edge(i + 1);
  }
  return rows;
}

function extremes(values: ArrayLike<number | bigint>): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < values.length; i++) {
    const v = Number(values[i]);
    if (Number.isNaN(v)) return [v, v + 1];
    if (v < low) low = v;
    if (v > high) high = v;
  }
  return [low, high];
}
