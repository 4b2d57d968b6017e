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

// An input or an output of the program. Operations use its memory itself where they can, and otherwise a cell, which is filled before
// they run or written out after them.
struct Port {
  void* cell;
  size_t bytes;
  int at;       // of an output: the operation that makes it; of an input: the last one that reads it
  bool direct;  // whether operations can use its memory
};
// An operand or a result of an operation that is a port's value.
struct Slot {
  const void** pointer;
  int port;
};
struct Move {
  void* to;
  const void* from;
  size_t bytes;
};

constexpr int kMaxPorts = kMaxProgramInputs + kMaxProgramOutputs;

struct Single : Shortcut {
  int inputs, ports, slots, moves_in, moves_out;
  const Operation* operations;
  const Slot* slot;
  int64_t bound[kMaxPorts];  // the addresses that the operations have, as they stand in the block
  Port port[kMaxPorts];
  Move in[kMaxProgramInputs], out[kMaxProgramOutputs];
};

inline void move(const Move& m) {
  if (m.bytes == 4) std::memcpy(m.to, m.from, 4);
  else if (m.bytes == 8) std::memcpy(m.to, m.from, 8);
  else if (m.bytes == 1) std::memcpy(m.to, m.from, 1);
  else std::memcpy(m.to, m.from, 2);
}
// Addresses are below 2^63: one instruction for each.
inline void* address(double value) { return reinterpret_cast<void*>(static_cast<intptr_t>(value)); }

inline int64_t bits_at(const double* at) {
  int64_t bits;
  std::memcpy(&bits, at, sizeof bits);
  return bits;
}

inline bool overlap(double a, double b) { return a - b < 8 && b - a < 8; }

// Whether an output may be written before the operations behind its own have run: none of them may read an input that lies there.
bool writes_early(const Single& s, int k, const double* at) {
  if (!s.port[k].direct) return false;
  for (int j = 0; j < s.ports; j++) {
    if (j == k || !overlap(at[j], at[k])) continue;
    if (j >= s.inputs || (s.port[j].direct && s.port[j].at > s.port[k].at)) return false;
  }
  return true;
}

// Gives the operations the addresses of a run, which are mostly those of the run before.
void bind(Single& s, const double* at) {
  void* memory[kMaxPorts];
  s.moves_in = s.moves_out = 0;
  for (int j = 0; j < s.ports; j++) {
    const Port& port = s.port[j];
    s.bound[j] = bits_at(at + j);
    memory[j] = address(at[j]);
    if (j < s.inputs ? port.direct : writes_early(s, j, at)) continue;
    if (j < s.inputs) s.in[s.moves_in++] = {port.cell, memory[j], port.bytes};
    else s.out[s.moves_out++] = {memory[j], port.cell, port.bytes};
    memory[j] = port.cell;
  }
  for (int i = 0; i < s.slots; i++) *s.slot[i].pointer = memory[s.slot[i].port];
}

void run_single(Shortcut* shortcut, const double* block) {
  Single& s = *static_cast<Single*>(shortcut);
  const double* at = block + 4;
  // One by one: a vector of addresses would wait for each that has just been written.
  for (int j = 0; j < s.ports; j++) {
    if (bits_at(at + j) == s.bound[j]) continue;
    bind(s, at);
    break;
  }
  for (int i = 0; i < s.moves_in; i++) move(s.in[i]);
  s.operations->fn(s.operations);
  for (int i = 0; i < s.moves_out; i++) move(s.out[i]);
}

// An operation that may throw, after which outputs must be as before.
bool can_fail(const Instr& in) {
  const Op code = static_cast<Op>(in.op);
  return code == Op::div || code == Op::floor_div || code == Op::mod || code == Op::pow;
}

}  // namespace

Shortcut* single_program(Args& a) {
  const Program& p = program(static_cast<int>(a.integer()));
  if (a.integer() != 1 || p.inputs != a.inputs() || p.outputs != a.outputs()) return nullptr;
  const size_t values = static_cast<size_t>(p.inputs + p.instrs), most = static_cast<size_t>(p.instrs) + 1;
  void* memory = std::malloc(sizeof(Single) + most * (sizeof(Operation) + 4 * sizeof(Slot)) + values * sizeof(uint64_t));
  if (!memory) return nullptr;
  Single* s = new (memory) Single{};
  Operation* operation = reinterpret_cast<Operation*>(s + 1);
  Slot* slot = reinterpret_cast<Slot*>(operation + most);
  uint64_t* cells = reinterpret_cast<uint64_t*>(slot + 4 * most);
  s->run = run_single;
  s->inputs = p.inputs;
  s->ports = p.inputs + p.outputs;
  s->operations = operation;
  s->slot = slot;
  int port_of[kMaxProgramValues];
  for (size_t v = 0; v < values; v++) port_of[v] = -1;
  for (int j = 0; j < p.inputs; j++) {
    s->port[j] = {cells + j, dtype_size(p.input_dtypes[j]), -1, true};
    port_of[j] = j;
  }
  for (int k = 0; k < p.outputs; k++) {
    const int value = p.results[k], j = p.inputs + k;
    // What is two ports is written out at the end.
    const bool once = port_of[value] < 0;
    s->port[j] = {cells + value, dtype_size(p.dtype_of(value)), -1, once};
    if (once) port_of[value] = j;
    else s->port[port_of[value]].direct = false;
  }
  int failing = -1, number = 0;
  for (int i = 0; i < p.instrs; i++) {
    const Instr& in = p.code[i];
    const int value = p.inputs + i, made = port_of[value];
    if (in.op == static_cast<int>(Op::constant)) {
      fill_constant(cells + value, in, 1);
      if (made >= 0) s->port[made].direct = false;
      continue;
    }
    const int args[] = {in.args[0], in.args[1] < 0 ? in.args[0] : in.args[1], in.args[2] < 0 ? in.args[0] : in.args[2]};
    new (operation) Operation{function_of(in), cells + args[0], cells + args[1], cells + args[2], cells + value, row_function(in)};
    // A row's function may read and write more than the one element.
    const bool row = operation->fn == by_row;
    const void** pointers[] = {&operation->a, &operation->b, &operation->c};
    for (int k = 0; k < 3; k++) {
      const int port = port_of[args[k]];
      if (port < 0) continue;
      *slot++ = {pointers[k], port};
      if (row) s->port[port].direct = false;
      if (port < p.inputs) s->port[port].at = number;
    }
    if (made >= 0) {
      *slot++ = {const_cast<const void**>(&operation->out), made};
      s->port[made].at = number;
      if (row) s->port[made].direct = false;
    }
    if (can_fail(in)) failing = number;
    operation++;
    number++;
  }
  for (int j = p.inputs; j < s->ports; j++) s->port[j].direct &= s->port[j].at >= failing;
  new (operation) Operation{end, nullptr, nullptr, nullptr, nullptr, nullptr};
  s->slots = static_cast<int>(slot - s->slot);
  // No address is -1.
  for (int64_t& bits : s->bound) bits = -1;
  return s;
}
EAGRE_END
