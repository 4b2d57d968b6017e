// The singular values and vectors of a matrix whose first row is z, and whose other rows hold d[1], d[2], … on the diagonal: of what a step
// of divide and conquer leaves. Its singular values are the roots of the secular equation 1 + Σ z² / (d² − σ²) = 0, one between two
// neighbours of d (d[0] = 0) and one behind. Vectors are those of a matrix that has exactly the roots found, and is as close to the
// given one as the roots are exact: so they are orthogonal (M. Gu and S. C. Eisenstat, "A Divide-and-Conquer Algorithm for the
// Bidiagonal SVD", 1995). Differences of squares are those from the nearest pole, so none loses its bits.
#pragma once
#include "matrices.h"

EAGRE_BEGIN
namespace {

struct Secular {
  static constexpr int kRounds = 100;
  static constexpr int64_t kGrain = 16;  // roots, or vectors of poles, of a chunk of parallel work
  static constexpr double kFar = 1e30;

  int64_t n;
  double precision;  // of a root, beside what rounding does
  double *d, *z;     // [padded]: ascending; z becomes that of the matrix whose vectors are wanted
  double* squares;   // [padded], of z
  double* shift;     // [n]: σ² − d[origin]²
  int64_t* origin;

  // Whole vectors are read.
  static int64_t padded(int64_t n) { return ceil_div(n, 8) * 8; }
  static int64_t room(int64_t n) { return 5 * padded(n); }
  Secular(double* memory, int64_t size, double error) : n(size), precision(error) {
    const int64_t step = padded(n);
    d = memory;
    z = d + step;
    squares = z + step;
    shift = squares + step;
    origin = reinterpret_cast<int64_t*>(shift + step);
    for (int64_t i = n; i < step; i++) d[i] = kFar, z[i] = 0;
  }

  // False if a root is not found.
  bool solve() {
    for (int64_t i = 0; i < padded(n); i++) squares[i] = z[i] * z[i];
    for (int64_t i = 0; i < n; i++) origin[i] = -1;
    for_large(n, n * n, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) find(i);
    });
    for (int64_t i = 0; i < n; i++) if (origin[i] < 0) return false;
    for_large(padded(n) / kF64, n * n, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) exact_row(i * kF64);
    });
    return true;
  }
  double value(int64_t i) const {
    const double of = d[origin[i]];
    return std::sqrt(of * of + shift[i]);
  }
  // The vectors of root i, unscaled, into x (right) and y (left) [padded]; their norms.
  struct Norms {
    double right, left;
  };
  Norms vectors(int64_t i, double* x, double* y) const {
    const vf64 from = broadcast(d[origin[i]]), less = broadcast(-shift[i]);
    vf64 rights{}, lefts{};
    for (int64_t j = 0; j < n; j += kF64) {
      const vf64 pole = load<double>(d + j), r = load<double>(z + j) / fma(pole - from, pole + from, less), l = pole * r;
      store<double>(x + j, r);
      store<double>(y + j, l);
      rights = fma(r, r, rights);
      lefts = fma(l, l, lefts);
    }
    y[0] = -1;
    return {std::sqrt(sum<double>(rights)), std::sqrt(1 + sum<double>(lefts))};
  }

 private:
  // Sums over the poles below and above a place, and their slopes.
  struct Sums {
    double below, above, below_slope, above_slope;
  };
  // At σ² = d[from]² + side · y, seen from there: both the order of poles and the sign change with the side.
  Sums sums(int64_t from, double side, double y) const {
    const vf64 of = broadcast(d[from]), sign = broadcast(side), less = broadcast(-y), none{};
    vf64 below{}, above{}, below_slope{}, above_slope{};
    for (int64_t j = 0; j < n; j += kF64) {
      const vf64 pole = load<double>(d + j), inverse = 1.0 / fma(sign * (pole - of), pole + of, less);
      const vf64 term = load<double>(squares + j) * inverse, slope = term * inverse;
      const auto near = inverse < none;
      below += near ? term : none;
      above += near ? none : term;
      below_slope += near ? slope : none;
      above_slope += near ? none : slope;
    }
    return {sum<double>(below), sum<double>(above), sum<double>(below_slope), sum<double>(above_slope)};
  }
  // The root of c · x² − a · x + b that lies between the poles of what it is made of.
  static double inner_root(double a, double b, double c) {
    const double root = std::sqrt(std::fabs(a * a - 4 * b * c));
    return a <= 0 ? (a - root) / (2 * c) : 2 * b / (a + root);
  }
  // Root i by rational functions with the two nearest poles (R.-C. Li, "Solving Secular Equations Stably and Efficiently", 1993).
  void find(int64_t i) {
    const bool last = i + 1 == n;
    const double gap = last ? 0 : (d[i + 1] - d[i]) * (d[i + 1] + d[i]);
    double high = gap / 2, low = 0, side = 1;
    if (last) for (int64_t j = 0; j < n; j++) high += squares[j];
    int64_t from = i;
    double y = high;
    Sums at = sums(from, side, y);
    double f = 1 + at.below + at.above;
    if (!last && f < 0) {
      // Nearer to the next pole: seen from there.
      from = i + 1;
      side = -1;
      f = -f;
      at = {-at.above, -at.below, at.above_slope, at.below_slope};
    }
    const double near = squares[from], far = last ? 0 : squares[side > 0 ? i + 1 : i];
    double before = 0;
    for (int round = 0; round < kRounds; round++) {
      const double slope = at.below_slope + at.above_slope, size = 1 + at.above - at.below;
      if (std::fabs(f) <= 0x1p-53 * y * slope + (0x1p-49 + precision) * size) return found(i, from, side * y);
      if (f < 0) low = y;
      else high = y;
      double to = 0;
      if (last) {
        to = y * y * slope / (1 + at.below + y * slope);
      } else if (round == 0) {
        const double c = f + near / y - far / (gap - y);
        to = inner_root(c * gap + near + far, near * gap, c);
      } else {
        // The nearest pole with its own weight; where that was slow, each pole with what its side weighs.
        const double to_far = gap - y, own = near / (y * y);
        const bool slow = std::fabs(f) > std::fabs(before) / 10;
        const double c = slow ? f + y * at.below_slope - to_far * at.above_slope : f - to_far * slope + gap * own;
        to = y + inner_root((to_far - y) * f + y * to_far * slope, -y * to_far * f, c);
      }
      before = f;
      if (!(to > low && to < high)) to = low > 0 ? (low + high) / 2 : high / 16;
      if (to == y || high - low <= 0x1p-52 * high) return found(i, from, side * y);
      y = to;
      at = sums(from, side, y);
      f = side + at.below + at.above;
    }
  }
  void found(int64_t i, int64_t from, double by) {
    origin[i] = from;
    shift[i] = by;
  }
  // z of some poles, for which the roots are exact.
  void exact_row(int64_t j) {
    const vf64 pole = load<double>(d + j);
    vf64 square = broadcast(1.0);
    for (int64_t i = 0; i < n; i++) {
      const vf64 from = broadcast(d[origin[i]]), to_root = fma(from - pole, from + pole, broadcast(shift[i]));
      if (i + 1 < n) {
        const vf64 lower = broadcast(d[i]), other = pole <= lower ? broadcast(d[i + 1]) : lower;
        square *= to_root / ((other - pole) * (other + pole));
      } else {
        square *= to_root;
      }
    }
    for (int64_t l = 0; l < kF64; l++) {
      const double size = std::sqrt(std::fabs(square[l]));
      z[j + l] = j + l >= n ? 0 : z[j + l] < 0 ? -size : size;
    }
  }
};

}  // namespace
EAGRE_END
