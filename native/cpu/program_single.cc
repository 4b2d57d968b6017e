// Threaded code: an instruction is a function that works on cells of eight bytes and jumps to the next one by a call in tail position.
// Constants stay in their cells from run to run.
#include "program_single.h"

#include <cstdlib>
#include <new>

#include "rows.h"

EAGRE_BEGIN
namespace {

struct Operation;
using OperationFn = void (*)(const Operation*);
struct Operation {
  OperationFn fn;
  const void *a, *b, *c;
  void* out;
  RowFn row;
};

#define EAGRE_NEXT return op[1].fn(op + 1)

void end(const Operation*) {}

// What takes so long that the calls do not count, to the bit as elsewhere.
void by_row(const Operation* op) {
  op->row(op->a, op->b, op->c, op->out, 1);
  EAGRE_NEXT;
}

template <Op code, bool boolean, class T> void operation(const Operation* op) {
  const T x = *static_cast<const T*>(op->a);
  const T y = *static_cast<const T*>(op->b);
  if constexpr (boolean) {
    *static_cast<uint8_t*>(op->out) = test<code, T>(x, y);
  } else {
    if constexpr (!Type<T>::floating && (code == Op::div || code == Op::floor_div || code == Op::mod)) check_divisors(&y, 1);
    *static_cast<T*>(op->out) = apply<code, T>(x, y);
  }
  EAGRE_NEXT;
}

// Without a branch, which values would have to be guessed for.
template <class Bits> void choose(const Operation* op) {
  const Bits x = *static_cast<const Bits*>(op->b), y = *static_cast<const Bits*>(op->c);
  const Bits mask = static_cast<Bits>(-static_cast<Bits>(*static_cast<const uint8_t*>(op->a) != 0));
  *static_cast<Bits*>(op->out) = static_cast<Bits>((x & mask) | (y & ~mask));
  EAGRE_NEXT;
}

template <Op code, char kind, bool boolean, class T> OperationFn operation_of() {
  constexpr bool floating = Type<T>::floating;
  if constexpr (code == Op::constant || code == Op::cast || code == Op::select || code == Op::pow || kind == 'f') return by_row;
  else if constexpr ((kind == 'i' && floating) || (kind == 'b' && sizeof(T) != 1)) return by_row;
  else return operation<code, boolean, T>;
}

template <class T> OperationFn operation_for(Op code) {
  switch (code) {
#define X(name, arity, kind, boolean) case Op::name: return operation_of<Op::name, kind, boolean, T>();
    EAGRE_SCALAR_OPS(X)
#undef X
  }
  return by_row;
}

OperationFn function_of(const Instr& in) {
  const Op code = static_cast<Op>(in.op);
  if (code == Op::select) {
    switch (dtype_size(in.dtype)) {
      case 1: return choose<uint8_t>;
      case 2: return choose<uint16_t>;
      case 4: return choose<uint32_t>;
      case 8: return choose<uint64_t>;
      default: return by_row;
    }
  }
  switch (in.arg_dtype) {
    case DType::f32: return operation_for<float>(code);
    case DType::f64: return operation_for<double>(code);
    case DType::i32: return operation_for<int32_t>(code);
    case DType::i64: return operation_for<int64_t>(code);
    case DType::u64: return operation_for<uint64_t>(code);
    case DType::u8: case DType::boolean: return operation_for<uint8_t>(code);
    default: return by_row;
  }
}

// The cell of an input or output, and its bytes.
struct Port {
  void* cell;
  size_t bytes;
};

struct Single : Shortcut {
  int inputs, outputs;
  Port ports[kMaxProgramInputs + kMaxProgramOutputs];
  const Operation* operations;
};

inline void move(void* to, const void* from, size_t bytes) {
  if (bytes == 4) std::memcpy(to, from, 4);
  else if (bytes == 8) std::memcpy(to, from, 8);
  else if (bytes == 1) std::memcpy(to, from, 1);
  else std::memcpy(to, from, 2);
}
// Addresses are below 2^63: one instruction for each.
inline void* address(double value) { return reinterpret_cast<void*>(static_cast<intptr_t>(value)); }

// Outputs are written when all is computed, so they may lie on inputs.
void run_single(Shortcut* shortcut, const double* block) {
  const Single& s = *static_cast<const Single*>(shortcut);
  const double* at = block + 4;
  const Port* port = s.ports;
  for (const Port* last = port + s.inputs; port < last; port++) move(port->cell, address(*at++), port->bytes);
  s.operations->fn(s.operations);
  for (const Port* last = port + s.outputs; port < last; port++) move(address(*at++), port->cell, port->bytes);
}

}  // namespace

Shortcut* single_program(Args& a) {
  const Program& p = program(static_cast<int>(a.integer()));
  if (a.integer() != 1 || p.inputs != a.inputs() || p.outputs != a.outputs()) return nullptr;
  const size_t values = static_cast<size_t>(p.inputs + p.instrs);
  void* memory = std::malloc(sizeof(Single) + (static_cast<size_t>(p.instrs) + 1) * sizeof(Operation) + values * sizeof(uint64_t));
  if (!memory) return nullptr;
  Single* s = new (memory) Single{};
  Operation* operation = reinterpret_cast<Operation*>(s + 1);
  uint64_t* cells = reinterpret_cast<uint64_t*>(operation + p.instrs + 1);
  s->run = run_single;
  s->inputs = p.inputs;
  s->outputs = p.outputs;
  s->operations = operation;
  Port* port = s->ports;
  for (int j = 0; j < p.inputs; j++) *port++ = {cells + j, dtype_size(p.input_dtypes[j])};
  for (int k = 0; k < p.outputs; k++) *port++ = {cells + p.results[k], dtype_size(p.dtype_of(p.results[k]))};
  for (int i = 0; i < p.instrs; i++) {
    const Instr& in = p.code[i];
    uint64_t* out = cells + p.inputs + i;
    if (in.op == static_cast<int>(Op::constant)) {
      fill_constant(out, in, 1);
      continue;
    }
    const auto arg = [&](int k) { return cells + (in.args[k] < 0 ? in.args[0] : in.args[k]); };
    new (operation++) Operation{function_of(in), arg(0), arg(1), arg(2), out, row_function(in)};
  }
  new (operation) Operation{end, nullptr, nullptr, nullptr, nullptr, nullptr};
  return s;
}
EAGRE_END
