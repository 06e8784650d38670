"""Calibration: compares times reported by the engine with the known times of a reference server.

`calibration.calibrate` runs all parts; each part has its own module.
"""
