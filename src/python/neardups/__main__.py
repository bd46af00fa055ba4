"""`python -m neardups` is the command `dedup`."""

from neardups._command import main

main()
