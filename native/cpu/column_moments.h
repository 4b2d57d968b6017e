// Mean and variance of the columns of matrices, for batch normalization and Moments.
//
// The rows are cut into chunks whose borders depend on the shape alone. Each chunk takes its mean and then the squares around
// that mean while it is in cache; chunks are combined in order, in double, as Chan, Golub and LeVeque (1979) combine groups.
#pragma once
#include "isa.h"

EAGRE_BEGIN
namespace {

constexpr int64_t kChunk = 1 << 14;  // elements of a chunk, about
constexpr int64_t kWide = 64;        // a row of fewer channels is taken several at a time

// Columns of a matrix whose rows lie `pitch` elements apart. Rows of few channels are worked on `together` at a time: arrays by
// column repeat the channels that often.
struct Layout {
  int64_t rows, channels, pitch, together, width, step, chunk_rows, chunks;
  Layout(int64_t r, int64_t c) : Layout(r, c, c) {}
  Layout(int64_t r, int64_t c, int64_t from_row_to_row) : rows(r), channels(c), pitch(from_row_to_row) {
    together = c < kWide && pitch == c ? kWide / c : 1;
    width = together * c;
    step = together * pitch;
    chunk_rows = (kChunk / c / together + 1) * together;
    chunks = (r + chunk_rows - 1) / chunk_rows;
  }
  int64_t rows_of(int64_t chunk) const {
    const int64_t row = chunk * chunk_rows;
    return rows - row < chunk_rows ? rows - row : chunk_rows;
  }
};

// f(first element, count) for each group of rows, where rows past the end of whole groups fill only the first columns of one more.
template <class F> inline void each_group(const Layout& l, int64_t row, int64_t rows, F f) {
  int64_t at = row * l.pitch, left = rows;
  for (; left >= l.together; left -= l.together, at += l.step) f(at, l.width);
  if (left > 0) f(at, left * l.channels);
}
// The same with f4 for four whole groups at a time as long as there are so many.
template <class F4, class F> inline void each_four(const Layout& l, int64_t row, int64_t rows, F4 f4, F f) {
  const int64_t fours = rows / (4 * l.together);
  for (int64_t k = 0; k < fours; k++) f4(row * l.pitch + 4 * k * l.step, l.width);
  const int64_t done = fours * 4 * l.together;
  each_group(l, row + done, rows - done, f);
}

template <class T> inline void clear(T* acc, int64_t n) {
  for (int64_t j = 0; j < n; j++) acc[j] = 0;
}
// The channels' sums from those of the repeated columns.
template <class T> inline void fold(const Layout& l, T* acc) {
  for (int64_t k = l.channels; k < l.width; k += l.channels) {
    for (int64_t c = 0; c < l.channels; c++) acc[c] += acc[k + c];
  }
}
template <class T> inline void repeat(const Layout& l, T* values) {
  for (int64_t j = l.channels; j < l.width; j++) values[j] = values[j - l.channels];
}

// One chunk's means to out[0, c), its sums of squares around them to out[c, 2c). `memory` holds 3 · l.width elements.
template <class T> inline void chunk_moments(const T* x, const Layout& l, int64_t chunk, T* memory, double* out) {
  T *sum = memory, *center = sum + l.width, *square = center + l.width;
  const int64_t c = l.channels, row = chunk * l.chunk_rows, rows = l.rows_of(chunk);
  clear(sum, l.width);
  each_four(
      l, row, rows,
      [=, &l](int64_t at, int64_t n) {
        const T *p = x + at, *q = p + l.step, *r = q + l.step, *s = r + l.step;
        T* __restrict to = sum;
        for (int64_t j = 0; j < n; j++) to[j] += (p[j] + q[j]) + (r[j] + s[j]);
      },
      [=](int64_t at, int64_t n) {
        const T* from = x + at;
        T* __restrict to = sum;
        for (int64_t j = 0; j < n; j++) to[j] += from[j];
      });
  fold(l, sum);
  for (int64_t j = 0; j < c; j++) center[j] = sum[j] / static_cast<T>(rows);
  repeat(l, center);
  clear(sum, l.width);
  clear(square, l.width);
  each_four(
      l, row, rows,
      [=, &l](int64_t at, int64_t n) {
        const T *p = x + at, *q = p + l.step, *r = q + l.step, *s = r + l.step;
        const T* middle = center;
        T *__restrict to = square, *__restrict rest = sum;
        EAGRE_INDEPENDENT
        for (int64_t j = 0; j < n; j++) {
          const T d = p[j] - middle[j], e = q[j] - middle[j], f = r[j] - middle[j], g = s[j] - middle[j];
          rest[j] += (d + e) + (f + g);
          to[j] += (d * d + e * e) + (f * f + g * g);
        }
      },
      [=](int64_t at, int64_t n) {
        const T* from = x + at;
        T *__restrict to = square, *__restrict rest = sum;
        for (int64_t j = 0; j < n; j++) {
          T d = from[j] - center[j];
          rest[j] += d;
          to[j] += d * d;
        }
      });
  fold(l, sum);
  fold(l, square);
  // What is left around a rounded mean corrects it; around an infinite one nothing is.
  for (int64_t j = 0; j < c; j++) {
    const double left = static_cast<double>(sum[j]) / static_cast<double>(rows);
    out[j] = static_cast<double>(center[j]) + (left == left ? left : 0);
    out[c + j] = static_cast<double>(square[j]) - left * static_cast<double>(sum[j]);
  }
}

// The chunks' means and squares, one behind the other, into those of all rows: total[0, c) and total[c, 2c).
inline void combine_chunks(const Layout& l, const double* partial, double* total) {
  const int64_t c = l.channels;
  double* spread = total + c;
  clear(total, 2 * c);
  for (int64_t k = 0; k < l.chunks; k++) {
    const double *mean = partial + k * 2 * c, share = static_cast<double>(l.rows_of(k)) / static_cast<double>(l.rows);
    for (int64_t j = 0; j < c; j++) total[j] += mean[j] * share;
  }
  for (int64_t k = 0; k < l.chunks; k++) {
    const double *mean = partial + k * 2 * c, *square = mean + c, rows = static_cast<double>(l.rows_of(k));
    for (int64_t j = 0; j < c; j++) {
      const double delta = mean[j] - total[j];
      spread[j] += square[j] + delta * delta * rows;
    }
  }
}

}  // namespace
EAGRE_END
