// The blocked matrix product, for MatMul and the convolutions that are one.
#pragma once
#include "isa.h"

EAGRE_BEGIN

// c[m, n] = A · B (+ c, + bias, then relu); an element (i, k) of A lies at a[i · a_row + k · a_step], (k, j) of B at
// b[k · b_step + j · b_col]. One of A's two strides and one of B's is 1.
template <class T> struct Gemm {
  int64_t m, n, k;
  const T* a;
  int64_t a_row, a_step;
  const T* b;
  int64_t b_step, b_col;
  T* c;
  int64_t ldc;
  const T* bias;
  bool relu;
  bool add = false;  // to what c holds
  bool subtract = false;  // from what c holds, with `add`
  // A and B of the product that comes next, of the same sizes and without gaps: they are fetched meanwhile.
  const T* next_a = nullptr;
  const T* next_b = nullptr;
};
// Uses the scratch slots 0 to 2.
void gemm(const Gemm<float>& g);
void gemm(const Gemm<double>& g);
// On processors with tile registers only (`has_tiles`); never adds to c.
void gemm(const Gemm<BFloat>& g);

// Copies k rows of n columns, source element (i, j) at b[i · b_step + j · b_col], into rows of ldb; columns from n to the next
// full vector become 0.
template <class T> void pack_panel(const T* b, int64_t b_step, int64_t b_col, int64_t k, int64_t n, T* out, int64_t ldb);
template <> void pack_panel<float>(const float* b, int64_t b_step, int64_t b_col, int64_t k, int64_t n, float* out, int64_t ldb);
template <>
void pack_panel<double>(const double* b, int64_t b_step, int64_t b_col, int64_t k, int64_t n, double* out, int64_t ldb);

namespace {
inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
// The beginning of part i when n is cut into `parts` of nearly the same size.
inline int64_t part_begin(int64_t n, int64_t parts, int64_t i) { return n * i / parts; }
}  // namespace
EAGRE_END
