import numpy as np
from scipy.sparse import csr_array

from polychotomy.kernel._coupling_learner import _balanced


def test_balancing_keeps_signs_and_bounds():
    W = csr_array(np.array([[3.0, -1, 0], [0, -1, 2]]))
    np.testing.assert_allclose(_balanced(W).toarray(), [[1.2, -1, 0], [0, -1, 0.8]])
    np.testing.assert_allclose(_balanced(-W).toarray(), [[-1.2, 1, 0], [0, 1, -0.8]])
    np.testing.assert_array_equal(_balanced(W * 0).toarray(), np.zeros((2, 3)))
    np.testing.assert_allclose(_balanced(csr_array([[0.0, 2.0]])).toarray(), [[0, 0]])
