"""Figures (extra ``plot``); each function takes a result and returns the matplotlib axes that it drew in.

Functions of one panel take and return an ``Axes``, the others an array of them (row, column). Without ``axes`` they
draw in a figure of their own, which a notebook shows and ``plt.show()`` does; ``axes.figure.savefig(...)`` keeps it. No
global setting changes.

============================  =============================================  ==========================================
figure                        shows                                          of
============================  =============================================  ==========================================
plot_item_fits                Beta fits of each item with HPD band           Checco et al., figure 2
plot_simplex                  plausibilities on the triangle of 3 labels     Stutz et al., figure 2
plot_plausibility             strips of plausibilities of one item           Stutz et al., figures 1, 5 and 15
plot_scores                   scores across reliabilities                    Stutz et al., figure 6
plot_score_draws              scores over the draws of the truth             Stutz et al., figure 7
plot_certainty                certainty or scores of the items, sorted       Stutz et al., figures 3, 7 and 14
plot_rank_probability         probability of every place                     ours
plot_set_size                 size of prediction sets by certainty            ours
plot_designs                  width of the interval of each design           ours
plot_groups                   performance of models for groups               Balayn and Bozzon, figure 2
============================  =============================================  ==========================================
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
