"""``python -m shapelint``."""

from shapelint.cli import main

main(prog_name="shapelint")
