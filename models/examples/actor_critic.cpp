// Two losses through one shared layer: an actor and a critic (Sutton and Barto 2018, Section 13.5) learn to
// walk to the end of a line. The critic's output is a constant in the actor's loss: detach().
#include <lamina.h>

#include <algorithm>
#include <iostream>
using namespace lamina;

constexpr size_t places = 10, walkers = 16, horizon = 16;
constexpr real discount = real(0.95);

Tensor one_hot(const std::vector<int>& at) {
  Tensor x = Tensor::zeros({at.size(), places});
  for (size_t i = 0; i < at.size(); ++i) x[i * places + size_t(at[i])] = 1;
  return x;
}

int main() {
  Parameters parameters(/*seed=*/1);
  const Linear body(parameters, "body", {.input = places, .output = 32});
  const Linear actor(parameters, "actor", {.input = 32, .output = 2});
  const Linear critic(parameters, "critic", {.input = 32, .output = 1});
  Adam adam(parameters, {.learning_rate = real(0.01)});
  Random random(2);
  std::vector<int> place(walkers, places / 2);

  for (int update = 1; update <= 100; ++update) {
    // The walkers move for a while, without a tape: action 0 is a step to the left, 1 to the right, towards
    // the reward.
    std::vector<int> places_seen, actions;
    std::vector<real> rewards;
    for (size_t t = 0; t < horizon; ++t) {
      const Tensor chances = softmax(actor(tanh(body(one_hot(place)))));
      for (size_t i = 0; i < walkers; ++i) {
        const int action = random.uniform() < chances[2 * i + 1], next = place[i] + 2 * action - 1;
        places_seen.push_back(place[i]);
        actions.push_back(action);
        rewards.push_back(next == int(places) ? 1 : 0);
        place[i] = next == int(places) ? int(places) / 2 : std::max(next, 0);
      }
    }
    // The return of each step: its reward plus the discounted return of the next, at the end the critic's
    // estimate.
    Tensor worth({horizon * walkers, 1}), future = critic(tanh(body(one_hot(place))));
    for (size_t t = horizon; t-- > 0;)
      for (size_t i = 0; i < walkers; ++i) {
        const size_t step = t * walkers + i;
        future[i] = worth[step] = rewards[step] + (rewards[step] > 0 ? 0 : discount * future[i]);
      }
    Tape tape;
    const Tensor features = tanh(body(one_hot(places_seen))), values = critic(features);
    const Tensor advantages = (worth - values).detach();
    Tensor chosen = Tensor::zeros({actions.size(), 2});
    for (size_t i = 0; i < actions.size(); ++i) chosen[2 * i + size_t(actions[i])] = 1;
    const Tensor log_chances = log_softmax(actor(features));
    const Tensor actor_loss = -mean(sum_columns(log_chances * chosen) * advantages);
    const Tensor critic_loss = mean(square(worth - values)),
                 entropy = -mean(sum_columns(exp(log_chances) * log_chances));
    tape.backward(actor_loss + critic_loss - real(0.01) * entropy);
    adam.step();
    if (update % 25 == 0) {
      real found = 0;
      for (const real reward : rewards) found += reward;
      std::cout << "update " << update << ": " << found / walkers << " arrivals each in " << horizon
                << " steps\n";
    }
  }
}
