"""Linear learners that train all binary problems at once."""

from polychotomy.linear._joint_linear import JointLinear
from polychotomy.linear._shared_linear import SharedLinear

__all__ = ["JointLinear", "SharedLinear"]
