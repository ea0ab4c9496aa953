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
plot_value_of_votes           more votes and the choice of a model           ours
plot_reliability_curve        reliability that predicts the one left out     ours
plot_group_heatmap            performance of models for groups               Balayn and Bozzon, figure 2
plot_group_intervals          the same with intervals                        ours
plot_annotator_quality        distribution of quality WQS                    Balayn and Bozzon, figure 3a
plot_disagreement_by_quality  disagreement rate by quality                   Balayn and Bozzon, figure 3b
plot_shares                   who and what is in the evaluation set          Balayn and Bozzon, figures 4 and 5
============================  =============================================  ==========================================
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
