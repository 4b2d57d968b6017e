// The part of PTX that packages/gpu-kernels prints, as C++ for the processor: for the fake driver, and for tests that run many kernels. Every
// instruction becomes a statement; registers are variables that begin with garbage. Types of registers are not checked: NVIDIA's ptxas does that.
#pragma once
#include <cctype>
#include <cstdio>
#include <cstring>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace fake_ptx {

// What the statements need before them.
inline const char* const kPrelude = R"(
#include <cmath>
#include <cstdint>
#include <cstring>
namespace ptx {
template <class T, class F> inline T bits(F from) { T to; static_assert(sizeof to == sizeof from); memcpy(&to, &from, sizeof to); return to; }
template <class T> inline T load(uint64_t at) { T value; memcpy(&value, (const void*)at, sizeof value); return value; }
template <class T> inline void store(uint64_t at, T value) { memcpy((void*)at, &value, sizeof value); }
inline int32_t s(uint32_t x) { return int32_t(x); }
inline uint32_t shl(uint32_t a, uint32_t b) { return b > 31 ? 0 : a << b; }
inline uint32_t shr(uint32_t a, uint32_t b) { return b > 31 ? 0 : a >> b; }
inline uint32_t sar(uint32_t a, uint32_t b) { return uint32_t(s(a) >> (b > 31 ? 31 : b)); }
// Integer division by 0 gives something, and stops nothing.
inline uint32_t div(uint32_t a, uint32_t b) { return b == 0 ? 0xabababab : a / b; }
inline uint32_t rem(uint32_t a, uint32_t b) { return b == 0 ? 0xabababab : a % b; }
inline uint32_t sdiv(uint32_t a, uint32_t b) { return b == 0 ? 0xabababab : uint32_t(int64_t(s(a)) / s(b)); }
inline uint32_t srem(uint32_t a, uint32_t b) { return b == 0 ? 0xabababab : uint32_t(int64_t(s(a)) % s(b)); }
inline uint32_t toS(float x) { return std::isnan(x) ? 0 : x >= 2147483648.f ? 0x7fffffff : x < -2147483648.f ? 0x80000000 : uint32_t(int32_t(x)); }
inline uint32_t toU(float x) { return std::isnan(x) || x < 0 ? 0 : x >= 4294967296.f ? 0xffffffff : uint32_t(x); }
template <class T> inline uint32_t max(uint64_t at, uint32_t value) { const uint32_t old = load<uint32_t>(at); store(at, old < value ? value : old); return old; }
template <class T> inline uint32_t add(uint64_t at, uint32_t value) { const uint32_t old = load<uint32_t>(at); store(at, old + value); return old; }
}
)";

// By instruction; A, B and C are what follows the result, and `&` stands for memory.
inline const std::map<std::string, std::string>& expressions() {
  static const std::map<std::string, std::string> known = {
      {"add.rn.f32", "A + B"}, {"sub.rn.f32", "A - B"}, {"mul.rn.f32", "A * B"}, {"div.rn.f32", "A / B"},
      {"fma.rn.f32", "fmaf(A, B, C)"}, {"neg.f32", "-A"}, {"abs.f32", "fabsf(A)"}, {"sqrt.rn.f32", "sqrtf(A)"}, {"rcp.rn.f32", "1.0f / A"},
      {"add.s32", "A + B"}, {"add.u32", "A + B"}, {"sub.s32", "A - B"}, {"sub.u32", "A - B"}, {"mul.lo.s32", "A * B"}, {"mul.lo.u32", "A * B"},
      {"mad.lo.u32", "A * B + C"}, {"div.u32", "ptx::div(A, B)"}, {"rem.u32", "ptx::rem(A, B)"}, {"div.s32", "ptx::sdiv(A, B)"},
      {"rem.s32", "ptx::srem(A, B)"}, {"neg.s32", "0u - A"}, {"and.b32", "A & B"}, {"or.b32", "A | B"}, {"xor.b32", "A ^ B"}, {"not.b32", "~A"},
      {"and.pred", "A && B"}, {"or.pred", "A || B"}, {"xor.pred", "A != B"}, {"not.pred", "!A"},
      {"shl.b32", "ptx::shl(A, B)"}, {"shr.u32", "ptx::shr(A, B)"}, {"shr.s32", "ptx::sar(A, B)"},
      {"selp.f32", "C ? A : B"}, {"selp.b32", "C ? A : B"},
      {"cvt.rmi.f32.f32", "floorf(A)"}, {"cvt.rpi.f32.f32", "ceilf(A)"}, {"cvt.rzi.f32.f32", "truncf(A)"}, {"cvt.rni.f32.f32", "rintf(A)"},
      {"cvt.rzi.s32.f32", "ptx::toS(A)"}, {"cvt.rzi.u32.f32", "ptx::toU(A)"}, {"cvt.rn.f32.s32", "float(ptx::s(A))"}, {"cvt.rn.f32.u32", "float(A)"},
      {"mul.wide.u32", "uint64_t(A) * uint64_t(B)"}, {"mul.wide.s32", "uint64_t(int64_t(ptx::s(A)) * int64_t(B))"}, {"add.s64", "A + B"},
      {"setp.eq.f32", "A == B"}, {"setp.neu.f32", "!(A == B)"}, {"setp.lt.f32", "A < B"}, {"setp.le.f32", "A <= B"}, {"setp.gt.f32", "A > B"},
      {"setp.ge.f32", "A >= B"}, {"setp.eq.u32", "A == B"}, {"setp.ne.u32", "A != B"}, {"setp.lt.u32", "A < B"}, {"setp.le.u32", "A <= B"},
      {"setp.gt.u32", "A > B"}, {"setp.ge.u32", "A >= B"}, {"setp.eq.s32", "A == B"}, {"setp.ne.s32", "A != B"},
      {"setp.lt.s32", "ptx::s(A) < ptx::s(B)"}, {"setp.le.s32", "ptx::s(A) <= ptx::s(B)"}, {"setp.gt.s32", "ptx::s(A) > ptx::s(B)"},
      {"setp.ge.s32", "ptx::s(A) >= ptx::s(B)"},
      {"mov.f32", "A"}, {"mov.u32", "A"}, {"mov.pred", "A"}, {"cvta.to.global.u64", "A"},
      {"ld.global.f32", "ptx::load<float>(A)"}, {"ld.shared.f32", "ptx::load<float>(A)"}, {"ld.local.f32", "ptx::load<float>(A)"},
      {"ld.global.u32", "ptx::load<uint32_t>(A)"}, {"ld.shared.u32", "ptx::load<uint32_t>(A)"}, {"ld.local.u32", "ptx::load<uint32_t>(A)"},
      {"ld.global.u16", "ptx::load<uint16_t>(A)"},
      {"atom.global.max.u32", "ptx::max<uint32_t>(A, B)"}, {"atom.global.add.u32", "ptx::add<uint32_t>(A, B)"},
      {"atom.shared.max.u32", "ptx::max<uint32_t>(A, B)"}, {"atom.shared.add.u32", "ptx::add<uint32_t>(A, B)"},
  };
  return known;
}

inline std::runtime_error unknown(const std::string& line) { return std::runtime_error("the fake PTX does not know: " + line); }

// An operand as C++: a register, a number, a special register, or a place in memory.
inline std::string operand(const std::string& text) {
  if (text[0] == '[') {
    const size_t plus = text.find('+');
    return operand(text.substr(1, plus - 1)) + " + " + text.substr(plus + 1, text.size() - plus - 2);
  }
  if (text[0] == '%') {
    static const std::map<std::string, std::string> special = {{"%tid", "threadIdx"}, {"%ntid", "blockDim"}, {"%ctaid", "blockIdx"}, {"%nctaid", "gridDim"}};
    const size_t dot = text.find('.');
    if (dot != std::string::npos) return special.at(text.substr(0, dot)) + text.substr(dot);
    return std::string(1, text[1]) + "[" + text.substr(2) + "]";
  }
  if (text.compare(0, 2, "0f") == 0) return "ptx::bits<float>(0x" + text.substr(2) + "u)";
  if (isdigit(static_cast<unsigned char>(text[0]))) return text + "u";
  if (text == "-1") return "1";
  return "uint64_t(&" + text + "[0])";
}

inline std::string statement(const std::string& name, const std::vector<std::string>& args, const std::string& line) {
  if (name == "bra") return "goto " + args.at(0) + ";";
  if (name == "ret") return "return;";
  if (name == "bar.sync") return "__syncthreads();";
  // Blocks run one behind the other.
  if (name == "membar.gl") return ";";
  if (name == "ld.param.u64") return operand(args.at(0)) + " = uint64_t(" + args.at(1).substr(1, args.at(1).size() - 2) + ");";
  if (name == "ld.param.u32" || name == "ld.param.f32")
    return operand(args.at(0)) + " = ptx::load<" + (name.back() == '2' && name[9] == 'f' ? "float" : "uint32_t") + ">(uint64_t(&uniforms) + " +
           args.at(1).substr(args.at(1).find('+') + 1, args.at(1).size() - args.at(1).find('+') - 2) + ");";
  if (name == "mov.u64") return operand(args.at(0)) + " = " + operand(args.at(1)) + ";";
  if (name == "mov.b32")
    return operand(args.at(0)) + " = ptx::bits<" + (args.at(0)[1] == 'f' ? "float" : "uint32_t") + ">(" + operand(args.at(1)) + ");";
  if (name.compare(0, 3, "st.") == 0) {
    const std::string type = name.substr(name.find('.', 3) + 1);
    const std::string at = operand(args.at(0));
    if (type == "f32" || type == "u32") return "ptx::store(" + at + ", " + operand(args.at(1)) + ");";
    if (type == "u16") return "ptx::store<uint16_t>(" + at + ", " + operand(args.at(1)) + ");";
    if (type == "v2.u32")
      return "ptx::store(" + at + ", " + operand(args.at(1).substr(1)) + "); ptx::store(" + at + " + 4, " +
             operand(args.at(2).substr(0, args.at(2).size() - 1)) + ");";
    throw unknown(line);
  }
  if (name.find(".v2.u32") != std::string::npos) {
    const std::string at = operand(args.at(2));
    return operand(args.at(0).substr(1)) + " = ptx::load<uint32_t>(" + at + "); " + operand(args.at(1).substr(0, args.at(1).size() - 1)) +
           " = ptx::load<uint32_t>(" + at + " + 4);";
  }
  const auto found = expressions().find(name);
  if (found == expressions().end()) throw unknown(line);
  std::string made = operand(args.at(0)) + " = ";
  const std::string& text = found->second;
  for (size_t i = 0; i < text.size(); i++) {
    const bool alone = (i == 0 || !isalnum(static_cast<unsigned char>(text[i - 1]))) && (i + 1 == text.size() || !isalnum(static_cast<unsigned char>(text[i + 1])));
    if (alone && text[i] >= 'A' && text[i] <= 'C') made += "(" + operand(args.at(text[i] - 'A' + 1)) + ")";
    else made += text[i];
  }
  return made + ";";
}

struct Kernel {
  std::string name, code;
  bool barriers = false;
};

// A module with one entry as a C++ function of its name, whose parameters are `char*` for each buffer and `name_uniforms` by value.
inline Kernel translate(const std::string& text) {
  Kernel kernel;
  std::istringstream lines(text);
  std::string parameters, body, line;
  bool inside = false;
  while (std::getline(lines, line)) {
    if (!inside) {
      if (line.compare(0, 15, ".visible .entry") == 0) kernel.name = line.substr(16, line.find('(') - 16);
      else if (line.compare(0, 11, ".param .u64") == 0) {
        const std::string name = line.substr(12, line.find_last_not_of(", ") - 11);
        parameters += (parameters.empty() ? "" : ", ") + ("char* " + name);
      } else if (line.compare(0, 6, ".param") == 0) {
        kernel.code += "struct " + kernel.name + "_uniforms { unsigned words[" + line.substr(line.find('[') + 1, line.find(']') - line.find('[') - 1) + " / 4]; };\n";
        parameters += (parameters.empty() ? "const " : ", const ") + kernel.name + "_uniforms uniforms";
      } else if (line == "{") inside = true;
      continue;
    }
    if (line == "}") break;
    if (line.back() == ':') {
      body += line + ";\n";
      continue;
    }
    if (line.empty() || line.back() != ';') throw unknown(line);
    line.pop_back();
    if (line.compare(0, 5, ".reg ") == 0) {
      const char letter = line[line.find('%') + 1];
      const std::string count = line.substr(line.find('<') + 1, line.find('>') - line.find('<') - 1);
      const char* type = letter == 'f' ? "float" : letter == 'r' ? "uint32_t" : letter == 'p' ? "bool" : "uint64_t";
      body += std::string(type) + " " + letter + "[" + count + "]; memset(" + letter + ", " + (letter == 'p' ? "1" : "0xab") + ", sizeof " + letter + ");\n";
      continue;
    }
    if (line.compare(0, 8, ".shared ") == 0 || line.compare(0, 7, ".local ") == 0) {
      const std::string name = line.substr(line.find(".b8 ") + 4);
      body += std::string("alignas(8) ") + (line[1] == 's' ? "static " : "") + "char " + name + ";\n";
      continue;
    }
    std::string guard;
    if (line[0] == '@') {
      const size_t space = line.find(' ');
      const bool no = line[1] == '!';
      guard = std::string("if (") + (no ? "!" : "") + operand(line.substr(no ? 2 : 1, space - (no ? 2 : 1))) + ") ";
      line = line.substr(space + 1);
    }
    const size_t space = line.find(' ');
    std::vector<std::string> args;
    for (size_t at = space; at != std::string::npos;) {
      const size_t next = line.find(", ", at + 1);
      args.push_back(line.substr(at + 1, next == std::string::npos ? next : next - at - 1));
      at = next == std::string::npos ? next : next + 1;
    }
    const std::string name = line.substr(0, space);
    kernel.barriers = kernel.barriers || name == "bar.sync";
    body += guard + (guard.empty() ? "" : "{ ") + statement(name, args, line) + (guard.empty() ? "\n" : " }\n");
  }
  if (kernel.name.empty() || !inside) throw unknown("a module without an entry");
  kernel.code += "static void " + kernel.name + "(" + parameters + ") {\n" + body + "}\n";
  return kernel;
}

}  // namespace fake_ptx
