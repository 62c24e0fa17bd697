"""The only style sheet; colours follow the theme on the reader's screen."""

import string

from ui.colours import (
    FEATURE,
    KEY,
    NEUTRAL,
    PICKED,
    POSITION,
    POST_NORM,
    PRE_NORM,
    QUERY,
    SCALED,
    UNSCALED,
    VALUE,
    WIDTH,
)

_STYLE = string.Template("""
<style>
[data-testid="stMainBlockContainer"] {padding-left: 2rem; padding-right: 2rem;}
[data-testid="stMainBlockContainer"] > [data-testid="stVerticalBlock"] {gap: .55rem;}
[data-testid="stSelectbox"] [data-baseweb="select"] > div {min-height: 2rem; height: 2rem;}
.st-key-toolbar button, .st-key-control_step button {min-height: 2rem; padding: .1rem .45rem;}
.st-key-toolbar p, .st-key-control_step p {font-size: .82rem;}
.copy {font: inherit; color: inherit; cursor: pointer; padding: .35rem .9rem; border-radius: .4rem;
  background: light-dark(#0072B2, #56B4E9); color: light-dark(#FFFFFF, #10141A); border: 0; font-weight: 600;}
.worked {font-size: .76rem; line-height: 1.35; max-height: 15rem; overflow: auto; font-variant-numeric: tabular-nums;}
.worked table {border-collapse: collapse; width: 100%;}
.worked th {font-weight: 600; text-align: right; padding: 0 .25rem .1rem 0; white-space: nowrap;}
.worked td {text-align: right; padding: 0 .25rem 0 0; white-space: nowrap;}
.worked th:first-child, .worked td:first-child {text-align: left; max-width: 6.5rem; overflow: hidden;
  text-overflow: ellipsis;}
.worked tr.total td {border-top: 1px solid currentColor; font-weight: 650; padding-top: .1rem;}
.worked tr.picked td {font-weight: 650; background: light-dark(#FFE9BF, #4A3A12);}
.worked.large {font-size: .95rem; max-height: none;}
.worked.large th {white-space: normal;}
.worked.symptom {font-size: .82rem; max-height: none;}
.worked.symptom + .line {margin-top: .5rem;}
.worked.symptom th, .worked.symptom td {white-space: normal; padding: .12rem .5rem .12rem 0; vertical-align: top;}
.worked.symptom th:first-child, .worked.symptom td:first-child {max-width: none;}
.worked.symptom.words td, .worked.symptom.words th {text-align: left;}
.code {font: .82rem/1.4 ui-monospace, "Source Code Pro", monospace; margin: 0; padding: .25rem .6rem;
  border-left: .25rem solid $NEUTRAL; overflow-wrap: anywhere; background: light-dark(#F2F4F7, #1B222C);}
.code .label {font-family: "Source Sans", sans-serif;}
.codes {display: grid; gap: .25rem .6rem; margin-top: .4rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 560px), 1fr));}
.code.wrong {border-left-color: $UNSCALED;}
.code.right {border-left-color: $VALUE;}
.worked.counts {font-size: .84rem; max-height: none;}
.worked.counts td:first-child {max-width: none;}
.worked.large td:first-child {max-width: none;}
.worked.said td, .worked.said th {white-space: normal; text-align: left; padding: .15rem .6rem .15rem 0;}
.lines {max-height: 6rem; overflow: auto;}
[data-testid="stMain"] {overflow-anchor: none;}
[data-testid="stPageLink"] p {white-space: normal; overflow: visible;}
.st-key-ways a {position: relative; display: block; padding: 0;}
.st-key-ways a > span:first-child {position: absolute; left: .5rem; top: .375rem;}
.st-key-ways p {font-size: .82rem; line-height: 1.4; color: $NEUTRAL;}
.st-key-ways strong {display: block; font-size: .875rem; line-height: 2; padding-left: 2rem; margin-bottom: .75rem;
  color: light-dark(#14181F, #F0F3F7);}
@media (max-width: 640px) {.katex-display {font-size: .62em;}}
.worked td:nth-child(2):has(.bar) {text-align: left; width: 100%;}
.bar {display: inline-block; height: .7em; background: $SCALED; border-radius: .1em;}
.swatch {display: inline-block; width: .8em; height: .8em; border: 1px solid $NEUTRAL; border-radius: .1em;}
.chosen {background: light-dark(#FFE9BF, #4A3A12); padding: 0 .25em; border-radius: .2em;}
.label {display: inline-block; min-width: 5.5rem; color: $NEUTRAL; font-size: .82rem;}
.scaled {color: $SCALED; font-weight: 650;}
.unscaled {color: $UNSCALED; font-weight: 650;}
[data-testid="stImage"] img {image-rendering: pixelated; height: auto;}
.recurrent {color: $NEUTRAL; font-weight: 650;}
.query {color: $QUERY;}
.key {color: $KEY;}
.value {color: $VALUE;}
.position {color: $POSITION;}
.feature {color: $FEATURE;}
.width {color: $WIDTH;}
.pre_norm {color: $PRE_NORM; font-weight: 650;}
.post_norm {color: $POST_NORM; font-weight: 650;}
.line {font-size: .95rem; line-height: 1.4; margin: 0; overflow-wrap: anywhere;}
.quiet {font-size: .82rem; line-height: 1.4; margin: 0; overflow-wrap: anywhere; color: $NEUTRAL;}
.notice, .remark {font-size: .9rem; line-height: 1.4; margin: 0;
  overflow-wrap: anywhere; padding: .35rem .7rem; border-left: .25rem solid $PICKED_LIGHT;
  background: light-dark(#FFF4DC, #33290F);}
.st-key-control_number .stNumberInput {display: flex; align-items: center; gap: .5rem;}
.st-key-control_number label {margin: 0; min-height: 0; white-space: nowrap;}
.st-key-control_number label p {font-size: .82rem;}
.asks {font-size: 1.06rem; line-height: 1.4; font-weight: 600; margin: 0; overflow-wrap: anywhere;}
.verdict {padding: .35rem .7rem; border-radius: .3rem; background: light-dark(#FCE3DC, #45201A);}
.verdict.right {background: light-dark(#E2F3EC, #12332A);}
.agree {font-size: .82rem; line-height: 1.4; margin: 0; padding: .2rem .6rem; border-radius: .3rem;
  display: inline-block; max-width: 34rem; background: light-dark(#E2F3EC, #12332A);}
.agree summary {cursor: pointer;}
.differ {background: light-dark(#FCE3DC, #45201A);}
.unchecked {background: light-dark(#ECEFF4, #262E38);}
</style>
""")
_HUES = {
    "QUERY": QUERY,
    "KEY": KEY,
    "VALUE": VALUE,
    "POSITION": POSITION,
    "FEATURE": FEATURE,
    "WIDTH": WIDTH,
    "NEUTRAL": NEUTRAL,
    "SCALED": SCALED,
    "UNSCALED": UNSCALED,
    "PRE_NORM": PRE_NORM,
    "POST_NORM": POST_NORM,
}
STYLE = _STYLE.substitute(
    {name: f"light-dark({hue.light}, {hue.dark})" for name, hue in _HUES.items()}, PICKED_LIGHT=PICKED.light
)
"""The only style sheet; colours follow the theme on the reader's screen."""
