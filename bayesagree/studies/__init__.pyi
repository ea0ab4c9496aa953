from .answers_at_random import random_answers
from .auc_claims import committee_table, study_claims
from .auc_simulation import ESTIMATORS, auc_study, label_level_auc
from .blind_cases import BlindCase, blind_case
from .blind_methods import blind_experiment
from .blind_tables import blind_table, overlap_summary, vote_quality
from .crowd_quality_setups import accuracy_against, crowd_setups, crowd_validation, disagreement_without
from .paradoxes import paradox_claims, paradox_table
from .ranking_models import certainty_correlation, model_ranks, ranking_study, saturated_items
from .reliability_views import certainty_by_reliability
from .sample_size import agreement_by_size

__all__ = [
    "ESTIMATORS",
    "BlindCase",
    "accuracy_against",
    "agreement_by_size",
    "auc_study",
    "blind_case",
    "blind_experiment",
    "blind_table",
    "certainty_by_reliability",
    "certainty_correlation",
    "committee_table",
    "crowd_setups",
    "crowd_validation",
    "disagreement_without",
    "label_level_auc",
    "model_ranks",
    "overlap_summary",
    "paradox_claims",
    "paradox_table",
    "random_answers",
    "ranking_study",
    "saturated_items",
    "study_claims",
    "vote_quality",
]
