// What a shortcut does is what its kernel does, to the bit: every scalar operation on one element, outputs that lie on inputs, errors,
// rows by an index.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>

#include "scalar_code.h"

using namespace eagre;

namespace {

struct Freed {
  void operator()(Shortcut* s) const { std::free(s); }
};

double address(const void* p) { return static_cast<double>(reinterpret_cast<uintptr_t>(p)); }

// A call by its kernel, and by its shortcut with other addresses than those it was made with.
struct Both {
  size_t kernel = 0;
  std::unique_ptr<Shortcut, Freed> shortcut;

  Both(const char* name, const std::vector<double>& block) {
    const KernelTable& table = kernels();
    while (kernel < table.size && std::strcmp(table.names[kernel], name)) kernel++;
    Args args(block.data(), block.data() + block.size());
    if (kernel < table.size && table.shortcuts[kernel]) shortcut.reset(table.shortcuts[kernel](args));
  }
  Code by_kernel(const std::vector<double>& block) const {
    try {
      Args args(block.data(), block.data() + block.size());
      kernels().fns[kernel](args);
      return Code::ok;
    } catch (const KernelError& e) {
      return e.code;
    }
  }
  Code by_shortcut(const std::vector<double>& block) const {
    try {
      shortcut->run(shortcut.get(), block.data());
      return Code::ok;
    } catch (const KernelError& e) {
      return e.code;
    }
  }
};

constexpr DType kTypes[] = {DType::f32, DType::f64, DType::i32, DType::i64, DType::u8, DType::boolean};
constexpr double kNumbers[] = {0, -0.0, 1, -1, 2, 3, 0.5, -2.5, 7.25, 100, 1e9, -2147483648.0, 3e38, 1e-40,
                               std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()};

// A cell with a special number as a value of that dtype.
uint64_t cell_of(DType t, double value) {
  uint64_t bits = 0;
  const auto put = [&](auto v) { std::memcpy(&bits, &v, sizeof v); };
  const double whole = value == value ? std::min(std::max(value, -2147483648.0), 2147483647.0) : 5;
  switch (t) {
    case DType::f32: put(static_cast<float>(value)); break;
    case DType::f64: put(value); break;
    case DType::i32: put(static_cast<int32_t>(whole)); break;
    case DType::i64: put(value == 3e38 ? INT64_MIN : static_cast<int64_t>(whole)); break;
    case DType::u8: put(static_cast<uint8_t>(static_cast<int32_t>(whole))); break;
    case DType::boolean: put(static_cast<uint8_t>(whole > 0)); break;
  }
  return bits;
}

bool same_cell(DType t, uint64_t a, uint64_t b) {
  float x, y;
  double u, v;
  std::memcpy(&x, &a, 4), std::memcpy(&y, &b, 4), std::memcpy(&u, &a, 8), std::memcpy(&v, &b, 8);
  if (t == DType::f32 && x != x) return y != y && a >> 32 == b >> 32;
  if (t == DType::f64 && u != u) return v != v;
  return a == b;
}

std::vector<double> flat_block(int program, const std::vector<const void*>& in, const std::vector<void*>& out) {
  std::vector<double> block = {static_cast<double>(in.size()), static_cast<double>(out.size()), static_cast<double>(program), 1};
  for (const void* p : in) block.push_back(address(p));
  for (void* p : out) block.push_back(address(p));
  return block;
}

// One instruction for every choice of operands; those that the compiler refuses are not there.
int operations(Op op, int arity, bool boolean, DType operand, DType result) {
  const bool chooses = op == Op::select;
  ScalarCode code({chooses ? DType::boolean : operand, operand, operand});
  int last = 0;
  int program = 0;
  try {
    const DType type = op == Op::cast ? result : boolean ? DType::boolean : operand;
    if (arity == 1) last = code.op(op, type, {0});
    else if (arity == 2) last = code.op(op, type, {0, 1});
    else last = code.op(op, type, {0, 1, 2});
    // Beside another, so that the kernel takes the same way for all.
    program = code.compile({last, 0});
  } catch (const KernelError&) {
    return 0;
  }
  const DType made = op == Op::cast ? result : boolean ? DType::boolean : operand;
  int failed = 0, tried = 0;
  const std::vector<double> empty = flat_block(program, {nullptr, nullptr, nullptr}, {nullptr, nullptr});
  const Both both("ElementwiseFlat", empty);
  CHECK(both.shortcut);
  if (!both.shortcut) return 0;
  for (double x : kNumbers) {
    for (double y : kNumbers) {
      const uint64_t a = cell_of(chooses ? DType::boolean : operand, x), b = cell_of(operand, y), c = cell_of(operand, x + 1);
      uint64_t expected[2] = {0, 0}, found[2] = {0, 0};
      const Code wanted = both.by_kernel(flat_block(program, {&a, &b, &c}, {&expected[0], &expected[1]}));
      // Over the first two inputs, exchanged.
      uint64_t first = a, second = b;
      CHECK(both.by_shortcut(flat_block(program, {&first, &second, &c}, {&found[0], &found[1]})) == wanted);
      tried++;
      if (wanted != Code::ok) continue;
      if (!same_cell(made, found[0], expected[0]) || found[1] != expected[1]) failed++;
      const bool fits = dtype_size(made) == dtype_size(operand) && !chooses;
      if (!fits) continue;
      CHECK(both.by_shortcut(flat_block(program, {&first, &second, &c}, {&second, &first})) == Code::ok);
      if (!same_cell(made, second, expected[0]) || first != expected[1]) failed++;
    }
  }
  if (failed > 0) std::printf("operation %d of dtype %d: %d of %d differ\n", static_cast<int>(op), static_cast<int>(operand), failed, tried);
  CHECK(failed == 0);
  release_program(program);
  return 1;
}

void all_operations() {
  int tried = 0;
  for (DType t : kTypes) {
#define X(name, arity, kind, boolean) if (Op::name != Op::constant && Op::name != Op::cast) tried += operations(Op::name, arity, boolean, t, t);
    EAGRE_SCALAR_OPS(X)
#undef X
    for (DType to : kTypes) tried += operations(Op::cast, 1, false, t, to);
  }
  // Each of them for some dtypes.
  CHECK(tried > 200);
}

// i + 1, (i & 1) == 0 ? sum + i : sum, i + 1 < limit: again and again in place, constants kept.
void turns() {
  ScalarCode code({DType::i32, DType::i32});
  const int one = code.op(Op::constant, DType::i32, {}, 1), zero = code.op(Op::constant, DType::i32, {}, 0);
  const int limit = code.op(Op::constant, DType::i32, {}, 1000);
  const int next = code.op(Op::add, DType::i32, {0, one}), low = code.op(Op::bit_and, DType::i32, {0, one});
  const int even = code.op(Op::eq, DType::boolean, {low, zero}), more = code.op(Op::add, DType::i32, {1, 0});
  const int sum = code.op(Op::select, DType::i32, {even, more, 1}), holds = code.op(Op::lt, DType::boolean, {next, limit});
  const int program = code.compile({next, sum, holds, limit, 0});
  int32_t i = 0, total = 0, constant = 0, before = 0;
  bool more_turns = true;
  const std::vector<double> block = flat_block(program, {&i, &total}, {&i, &total, &more_turns, &constant, &before});
  const Both both("ElementwiseFlat", block);
  CHECK(both.shortcut);
  // The shortcut needs the program no more.
  release_program(program);
  int count = 0;
  while (more_turns && count < 2000) {
    CHECK(both.by_shortcut(block) == Code::ok);
    CHECK(before == count && constant == 1000);
    count++;
  }
  CHECK(count == 1000 && i == 1000 && total == 249500);
}

// Programs of several operations, of which some may fail, again and again on the same few places, with results on operands in all ways.
void in_place() {
  constexpr Op kOps[] = {Op::add, Op::sub, Op::mul, Op::bit_and, Op::min, Op::mod, Op::neg, Op::select};
  // Apart, as values of their own are.
  constexpr int kPlaces = 5, kApart = 4;
  Random random(7);
  int failures = 0;
  for (int round = 0; round < 400; round++) {
    const int inputs = 1 + static_cast<int>(random.below(3));
    ScalarCode code(std::vector<DType>(static_cast<size_t>(inputs), DType::i32));
    std::vector<int> known;
    for (int v = 0; v < inputs; v++) known.push_back(v);
    if (random.below(2) == 0) known.push_back(code.op(Op::constant, DType::i32, {}, 3));
    const auto any = [&] { return known[static_cast<size_t>(random.below(static_cast<int64_t>(known.size())))]; };
    // Each takes the one before, so that all count.
    for (int64_t left = 1 + random.below(6); left > 0; left--) {
      const Op op = kOps[random.below(8)];
      if (op == Op::neg) known.push_back(code.op(op, DType::i32, {known.back()}));
      else if (op == Op::select) known.push_back(code.op(op, DType::i32, {code.op(Op::lt, DType::boolean, {known.back(), any()}), any(), any()}));
      else known.push_back(code.op(op, DType::i32, {known.back(), any()}));
    }
    const int outputs = 1 + static_cast<int>(random.below(3));
    std::vector<int> results;
    for (int k = 0; k < outputs; k++) results.push_back(k == 0 ? known.back() : any());
    const int program = outputs == 1   ? code.compile({results[0]})
                        : outputs == 2 ? code.compile({results[0], results[1]})
                                       : code.compile({results[0], results[1], results[2]});
    std::unique_ptr<Both> both;
    int32_t memory[kPlaces * kApart];
    for (int32_t& m : memory) m = static_cast<int32_t>(random.below(9)) - 2;
    for (int turn = 0; turn < 12; turn++) {
      std::vector<const void*> from;
      std::vector<void*> to, apart;
      int32_t expected[kPlaces * kApart], made[kPlaces];
      // Results in places of their own; operands may share one.
      bool taken[kPlaces] = {};
      std::vector<size_t> places;
      for (int k = 0; k < outputs; k++) {
        size_t place;
        do place = static_cast<size_t>(random.below(kPlaces)); while (taken[place]);
        taken[place] = true;
        places.push_back(place);
        to.push_back(memory + place * kApart);
        apart.push_back(made + k);
      }
      for (int j = 0; j < inputs; j++) from.push_back(memory + random.below(kPlaces) * kApart);
      const std::vector<double> block = flat_block(program, from, to);
      if (!both) both = std::make_unique<Both>("ElementwiseFlat", block);
      CHECK(both->shortcut);
      std::memcpy(expected, memory, sizeof memory);
      const Code wanted = both->by_kernel(flat_block(program, from, apart));
      for (size_t k = 0; wanted == Code::ok && k < places.size(); k++) expected[places[k] * kApart] = made[k];
      CHECK(both->by_shortcut(block) == wanted);
      CHECK(std::memcmp(expected, memory, sizeof memory) == 0);
      failures += wanted != Code::ok;
    }
    release_program(program);
  }
  CHECK(failures > 100);
}

template <class I, class T> void rows(const Dims& dims, int64_t axis, const Dims& index_dims) {
  const auto params = Array<T>::make(dims, [](int64_t k) { return 0.5 * k; });
  int64_t n = dims[static_cast<size_t>(axis)];
  Array<I> index(index_dims);
  Dims row(dims.begin(), dims.begin() + axis);
  row.insert(row.end(), index_dims.begin(), index_dims.end());
  row.insert(row.end(), dims.begin() + axis + 1, dims.end());
  Array<T> expected(row), found(row);
  const auto block = [&](Array<T>& y) {
    std::vector<double> b = {2, 1};
    const auto tensor = [&](const void* p, DType t, const Dims& d) {
      b.insert(b.end(), {address(p), static_cast<double>(static_cast<int>(t)), static_cast<double>(d.size())});
      b.insert(b.end(), d.begin(), d.end());
    };
    tensor(const_cast<Array<T>&>(params).data(), DTypeOf<T>::value, dims);
    tensor(index.data(), DTypeOf<I>::value, index_dims);
    tensor(y.data(), DTypeOf<T>::value, row);
    b.insert(b.end(), {static_cast<double>(axis), 0});
    return b;
  };
  const Both both("Gather", block(expected));
  CHECK(both.shortcut);
  if (!both.shortcut) return;
  for (int64_t at = -1; at <= n; at++) {
    index[0] = static_cast<I>(at);
    const Code wanted = at < 0 || at >= n ? Code::out_of_range : Code::ok;
    CHECK(both.by_kernel(block(expected)) == wanted);
    CHECK(both.by_shortcut(block(found)) == wanted);
    CHECK(same(found, expected) && found.intact());
  }
}

// Rows set in place and in a copy.
template <class I> void stores(const Dims& dims) {
  Array<float> kept(dims, 3), x(dims, 3), expected(dims), found(dims);
  const Dims row(dims.begin() + 1, dims.end());
  const auto values = Array<float>::make(row, [](int64_t k) { return 0.25 * k - 1; });
  Array<I> index({});
  const auto block = [&](const Array<float>& from, Array<float>& y) {
    std::vector<double> b = {3, 1};
    const auto tensor = [&](const void* p, DType t, const Dims& d) {
      b.insert(b.end(), {address(p), static_cast<double>(static_cast<int>(t)), static_cast<double>(d.size())});
      b.insert(b.end(), d.begin(), d.end());
    };
    tensor(from.data(), DType::f32, dims);
    tensor(index.data(), DTypeOf<I>::value, {});
    tensor(values.data(), DType::f32, row);
    tensor(y.data(), DType::f32, dims);
    b.push_back(0);
    return b;
  };
  const Both both("SetRow", block(x, expected));
  CHECK(both.shortcut);
  if (!both.shortcut) return;
  for (int64_t at = -1; at <= dims[0]; at++) {
    index[0] = static_cast<I>(at);
    const Code wanted = at < 0 || at >= dims[0] ? Code::out_of_range : Code::ok;
    CHECK(both.by_kernel(block(kept, expected)) == wanted);
    CHECK(both.by_shortcut(block(kept, found)) == wanted);
    CHECK(same(found, expected) && same(kept, Array<float>(dims, 3)));
    CHECK(both.by_shortcut(block(x, x)) == wanted);
    if (wanted == Code::ok) CHECK(std::memcmp(x.data() + at * values.size, values.data(), static_cast<size_t>(values.size) * 4) == 0);
  }
  for (int64_t k = 0; k < x.size; k++) CHECK(x[k] == values[k % values.size]);
}

void without_shortcuts() {
  Array<float> x({4}), y({4});
  ScalarCode code({DType::f32});
  const int program = code.compile({code.op(Op::neg, DType::f32, {0})});
  std::vector<double> block = flat_block(program, {x.data()}, {y.data()});
  block[3] = 4;
  CHECK(!Both("ElementwiseFlat", block).shortcut);
  // Two rows.
  CHECK(!Both("Gather", {2, 1, 0, 0, 1, 4, 0, 2, 1, 2, 0, 0, 1, 2, 0, 0}).shortcut);
  // Rows that are added.
  CHECK(!Both("SetRow", {3, 1, 0, 0, 1, 4, 0, 2, 0, 0, 0, 0, 0, 0, 1, 4, 1}).shortcut);
  // Indices that the kernel refuses.
  CHECK(!Both("Gather", {2, 1, 0, 0, 1, 4, 0, 0, 0, 0, 0, 0, 0, 0}).shortcut);
}

}  // namespace

int main() {
  all_operations();
  turns();
  in_place();
  rows<int32_t, float>({5}, 0, {});
  rows<int64_t, float>({5}, 0, {1});
  rows<int32_t, double>({5}, 0, {});
  rows<int64_t, uint8_t>({5}, 0, {});
  rows<int32_t, int64_t>({1, 5}, 1, {});
  rows<int32_t, float>({4, 3}, 0, {});
  rows<int64_t, float>({1, 7, 70}, 1, {1, 1});
  stores<int32_t>({6});
  stores<int64_t>({3, 5, 7});
  without_shortcuts();
  return finish();
}
