"""Who made each data set, where it comes from (at a pinned commit) and what its licence allows."""

from typing import NamedTuple


class Source(NamedTuple):
    """Origin of the files in one folder."""

    url: str
    licence: str
    citation: str


SOURCES = {
    "agreement-textbook": Source(
        "https://github.com/cran/irrCAC/tree/41b40b431b1b554068df2a3dc5ecbea70f861ad5/inst/extdata"
        " (anesthesia, caries: https://github.com/jeffreypullin/rater/tree/bc1e414eba27dcfb11f8e6dcf3aaef916644e457)",
        "GPL-2 or later (the R packages that carry the examples)",
        "Gwet, Handbook of inter-rater reliability (2014); Dawid & Skene, Applied Statistics 28 (1979); "
        "Espeland & Handelman, Biometrics 45 (1989); Krippendorff, Content analysis (2004)",
    ),
    "chaosnli-snli": Source(
        "https://github.com/jsbaan/calibration-on-disagreement-data/tree/990e81cacadac5d0268160d1c02bad19d4ddb9a3/data",
        "CC BY-NC 4.0 (labels); predictions: none stated",
        "Nie, Zhou & Bansal, What can we learn from collective human opinions on NLI data? (EMNLP 2020); "
        "Baan, Aziz, Plank & Fernandez, Stop measuring calibration when humans disagree (EMNLP 2022)",
    ),
    "cifar10h": Source(
        "https://github.com/jcpeterson/cifar-10h/tree/48da312b193b82e6939ec20f23d1f09cbdd849c8/data"
        " (models: https://github.com/GavinKerrigan/conf_matrix_and_calibration/tree/"
        "3b9cf13df58861a87549fe5d36017c1387aceb08/cifar10h)",
        "CC BY-NC-SA 4.0 (counts); predictions: none stated, Apache-2.0 (cleanlab)",
        "Peterson, Battleday, Griffiths & Russakovsky, Human uncertainty makes classification more robust "
        "(ICCV 2019); Kerrigan, Smyth & Steyvers (NeurIPS 2021); Northcutt, Athalye & Mueller (2021)",
    ),
    "crowd-gold": Source(
        "https://github.com/yuan-li/truth-inference-at-scale/tree/ff6d32971fb3ca17e2f0c784a126d8b26495dbce/data",
        "MIT (the collection); most single sets state none",
        "Li, Rubinstein & Cohn, Exploiting worker correlation for label aggregation in crowdsourcing (ICML 2019)",
    ),
    "crowdtruth": Source(
        "https://github.com/CrowdTruth/CrowdTruth-core/tree/1330d5d275b01d93618513ca0956a0b559dd94a2/tutorial/data",
        "Apache-2.0",
        "Dumitrache, Inel, Aroyo, Timmermans & Welty, CrowdTruth 2.0 (2018)",
    ),
    "derm-ddx": Source(
        "https://github.com/google-deepmind/uncertain_ground_truth/tree/98349d8fefc5b45f0a2fa5f28fed98ded4225368/data",
        "CC BY 4.0",
        "Stutz et al., Evaluating AI systems under uncertain ground truth: a case study in dermatology "
        "(arXiv 2307.02191)",
    ),
    "dices350": Source(
        "https://github.com/dmg-illc/JUDGE-BENCH/tree/5a0bf500325029efb5dc8adff2c1e991996f0e78/data/dices",
        "CC BY 4.0",
        "Aroyo et al., DICES dataset: diversity in conversational AI evaluation for safety (NeurIPS 2023)",
    ),
    "human-objects": Source(
        "https://github.com/bethgelab/model-vs-human/tree/79ed7cd1d9ac3a114e71b6638f0a98bdd627316c/raw-data",
        "none stated for the data",
        "Geirhos et al. (ICLR 2019; NeurIPS 2021)",
    ),
    "jester5k": Source(
        "https://github.com/cran/recommenderlab/blob/738a932341b5893579c20cacd6edd7a5cf24b170/data/Jester5k.rda",
        "GPL-2 (the R package that carries the data)",
        "Goldberg, Roeder, Gupta & Perkins, Eigentaste (2001)",
    ),
    "lewidi2023": Source(
        "https://github.com/Le-Wi-Di/le-wi-di.github.io/tree/45d7b06e4c36b59472d6bdf9281f7f1e395eb0e0/LeWiDi_2-2023",
        "none stated",
        "Leonardelli et al., SemEval-2023 task 11; Akhtar, Basile & Patti (2021); Almanea & Poesio (LREC 2022); "
        "Cercas Curry, Abercrombie & Rieser (EMNLP 2021)",
    ),
    "lewidi2025-csc": Source(
        "https://github.com/Le-Wi-Di/le-wi-di.github.io/tree/"
        "45d7b06e4c36b59472d6bdf9281f7f1e395eb0e0/LeWiDi_3-2025/CSC",
        "none stated",
        "Jang & Frassinelli, Generalizable sarcasm detection is just around the corner, of course! (NAACL 2024)",
    ),
    "perfume": Source(
        "https://github.com/cran/SensoMineR/tree/102992a7e7a6ffb59dbdb0381008a260e16b783d/data",
        "GPL-2 or later (the R package that carries the data)",
        "OP&P Product Research, Utrecht; Agrocampus Rennes (R package SensoMineR)",
    ),
    "popquorn-offensiveness": Source(
        "https://github.com/Jiaxin-Pei/Potato-Prolific-Dataset/blob/"
        "c329119e878037654f6aa59b319aae6e996585bb/dataset/offensiveness/raw_data.csv",
        "none stated",
        "Pei & Jurgens, When do annotator demographics matter? the POPQUORN dataset (LAW-XVII 2023)",
    ),
    "rankings-plackettluce": Source(
        "https://github.com/hturner/PlackettLuce/tree/411b1ef67e906ecad0b820dd54504712307cc14f/inst/extdata"
        " (potatoes: https://github.com/cran/BayesMallows/tree/4b51f95bd57ff9f75e2bebe156da6460c342587e/data)",
        "GPL-3 (the R packages that carry the data)",
        "Turner, van Etten, Firth & Kosmidis, Computational Statistics 35 (2020); Critchlow & Fligner (1991); "
        "Liu, Crispino, Scheel, Vitelli & Frigessi, Annual Review of Statistics (2019)",
    ),
    "rankings-preflib": Source(
        "https://github.com/fleverest/PrefLib-Data/tree/ecde2b6f31beb9a53d38d6bdc8334ebb14b03902/datasets",
        "GPL-3 (the repository); cite the sources",
        "Mattei & Walsh, PrefLib: a library for preferences (ADT 2013); dots, puzzle: Mao, Procaccia & Chen, "
        "Better human computation through principled voting (AAAI 2013)",
    ),
    "snow-affect": Source(
        "https://github.com/zhydhkcws/crowd_truth_infer/tree/"
        "6dfcd829267d291b035405898b9a407e8a366241/datasets/f201_Emotion_FULL",
        "none stated",
        "Snow, O'Connor, Jurafsky & Ng, Cheap and fast - but is it good? (EMNLP 2008); gold: Strapparava & "
        "Mihalcea, SemEval-2007 task 14",
    ),
    "trec2011-teams": Source(
        "https://github.com/ipeirotis/Get-Another-Label/tree/"
        "9fe6c56a7a157dba1a12018f696bad56806125b7/data/JeroenVuurens",
        "Apache-2.0 (the repository)",
        "Lease & Kazai, Overview of the TREC 2011 crowdsourcing track (2011)",
    ),
    "truthfulness-ecir2020": Source(
        "https://github.com/KevinRoitero/crowdsourcingTruthfulness/tree/47d1e18b980e2afe998ad97c5ae0321acd1183e3",
        "none stated (published for the research community)",
        "La Barbera, Roitero, Demartini, Mizzaro & Spina, Crowdsourcing truthfulness: the impact of judgment "
        "scale and assessor bias (ECIR 2020)",
    ),
}
