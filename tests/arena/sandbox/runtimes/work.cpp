// Threads, futures, a thrown exception, memory.
#include <future>
#include <iostream>
#include <stdexcept>
#include <vector>

int main() {
  std::vector<std::future<size_t>> sums;
  for (int i = 0; i < 8; i++)
    sums.push_back(std::async(std::launch::async, [] {
      size_t sum = 0;
      for (int j = 0; j < 20; j++) sum += std::vector<char>(1 << 20).size();
      return sum;
    }));
  size_t all = 0;
  for (auto &sum : sums) all += sum.get();
  try {
    throw std::runtime_error("x");
  } catch (const std::exception &) {
    all -= size_t(8) * 20 << 20;
  }
  if (all == 0) std::cout << "done" << std::endl;
}
