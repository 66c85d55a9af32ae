// Exercise: two ways to let weights decay.
#include "exercises.h"

double decayed_step(double w, double g, double rate, double decay, Decay kind, AdamDirection& direction) {
  // [ your code: direction(gradient) is to be called once, for the gradient that Adam must see
  if (kind == Decay::l2) return w - rate * direction(g + decay * w);
  return w - rate * direction(g) - rate * decay * w;
  // | return w;
  // ]
  // mistake: with l2 your gradient lacks decay w
  // ~ return w - rate * direction(g) - (kind == Decay::decoupled ? rate * decay * w : 0);
  // mistake: with l2 your decay is decoupled: it must go through Adam with the gradient
  // ~ return w - rate * direction(g) - rate * decay * w;
  // mistake: when decoupled your decay goes through Adam with the gradient, which divides it by the gradient's size
  // ~ return w - rate * direction(g + decay * w);
  // mistake: when decoupled your decay lacks the rate
  // ~ if (kind == Decay::l2) return w - rate * direction(g + decay * w);
  // ~ return w - rate * direction(g) - decay * w;
  // mistake: when decoupled there is no decay
  // ~ return w - rate * direction(kind == Decay::l2 ? g + decay * w : g);
  // mistake: when decoupled your decay makes w grow: subtract it
  // ~ if (kind == Decay::l2) return w - rate * direction(g + decay * w);
  // ~ return w - rate * direction(g) + rate * decay * w;
  // mistake: when decoupled your decay is that of the weight after the step; take the weight before it
  // ~ if (kind == Decay::l2) return w - rate * direction(g + decay * w);
  // ~ return (w - rate * direction(g)) * (1 - rate * decay);
  // mistake: your code calls direction more than once a step, which moves its averages more than once
  // ~ const double decoupled = direction(g), l2 = direction(g + decay * w);
  // ~ return kind == Decay::l2 ? w - rate * l2 : w - rate * (decoupled + decay * w);
}
