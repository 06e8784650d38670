"""The instrument is checked: the engine measures a server whose truth is known from elsewhere.

`calibration.calibrate` conducts everything; each part has a module of its own. `sheets` says what
was found, and `rendering` prints it.
"""
