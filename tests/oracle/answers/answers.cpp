// Computes the oracle's cases: reads them from standard input and writes Lamina's answers to standard output
// until the input ends. tests/oracle/oracle.py makes the cases and checks the answers.
//
//   case    length, {"threads": 1, "tensors": [{"name", "shape", "gradient"}], "program": [instructions],
//           "seeds": [[output, name of its derivative]], "answers": [names]}, the tensors' numbers
//   answer  length, {"tensors": [{"name", "shape"}]} or {"error": text}, the tensors' numbers
//
// Lengths are 8 bytes, numbers are doubles. The answers are the named tensors and, as "d NAME", the gradient
// of every tensor that requires one.

#include <cstdint>
#include <iostream>

#include "core/tape.h"
#include "core/threads/parallel.h"
#include "tests/oracle/answers/instruction.h"

namespace lamina::oracle {

namespace {

Json read_header(std::istream& in) {
  std::uint64_t length = 0;
  if (!in.read(reinterpret_cast<char*>(&length), sizeof length)) return {};
  std::string text(length, ' ');
  in.read(text.data(), static_cast<std::streamsize>(length));
  return Json::parse(text);
}

Tensor read_tensor(std::istream& in, const Shape& shape) {
  std::vector<double> numbers(shape.size());
  in.read(reinterpret_cast<char*>(numbers.data()),
          static_cast<std::streamsize>(numbers.size() * sizeof(double)));
  Tensor tensor(shape);
  for (size_t i = 0; i < numbers.size(); ++i) tensor[i] = static_cast<real>(numbers[i]);
  return tensor;
}

struct Answer {
  Json header = {{"tensors", Json::array()}};
  std::vector<double> numbers;

  void add(const std::string& name, const Tensor& tensor) {
    Json sizes = Json::array();
    for (int axis = 0; axis < tensor.shape().rank(); ++axis) sizes.push_back(tensor.shape()[axis]);
    header["tensors"].push_back({{"name", name}, {"shape", sizes}});
    for (const real value : tensor.values()) numbers.push_back(static_cast<double>(value));
  }

  void write(std::ostream& out) const {
    const std::string text = header.dump();
    const std::uint64_t length = text.size();
    out.write(reinterpret_cast<const char*>(&length), sizeof length);
    out << text;
    out.write(reinterpret_cast<const char*>(numbers.data()),
              static_cast<std::streamsize>(numbers.size() * sizeof(double)));
    out.flush();
  }
};

void run_program(const Json& program, const Functions& functions, Workspace& workspace) {
  for (const Json& step : program) {
    const auto function = functions.find(step.at("op").get<std::string>());
    if (function == functions.end()) fail("oracle: there is no op ", step.at("op").dump());
    const std::vector<Tensor> results = function->second(Instruction(step, workspace));
    const Json& names = step.at("out");
    if (results.size() != names.size())
      fail("oracle: ", step.at("op").dump(), " has ", results.size(), " results, not ", names.size());
    for (size_t i = 0; i < names.size(); ++i) workspace.tensors[names[i].get<std::string>()] = results[i];
  }
}

void run_backward(Tape& tape, const Json& seeds, const Workspace& workspace) {
  const auto seed = [&](size_t i) {
    return Tape::Seed{.output = workspace.tensors.at(seeds[i][0].get<std::string>()),
                      .gradient = workspace.tensors.at(seeds[i][1].get<std::string>())};
  };
  switch (seeds.size()) {
    case 0:
      return;
    case 1:
      return tape.backward(seed(0).output, seed(0).gradient);
    case 2:
      return tape.backward({seed(0), seed(1)});
    case 3:
      return tape.backward({seed(0), seed(1), seed(2)});
    default:
      fail("oracle: ", seeds.size(), " outputs with a derivative; at most three are possible");
  }
}

Answer answer(const Json& header, Workspace& workspace, const Functions& functions) {
  if (const int wanted = header.value("threads", 1); threads() != wanted) set_threads(wanted);
  Answer result;
  {
    Tape tape;
    run_program(header.at("program"), functions, workspace);
    for (const Json& name : header.at("answers"))
      result.add(name.get<std::string>(), workspace.tensors.at(name.get<std::string>()));
    run_backward(tape, header.at("seeds"), workspace);
  }
  for (const Json& tensor : header.at("tensors")) {
    const auto name = tensor.at("name").get<std::string>();
    if (tensor.at("gradient").get<bool>()) result.add("d " + name, workspace.tensors.at(name).gradient());
  }
  return result;
}

void serve(std::istream& in, std::ostream& out) {
  Functions functions;
  add_primitives(functions);
  add_attention(functions);
  add_axes(functions);
  add_images(functions);
  add_normalizations(functions);
  add_layers(functions);
  add_recurrent(functions);
  add_optimizers(functions);
  for (Json header = read_header(in); !header.is_null(); header = read_header(in)) {
    Workspace workspace;
    for (const Json& tensor : header.at("tensors")) {
      Tensor value = read_tensor(in, shape_of(tensor.at("shape")));
      if (tensor.at("gradient").get<bool>()) value.require_gradient();
      workspace.tensors[tensor.at("name").get<std::string>()] = value;
    }
    Answer result;
    try {
      result = answer(header, workspace, functions);
    } catch (const std::exception& error) {
      result = {.header = {{"error", error.what()}}, .numbers = {}};
    }
    result.write(out);
  }
}

}  // namespace

}  // namespace lamina::oracle

int main() {
  std::ios::sync_with_stdio(false);
  try {
    lamina::oracle::serve(std::cin, std::cout);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
