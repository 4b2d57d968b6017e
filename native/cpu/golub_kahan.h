// The singular value decomposition of larger matrices: Householder's reflections to two diagonals, then implicit QR steps (Golub and
// Kahan, 1965; the step without a shift is that of Demmel and Kahan, 1990). The rotations of many steps are gathered, and then turn
// the vectors in strips that stay in a cache (Van Zee, van de Geijn and Quintana-Ortí, "Restructuring the Tridiagonal and Bidiagonal QR
// Algorithms for Performance", 2014). All is computed in double; errors are small beside the largest singular value.
#pragma once
#include "qr.h"

EAGRE_BEGIN
namespace {

// Of one matrix [n, n].
struct GolubKahan {
  static constexpr int64_t kColumns = 64;       // of the matrix, a chunk of parallel work
  static constexpr int64_t kGathered = 32;      // rotations that are gathered, in multiples of n
  static constexpr int64_t kStepsPerValue = 40;
  static constexpr int kStripSlot = 6;
  static constexpr double kEpsilon = 0x1p-53;

  struct Rotation {
    double c, s;
  };
  // Turns rows i and i + 1 for each i of [first, last), by what is gathered from `at` on.
  struct Step {
    int64_t first, last, at;
  };

  int64_t n;
  Qr<double> left, right;  // the reflections; left.a is the matrix, then the right vectors, right.a the left vectors, one a row
  double *d, *e, *y, *before, *z;
  Rotation *turns[2];
  Step* steps;
  int64_t step_count = 0, turn_count = 0;

  static int64_t room(int64_t n) { return 2 * Qr<double>::room(n, n, n) + 5 * n + 4 * (kGathered + 1) * n + 3 * (kGathered + 1) * n; }
  GolubKahan(double* memory, int64_t size) : n(size), left(memory, n, n, n), right(memory + Qr<double>::room(n, n, n), n, n, n) {
    d = memory + 2 * Qr<double>::room(n, n, n);
    e = d + n;
    y = e + n;
    before = y + n;
    z = before + n;
    turns[0] = reinterpret_cast<Rotation*>(z + n);
    turns[1] = turns[0] + (kGathered + 1) * n;
    steps = reinterpret_cast<Step*>(turns[1] + (kGathered + 1) * n);
  }

  // False where the steps do not converge.
  __attribute__((noinline)) bool decompose(bool vectors) {
    to_bidiagonal();
    if (vectors) {
      left.join_all();
      right.join_all();
      right.form(left.a, n);
      left.form(right.a, n);
    }
    return to_diagonal(vectors);
  }

 private:
  // The matrix loses u · yᵀ + z · vᵀ of a column and row only when the next column is known, and is multiplied on the same way.
  void to_bidiagonal() {
    double* a = left.a;
    for (int64_t k = 0; k < n; k++) {
      double *u = left.v + k * n, *v = right.v + k * n;
      const double *last_u = u - n, *last_v = v - n;
      for (int64_t i = 0; i < n; i++) u[i] = v[i] = 0;
      for (int64_t i = k; i < n; i++) u[i] = a[i * n + k] - (k > 0 ? last_u[i] * y[k] + z[i] * last_v[k] : 0);
      d[k] = reflector(u + k, n - k, left.tau[k]);
      right.tau[k] = e[k] = 0;
      const int64_t first = k + 1, rest = n - first;
      if (rest == 0) break;
      double* next = before;
      for_large(ceil_div(rest, kColumns), rest * rest, 1, [&](int64_t begin, int64_t end) {
        const int64_t column = first + begin * kColumns, count = min64(end * kColumns, rest) - begin * kColumns;
        if (k > 0) update<true>(k, column, count, u, last_u, last_v, next);
        else update<false>(k, column, count, u, nullptr, nullptr, next);
      });
      const double tau = left.tau[k];
      for (int64_t j = first; j < n; j++) {
        next[j] *= tau;
        v[j] = a[k * n + j] - next[j];
      }
      e[k] = reflector(v + first, rest, right.tau[k]);
      const double along = dot(next + first, v + first, rest), by = right.tau[k];
      for_large(rest, rest * rest, kColumns, [&](int64_t begin, int64_t end) {
        for (int64_t i = first + begin; i < first + end; i++) z[i] = by * (dot(a + i * n + first, v + first, rest) - u[i] * along);
      });
      before = y;
      y = next;
    }
  }
  // Rows from k on of some columns: what they lose, and their products with u into `out`.
  template <bool kLose>
  void update(int64_t k, int64_t column, int64_t count, const double* u, const double* last_u, const double* last_v, double* out) const {
    constexpr int L = Lanes<double>::n, kRows = 4;
    for (int64_t j = column; j < column + count; j++) out[j] = 0;
    const auto rows = [&](auto height, int64_t i, auto&& get, auto&& put, int64_t j) __attribute__((always_inline)) {
      constexpr int R = decltype(height)::value;
      vf64 sum = get(out + j), down{}, across{};
      if (kLose) down = get(y + j), across = get(last_v + j);
#pragma GCC unroll 4
      for (int r = 0; r < R; r++) {
        double* at = left.a + (i + r) * n + j;
        vf64 x = get(at);
        if (kLose) {
          x = fma(broadcast(-last_u[i + r]), down, fma(broadcast(-z[i + r]), across, x));
          put(at, x);
        }
        sum = fma(broadcast(u[i + r]), x, sum);
      }
      put(out + j, sum);
    };
    const auto pass = [&](auto height, int64_t i) __attribute__((always_inline)) {
      int64_t j = column;
      for (; j + L <= column + count; j += L) rows(height, i, [](const double* p) { return load<double>(p); }, [](double* p, vf64 x) { store<double>(p, x); }, j);
      if (j < column + count) {
        const Part<double> part(column + count - j);
        rows(height, i, [&](const double* p) { return part.load(p); }, [&](double* p, vf64 x) { part.store(p, x); }, j);
      }
    };
    int64_t i = k;
    for (; i + kRows <= n; i += kRows) pass(std::integral_constant<int, kRows>(), i);
    for (; i < n; i++) pass(std::integral_constant<int, 1>(), i);
  }

  // (c, s) that takes (f, g) to (r, 0).
  static double rotation(double f, double g, Rotation& of) {
    const double r = std::sqrt(f * f + g * g);
    if (r == 0) {
      of = {1, 0};
      return f;
    }
    of = {f / r, g / r};
    return r;
  }
  bool to_diagonal(bool vectors) {
    double largest = 0;
    for (int64_t i = 0; i < n; i++) largest = max_of(largest, max_of(std::fabs(d[i]), std::fabs(e[i])));
    const double least = kEpsilon * largest;
    int64_t end = n - 1, left_steps = kStepsPerValue * n;
    while (end > 0) {
      if (std::fabs(e[end - 1]) <= least) {
        e[--end] = 0;
        continue;
      }
      int64_t begin = end - 1;
      while (begin > 0 && std::fabs(e[begin - 1]) > least) begin--;
      if (left_steps-- == 0) return false;
      if (turn_count + end - begin > kGathered * n || step_count == kGathered * n) apply(vectors);
      steps[step_count++] = {begin, end, turn_count};
      step(begin, end, least);
      turn_count += end - begin;
    }
    apply(vectors);
    for (int64_t i = 0; i < n; i++) {
      const double sign = d[i] < 0 ? -1 : 1;
      d[i] *= sign;
      if (!vectors) continue;
      // Thousands of rotations move a norm by some last bits.
      double *own = left.a + i * n, *other = right.a + i * n;
      const double by = sign / std::sqrt(dot(own, own, n)), by_other = 1 / std::sqrt(dot(other, other, n));
      for (int64_t j = 0; j < n; j++) own[j] *= by, other[j] *= by_other;
    }
    return true;
  }
  static double max_of(double a, double b) { return b > a ? b : a; }

  // The smaller singular value of the last two rows; 0 where it would not move the step, or a row of the block is 0.
  double shift(int64_t begin, int64_t end, double least) {
    for (int64_t i = begin; i <= end; i++) {
      if (std::fabs(d[i]) > least) continue;
      d[i] = 0;
      return 0;
    }
    const double f = d[end - 1], g = e[end - 1], h = d[end], both = std::fabs(f * h), squares = f * f + g * g + h * h;
    const double of = both / std::sqrt((squares + std::sqrt((squares - 2 * both > 0 ? squares - 2 * both : 0) * (squares + 2 * both))) / 2);
    const double ratio = of / d[begin];
    return ratio * ratio < kEpsilon ? 0 : of;
  }
  void step(int64_t begin, int64_t end, double least) {
    Rotation *to_right = turns[0] + turn_count, *to_left = turns[1] + turn_count;
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

  // Turns the vectors by what is gathered.
  __attribute__((noinline)) void apply(bool vectors) {
    constexpr int L = Lanes<double>::n, kVectors = 4;
    constexpr int64_t kStrip = kVectors * L;
    const int64_t strips = ceil_div(n, kStrip);
    if (vectors && step_count > 0) {
      parallel_for(2 * strips, 1, [&](int64_t begin, int64_t end) {
        double* strip = ::eagre::EAGRE_ISA::room<double>(kStripSlot, n * kStrip);
        for (int64_t task = begin; task < end; task++) {
          const int64_t side = task / strips, first = task % strips * kStrip, count = min64(kStrip, n - first);
          double* rows = (side == 0 ? left : right).a + first;
          for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < kStrip; j++) strip[i * kStrip + j] = j < count ? rows[i * n + j] : 0;
          for (int64_t s = 0; s < step_count; s++) {
            const Step& step = steps[s];
            const Rotation* turn = turns[side] + step.at;
            double* at = strip + step.first * kStrip;
            vf64 x[kVectors];
#pragma GCC unroll 4
            for (int v = 0; v < kVectors; v++) x[v] = load<double>(at + v * L);
            for (int64_t i = step.first; i < step.last; i++, turn++, at += kStrip) {
              const vf64 c = broadcast(turn->c), s = broadcast(turn->s);
#pragma GCC unroll 4
              for (int v = 0; v < kVectors; v++) {
                const vf64 other = load<double>(at + kStrip + v * L);
                store<double>(at + v * L, fma(s, other, c * x[v]));
                x[v] = fma(-s, x[v], c * other);
              }
            }
#pragma GCC unroll 4
            for (int v = 0; v < kVectors; v++) store<double>(at + v * L, x[v]);
          }
          for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < count; j++) rows[i * n + j] = strip[i * kStrip + j];
        }
      });
    }
    step_count = turn_count = 0;
  }
};

}  // namespace
EAGRE_END
