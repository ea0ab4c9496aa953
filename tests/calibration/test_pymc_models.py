"""Simulation-based calibration of a PyMC model itself, by simuk: every replication compiles and samples anew.

Five seconds of processor a replication leave few of them. The other PyMC models are compared with their fast engines,
whose own calibration has thousands.
"""

import pytest

from bayesagree import Labels, dirichlet_model

SIMULATIONS, DRAWS = 40, 300


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_dirichlet_model(calibration):
    import simuk  # loads PyMC, which quick runs need not wait for

    labels = Labels.from_matrix([["a", "b", "c", "a"]], labels=["a", "b", "c"])
    run = simuk.SBC(
        dirichlet_model(labels, prior=[0.7, 1.0, 2.0]), num_simulations=SIMULATIONS, seed=1, keep_fits=False,
        sample_kwargs={"draws": DRAWS, "tune": 400, "chains": 1, "cores": 1, "progressbar": False, "quiet": True,
                       "nuts_sampler": "pymc", "compute_convergence_checks": False},
    )  # fmt: skip
    run.run_simulations()
    ranks = run.simulations["prior_sbc"].to_dataset()["plausibility"].values.reshape(SIMULATIONS, 3)
    for k in range(3):
        calibration.uniform("dirichlet_model, NUTS", f"plausibility {k}", ranks[:, k], DRAWS + 1)
