#include "models/data/digit_strokes.h"

#include <array>
#include <cstddef>

namespace lamina {

namespace {

constexpr bool corner = true;

// clang-format off
const std::array<std::vector<Glyph>, 10> alphabet = {{
  {  // 0: oval; slim, its ends crossing; round, drawn from the side
    {{{.03F, -.5F}, {-.2F, -.35F}, {-.27F, .05F}, {-.17F, .4F}, {.03F, .5F}, {.22F, .36F}, {.28F, 0},
      {.2F, -.35F}, {0, -.5F}}},
    {{{.12F, -.42F}, {-.08F, -.42F}, {-.2F, 0}, {-.1F, .42F}, {.06F, .46F}, {.18F, .1F}, {.13F, -.32F},
      {-.05F, -.5F}}},
    {{{.27F, -.1F}, {.12F, -.42F}, {-.15F, -.4F}, {-.3F, 0}, {-.16F, .4F}, {.14F, .42F}, {.3F, .06F},
      {.24F, -.18F}}},
  },
  {  // 1: bare; with a flag; with flag and foot
    {{{0, -.5F}, {0, .5F}}},
    {{{-.14F, -.31F}, {.04F, -.5F, corner}, {.03F, .5F}}},
    {{{-.15F, -.31F}, {.02F, -.5F, corner}, {.02F, .49F}}, {{-.2F, .5F}, {.22F, .48F}}},
  },
  {  // 2: with a corner; with a loop at the foot; with a wavy foot
    {{{-.25F, -.3F}, {-.1F, -.48F}, {.13F, -.46F}, {.22F, -.25F}, {.08F, .05F}, {-.12F, .3F},
      {-.27F, .5F, corner}, {.28F, .49F}}},
    {{{-.22F, -.35F}, {0, -.5F}, {.2F, -.3F}, {.08F, .05F}, {-.13F, .38F}, {-.26F, .43F}, {-.2F, .3F},
      {0, .4F}, {.28F, .46F}}},
    {{{-.24F, -.28F}, {0, -.5F}, {.22F, -.27F}, {0, .15F}, {-.27F, .47F, corner}, {-.1F, .4F},
      {.1F, .48F}, {.3F, .42F}}},
  },
  {  // 3: with a corner in the middle; with a flat top; all round
    {{{-.23F, -.38F}, {0, -.5F}, {.2F, -.33F}, {.1F, -.1F}, {-.06F, -.03F, corner}, {.16F, .06F},
      {.24F, .26F}, {.05F, .5F}, {-.25F, .38F}}},
    {{{-.22F, -.48F, corner}, {.22F, -.48F, corner}, {-.03F, -.1F, corner}, {.2F, .05F}, {.22F, .33F},
      {-.02F, .5F}, {-.25F, .4F}}},
    {{{-.2F, -.42F}, {.08F, -.5F}, {.19F, -.28F}, {-.02F, -.03F}, {.21F, .16F}, {.1F, .46F}, {-.25F, .42F}}},
  },
  {  // 4: open; closed, in one stroke; open and rounded
    {{{-.18F, -.48F}, {-.25F, .06F, corner}, {.27F, .04F}}, {{.13F, -.4F}, {.11F, .5F}}},
    {{{.12F, .5F}, {.12F, -.5F, corner}, {-.28F, .18F, corner}, {.3F, .17F}}},
    {{{-.2F, -.5F}, {-.22F, -.15F}, {-.05F, .02F}, {.17F, -.05F}}, {{.2F, -.5F}, {.17F, 0}, {.15F, .5F}}},
  },
  {  // 5: with the bar as second stroke; in one stroke; rounded
    {{{-.18F, -.48F, corner}, {-.21F, -.08F, corner}, {.05F, -.14F}, {.22F, .1F}, {.15F, .4F},
      {-.05F, .5F}, {-.27F, .38F}}, {{-.18F, -.48F}, {.24F, -.5F}}},
    {{{.25F, -.48F}, {-.15F, -.46F, corner}, {-.18F, -.08F, corner}, {.08F, -.1F}, {.22F, .15F},
      {.05F, .47F}, {-.25F, .42F}}},
    {{{.24F, -.46F}, {0, -.48F}, {-.18F, -.34F}, {-.12F, -.12F}, {.13F, .02F}, {.2F, .28F}, {0, .5F},
      {-.24F, .4F}}},
  },
  {  // 6: with a curved stem; with a straight stem; with a small loop
    {{{.18F, -.48F}, {-.08F, -.3F}, {-.24F, .05F}, {-.2F, .38F}, {0, .5F}, {.2F, .35F}, {.18F, .1F},
      {0, .02F}, {-.2F, .2F}}},
    {{{.05F, -.5F}, {-.12F, -.15F}, {-.2F, .2F}, {-.1F, .47F}, {.13F, .45F}, {.2F, .22F}, {.05F, .06F},
      {-.15F, .22F}}},
    {{{-.08F, -.5F}, {-.18F, -.1F}, {-.17F, .3F}, {-.03F, .5F}, {.15F, .38F}, {.1F, .18F}, {-.08F, .2F},
      {-.16F, .35F}}},
  },
  {  // 7: plain; with a bar; with a serif
    {{{-.25F, -.46F}, {.25F, -.48F, corner}, {.06F, 0}, {-.05F, .5F}}},
    {{{-.25F, -.47F}, {.25F, -.47F, corner}, {.05F, 0}, {-.08F, .5F}}, {{-.14F, .02F}, {.2F, 0}}},
    {{{-.26F, -.3F}, {-.24F, -.47F, corner}, {.24F, -.45F, corner}, {0, .05F}, {-.1F, .5F}}},
  },
  {  // 8: in one stroke; as two rings; in one stroke that does not close
    {{{.17F, -.4F}, {0, -.5F}, {-.18F, -.34F}, {-.08F, -.1F}, {.14F, .1F}, {.2F, .34F}, {0, .5F},
      {-.2F, .34F}, {-.12F, .1F}, {.1F, -.1F}, {.2F, -.32F}, {.1F, -.46F}}},
    {{{0, -.5F}, {-.17F, -.4F}, {-.17F, -.14F}, {0, -.04F}, {.17F, -.14F}, {.17F, -.4F}, {0, -.5F}},
      {{0, -.04F}, {-.2F, .1F}, {-.2F, .38F}, {0, .5F}, {.2F, .38F}, {.2F, .1F}, {0, -.04F}}},
    {{{.22F, -.46F}, {-.02F, -.48F}, {-.17F, -.3F}, {0, -.04F}, {.18F, .2F}, {0, .5F}, {-.2F, .28F},
      {0, -.02F}, {.2F, -.34F}}},
  },
  {  // 9: with a straight stem; with a hook; leaning
    {{{.2F, -.38F}, {0, -.5F}, {-.2F, -.32F}, {-.12F, -.06F}, {.08F, -.08F}, {.2F, -.38F, corner},
      {.15F, .5F}}},
    {{{.18F, -.38F}, {0, -.5F}, {-.2F, -.28F}, {-.06F, -.05F}, {.14F, -.16F}, {.2F, -.42F, corner},
      {.22F, .12F}, {.1F, .45F}, {-.2F, .44F}}},
    {{{.17F, -.44F}, {-.1F, -.47F}, {-.2F, -.22F}, {-.02F, -.07F}, {.15F, -.25F}, {.19F, -.45F, corner},
      {.1F, .1F}, {-.04F, .5F}}},
  },
}};
// clang-format on

}  // namespace

const std::vector<Glyph>& glyphs_of(int digit) { return alphabet.at(static_cast<std::size_t>(digit)); }

}  // namespace lamina
