#include "schedule.h"

#include <algorithm>

namespace eagre {
namespace {

bool in_chains(Op op) {
  switch (op) {
    case Op::neg: case Op::abs: case Op::sqrt: case Op::rsqrt:
    case Op::add: case Op::sub: case Op::mul: case Op::div: case Op::min: case Op::max:
    case Op::exp: case Op::log: case Op::tanh: case Op::sigmoid: case Op::erf:
      return true;
    default:
      return false;
  }
}
bool compares(Op op) {
  switch (op) {
    case Op::eq: case Op::ne: case Op::lt: case Op::le: case Op::gt: case Op::ge: return true;
    default: return false;
  }
}
bool commutes(Op op) { return op == Op::add || op == Op::mul || op == Op::eq || op == Op::ne; }

class Scheduler {
 public:
  explicit Scheduler(Program& p)
      : p_(p), refused_(count(p.instrs)), chained_(count(p.instrs)), stored_(count(p.instrs)), needed_(count(p.instrs)),
        passed_(count(p.instrs)) {}

  Schedule run() {
    find_needed();
    do {
      find_chained();
      order();
      do {
        incomplete_ = false;
        emit();
      } while (incomplete_);
    } while (refuse());
    allocate();
    return std::move(result_);
  }

 private:
  static size_t count(int n) { return static_cast<size_t>(n); }
  // Of a value that an instruction computes.
  Instr& instr(int value) { return p_.code[value - p_.inputs]; }
  size_t index(int value) const { return static_cast<size_t>(value - p_.inputs); }
  bool computed(int value) const { return value >= p_.inputs; }
  Op op(int value) { return static_cast<Op>(instr(value).op); }
  bool constant(int value) { return computed(value) && op(value) == Op::constant; }
  // Comparisons in chains are made where somebody asks for their truth.
  bool lazy(int value) { return computed(value) && chained_[index(value)] && compares(op(value)); }
  bool is_result(int value) const { return std::find(p_.results, p_.results + p_.outputs, value) != p_.results + p_.outputs; }

  void find_needed() {
    for (int k = 0; k < p_.outputs; k++) {
      if (computed(p_.results[k])) needed_[index(p_.results[k])] = true;
    }
    for (int i = p_.instrs; i-- > 0;) {
      if (!needed_[count(i)]) continue;
      for (int v : p_.code[i].args) {
        if (computed(v)) needed_[index(v)] = true;
      }
    }
  }

  bool may_chain(int value) {
    const Instr& in = instr(value);
    if (refused_[index(value)]) return false;
    if (in.arg_dtype != DType::f32 && op(value) != Op::cast) return false;
    switch (op(value)) {
      case Op::select: return lazy(in.args[0]);
      case Op::cast: return in.dtype == DType::f32 && lazy(in.args[0]);
      case Op::min: case Op::max:
        for (int v : in.args) {
          if (v >= 0 && constant(v) && instr(v).value != instr(v).value) return false;
        }
        return true;
      default: return in_chains(op(value)) || compares(op(value));
    }
  }
  // What chains can compute. The truth of a comparison can only stay there, so one that somebody else reads is left out, and then
  // what would choose by it.
  void find_chained() {
    chained_.assign(chained_.size(), true);
    for (bool changed = true; changed;) {
      changed = false;
      for (int i = 0; i < p_.instrs; i++) {
        const int value = p_.inputs + i;
        if (chained_[count(i)] && (!needed_[count(i)] || !may_chain(value) || (lazy(value) && read_elsewhere(value)))) {
          chained_[count(i)] = false;
          changed = true;
        }
      }
    }
  }
  bool read_elsewhere(int value) {
    if (is_result(value)) return true;
    for (int i = 0; i < p_.instrs; i++) {
      const Instr& in = p_.code[i];
      if (!needed_[count(i)]) continue;
      for (int k = 0; k < 3; k++) {
        if (in.args[k] == value && (k > 0 || !chained_[count(i)])) return true;
      }
    }
    return false;
  }

  // A chain before each of the others with what that needs, and one for the rest.
  void order() {
    groups_.clear();
    stored_.assign(stored_.size(), false);
    passed_.assign(passed_.size(), false);
    for (int i = 0; i < p_.instrs; i++) {
      const int value = p_.inputs + i;
      if (!needed_[count(i)] || chained_[count(i)] || constant(value)) continue;
      std::vector<int> chain;
      for (int v : p_.code[i].args) gather(v, chain);
      add_chain(chain);
      groups_.push_back({value, {}});
      for (int v : p_.code[i].args) {
        if (v >= 0) want(v);
      }
      stored_[count(i)] = true;
    }
    std::vector<int> chain;
    for (int k = 0; k < p_.outputs; k++) {
      gather(p_.results[k], chain);
      want(p_.results[k]);
    }
    add_chain(chain);
  }
  void gather(int value, std::vector<int>& chain) {
    if (value < 0 || !computed(value) || !chained_[index(value)] || passed_[index(value)]) return;
    if (!lazy(value)) passed_[index(value)] = true;
    for (int v : instr(value).args) gather(v, chain);
    if (!lazy(value)) chain.push_back(value);
  }
  void add_chain(std::vector<int>& chain) {
    if (chain.empty()) return;
    std::sort(chain.begin(), chain.end());
    groups_.push_back({-1, std::move(chain)});
  }

  // Makes sure that a value has memory.
  void want(int value) {
    if (!computed(value) || stored_[index(value)]) return;
    stored_[index(value)] = true;
    incomplete_ = true;
  }

  void emit() {
    result_.passes.clear();
    result_.moves.clear();
    for (const Group& g : groups_) {
      result_.passes.push_back({g.instr < 0 ? -1 : g.instr - p_.inputs, static_cast<int32_t>(result_.moves.size())});
      if (g.instr < 0) emit_chain(g.chain);
    }
  }
  void add(MoveKind kind, MoveForm form = MoveForm::none, int op = 0, int value = -1, float c = 0) {
    result_.moves.push_back({kind, form, static_cast<int16_t>(op), -1, value, c});
  }
  // A move with an operand from outside of the register.
  void add_with(MoveKind kind, int op, int operand, bool first) {
    if (constant(operand)) {
      add(kind, first ? MoveForm::constant_first : MoveForm::constant, op, -1, static_cast<float>(instr(operand).value));
      return;
    }
    want(operand);
    add(kind, first ? MoveForm::memory_first : MoveForm::memory, op, operand);
  }
  void take(int value) {
    if (register_ != value) add_with(MoveKind::load, 0, value, false);
    register_ = value;
  }
  void add_pair(MoveKind kind, Op op, int x, int y) {
    const int number = static_cast<int>(op);
    if (x == y) {
      take(x);
      add(kind, MoveForm::self, number);
    } else if (register_ == y) {
      add_with(kind, number, x, !commutes(op));
    } else {
      take(x);
      add_with(kind, number, y, false);
    }
  }
  void ask(int comparison) {
    if (truth_ == comparison) return;
    const Instr& in = instr(comparison);
    add_pair(MoveKind::compare, op(comparison), in.args[0], in.args[1]);
    truth_ = comparison;
  }
  void emit_chain(const std::vector<int>& chain) {
    register_ = truth_ = -1;
    for (int value : chain) {
      const Instr& in = instr(value);
      if (op(value) == Op::cast) {
        ask(in.args[0]);
        add(MoveKind::truth);
      } else if (op(value) == Op::select) {
        ask(in.args[0]);
        add_pair(MoveKind::choose, Op::select, in.args[1], in.args[2]);
      } else if (in.args[1] < 0) {
        take(in.args[0]);
        add(MoveKind::apply, MoveForm::none, in.op);
      } else {
        add_pair(MoveKind::apply, op(value), in.args[0], in.args[1]);
      }
      register_ = value;
      if (stored_[index(value)]) add(MoveKind::store, MoveForm::memory, 0, value);
    }
    add(MoveKind::end);
  }

  // Chains that cost more than their instructions by themselves are given up; whether there were any. The numbers are cycles for 8
  // vectors of AVX-512, measured on Zen 5. Each input counts more: a chain waits longer for what comes from far away.
  bool refuse() {
    bool any = false;
    for (size_t g = 0; g < groups_.size(); g++) {
      if (groups_[g].instr >= 0) continue;
      int chain = 0, apart = 0;
      std::vector<bool> inputs(count(p_.inputs));
      for (size_t m = count(result_.passes[g].move); result_.moves[m].kind != MoveKind::end; m++) {
        const Move& move = result_.moves[m];
        chain += cost(move);
        if (move.value < 0 || computed(move.value) || inputs[count(move.value)]) continue;
        inputs[count(move.value)] = true;
        chain += 5;
      }
      for (int value : groups_[g].chain) apart += op(value) == Op::select ? 24 : 14;
      if (chain <= apart) continue;
      for (int value : groups_[g].chain) refused_[index(value)] = true;
      any = true;
    }
    return any;
  }
  static int cost(const Move& m) {
    const int operand = m.value >= 0 ? 7 : 3;
    switch (m.kind) {
      case MoveKind::store: return 8;
      case MoveKind::compare: case MoveKind::choose: return operand + 5;
      default: return operand;
    }
  }

  // Gives every value in memory a tile buffer. Constants are written once, before the first tile, so they keep theirs; other buffers
  // are free again after their last reader, but never for the result of an instruction that reads them: a cast could then write what
  // it has not read yet. A chain reads and writes one block after the other.
  void allocate() {
    const size_t values = count(p_.inputs + p_.instrs);
    std::vector<int> last(values, -1);
    int time = 0;
    each_access([&](int v, bool) { last[count(v)] = time; }, [&] { time++; });
    for (int k = 0; k < p_.outputs; k++) last[count(p_.results[k])] = time;
    std::vector<bool> used;
    const auto give = [&](int value) {
      const size_t s = static_cast<size_t>(std::find(used.begin(), used.end(), false) - used.begin());
      if (s == used.size()) used.push_back(true);
      used[s] = true;
      instr(value).slot = static_cast<int32_t>(s);
    };
    for (int i = 0; i < p_.instrs; i++) {
      p_.code[i].slot = -1;
      if (stored_[count(i)] && constant(p_.inputs + i)) give(p_.inputs + i);
    }
    std::vector<int> reads;
    int at = 0;
    each_access(
        [&](int v, bool write) {
          if (write) give(v);
          else if (computed(v) && !constant(v) && last[count(v)] == at) reads.push_back(v);
        },
        [&] {
          for (int v : reads) used[count(instr(v).slot)] = false;
          reads.clear();
          at++;
        });
    // What is stored and never read again may leave at once.
    for (Move& m : result_.moves) {
      if (m.kind != MoveKind::store || last[count(m.value)] != time) continue;
      if (std::count(p_.results, p_.results + p_.outputs, m.value) == 1 && !read_from_memory(m.value))
        m.output = static_cast<int16_t>(std::find(p_.results, p_.results + p_.outputs, m.value) - p_.results);
    }
    result_.slots = static_cast<int>(used.size());
  }
  bool read_from_memory(int value) {
    bool found = false;
    each_access([&](int v, bool write) { found |= v == value && !write; }, [] {});
    return found;
  }
  // Calls touch(value, whether it is written) in order, and next() after each instruction or move.
  template <class Touch, class Next> void each_access(Touch touch, Next next) {
    for (const Pass& pass : result_.passes) {
      if (pass.instr >= 0) {
        for (int v : p_.code[pass.instr].args) {
          if (v >= 0) touch(v, false);
        }
        touch(p_.inputs + pass.instr, true);
        next();
        continue;
      }
      for (size_t m = count(pass.move); result_.moves[m].kind != MoveKind::end; m++) {
        const Move& move = result_.moves[m];
        if (move.value >= 0) touch(move.value, move.kind == MoveKind::store);
        next();
      }
    }
  }

  struct Group {
    int instr;  // a value, or -1
    std::vector<int> chain;
  };
  Program& p_;
  // By instruction: whether no chain may compute it, whether one does, whether its result has memory, whether a result depends on it, whether it has a place.
  std::vector<bool> refused_, chained_, stored_, needed_, passed_;
  std::vector<Group> groups_;
  Schedule result_{};
  bool incomplete_ = false;
  int register_ = -1, truth_ = -1;
};

}  // namespace

Schedule schedule(Program& p) { return Scheduler(p).run(); }

}  // namespace eagre
