# What `python3 -c` runs: takes the sources from standard input and runs them as a program of their own, so that the
# namespace of steps stays empty. (A length in decimal and a line end, then that many bytes.)
def launch():
    import os

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
