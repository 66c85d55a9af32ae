// Exercise 9.4: a pre-LN and a post-LN block from their parts.
#include "exercises.h"
using namespace lamina;

Tensor pre_ln_block(const Tensor& x, const Parts& parts) {
  // [ your code: parts.attention(x) and so on are functions of a tensor
  const Tensor h = x + parts.attention(parts.attention_norm(x));
  return h + parts.feed_forward(parts.feed_forward_norm(h));
  // | return Tensor::zeros(x.shape());
  // ]
  // mistake: your pre-LN block is a post-LN block: it normalizes the stream
  // ~ const Tensor h = parts.attention_norm(x + parts.attention(x));
  // ~ return parts.feed_forward_norm(h + parts.feed_forward(h));
  // mistake: your pre-LN block lacks the stream: what a part computes is added to x
  // ~ return parts.feed_forward(parts.feed_forward_norm(parts.attention(parts.attention_norm(x))));
  // mistake: your pre-LN block adds its parts to the normalized stream; norms stand in the branches alone
  // ~ const Tensor n = parts.attention_norm(x), h = parts.feed_forward_norm(n + parts.attention(n));
  // ~ return h + parts.feed_forward(h);
  // mistake: your pre-LN block normalizes what its parts return; it must normalize what they read
  // ~ const Tensor h = x + parts.attention_norm(parts.attention(x));
  // ~ return h + parts.feed_forward_norm(parts.feed_forward(h));
  // mistake: in your pre-LN block the feed-forward part reads x; it must read the stream after attention
  // ~ return x + parts.attention(parts.attention_norm(x)) + parts.feed_forward(parts.feed_forward_norm(x));
  // mistake: your pre-LN block loses what attention has added
  // ~ const Tensor h = x + parts.attention(parts.attention_norm(x));
  // ~ return x + parts.feed_forward(parts.feed_forward_norm(h));
  // mistake: your pre-LN block uses attention's norm twice
  // ~ const Tensor h = x + parts.attention(parts.attention_norm(x));
  // ~ return h + parts.feed_forward(parts.attention_norm(h));
  // mistake: your pre-LN block lacks the norms
  // ~ const Tensor h = x + parts.attention(x);
  // ~ return h + parts.feed_forward(h);
}

Tensor post_ln_block(const Tensor& x, const Parts& parts) {
  // [ your code: the same parts, with the norms in the stream
  const Tensor h = parts.attention_norm(x + parts.attention(x));
  return parts.feed_forward_norm(h + parts.feed_forward(h));
  // | return Tensor::zeros(x.shape());
  // ]
  // mistake: your post-LN block is a pre-LN block: its norms stand in the branches
  // ~ const Tensor h = x + parts.attention(parts.attention_norm(x));
  // ~ return h + parts.feed_forward(parts.feed_forward_norm(h));
  // mistake: your post-LN block lacks the stream: what a part computes is added to what it has read
  // ~ const Tensor h = parts.attention_norm(parts.attention(x));
  // ~ return parts.feed_forward_norm(parts.feed_forward(h));
  // mistake: your post-LN block normalizes the parts' results alone; the sum must be normalized
  // ~ const Tensor h = x + parts.attention_norm(parts.attention(x));
  // ~ return h + parts.feed_forward_norm(parts.feed_forward(h));
  // mistake: your post-LN block normalizes once, at its end; each part has its norm
  // ~ const Tensor h = x + parts.attention(x);
  // ~ return parts.feed_forward_norm(h + parts.feed_forward(h));
}
