// Exercise: a pass over the training cases.
#include "exercises.h"
using namespace lamina;

double train_epoch(const Tensor& x, const Tensor& y, std::span<const int> order, size_t batch,
                   const Model& model, Optimizer& optimizer) {
  double sum = 0;  // of the losses of all cases
  // [ your code: for every batch, gather(x, indices) and gather(y, indices), a Tape, the loss, backward, a step
  for (size_t begin = 0; begin < order.size(); begin += batch) {
    const std::span<const int> indices = order.subspan(begin, std::min(batch, order.size() - begin));
    Tape tape;
    const Tensor loss = mean_squared_error(model(gather(x, indices)), gather(y, indices));
    tape.backward(loss);
    optimizer.step();
    sum += loss.item() * static_cast<double>(indices.size());
  }
  // ]
  // mistake: your epoch leaves out the last 2 of 10 cases, which do not fill a batch
  // ~ for (size_t begin = 0; begin + batch <= order.size(); begin += batch) {
  // ~   const std::span<const int> indices = order.subspan(begin, batch);
  // ~   Tape tape;
  // ~   const Tensor loss = mean_squared_error(model(gather(x, indices)), gather(y, indices));
  // ~   tape.backward(loss);
  // ~   optimizer.step();
  // ~   sum += loss.item() * indices.size();
  // ~ }
  // mistake: your epoch takes the cases as they lie in x; it must follow the order
  // ~ for (size_t begin = 0; begin < order.size(); begin += batch) {
  // ~   const size_t end = std::min(begin + batch, order.size());
  // ~   Tape tape;
  // ~   const Tensor loss = mean_squared_error(model(x.slice(begin, end)), y.slice(begin, end));
  // ~   tape.backward(loss);
  // ~   optimizer.step();
  // ~   sum += loss.item() * (end - begin);
  // ~ }
  // mistake: your epoch takes the inputs in the order, but not the targets
  // ~ for (size_t begin = 0; begin < order.size(); begin += batch) {
  // ~   const std::span<const int> indices = order.subspan(begin, std::min(batch, order.size() - begin));
  // ~   Tape tape;
  // ~   const Tensor loss = mean_squared_error(model(gather(x, indices)), y.slice(begin, begin + indices.size()));
  // ~   tape.backward(loss);
  // ~   optimizer.step();
  // ~   sum += loss.item() * indices.size();
  // ~ }
  // mistake: your steps go along the gradient of a batch's sum; the loss is its mean
  // ~ for (size_t begin = 0; begin < order.size(); begin += batch) {
  // ~   const std::span<const int> indices = order.subspan(begin, std::min(batch, order.size() - begin));
  // ~   Tape tape;
  // ~   const Tensor loss = mean_squared_error(model(gather(x, indices)), gather(y, indices)) * static_cast<real>(indices.size());
  // ~   tape.backward(loss);
  // ~   optimizer.step();
  // ~   sum += loss.item();
  // ~ }
  // mistake: your epoch makes 1 step of the optimizer; with 10 cases in batches of 4 there are 3
  // ~ for (size_t begin = 0; begin < order.size(); begin += batch) {
  // ~   const std::span<const int> indices = order.subspan(begin, std::min(batch, order.size() - begin));
  // ~   Tape tape;
  // ~   const Tensor loss = mean_squared_error(model(gather(x, indices)), gather(y, indices));
  // ~   tape.backward(loss);
  // ~   sum += loss.item() * indices.size();
  // ~ }
  // ~ optimizer.step();
  // mistake: with 10 cases in batches of 5, which leave no rest, your epoch fails
  // ~ for (size_t number = 0; number <= order.size() / batch; ++number) {
  // ~   const std::span<const int> indices = order.subspan(number * batch, std::min(batch, order.size() - number * batch));
  // ~   Tape tape;
  // ~   const Tensor loss = mean_squared_error(model(gather(x, indices)), gather(y, indices));
  // ~   tape.backward(loss);
  // ~   optimizer.step();
  // ~   sum += loss.item() * indices.size();
  // ~ }
  // mistake: your epoch has 3 batches of 10 cases, 5 at a time; there are 2
  // ~ for (size_t begin = 0; begin < order.size(); begin += 4) {
  // ~   const std::span<const int> indices = order.subspan(begin, std::min<size_t>(4, order.size() - begin));
  // ~   Tape tape;
  // ~   const Tensor loss = mean_squared_error(model(gather(x, indices)), gather(y, indices));
  // ~   tape.backward(loss);
  // ~   optimizer.step();
  // ~   sum += loss.item() * indices.size();
  // ~ }
  // mistake: your epoch asks the model 6 times; with 10 cases in batches of 4 there are 3 batches
  // ~ for (size_t begin = 0; begin < order.size(); begin += batch) {
  // ~   const std::span<const int> indices = order.subspan(begin, std::min(batch, order.size() - begin));
  // ~   Tape tape;
  // ~   tape.backward(mean_squared_error(model(gather(x, indices)), gather(y, indices)));
  // ~   optimizer.step();
  // ~   sum += mean_squared_error(model(gather(x, indices)), gather(y, indices)).item() * indices.size();
  // ~ }
  // mistake: your mean takes the last batch, which is smaller, as seriously as the others: weigh each by its cases
  // ~ double batches = 0;
  // ~ for (size_t begin = 0; begin < order.size(); begin += batch) {
  // ~   const std::span<const int> indices = order.subspan(begin, std::min(batch, order.size() - begin));
  // ~   Tape tape;
  // ~   const Tensor loss = mean_squared_error(model(gather(x, indices)), gather(y, indices));
  // ~   tape.backward(loss);
  // ~   optimizer.step();
  // ~   sum += loss.item();
  // ~   ++batches;
  // ~ }
  // ~ sum *= order.size() / batches;
  // mistake: your sum adds the batches' means; multiply each by its number of cases
  // ~ for (size_t begin = 0; begin < order.size(); begin += batch) {
  // ~   const std::span<const int> indices = order.subspan(begin, std::min(batch, order.size() - begin));
  // ~   Tape tape;
  // ~   const Tensor loss = mean_squared_error(model(gather(x, indices)), gather(y, indices));
  // ~   tape.backward(loss);
  // ~   optimizer.step();
  // ~   sum += loss.item();
  // ~ }
  // mistake: your batches reach beyond the last case
  // ~ for (size_t begin = 0; begin < order.size(); begin += batch) {
  // ~   const std::span<const int> indices(order.data() + begin, batch);
  // ~   model(Tensor::zeros({indices.size(), 1}));
  // ~ }
  return sum / static_cast<double>(order.size());
}
