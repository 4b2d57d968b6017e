// Tiles of scalar programs: an instruction at a time by its row function, common ones of float32 in chains. A chain is threaded code:
// each move is a function that does its part on four vectors in registers and jumps to the next one, so that what they compute goes
// through memory only where the program needs it again.
#include "program_tile.h"

#include <cstdlib>

#include "rows.h"

EAGRE_BEGIN
namespace {

Rows rows;

// More would jump less often, but what comes from far away then waits for a whole block to be done.
constexpr int64_t kBlock = 4 * kF32;

struct Link;
// `truth` is the memory of a comparison's result, all bits of a lane; a0 to a3 are the register, which is passed in the
// processor's.
#define EAGRE_STATE \
  const Link *link, const void *const *values, float *truth, int64_t at, int64_t n, vf32 a0, vf32 a1, vf32 a2, vf32 a3
#define EAGRE_VECTORS a0, a1, a2, a3
using LinkFn = void (*)(EAGRE_STATE);

struct Link {
  LinkFn block;  // on a whole block; `n` is the set of streamed outputs
  LinkFn part;   // on the first n <= kF32 elements of a0
  int32_t value;
  float constant;
};

#define EAGRE_NEXT_BLOCK return link[1].block(link + 1, values, truth, at, n, EAGRE_VECTORS)
#define EAGRE_NEXT_PART return link[1].part(link + 1, values, truth, at, n, EAGRE_VECTORS)
// do_vector(the register's vector, its number)
#define EAGRE_ALL(do_vector) do_vector(a0, 0) do_vector(a1, 1) do_vector(a2, 2) do_vector(a3, 3)

EAGRE_INLINE const float* address(const Link* link, const void* const* values, int64_t at) {
  return static_cast<const float*>(values[link->value]) + at;
}
EAGRE_INLINE vf32 load_some(const float* p, int64_t n) { return n == kF32 ? load(p) : load_part(p, n, 1); }

EAGRE_INLINE vf32 root(vf32 x) {
#if defined(__AVX512F__)
  return (vf32)_mm512_maskz_sqrt_ps(0xffff, (__m512)x);
#elif defined(__AVX2__)
  return (vf32)_mm256_sqrt_ps((__m256)x);
#elif defined(__SSE4_2__)
  return (vf32)_mm_sqrt_ps((__m128)x);
#elif defined(__aarch64__)
  return (vf32)vsqrtq_f32((float32x4_t)x);
#else
  for (int i = 0; i < kF32; i++) x[i] = std::sqrt(x[i]);
  return x;
#endif
}
// x < y ? x : y, and x > y ? x : y: where a NaN is, y.
EAGRE_INLINE vf32 lesser(vf32 x, vf32 y) {
#if defined(__AVX512F__)
  return (vf32)_mm512_maskz_min_ps(0xffff, (__m512)x, (__m512)y);
#elif defined(__AVX2__)
  return (vf32)_mm256_min_ps((__m256)x, (__m256)y);
#elif defined(__SSE4_2__)
  return (vf32)_mm_min_ps((__m128)x, (__m128)y);
#else
  return x < y ? x : y;
#endif
}
EAGRE_INLINE vf32 greater(vf32 x, vf32 y) {
#if defined(__AVX512F__)
  return (vf32)_mm512_maskz_max_ps(0xffff, (__m512)x, (__m512)y);
#elif defined(__AVX2__)
  return (vf32)_mm256_max_ps((__m256)x, (__m256)y);
#elif defined(__SSE4_2__)
  return (vf32)_mm_max_ps((__m128)x, (__m128)y);
#else
  return x > y ? x : y;
#endif
}
EAGRE_INLINE vf32 choose(vf32 truth, vf32 x, vf32 y) { return from_bits((bits(truth) & bits(x)) | (~bits(truth) & bits(y))); }

// As apply<op, float> of rows.h, to the bit.
template <Op op> EAGRE_INLINE vf32 compute(vf32 x, [[maybe_unused]] vf32 y) {
  if constexpr (op == Op::neg) return from_bits(bits(x) ^ INT32_MIN);
  else if constexpr (op == Op::abs) return magnitude(x);
  else if constexpr (op == Op::sqrt) return root(x);
  else if constexpr (op == Op::rsqrt) return 1.0f / root(x);
  else if constexpr (op == Op::add) return x + y;
  else if constexpr (op == Op::sub) return x - y;
  else if constexpr (op == Op::mul) return x * y;
  else if constexpr (op == Op::div) return x / y;
  else if constexpr (op == Op::min) return x != x ? x : lesser(x, y);
  else if constexpr (op == Op::max) return x != x ? x : greater(x, y);
  else if constexpr (op == Op::exp) return exp(x);
  else if constexpr (op == Op::log) return log(x);
  else if constexpr (op == Op::tanh) return tanh(x);
  else if constexpr (op == Op::sigmoid) return sigmoid(x);
  else if constexpr (op == Op::erf) return erf(x);
}
template <Op op> EAGRE_INLINE vf32 truth_of(vf32 x, vf32 y) {
  if constexpr (op == Op::eq) return from_bits(x == y);
  else if constexpr (op == Op::ne) return from_bits(x != y);
  else if constexpr (op == Op::lt) return from_bits(x < y);
  else if constexpr (op == Op::le) return from_bits(x <= y);
  else if constexpr (op == Op::gt) return from_bits(x > y);
  else return from_bits(x >= y);
}

constexpr bool in_memory(MoveForm form) { return form == MoveForm::memory || form == MoveForm::memory_first; }
// What a move works with beside the register.
template <MoveForm form> EAGRE_INLINE const float* operands(const Link* link, const void* const* values, int64_t at) {
  if constexpr (in_memory(form)) return address(link, values, at);
  else return nullptr;
}
template <MoveForm form> EAGRE_INLINE vf32 operand(const Link* link, const float* p, vf32 a, int vector) {
  if constexpr (in_memory(form)) return load(p + vector * kF32);
  else if constexpr (form == MoveForm::constant || form == MoveForm::constant_first) return splat(link->constant);
  else return a;
}
template <MoveForm form> EAGRE_INLINE vf32 operand_some(const Link* link, const float* p, vf32 a, int64_t n) {
  if constexpr (in_memory(form)) return load_some(p, n);
  else return operand<form>(link, p, a, 0);
}
template <MoveForm form, class F> EAGRE_INLINE vf32 in_order(F f, vf32 a, vf32 y) {
  if constexpr (form == MoveForm::memory_first || form == MoveForm::constant_first) return f(y, a);
  else return f(a, y);
}

template <Op op> struct Apply {
  template <MoveForm form> static void block(EAGRE_STATE) {
    const float* p = operands<form>(link, values, at);
#define EAGRE_DO(a, i) a = in_order<form>(compute<op>, a, operand<form>(link, p, a, i));
    EAGRE_ALL(EAGRE_DO)
#undef EAGRE_DO
    EAGRE_NEXT_BLOCK;
  }
  template <MoveForm form> static void part(EAGRE_STATE) {
    const float* p = operands<form>(link, values, at);
    a0 = in_order<form>(compute<op>, a0, operand_some<form>(link, p, a0, n));
    EAGRE_NEXT_PART;
  }
};
template <Op op> struct Compare {
  template <MoveForm form> static void block(EAGRE_STATE) {
    const float* p = operands<form>(link, values, at);
#define EAGRE_DO(a, i) store(truth + i * kF32, in_order<form>(truth_of<op>, a, operand<form>(link, p, a, i)));
    EAGRE_ALL(EAGRE_DO)
#undef EAGRE_DO
    EAGRE_NEXT_BLOCK;
  }
  template <MoveForm form> static void part(EAGRE_STATE) {
    const float* p = operands<form>(link, values, at);
    store(truth, in_order<form>(truth_of<op>, a0, operand_some<form>(link, p, a0, n)));
    EAGRE_NEXT_PART;
  }
};
struct Choose {
  template <MoveForm form> static void block(EAGRE_STATE) {
    const float* p = operands<form>(link, values, at);
#define EAGRE_DO(a, i)                                                                    \
  {                                                                                       \
    const auto f = [&](vf32 x, vf32 y) { return choose(load(truth + i * kF32), x, y); };  \
    a = in_order<form>(f, a, operand<form>(link, p, a, i));                               \
  }
    EAGRE_ALL(EAGRE_DO)
#undef EAGRE_DO
    EAGRE_NEXT_BLOCK;
  }
  template <MoveForm form> static void part(EAGRE_STATE) {
    const float* p = operands<form>(link, values, at);
    const auto f = [&](vf32 x, vf32 y) { return choose(load(truth), x, y); };
    a0 = in_order<form>(f, a0, operand_some<form>(link, p, a0, n));
    EAGRE_NEXT_PART;
  }
};
struct Load {
  template <MoveForm form> static void block(EAGRE_STATE) {
    const float* p = operands<form>(link, values, at);
#define EAGRE_DO(a, i) a = operand<form>(link, p, a, i);
    EAGRE_ALL(EAGRE_DO)
#undef EAGRE_DO
    EAGRE_NEXT_BLOCK;
  }
  template <MoveForm form> static void part(EAGRE_STATE) {
    a0 = operand_some<form>(link, operands<form>(link, values, at), a0, n);
    EAGRE_NEXT_PART;
  }
};

void truth_block(EAGRE_STATE) {
#define EAGRE_DO(a, i) a = from_bits(bits(load(truth + i * kF32)) & bits(splat(1)));
  EAGRE_ALL(EAGRE_DO)
#undef EAGRE_DO
  EAGRE_NEXT_BLOCK;
}
void truth_part(EAGRE_STATE) {
  a0 = from_bits(bits(load(truth)) & bits(splat(1)));
  EAGRE_NEXT_PART;
}
void store_block(EAGRE_STATE) {
  float* p = const_cast<float*>(address(link, values, at));
#define EAGRE_DO(a, i) store(p + i * kF32, a);
  EAGRE_ALL(EAGRE_DO)
#undef EAGRE_DO
  EAGRE_NEXT_BLOCK;
}
EAGRE_INLINE void stream_vector(float* p, vf32 x) {
#if defined(__AVX512F__)
  _mm512_stream_ps(p, (__m512)x);
#elif defined(__AVX2__)
  _mm256_stream_ps(p, (__m256)x);
#elif defined(__SSE4_2__)
  _mm_stream_ps(p, (__m128)x);
#else
  store(p, x);
#endif
}
template <int output> void store_output_block(EAGRE_STATE) {
  if (!(n >> output & 1)) return store_block(link, values, truth, at, n, EAGRE_VECTORS);
  float* p = const_cast<float*>(address(link, values, at));
#define EAGRE_DO(a, i) stream_vector(p + i * kF32, a);
  EAGRE_ALL(EAGRE_DO)
#undef EAGRE_DO
  EAGRE_NEXT_BLOCK;
}
void store_part(EAGRE_STATE) {
  float* p = const_cast<float*>(address(link, values, at));
  if (n == kF32) store(p, a0);
  else store_part(p, n, a0);
  EAGRE_NEXT_PART;
}
void end(EAGRE_STATE) {
  (void)link, (void)values, (void)truth, (void)at, (void)n;
#define EAGRE_DO(a, i) (void)a;
  EAGRE_ALL(EAGRE_DO)
#undef EAGRE_DO
}

template <class M> void set(Link& link, MoveForm form) {
  switch (form) {
    case MoveForm::memory: link.block = M::template block<MoveForm::memory>, link.part = M::template part<MoveForm::memory>; break;
    case MoveForm::constant: link.block = M::template block<MoveForm::constant>, link.part = M::template part<MoveForm::constant>; break;
    case MoveForm::memory_first:
      link.block = M::template block<MoveForm::memory_first>, link.part = M::template part<MoveForm::memory_first>;
      break;
    case MoveForm::constant_first:
      link.block = M::template block<MoveForm::constant_first>, link.part = M::template part<MoveForm::constant_first>;
      break;
    default: link.block = M::template block<MoveForm::self>, link.part = M::template part<MoveForm::self>; break;
  }
}

Link link_of(const Move& m) {
  static constexpr LinkFn outputs[kMaxProgramOutputs] = {
      store_output_block<0>, store_output_block<1>, store_output_block<2>, store_output_block<3>,
      store_output_block<4>, store_output_block<5>, store_output_block<6>, store_output_block<7>};
  Link link{end, end, m.value, m.constant};
  const Op op = static_cast<Op>(m.op);
  switch (m.kind) {
    case MoveKind::load: set<Load>(link, m.form); break;
    case MoveKind::store:
      link.block = m.output < 0 ? store_block : outputs[m.output];
      link.part = store_part;
      break;
    case MoveKind::apply:
      switch (op) {
#define X(name) case Op::name: set<Apply<Op::name>>(link, m.form); break;
        X(neg) X(abs) X(sqrt) X(rsqrt) X(add) X(sub) X(mul) X(div) X(min) X(max)
        X(exp) X(log) X(tanh) X(sigmoid) X(erf)
#undef X
        default: fail(Code::internal, "a chain with the instruction %d", m.op);
      }
      break;
    case MoveKind::compare:
      switch (op) {
#define X(name) case Op::name: set<Compare<Op::name>>(link, m.form); break;
        X(eq) X(ne) X(lt) X(le) X(gt) X(ge)
#undef X
        default: fail(Code::internal, "a chain with the comparison %d", m.op);
      }
      break;
    case MoveKind::choose: set<Choose>(link, m.form); break;
    case MoveKind::truth: link.block = truth_block, link.part = truth_part; break;
    case MoveKind::end: break;
  }
  return link;
}

void run_chain(const Link* link, const void* const* values, int64_t n, unsigned streamed) {
  alignas(kVectorBytes) float truth[kBlock];
  const vf32 z{};
  int64_t at = 0;
  for (; at + kBlock <= n; at += kBlock) link->block(link, values, truth, at, streamed, z, z, z, z);
  for (; at < n; at += kF32) link->part(link, values, truth, at, n - at < kF32 ? n - at : kF32, z, z, z, z);
}

struct Step {
  RowFn fn;  // null: a chain
  int16_t a, b, c, result;
  const Link* chain;
};

// A program's steps and links, in one piece of memory that the program keeps.
struct Ready {
  int steps;
  unsigned may_stream;
  int64_t cost;
  const Step* step() const { return reinterpret_cast<const Step*>(this + 1); }
};

Ready* make(const Program& p) {
  const size_t steps = static_cast<size_t>(p.passes), moves = static_cast<size_t>(p.moves);
  void* memory = std::malloc(sizeof(Ready) + steps * sizeof(Step) + moves * sizeof(Link));
  if (!memory) fail(Code::resource_exhausted, "no memory for a scalar program");
  Ready* ready = static_cast<Ready*>(memory);
  Step* step = reinterpret_cast<Step*>(ready + 1);
  Link* link = reinterpret_cast<Link*>(step + steps);
  *ready = {p.passes, 0, 0};
  for (int i = 0; i < p.moves; i++) {
    link[i] = link_of(p.move[i]);
    if (p.move[i].kind == MoveKind::store && p.move[i].output >= 0) ready->may_stream |= 1u << p.move[i].output;
    if (p.move[i].kind == MoveKind::apply) ready->cost += cost_of(static_cast<Op>(p.move[i].op), DType::f32);
    else if (p.move[i].kind != MoveKind::end) ready->cost++;
  }
  for (int i = 0; i < p.passes; i++) {
    if (p.pass[i].instr < 0) {
      step[i] = {nullptr, 0, 0, 0, 0, link + p.pass[i].move};
      continue;
    }
    const Instr& in = p.code[p.pass[i].instr];
    const auto arg = [&](int k) { return static_cast<int16_t>(in.args[k] < 0 ? in.args[0] : in.args[k]); };
    step[i] = {row_function(in), arg(0), arg(1), arg(2), static_cast<int16_t>(p.inputs + p.pass[i].instr), nullptr};
    ready->cost += cost_of(in);
  }
  return ready;
}

}  // namespace

int64_t cost_of(Op op, DType operands) {
  bool wide = operands == DType::f64, integer = !wide && operands != DType::f32;
  switch (op) {
    case Op::exp: case Op::log: case Op::sigmoid: case Op::sin: case Op::cos: return wide ? 12 : 3;
    case Op::tanh: case Op::erf: return wide ? 60 : 3;
    case Op::expm1: case Op::log1p: case Op::tan: case Op::asin: case Op::acos: case Op::atan: case Op::sinh: case Op::cosh:
    case Op::asinh: case Op::acosh: case Op::atanh: case Op::softplus: case Op::erfc:
      return wide ? 120 : 12;
    case Op::pow: return wide ? 200 : integer ? 50 : 15;
    case Op::div: case Op::floor_div: return integer ? 20 : 2;
    case Op::mod: return integer ? 20 : 60;
    case Op::sqrt: case Op::rsqrt: return 2;
    case Op::erfinv: case Op::lgamma: case Op::atan2: return wide ? 150 : 20;
    case Op::digamma: return 150;
    default: return 1;
  }
}
int64_t cost_of(const Instr& in) { return cost_of(static_cast<Op>(in.op), in.arg_dtype); }

RowFn row_function(const Instr& in) {
  if (in.op == static_cast<int>(Op::cast)) return rows.cast[static_cast<int>(in.arg_dtype)][static_cast<int>(in.dtype)];
  return rows.op[in.op][static_cast<int>(in.arg_dtype)];
}

void fill_row_functions() { fill_rows(rows); }

template <class T> inline void splat(void* to, T value, int64_t n) {
  T* y = static_cast<T*>(to);
  for (int64_t i = 0; i < n; i++) y[i] = value;
}
void fill_constant(void* to, const Instr& in, int64_t n) {
  switch (in.dtype) {
    case DType::boolean: splat(to, static_cast<uint8_t>(in.value != 0), n); break;
#define X(name, type) case DType::name: splat(to, convert<type, double>(in.value), n); break;
    EAGRE_NUMBERS(X)
#undef X
#define X(name, type) case DType::name: splat(to, half_of<type>(in.value), n); break;
    EAGRE_HALVES(X)
#undef X
  }
}

void prepare_tile(ProgramTile& p) {
  void** place = &p.program->ready[kVectorBytes == 64];
  void* ready = __atomic_load_n(place, __ATOMIC_ACQUIRE);
  if (!ready) {
    void* made = make(*p.program);
    // Another thread may have been first.
    if (__atomic_compare_exchange_n(place, &ready, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) ready = made;
    else std::free(made);
  }
  p.code = ready;
  p.cost = static_cast<const Ready*>(ready)->cost;
}

unsigned ProgramTile::may_stream() const { return static_cast<const Ready*>(code)->may_stream; }

void ProgramTile::run(const void* const* values, int64_t n, unsigned streamed) const {
  const Ready& ready = *static_cast<const Ready*>(code);
  const Step* s = ready.step();
  for (const Step* last = s + ready.steps; s < last; s++) {
    if (s->fn) s->fn(values[s->a], values[s->b], values[s->c], const_cast<void*>(values[s->result]), n);
    else run_chain(s->chain, values, n, streamed);
  }
}
EAGRE_END
