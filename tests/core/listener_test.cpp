// The reports of a tape to a listener, and scopes.

#include "core/listener.h"

#include "core/ops/map.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

struct Diary final : TapeListener {
  void recorded(const Tape::Node& node, std::span<const Tensor> inputs) override {
    write(node.op + (":" + std::to_string(inputs.size())));
  }
  void backward_begins(const Tape::Node& node) override {
    CHECK(node.outputs[0].gradient_data() != nullptr);
    write(std::string("(") + node.op);
  }
  void backward_ends(const Tape::Node& node) override { write(std::string(node.op) + ")"); }
  void write(const std::string& entry) { entries += (entries.empty() ? "" : " ") + entry; }
  std::string entries;
};

}  // namespace

TEST_CASE("a listener hears every op, and its backward pass, while it listens") {
  const Tensor x = leaf({3}, 1);
  Diary diary;
  Tape tape;
  exp(x);
  {
    const Listening listening(diary);
    CHECK(TapeListener::current() == &diary);
    const Tensor loss = sum(x * x);
    tanh(x);  // the loss does not use it: no backward pass
    tape.backward(loss);
    {
      const Listening deaf(nullptr);
      exp(x);
    }
  }
  CHECK(TapeListener::current() == nullptr);
  exp(x);
  CHECK(diary.entries == "multiply:2 sum:1 tanh:1 (sum sum) (multiply multiply)");
}

TEST_CASE("what a node records in its backward pass is not heard") {
  const Tensor x = leaf({1}, 1);
  Diary diary;
  const Listening listening(diary);
  Tape tape;
  const Tensor y = x.copy();
  record("again", y, {x}, [=] {
    Tape inner;
    inner.backward(square(x));
  });
  tape.backward(y);
  CHECK(diary.entries == "again:1 (again again)");
}

TEST_CASE("scopes nest: the innermost counts") {
  CHECK(Scope::current().empty());
  {
    const Scope outer("outer");
    {
      const Scope inner("inner");
      CHECK(Scope::current() == "inner");
    }
    CHECK(Scope::current() == "outer");
  }
  CHECK(Scope::current().empty());
}
