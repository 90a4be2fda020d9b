"""How a program forks that is asked to: the new process is one more client, and is ready at once."""

import os
import signal
import socket as sockets

FORKS = {"forks": hasattr(os, "fork")}  # as initialize answers


def forked(socket):
    """Forks, and tells the new process from the old one. Input, output and error of the new one are connections to a socket."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for it
    if os.fork():
        return False
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setpgid(0, 0)
    for numbers in (0, 1), (2,):
        with sockets.socket(sockets.AF_UNIX) as end:
            end.connect(socket)
            for number in numbers:
                os.dup2(end.fileno(), number)
    return True
