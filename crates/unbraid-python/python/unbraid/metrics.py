"""Metrics as functions of codes [points, units] and factors [points, factors].

Every function returns `Scores`: `float(mig(codes, factors))` is its number, `mig(codes, factors).details` its matrices.
Options of the metric are keyword arguments; those of `Points` say what else is known of the points, and how to score
them. Without `codes_test`, the first two thirds of the points are for training.

Written by tools/python_metrics.py.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict, Unpack

from numpy.typing import NDArray

from ._native import evaluate
from ._scores import Scores


class Points(TypedDict, total=False):
    """Keyword arguments that all metrics take."""

    #: Codes and factors that learners are tested on.
    codes_test: NDArray[Any]
    factors_test: NDArray[Any]
    #: Logarithms of the posterior variances of the codes, which are then means.
    log_variance: NDArray[Any]
    #: The most likely class of each categorical unit.
    clusters: NDArray[Any]
    clusters_test: NDArray[Any]
    factor_names: Sequence[str]
    #: `categorical`, `ordered` or `angle`, for each factor.
    factor_kinds: Sequence[str]
    #: A function from factor vectors [n, factors] to codes [n, units], for scores that draw points under interventions,
    #: and the number of values of each factor. Without codes, `samples` training points are drawn from it.
    sampler: Callable[[NDArray[Any]], NDArray[Any]]
    factor_sizes: Sequence[int]
    samples: int
    seed: int
    #: Whether to compute the score on shuffled factors as well: its chance level.
    chance: bool
    #: How often to resample the points for an interval.
    bootstrap: int


def _run(
    name: str,
    codes: NDArray[Any] | None,
    factors: NDArray[Any] | None,
    options: dict[str, Any],
    points: Mapping[str, object],
) -> Scores:
    given = {key: value for key, value in options.items() if value is not None}
    keywords: dict[str, Any] = {"chance": False, **points}
    return evaluate(codes, factors, metrics=[name], options={name: given}, **keywords)


def beta_vae_score(
    codes: NDArray[Any] | None = None, factors: NDArray[Any] | None = None,
    *,
    batch_size: int = 64,
    train_points: int = 10000,
    test_points: int = 5000,
    classifier: Literal["logistic", "svm"] = "logistic",
    c: float | None = None,
    tolerance: float | None = None,
    max_iterations: int | None = None,
    loss: Literal["squared-hinge", "hinge"] | None = None,
    balanced: bool | None = None,
    **points: Unpack[Points],
) -> Scores:
    """BetaVAE score (also Z-diff): can a linear classifier tell which factor two points share, from the absolute
    differences of their codes?

        point:  a random factor k as the label; for each unit, the mean of |z - z'| over pairs that share k
        score:  accuracy of a linear classifier fitted to such points, on new ones

    * Range: 0 to 1, higher is better; chance is 1 / factors. It can be high even if the codes are a rotation of the
      factors.
    * Features are neither scaled nor pruned. With a single factor the score is 1, since there is nothing to tell apart.
    * Reference: Higgins et al. 2017, beta-VAE: Learning basic visual concepts with a constrained variational framework;
      numbers of pairs and points as in Locatello et al. 2019. Kumar et al. 2018 call it the Z-diff score and use a
      support vector machine (`DifferenceClassifier::kumar`).
    * See also: `factor_vae_score`, which needs no fitted classifier and is harder to satisfy.

    Gives `beta_vae_score`. Draws from `sampler` if there is one, else from the rows of the codes.

    Options:
    * batch_size: pairs whose differences are averaged to one point; a whole number, 1 to 10000000
    * train_points: points that the classifier is fitted to; a whole number, 1 to 10000000
    * test_points: points that it is tested on; a whole number, 1 to 10000000
    * classifier: logistic regression, or Kumar's linear SVM; "logistic" or "svm"
    * c: inverse strength of the penalty; a number above 0 (only with classifier="logistic" or classifier="svm")
    * tolerance: largest entry of the gradient at which to stop; a number above 0 (only with classifier="logistic" or
      classifier="svm", 0.0001 by default)
    * max_iterations: iterations of L-BFGS at most; a whole number, 1 or more (only with classifier="logistic" or
      classifier="svm")
    * loss: the loss of a point; "squared-hinge" or "hinge" (only with classifier="svm", 'hinge' by default)
    * balanced: whether rare classes weigh as much as common ones; true or false (only with classifier="svm", False by
      default)
    """
    options = {
        "batch_size": batch_size,
        "train_points": train_points,
        "test_points": test_points,
        "classifier": classifier,
        "c": c,
        "tolerance": tolerance,
        "max_iterations": max_iterations,
        "loss": loss,
        "balanced": balanced,
    }
    return _run("beta_vae_score", codes, factors, options, points)


def factor_vae_score(
    codes: NDArray[Any] | None = None, factors: NDArray[Any] | None = None,
    *,
    batch_size: int = 64,
    train_points: int = 10000,
    test_points: int = 5000,
    variance_points: int = 10000,
    prune: float = 0.05,
    **points: Unpack[Points],
) -> Scores:
    """FactorVAE score (also Z-min-variance): does the unit with the smallest variance identify the factor that was fixed?

        vote:   a random factor k; points that share one value of k; d = argmin over units of Var(z_d) / global Var(z_d)
        score:  accuracy, on new votes, of predicting for each d the factor that it received most training votes for

    Variances have n - 1 in the denominator. Units whose global standard deviation is below the threshold, or 0, do not
    vote; if none is left, the score is 0.

    * Range: 0 to 1, higher is better; chance is 1 / factors. With a single factor and an active unit it is 1.
    * Reference: Kim and Mnih 2018, Disentangling by factorising; numbers of votes as in Locatello et al. 2019.
    * See also: `beta_vae_score`, its predecessor; `irs`.

    Gives `factor_vae_score`. Draws from `sampler` if there is one, else from the rows of the codes.

    Options:
    * batch_size: points of a vote, which share the value of a factor; a whole number, 2 to 10000000
    * train_points: votes that decide what each unit stands for; a whole number, 1 to 10000000
    * test_points: votes that are judged; a whole number, 1 to 10000000
    * variance_points: points that global variances are computed from; a whole number, 2 to 10000000
    * prune: units with a smaller standard deviation do not vote; a number, 0 or more
    """
    options = {
        "batch_size": batch_size,
        "train_points": train_points,
        "test_points": test_points,
        "variance_points": variance_points,
        "prune": prune,
    }
    return _run("factor_vae_score", codes, factors, options, points)


def mig(
    codes: NDArray[Any], factors: NDArray[Any],
    *,
    bins: int = 20,
    neighbours: int | Literal["none"] | None = None,
    **points: Unpack[Points],
) -> Scores:
    """MIG, the mutual information gap: does each factor share information with one unit only?

        MIG = mean over factors k of (I(z_a; v_k) - I(z_b; v_k)) / H(v_k)

    where a and b are the units with the largest and second largest mutual information with factor k.

    * Range: 0 to 1, higher is better. With a single unit the second largest is 0. Factors with one value are left out.
    * Estimator: plug-in mutual information of binned units. With few points per bin it is biased upwards, for all units
      alike.
    * Reference: Chen et al. 2018, Isolating sources of disentanglement in variational autoencoders, section 4.1; binned
      as in Locatello et al. 2019, Challenging common assumptions in the unsupervised learning of disentangled
      representations.
    * See also: `mig_full_data` and `rmig`, which use posteriors instead of bins; `mig_sup`, the gap between factors;
      `jemmig`, `aam` and `dcimig`, other functions of the same mutual information; `sap`, the same gap in accuracy.

    Gives `mig`.

    Options:
    * bins: bins of equal width for each unit; a whole number, 2 to 65536
    * neighbours: estimate by this many nearest neighbours (Kraskov, Ross) instead of bins; a whole number, 1 or more,
      or "none"
    """
    return _run("mig", codes, factors, {"bins": bins, "neighbours": neighbours}, points)


def mig_full_data(
    codes: NDArray[Any], factors: NDArray[Any],
    *,
    samples: int = 10000,
    **points: Any,
) -> Scores:
    """MIG without bins, from entropies of the aggregate posterior q(z) = mean over all points of q(z | x).

        H(z_i)       = - mean over samples z ~ q(z | x_s) of ln (1/N) sum_n q(z_i | x_n)
        H(z_i | v_k) = - mean over the same samples of ln (1/N_v) sum over n with v_k(n) = v_k(s) of q(z_i | x_n)
        I(z_i; v_k)  = max(0, H(z_i) - H(z_i | v_k))
        MIG          = mean over factors k of (largest - second largest of I(.; v_k)) / H(v_k)

    One sample is drawn for each of `samples` points and used for all factors, so that densities are computed once.
    (Chen et al. draw new samples for every value of every factor, and exclude the shape of dSprites.)

    * The N points should be the whole data set or a sample of it: the aggregate posterior is that of these points.
    * Range: 0 to 1, higher is better. The cost is N * samples * units exponentials.
    * Reference: Chen et al. 2018, Isolating sources of disentanglement in variational autoencoders, section 4.1 and
      appendix C.
    * See also: `mig` and `rmig`, the binned estimates.

    Gives `mig_full_data`. Needs `log_variance`.

    Options:
    * samples: points whose posteriors are sampled; a whole number, 1 or more
    """
    return _run("mig_full_data", codes, factors, {"samples": samples}, points)


def rmig(codes: NDArray[Any], factors: NDArray[Any], *, bins: int = 100, **points: Unpack[Points]) -> Scores:
    """RMIG, the robust mutual information gap: MIG with the mass of each posterior distributed over the bins.

        p(bin, v)  = 1/N sum over points n with v_k(n) = v of q(z_i in bin | x_n)
        RMIG       = mean over factors k of (I(z_a; v_k) - I(z_b; v_k)) / H(v_k)

    Bins lie between the smallest mean - 4 sigma and the largest mean + 4 sigma of a unit; the outer ones are unbounded.
    An inactive unit has the same posterior for every point and so no mutual information, while binned means would still
    show some.

    * Range: 0 to 1, higher is better. Factors with one value are left out.
    * Reference: Do and Tran 2020, Theory and evaluation metrics for learning disentangled representations; divided by
      the factor's entropy as MIG is.
    * See also: `mig`, which bins the means; `mig_full_data`, which has no bins.

    Gives `rmig`. Needs `log_variance`.

    Options:
    * bins: bins of equal width for each unit; a whole number, 2 to 65536
    """
    return _run("rmig", codes, factors, {"bins": bins}, points)


def jemmig(codes: NDArray[Any], factors: NDArray[Any], *, bins: int = 20, **points: Unpack[Points]) -> Scores:
    """JEMMIG, joint entropy minus mutual information gap: MIG with a penalty on what the best unit encodes beyond its
    factor.

        JEMMIG = mean over factors k of 1 - (H(z_a, v_k) - I(z_a; v_k) + I(z_b; v_k)) / (H(v_k) + ln bins)

    where a and b are the units with the largest and second largest mutual information with factor k. If unit a also
    encodes a second factor, the entropy of that factor lowers the score.

    * Range: 0 to 1, higher is better. It reaches 1 only if unit a takes a single bin for each value of the factor,
      since any further entropy of the unit counts against it.
    * Reference: Do and Tran 2020, Theory and evaluation metrics for learning disentangled representations.
    * See also: `mig`, the gap alone; `rmig`, by the same authors.

    Gives `jemmig`.

    Options:
    * bins: bins of equal width for each unit; a whole number, 2 to 65536
    """
    return _run("jemmig", codes, factors, {"bins": bins}, points)


def mig_sup(
    codes: NDArray[Any], factors: NDArray[Any],
    *,
    bins: int = 20,
    normalizer: Literal["unit-entropy", "factor-entropy"] = "unit-entropy",
    **points: Unpack[Points],
) -> Scores:
    """MIG-sup: does each unit share information with one factor only?

    The gap of `mig`, taken between factors instead of units:

        MIG-sup = mean over units i of (I(z_i; v_a) - I(z_i; v_b)) / H(z_i)

    where a and b are the factors with the largest and second largest mutual information with unit i (after
    normalisation).

    * Range: 0 to 1, higher is better. A constant unit scores 0; with a single factor the second largest is 0.
    * Reference: Li et al. 2020, Progressive learning and disentanglement of hierarchical representations.
    * See also: `mig`, the gap between units; `modularity`, which measures the same.

    Gives `mig_sup`.

    Options:
    * bins: bins of equal width for each unit; a whole number, 2 to 65536
    * normalizer: what the mutual information is divided by; "unit-entropy" or "factor-entropy"
    """
    return _run("mig_sup", codes, factors, {"bins": bins, "normalizer": normalizer}, points)


def aam(
    codes: NDArray[Any], factors: NDArray[Any],
    *,
    bins: int = 20,
    neighbours: int | Literal["none"] | None = None,
    **points: Unpack[Points],
) -> Scores:
    """AAM, the axis-alignment metric: does the best unit of a factor have more information about it than all others
    together?

        AAM = mean over factors k of max(0, I(z_a; v_k) - sum over i != a of I(z_i; v_k)) / I(z_a; v_k)

    where a is the unit with the largest mutual information with factor k.

    * Range: 0 to 1, higher is better. A factor without mutual information with any unit scores 0. The plug-in estimate
      is biased upwards, so that with few points many inactive units lower the score.
    * Reference: the implementation of the disentangling-vae project, which computes it from entropies of the aggregate
      posterior.
    * See also: `mig`, which compares with the second best unit only.

    Gives `aam`.

    Options:
    * bins: bins of equal width for each unit; a whole number, 2 to 65536
    * neighbours: estimate by this many nearest neighbours (Kraskov, Ross) instead of bins; a whole number, 1 or more,
      or "none"
    """
    return _run("aam", codes, factors, {"bins": bins, "neighbours": neighbours}, points)


def dcimig(
    codes: NDArray[Any], factors: NDArray[Any],
    *,
    bins: int = 20,
    neighbours: int | Literal["none"] | None = None,
    **points: Unpack[Points],
) -> Scores:
    """DCIMIG: what share of the factors' entropy is captured by units that encode a single factor?

        gap_i = I(z_i; v_a) - I(z_i; v_b)
        DCIMIG = sum over factors k of max { gap_i : v_a = v_k } / sum over k of H(v_k)

    where a and b are the factors with the largest and second largest mutual information with unit i.

    * Range: 0 to 1, higher is better. With a single factor the second largest is 0.
    * Reference: Sepliarskaia et al. 2019, How to not measure disentanglement, where it is called 3CharM.
    * See also: `mig_sup`, the mean of such gaps over units; `dci`.

    Gives `dcimig`.

    Options:
    * bins: bins of equal width for each unit; a whole number, 2 to 65536
    * neighbours: estimate by this many nearest neighbours (Kraskov, Ross) instead of bins; a whole number, 1 or more,
      or "none"
    """
    return _run("dcimig", codes, factors, {"bins": bins, "neighbours": neighbours}, points)


def sap(
    codes: NDArray[Any], factors: NDArray[Any],
    *,
    predictor: Literal["svm", "threshold"] = "svm",
    c: float | None = None,
    loss: Literal["squared-hinge", "hinge"] | None = None,
    balanced: bool | None = None,
    tolerance: float | None = None,
    max_iterations: int | None = None,
    group_above: float | Literal["none"] | None = None,
    **points: Unpack[Points],
) -> Scores:
    """SAP, separated attribute predictability: is each factor predictable from one unit only?

        SAP = mean over factors k of (S_ak - S_bk)

    where S_ik is the accuracy of predicting factor k from unit i alone, and a and b are the best and second best unit.
    By default S is the test accuracy of a one-vs-rest linear support vector machine with C = 0.01 and balanced classes.
    It is solved exactly, whereas the result of liblinear depends on the random order of the points.

    * Range: 0 to 1, higher is better. With a single unit the second best is 0. Factors with one value are left out.
    * With grouping, S is that of all units of a group together (with thresholds: that of its best unit).
    * Reference: Kumar et al. 2018, Variational inference of disentangled latent concepts; with support vector machines
      as in Locatello et al. 2019, Challenging common assumptions in the unsupervised learning of disentangled
      representations.
    * See also: `sap_continuous`, for factors that are numbers; `mig`, the same gap in mutual information.

    Gives `sap`.

    Options:
    * predictor: linear SVM, or best thresholds on the test points (Kumar); "svm" or "threshold"
    * c: weight of the loss against the penalty; a number above 0 (only with predictor="svm", 0.01 by default)
    * loss: the loss of a point; "squared-hinge" or "hinge" (only with predictor="svm", 'squared-hinge' by default)
    * balanced: whether rare classes weigh as much as common ones; true or false (only with predictor="svm", True by
      default)
    * tolerance: range of the projected gradient at which to stop; a number above 0 (only with predictor="svm", 0.0001
      by default)
    * max_iterations: passes over the points at most; a whole number, 1 or more (only with predictor="svm", 1000 by
      default)
    * group_above: units whose correlation exceeds this magnitude count as one; a number, 0 to 1, or "none"
    """
    options = {
        "predictor": predictor,
        "c": c,
        "loss": loss,
        "balanced": balanced,
        "tolerance": tolerance,
        "max_iterations": max_iterations,
        "group_above": group_above,
    }
    return _run("sap", codes, factors, options, points)


def sap_continuous(
    codes: NDArray[Any], factors: NDArray[Any],
    *,
    group_above: float | Literal["none"] | None = None,
    **points: Unpack[Points],
) -> Scores:
    """SAP for factors that are numbers: the gap of SAP in squared correlations.

        S_ik = Cov(z_i, v_k)^2 / (Var(z_i) Var(v_k))

    on the training points; 0 for a unit whose variance is at most 1e-12. With grouping, S is the R^2 of the linear
    regression of the factor on all units of a group.

    * Range: 0 to 1, higher is better. Factor values are read as numbers, so relabelling them changes the score.
    * Reference: Kumar et al. 2018, Variational inference of disentangled latent concepts, section 3.
    * See also: `sap`, for factors that are classes.

    Gives `sap_continuous`.

    Options:
    * group_above: units whose correlation exceeds this magnitude count as one; a number, 0 to 1, or "none"
    """
    return _run("sap_continuous", codes, factors, {"group_above": group_above}, points)


def sap_kumar(
    codes: NDArray[Any], factors: NDArray[Any],
    *,
    inactive: float = 0.01,
    group_above: float | Literal["none"] | None = None,
    **points: Unpack[Points],
) -> Scores:
    """SAP as Kumar et al. define it: one score matrix for ordered and categorical factors, on the test points.

        S_ik = Cov(z_i, v_k)^2 / (Var(z_i) Var(v_k))                      for an ordered factor or an angle
             = balanced accuracy of the best thresholds on z_i            for a categorical factor
             = 0                                                          if Var(z_i) is close to 0
        SAP  = mean over factors k of (S_ak - S_bk), a and b the best and second best unit

    The squared correlation is the R^2 of the linear regression of the factor on the unit. Lines and thresholds are
    fitted to the test points, on which they are also evaluated; the training points are not used. A factor of c values
    has up to c - 1 thresholds, and their intervals may be assigned to the values in any order.

    * Kinds: angles are read as numbers, too, since the paper has no other kind of regression. A unit that follows an
      angle all the way round is penalised for the jump from the last value to the first.
    * Range: 0 to 1, higher is better. With a single unit the second best is 0. Factors with one value are left out.
      Balanced accuracy is at least 1/c by chance, which cancels in the gap unless fewer than two units are active.
    * With grouping, R^2 is that of all active units of a group together, and accuracy that of its best unit.
    * Reference: Kumar et al. 2018, Variational inference of disentangled latent concepts, section 3.
    * See also: `sap`, with support vector machines; `sap_continuous`, in which all factors are numbers.

    Gives `sap_kumar`. Needs `factor_kinds`.

    Options:
    * inactive: units whose variance is at most this score 0; a number, 0 or more
    * group_above: units whose correlation exceeds this magnitude count as one; a number, 0 to 1, or "none"
    """
    return _run("sap_kumar", codes, factors, {"inactive": inactive, "group_above": group_above}, points)


def dci(
    codes: NDArray[Any], factors: NDArray[Any],
    *,
    learner: Literal["boosting", "forest", "lasso"] = "boosting",
    stages: int | None = None,
    learning_rate: float | None = None,
    max_depth: int | int | Literal["none"] | None = None,
    trees: int | None = None,
    features_per_split: int | Literal["none"] | None = None,
    alpha: float | None = None,
    tolerance: float | None = None,
    max_iterations: int | None = None,
    **points: Unpack[Points],
) -> Scores:
    """DCI, disentanglement, completeness and informativeness: do units and factors correspond one to one, judged by the
    feature importances of a learner that predicts factors from units?

    With R_ik the importance of unit i for factor k, D the number of units and K the number of factors:

        D_i = 1 - H_K(R_i. / sum_k R_ik)     disentanglement = sum_i D_i (sum_k R_ik / sum R)
        C_k = 1 - H_D(R_.k / sum_i R_ik)     completeness    = sum_k C_k (sum_i R_ik / sum R)

    H_K is the entropy with logarithms to base K. Informativeness is the accuracy (not the error) of the predictions.

    * Range: 0 to 1, higher is better. With a single factor disentanglement is 1, and with a single unit completeness is
      1, unless nothing was learned: then both are 0.
    * A factor of numbers that hardly ever repeat (`Labelled::is_number`) is predicted as a number, by boosted trees
      with squared error (also in place of a forest) or by the lasso. R^2, at least 0, then takes the place of accuracy.
    * Factors with one value are left out, also of K; their column of importances is 0. A value that only the test
      points have counts as an error.
    * Reference: Eastwood and Williams 2018, A framework for the quantitative evaluation of disentangled
      representations; with boosted trees as in Locatello et al. 2019.
    * See also: `modularity` and `mig_sup` for disentanglement, `mig` and `sap` for completeness, and `downstream` for
      informativeness.

    Gives `dci_disentanglement`, `dci_completeness`, `dci_informativeness_train`, `dci_informativeness_test`.

    Options:
    * learner: the learner whose importances of units are read; "boosting", "forest" or "lasso"
    * stages: trees for each class; a whole number, 1 to 1000000 (only with learner="boosting", 100 by default)
    * learning_rate: share of each tree that is added; a number above 0, at most 1 (only with learner="boosting", 0.1 by
      default)
    * max_depth: splits from the root to a leaf at most; a whole number, 1 to 12 (only with learner="boosting" or
      learner="forest")
    * trees: number of trees; a whole number, 1 to 1000000 (only with learner="forest", 100 by default)
    * features_per_split: features that each split chooses from (none: the square root of all); a whole number, 1 or
      more, or "none" (only with learner="forest", None by default)
    * alpha: strength of the penalty; a number, 0 or more (only with learner="lasso", 0.1 by default)
    * tolerance: duality gap at which to stop, as a share of the squared target; a number above 0 (only with
      learner="lasso", 0.0001 by default)
    * max_iterations: passes over the features at most; a whole number, 1 or more (only with learner="lasso", 1000 by
      default)
    """
    options = {
        "learner": learner,
        "stages": stages,
        "learning_rate": learning_rate,
        "max_depth": max_depth,
        "trees": trees,
        "features_per_split": features_per_split,
        "alpha": alpha,
        "tolerance": tolerance,
        "max_iterations": max_iterations,
    }
    return _run("dci", codes, factors, options, points)


def modularity(
    codes: NDArray[Any], factors: NDArray[Any],
    *,
    bins: int = 20,
    neighbours: int | Literal["none"] | None = None,
    **points: Unpack[Points],
) -> Scores:
    """Modularity: does each unit share information with at most one factor?

        modularity = mean over units i of 1 - (sum_k m_ik^2 - max_k m_ik^2) / ((K - 1) max_k m_ik^2)

    with m the mutual information and K the number of factors. A unit without any mutual information scores 0. For a
    nearly constant unit, m consists of estimation bias only, so that it contributes noise.

    * Range: 0 to 1, higher is better. With a single factor, units that share information with it score 1. Factors with
      one value are left out, also of K.
    * Reference: Ridgeway and Mozer 2018, Learning deep disentangled embeddings with the f-statistic loss.
    * See also: `explicitness`, its companion in the same paper; `mig_sup` and the disentanglement of `dci`, which
      measure the same.

    Gives `modularity`.

    Options:
    * bins: bins of equal width for each unit; a whole number, 2 to 65536
    * neighbours: estimate by this many nearest neighbours (Kraskov, Ross) instead of bins; a whole number, 1 or more,
      or "none"
    """
    return _run("modularity", codes, factors, {"bins": bins, "neighbours": neighbours}, points)


def explicitness(
    codes: NDArray[Any], factors: NDArray[Any],
    *,
    c: float = 1.0,
    tolerance: float = 0.0001,
    max_iterations: int = 100,
    **points: Unpack[Points],
) -> Scores:
    """Explicitness: can a linear classifier predict each factor from all units?

        explicitness = mean over factors of mean over values v of AUC(p(v_k = v | z), [v_k = v])

    where p is a multinomial logistic regression on codes standardised with the mean and standard deviation of the
    training points, and AUC the area under the ROC curve, in which ties count half.

    * Range: 0 to 1, higher is better; chance is 0.5, and the score is not rescaled.
    * Constant units are set to 0. A value that is missing from the test points (or is the only one there) has no AUC
      and is left out of the mean; so is a factor with one value.
    * Reference: Ridgeway and Mozer 2018, Learning deep disentangled embeddings with the f-statistic loss.
    * See also: `modularity`, its companion in the same paper; the informativeness of `dci`, with a nonlinear learner.

    Gives `explicitness`.

    Options:
    * c: inverse strength of the penalty; a number above 0
    * tolerance: largest entry of the gradient at which to stop; a number above 0
    * max_iterations: iterations of L-BFGS at most; a whole number, 1 or more
    """
    options = {
        "c": c,
        "tolerance": tolerance,
        "max_iterations": max_iterations,
    }
    return _run("explicitness", codes, factors, options, points)


def irs(
    codes: NDArray[Any], factors: NDArray[Any],
    *,
    bins: int = 20,
    quantile: float = 0.99,
    **points: Unpack[Points],
) -> Scores:
    """IRS, the interventional robustness score: does each unit stay constant while its factor is fixed and the others
    change?

        d_i   = max |z_i - mean z_i|
        c_ik  = mean over values v of factor k of the q-quantile of |z_i - m_ikv| among points with v_k = v
        IRS   = sum_i d_i max_k (1 - c_ik / d_i) / sum_i d_i

    where m_ikv is the mean of z_i among these points. The values of a factor are first put into bins of equal width, so
    that their order matters for factors with more values than bins.

    * Range: -1 to 1, higher is better. It is below 0 where points lie farther from the mean of their group than any
      lies from the mean of all, which can be up to twice as far; this takes small or very uneven groups. Constant units
      are left out; if all are constant, the score is 0.
    * Reference: Suter et al. 2019, Robustly disentangled causal mechanisms: Validating deep representations for
      interventional robustness.
    * See also: `factor_vae_score`, which also fixes factors.

    Gives `irs`.

    Options:
    * bins: bins of equal width for each factor; a whole number, 2 to 65536
    * quantile: quantile of the deviations within a group; 1 is the largest; a number, 0 to 1
    """
    return _run("irs", codes, factors, {"bins": bins, "quantile": quantile}, points)


def mcc(codes: NDArray[Any], factors: NDArray[Any], **points: Unpack[Points]) -> Scores:
    """MCC, the mean correlation coefficient: if each factor is matched with a unit of its own, how correlated are they?

        MCC = 1/K max over one-to-one matchings a of sum over factors k of |corr(z_a(k), v_k)|

    with K the number of factors that vary. The matching is found by the Hungarian method, separately for Pearson's and
    for Spearman's correlation. Factor values are read as numbers.

    * Range: 0 to 1, higher is better. With fewer units than factors, a factor without a unit counts as 0. The
      correlation with a constant unit is 0.
    * Reference: Hyvärinen and Morioka 2016, Unsupervised feature extraction by time-contrastive learning and nonlinear
      ICA; commonly reported in work on identifiability (Khemakhem et al. 2020, Variational autoencoders and nonlinear
      ICA).
    * See also: `sap_continuous`, the gap between the two most correlated units.

    Gives `mcc_pearson`, `mcc_spearman`.
    """
    return _run("mcc", codes, factors, {}, points)


def med(
    codes: NDArray[Any], factors: NDArray[Any],
    *,
    bins: int = 20,
    neighbours: int | Literal["none"] | None = None,
    k: int = 2,
    **points: Unpack[Points],
) -> Scores:
    """MED, mutual-information-based entropy disentanglement: does each unit share information with one factor only?

        R_ik = I(z_i; v_k) / sum_i I(z_i; v_k)
        MED  = sum_i (sum_k R_ik / sum R) (1 - H_K(R_i. / sum_k R_ik))

    This is the disentanglement of `dci` with mutual information in place of a learner's importances. Top-k MED is meant
    for representations with many units: each unit is assigned to the factor that it is most important for, and only the
    k most disentangled units of each factor enter the sum.

    * Range: 0 to 1, higher is better; 0 if no unit shares information with any factor.
    * Reference: Cao et al. 2022, An empirical study on disentanglement of negative-free contrastive learning.
    * See also: `modularity` and `mig_sup`, which measure the same.

    Gives `med`, `med_top_k`.

    Options:
    * bins: bins of equal width for each unit; a whole number, 2 to 65536
    * neighbours: estimate by this many nearest neighbours (Kraskov, Ross) instead of bins; a whole number, 1 or more,
      or "none"
    * k: units that are kept for each factor at most; a whole number, 1 or more
    """
    return _run("med", codes, factors, {"bins": bins, "neighbours": neighbours, "k": k}, points)


def infomec(
    codes: NDArray[Any], factors: NDArray[Any],
    *,
    neighbours: int | Literal["none"] = 10,
    bins: int = 20,
    c: float = 1.0,
    tolerance: float = 0.0001,
    max_iterations: int = 100,
    **points: Unpack[Points],
) -> Scores:
    """InfoM, InfoC and InfoE: are units modular, factors compact, and is the information explicit?

    With N_ik = I(z_i; v_k) / H(v_k), for the D active units and the K factors that vary:

        InfoM = (1/D sum_i max_k N_ik / sum_k N_ik - 1/K) / (1 - 1/K)
        InfoC = (1/K sum_k max_i N_ik / sum_i N_ik - 1/D) / (1 - 1/D)
        InfoE = 1/K sum_k (H(v_k) - H(v_k | z)) / H(v_k)

    The entropies of InfoE are predictive ones (Xu et al. 2020, A theory of usable information under computational
    constraints): H(v_k | z) is the mean of -ln p(v_k | z) over the test points for a logistic regression fitted to the
    training points, and H(v_k) the same for the class frequencies of the training points.

    * Range: InfoM and InfoC 0 to 1; InfoE at most 1, and below 0 if the regression predicts worse than the class
      frequencies. Higher is better.
    * A unit (or factor) without any mutual information counts as 0 in InfoM (or InfoC). A value that the training
      points lack is left out of InfoE.
    * Reference: Hsu et al. 2023, Disentanglement via latent quantization, section 5. Mutual information is estimated
      from ten nearest neighbours, as in the authors' code. They compute InfoE on the points that the regression was
      fitted to, without a penalty and with balanced class weights.
    * See also: `modularity`, `mig`, `explicitness`.

    Gives `infom`, `infoc`, `infoe`.

    Options:
    * neighbours: estimate by this many nearest neighbours (Kraskov, Ross) instead of bins; a whole number, 1 or more,
      or "none"
    * bins: bins of equal width for each unit, without neighbours; a whole number, 2 to 65536
    * c: inverse strength of the penalty; a number above 0
    * tolerance: largest entry of the gradient at which to stop; a number above 0
    * max_iterations: iterations of L-BFGS at most; a whole number, 1 or more
    """
    options = {
        "neighbours": neighbours,
        "bins": bins,
        "c": c,
        "tolerance": tolerance,
        "max_iterations": max_iterations,
    }
    return _run("infomec", codes, factors, options, points)


def dci_es(
    codes: NDArray[Any], factors: NDArray[Any],
    *,
    depths: Sequence[int] = (1, 2, 3, 4, 6, 8, 10, 12),
    stages: int = 10,
    **points: Unpack[Points],
) -> Scores:
    """DCI-ES: how little capacity does a learner need to predict factors from codes, and how small is the code?

    For each factor, let l(c) be the smallest test error of boosted trees of depth c or less, c_1 the smallest depth, l*
    the smallest error, c* the smallest depth that reaches it, and l_b the error of always predicting the most common
    value. With K factors and D units:

        E = 1 - integral from c_1 to c* of (l(c) - l*) dc / (1/2 (c* - c_1) (l_b - l*))
        S = K / D

    E is 1 if the smallest capacity does as well as any, 0 if the error falls linearly from l_b to l*, and negative if
    it falls later than that. The integral is computed by the trapezoidal rule.

    * Range: E is at most 1, higher is better; 0 if nothing is learned at all, and at least -1 unless small trees do
      worse than always predicting the most common value. S above 1 means fewer units than factors.
    * Reference: Eastwood et al. 2023, DCI-ES: An extended disentanglement framework with connections to
      identifiability, section 4. Their learners are random forests, multilayer perceptrons and random Fourier features;
      ours are the trees of `dci`.
    * See also: `dci`; `explicitness`, which uses a linear classifier only.

    Gives `dci_explicitness`, `dci_size`.

    Options:
    * depths: depths of trees, the capacities of the learner; a list of whole numbers, 1 to 12
    * stages: trees for each class; a whole number, 1 to 1000000
    """
    return _run("dci_es", codes, factors, {"depths": list(depths), "stages": stages}, points)


def snc(codes: NDArray[Any], factors: NDArray[Any], *, bins: int = 20, **points: Unpack[Points]) -> Scores:
    """SNC, single-neuron classification: how well does a single unit predict the values of its factor?

    Factors are matched with units one to one so that the sum of mutual information is largest. The values of a factor's
    unit are put into as many bins of equal size (on the training points) as the factor has values, bins are matched
    with values one to one so that as many training points as possible are classified correctly, and the accuracy on the
    test points is averaged over factors.

    * Range: 0 to 1, higher is better. A factor without a unit counts as 0.
    * Reference: Mahon et al. 2023, Correcting flaws in common disentanglement metrics; defined as in the authors'
      public code (Lou1sM/snc_nk), except for the estimate of mutual information.
    * See also: `nk`, what is lost without that unit; `sap`, `mig`.

    Gives `snc`.

    Options:
    * bins: bins of equal width for each unit; a whole number, 2 to 65536
    """
    return _run("snc", codes, factors, {"bins": bins}, points)


def nk(
    codes: NDArray[Any], factors: NDArray[Any],
    *,
    bins: int = 20,
    stages: int = 100,
    learning_rate: float = 0.1,
    max_depth: int = 3,
    **points: Unpack[Points],
) -> Scores:
    """NK, neuron knockout: how much accuracy is lost if a factor is predicted without its unit?

    Factors are matched with units one to one so that the sum of mutual information is largest, as for `snc`. NK is the
    test accuracy of a classifier on all units minus that of a classifier on all units but the factor's own, averaged
    over factors. If a single unit holds all the information about its factor, only guessing is left without it.

    * Range: -1 to 1, higher is better; 0 if the other units predict the factor just as well. A factor without a unit
      counts as 0.
    * If there is only one unit, nothing is left without it, and the most common value is predicted.
    * Reference: Mahon et al. 2023, Correcting flaws in common disentanglement metrics; defined as in the authors'
      public code (Lou1sM/snc_nk). Their classifier is a perceptron with one hidden layer; ours is the boosted trees of
      `dci`, which are deterministic.
    * See also: `snc`, how well that unit alone predicts the factor.

    Gives `nk`.

    Options:
    * bins: bins of equal width for each unit; a whole number, 2 to 65536
    * stages: trees for each class; a whole number, 1 to 1000000
    * learning_rate: share of each tree that is added; a number above 0, at most 1
    * max_depth: splits from the root to a leaf at most; a whole number, 1 to 12
    """
    options = {
        "bins": bins,
        "stages": stages,
        "learning_rate": learning_rate,
        "max_depth": max_depth,
    }
    return _run("nk", codes, factors, options, points)


def gaussian_total_correlation(
    codes: NDArray[Any], factors: NDArray[Any] | None = None,
    **points: Unpack[Points],
) -> Scores:
    """The total correlation of a Gaussian with the covariance of the codes, in nats.

        TC = 1/2 (sum_i ln S_ii - ln det S),   S = covariance of the codes (n - 1 in the denominator)

    computed from the eigenvalues of the correlation matrix, which are bounded below by 2.2e-16: a duplicated unit gives
    about 18 nats instead of infinity.

    * Range: 0 and above, lower is better. Constant units are left out.
    * Reference: Watanabe 1960, Information theoretical analysis of multivariate correlation; as an unsupervised score,
      Locatello et al. 2019.
    * See also: `gaussian_wasserstein_correlation`, which stays finite; `mutual_info_score`, which also detects
      nonlinear dependence.

    Gives `gaussian_total_correlation`.
    """
    return _run("gaussian_total_correlation", codes, factors, {}, points)


def gaussian_wasserstein_correlation(
    codes: NDArray[Any], factors: NDArray[Any] | None = None,
    **points: Unpack[Points],
) -> Scores:
    """The squared 2-Wasserstein distance between a Gaussian with the covariance of the codes and the one with the same
    variances and no correlations.

        W = 2 tr S - 2 tr (diag(S)^1/2 S diag(S)^1/2)^1/2,   normalised: W / tr S

    with S the covariance of the codes and diag(S) its diagonal.

    * Range: 0 and above, lower is better; the normalised value is below 2. Both are 0 if all units are constant.
    * Reference: Locatello et al. 2019, Challenging common assumptions in the unsupervised learning of disentangled
      representations, where it is one of the unsupervised scores.
    * See also: `gaussian_total_correlation`, the same comparison by KL divergence.

    Gives `gaussian_wasserstein_correlation`, `gaussian_wasserstein_correlation_norm`.
    """
    return _run("gaussian_wasserstein_correlation", codes, factors, {}, points)


def mutual_info_score(
    codes: NDArray[Any], factors: NDArray[Any] | None = None,
    *,
    bins: int = 20,
    **points: Unpack[Points],
) -> Scores:
    """The mean mutual information between two different binned units, in nats.

        score = mean over i != j of I(z_i; z_j)

    * Range: 0 to ln bins, lower is better. A single unit scores 0. The plug-in estimate has a bias of about (bins -
      1)^2 / 2n nats for independent units.
    * Reference: Locatello et al. 2019, Challenging common assumptions in the unsupervised learning of disentangled
      representations, where it is one of the unsupervised scores.
    * See also: `gaussian_total_correlation`, of all units at once.

    Gives `mutual_info_score`.

    Options:
    * bins: bins of equal width for each unit; a whole number, 2 to 65536
    """
    return _run("mutual_info_score", codes, factors, {"bins": bins}, points)


def hoyer(
    codes: NDArray[Any], factors: NDArray[Any] | None = None,
    *,
    normalize: bool = True,
    **points: Unpack[Points],
) -> Scores:
    """Hoyer's sparsity of the codes: does each point use few of the units?

        Hoyer = (sqrt d - mean over points of |z|_1 / |z|_2) / (sqrt d - 1)

    for d units, after each unit has been divided by its standard deviation over the points, so that scale does not
    matter. A constant unit then counts as 0; a point that is 0 in all units counts as fully sparse. Mathieu et al.
    print the formula without that division, but their public code has it; `normalize: false` omits it.

    * Range: 0 (all units equally strong) to 1 (one unit at a time); which is better depends on the application. A
      single unit scores 0.
    * Reference: Mathieu et al. 2019, Disentangling disentanglement in variational autoencoders, section 6 and appendix
      B; Hoyer 2004, Non-negative matrix factorization with sparseness constraints; Hurley and Rickard 2009, Comparing
      measures of sparsity.
    * See also: `kl_per_unit`, which shows inactive units.

    Gives `hoyer`.

    Options:
    * normalize: whether units are divided by their standard deviation first; true or false
    """
    return _run("hoyer", codes, factors, {"normalize": normalize}, points)


def kl(codes: NDArray[Any], factors: NDArray[Any] | None = None, **points: Unpack[Points]) -> Scores:
    """The mean Kullback-Leibler divergence of each unit's Gaussian posterior from the standard normal prior, in nats.

        KL_i = mean over points of 1/2 (mu_i^2 + sigma_i^2 - ln sigma_i^2 - 1)

    * Range: 0 and above; about 0 for an inactive unit.
    * Reference: Kingma and Welling 2014, Auto-encoding variational Bayes, appendix B.
    * See also: `udr`, which leaves inactive units out.

    Gives `kl`. Needs `log_variance`.
    """
    return _run("kl", codes, factors, {}, points)


def attribute_accuracy(codes: NDArray[Any], factors: NDArray[Any], **points: Unpack[Points]) -> Scores:
    """Attribute accuracy: how accurate is a classifier along the difference between the means of two classes?

        w = mean of z where the attribute holds - mean of z where it does not
        b = argmin over b of sum over training points of max(0, 1 - y (w z + b)),   y = +1 or -1
        accuracy = share of test points with sign(w z + b) = y

    The bias is found exactly: the hinge loss is piecewise linear in b. A factor of two values is one attribute, as in
    CelebA; a factor of more values has one attribute for each value, that value against all others, and their
    accuracies are averaged. The score is the mean over the factors that vary.

    * Range: 0 to 1, higher is better. It is not balanced: always giving the more common answer reaches that answer's
      share. A value that only the test points have counts as an error for each attribute.
    * Reference: Kumar et al. 2018, Variational inference of disentangled latent concepts, table 2.
    * See also: `explicitness`, with a fitted linear classifier; `downstream`.

    Gives `attribute_accuracy`.
    """
    return _run("attribute_accuracy", codes, factors, {}, points)


def cluster_accuracy(
    codes: NDArray[Any], factors: NDArray[Any],
    *,
    matching: Literal["majority", "one-to-one"] = "majority",
    **points: Unpack[Points],
) -> Scores:
    """Cluster accuracy: how often does the label assigned to a point's cluster equal the label of the point?

    Labels are assigned to clusters on the training points and tested on the test points. A cluster without training
    points, or one that one-to-one matching leaves unmatched, is always wrong.

    * Shapes: clusters and labels [n] of training and test points; clusters are the most likely category of each point.
    * Range: 0 to 1, higher is better. On the training points, majority matching reaches at least the share of the most
      common label.
    * Reference: Dupont 2018, Learning disentangled joint continuous and discrete representations, section 4.2.
    * See also: `downstream`, which predicts factors from continuous units.

    Gives `cluster_accuracy`. Needs `clusters`.

    Options:
    * matching: how labels are assigned to clusters; "majority" or "one-to-one"
    """
    return _run("cluster_accuracy", codes, factors, {"matching": matching}, points)


def downstream(
    codes: NDArray[Any], factors: NDArray[Any],
    *,
    labels: Sequence[int] = (10, 100, 1000, 10000),
    test_points: int = 5000,
    stages: int = 100,
    learning_rate: float = 0.1,
    max_depth: int = 3,
    **points: Unpack[Points],
) -> Scores:
    """Downstream accuracy: how accurately are factors predicted from codes, given few or many labels?

    For each number of labels, that many training points are drawn without replacement, a classifier is fitted for each
    factor, and the accuracy on the test points is averaged over factors. Sample efficiency is the accuracy from 100
    labels divided by that from 10,000.

    * Range: 0 to 1, higher is better. Values of a factor that are missing from the labelled points are never predicted.
    * Factors with one value are left out. If there are fewer training points than the smallest number of labels, all
      points are used.
    * Reference: Locatello et al. 2019, Challenging common assumptions in the unsupervised learning of disentangled
      representations, section 5.5; sample efficiency as in Mushom's thesis, section 5.6.
    * See also: the informativeness of `dci`, which is the accuracy with all labels; `explicitness`.

    Gives `downstream_accuracy`, `downstream_sample_efficiency`.

    Options:
    * labels: numbers of labelled points to learn from; a list of whole numbers, 1 or more
    * test_points: test points at most; a whole number, 1 or more
    * stages: trees for each class; a whole number, 1 to 1000000
    * learning_rate: share of each tree that is added; a number above 0, at most 1
    * max_depth: splits from the root to a leaf at most; a whole number, 1 to 12
    """
    options = {
        "labels": list(labels),
        "test_points": test_points,
        "stages": stages,
        "learning_rate": learning_rate,
        "max_depth": max_depth,
    }
    return _run("downstream", codes, factors, options, points)


def downstream_logistic(
    codes: NDArray[Any], factors: NDArray[Any],
    *,
    labels: Sequence[int] = (10, 100, 1000, 10000),
    test_points: int = 5000,
    candidates: int = 10,
    folds: int = 5,
    max_iterations: int = 100,
    **points: Unpack[Points],
) -> Scores:
    """Downstream accuracy: how accurately are factors predicted from codes, given few or many labels?

    For each number of labels, that many training points are drawn without replacement, a classifier is fitted for each
    factor, and the accuracy on the test points is averaged over factors. Sample efficiency is the accuracy from 100
    labels divided by that from 10,000.

    * Range: 0 to 1, higher is better. Values of a factor that are missing from the labelled points are never predicted.
    * Factors with one value are left out. If there are fewer training points than the smallest number of labels, all
      points are used.
    * Reference: Locatello et al. 2019, Challenging common assumptions in the unsupervised learning of disentangled
      representations, section 5.5; sample efficiency as in Mushom's thesis, section 5.6.
    * See also: the informativeness of `dci`, which is the accuracy with all labels; `explicitness`.

    Gives `downstream_logistic_accuracy`, `downstream_logistic_sample_efficiency`.

    Options:
    * labels: numbers of labelled points to learn from; a list of whole numbers, 1 or more
    * test_points: test points at most; a whole number, 1 or more
    * candidates: penalties to choose from, C from 1e-4 to 1e4; a whole number, 1 or more
    * folds: parts for cross-validation; a whole number, 2 or more
    * max_iterations: iterations of L-BFGS at most; a whole number, 1 or more
    """
    options = {
        "labels": list(labels),
        "test_points": test_points,
        "candidates": candidates,
        "folds": folds,
        "max_iterations": max_iterations,
    }
    return _run("downstream_logistic", codes, factors, options, points)


__all__ = [
    "Points",
    "aam",
    "attribute_accuracy",
    "beta_vae_score",
    "cluster_accuracy",
    "dci",
    "dci_es",
    "dcimig",
    "downstream",
    "downstream_logistic",
    "explicitness",
    "factor_vae_score",
    "gaussian_total_correlation",
    "gaussian_wasserstein_correlation",
    "hoyer",
    "infomec",
    "irs",
    "jemmig",
    "kl",
    "mcc",
    "med",
    "mig",
    "mig_full_data",
    "mig_sup",
    "modularity",
    "mutual_info_score",
    "nk",
    "rmig",
    "sap",
    "sap_continuous",
    "sap_kumar",
    "snc",
]
