// A program of a user of the installed library; tests/install_test.sh builds it with pkg-config only.
#include <lamina.h>

#include <iostream>
#include <limits>

int main() {
  // The first op of a program, too short to be split over threads: it must produce no denormal number.
  const lamina::Tensor half =
      lamina::Tensor::full({1}, std::numeric_limits<lamina::real>::min()) * lamina::real{0.5};
  std::cout << "lamina " << lamina::version << ", " << lamina::threads() << " threads, " << lamina::kernels()
            << " kernels\n";
  std::cout << "half of the smallest normal number: " << half.item() << "\n";
  std::cout << "the sum of " << sizeof(lamina::real)
            << "-byte ones: " << sum(lamina::Tensor::ones({3})).item() << "\n";
  const lamina::Tensor ones = lamina::Tensor::ones({33, 65});
  std::cout << "the sum of their products: " << sum(matmul(ones, transpose(ones))).item() << "\n";
}
