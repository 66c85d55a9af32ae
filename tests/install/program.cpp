// What a user of the installed library writes; tests/install_test.sh builds it with pkg-config alone.
#include <lamina.h>

#include <iostream>

int main() {
  lamina::set_threads(2);
  std::cout << "lamina " << lamina::version << ", " << lamina::threads() << " threads\n";
  std::cout << "the sum of " << sizeof(lamina::real)
            << "-byte ones: " << sum(lamina::Tensor::ones({3})).item() << "\n";
}
