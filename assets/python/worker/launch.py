# What `python3 -c` runs: closes what was left open for it, takes the sources from standard input and runs them as a
# program of their own, so that the namespace of steps stays empty. (A length in decimal and a line end, then that many
# bytes.)
def launch():
    import os

    # Of whoever started the host: nothing of ours is open but the three pipes. A list that cannot be had is an error.
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            # The one that listed them is closed already.
            os.closerange(int(name), int(name) + 1)

    def read(size):
        data = b""
        while len(data) < size:
            piece = os.read(0, size - len(data))
            if not piece:
                os._exit(0)
            data += piece
        return data

    size = b""
    while not size.endswith(b"\n"):
        size += read(1)
    exec(compile(read(int(size)), "<rlm worker>", "exec"), {"__name__": "_rlm_worker"})


launch()
