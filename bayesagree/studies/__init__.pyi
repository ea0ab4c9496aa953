from .auc_claims import committee_table, study_claims
from .auc_simulation import auc_study
from .blind_cases import BlindCase, blind_case
from .blind_methods import blind_experiment
from .paradoxes import paradox_claims, paradox_table
from .ranking_models import certainty_correlation, model_ranks, ranking_study, saturated_items
from .sample_size import agreement_by_size

__all__ = [
    "BlindCase",
    "agreement_by_size",
    "auc_study",
    "blind_case",
    "blind_experiment",
    "certainty_correlation",
    "committee_table",
    "model_ranks",
    "paradox_claims",
    "paradox_table",
    "ranking_study",
    "saturated_items",
    "study_claims",
]
