// Exercise 8.4: draw a letter from what the model says.
#include "exercises.h"

#include <cmath>

int draw_letter(const std::vector<double>& logits, double temperature, double u) {
  // [ your code: shares of e^(logit / temperature); go through the letters until they sum up to more than u
  double largest = logits[0], total = 0;
  for (const double l : logits) largest = l > largest ? l : largest;  // so that no exponential overflows
  for (const double l : logits) total += std::exp((l - largest) / temperature);
  int letter = 0;
  for (double sum = 0; letter + 1 < int(logits.size()); ++letter) {
    sum += std::exp((logits[size_t(letter)] - largest) / temperature) / total;
    if (sum > u) break;
  }
  return letter;
  // | return -1;
  // ]
  // mistake: you always take the likeliest letter: draw, or the text repeats itself
  // ~ int letter = 0;
  // ~ for (int k = 0; k < int(logits.size()); ++k)
  // ~   if (logits[size_t(k)] > logits[size_t(letter)]) letter = k;
  // ~ return letter;
  // mistake: your shares do not depend on the temperature
  // ~ double total = 0;
  // ~ for (const double l : logits) total += std::exp(l);
  // ~ int letter = 0;
  // ~ for (double sum = 0; letter + 1 < int(logits.size()); ++letter)
  // ~   if ((sum += std::exp(logits[size_t(letter)]) / total) > u) break;
  // ~ return letter;
  // mistake: you multiply by the temperature: a high one must make the shares more equal
  // ~ double total = 0;
  // ~ for (const double l : logits) total += std::exp(l * temperature);
  // ~ int letter = 0;
  // ~ for (double sum = 0; letter + 1 < int(logits.size()); ++letter)
  // ~   if ((sum += std::exp(logits[size_t(letter)] * temperature) / total) > u) break;
  // ~ return letter;
  // mistake: your exponentials overflow when a logit is 1000: subtract the largest logit first
  // ~ double total = 0;
  // ~ for (const double l : logits) total += std::exp(l / temperature);
  // ~ int letter = 0;
  // ~ for (double sum = 0; letter + 1 < int(logits.size()); ++letter)
  // ~   if ((sum += std::exp(logits[size_t(letter)] / temperature) / total) > u) break;
  // ~ return letter;
  // mistake: your exponentials overflow when a logit is 1000: subtract the largest logit first
  // ~ double largest = logits[0], total = 0;
  // ~ for (const double l : logits) largest = l > largest ? l : largest;
  // ~ for (const double l : logits) total += std::exp(l / temperature - largest);
  // ~ int letter = 0;
  // ~ for (double sum = 0; letter + 1 < int(logits.size()); ++letter)
  // ~   if ((sum += std::exp(logits[size_t(letter)] / temperature - largest) / total) > u) break;
  // ~ return letter;
  // mistake: your letter is 5; there are numbers 0 to 4: the letter is the one whose share makes the sum pass u, not the next
  // ~ double total = 0, sum = 0;
  // ~ for (const double l : logits) total += std::exp(l / temperature);
  // ~ int letter = 0;
  // ~ while (sum <= u) sum += std::exp(logits[size_t(letter++)] / temperature) / total;
  // ~ return letter;
}
