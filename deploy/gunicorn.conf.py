"""gunicorn: two processes with threads; pages poll, so no request is long except an upload."""

import multiprocessing
import os

bind = os.environ.get("LINGEE_BIND", "127.0.0.1:8000")
wsgi_app = "config.wsgi:application"
worker_class = "gthread"
workers = int(os.environ.get("LINGEE_WEB_PROCESSES", str(min(4, max(2, multiprocessing.cpu_count())))))
threads = int(os.environ.get("LINGEE_WEB_THREADS", "8"))
# The control socket would be one more door, and its path can exceed the length a socket may have.
control_socket_disable = True
worker_tmp_dir = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - heartbeat files
timeout = 60
graceful_timeout = 10
keepalive = 5
max_requests = 5000
max_requests_jitter = 500
limit_request_line = 4096
limit_request_fields = 64
accesslog = None
errorlog = "-"
loglevel = "warning"
# Addresses of clients come from the proxy in front, and from nowhere else.
forwarded_allow_ips = os.environ.get("LINGEE_PROXY_ADDRESSES", "127.0.0.1")
