"""A report on one self-contained page that a colleague who knows no Bayes can read.

`bayesagree.report.data` computes everything the page says, `bayesagree.report.page` writes it; the page needs the extra
``report`` (jinja2).
"""
