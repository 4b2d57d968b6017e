#include "harness.h"

using namespace eagre;

namespace {

// FNV-1a of the bytes. The same numbers stand in packages/backend-js/src/philox-numbers.test.ts.
template <class T> uint32_t checksum(const Array<T>& y) {
  uint32_t h = 2166136261u;
  for (size_t i = 0; i < static_cast<size_t>(y.size) * sizeof(T); i++) h = (h ^ y.bytes[i]) * 16777619u;
  return h;
}

Array<uint64_t> source() {
  Array<uint64_t> s({3});
  s[0] = 0x123456789abcdef0u;
  // The counter crosses from its low half into the high one.
  s[1] = ~uint64_t{0} - 999;
  s[2] = 77;
  return s;
}

template <class T> void golden(int kind, uint32_t expected) {
  Array<uint64_t> from = source();
  Array<int64_t> bounds({2});
  bounds[0] = -100, bounds[1] = 2000003;
  Array<double> one({3}), two({2, 3});
  const double alphas[] = {0.4, 1, 7.5}, rates[] = {0.7, 9, 300}, attempts[] = {5, 100, 40, 0.2, 0.6, 1};
  for (int i = 0; i < 3; i++) one[i] = kind == 5 ? alphas[i] : rates[i];
  for (int i = 0; i < 6; i++) two[i] = attempts[i];
  Array<T> y({4101});
  Call call;
  call.in(from);
  if (kind == 4) call.in(bounds);
  if (kind == 5 || kind == 6) call.in(one);
  if (kind == 7) call.in(two);
  CHECK(call.out(y).attr(kind).run("PhiloxNumbers") == Code::ok);
  CHECK(y.intact());
  if (checksum(y) != expected) std::printf("kind %d of dtype %d: 0x%08x\n", kind, static_cast<int>(DTypeOf<T>::value), checksum(y));
  CHECK(checksum(y) == expected);
}

}  // namespace

int main() {
  // As many as there are kinds: uniform, normal, truncated normal, bits, integers, gamma, Poisson, binomial.
  golden<float>(0, 0x0d899d5fu);
  golden<double>(0, 0xac1bcae4u);
  golden<float>(1, 0x6347c720u);
  golden<float>(2, 0xa09384a6u);
  golden<int32_t>(3, 0xe9fd05d9u);
  golden<int64_t>(3, 0x6d389401u);
  golden<uint64_t>(3, 0x6d389401u);
  golden<int32_t>(4, 0x1a370c0fu);
  golden<int64_t>(4, 0x49757085u);
  golden<uint64_t>(4, 0x49757085u);
  golden<float>(5, 0x26b13abau);
  golden<float>(6, 0x5ba47e64u);
  golden<double>(6, 0x985a6b9fu);
  golden<int32_t>(6, 0x3e3d7f95u);
  golden<int64_t>(6, 0x2fe03325u);
  golden<float>(7, 0x150641bau);
  golden<int32_t>(7, 0xd3fbb6d6u);
  golden<int64_t>(7, 0x1130fd26u);

  Array<uint64_t> from = source();
  Array<double> wide({3});
  Array<uint8_t> bytes({3});
  CHECK(Call().in(from).out(wide).attr(1).run("PhiloxNumbers") == Code::unimplemented);
  CHECK(Call().in(from).out(bytes).attr(3).run("PhiloxNumbers") == Code::unimplemented);
  CHECK(Call().in(from).out(wide).attr(6).run("PhiloxNumbers") == Code::unimplemented);
  // No parameters, no numbers.
  Array<double> none({0}), nothing({0});
  CHECK(Call().in(from).in(none).out(nothing).attr(6).run("PhiloxNumbers") == Code::ok);
  CHECK(Call().in(from).in(none).out(nothing).attr(99).run("PhiloxNumbers") == Code::internal);
  return finish();
}
