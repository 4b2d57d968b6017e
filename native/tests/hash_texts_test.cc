#include "harness.h"

using namespace eagre;

int main() {
  // As TensorFlow 2.21 has them: n times one byte.
  struct Known {
    int n;
    unsigned char byte;
    int64_t farm, murmur, sip;
  };
  const Known all[] = {
      {0, 'a', 398277410308175, 598820, 3324637534942293},   {1, 'a', 1480379510781411, 789371, 2345699775600427},
      {16, 'x', 6246265376962588, 614463, 8163745067570008}, {17, 'y', 3133514146176949, 178142, 3130301679172557},
      {32, 'z', 7829792093903457, 692926, 5519265039911849}, {33, 'w', 2761261866691178, 686113, 2332915011833104},
      {64, 'v', 4779542465593185, 909784, 4999901866546671}, {65, 'u', 3968683388335807, 931823, 8574560169546833}};
  constexpr int kTexts = sizeof all / sizeof all[0];
  int size = 0;
  for (const Known& k : all) size += k.n;
  Array<uint8_t> bytes({size});
  Array<int32_t> starts({kTexts + 1});
  int at = 0;
  for (int i = 0; i < kTexts; i++) {
    starts[i] = at;
    for (int j = 0; j < all[i].n; j++) bytes[at++] = all[i].byte;
  }
  starts[kTexts] = at;
  Array<int64_t> y({kTexts});
  const double wide = 9007199254740992.0;
  // The key (123, 2^62 + 5).
  const auto run = [&](int hash, double count) {
    return Call().in(bytes).in(starts).out(y).attr(hash).attr(count).attr(123).attr(0).attr(5).attr(0x40000000).run("HashTexts");
  };
  CHECK(run(0, wide) == Code::ok);
  for (int i = 0; i < kTexts; i++) CHECK(y[i] == all[i].farm);
  CHECK(run(1, 1000003) == Code::ok);
  for (int i = 0; i < kTexts; i++) CHECK(y[i] == all[i].murmur);
  CHECK(run(2, wide) == Code::ok);
  for (int i = 0; i < kTexts; i++) CHECK(y[i] == all[i].sip);
  // Whole ones, whose remainder is the same.
  CHECK(run(0, 0) == Code::ok);
  for (int i = 0; i < kTexts; i++) CHECK(static_cast<int64_t>(static_cast<uint64_t>(y[i]) % (uint64_t{1} << 53)) == all[i].farm);

  CHECK(run(3, 7) == Code::internal);
  starts[2] = size + 1;
  CHECK(run(0, 7) == Code::out_of_range);
  return finish();
}
