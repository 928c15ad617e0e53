"""The faces of the program: command line, worker, status, doctor. Nobody imports this stage."""
