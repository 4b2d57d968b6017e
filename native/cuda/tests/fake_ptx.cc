// Modules of PTX on the standard input, one after the other, as C++ on the standard output. It is for tests that run many kernels at once.
#include "fake_ptx.h"

#include <iostream>
#include <iterator>

int main() {
  const std::string all{std::istreambuf_iterator<char>(std::cin), {}};
  std::cout << fake_ptx::kPrelude;
  try {
    for (size_t at = all.find(".version"); at != std::string::npos;) {
      const size_t next = all.find(".version", at + 1);
      std::cout << fake_ptx::translate(all.substr(at, next == std::string::npos ? next : next - at)).code;
      at = next;
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}
