// Eig and MatrixFunction: reflections to Hessenberg form, then QR steps with shifts (Golub and Van Loan, chapter 7): Francis's of two shifts for real
// matrices, complex ones for complex matrices. packages/backend-js/src/eigen.ts and eigen-real.ts have the same; change both or neither.
#include "matrices.h"

EAGRE_BEGIN
namespace {

constexpr double kEps = 0x1p-52;
constexpr int kStepsOfRow = 30;

double sum_of_sizes(Complex x) { return std::fabs(x.re) + std::fabs(x.im); }
// Roots of sums of squares: the library's function takes ten times as long, so it has only what would overflow or vanish.
double length_of(double a, double b) {
  const double sum = a * a + b * b;
  return sum > 1e-200 && sum < 1e200 ? std::sqrt(sum) : std::hypot(a, b);
}
Complex root_of(Complex x) {
  if (x.re == 0 && x.im == 0) return {0, 0};
  const double r = std::sqrt((std::fabs(x.re) + length_of(x.re, x.im)) / 2);
  if (x.re >= 0) return {r, x.im / (2 * r)};
  return {std::fabs(x.im) / (2 * r), x.im < 0 ? -r : r};
}

// ---- real matrices

// Rows of a matrix whose transforms are taken from the left; `stride` apart.
void turn_two(double* x, double* y, int64_t n, double c, double s) {
  for (int64_t i = 0; i < n; i++) {
    const double a = x[i], b = y[i];
    x[i] = c * a + s * b;
    y[i] = c * b - s * a;
  }
}

struct Real {
  int64_t n;
  double *t, *z, *re, *im, *v, *sums;  // z: the transpose of what turns t, or null

  // Subtracts 2 v (vᵀ a) from `count` rows.
  void reflect(double* rows, int64_t count, int64_t from) const {
    for (int64_t j = from; j < n; j++) sums[j] = 0;
    for (int64_t i = 0; i < count; i++) {
      const double by = v[i], *row = rows + i * n;
      for (int64_t j = from; j < n; j++) sums[j] += by * row[j];
    }
    for (int64_t i = 0; i < count; i++) {
      const double by = 2 * v[i];
      double* row = rows + i * n;
      for (int64_t j = from; j < n; j++) row[j] -= by * sums[j];
    }
  }
  void to_hessenberg() const {
    for (int64_t k = 0; k + 2 < n; k++) {
      const int64_t count = n - k - 1;
      double below = 0;
      for (int64_t i = 0; i < count; i++) {
        v[i] = t[(k + 1 + i) * n + k];
        if (i > 0) below += v[i] * v[i];
      }
      if (below == 0) continue;
      const double norm = std::sqrt(v[0] * v[0] + below);
      v[0] += v[0] >= 0 ? norm : -norm;
      const double length = std::sqrt(v[0] * v[0] + below);
      for (int64_t i = 0; i < count; i++) v[i] /= length;
      reflect(t + (k + 1) * n, count, k);
      for (int64_t i = 0; i < n; i++) {
        double* row = t + i * n + k + 1;
        subtract(2 * dot(row, v, count), v, row, count);
      }
      if (z != nullptr) reflect(z + (k + 1) * n, count, 0);
      for (int64_t i = k + 2; i < n; i++) t[i * n + k] = 0;
    }
  }

  template <bool three> void turn_rows(double* x, int64_t count, double f, double g, double h, double v1, double v2) const {
    double *y = x + n, *w = x + 2 * n;
    for (int64_t i = 0; i < count; i++) {
      const double sum = three ? x[i] + v1 * y[i] + v2 * w[i] : x[i] + v1 * y[i];
      x[i] -= f * sum;
      y[i] -= g * sum;
      if (three) w[i] -= h * sum;
    }
  }
  // One step on rows first … last: shifts with the sum x + y and the product x · y − w.
  void step(int64_t first, int64_t last, double x, double y, double w) const {
    const int64_t end = z != nullptr ? n : last + 1, top = z != nullptr ? 0 : first;
    for (int64_t k = first; k < last; k++) {
      const bool three = k + 2 <= last;
      double* row = t + k * n;
      double p, q, r;
      if (k == first) {
        const double d = row[k];
        p = ((d - x) * (d - y) - w) / row[n + k] + row[k + 1];
        q = d + row[n + k + 1] - x - y;
        r = row[2 * n + k + 1];
      } else {
        p = row[k - 1];
        q = row[n + k - 1];
        r = three ? row[2 * n + k - 1] : 0;
      }
      const double scale = std::fabs(p) + std::fabs(q) + std::fabs(r);
      if (scale == 0) continue;
      p /= scale, q /= scale, r /= scale;
      const double length = std::sqrt(p * p + q * q + r * r), s = p < 0 ? -length : length;
      if (k > first) {
        row[k - 1] = -s * scale;
        row[n + k - 1] = 0;
        if (three) row[2 * n + k - 1] = 0;
      }
      // The reflection I − (f, g, h)ᵀ · (1, v1, v2).
      const double f = (p + s) / s, v1 = q / (p + s), v2 = r / (p + s), g = q / s, h = r / s;
      if (three) turn_rows<true>(row + k, end - k, f, g, h, v1, v2);
      else turn_rows<false>(row + k, end - k, f, g, h, v1, v2);
      const int64_t stop = min64(last, k + 3);
      double* at = t + top * n + k;
      if (three) {
        for (int64_t i = top; i <= stop; i++, at += n) {
          const double sum = f * at[0] + g * at[1] + h * at[2];
          at[0] -= sum;
          at[1] -= v1 * sum;
          at[2] -= v2 * sum;
        }
      } else {
        for (int64_t i = top; i <= stop; i++, at += n) {
          const double sum = f * at[0] + g * at[1];
          at[0] -= sum;
          at[1] -= v1 * sum;
        }
      }
      if (z == nullptr) continue;
      if (three) turn_rows<true>(z + k * n, n, f, g, h, v1, v2);
      else turn_rows<false>(z + k * n, n, f, g, h, v1, v2);
    }
  }

  // z · t · zᵀ, t upper triangular but for blocks of two rows, one for each pair of conjugates. False where steps do not converge.
  bool schur() const {
    if (z != nullptr) {
      for (int64_t i = 0; i < n * n; i++) z[i] = 0;
      for (int64_t i = 0; i < n; i++) z[i * n + i] = 1;
    }
    to_hessenberg();
    double norm = 0;
    for (int64_t i = 0; i < n * n; i++) norm = std::fabs(t[i]) > norm ? std::fabs(t[i]) : norm;
    int64_t last = n - 1, all = 0;
    for (int turn = 0; last >= 0;) {
      int64_t first = last;
      for (; first > 0; first--) {
        double* p = t + first * (n + 1);
        const double beside = std::fabs(p[0]) + std::fabs(p[-n - 1]);
        if (std::fabs(p[-1]) > kEps * (beside == 0 ? norm : beside)) continue;
        p[-1] = 0;
        break;
      }
      if (first == last) {
        re[last] = t[last * (n + 1)];
        im[last] = 0;
        last--;
        turn = 0;
        continue;
      }
      double* at = t + (last - 1) * (n + 1);
      const double h00 = at[0], h01 = at[1], h10 = at[n], h11 = at[n + 1];
      if (first == last - 1) {
        const double p = (h00 - h11) / 2, q = p * p + h01 * h10, root = std::sqrt(std::fabs(q));
        if (q >= 0) {
          const double far = p >= 0 ? p + root : p - root, length = std::sqrt(far * far + h10 * h10);
          re[first] = h11 + far;
          re[last] = far == 0 ? h11 : h11 - h01 * h10 / far;
          im[first] = im[last] = 0;
          if (z != nullptr) {
            const double c = far / length, s = h10 / length;
            turn_two(t + first * n + first, t + last * n + first, n - first, c, s);
            for (int64_t i = 0; i <= last; i++) turn_two(t + i * n + first, t + i * n + last, 1, c, s);
            t[last * n + first] = 0;
            turn_two(z + first * n, z + last * n, n, c, s);
          }
        } else {
          re[first] = re[last] = h11 + p;
          im[first] = root;
          im[last] = -root;
        }
        last -= 2;
        turn = 0;
        continue;
      }
      turn++;
      if (++all > kStepsOfRow * n) return false;
      double x = h11, y = h00, w = h01 * h10;
      if (turn % 10 == 0) {
        // What does not converge is moved elsewhere.
        const double s = std::fabs(h10) + std::fabs(at[-1]);
        x = y = 0.75 * s + h11;
        w = -0.4375 * s * s;
      }
      step(first, last, x, y, w);
    }
    return true;
  }

  Complex sum_of(const Complex* x, int64_t row, int64_t from, int64_t k) const {
    Complex sum = {0, 0};
    for (int64_t j = from; j <= k; j++) sum += x[j] * t[row * n + j];
    return sum;
  }
  // Eigenvectors as columns of length 1.
  void vectors(Complex* x, Complex* found) const {
    double norm = 0;
    for (int64_t i = 0; i < n * n; i++) norm = std::fabs(t[i]) > norm ? std::fabs(t[i]) : norm;
    const double least = norm == 0 ? 1 : kEps * norm;
    double *vre = v, *vim = sums;
    for (int64_t k = n - 1; k >= 0; k--) {
      // Of a pair the vector of the first one is computed, and stands for both.
      const bool pair = im[k] < 0;
      const Complex value = {re[k], pair ? -im[k] : 0};
      int64_t i = k - 1;
      if (pair) {
        const double *p = t + (k - 1) * n + k - 1, *q = t + k * n + k - 1, half = (p[0] - q[1]) / 2;
        // The larger one of both elements beside the diagonal divides nothing.
        const bool above = std::fabs(p[1]) >= std::fabs(q[0]);
        x[k - 1] = above ? Complex{p[1], 0} : Complex{half, value.im};
        x[k] = above ? Complex{-half, value.im} : Complex{q[0], 0};
        i--;
      } else {
        x[k] = {1, 0};
      }
      while (i >= 0) {
        const Complex s1 = sum_of(x, i, i + 1, k);
        const double* p = t + i * (n + 1);
        double most;
        if (im[i] == 0) {
          Complex d = {p[0] - value.re, -value.im};
          if (sum_of_sizes(d) < least) d = {least, 0};
          x[i] = s1 * -1.0 / d;
          most = sum_of_sizes(x[i]);
          i--;
        } else {
          const Complex s0 = sum_of(x, i - 1, i + 1, k);
          const Complex a = {p[-n - 1] - value.re, -value.im}, d = {p[0] - value.re, -value.im};
          const double b = p[-n], c = p[-1];
          Complex det = a * d - Complex{b * c, 0};
          if (sum_of_sizes(det) < least * least) det = {least * least, 0};
          x[i - 1] = (s1 * b - s0 * d) / det;
          x[i] = (s0 * c - s1 * a) / det;
          most = std::fmax(sum_of_sizes(x[i]), sum_of_sizes(x[i - 1]));
          i -= 2;
        }
        // Those of defective matrices grow without end.
        if (most > 1e100) for (int64_t j = i + 1; j <= k; j++) x[j] = x[j] * (1 / most);
      }
      for (int64_t r = 0; r < n; r++) vre[r] = vim[r] = 0;
      for (int64_t j = 0; j <= k; j++) {
        const double *row = z + j * n, a = x[j].re, b = x[j].im;
        for (int64_t r = 0; r < n; r++) vre[r] += a * row[r];
        if (pair) for (int64_t r = 0; r < n; r++) vim[r] += b * row[r];
      }
      double length = 0, squares = 0;
      for (int64_t r = 0; r < n; r++) length = std::fmax(length, std::fmax(std::fabs(vre[r]), std::fabs(vim[r])));
      const double down = 1 / length;
      for (int64_t r = 0; r < n; r++) squares += square(vre[r] * down) + square(vim[r] * down);
      const double by = down / std::sqrt(squares);
      for (int64_t r = 0; r < n; r++) {
        found[r * n + k] = {vre[r] * by, pair ? -vim[r] * by : 0};
        if (pair) found[r * n + k - 1] = {vre[r] * by, vim[r] * by};
      }
      if (pair) k--;
    }
  }
};

// ---- complex matrices, as two arrays of real and of imaginary parts, so that loops over rows are vectors

struct Rotation {
  double c;
  Complex s;
};
// The one that takes (x, y) to (r, 0).
Rotation rotation_of(Complex x, Complex y) {
  const double head = length_of(x.re, x.im), norm = length_of(head, length_of(y.re, y.im));
  if (norm == 0) return {1, {0, 0}};
  const Complex end = {y.re / norm, -y.im / norm};
  if (head == 0) return {0, end};
  return {head / norm, Complex{x.re / head, x.im / head} * end};
}
// (x, y) = (c x + s y, c y − s̄ x) of two rows.
void rotate(double* xre, double* xim, double* yre, double* yim, int64_t n, const Rotation& by) {
  const double c = by.c, sre = by.s.re, sim = by.s.im;
  for (int64_t i = 0; i < n; i++) {
    const double a = xre[i], b = xim[i], p = yre[i], q = yim[i];
    xre[i] = c * a + (sre * p - sim * q);
    xim[i] = c * b + (sre * q + sim * p);
    yre[i] = c * p - (sre * a + sim * b);
    yim[i] = c * q - (sre * b - sim * a);
  }
}

struct Schur {
  int64_t n;
  double *re, *im;    // [n, n]: upper triangular in the end
  double *ure, *uim;  // [n, n]: the transpose of what turns it, or null
  double *vre, *vim, *sre, *sim;

  Complex at(int64_t i, int64_t j) const { return {re[i * n + j], im[i * n + j]}; }

  void rotate_rows(int64_t i, const Rotation& by, int64_t from) const {
    const int64_t p = i * n + from, q = p + n;
    rotate(re + p, im + p, re + q, im + q, n - from, by);
  }
  void rotate_columns(int64_t j, const Rotation& by, int64_t rows) const {
    const double c = by.c, br = by.s.re, bi = by.s.im;
    for (int64_t p = j; p < rows * n; p += n) {
      const double a = re[p], b = im[p], x = re[p + 1], y = im[p + 1];
      re[p] = c * a + (br * x + bi * y);
      im[p] = c * b + (br * y - bi * x);
      re[p + 1] = c * x - (br * a - bi * b);
      im[p + 1] = c * y - (br * b + bi * a);
    }
    // Those of u lie in rows, and are turned by the conjugate.
    if (ure != nullptr) rotate(ure + j * n, uim + j * n, ure + (j + 1) * n, uim + (j + 1) * n, n, {c, {br, -bi}});
  }

  // Subtracts 2 v (vᴴ a) from `count` rows; of u, which is transposed, 2 v̄ (vᵀ u).
  void reflect(double* xre, double* xim, int64_t count, int64_t from, double sign) const {
    for (int64_t j = from; j < n; j++) sre[j] = sim[j] = 0;
    for (int64_t i = 0; i < count; i++) {
      const double a = vre[i], b = sign * vim[i], *rre = xre + i * n, *rim = xim + i * n;
      for (int64_t j = from; j < n; j++) {
        sre[j] += a * rre[j] + b * rim[j];
        sim[j] += a * rim[j] - b * rre[j];
      }
    }
    for (int64_t i = 0; i < count; i++) {
      const double a = 2 * vre[i], b = 2 * sign * vim[i];
      double *rre = xre + i * n, *rim = xim + i * n;
      for (int64_t j = from; j < n; j++) {
        rre[j] -= a * sre[j] - b * sim[j];
        rim[j] -= a * sim[j] + b * sre[j];
      }
    }
  }
  void to_hessenberg() const {
    for (int64_t k = 0; k + 2 < n; k++) {
      const int64_t count = n - k - 1;
      double below = 0;
      for (int64_t i = 0; i < count; i++) {
        vre[i] = re[(k + 1 + i) * n + k];
        vim[i] = im[(k + 1 + i) * n + k];
        if (i > 0) below += vre[i] * vre[i] + vim[i] * vim[i];
      }
      if (below == 0) continue;
      const double head = length_of(vre[0], vim[0]), norm = std::sqrt(below + head * head);
      const Complex unit = head == 0 ? Complex{1, 0} : Complex{vre[0] / head, vim[0] / head};
      vre[0] += unit.re * norm;
      vim[0] += unit.im * norm;
      const double length = std::sqrt(below + square(Complex{vre[0], vim[0]}));
      for (int64_t i = 0; i < count; i++) vre[i] /= length, vim[i] /= length;
      reflect(re + (k + 1) * n, im + (k + 1) * n, count, k, 1);
      for (int64_t i = 0; i < n; i++) {
        double *rre = re + i * n + k + 1, *rim = im + i * n + k + 1;
        const Complex sum = {2 * (dot(rre, vre, count) - dot(rim, vim, count)), 2 * (dot(rre, vim, count) + dot(rim, vre, count))};
        for (int64_t j = 0; j < count; j++) {
          rre[j] -= sum.re * vre[j] + sum.im * vim[j];
          rim[j] -= sum.im * vre[j] - sum.re * vim[j];
        }
      }
      if (ure != nullptr) reflect(ure + (k + 1) * n, uim + (k + 1) * n, count, 0, -1);
      for (int64_t i = k + 2; i < n; i++) re[i * n + k] = im[i * n + k] = 0;
    }
  }

  bool negligible(int64_t i) const {
    const int64_t p = i * (n + 1), q = p + n + 1;
    const double beside = std::fabs(re[p]) + std::fabs(im[p]) + std::fabs(re[q]) + std::fabs(im[q]);
    if (std::fabs(re[p + n]) + std::fabs(im[p + n]) > beside * kEps) return false;
    re[p + n] = im[p + n] = 0;
    return true;
  }
  // The eigenvalue of the last two rows that is nearer to the last element.
  Complex shift_of(int64_t last, int64_t step) const {
    if ((step == 10 || step == 20) && last > 1) return {std::fabs(re[last * n + last - 1]) + std::fabs(re[(last - 1) * n + last - 2]), 0};
    const Complex a = at(last - 1, last - 1), b = at(last - 1, last), c = at(last, last - 1), d = at(last, last);
    const double scale = length_of(a.re, a.im) + length_of(b.re, b.im) + length_of(c.re, c.im) + length_of(d.re, d.im), down = 1 / scale;
    const Complex p = a * down, s = d * down, across = b * down * (c * down), difference = p - s;
    const Complex spread = root_of(difference * difference + across * 4), det = p * s - across, trace = p + s;
    Complex one = (trace + spread) * 0.5, two = (trace - spread) * 0.5;
    // The smaller one would lose its digits in the difference.
    if (sum_of_sizes(one) > sum_of_sizes(two)) two = det / one;
    else if (sum_of_sizes(two) != 0) one = det / two;
    return (sum_of_sizes(one - s) < sum_of_sizes(two - s) ? one : two) * scale;
  }
  bool to_triangular() const {
    int64_t last = n - 1, step = 0, all = 0;
    for (;;) {
      for (; last > 0 && negligible(last - 1); last--) step = 0;
      if (last <= 0) return true;
      step++;
      if (++all > kStepsOfRow * n) return false;
      int64_t first = last - 1;
      while (first > 0 && !negligible(first - 1)) first--;
      const Complex shift = shift_of(last, step);
      for (int64_t i = first; i < last; i++) {
        const int64_t p = i == first ? i * (n + 1) : i * (n + 1) - 1;
        const Complex x = {re[p], im[p]}, y = {re[p + n], im[p + n]};
        const Rotation by = rotation_of(i == first ? x - shift : x, y);
        rotate_rows(i, by, i > 0 ? i - 1 : 0);
        if (i > first) re[p + n] = im[p + n] = 0;
        rotate_columns(i, by, min64(i + 2, last) + 1);
      }
    }
  }
  bool schur() const {
    if (ure != nullptr) {
      for (int64_t i = 0; i < n * n; i++) ure[i] = uim[i] = 0;
      for (int64_t i = 0; i < n; i++) ure[i * n + i] = 1;
    }
    to_hessenberg();
    return to_triangular();
  }
  // The complex form of a real one: a rotation makes each block of a pair triangular. u is that of the real one.
  void of_real(const double* parts) const {
    for (int64_t i = 0; i < n * n; i++) im[i] = uim[i] = 0;
    for (int64_t i = 0; i + 1 < n; i++) {
      if (!(parts[i] > 0)) continue;
      // The pair's first eigenvector.
      const Rotation by = rotation_of({(re[i * n + i] - re[(i + 1) * n + i + 1]) / 2, parts[i]}, {re[(i + 1) * n + i], 0});
      rotate_rows(i, by, i);
      rotate_columns(i, by, i + 2);
      re[(i + 1) * n + i] = im[(i + 1) * n + i] = 0;
    }
  }

  void vectors(Complex* x, Complex* found) const {
    double squares = 0;
    for (int64_t i = 0; i < n * n; i++) squares += re[i] * re[i] + im[i] * im[i];
    const double norm = std::sqrt(squares);
    for (int64_t k = n - 1; k >= 0; k--) {
      x[k] = {1, 0};
      for (int64_t i = k - 1; i >= 0; i--) {
        Complex sum = at(i, k);
        for (int64_t j = i + 1; j < k; j++) sum += at(i, j) * x[j];
        Complex gap = at(i, i) - at(k, k);
        // Of equal eigenvalues the vectors are the same up to rounding.
        if (gap.re == 0 && gap.im == 0) gap.re = kEps * norm;
        x[i] = sum * -1.0 / gap;
      }
      for (int64_t r = 0; r < n; r++) vre[r] = vim[r] = 0;
      for (int64_t j = 0; j <= k; j++) {
        const double *a = ure + j * n, *b = uim + j * n;
        for (int64_t r = 0; r < n; r++) {
          vre[r] += a[r] * x[j].re - b[r] * x[j].im;
          vim[r] += a[r] * x[j].im + b[r] * x[j].re;
        }
      }
      double length = 0;
      for (int64_t r = 0; r < n; r++) length += vre[r] * vre[r] + vim[r] * vim[r];
      length = std::sqrt(length);
      for (int64_t r = 0; r < n; r++) found[r * n + k] = {vre[r] / length, vim[r] / length};
    }
  }
};

// ---- functions of triangular matrices

// The square root, by diagonals (Å. Björck and S. Hammarling, 1983).
void triangular_root(const Complex* t, Complex* r, int64_t n) {
  for (int64_t i = 0; i < n * n; i++) r[i] = {0, 0};
  for (int64_t j = 0; j < n; j++) {
    r[j * n + j] = root_of(t[j * n + j]);
    for (int64_t i = j - 1; i >= 0; i--) {
      Complex sum = {0, 0};
      for (int64_t k = i + 1; k < j; k++) sum += r[i * n + k] * r[k * n + j];
      sum = t[i * n + j] - sum;
      r[i * n + j] = sum_of_sizes(sum) == 0 ? Complex{0, 0} : sum / (r[i * n + i] + r[j * n + j]);
    }
  }
}

// Gauss's points and weights of order 8 on [-1, 1]: Padé's approximation of log(1 + x) is the sum of w x / (1 + p x) on [0, 1].
constexpr double kPoints[4][2] = {{0.1834346424956498, 0.362683783378362}, {0.525532409916329, 0.3137066458778873}, {0.7966664774136267, 0.2223810344533745}, {0.9602898564975363, 0.1012285362903763}};
constexpr double kNear = 0.25;
constexpr int kRoots = 100;

// The logarithm of t, which is lost; into `log`. `r` and `column` are room. False where roots do not come near 1.
bool triangular_logarithm(Complex* t, Complex* r, Complex* log, Complex* column, int64_t n) {
  const auto distance = [&] {
    double most = 0;
    for (int64_t i = 0; i < n; i++) {
      double sum = 0;
      for (int64_t j = i; j < n; j++) sum += std::fabs(i == j ? t[i * n + j].re - 1 : t[i * n + j].re) + std::fabs(t[i * n + j].im);
      if (!(sum <= most)) most = sum;
    }
    return most;
  };
  double by = 1;
  for (int doublings = 0;; doublings++, by *= 2) {
    const double far = distance();
    if (far <= kNear) break;
    if (doublings == kRoots || !is_finite(far)) return false;
    triangular_root(t, r, n);
    std::memcpy(t, r, static_cast<size_t>(n * n) * sizeof(Complex));
  }
  for (int64_t i = 0; i < n * n; i++) log[i] = {0, 0};
  for (const auto& pair : kPoints) {
    for (double sign : {-1.0, 1.0}) {
      const double point = (1 + sign * pair[0]) / 2, weight = pair[1] / 2;
      // Columns of (1 + p X)⁻¹ X, from below. Beside the diagonal X is t.
      for (int64_t j = 0; j < n; j++) {
        for (int64_t i = j; i >= 0; i--) {
          const Complex* row = t + i * n;
          Complex sum = {0, 0};
          for (int64_t k = i + 1; k <= j; k++) sum += row[k] * column[k];
          const Complex x = {i == j ? row[j].re - 1 : row[j].re, row[j].im}, d = {1 + point * (row[i].re - 1), point * row[i].im};
          column[i] = (x - sum * point) / d;
          log[i * n + j] += column[i] * (by * weight);
        }
      }
    }
  }
  return true;
}

// ---- kernels

double power_of_two_near(const double* x, int64_t n) { return scale_of(x, n); }

// The number of rows of square matrices.
int64_t side_of(const Tensor& x) {
  if (x.rank < 2) fail(Code::internal, "matrices of rank %d", x.rank);
  if (x.dim(-1) != x.dim(-2)) fail(Code::invalid_argument, "the matrices are [%lld,%lld], expected square ones", static_cast<long long>(x.dim(-2)), static_cast<long long>(x.dim(-1)));
  return x.dim(-1);
}
// Matrices of a batch run in parallel: nothing of one is shared.
template <class F> void for_each_matrix(int64_t count, int64_t n, F&& f) {
  const int64_t grain = (1 << 16) / (10 * n * n * n + 1) + 1;
  parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) f(i);
  });
}
// Complex numbers as two arrays.
void get_parts(const Tensor& x, int64_t index, int64_t size, double down, Complex* room, double* re, double* im) {
  get_all(x, index * size, size, room);
  for (int64_t i = 0; i < size; i++) re[i] = room[i].re * down, im[i] = room[i].im * down;
}

void eig(Args& a) {
  Tensor x = a.tensor(), e = a.tensor(), v{};
  const bool wanted = a.outputs() > 1;
  if (wanted) v = a.tensor();
  // The values are pairs always.
  const bool complex = x.rank > e.rank;
  x = without_parts(x, complex);
  e = without_parts(e, true);
  if (wanted) v = without_parts(v, true);
  check_factors(x.dtype);
  const int64_t n = side_of(x), size = n * n, count = product(x.dims, 0, x.rank - 2);
  if (e.dtype != x.dtype || e.size != count * n || (wanted && (v.size != x.size || v.dtype != x.dtype))) fail(Code::internal, "eigenvalues of tensors that do not fit");
  if (size == 0) return;
  for_each_matrix(count, n, [&](int64_t index) {
    Complex* found = room<Complex>(kMatrixSlot, size + 2 * n);
    Complex *values = found + size, *column = values + n;
    double* t = room<double>(kMoreSlot, (complex ? 4 : 2) * size + 4 * n);
    double *last = t + (complex ? 4 : 2) * size, down;
    bool good;
    if (!complex) {
      get_doubles(x, index * size, size, t);
      good = all_finite(t, size);
      down = power_of_two_near(t, size);
      for (int64_t i = 0; i < size; i++) t[i] *= down;
      const Real real = {n, t, wanted ? t + size : nullptr, last, last + n, last + 2 * n, last + 3 * n};
      good = good && real.schur();
      for (int64_t i = 0; i < n; i++) values[i] = {real.re[i], real.im[i]};
      if (good && wanted) real.vectors(column, found);
    } else {
      get_all(x, index * size, size, found);
      down = power_of_two_near(&found[0].re, 2 * size);
      good = all_finite(&found[0].re, 2 * size);
      get_parts(x, index, size, down, found, t, t + size);
      const Schur work = {n, t, t + size, wanted ? t + 2 * size : nullptr, t + 3 * size, last, last + n, last + 2 * n, last + 3 * n};
      good = good && work.schur();
      for (int64_t i = 0; i < n; i++) values[i] = work.at(i, i);
      if (good && wanted) work.vectors(column, found);
    }
    const Complex nan = {__builtin_nan(""), __builtin_nan("")};
    for (int64_t i = 0; i < n; i++) values[i] = good ? values[i] * (1 / down) : nan;
    put_all(e, index * n, n, values);
    if (!wanted) return;
    if (!good) for (int64_t i = 0; i < size; i++) found[i] = nan;
    put_all(v, index * size, size, found);
  });
}

void matrix_function(Args& a) {
  Tensor x = a.tensor(), y = a.tensor();
  const bool complex = a.flag();
  const int64_t function = a.integer();
  x = without_parts(x, complex);
  y = without_parts(y, complex);
  check_factors(x.dtype);
  const int64_t n = side_of(x), size = n * n, count = product(x.dims, 0, x.rank - 2);
  if (y.size != x.size || y.dtype != x.dtype) fail(Code::internal, "functions of tensors that do not fit");
  if (function < 0 || function > 1) fail(Code::internal, "the function %lld of matrices", static_cast<long long>(function));
  if (size == 0) return;
  for_each_matrix(count, n, [&](int64_t index) {
    Complex* held = room<Complex>(kMatrixSlot, 3 * size + n);
    Complex *first = held + size, *second = first + size, *column = second + size;
    double* t = room<double>(kMoreSlot, 4 * size + 6 * n);
    double *im = t + size, *ure = im + size, *uim = ure + size, *last = uim + size;
    if (complex) {
      get_parts(x, index, size, 1, held, t, im);
    } else {
      get_doubles(x, index * size, size, t);
      for (int64_t i = 0; i < size; i++) im[i] = 0;
    }
    bool good = all_finite(t, 2 * size), is_real = true;
    double most = 0, down = 1;
    for (int64_t i = 0; i < 2 * size; i++) most = std::fabs(t[i]) > most ? std::fabs(t[i]) : most;
    // Only where squares would overflow or vanish; a power of four, so that its root is exact.
    if (good && most != 0 && !(most > 1e-100 && most < 1e100)) {
      int exponent = 0;
      down = power_of_two_near(t, 2 * size);
      std::frexp(down, &exponent);
      if (exponent % 2 == 0) down /= 2;
      for (int64_t i = 0; i < 2 * size; i++) t[i] *= down;
    }
    for (int64_t i = 0; i < size && is_real; i++) is_real = im[i] == 0;
    const Schur work = {n, t, im, ure, uim, last, last + n, last + 2 * n, last + 3 * n};
    if (good && is_real) {
      const Real real = {n, t, ure, last + 4 * n, last + 5 * n, last, last + n};
      good = real.schur();
      if (good) work.of_real(real.im);
    } else if (good) {
      good = work.schur();
    }
    if (good) {
      for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < n; j++) held[i * n + j] = j < i ? Complex{0, 0} : work.at(i, j);
      if (function == 0) triangular_root(held, first, n);
      else good = triangular_logarithm(held, second, first, column, n);
    }
    if (good) {
      // u · first · uᴴ. Rows of u are columns here.
      for (int64_t i = 0; i < size; i++) second[i] = held[i] = {0, 0};
      for (int64_t k = 0; k < n; k++) {
        for (int64_t j = k; j < n; j++) {
          const Complex by = first[k * n + j];
          Complex* to = second + j * n;
          for (int64_t i = 0; i < n; i++) to[i] += Complex{ure[k * n + i], uim[k * n + i]} * by;
        }
      }
      for (int64_t j = 0; j < n; j++) {
        for (int64_t i = 0; i < n; i++) {
          const Complex by = second[j * n + i];
          Complex* to = held + i * n;
          for (int64_t k = 0; k < n; k++) to[k] += Complex{ure[j * n + k], -uim[j * n + k]} * by;
        }
      }
      double real_size = 0, imaginary = 0;
      for (int64_t i = 0; i < size; i++) {
        real_size = std::fmax(real_size, std::fabs(held[i].re));
        imaginary = std::fmax(imaginary, std::fabs(held[i].im));
      }
      // A real matrix may have none that is real.
      if (!complex && imaginary > 1e-8 * real_size) good = false;
      if (down != 1 && function == 0) for (int64_t i = 0; i < size; i++) held[i] = held[i] * (1 / std::sqrt(down));
      if (down != 1 && function == 1) for (int64_t i = 0; i < n; i++) held[i * n + i].re -= std::log(down);
    }
    if (!good) for (int64_t i = 0; i < size; i++) held[i] = {__builtin_nan(""), __builtin_nan("")};
    if (complex) {
      put_all(y, index * size, size, held);
    } else {
      for (int64_t i = 0; i < size; i++) t[i] = held[i].re;
      put_doubles(y, index * size, size, t);
    }
  });
}

}  // namespace

void register_eig(Registry& r) {
  r.add("Eig", eig);
  r.add("MatrixFunction", matrix_function);
}
EAGRE_END
