"""`python -m hindbrain`: the command line, for callers that know the interpreter but not the script."""

from hindbrain.serve.cli import main

if __name__ == "__main__":
    main()
