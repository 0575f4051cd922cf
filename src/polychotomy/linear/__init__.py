"""Linear learners that train all binary problems at once."""

from polychotomy.linear._batch_moments import check_batch_classes
from polychotomy.linear._joint_linear import JointLinear
from polychotomy.linear._shared_linear import SharedLinear

__all__ = ["JointLinear", "SharedLinear", "check_batch_classes"]
