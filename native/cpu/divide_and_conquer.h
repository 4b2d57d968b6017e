// The singular value decomposition of two diagonals by divide and conquer (M. Gu and S. C. Eisenstat, "A Divide-and-Conquer Algorithm for
// the Bidiagonal SVD", 1995): a row in the middle is taken out, the parts above and below are decomposed, and what the row adds is the
// problem of secular.h, whose vectors turn those of the parts by products. Most of the work of many matrices falls away, since what the
// row hardly touches stays as it is. Parts of few rows take implicit QR steps (Golub and Kahan, 1965; the step without a shift is that of
// Demmel and Kahan, 1990). Values are computed in double and do not depend on whether vectors are; errors are small beside the largest.
#pragma once
#include <algorithm>

#include "secular.h"

EAGRE_BEGIN
namespace {

struct Rotation {
  double c, s;
};
// x and y become c · x + s · y and c · y − s · x.
template <class S> inline void turn_pair(S* x, S* y, Rotation by, int64_t count) {
  constexpr int64_t L = Lanes<S>::n;
  const auto c = broadcast(static_cast<S>(by.c)), s = broadcast(static_cast<S>(by.s));
  const auto turn = [&](auto&& get, auto&& put, int64_t i) __attribute__((always_inline)) {
    const auto own = get(x + i), other = get(y + i);
    put(x + i, fma(s, other, c * own));
    put(y + i, fma(-s, own, c * other));
  };
  using V = typename Lanes<S>::V;
  int64_t i = 0;
  for (; i + L <= count; i += L) turn([](const S* p) { return load<S>(p); }, [](S* p, V v) { store<S>(p, v); }, i);
  if (i < count) {
    const Part<S> part(count - i);
    turn([&](const S* p) { return part.load(p); }, [&](S* p, V v) { part.store(p, v); }, i);
  }
}

// Implicit QR steps of a part with few rows; vectors are rows.
struct Leaf {
  static constexpr int64_t kMost = 32, kRow = 40, kStepsPerValue = 40;  // a row is whole vectors, with place for a column more
  double d[kMost], e[kMost + 1];
  alignas(64) double right[(kMost + 1) * kRow], left[kMost * kRow];
  Rotation rights[kMost], lefts[kMost];
  int64_t n;
  bool vectors;

  // The first n values of d and of e, the last of which stands in a column more if `more`. False where the steps do not converge.
  bool decompose(bool more, double precision) {
    for (double& x : right) x = 0;
    for (double& x : left) x = 0;
    for (int64_t i = 0; i < n; i++) right[i * kRow + i] = left[i * kRow + i] = 1;
    if (more) {
      right[n * kRow + n] = 1;
      drop_column();
    }
    double largest = precision;  // the matrix itself is near 1
    for (int64_t i = 0; i < n; i++) largest = std::max({largest, std::fabs(d[i]), i + 1 < n ? std::fabs(e[i]) : 0});
    const double least = precision * largest;
    int64_t end = n - 1, left_steps = kStepsPerValue * n;
    while (end > 0) {
      if (std::fabs(e[end - 1]) <= least) {
        e[--end] = 0;
        continue;
      }
      int64_t begin = end - 1;
      while (begin > 0 && std::fabs(e[begin - 1]) > least) begin--;
      if (left_steps-- == 0) return false;
      step(begin, end, least);
      turn_rows(right, rights, begin, end);
      if (vectors) turn_rows(left, lefts, begin, end);
    }
    for (int64_t i = 0; i < n; i++) {
      if (d[i] >= 0) continue;
      d[i] = -d[i];
      for (int64_t j = 0; j < n; j++) left[i * kRow + j] = -left[i * kRow + j];
    }
    return true;
  }

 private:
  // (c, s) that takes (f, g) to (r, 0). Squares of what is nothing beside the matrix would lose their bits.
  static double rotation(double f, double g, Rotation& of) {
    const double r = std::sqrt(f * f + g * g);
    if (r < 1e-140) {
      of = {1, 0};
      return f;
    }
    of = {f / r, g / r};
    return r;
  }
  static void turn_rows(double* rows, const Rotation* by, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) turn_pair(rows + i * kRow, rows + (i + 1) * kRow, *by++, kRow);
  }
  // What stands in the column behind the square moves up, and out.
  void drop_column() {
    double out = e[n - 1];
    e[n - 1] = 0;
    for (int64_t i = n - 1; i >= 0 && out != 0; i--) {
      Rotation by;
      d[i] = rotation(d[i], out, by);
      turn_pair(right + i * kRow, right + n * kRow, by, kRow);
      if (i == 0) break;
      out = -by.s * e[i - 1];
      e[i - 1] *= by.c;
    }
  }
  // The smaller singular value of the last two rows; 0 where it would not move the step, or a row of the block is 0.
  double shift(int64_t begin, int64_t end, double least) {
    for (int64_t i = begin; i <= end; i++) {
      if (std::fabs(d[i]) > least) continue;
      d[i] = 0;
      return 0;
    }
    // By the sum and the difference of both values, whose squares these are: near equal values keep their distance.
    const double f = std::fabs(d[end - 1]), g = e[end - 1], h = std::fabs(d[end]);
    const double of = 2 * f * h / (std::sqrt((f + h) * (f + h) + g * g) + std::sqrt((f - h) * (f - h) + g * g));
    const double ratio = of / d[begin];
    return ratio * ratio < 0x1p-53 ? 0 : of;
  }
  void step(int64_t begin, int64_t end, double least) {
    Rotation *to_right = rights, *to_left = lefts;
    const double sigma = shift(begin, end, least);
    if (sigma == 0) {
      Rotation own{1, 0}, last{1, 0};
      for (int64_t i = begin; i < end; i++) {
        const double r = rotation(d[i] * own.c, e[i], own);
        if (i > begin) e[i - 1] = last.s * r;
        d[i] = rotation(last.c * r, d[i + 1] * own.s, last);
        *to_right++ = own;
        *to_left++ = last;
      }
      const double h = d[end] * own.c;
      d[end] = h * last.c;
      e[end - 1] = h * last.s;
      return;
    }
    double f = (std::fabs(d[begin]) - sigma) * ((d[begin] < 0 ? -1 : 1) + sigma / d[begin]), g = e[begin];
    for (int64_t i = begin; i < end; i++) {
      Rotation& own = *to_right++;
      const double bulge = rotation(f, g, own);
      if (i > begin) e[i - 1] = bulge;
      f = own.c * d[i] + own.s * e[i];
      e[i] = own.c * e[i] - own.s * d[i];
      g = own.s * d[i + 1];
      d[i + 1] *= own.c;
      Rotation& other = *to_left++;
      d[i] = rotation(f, g, other);
      f = other.c * e[i] + other.s * d[i + 1];
      d[i + 1] = other.c * d[i + 1] - other.s * e[i];
      if (i + 1 < end) {
        g = other.s * e[i + 1];
        e[i + 1] *= other.c;
      }
    }
    e[end - 1] = f;
  }
};

// Of two diagonals [n, n]. A part at `at` has `size` rows, and a column more than rows if `more`; its values and left vectors are
// rows [at, at + size), its right vectors, too, and then that of the column more. Vectors of a part are 0 outside of it.
template <class S> struct DivideAndConquer {
  static constexpr double kDropped = 8;  // last bits of the largest value of a part: smaller ones of the row are dropped
  static constexpr double kEpsilon = sizeof(S) == 4 ? 0x1p-24 : 0x1p-53;
  static constexpr double kPrecision = sizeof(S) == 4 ? 0x1p-36 : 0x1p-53;

  int64_t n;
  bool vectors;
  double *d, *e;          // [n]; d becomes the values, in no order
  double *first, *last;   // [n + 1]: of right vectors
  S *left, *right;        // [n, n]: vectors, one a row
  S *turns[2], *gathered;  // [n, n]: right and left vectors of what the row adds; those that they turn
  double *z, *memory;
  int64_t *order, *kept, *dropped;
  unsigned char* half;  // where a vector is not 0

  static int64_t numbers(int64_t n) { return 3 * n * n; }
  static int64_t doubles(int64_t n) { return 3 * (n + 1) + 4 * (n + 1) + Secular::room(n) + 4 * Secular::padded(n); }
  DivideAndConquer(double* d, double* e, int64_t n, bool vectors, S* left, S* right, S* numbers, double* doubles)
      : n(n), vectors(vectors), d(d), e(e), left(left), right(right) {
    turns[0] = numbers;
    turns[1] = turns[0] + n * n;
    gathered = turns[1] + n * n;
    first = doubles;
    last = first + n + 1;
    z = last + n + 1;
    order = reinterpret_cast<int64_t*>(z + n + 1);
    kept = order + n + 1;
    dropped = kept + n + 1;
    half = reinterpret_cast<unsigned char*>(dropped + n + 1);
    memory = reinterpret_cast<double*>(half) + n + 1;
  }

  // False where it does not converge.
  __attribute__((noinline)) bool solve() {
    if (vectors) for (int64_t i = 0; i < n * n; i++) left[i] = right[i] = 0;
    return solve(0, n, false);
  }

 private:
  enum Half : unsigned char { kUpper, kBoth, kLower };

  bool solve(int64_t at, int64_t size, bool more) {
    if (size <= Leaf::kMost) return solve_leaf(at, size, more);
    const int64_t above = (size - 1) / 2, below = size - 1 - above;
    return solve(at, above, true) && solve(at + above + 1, below, more) && merge(at, above, below, more);
  }
  bool solve_leaf(int64_t at, int64_t size, bool more) {
    Leaf leaf;
    leaf.n = size;
    leaf.vectors = vectors;
    for (int64_t i = 0; i < size; i++) leaf.d[i] = d[at + i], leaf.e[i] = e[at + i];
    if (!leaf.decompose(more, kPrecision)) return false;
    const int64_t columns = size + more;
    for (int64_t i = 0; i < columns; i++) {
      const double* row = leaf.right + i * Leaf::kRow;
      first[at + i] = row[0];
      last[at + i] = row[columns - 1];
      if (i < size) d[at + i] = leaf.d[i];
      if (!vectors) continue;
      for (int64_t j = 0; j < columns; j++) right[(at + i) * n + at + j] = static_cast<S>(row[j]);
      if (i < size) for (int64_t j = 0; j < size; j++) left[(at + i) * n + at + j] = static_cast<S>(leaf.left[i * Leaf::kRow + j]);
    }
    return true;
  }

  static void turn_numbers(double& x, double& y, Rotation by) {
    const double own = x;
    x = by.c * own + by.s * y;
    y = by.c * y - by.s * own;
  }
  void turn_right(int64_t at, int64_t i, int64_t j, Rotation by, int64_t columns) {
    turn_numbers(first[at + i], first[at + j], by);
    turn_numbers(last[at + i], last[at + j], by);
    if (vectors) turn_pair(right + (at + i) * n + at, right + (at + j) * n + at, by, columns);
  }

  bool merge(int64_t at, int64_t above, int64_t below, bool more) {
    const int64_t size = above + 1 + below, columns = size + more;
    const double alpha = d[at + above], beta = e[at + above];
    // The middle row of the matrix in the parts' vectors.
    for (int64_t j = 0; j < columns; j++) {
      const bool upper = j <= above;
      z[j] = upper ? alpha * last[at + j] : beta * first[at + j];
      (upper ? last : first)[at + j] = 0;
      half[j] = upper ? kUpper : kLower;
    }
    d[at + above] = 0;
    half[above] = kBoth;
    if (vectors) left[(at + above) * n + at + above] = 1;
    if (more) {
      const double r = std::hypot(z[above], z[size]);
      if (r > 0) turn_right(at, above, size, {z[above] / r, z[size] / r}, columns);
      z[above] = r;
    }
    const int64_t count = drop(at, above, size, columns, alpha, beta);
    if (count == 1) {
      d[at + above] = std::fabs(z[above]);
      if (vectors && z[above] < 0) left[(at + above) * n + at + above] = -1;
      return true;
    }
    return turn(at, above, size, columns, count);
  }

  // What the row hardly touches, and all but one of equal values: into `dropped`. The others, from zero up: into `kept`; how many there are.
  int64_t drop(int64_t at, int64_t above, int64_t size, int64_t columns, double alpha, double beta) {
    double largest = kEpsilon;  // the matrix itself is near 1
    for (int64_t j = 0; j < size; j++) largest = std::max(largest, d[at + j]);
    const double least = kDropped * kEpsilon * std::max(largest, std::max(std::fabs(alpha), std::fabs(beta)));
    int64_t count = 0;
    for (int64_t j = 0; j < size; j++) if (j != above) order[count++] = j;
    std::sort(order, order + count, [&](int64_t i, int64_t j) { return d[at + i] != d[at + j] ? d[at + i] < d[at + j] : i < j; });
    int64_t kept_count = 1, dropped_count = 0, before = above;
    kept[0] = above;
    for (int64_t place = 0; place + 1 < size; place++) {
      const int64_t j = order[place];
      if (std::fabs(z[j]) <= least) {
        dropped[dropped_count++] = j;
        continue;
      }
      if (d[at + j] - d[at + before] > least) {
        kept[kept_count++] = before = j;
        continue;
      }
      const double r = std::hypot(z[before], z[j]);
      if (before == above) {
        // Both values are nearly 0: the left vectors may stay.
        turn_right(at, above, j, {z[above] / r, z[j] / r}, columns);
        z[above] = r;
        dropped[dropped_count++] = j;
        continue;
      }
      const Rotation by{z[j] / r, z[before] / r};
      turn_right(at, j, before, by, columns);
      if (vectors) turn_pair(left + (at + j) * n + at, left + (at + before) * n + at, by, size);
      z[j] = r;
      const double a = d[at + j], b = d[at + before];
      d[at + j] = by.c * by.c * a + by.s * by.s * b;
      d[at + before] = by.c * by.c * b + by.s * by.s * a;
      if (half[j] != half[before]) half[j] = kBoth;
      dropped[dropped_count++] = before;
      kept[kept_count - 1] = before = j;
    }
    const double nothing = least / kDropped;
    if (kept_count > 1 && std::fabs(z[above]) <= nothing) z[above] = z[above] < 0 ? -nothing : nothing;
    return kept_count;
  }

  // The `count` kept ones: values and vectors with the row. They become the first of the part, the dropped ones follow.
  bool turn(int64_t at, int64_t above, int64_t size, int64_t columns, int64_t count) {
    const int64_t step = Secular::padded(n), rest = size - count;
    Secular secular(memory, count, sizeof(S) == 4 ? kPrecision : 0);
    double *firsts = memory + Secular::room(n), *lasts = firsts + step, *new_firsts = lasts + step, *new_lasts = new_firsts + step;
    for (int64_t i = 0; i < count; i++) {
      secular.d[i] = d[at + kept[i]];
      secular.z[i] = z[kept[i]];
      firsts[i] = first[at + kept[i]];
      lasts[i] = last[at + kept[i]];
    }
    if (!secular.solve()) return false;
    // Places by halves, so that each half is turned by the vectors that are not 0 there.
    int64_t begins[4]{};
    for (int64_t i = 0; i < count; i++) begins[half[kept[i]] + 1]++;
    for (int h = 0; h < 3; h++) begins[h + 1] += begins[h];
    const int64_t lower = begins[kBoth], upper = begins[kLower];
    for (int64_t i = 0; i < count; i++) order[i] = begins[half[kept[i]]]++;
    for_large(count, count * count, Secular::kGrain, [&](int64_t begin, int64_t end) {
      double* rows = ::eagre::EAGRE_ISA::room<double>(kRowSlot, 2 * step);
      for (int64_t i = begin; i < end; i++) {
        const Secular::Norms norms = secular.vectors(i, rows, rows + step);
        new_firsts[i] = dot(rows, firsts, count) / norms.right;
        new_lasts[i] = dot(rows, lasts, count) / norms.right;
        if (!vectors) continue;
        const double by = 1 / norms.right, by_left = 1 / norms.left;
        S *to = turns[0] + i * count, *to_left = turns[1] + i * count;
        for (int64_t j = 0; j < count; j++) {
          to[order[j]] = static_cast<S>(rows[j] * by);
          to_left[order[j]] = static_cast<S>(rows[step + j] * by_left);
        }
      }
    });
    if (vectors) {
      turn_vectors(right, turns[0], at, above + 1, columns - above - 1, count, rest, lower, upper);
      turn_vectors(left, turns[1], at, above + 1, size - above - 1, count, rest, lower, upper);
    }
    // What was dropped follows.
    for (int64_t i = 0; i < rest; i++) {
      z[i] = d[at + dropped[i]];
      firsts[i] = first[at + dropped[i]];
      lasts[i] = last[at + dropped[i]];
    }
    for (int64_t i = 0; i < size; i++) {
      const bool own = i < count;
      d[at + i] = own ? secular.value(i) : z[i - count];
      first[at + i] = own ? new_firsts[i] : firsts[i - count];
      last[at + i] = own ? new_lasts[i] : lasts[i - count];
    }
    return true;
  }

  // Vectors at places [0, upper) are not 0 in the first `width` columns, those from `lower` on in the `other` columns behind.
  void turn_vectors(S* of, const S* by, int64_t at, int64_t width, int64_t other, int64_t count, int64_t rest, int64_t lower, int64_t upper) {
    S *rows = of + at * n + at, *below = gathered + upper * width, *kept_rows = below + (count - lower) * other;
    const auto copy = [](S* to, const S* from, int64_t length) { std::memcpy(to, from, static_cast<size_t>(length) * sizeof(S)); };
    for (int64_t i = 0; i < count; i++) {
      const S* row = rows + kept[i] * n;
      if (order[i] < upper) copy(gathered + order[i] * width, row, width);
      if (order[i] >= lower) copy(below + (order[i] - lower) * other, row + width, other);
    }
    for (int64_t i = 0; i < rest; i++) copy(kept_rows + i * (width + other), rows + dropped[i] * n, width + other);
    product<S>(count, width, upper, {by, count, 1, false}, {gathered, width, 1, false}, rows, n);
    product<S>(count, other, count - lower, {by + lower, count, 1, false}, {below, other, 1, false}, rows + width, n);
    for (int64_t i = 0; i < rest; i++) copy(rows + (count + i) * n, kept_rows + i * (width + other), width + other);
  }
  static constexpr int kRowSlot = 6;
};

}  // namespace
EAGRE_END
